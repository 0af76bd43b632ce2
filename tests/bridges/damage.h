// SPDX-License-Identifier: Apache-2.0
//
// Random damage to messages and to the shared page of the sandbox.
#ifndef DEPUTY_TESTS_BRIDGES_DAMAGE_H_
#define DEPUTY_TESTS_BRIDGES_DAMAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace deputy {

// Changes, removes and inserts up to three ranges of bytes.
inline std::string Damaged(std::string bytes, std::mt19937* random) {
  for (unsigned edits = 1 + (*random)() % 3; edits > 0 && !bytes.empty(); --edits) {
    const size_t at = (*random)() % bytes.size();
    switch ((*random)() % 4) {
      case 0:
        bytes[at] = static_cast<char>((*random)());
        break;
      case 1:
        bytes.erase(at, 1 + (*random)() % 16);
        break;
      case 2:
        bytes.insert(at, 1 + (*random)() % 16, static_cast<char>((*random)()));
        break;
      default:
        bytes.replace(at, 8, std::string(8, static_cast<char>((*random)() % 2 * 255)));
    }
  }
  return bytes;
}

// Writes a random value, often a small or an extreme one, to one of the first `count` words.
inline void DamageWord(void* words, size_t count, std::mt19937* random) {
  const uint32_t values[] = {0, 1, 2, 0x7fffffffu, 0xffffffffu, static_cast<uint32_t>((*random)())};
  const uint32_t value = values[(*random)() % 6];
  std::memcpy(static_cast<char*>(words) + (*random)() % count * sizeof value, &value, sizeof value);
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_BRIDGES_DAMAGE_H_
