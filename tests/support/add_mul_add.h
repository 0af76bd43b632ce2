// SPDX-License-Identifier: Apache-2.0
//
// Models of the nodes ADD, MUL and ADD, in this order. A delegate that claims only ADD has two
// partitions, which the MUL on the CPU separates.
#ifndef DEPUTY_TESTS_SUPPORT_ADD_MUL_ADD_H_
#define DEPUTY_TESTS_SUPPORT_ADD_MUL_ADD_H_

#include <cstdint>
#include <vector>

namespace deputy {

// The tensors are float32 of shape {2}: 0 'x', 1 the constant 'c', 2 'two_x', 3 'product', 4 'z'.
// two_x = x + x, product = two_x * factor, z = product + two_x
std::vector<uint8_t> AddMulAdd(float factor = 3);
// Likewise, but z = product + product, so that each bit of an input of a node changes its output.
std::vector<uint8_t> AddMulDouble();

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_ADD_MUL_ADD_H_
