// SPDX-License-Identifier: Apache-2.0
//
// The life of a model that nobody vouches for: loaded, prepared, fed, run, resized, given to a
// delegate, deleted. Only surviving counts; a status may be anything.
#ifndef DEPUTY_TESTS_FUZZ_LIFE_H_
#define DEPUTY_TESTS_FUZZ_LIFE_H_

#include <cstdint>
#include <vector>

#include "tests/fuzz/random.h"

namespace deputy::fuzz {

// How far a model came.
enum class Stage { kRefusedFile, kRefusedInterpreter, kRefusedTensors, kFailedInvoke, kInvoked };
inline constexpr int kStages = 5;

Stage Live(const std::vector<uint8_t>& model, Random random);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_LIFE_H_
