// Lists, in ascending order, the positions in a query of the members of a variable set whose value is one, and
// positions and dense indices of those whose value is dense. One invocation a 64-bit word of the set.

struct Params {
    first_group: u32,
    // 64-bit words of the set.
    words: u32,
    // The words listed in this part: first_word..end_word.
    first_word: u32,
    end_word: u32,
    // What the first entries of the two lists have for an offset.
    ones_base: u32,
    tail_base: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
// Members, 64 variables two words.
@group(0) @binding(1) var<storage, read> members: array<vec2<u32>>;
// Members before each word.
@group(0) @binding(2) var<storage, read> positions: array<u32>;
// Codes of the witness, 64 variables four words.
@group(0) @binding(3) var<storage, read> codes: array<vec4<u32>>;
// Dense values before each 32 variables.
@group(0) @binding(4) var<storage, read> ranks: array<u32>;
// The exclusive prefix sums of what select_count counts.
@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> ones: array<u32>;
// Position and dense index.
@group(0) @binding(7) var<storage, read_write> tail: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let word = params.first_word + (params.first_group + workgroup.x) * 64u + local;
    if word >= params.end_word {
        return;
    }
    let four = codes[word];
    var position = positions[word];
    var next_one = offsets[word] - params.ones_base;
    var next_tail = offsets[params.words + word] - params.tail_base;
    for (var half = 0u; half < 2u; half++) {
        let member = members[word][half];
        let pair = vec2(four[2u * half], four[2u * half + 1u]);
        let is_one = low_bits(pair.x) | (low_bits(pair.y) << 16u);
        let is_dense = low_bits(pair.x >> 1u) | (low_bits(pair.y >> 1u) << 16u);
        let rank = ranks[2u * word + half];
        for (var rest = member & (is_one | is_dense); rest != 0u; rest &= rest - 1u) {
            let below = (rest & (0u - rest)) - 1u;
            let at = position + countOneBits(member & below);
            if (is_one & (below + 1u)) != 0u {
                ones[next_one] = at;
                next_one++;
            } else {
                tail[next_tail] = vec2(at, rank + countOneBits(is_dense & below));
                next_tail++;
            }
        }
        position += countOneBits(member);
    }
}
