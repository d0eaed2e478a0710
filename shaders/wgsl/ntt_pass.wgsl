// One pass of a transform over the index bits [start, start + radix): every sub-transform over these bits, 2^columns of
// them side by side in a workgroup, at most 512 points. The points go through workgroup memory between radix-4 steps;
// a thread holds four.
//
// A sub-transform takes its points in natural order and leaves the value of frequency k at the place of k's bits in
// reverse. With decimation in frequency that is where it belongs. With decimation in time the points come in
// reverse, so they are put into place when loaded and put back when stored.
//
// Between two passes each value is multiplied by a root of unity (the twist) and, where a vector goes to the coset or
// comes from it, by a power of the shift. Both are the `factor` of a round: table[exponent], or the product
// low[exponent mod 2^b]·high[exponent div 2^b]. It rides on the last step before the values are stored.
//
// Values are below 2·r between steps and between passes.

struct Params {
    first_group: u32,
    // log₂ of the whole vector, and of the part of it that is bound; the number of that part.
    log_size: u32,
    log_part: u32,
    part: u32,
    // The bits of the index that are transformed: the lowest, and how many.
    start: u32,
    radix: u32,
    // log₂ of the sub-transforms in a workgroup.
    columns: u32,
    // How an index is put together: from the column, from the lowest bits of the group and from its other bits.
    column_shift: u32,
    low_bits: u32,
    low_shift: u32,
    high_shift: u32,
    // Transforms one after the other: 1; 2 where the way back begins with the bits with which the way there ended; 0
    // to scale only.
    rounds: u32,
    flags: u32,
    // Tables of the factor on loading, a power for the natural index: first entries, and b.
    load_low: u32,
    load_high: u32,
    load_low_bits: u32,
    // For each round: the first entry of its table of steps; the factor's kind; the first entries of its tables.
    // Then b; the left shift of the exponent; log₂ of the root's order; bits that the next pass transforms.
    round: array<vec4<u32>, 4>,
}

// Neighbouring threads load neighbouring columns, else neighbouring points of one; the same on storing.
const LOAD_COLUMNS = 1u;
const STORE_COLUMNS = 2u;
// The points come in reverse.
const LOAD_REVERSED = 4u;
// Values are stored by frequency, not in reverse.
const STORE_IN_ORDER = 8u;
// The whole index is reversed on storing.
const SCATTER = 16u;
// Values are stored below r.
const CANONICAL = 32u;
// Values are scaled on loading, by one table or by two.
const LOAD_FACTOR = 64u;
const LOAD_HIGH = 128u;

const FACTOR_NONE = 0u;
// ω^(frequency·index below the bits): decimation in frequency.
const FACTOR_BELOW = 1u;
// ω^(index·reverse of the bits above), as the next pass needs it: decimation in time.
const FACTOR_ABOVE = 2u;
// The power for the whole index in reverse.
const FACTOR_POWER = 3u;
const FACTOR_KIND = 3u;
// There is a second table.
const FACTOR_HIGH = 4u;
// The exponent is negated.
const FACTOR_NEGATIVE = 8u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> destination: array<vec4<u32>>;
// Device form.
@group(0) @binding(3) var<storage, read> tables: array<vec4<u32>>;

const POINTS = 512u;
const THREADS = 128u;
// The lower halves of the points, then the upper ones.
var<workgroup> tile: array<vec4<u32>, 1024>;

// Where a point stands in the tile, so that eight neighbouring threads meet eight different groups of banks wherever
// the tile is read or written. slot(a ^ b) = slot(a) ^ slot(b).
fn slot(point: u32) -> u32 {
    return point ^ ((point >> 3u) & 7u) ^ ((point >> 6u) & 7u);
}

fn point_at(at: u32) -> Fr {
    return fr_unpack(tile[at], tile[at + POINTS]);
}

fn set_point(at: u32, x: Fr) {
    let packed = fr_pack(x);
    tile[at] = packed[0];
    tile[at + POINTS] = packed[1];
}

fn entry(at: u32) -> Fr {
    return fr_unpack(tables[2u * at], tables[2u * at + 1u]);
}

fn ones(bits: u32) -> u32 {
    return (1u << bits) - 1u;
}

// The lowest bits in reverse; at least one.
fn reverse(x: u32, bits: u32) -> u32 {
    return reverseBits(x) >> (32u - bits);
}

// From below 8·r to below 2·r.
fn reduce(x: Fr) -> Fr {
    return fr_red2(fr_red4(x));
}

// The index, in the part, of a place of a column.
fn index(group: u32, column: u32, place: u32) -> u32 {
    return ((group >> params.low_bits) << params.high_shift) | (place << params.start)
        | ((group & ones(params.low_bits)) << params.low_shift) | (column << params.column_shift);
}

fn whole_index(in_part: u32) -> u32 {
    return (params.part << params.log_part) | in_part;
}

// The exponent of the factor of a point of the tile.
fn exponent(round: u32, group: u32, point: u32) -> u32 {
    let kind = params.round[2u * round].y;
    let place = point & ones(params.radix);
    let column = point >> params.radix;
    if (kind & FACTOR_KIND) == FACTOR_POWER {
        return reverse(whole_index(index(group, column, place)), params.log_size);
    }
    let frequency = reverse(place, params.radix);
    let at = index(group, column, frequency);
    let detail = params.round[2u * round + 1u];
    var product: u32;
    if (kind & FACTOR_KIND) == FACTOR_BELOW {
        product = (at & ones(params.start)) * frequency;
    } else {
        let end = params.start + params.radix;
        product = (at & ones(end)) * reverse(at >> end, detail.w);
    }
    product = product << detail.y;
    product = select(product, 0u - product, (kind & FACTOR_NEGATIVE) != 0u);
    return product & (0xffffffffu >> (32u - detail.z));
}

// From the source to the tile.
fn load(group: u32, local: u32, threads: u32) {
    for (var k = local; k < (1u << (params.radix + params.columns)); k += threads) {
        var column = k >> params.radix;
        var place = k & ones(params.radix);
        if (params.flags & LOAD_COLUMNS) != 0u {
            column = k & ones(params.columns);
            place = k >> params.columns;
        }
        let origin = index(group, column, place);
        if (params.flags & LOAD_REVERSED) != 0u {
            place = reverse(place, params.radix);
        }
        let at = slot((column << params.radix) | place);
        let low = source[2u * origin];
        let high = source[2u * origin + 1u];
        if (params.flags & LOAD_FACTOR) != 0u {
            let e = whole_index(origin);
            var x = fr_mul(fr_unpack(low, high), entry(params.load_low + (e & ones(params.load_low_bits))));
            if (params.flags & LOAD_HIGH) != 0u {
                x = fr_mul(x, entry(params.load_high + (e >> params.load_low_bits)));
            }
            set_point(at, x);
        } else {
            tile[at] = low;
            tile[at + POINTS] = high;
        }
    }
}

// From the tile to the destination.
fn store(group: u32, local: u32, threads: u32) {
    for (var k = local; k < (1u << (params.radix + params.columns)); k += threads) {
        var column = k >> params.radix;
        var place = k & ones(params.radix);
        if (params.flags & STORE_COLUMNS) != 0u {
            column = k & ones(params.columns);
            place = k >> params.columns;
        }
        var to = index(group, column, place);
        if (params.flags & STORE_IN_ORDER) != 0u {
            place = reverse(place, params.radix);
        }
        if (params.flags & SCATTER) != 0u {
            to = reverse(to, params.log_size);
        }
        let at = slot((column << params.radix) | place);
        destination[2u * to] = tile[at];
        destination[2u * to + 1u] = tile[at + POINTS];
    }
}

// One step of a round over the `bits` bits that are left: four points at distance 2^(bits − 2), or two pairs of
// neighbours for the last bit.
fn radix_step(round: u32, bits: u32, group: u32, local: u32) {
    let control = params.round[2u * round];
    let log_distance = max(bits, 2u) - 2u;
    let distance = 1u << log_distance;
    // Threads of a block of four times the distance are far apart, so that those of the first place, whose factors are
    // one, make up whole warps when the distance is four. Which ones changes with the group, or one
    // scheduler would always have the light one.
    let log_blocks = max(params.radix + params.columns, 2u) - 2u - log_distance;
    let block = local & ones(log_blocks);
    let place = ((local >> log_blocks) + group) & (distance - 1u);
    let at0 = slot((block << (log_distance + 2u)) | place);
    let at1 = at0 ^ slot(distance);
    let at2 = at0 ^ slot(2u * distance);
    let at3 = at1 ^ at2 ^ at0;
    let x0 = point_at(at0);
    let x1 = point_at(at1);
    let x2 = point_at(at2);
    let x3 = point_at(at3);

    // All below 8·r; in the middle the frequencies change places.
    var y0: Fr;
    var y1: Fr;
    var y2: Fr;
    var y3: Fr;
    if bits >= 2u {
        // The seventh entry of the steps is the root of order four.
        let turned = fr_mul(fr_sub2(x1, x3), entry(control.x + 6u));
        let even = fr_add(x0, x2);
        let odd = fr_add(x1, x3);
        let difference = fr_sub2(x0, x2);
        y0 = fr_add(even, odd);
        y1 = fr_sub4(even, odd);
        y2 = fr_add(difference, turned);
        y3 = fr_sub2(difference, turned);
    } else {
        y0 = fr_add(x0, x1);
        y1 = fr_sub2(x0, x1);
        y2 = fr_add(x2, x3);
        y3 = fr_sub2(x2, x3);
    }

    let last = bits <= 2u;
    let scaled = last && (control.y & FACTOR_KIND) != FACTOR_NONE;
    var f0 = 0u;
    // Of the roots of order 4·distance: ω^place, ω^(2·place), ω^(3·place) stand in runs of `distance` entries.
    var f2 = control.x + 3u * (distance - 1u) + place;
    var f1 = f2 + distance;
    var f3 = f1 + distance;
    if scaled {
        let mask = ones(params.round[2u * round + 1u].x);
        let point = 4u * local;
        f0 = control.z + (exponent(round, group, point) & mask);
        f1 = control.z + (exponent(round, group, point + 1u) & mask);
        f2 = control.z + (exponent(round, group, point + 2u) & mask);
        f3 = control.z + (exponent(round, group, point + 3u) & mask);
    }
    if scaled || (!last && (place != 0u || distance > 4u)) {
        y1 = fr_mul(y1, entry(f1));
        y2 = fr_mul(y2, entry(f2));
        y3 = fr_mul(y3, entry(f3));
    } else {
        y1 = reduce(y1);
        y2 = reduce(y2);
        y3 = reduce(y3);
    }
    if scaled {
        y0 = fr_mul(y0, entry(f0));
    } else {
        y0 = reduce(y0);
    }
    let final_round = round + 1u == params.rounds;
    if last && final_round && (params.flags & CANONICAL) != 0u && (control.y & FACTOR_HIGH) == 0u {
        y0 = fr_red1(y0);
        y1 = fr_red1(y1);
        y2 = fr_red1(y2);
        y3 = fr_red1(y3);
    }
    set_point(at0, y0);
    set_point(at1, y1);
    set_point(at2, y2);
    set_point(at3, y3);
}

// The second table of the factor, for the four points that this thread had in the last step.
fn scale_high(round: u32, group: u32, local: u32) {
    let high = params.round[2u * round].w;
    let low_bits = params.round[2u * round + 1u].x;
    let canonical = round + 1u == params.rounds && (params.flags & CANONICAL) != 0u;
    for (var i = 0u; i < 4u; i++) {
        let point = 4u * local + i;
        let at = slot(point);
        var x = fr_mul(point_at(at), entry(high + (exponent(round, group, point) >> low_bits)));
        if canonical {
            x = fr_red1(x);
        }
        set_point(at, x);
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let group = params.first_group + workgroup.x;
    let threads = max((1u << (params.radix + params.columns)) >> 2u, 1u);
    let works = local < threads;
    if works {
        load(group, local, threads);
    }
    workgroupBarrier();
    for (var round = 0u; round < params.rounds; round++) {
        if round > 0u {
            // From the order in which a sub-transform leaves its values to the one in which it takes them.
            let at = slot(4u * local);
            var values: array<vec4<u32>, 8>;
            if works {
                values = array<vec4<u32>, 8>(
                    tile[at], tile[at + POINTS], tile[at ^ 1u], tile[(at ^ 1u) + POINTS],
                    tile[at ^ 2u], tile[(at ^ 2u) + POINTS], tile[at ^ 3u], tile[(at ^ 3u) + POINTS]);
            }
            workgroupBarrier();
            if works {
                let column = ((4u * local) >> params.radix) << params.radix;
                let place = (4u * local) & ones(params.radix);
                let to0 = slot(column | reverse(place, params.radix));
                let to1 = to0 ^ slot(reverse(1u, params.radix));
                let to2 = to0 ^ slot(reverse(2u, params.radix));
                let to3 = to0 ^ slot(reverse(3u, params.radix));
                tile[to0] = values[0];
                tile[to0 + POINTS] = values[1];
                tile[to1] = values[2];
                tile[to1 + POINTS] = values[3];
                if params.radix > 1u {
                    tile[to2] = values[4];
                    tile[to2 + POINTS] = values[5];
                    tile[to3] = values[6];
                    tile[to3 + POINTS] = values[7];
                }
            }
            workgroupBarrier();
        }
        for (var bits = params.radix; bits > 0u; bits -= min(bits, 2u)) {
            if works {
                radix_step(round, bits, group, local);
            }
            if bits <= 2u && (params.round[2u * round].y & FACTOR_HIGH) != 0u && works {
                scale_high(round, group, local);
            }
            workgroupBarrier();
        }
    }
    if works {
        store(group, local, threads);
    }
}
