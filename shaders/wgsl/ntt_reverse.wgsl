// Bit reversal of a vector in parts, in place: swaps what two parts, or one part within itself, have to exchange.

struct Params {
    first_group: u32,
    // Swaps, or twice as many for a part within itself: 2^(log_part − log_parts).
    count: u32,
    log_part: u32,
    log_parts: u32,
    // The two parts; where they are the same one, the second buffer is not used.
    first_part: u32,
    second_part: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> first: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> second: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let number = (params.first_group + workgroup.x) * 64u + local;
    if number >= params.count {
        return;
    }
    // What goes from the first part to the second has the second's bits, in reverse, at the low end.
    let origin = (number << params.log_parts)
        | select(0u, reverseBits(params.second_part) >> (32u - params.log_parts), params.log_parts > 0u);
    let whole = (params.first_part << params.log_part) | origin;
    let reversed = reverseBits(whole) >> (32u - params.log_part - params.log_parts);
    let to = reversed & ((1u << params.log_part) - 1u);
    let low = first[2u * origin];
    let high = first[2u * origin + 1u];
    if params.first_part != params.second_part {
        first[2u * origin] = second[2u * to];
        first[2u * origin + 1u] = second[2u * to + 1u];
        second[2u * to] = low;
        second[2u * to + 1u] = high;
    } else if origin < to {
        first[2u * origin] = first[2u * to];
        first[2u * origin + 1u] = first[2u * to + 1u];
        first[2u * to] = low;
        first[2u * to + 1u] = high;
    }
}
