// Sums entries by bucket. Each invocation adds `run` consecutive entries, whatever buckets they belong to, so that skewed
// scalars load it no more than uniform ones. A bucket whose entries lie within one run is done; of one that reaches into
// other runs the invocation leaves partial sums, at most two: of the bucket it starts in and of the one it ends in.

struct Params {
    first_group: u32,
    // Invocations.
    count: u32,
    run: u32,
    // Index in `offsets` of the total number of entries.
    total: u32,
    // 1 if the buckets hold sums already, of earlier bases.
    resume: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> bases: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> offsets: array<u32>;
@group(0) @binding(4) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read_write> partials: array<vec4<u32>>;
// The bucket of each partial sum, ascending; 2^32 - 1 behind the last.
@group(0) @binding(6) var<storage, read_write> keys: array<u32>;

// access affine bases
// access xyzz sums rw
// access xyzz partials rw

const NONE = 0xffffffffu;

fn sum_before(key: u32) -> Xyzz {
    if params.resume == 1u { return load_sums(key); }
    return xyzz_infinity();
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = (params.first_group + group.x) * 64u + local;
    if index >= params.count { return; }
    let total = offsets[params.total];
    let start = index * params.run;
    let end = min(start + params.run, total);
    if start >= end {
        keys[2u * index] = NONE;
        keys[2u * index + 1u] = NONE;
        store_partials(2u * index, xyzz_infinity());
        store_partials(2u * index + 1u, xyzz_infinity());
        return;
    }
    let first_key = entries[start].x;
    let last_key = entries[end - 1u].x;
    let begun_before = start > 0u && entries[max(start, 1u) - 1u].x == first_key;
    let goes_on = end < total && entries[min(end, total - 1u)].x == last_key;

    // Partial sums are stored as soon as they are there: kept in registers until the end, they made the loop 13 % slower
    // in G1 and 15 % in G2.
    if !begun_before { store_partials(2u * index, xyzz_infinity()); }
    var key = first_key;
    var sum = xyzz_infinity();
    if !begun_before && !(goes_on && key == last_key) { sum = sum_before(key); }
    for (var i = start; i < end; i++) {
        let entry = entries[i];
        if entry.x != key {
            if begun_before && key == first_key { store_partials(2u * index, sum); } else { store_sums(key, sum); }
            key = entry.x;
            sum = xyzz_infinity();
            if !(goes_on && key == last_key) { sum = sum_before(key); }
        }
        let base = affine_negate_if(load_bases(entry.y >> 1u), (entry.y & 1u) == 1u);
        if !affine_is_infinity(base) { sum = xyzz_add_affine(sum, base); }
    }
    keys[2u * index] = first_key;
    keys[2u * index + 1u] = last_key;
    let is_head = begun_before && key == first_key;
    if !is_head && !goes_on {
        store_sums(key, sum);
        sum = xyzz_infinity();
    }
    if is_head {
        store_partials(2u * index, sum);
        sum = xyzz_infinity();
    }
    store_partials(2u * index + 1u, sum);
}
