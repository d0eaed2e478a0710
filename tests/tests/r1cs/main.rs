//! The three constraint systems agree: with each other, with the definitions, and in sequence as in parallel.

mod agreement;
mod drawn;
mod misbehaving;
mod parallel;
