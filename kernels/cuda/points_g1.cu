// Points of G1, whose coordinates are in Fp.
#include "curve.cuh"

using Coordinate = Fp;
#define GROUPED(name) name##_g1

#include "multiples.cuh"
#include "sums.cuh"

EXPORT_KERNELS(points_g1, GROUPED(double_points), GROUPED(normalize_sums), GROUPED(fixed_base_table),
               GROUPED(fixed_base_multiply), GROUPED(pair_products), GROUPED(invert_products), GROUPED(add_pairs),
               GROUPED(accumulate_entries), GROUPED(accumulate_points), GROUPED(combine_partials),
               GROUPED(combine_last), GROUPED(weigh_chunks), GROUPED(fold_lists), GROUPED(fold_last))
