//! The host build against what CUDA says of blocks, warps and barriers, and the table of kernels against the host build.
#![cfg(feature = "host")]

use std::ffi::c_void;

use bellwether_kernels::host::{self, HostError, HostKernel, HostOptions, Order};
use bellwether_kernels::{Module, entries};

/// What `garbage` of host/simt.hpp gives.
const GARBAGE: u64 = 0xdead_c0de_bad5_eed5;

const ORDERS: [Order; 5] =
    [Order::Forward, Order::Reverse, Order::Shuffled(1), Order::Shuffled(2), Order::Shuffled(3)];

fn options(threads: u32, order: Order) -> HostOptions {
    HostOptions { threads, order }
}

fn all_options() -> impl Iterator<Item = HostOptions> {
    [1, 2, 5].into_iter().flat_map(|threads| ORDERS.map(|order| options(threads, order)))
}

/// Launches with references to the parameters, whose types are those of the kernel.
macro_rules! launch {
    ($name:literal, $blocks:expr, $shared:expr, $options:expr; $($parameter:expr),*) => {
        launch($name, $blocks, $shared, $options, &[$(of($parameter)),*])
    };
}

fn launch(
    name: &str,
    blocks: usize,
    shared_bytes: usize,
    options: HostOptions,
    parameters: &[(usize, *const c_void)],
) -> Result<(), HostError> {
    let kernel = host::find(name).expect(name);
    let (sizes, pointers): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
    assert_eq!(kernel.sizes, sizes);
    // SAFETY: the sizes have been compared, and the kernels write where the tests' vectors are.
    unsafe { host::launch_raw(&kernel, blocks, shared_bytes, &pointers, &options) }
}

fn of<T>(parameter: &T) -> (usize, *const c_void) {
    (size_of::<T>(), (&raw const *parameter).cast())
}

/// Some bits, determined by their number.
fn bits(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn every_thread_of_every_block_runs_once() {
    for count in [0_usize, 1, 255, 256, 257, 100_000] {
        for options in all_options() {
            let x: Vec<u32> = (0..count as u64).map(|i| bits(i) as u32).collect();
            let mut y = vec![0_u32; x.len()];
            launch!("simt_scale", count.div_ceil(256), 0, options; &x.as_ptr(), &y.as_mut_ptr(), &3_u32, &(count as u64))
                .unwrap();
            assert!(x.iter().zip(&y).all(|(x, y)| x.wrapping_mul(3) == *y), "{count} {options:?}");
        }
    }
}

#[test]
fn barriers_wait_for_all_that_have_not_returned() {
    for returned in [0, 1, 31, 32, 33, 64, 100, 191] {
        for options in all_options() {
            let (blocks, count) = (7, 192 - returned);
            let before: Vec<u32> = (0..192 * blocks as u32).collect();
            let mut values = before.clone();
            launch!("simt_turn", blocks, 0, options; &values.as_mut_ptr(), &5_u32, &(returned as u32))
                .unwrap();
            for (block, before) in values.chunks(192).zip(before.chunks(192)) {
                for (i, value) in block.iter().enumerate() {
                    let from = if i < count { (i + 5 * count - 5) % count } else { i };
                    assert_eq!(*value, before[from], "{returned} {options:?}");
                }
            }
        }
    }
}

#[test]
fn a_missing_barrier_shows_in_some_order() {
    let expected: Vec<u32> = (0..192).map(|i| (i + 191) % 192).collect();
    let run = |order| {
        let mut values: Vec<u32> = (0..192).collect();
        launch!("simt_turn_without_barrier", 1, 192 * 4, options(1, order); &values.as_mut_ptr()).unwrap();
        values
    };
    let wrong = |order| run(order).iter().zip(&expected).filter(|(a, b)| a != b).count();
    // Only the first thread reads what has not been written.
    assert_eq!(wrong(Order::Forward), 1);
    assert_eq!(wrong(Order::Reverse), 191);
    assert!(wrong(Order::Shuffled(7)) > 50);
    // The same seed, the same order.
    assert_eq!(wrong(Order::Shuffled(7)), wrong(Order::Shuffled(7)));
}

/// Sets of threads, of 80, that return before a warp operation.
const RETURNED: [u128; 5] =
    [0, 1, 1 << 79 | 1 << 31 | 1 << 40, 0xffff_ffff << 32, 0x5a5a_0f0f_3333_1111_7777_8421_dead_beef];

/// A thread's value of each operation, by its definition: a function from (lane, all of the warp that take part).
fn check_warps<T: Copy + PartialEq + std::fmt::Debug + Default>(
    values: &[T],
    returned: u128,
    results: &[T],
    definition: impl Fn(usize, &[Option<T>; 32]) -> T,
    what: &str,
) {
    for warp in 0..3 {
        let lanes: [Option<T>; 32] = std::array::from_fn(|lane| {
            let thread = 32 * warp + lane;
            (thread < 80 && returned >> thread & 1 == 0).then(|| values[thread])
        });
        for lane in (0..32).filter(|lane| lanes[*lane].is_some()) {
            assert_eq!(
                results[32 * warp + lane],
                definition(lane, &lanes),
                "{what}: thread {}",
                32 * warp + lane
            );
        }
    }
}

/// Runs the shuffles of one type of value.
macro_rules! check_shuffles {
    ($name:literal, $T:ty) => {
        for returned in RETURNED {
            for (by, width) in [0_usize, 1, 5, 16, 31].into_iter().flat_map(|by| [32, 16, 8, 1].map(|w| (by, w))) {
                for order in ORDERS {
                    let values: Vec<$T> = (0..80).map(|i| bits(i) as $T).collect();
                    let mut out = vec![0 as $T; 320];
                    let absent = [returned as u64, (returned >> 64) as u64];
                    launch!(
                        $name, 1, 0, options(1, order);
                        &values.as_ptr(), &out.as_mut_ptr(), &(by as i32), &(width as i32), &absent.as_ptr()
                    )
                    .unwrap();
                    let what = |name: &str| format!("{name} by {by}, width {width}, {returned:x}, {order:?}");
                    let from = |lanes: &[Option<$T>; 32], lane: usize| lanes[lane].unwrap_or(GARBAGE as $T);
                    let own = |lanes: &[Option<$T>; 32], lane: usize| lanes[lane].unwrap();
                    let check = |row: usize, name, definition: &dyn Fn(usize, &[Option<$T>; 32]) -> $T| {
                        check_warps(&values, returned, &out[80 * row..][..80], definition, &what(name));
                    };
                    check(0, "shfl", &|lane, lanes| from(lanes, lane / width * width + by % width));
                    check(1, "up", &|lane, lanes| {
                        if lane % width < by { own(lanes, lane) } else { from(lanes, lane - by) }
                    });
                    check(2, "down", &|lane, lanes| {
                        if lane % width + by >= width { own(lanes, lane) } else { from(lanes, lane + by) }
                    });
                    check(3, "xor", &|lane, lanes| {
                        let end = lane / width * width + width;
                        if lane ^ by >= end { own(lanes, lane) } else { from(lanes, lane ^ by) }
                    });
                }
            }
        }
    };
}

#[test]
fn shuffles_of_32_bits() {
    check_shuffles!("simt_shuffles_32", u32);
}

#[test]
fn shuffles_of_64_bits() {
    check_shuffles!("simt_shuffles_64", u64);
}

/// A thread's value and (lane, value) of all that take part give a result.
type Vote = dyn Fn(u32, &mut dyn Iterator<Item = (usize, u32)>) -> u32;

#[test]
fn votes_and_reductions() {
    for (returned, order) in RETURNED.into_iter().flat_map(|returned| ORDERS.map(|order| (returned, order))) {
        for spread in [0, 3, 30] {
            let values: Vec<u32> =
                (0..80).map(|i| (bits(i) as u32).rotate_left(7) | !(u32::MAX >> spread)).collect();
            let mut out = vec![0_u32; 80 * 14];
            let absent = [returned as u64, (returned >> 64) as u64];
            launch!("simt_votes", 1, 0, options(1, order); &values.as_ptr(), &out.as_mut_ptr(), &absent.as_ptr())
                .unwrap();
            let check = |row: usize, definition: &Vote| {
                let by_lanes = |lane: usize, lanes: &[Option<u32>; 32]| {
                    let mut present =
                        lanes.iter().enumerate().filter_map(|(lane, value)| Some((lane, (*value)?)));
                    definition(lanes[lane].unwrap(), &mut present)
                };
                let what = format!("row {row}, {returned:x}, {order:?}");
                check_warps(&values, returned, &out[80 * row..][..80], by_lanes, &what);
            };
            check(0, &|_, all| all.map(|(lane, x)| ((x >> 1) & 1) << lane).sum());
            check(1, &|_, all| all.fold(0, |any, (_, x)| any | (x >> 2 & 1)));
            check(2, &|_, all| all.fold(1, |every, (_, x)| every & (x >> 3 & 1)));
            for row in [3, 4] {
                check(row, &|own, all| all.map(|(lane, x)| u32::from(x & 15 == own & 15) << lane).sum());
            }
            check(5, &|_, all| all.fold(0, |sum, (_, x)| sum.wrapping_add(x)));
            check(6, &|_, all| all.map(|(_, x)| x).min().unwrap());
            check(7, &|_, all| all.map(|(_, x)| x).max().unwrap());
            check(8, &|_, all| all.fold(u32::MAX, |sum, (_, x)| sum & x));
            check(9, &|_, all| all.fold(0, |sum, (_, x)| sum | x));
            check(10, &|_, all| all.fold(0, |sum, (_, x)| sum ^ x));
            check(11, &|_, all| all.fold(0, |sum, (_, x)| sum.wrapping_add(x)));
            check(12, &|_, all| all.map(|(_, x)| x as i32).min().unwrap() as u32);
            check(13, &|_, all| all.map(|(_, x)| x as i32).max().unwrap() as u32);
        }
    }
}

macro_rules! check_atomics {
    ($name:literal, $T:ty) => {
        for options in all_options() {
            let blocks = 300;
            let count = 128 * blocks;
            let mut totals: [$T; 9] = [0, 0, <$T>::MAX, 0, 0, <$T>::MAX, 0, 0, 0];
            let (mut tickets, mut by_block) = (vec![0_u32; count], vec![0 as $T; blocks]);
            launch!(
                $name, blocks, 0, options;
                &totals.as_mut_ptr(), &tickets.as_mut_ptr(), &by_block.as_mut_ptr()
            )
            .unwrap();
            let all = 0..count as $T;
            let (sum, xor) = (all.clone().sum::<$T>(), all.clone().fold(0, |sum, i| sum ^ i));
            assert_eq!(totals, [sum, count as $T - 1, 0, <$T>::MAX, xor, 0, count as $T, count as $T - 1, count as $T]);
            assert!(tickets.iter().all(|tickets| *tickets == 1));
            for (block, sum) in by_block.iter().enumerate() {
                assert_eq!(*sum, (128 * block as $T..128 * (block as $T + 1)).sum::<$T>());
            }
        }
    };
}

#[test]
fn atomics_of_32_bits() {
    check_atomics!("simt_atomics_32", u32);
}

#[test]
fn atomics_of_64_bits() {
    check_atomics!("simt_atomics_64", u64);
}

#[test]
fn shared_memory_holds_garbage_when_a_block_begins() {
    for options in all_options() {
        for words in [0_usize, 1, 1000, 227 * 256 - 64] {
            let (mut array, mut dynamic) = (vec![0_u32; 64 * 5], vec![0_u32; words * 5]);
            launch!(
                "simt_shared", 5, 4 * words, options;
                &array.as_mut_ptr(), &dynamic.as_mut_ptr(), &(words as u32)
            )
            .unwrap();
            assert!(array.iter().chain(&dynamic).all(|word| *word != 0));
        }
    }
}

#[test]
fn instances_of_a_template_have_arrays_of_their_own() {
    let mut out = [0_u32; 3];
    launch!("simt_arrays", 1, 0, HostOptions::default(); &out.as_mut_ptr()).unwrap();
    assert_eq!(out, [1, 2, 1]);
}

fn failure(result: Result<(), HostError>) -> String {
    result.expect_err("the launch has to fail").to_string()
}

#[test]
fn too_much_is_refused() {
    let options = HostOptions::default();
    let mut out = [0_u32; 1];
    let message = failure(launch!("simt_shared_too_large", 1, 0, options; &out.as_mut_ptr()));
    assert!(message.contains("52000 bytes of shared arrays"), "{message}");
    let message = failure(launch!("simt_nothing", 1, 227 * 1024 + 1, options;));
    assert!(message.contains("227 KiB"), "{message}");
    let message = failure(launch!("simt_nothing", 1 << 31, 0, options;));
    assert!(message.contains("2147483647 blocks"), "{message}");
    launch!("simt_nothing", 0, 0, options;).unwrap();
    assert!(host::find("simt_no_such_kernel").is_none());
}

#[test]
fn divergence_is_an_error() {
    let expected = [
        (0, "in __syncthreads at ", "while others of its block wait in that at"),
        (1, "no thread can go on: ", "wait in __syncthreads at "),
        (2, "in __", "while others of its warp wait in __"),
        (3, "__ballot_sync at ", "the mask is 0xffff, not FULL_WARP"),
        (4, "thread ", " reached __trap at "),
    ];
    for options in all_options() {
        for thread in [0_u32, 31, 32, 95] {
            for (kind, start, rest) in expected {
                let message = failure(launch!("simt_fault", 3, 0, options; &(kind as u32), &thread));
                assert!(message.starts_with("kernel simt_fault: block "), "{message}");
                assert!(message.contains(start) && message.contains(rest), "{message}");
                assert!(message.contains("simt_test.cu:"), "{message}");
            }
            // The next launch is as good as any.
            launch!("simt_fault", 3, 0, options; &5_u32, &thread).unwrap();
        }
    }
    let message = failure(launch!("simt_fault", 1, 0, options(1, Order::Forward); &1_u32, &40_u32));
    assert!(message.contains("95 of 96 threads (the first is 0) wait in __syncthreads at"), "{message}");
    assert!(message.contains("1 of 96 threads (the first is 40) wait in __syncwarp at"), "{message}");
}

#[test]
fn blocks_may_wait_for_earlier_ones() {
    for options in all_options() {
        let blocks = 500;
        let (mut flags, mut sums) = (vec![0_u32; blocks], vec![0_u64; blocks]);
        launch!("simt_look_back", blocks, 0, options; &flags.as_mut_ptr(), &sums.as_mut_ptr()).unwrap();
        assert!(sums.iter().enumerate().all(|(i, sum)| *sum == (i * (i + 1) / 2) as u64), "{options:?}");
    }
}

#[test]
fn a_long_launch_runs_on_several_threads() {
    let run = |threads| {
        let mut workers = vec![0_u64; 501];
        launch!("simt_workers", 500, 0, options(threads, Order::Forward); &workers.as_mut_ptr(), &2000_u64)
            .unwrap();
        // The last is what they computed.
        workers.pop();
        workers.sort_unstable();
        workers.dedup();
        workers.len()
    };
    assert_eq!(run(1), 1);
    // A machine that is busy may start a thread late.
    assert!((0..20).any(|_| run(3) == 3));
}

#[test]
fn launches_from_several_threads_do_not_disturb_each_other() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(barriers_wait_for_all_that_have_not_returned);
            scope.spawn(divergence_is_an_error);
        }
    });
}

#[test]
fn integers() {
    for round in 0..1000 {
        // Numbers of all lengths, zero among them.
        let number = |i: u64| bits(4 * round + i) >> (bits(round + 1000 * i) % 65).min(63);
        let (x, y) = (number(0), number(1));
        let (a, b, c) = (number(2) as u32, number(3) as u32, bits(round) as u32);
        #[repr(align(16))]
        struct Words([u32; 4]);
        let words = Words([a, b, c, 99]);
        let (mut out, mut out64, in64) = ([0_u32; 12], [0_u64; 7], [x, y]);
        launch!(
            "simt_integers", 1, 0, HostOptions::default();
            &words.0.as_ptr(), &out.as_mut_ptr(), &in64.as_ptr(), &out64.as_mut_ptr()
        )
        .unwrap();
        let pair = u64::from(b) << 32 | u64::from(a);
        let first = |zeros: u32, bits: u32| if zeros == bits { 0 } else { zeros + 1 };
        assert_eq!(
            out[..9],
            [
                a.count_ones(),
                a.leading_zeros(),
                first(a.trailing_zeros(), 32),
                a.reverse_bits(),
                (pair << (c % 32) >> 32) as u32,
                (pair >> (c % 32)) as u32,
                ((u64::from(a) * u64::from(b)) >> 32) as u32,
                a.min(b),
                a.max(b),
            ]
        );
        assert_eq!(out[10..], [99, a]);
        assert_eq!(
            out64,
            [
                u64::from(x.count_ones()),
                u64::from(x.leading_zeros()),
                u64::from(first(x.trailing_zeros(), 64)),
                x.reverse_bits(),
                ((u128::from(x) * u128::from(y)) >> 64) as u64,
                x.min(u64::from(a)),
                y.max(u64::from(a)),
            ]
        );
    }
}

#[test]
fn parameters_of_any_size_arrive() {
    let large: [u64; 50] = std::array::from_fn(|i| bits(i as u64) >> 1);
    let mut out = [0_u64; 50];
    launch!("simt_large", 1, 0, HostOptions::default(); &large, &7_u8, &out.as_mut_ptr()).unwrap();
    assert_eq!(out, large.map(|word| word + 7));
}

/// Every kernel of the table is in the sources with the same parameters and threads, and the other way round.
#[test]
fn the_table_is_that_of_the_sources() {
    let compiled: Vec<HostKernel> =
        host::kernels().into_iter().filter(|kernel| kernel.module != "simt_test").collect();
    let table = entries();
    let mut faults = Vec::new();
    for entry in &table {
        match compiled.iter().find(|kernel| kernel.name == entry.name) {
            None => faults.push(format!("{entry:?} is not in the sources")),
            Some(kernel) if kernel.module != entry.module.name() => {
                faults.push(format!("{entry:?} is in {}", kernel.module));
            }
            Some(kernel) if kernel.sizes != entry.sizes || kernel.threads != entry.threads => {
                faults.push(format!("{entry:?} is {kernel:?} in the sources"));
            }
            Some(_) => {}
        }
    }
    for kernel in &compiled {
        if !table.iter().any(|entry| entry.name == kernel.name) {
            faults.push(format!("{} of {} is not in the table", kernel.name, kernel.module));
        }
    }
    let mut names: Vec<_> = table.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        faults.push(format!("{} is there twice", twice[0]));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a module includes, directly or not, is among the headers, so that it can be compiled at run time.
#[test]
fn sources_are_complete() {
    let mut texts: Vec<&str> = Module::ALL.iter().map(|module| module.source()).collect();
    assert!(texts.iter().all(|text| !text.is_empty()));
    texts.extend(bellwether_kernels::HEADERS.iter().map(|header| header.text));
    for line in texts.iter().flat_map(|text| text.lines()) {
        let Some(name) = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"')) else {
            continue;
        };
        let known = bellwether_kernels::HEADERS.iter().any(|header| header.name == name);
        assert!(known || name == "../host/simt.hpp", "{name}");
    }
}
