// Sums the bases at chosen positions: each invocation adds `run` consecutive ones and leaves a partial sum.

struct Params {
    first_group: u32,
    // Invocations.
    count: u32,
    run: u32,
    // Positions given.
    length: u32,
    // The bases at hand: position of the first, and how many.
    bases_first: u32,
    bases_count: u32,
    // Where the partial sums start.
    first: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bases: array<vec4<u32>>;
// Ascending.
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> partials: array<vec4<u32>>;

// access affine bases
// access xyzz partials rw

// How many positions are below `bound`.
fn positions_below(bound: u32) -> u32 {
    var low = 0u;
    var high = params.length;
    while low < high {
        let middle = (low + high) / 2u;
        if positions[middle] < bound { low = middle + 1u; } else { high = middle; }
    }
    return low;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let first = positions_below(params.bases_first);
    let last = positions_below(params.bases_first + params.bases_count);
    let start = first + index * params.run;
    let end = min(start + params.run, last);
    var sum = xyzz_infinity();
    for (var i = start; i < end; i++) {
        let base = load_bases(positions[i] - params.bases_first);
        if !affine_is_infinity(base) { sum = xyzz_add_affine(sum, base); }
    }
    store_partials(params.first + index, sum);
}
