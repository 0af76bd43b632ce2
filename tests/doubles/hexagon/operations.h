// SPDX-License-Identifier: Apache-2.0
//
// The operations of the test double of Qualcomm's library, computed in real numbers.
#ifndef DEPUTY_TESTS_DOUBLES_HEXAGON_OPERATIONS_H_
#define DEPUTY_TESTS_DOUBLES_HEXAGON_OPERATIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "bridges/hexagon/hexagon_nn.h"

namespace hexagon_double {

using deputy::hexagon::NnOperation;
using deputy::hexagon::NnPadding;

struct Tensor {
  std::array<int, 4> dims = {0, 0, 0, 0};
  std::vector<uint8_t> bytes;
};

// Computes the outputs of a node, of which there are one or three. Returns false if its inputs are
// invalid.
bool Compute(NnOperation operation, NnPadding padding, const std::vector<const Tensor*>& inputs,
             std::vector<Tensor>* outputs);

}  // namespace hexagon_double

#endif  // DEPUTY_TESTS_DOUBLES_HEXAGON_OPERATIONS_H_
