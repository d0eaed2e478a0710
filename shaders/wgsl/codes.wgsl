// The low bits of the 16 codes in a word, as the lowest 16 bits.
fn low_bits(word: u32) -> u32 {
    var bits = word & 0x55555555u;
    bits = (bits | (bits >> 1u)) & 0x33333333u;
    bits = (bits | (bits >> 2u)) & 0x0f0f0f0fu;
    bits = (bits | (bits >> 4u)) & 0x00ff00ffu;
    return (bits | (bits >> 8u)) & 0x0000ffffu;
}
