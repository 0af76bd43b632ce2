// SPDX-License-Identifier: Apache-2.0
//
// Runs an untrusted model through its life cycle: load, prepare, feed, invoke, resize, delegate,
// delete. Any status is accepted; the test is that the process survives.
#ifndef DEPUTY_TESTS_FUZZ_LIFE_H_
#define DEPUTY_TESTS_FUZZ_LIFE_H_

#include <cstdint>
#include <vector>

#include "tests/fuzz/random.h"

namespace deputy::fuzz {

// The last stage that a model reached.
enum class Stage { kRefusedFile, kRefusedInterpreter, kRefusedTensors, kFailedInvoke, kInvoked };
inline constexpr int kStages = 5;

Stage RunLifeCycle(const std::vector<uint8_t>& model, Random random);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_LIFE_H_
