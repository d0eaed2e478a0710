// The instructions of multi-word arithmetic, one function each: PTX on the device, its meaning in C++ on the host.
//
// PTX keeps the carry in a flag that no variable names: `add.cc` sets it, `addc` adds it. Here a `Carry` is handed from
// instruction to instruction. On the device it is empty and the order of the volatile statements keeps the flag alive;
// on the host it is the flag. So a chain written once runs in both places, and what the tests prove on the host is the
// very chain that ships.
//
// Suffix _cc: sets the carry. Letter c before it (addc, madc): adds the carry. Subtractions set and subtract a borrow.
// A chain of additions and one of subtractions do not mix: each starts with an instruction that takes no carry in.
#pragma once

#include "prelude.cuh"

#ifdef BELLWETHER_HOST

// Both compilers unroll these loops, so that arrays indexed by their variables become registers.
#define UNROLL _Pragma("GCC unroll 32")
// A field operation of a few hundred instructions. On the device it is part of its caller, where a call would cost
// more than it saves; on the host a function, where copies would only cost the compiler's time.
#define ARITHMETIC NOINLINE

// Part of an operation's chain of instructions: the carry is to stay in a register.
#define CHAIN INLINE __attribute__((always_inline))

struct Carry {
  u32 flag = 0;
};

CHAIN u32 carry_add(u64 a, u64 b, u64 in, Carry& carry) {
  u64 sum = a + b + in;
  carry.flag = u32(sum >> 32);
  return u32(sum);
}
CHAIN u32 carry_sub(u64 a, u64 b, u64 in, Carry& carry) {
  u64 difference = a - b - in;
  carry.flag = u32(difference >> 63);
  return u32(difference);
}
CHAIN u32 product_high(u32 a, u32 b) { return u32(u64(a) * b >> 32); }

CHAIN u32 add_cc(u32 a, u32 b, Carry& carry) { return carry_add(a, b, 0, carry); }
CHAIN u32 addc_cc(u32 a, u32 b, Carry& carry) { return carry_add(a, b, carry.flag, carry); }
CHAIN u32 addc(u32 a, u32 b, Carry& carry) { return a + b + carry.flag; }
CHAIN u32 sub_cc(u32 a, u32 b, Carry& carry) { return carry_sub(a, b, 0, carry); }
CHAIN u32 subc_cc(u32 a, u32 b, Carry& carry) { return carry_sub(a, b, carry.flag, carry); }
CHAIN u32 subc(u32 a, u32 b, Carry& carry) { return a - b - carry.flag; }

CHAIN void mad_lo_cc(u32& sum, u32 a, u32 b, Carry& carry) { sum = carry_add(sum, u32(a * b), 0, carry); }
CHAIN void madc_lo_cc(u32& sum, u32 a, u32 b, Carry& carry) { sum = carry_add(sum, u32(a * b), carry.flag, carry); }
CHAIN void madc_lo(u32& sum, u32 a, u32 b, Carry& carry) { sum += a * b + carry.flag; }
CHAIN void madc_hi_cc(u32& sum, u32 a, u32 b, Carry& carry) {
  sum = carry_add(sum, product_high(a, b), carry.flag, carry);
}
CHAIN void madc_hi(u32& sum, u32 a, u32 b, Carry& carry) { sum += product_high(a, b) + carry.flag; }

// mad_lo_cc and madc_hi_cc of the same factors, at once
CHAIN void mad_pair_cc(u32& low, u32& high, u32 a, u32 b, Carry& carry) {
  u64 product = u64(a) * b, sum = (u64(high) << 32 | low) + product;
  carry.flag = sum < product;
  low = u32(sum);
  high = u32(sum >> 32);
}
// madc_lo_cc and madc_hi_cc; a b <= 2^64 - 2^33 + 1, so the carry fits
CHAIN void madc_pair_cc(u32& low, u32& high, u32 a, u32 b, Carry& carry) {
  u64 product = u64(a) * b + carry.flag, sum = (u64(high) << 32 | low) + product;
  carry.flag = sum < product;
  low = u32(sum);
  high = u32(sum >> 32);
}

CHAIN void mad_wide_cc(u64& sum, u32 a, u32 b, Carry& carry) {
  u64 product = u64(a) * b;
  sum += product;
  carry.flag = sum < product;
}
CHAIN void madc_wide_cc(u64& sum, u32 a, u32 b, Carry& carry) {
  u64 product = u64(a) * b + carry.flag;
  sum += product;
  carry.flag = sum < product;
}
CHAIN void addc_wide(u64& sum, Carry& carry) { sum += carry.flag; }

#else

#define UNROLL _Pragma("unroll")
#define ARITHMETIC INLINE
#define CHAIN INLINE

struct Carry {};

#define CARRY_SUM(name, instruction)                                     \
  INLINE u32 name(u32 a, u32 b, Carry&) {                                \
    u32 sum;                                                             \
    asm volatile(instruction " %0,%1,%2;" : "=r"(sum) : "r"(a), "r"(b)); \
    return sum;                                                          \
  }
CARRY_SUM(add_cc, "add.cc.u32")
CARRY_SUM(addc_cc, "addc.cc.u32")
CARRY_SUM(addc, "addc.u32")
CARRY_SUM(sub_cc, "sub.cc.u32")
CARRY_SUM(subc_cc, "subc.cc.u32")
CARRY_SUM(subc, "subc.u32")
#undef CARRY_SUM

#define CARRY_PRODUCT(name, instruction)                                    \
  INLINE void name(u32& sum, u32 a, u32 b, Carry&) {                        \
    asm volatile(instruction " %0,%1,%2,%0;" : "+r"(sum) : "r"(a), "r"(b)); \
  }
CARRY_PRODUCT(mad_lo_cc, "mad.lo.cc.u32")
CARRY_PRODUCT(madc_lo_cc, "madc.lo.cc.u32")
CARRY_PRODUCT(madc_lo, "madc.lo.u32")
CARRY_PRODUCT(madc_hi_cc, "madc.hi.cc.u32")
CARRY_PRODUCT(madc_hi, "madc.hi.u32")
#undef CARRY_PRODUCT

INLINE void mad_pair_cc(u32& low, u32& high, u32 a, u32 b, Carry& carry) {
  mad_lo_cc(low, a, b, carry);
  madc_hi_cc(high, a, b, carry);
}
INLINE void madc_pair_cc(u32& low, u32& high, u32 a, u32 b, Carry& carry) {
  madc_lo_cc(low, a, b, carry);
  madc_hi_cc(high, a, b, carry);
}

// Two instructions of PTX that the assembler fuses into one IMAD.WIDE.U32.X.
INLINE void mad_wide_cc(u64& sum, u32 a, u32 b, Carry&) {
  asm volatile("{.reg .u64 t; mul.wide.u32 t, %1, %2; add.cc.u64 %0, %0, t;}" : "+l"(sum) : "r"(a), "r"(b));
}
INLINE void madc_wide_cc(u64& sum, u32 a, u32 b, Carry&) {
  asm volatile("{.reg .u64 t; mul.wide.u32 t, %1, %2; addc.cc.u64 %0, %0, t;}" : "+l"(sum) : "r"(a), "r"(b));
}
INLINE void addc_wide(u64& sum, Carry&) { asm volatile("addc.u64 %0, %0, 0;" : "+l"(sum)); }

#endif

INLINE u32 low_word(u64 x) { return u32(x); }
INLINE u32 high_word(u64 x) { return u32(x >> 32); }

// Numbers of N words.

// a + b; the sum fits
template <int N>
INLINE void add_words(u32* sum, const u32* a, const u32* b) {
  Carry carry;
  sum[0] = add_cc(a[0], b[0], carry);
  UNROLL
  for (int i = 1; i < N - 1; i++) sum[i] = addc_cc(a[i], b[i], carry);
  sum[N - 1] = addc(a[N - 1], b[N - 1], carry);
}

template <int N>
INLINE bool words_are_zero(const u32* a) {
  u32 bits = 0;
  UNROLL
  for (int i = 0; i < N; i++) bits |= a[i];
  return bits == 0;
}

template <int N>
INLINE bool words_are_equal(const u32* a, const u32* b) {
  u32 bits = 0;
  UNROLL
  for (int i = 0; i < N; i++) bits |= a[i] ^ b[i];
  return bits == 0;
}

// Memory holds elements as their words, least significant first, and moves 16 bytes at a time.
INLINE void unpack_words(u32* words, uint4 packed) {
  words[0] = packed.x;
  words[1] = packed.y;
  words[2] = packed.z;
  words[3] = packed.w;
}

// from memory that this kernel may write
template <int N>
INLINE void load_words(u32* words, const void* from) {
#ifdef BELLWETHER_HOST
  // A C++ compiler may take it that what is written as another type does not change.
  __builtin_memcpy(words, from, 4 * N);
#else
  const uint4* packed = static_cast<const uint4*>(from);
  UNROLL
  for (int i = 0; i < N / 4; i++) unpack_words(words + 4 * i, packed[i]);
#endif
}

// from memory that nothing writes while the kernel runs
template <int N>
INLINE void load_constant_words(u32* words, const void* from) {
#ifdef BELLWETHER_HOST
  load_words<N>(words, from);
#else
  const uint4* packed = static_cast<const uint4*>(from);
  UNROLL
  for (int i = 0; i < N / 4; i++) unpack_words(words + 4 * i, __ldg(packed + i));
#endif
}

template <int N>
INLINE void store_words(void* to, const u32* words) {
#ifdef BELLWETHER_HOST
  __builtin_memcpy(to, words, 4 * N);
#else
  uint4* packed = static_cast<uint4*>(to);
  UNROLL
  for (int i = 0; i < N / 4; i++) {
    packed[i] = make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
  }
#endif
}
