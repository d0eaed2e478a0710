// One level of the tree that weighs sums by the bits of their index.
//
// Of Σ_i i·R_i, bit j contributes 2^j·Σ R_i over the i with that bit. The state is the list R and, for each higher bit
// seen so far, a list to be summed plainly. A level folds each list onto its
// lower half, and takes the upper half of R, whose indices have the top bit, as a list of its own:
// (R, T_1, …, T_k) of length 2h become (R', T_1', …, T_k', upper half of R) of length h. After the last level each list
// is one sum. All bucket sets are folded at once: list l of set s stands at (l·sets + s)·length. Without weights, the
// lists are folded and none is added: a plain sum.

struct Params {
    first_group: u32,
    // Invocations: lists · sets · half.
    count: u32,
    // Lists before this level.
    lists: u32,
    sets: u32,
    // Length of a list after this level.
    half: u32,
    // 1 to weigh by index.
    weigh: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> sums: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<u32>>;

// access xyzz sums
// access xyzz out rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let list = index / params.half;
    let i = index - list * params.half;
    let lower = load_sums(2u * list * params.half + i);
    let upper = load_sums((2u * list + 1u) * params.half + i);
    store_out(index, xyzz_add(lower, upper));
    // The first `sets` lists are R.
    if params.weigh == 1u && list < params.sets { store_out(params.lists * params.sets * params.half + index, upper); }
}
