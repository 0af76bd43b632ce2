// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of MindSpore: names of attributes.
#ifndef DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDSPORE_OPS_OP_DEF_OP_NAME_H_
#define DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDSPORE_OPS_OP_DEF_OP_NAME_H_

namespace mindspore::ops {
constexpr auto kAxis = "axis";
constexpr auto kScale = "scale";
constexpr auto kStrides = "strides";
}  // namespace mindspore::ops

#endif  // DEPUTY_TESTS_MINDSPORE_OTHERS_DOUBLES_MINDSPORE_OPS_OP_DEF_OP_NAME_H_
