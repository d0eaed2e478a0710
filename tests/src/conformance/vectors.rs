//! Vectors of scalars on their way to the device and back.

use blstrs::Scalar;
use ff::Field;

use super::inputs::{Device, download, edge_scalars, scalars, upload};

/// The values come back, with zeros behind them.
pub fn uploads_are_padded_with_zeros<D: Device>(device: D) {
    for (given, len) in [
        (0, 0),
        (0, 1),
        (0, 64),
        (1, 1),
        (1, 2),
        (3, 5),
        (31, 32),
        (32, 32),
        (33, 64),
        (255, 257),
        (1000, 1024),
        (1025, 5000),
        (1 << 16, 1 << 16),
        (1 << 16, (1 << 17) + 1),
    ] {
        let values = scalars(given, given + len);
        let vector = device.upload(&values, len).expect("upload");
        let mut expected = values;
        expected.resize(len, Scalar::ZERO);
        assert_eq!(download(&device, &vector), expected, "{given} of {len}");
    }
    let edges = edge_scalars();
    assert_eq!(download(&device, &upload(&device, &edges)), edges);
}

/// Vectors do not share storage, and memory that is used again shows nothing of what was there.
pub fn vectors_are_independent<D: Device>(device: D) {
    let contents: Vec<Vec<Scalar>> = (0..20).map(|seed| scalars(100 + seed, seed)).collect();
    let vectors: Vec<D::Scalars> = contents.iter().map(|values| upload(&device, values)).collect();
    for (vector, values) in vectors.iter().zip(&contents) {
        assert_eq!(&download(&device, vector), values);
    }
    drop(vectors);
    for len in [64, 100, 119] {
        let zeros = device.upload(&[], len).expect("upload");
        assert_eq!(download(&device, &zeros), vec![Scalar::ZERO; len]);
    }
}
