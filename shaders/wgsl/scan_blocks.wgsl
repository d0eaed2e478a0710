// Exclusive prefix sums, mod 2^32, of blocks of 2048 words, in place, and the total of each block.
//
// 256 invocations load a block with neighbouring invocations on neighbouring words, then each sums eight consecutive
// words of it, and the 256 sums are scanned by W. Hillis and G. Steele, "Data parallel algorithms", CACM 29 (1986).
//
// Group g scans the words from 2048·g of `values`. Words from `len` on count as zero and stay as they are.

const BLOCK = 2048u;
const INVOCATIONS = 256u;
const RUN = 8u;

struct Params {
    first_group: u32,
    // Words that are scanned.
    len: u32,
    // Number among the totals of block 0 of `values`.
    first_total: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;

// A word of padding every eight, which spreads the runs over the banks.
var<workgroup> block: array<u32, 2304>;
var<workgroup> sums: array<u32, 256>;

fn padded(index: u32) -> u32 {
    return index + (index >> 3u);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let group = params.first_group + workgroup.x;
    let start = group * BLOCK;
    for (var i = local; i < BLOCK; i += INVOCATIONS) {
        var value = 0u;
        if start + i < params.len {
            value = values[start + i];
        }
        block[padded(i)] = value;
    }
    workgroupBarrier();

    var run = 0u;
    for (var i = 0u; i < RUN; i++) {
        run += block[padded(local * RUN + i)];
    }
    var inclusive = run;
    sums[local] = inclusive;
    workgroupBarrier();
    for (var distance = 1u; distance < INVOCATIONS; distance <<= 1u) {
        if local >= distance {
            inclusive += sums[local - distance];
        }
        workgroupBarrier();
        sums[local] = inclusive;
        workgroupBarrier();
    }
    if local == INVOCATIONS - 1u {
        totals[params.first_total + group] = inclusive;
    }

    var before = inclusive - run;
    for (var i = 0u; i < RUN; i++) {
        let at = padded(local * RUN + i);
        let value = block[at];
        block[at] = before;
        before += value;
    }
    workgroupBarrier();
    for (var i = local; i < BLOCK; i += INVOCATIONS) {
        if start + i < params.len {
            values[start + i] = block[padded(i)];
        }
    }
}
