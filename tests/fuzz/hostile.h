// SPDX-License-Identifier: Apache-2.0
//
// Generates hostile variants of a model in a fixed order, each with one change. Unlike the random
// mutants, the variants cover every change of each kind.
#ifndef DEPUTY_TESTS_FUZZ_HOSTILE_H_
#define DEPUTY_TESTS_FUZZ_HOSTILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {

struct Variant {
  // Description for failures: "tensor 2: element 0 is -1 at run time".
  std::string what;
  std::vector<uint8_t> model;  // the model file
  // Contents of the graph's inputs, by index; empty if arbitrary.
  std::vector<std::vector<uint8_t>> feeds;
};

// Calls `use` with every variant of subgraph 0:
//   shapes        each tensor without dimensions, with 9, with one less or more, with extents of 0,
//                 1, 3 and huge ones
//   types         each tensor with every other type up to UINT4
//   numbers       elements of small integer constants and inputs: values at the limits of types, as
//                 constants and at run time; floats: NaN, infinity, 0 and huge values
//   options       hostile values of each field, and no options
//   quantisation  none; scales of 0, negative and NaN; zero points out of range
//   edges         each input absent; the last input twice; without the last input, all outputs or
//                 all intermediates
// `feeds` are the contents of the model's own inputs.
void ForEachVariant(const ModelT& model, const std::vector<std::vector<uint8_t>>& feeds,
                    const std::function<void(const Variant&)>& use);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_HOSTILE_H_
