// Writes each entry to its place: behind the entries of the buckets before its own, at its rank within it.

// Parameters, scalars and positions are those of digits.wgsl.

// Entries before each bucket.
@group(0) @binding(3) var<storage, read> offsets: array<u32>;
@group(0) @binding(4) var<storage, read> ranks: array<u32>;
// Pairs: bucket, and twice the position in the table of multiples plus one for a negative digit.
@group(0) @binding(5) var<storage, read_write> entries: array<vec2<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    var source = params.first + index;
    var base = params.base + index;
    if params.indexed == 1u {
        let position = positions[source];
        base = position.x - params.bases_first;
        if base >= params.bases_count { return; }
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
            let bucket = bucket_set * buckets + digit.magnitude - 1u;
            let place = offsets[bucket] + ranks[window * params.count + index];
            entries[place] = vec2<u32>(bucket, 2u * base + u32(digit.negative));
        }
        bucket_set++;
        if bucket_set == params.sets {
            bucket_set = 0u;
            base += params.bases_count;
        }
    }
}
