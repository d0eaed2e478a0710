// Sums partial sums by bucket: the same walk over runs as in msm_accumulate, over the partial sums it left. What remains
// are again at most two partial sums a run; with one run for all, none.
//
// Runs start one before a multiple of `run`, so that the second partial sum of an invocation of the level below meets the
// first one of the next, with which it shares a bucket more often than not. With uniform scalars one level then does
// nearly all there is to do; the later ones find infinities.

struct Params {
    first_group: u32,
    // Invocations.
    count: u32,
    run: u32,
    // Partial sums to combine.
    length: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> partials: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out_partials: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> out_keys: array<u32>;

// access xyzz partials
// access xyzz sums rw
// access xyzz out_partials rw

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let start = max(index * params.run, 1u) - 1u;
    let end = min((index + 1u) * params.run - 1u, params.length);
    let first_key = keys[start];
    let last_key = keys[end - 1u];
    let begun_before = start > 0u && keys[max(start, 1u) - 1u] == first_key;
    let goes_on = end < params.length && keys[min(end, params.length - 1u)] == last_key;

    store_out_partials(2u * index, xyzz_infinity());
    store_out_partials(2u * index + 1u, xyzz_infinity());
    out_keys[2u * index] = first_key;
    out_keys[2u * index + 1u] = last_key;

    var key = first_key;
    var sum = xyzz_infinity();
    // Whether the run of `key` both begins and ends here, so that its sum joins what the bucket holds; it does so at the
    // first partial sum that is not infinity, which leaves alone the many runs that hold none.
    var whole = !begun_before && !(goes_on && key == last_key);
    var joined = false;
    // One step behind the last partial sum, where the last run ends.
    for (var i = start; i <= end; i++) {
        let next = keys[min(i, end - 1u)];
        if i == end || next != key {
            let is_head = begun_before && key == first_key;
            if is_head || (i == end && goes_on) {
                store_out_partials(2u * index + u32(!is_head), sum);
            } else if joined {
                store_sums(key, sum);
            }
            if i == end { break; }
            key = next;
            sum = xyzz_infinity();
            whole = !(goes_on && key == last_key);
            joined = false;
        }
        let partial = load_partials(i);
        if !xyzz_is_infinity(partial) {
            if whole && !joined {
                sum = load_sums(key);
                joined = true;
            }
            sum = xyzz_add(sum, partial);
        }
    }
}
