// SPDX-License-Identifier: Apache-2.0
//
// Geoff Pike's FarmHash. Its constants and the order of its steps are its definition; there is one
// algorithm for each of four length ranges. Words are read in little-endian order.
#include "kernels/common/fingerprint.h"

#include <bit>
#include <cstring>
#include <utility>

namespace deputy {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint64_t kFirst = 0xc3a5c85c97cb3127, kSecond = 0xb492b66fbe98f273,
                   kThird = 0x9ae16a3b2f90404f;

template <typename T>
uint64_t Load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
uint64_t Word(const uint8_t* at) { return Load<uint64_t>(at); }
// Returns the 64-bit word that begins `back` bytes before the end.
uint64_t WordFromEnd(Bytes bytes, size_t back) { return Word(bytes.data() + bytes.size() - back); }

uint64_t Fold(uint64_t value) { return value ^ (value >> 47); }

uint64_t Join(uint64_t a, uint64_t b, uint64_t factor) {
  const uint64_t mixed = Fold((a ^ b) * factor);
  return Fold((b ^ mixed) * factor) * factor;
}

uint64_t UpTo16(Bytes bytes) {
  const size_t size = bytes.size();
  const uint64_t factor = kThird + size * 2;
  if (size >= 8) {
    const uint64_t a = Word(bytes.data()) + kThird, b = WordFromEnd(bytes, 8);
    return Join(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (size >= 4) {
    const uint64_t first = Load<uint32_t>(bytes.data());
    return Join(size + (first << 3), Load<uint32_t>(bytes.data() + size - 4), factor);
  }
  if (size == 0) return kThird;
  const uint32_t y = bytes[0] + (uint32_t{bytes[size / 2]} << 8);
  const uint32_t z = static_cast<uint32_t>(size) + (uint32_t{bytes[size - 1]} << 2);
  return Fold(y * kThird ^ z * kFirst) * kThird;
}

// Computation shared by the algorithms for 17 to 32 and for 33 to 64 bytes: words at both ends.
struct Ends {
  explicit Ends(Bytes bytes, uint64_t scale)
      : factor(kThird + bytes.size() * 2), a(Word(bytes.data()) * scale) {
    const uint64_t b = Word(bytes.data() + 8), c = WordFromEnd(bytes, 8) * factor;
    sum = std::rotr(a + b, 43) + std::rotr(c, 30) + WordFromEnd(bytes, 16) * kThird;
    joined = Join(sum, a + std::rotr(b + kThird, 18) + c, factor);
  }
  uint64_t factor, a, sum, joined;
};

uint64_t UpTo64(Bytes bytes) {
  const Ends ends(bytes, kThird);
  const uint64_t e = Word(bytes.data() + 16) * ends.factor, f = Word(bytes.data() + 24);
  const uint64_t g = (ends.sum + WordFromEnd(bytes, 32)) * ends.factor;
  const uint64_t h = (ends.joined + WordFromEnd(bytes, 24)) * ends.factor;
  return Join(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + ends.a, 18) + g,
              ends.factor);
}

struct Pair {
  uint64_t first = 0, second = 0;
};

// Hashes 32 bytes to a pair.
Pair Weak(const uint8_t* at, uint64_t a, uint64_t b) {
  a += Word(at);
  const uint64_t last = Word(at + 24);
  b = std::rotr(b + a + last, 21);
  const uint64_t before = a;
  a += Word(at + 8) + Word(at + 16);
  return {a + last, b + std::rotr(a, 44) + before};
}

// State carried from one block of 64 bytes to the next.
struct State {
  uint64_t x, y, z;
  Pair v, w;

  // Adds a block of 64 bytes; `weight` and `factor` differ for the last block.
  void Add(const uint8_t* block, uint64_t weight, uint64_t factor) {
    x = std::rotr(x + y + v.first + Word(block + 8), 37) * factor;
    y = std::rotr(y + v.second + Word(block + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + Word(block + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = Weak(block, v.second * factor, x + w.first);
    w = Weak(block + 32, z + w.second, y + Word(block + 16));
    std::swap(z, x);
  }
};

uint64_t Long(Bytes bytes) {
  constexpr uint64_t kSeed = 81;
  const uint64_t y = kSeed * kSecond + 113;
  State state = {kSeed * kThird + Word(bytes.data()), y, Fold(y * kThird + 113) * kThird, {}, {}};
  const size_t remainder = (bytes.size() - 1) % 64;
  for (size_t at = 0; at + 64 < bytes.size(); at += 64) state.Add(bytes.data() + at, 1, kSecond);
  const uint64_t factor = kSecond + ((state.z & 0xff) << 1);
  state.w.first += remainder;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.Add(bytes.data() + bytes.size() - 64, 9, factor);
  return Join(Join(state.v.first, state.w.first, factor) + Fold(state.y) * kFirst + state.z,
              Join(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace

uint64_t Fingerprint(Bytes bytes) {
  if (bytes.size() <= 16) return UpTo16(bytes);
  if (bytes.size() <= 32) return Ends(bytes, kSecond).joined;
  return bytes.size() <= 64 ? UpTo64(bytes) : Long(bytes);
}

}  // namespace deputy
