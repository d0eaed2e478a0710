// Adds to each block of 2048 words what all blocks before it sum up to: the last step of a scan over many blocks.
//
// Group g takes the words from 2048·g of `values`, as in scan_blocks.

const BLOCK = 2048u;
const INVOCATIONS = 256u;

struct Params {
    first_group: u32,
    // Words that are added to.
    len: u32,
    // Number among the totals of block 0 of `values`.
    first_total: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
// Exclusive prefix sums of the blocks' totals.
@group(0) @binding(2) var<storage, read> totals: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let group = params.first_group + workgroup.x;
    let before = totals[params.first_total + group];
    let start = group * BLOCK;
    let end = min(start + BLOCK, params.len);
    for (var i = start + local; i < end; i += INVOCATIONS) {
        values[i] += before;
    }
}
