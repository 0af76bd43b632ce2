// SPDX-License-Identifier: Apache-2.0
//
// Hostile variants of a model, one after the other and the same in every run: where mutants draw by
// chance, these try everything of a kind. Each variant changes one thing.
#ifndef DEPUTY_TESTS_FUZZ_HOSTILE_H_
#define DEPUTY_TESTS_FUZZ_HOSTILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {

struct Variant {
  std::string what;            // "tensor 2: element 0 is -1 at run time": readable in a failure
  std::vector<uint8_t> model;  // the file
  // Contents of the graph's inputs, by their number: empty where anything will do.
  std::vector<std::vector<uint8_t>> feeds;
};

// Calls `use` with every variant of subgraph 0:
//   shapes      each tensor without dimensions, with one less and one more, with extents of 0 and
//               huge ones
//   types       each tensor of every other type
//   numbers     small constants and inputs of integers: elements at which code goes wrong, as
//               constants and at run time; floats: NaN, infinity and huge ones
//   options     each number of them, and none at all
//   quantisation  none, scales of 0, below and NaN, zero points outside of the type
//   edges       each input absent, the last input, all outputs and all intermediates left out
// `feeds` is what the model's own inputs are fed with.
void ForEachVariant(const ModelT& model, const std::vector<std::vector<uint8_t>>& feeds,
                    const std::function<void(const Variant&)>& use);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_HOSTILE_H_
