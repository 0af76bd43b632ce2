// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/run/fingerprint.h"

#include <cstring>
#include <random>

namespace deputy::gpu_cl {
namespace {

struct Key {
  std::array<uint64_t, 2> start, factor;
};

const Key& KeyOfProcess() {
  static const Key kKey = [] {
    std::random_device random;
    const auto number = [&] { return uint64_t{random()} << 32 | random(); };
    // Multiplication by an odd factor is invertible.
    return Key{{number(), number()}, {number() | 1, number() | 1}};
  }();
  return kKey;
}

}  // namespace

Fingerprint::Fingerprint() : lanes_(KeyOfProcess().start) {}

void Fingerprint::Add(const void* data, size_t bytes) {
  const Key& key = KeyOfProcess();
  const auto* from = static_cast<const unsigned char*>(data);
  uint64_t a = lanes_[0], b = lanes_[1];
  const auto mix = [&](uint64_t word) {
    a = (a ^ word) * key.factor[0];
    a ^= a >> 29;
    b = (b + word) * key.factor[1];
    b ^= b >> 31;
  };
  size_t done = 0;
  for (; done + sizeof(uint64_t) <= bytes; done += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, from + done, sizeof word);
    mix(word);
  }
  uint64_t remainder = 0;
  // `data` may be null if there is no remainder, but memcpy does not allow null pointers.
  if (done < bytes) memcpy(&remainder, from + done, bytes - done);
  mix(remainder);
  mix(bytes);
  lanes_ = {a, b};
}

}  // namespace deputy::gpu_cl
