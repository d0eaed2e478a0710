//! Tests over all devices.
