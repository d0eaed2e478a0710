//! Puts every program together for every tier and group, has naga validate it, and writes them out with what the
//! backend has to know of each: bindings, workgroup size, parameters.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    reason = "a build script fails by panicking, and tells cargo by printing"
)]

mod assemble;
mod field;
mod parts;
mod reflect;
#[path = "../src/table.rs"]
#[allow(unreachable_pub, reason = "the library exports it")]
mod table;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use assemble::{GROUPS, Library};
use table::{Program, Tier};

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/table.rs");
    println!("cargo::rerun-if-changed=wgsl");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let libraries = Tier::ALL.map(Library::new);

    let mut sources = String::from("static SOURCES: &[&str] = &[\n");
    let mut reflections = String::from("static REFLECTIONS: &[Reflection] = &[\n");
    let mut parameters = String::new();
    let mut index = String::from(
        "fn source_index(program: Program, group: Option<Group>, tier: Tier) -> Option<usize> {\n    match (program, group, tier) {\n",
    );
    let mut count = 0;
    for &program in Program::ALL {
        let mut reflected = None;
        for library in &libraries {
            let groups: &[Option<usize>] = if program.is_per_group() { &[Some(0), Some(1)] } else { &[None] };
            for group in groups {
                let text = library.assemble(program, *group);
                let label = format!(
                    "{}{}.{}.wgsl",
                    program.name(),
                    group.map_or(String::new(), |group| format!(".{}", GROUPS[group].to_lowercase())),
                    library.tier.name()
                );
                let reflection = reflect::validate(&label, &text, library.tier);
                match &reflected {
                    None => reflected = Some(reflection),
                    Some(first) => assert_eq!(*first, reflection, "{label} differs from its other variants"),
                }
                let path = Path::new(&out).join(&label);
                fs::write(&path, text).expect("OUT_DIR is writable");
                writeln!(sources, "    include_str!({path:?}),").expect("a string");
                let group =
                    group.map_or("None".to_owned(), |group| format!("Some(Group::{})", GROUPS[group]));
                writeln!(
                    index,
                    "        (Program::{program:?}, {group}, Tier::{:?}) => Some({count}),",
                    library.tier
                )
                .expect("a string");
                count += 1;
            }
        }
        let reflected = reflected.expect("there are tiers");
        writeln!(reflections, "    {},", reflected.table_entry()).expect("a string");
        parameters += &reflected.parameters(program);
    }
    sources += "];\n";
    reflections += "];\n";
    index += "        _ => None,\n    }\n}\n";
    fs::write(Path::new(&out).join("programs.rs"), sources + &reflections + &index)
        .expect("OUT_DIR is writable");
    fs::write(Path::new(&out).join("params.rs"), parameters).expect("OUT_DIR is writable");
}
