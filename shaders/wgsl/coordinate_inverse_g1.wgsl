// 1/a for a below 8·p; 0 for 0.
fn coordinate_inverse(a: Coordinate) -> Coordinate { return fp_inverse(a); }
