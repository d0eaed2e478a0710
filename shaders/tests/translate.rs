//! Every program as the drivers of all platforms get it: SPIR-V, MSL and HLSL, written by naga as wgpu has it written.
//! And what a program may ask of an adapter.

#![allow(clippy::panic, reason = "helpers of tests fail by panicking")]

use bellwether_core::curve::Group;
use bellwether_shaders::{Program, Tier};
use naga::back::{hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module};

/// Workgroup memory in bytes and invocations of a workgroup that every adapter has.
const WORKGROUP_MEMORY: u32 = 16 << 10;
const INVOCATIONS: u32 = 256;

/// Runs a check on every program of a tier, by label.
fn for_each(tier: Tier, check: impl Fn(&str, &str)) {
    let mut count = 0;
    for &program in Program::ALL {
        let groups: &[Option<Group>] =
            if program.is_per_group() { &[Some(Group::G1), Some(Group::G2)] } else { &[None] };
        for &group in groups {
            let source = program.source(group, tier).expect("a text for each group");
            check(&format!("{} {group:?} {}", program.name(), tier.name()), source);
            count += 1;
        }
    }
    assert!(count > Program::ALL.len());
}

fn parse(label: &str, source: &str) -> Module {
    naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(source, label)))
}

fn validate(
    module: &Module,
    capabilities: Capabilities,
) -> Result<ModuleInfo, Box<naga::WithSpan<naga::valid::ValidationError>>> {
    Validator::new(ValidationFlags::all(), capabilities).validate(module).map_err(Box::new)
}

fn capabilities(tier: Tier) -> Capabilities {
    match tier {
        Tier::U64 => Capabilities::SHADER_INT64,
        Tier::U32 => Capabilities::empty(),
    }
}

/// Runs a check on the module of every program of both tiers.
fn for_each_module(check: impl Fn(&str, Tier, &Module, &ModuleInfo)) {
    for tier in Tier::ALL {
        for_each(tier, |label, source| {
            let module = parse(label, source);
            let info =
                validate(&module, capabilities(tier)).unwrap_or_else(|error| panic!("{label}: {error}"));
            check(label, tier, &module, &info);
        });
    }
}

#[test]
fn spir_v() {
    for_each_module(|label, tier, module, info| {
        let words = spv::write_vec(module, info, &spv::Options::default(), None)
            .unwrap_or_else(|error| panic!("{label}: {error}"));
        assert_eq!(words[0], 0x0723_0203, "{label}: the magic number");
        let has_int64 = module.types.iter().any(|(_, ty)| ty.inner.scalar() == Some(naga::Scalar::U64));
        assert_eq!(declares_int64(&words), has_int64, "{label}: OpCapability Int64");
        assert!(tier == Tier::U64 || !has_int64, "{label}");
    });
}

/// Whether a SPIR-V module asks for 64-bit integers: OpCapability (17) with the operand Int64 (11).
fn declares_int64(words: &[u32]) -> bool {
    words.windows(2).skip(5).any(|pair| pair == [2 << 16 | 17, 11])
}

#[test]
fn metal() {
    for_each_module(|label, tier, module, info| {
        // Metal 2.3 brings 64-bit integers to every stage; the tier without them needs no more than macOS 10.13 has.
        let lang_version = if tier == Tier::U64 { (2, 3) } else { (2, 0) };
        let options = msl::Options { lang_version, ..msl::Options::default() };
        let (text, translated) = msl::write_string(module, info, &options, &msl::PipelineOptions::default())
            .unwrap_or_else(|error| panic!("{label}: {error}"));
        assert!(text.contains("kernel void"), "{label}");
        assert!(translated.entry_point_names.iter().all(Result::is_ok), "{label}");
    });
}

#[test]
fn direct_x() {
    for_each_module(|label, tier, module, info| {
        // 64-bit integers and wave operations came with shader model 6; 5.1 is the oldest of DX12.
        let shader_model = if tier == Tier::U64 { hlsl::ShaderModel::V6_0 } else { hlsl::ShaderModel::V5_1 };
        let options = hlsl::Options { shader_model, ..hlsl::Options::default() };
        let mut text = String::new();
        let pipeline = hlsl::PipelineOptions::default();
        let reflection = hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(module, info, None)
            .unwrap_or_else(|error| panic!("{label}: {error}"));
        assert!(text.contains("[numthreads("), "{label}");
        assert!(reflection.entry_point_names.iter().all(Result::is_ok), "{label}");
    });
}

/// The tier for browsers passes without any native capability. The other one does not, wherever it computes in a
/// field: the check can fail.
#[test]
fn the_tier_without_64_bit_integers_asks_for_nothing() {
    for_each(Tier::U32, |label, source| {
        let module = parse(label, source);
        assert!(validate(&module, Capabilities::empty()).is_ok(), "{label}");
        assert!(!source.contains("u64") && !source.contains("enable "), "{label}");
    });
    for_each(Tier::U64, |label, source| {
        let refused = validate(&parse(label, source), Capabilities::empty()).is_err();
        assert_eq!(refused, source.contains("u64"), "{label}");
    });
    let chain = Program::FieldChain.source(None, Tier::U64).expect("a text");
    assert!(chain.contains("u64") && validate(&parse("field_chain", chain), Capabilities::empty()).is_err());
}

#[test]
fn every_adapter_has_the_workgroups() {
    for_each_module(|label, _, module, _| {
        let [entry] = &module.entry_points[..] else { panic!("{label}: one entry point is expected") };
        let invocations: u32 = entry.workgroup_size.iter().product();
        assert!((1..=INVOCATIONS).contains(&invocations), "{label}: {invocations} invocations");
        let memory: u32 = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup)
            // wgpu counts so: each variable begins at a multiple of 16 bytes.
            .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()).next_multiple_of(16))
            .sum();
        assert!(memory <= WORKGROUP_MEMORY, "{label}: {memory} bytes of workgroup memory");
    });
}

/// The table says what the texts do.
#[test]
fn reflections_are_those_of_the_texts() {
    for &program in Program::ALL {
        let group = program.is_per_group().then_some(Group::G2);
        let module = parse(program.name(), program.source(group, Tier::U32).expect("a text"));
        let storage = |space| matches!(space, AddressSpace::Storage { .. });
        let buffers = module.global_variables.iter().filter(|(_, variable)| storage(variable.space)).count();
        let reflection = program.reflection();
        assert_eq!(reflection.writes.len(), buffers, "{}", program.name());
        assert!(buffers <= 8, "{}: {buffers} storage buffers", program.name());
        assert_eq!(
            [reflection.workgroup_size, 1, 1],
            module.entry_points[0].workgroup_size,
            "{}",
            program.name()
        );
    }
}
