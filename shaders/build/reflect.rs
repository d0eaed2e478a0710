//! What naga says about a program.

use std::fmt::Write;

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ArraySize, Module, StorageAccess, TypeInner};

use crate::table::{Program, Tier};

/// What the backend has to know of a program.
#[derive(Debug, PartialEq)]
pub(crate) struct Reflection {
    /// In order of their numbers; whether the program writes to the buffer.
    writes: Vec<bool>,
    workgroup_size: u32,
    /// Members of the struct `Params` behind `first_group`: name and words.
    params: Vec<(String, u32)>,
}

/// Parses and validates a program and reads off its interface.
pub(crate) fn validate(label: &str, text: &str, tier: Tier) -> Reflection {
    let module = naga::front::wgsl::parse_str(text)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string_with_path(text, label)));
    let capabilities = match tier {
        Tier::U64 => Capabilities::SHADER_INT64,
        // What a browser accepts.
        Tier::U32 => Capabilities::empty(),
    };
    if let Err(error) = Validator::new(ValidationFlags::all(), capabilities).validate(&module) {
        panic!("{}", error.emit_to_string_with_path(text, label));
    }
    reflect(label, &module)
}

fn reflect(label: &str, module: &Module) -> Reflection {
    let [entry] = &module.entry_points[..] else { panic!("{label}: one entry point is expected") };
    let [workgroup_size, 1, 1] = entry.workgroup_size else {
        panic!("{label}: a one-dimensional workgroup is expected")
    };
    let mut storage = Vec::new();
    let mut params = None;
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = &variable.binding else { continue };
        match variable.space {
            AddressSpace::Storage { access } => {
                storage.push((binding.group, binding.binding, access.contains(StorageAccess::STORE)));
            }
            AddressSpace::Uniform => {
                assert_eq!((binding.group, binding.binding), (0, 0), "{label}: params are binding 0");
                params = Some(members(label, module, variable.ty));
            }
            _ => panic!("{label}: {:?} is neither storage nor uniform", variable.name),
        }
    }
    storage.sort_unstable();
    for (i, (group, binding, _)) in storage.iter().enumerate() {
        assert_eq!((*group, *binding as usize), (0, i + 1), "{label}: buffers are bindings 1, 2, …");
    }
    assert!(storage.len() <= 8, "{label}: more than the 8 storage buffers that every adapter has");
    let mut params = params.unwrap_or_else(|| panic!("{label}: no params"));
    assert_eq!(params.remove(0), ("first_group".to_owned(), 1), "{label}: params start with first_group");
    Reflection { writes: storage.iter().map(|(_, _, writes)| *writes).collect(), workgroup_size, params }
}

/// Names and sizes in words of a struct of `u32` and `array<vec4<u32>, n>`.
fn members(label: &str, module: &Module, ty: naga::Handle<naga::Type>) -> Vec<(String, u32)> {
    let TypeInner::Struct { members, .. } = &module.types[ty].inner else {
        panic!("{label}: params are a struct")
    };
    let mut next = 0;
    members
        .iter()
        .map(|member| {
            let words = match module.types[member.ty].inner {
                TypeInner::Scalar(_) => 1,
                TypeInner::Array { size: ArraySize::Constant(count), stride: 16, .. } => 4 * count.get(),
                ref other => panic!("{label}: {other:?} among the params"),
            };
            assert_eq!(
                member.offset,
                4 * next,
                "{label}: a gap in the params; arrays come at multiples of 4 words"
            );
            next += words;
            (member.name.clone().expect("members have names"), words)
        })
        .collect()
}

impl Reflection {
    pub(crate) fn table_entry(&self) -> String {
        let words: u32 = 1 + self.params.iter().map(|(_, words)| words).sum::<u32>();
        format!(
            "Reflection {{ writes: &{:?}, workgroup_size: {}, params_words: {words} }}",
            self.writes, self.workgroup_size
        )
    }

    /// A Rust struct with the members of `Params`.
    pub(crate) fn parameters(&self, program: Program) -> String {
        let mut text = format!(
            "/// Parameters of [`Program::{program:?}`], explained in `wgsl/{}.wgsl`.\n#[derive(Clone, Copy, Debug)]\n#[allow(missing_docs)]\npub struct {program:?} {{\n",
            program.name()
        );
        let mut words = String::new();
        for (name, count) in &self.params {
            match count {
                1 => {
                    writeln!(text, "    pub {name}: u32,").expect("a string");
                    writeln!(words, "        words.push(self.{name});").expect("a string");
                }
                _ => {
                    writeln!(text, "    pub {name}: [u32; {count}],").expect("a string");
                    writeln!(words, "        words.extend_from_slice(&self.{name});").expect("a string");
                }
            }
        }
        write!(
            text,
            "}}\n\nimpl Params for {program:?} {{\n    const PROGRAM: Program = Program::{program:?};\n\n    fn write(&self, words: &mut Vec<u32>) {{\n{words}    }}\n}}\n\n"
        )
        .expect("a string");
        text
    }
}
