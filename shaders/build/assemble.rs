//! Programs from parts.

use std::collections::BTreeSet;
use std::fs;

use bellwether_core::field::Modulus;

use crate::field::{Accumulator, FieldCode};
use crate::parts::Part;
use crate::table::{Program, Tier};

/// Names of the groups, as `bellwether_core::curve::Group` spells them.
pub(crate) const GROUPS: [&str; 2] = ["G1", "G2"];

/// The parts in one tier.
pub(crate) struct Library {
    pub(crate) tier: Tier,
    fr: String,
    fp: String,
}

impl Library {
    pub(crate) fn new(tier: Tier) -> Library {
        let (fr_bits, fp_bits, accumulator) = match tier {
            Tier::U64 => (29, 30, Accumulator::U64),
            Tier::U32 => (13, 13, Accumulator::U32),
        };
        Library {
            tier,
            fr: FieldCode::new(Modulus::FR, fr_bits, accumulator).source(),
            fp: FieldCode::new(Modulus::FP, fp_bits, accumulator).source(),
        }
    }

    /// The whole text of a program; `group` is an index into [`GROUPS`].
    pub(crate) fn assemble(&self, program: Program, group: Option<usize>) -> String {
        let mut parts = BTreeSet::new();
        program.parts().iter().for_each(|part| collect(*part, &mut parts));
        let mut text = String::new();
        // Dependencies stand first in the order of the enum.
        for part in parts {
            text += &self.part(part, group);
            text.push('\n');
        }
        text + &expand(&read(program.name()))
    }

    fn part(&self, part: Part, group: Option<usize>) -> String {
        match (part, group) {
            (Part::Fr, _) => self.fr.clone(),
            (Part::Fp, _) => self.fp.clone(),
            (Part::FpInverse, _) => fp_inverse(),
            (Part::Coordinate, Some(0)) => read("coordinate_g1"),
            (Part::Coordinate, _) => {
                read("coordinate_g2") + &read(&format!("coordinate_g2_mul_{}", self.tier.name()))
            }
            (Part::CoordinateInverse, Some(0)) => read("coordinate_inverse_g1"),
            (Part::CoordinateInverse, _) => read("coordinate_inverse_g2"),
            (Part::Curve, _) => read("curve"),
            (Part::Witness, _) => read("witness"),
            (Part::Digits, _) => read("digits"),
            (Part::Codes, _) => read("codes"),
        }
    }
}

/// Writes out the access functions that a program asks for, since WGSL has no functions over buffers: behind a line
/// `// access affine NAME`, `// access xyzz NAME` or `// access coordinate NAME` stand `load_NAME` and, with `rw` at the
/// end of the line, `store_NAME`.
fn expand(text: &str) -> String {
    let mut expanded = String::new();
    for line in text.lines() {
        expanded += line;
        expanded.push('\n');
        let Some(request) = line.strip_prefix("// access ") else { continue };
        let words: Vec<&str> = request.split(' ').collect();
        let (kind, name, writes) = match words[..] {
            [kind, name] => (kind, name, false),
            [kind, name, "rw"] => (kind, name, true),
            _ => panic!("{line}: not an access"),
        };
        let (ty, members): (&str, &[&str]) = match kind {
            "coordinate" => ("Coordinate", &[]),
            "affine" => ("Affine", &["x", "y"]),
            "xyzz" => ("Xyzz", &["x", "y", "zz", "zzz"]),
            _ => panic!("{line}: no such kind"),
        };
        expanded += &load(name, ty, members);
        if writes {
            expanded += &store(name, ty, members);
        }
    }
    expanded
}

fn load(name: &str, ty: &str, members: &[&str]) -> String {
    let count = members.len().max(1);
    let mut text = format!(
        "fn load_{name}(index: u32) -> {ty} {{\n    let at = index * {count}u * COORDINATE_VECTORS;\n"
    );
    for i in 0..count {
        text += &format!("    var w{i}: CoordinatePacked;\n");
    }
    text += "    for (var v = 0u; v < COORDINATE_VECTORS; v++) {\n";
    for i in 0..count {
        text += &format!("        w{i}[v] = {name}[at + {i}u * COORDINATE_VECTORS + v];\n");
    }
    let parts: Vec<String> = (0..count).map(|i| format!("coordinate_unpack(w{i})")).collect();
    let value = if members.is_empty() { parts[0].clone() } else { format!("{ty}({})", parts.join(", ")) };
    text + &format!("    }}\n    return {value};\n}}\n")
}

fn store(name: &str, ty: &str, members: &[&str]) -> String {
    let count = members.len().max(1);
    let mut text = format!(
        "fn store_{name}(index: u32, value: {ty}) {{\n    let at = index * {count}u * COORDINATE_VECTORS;\n"
    );
    for i in 0..count {
        let member = members.get(i).map_or(String::new(), |member| format!(".{member}"));
        text += &format!("    var w{i} = coordinate_pack(value{member});\n");
    }
    text += "    for (var v = 0u; v < COORDINATE_VECTORS; v++) {\n";
    for i in 0..count {
        text += &format!("        {name}[at + {i}u * COORDINATE_VECTORS + v] = w{i}[v];\n");
    }
    text + "    }\n}\n"
}

fn collect(part: Part, parts: &mut BTreeSet<Part>) {
    part.needs().iter().for_each(|needed| collect(*needed, parts));
    parts.insert(part);
}

fn read(name: &str) -> String {
    let path = format!("wgsl/{name}.wgsl");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The exponent of Fermat's inversion, p − 2, and the loop that raises to it.
fn fp_inverse() -> String {
    // p is odd and greater than 2: taking two away changes the lowest word only, without a borrow.
    let mut words: Vec<u32> = (0..12).map(|i| Modulus::FP.value().limb(i, 32)).collect();
    words[0] -= 2;
    let words: Vec<String> = words.iter().map(|word| format!("{word}u")).collect();
    format!(
        "const FP_INVERSE_EXPONENT = array<u32, 12>({});\nconst FP_INVERSE_BITS = {}u;\n{}",
        words.join(", "),
        Modulus::FP.num_bits(),
        read("fp_inverse")
    )
}
