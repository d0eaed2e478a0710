// Counts the entries of each bucket, and notes for each entry which one of its bucket it is.
//
// Window w of a scalar belongs to bucket set w mod sets and to the table of multiples w / sets; digit d to bucket |d| - 1
// of the set. The sums of a set are weighted together, so that more tables of multiples mean fewer sets.

// Parameters, scalars and positions are those of digits.wgsl.

@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;
// Window by window, for each scalar.
@group(0) @binding(4) var<storage, read_write> ranks: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    var source = params.first + index;
    if params.indexed == 1u {
        let position = positions[source];
        if position.x - params.bases_first >= params.bases_count { return; }
        source = position.y - params.scalars_first;
        if source >= params.scalars_count { return; }
    }
    var digits = digits_of(
        fr_unpack(scalars[2u * source], scalars[2u * source + 1u]), params.modulus, params.half);
    let buckets = 1u << (params.window_bits - 1u);
    var bucket_set = 0u;
    for (var window = 0u; window < params.windows; window++) {
        let digit = next_digit(&digits, params.window_bits);
        if digit.magnitude != 0u {
            ranks[window * params.count + index] = atomicAdd(&counts[bucket_set * buckets + digit.magnitude - 1u], 1u);
        }
        bucket_set++;
        if bucket_set == params.sets { bucket_set = 0u; }
    }
}
