//! Faults of devices, keys, witnesses and circuits, and what a session makes of them. Numbers such as CHECKS 9 are
//! those of the list of checks that the project keeps.

mod common;
mod device_errors;
mod dual;
mod keys;
mod secrets;
mod sessions;
mod suite;
mod witnesses;
mod wrong_results;
