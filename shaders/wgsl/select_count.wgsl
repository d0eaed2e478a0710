// For each 64-bit word of a variable set: how many of its members have the value one, and how many a dense value.
// One invocation a word.

struct Params {
    first_group: u32,
    // 64-bit words of the set.
    words: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
// Members, 64 variables two words.
@group(0) @binding(1) var<storage, read> members: array<vec2<u32>>;
// Codes of the witness, 64 variables four words.
@group(0) @binding(2) var<storage, read> codes: array<vec4<u32>>;
// Ones of each word, then dense values of each word.
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

// Of 64 codes, their low bits: which of the variables are one. For their high bits, those that are dense, shift by one.
fn mask(four: vec4<u32>) -> vec2<u32> {
    return vec2(low_bits(four.x) | (low_bits(four.y) << 16u), low_bits(four.z) | (low_bits(four.w) << 16u));
}

fn count(bits: vec2<u32>) -> u32 {
    return countOneBits(bits.x) + countOneBits(bits.y);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = (params.first_group + workgroup.x) * 64u + local;
    if word >= params.words {
        return;
    }
    let member = members[word];
    let four = codes[word];
    counts[word] = count(member & mask(four));
    counts[params.words + word] = count(member & mask(four >> vec4(1u)));
}
