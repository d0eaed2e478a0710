// Values of a compact witness. The program declares:
//   codes: array<u32>         16 codes of two bits a word: 0 zero, 1 one, 2 dense
//   ranks: array<u32>         dense values before each 32 variables
//   dense: array<vec4<u32>>   dense values, packed

fn witness_code(variable: u32) -> u32 {
    return (codes[variable >> 4u] >> (2u * (variable & 15u))) & 3u;
}

// Which of the dense values is that of a variable whose code is 2.
fn witness_dense_index(variable: u32) -> u32 {
    let word = variable >> 4u;
    let below = (1u << (2u * (variable & 15u))) - 1u;
    var index = ranks[word >> 1u] + countOneBits(codes[word] & 0xaaaaaaaau & below);
    if (word & 1u) == 1u {
        index += countOneBits(codes[word - 1u] & 0xaaaaaaaau);
    }
    return index;
}

// A dense value, in packed form.
fn witness_dense(index: u32) -> Fr {
    return fr_unpack(dense[2u * index], dense[2u * index + 1u]);
}
