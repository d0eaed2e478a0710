//! bellwether
