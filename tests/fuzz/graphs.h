// SPDX-License-Identifier: Apache-2.0
//
// Small graphs of several operators for features that no operator case has: computed shapes, nested
// subgraphs, variables, strings, weights that are unpacked.
#ifndef DEPUTY_TESTS_FUZZ_GRAPHS_H_
#define DEPUTY_TESTS_FUZZ_GRAPHS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace deputy::fuzz {

// Returns pairs of a model's name and its file.
std::vector<std::pair<std::string, std::vector<uint8_t>>> Graphs();

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_GRAPHS_H_
