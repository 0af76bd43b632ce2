// SPDX-License-Identifier: Apache-2.0
//
// Small models for tests of the OpenCL delegate.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_MODELS_H_
#define DEPUTY_TESTS_GPU_CL_GPU_MODELS_H_

#include <cstdint>
#include <vector>

#include "c_api/include/common.h"

namespace deputy::gpu_cl {

// A model of CONV_2D, MAX_POOL_2D, RESHAPE, GATHER, FULLY_CONNECTED, SOFTMAX: from an image [1, 4,
// 4, 1] and three indices from 0 to 3 to three rows of three probabilities.
std::vector<uint8_t> ImageModel();

// A model of max(x + [1, 2, -1, 0.5], 0) * 2, as ADD and MUL, over rows of four.
std::vector<uint8_t> SmallModel();

// A model of NEG, ABS, Backwards (test_interpreter.h) and NEG. The delegate does not support
// Backwards.
std::vector<uint8_t> DividedModel();

// A model of CONV_2D, MAX_POOL_2D, ADD of a constant, SOFTMAX, on images [batch, 4, 4, 1].
std::vector<uint8_t> BatchModel();

// A model of the product of an input row of type int8 or int16 and a constant row of int8.
std::vector<uint8_t> IntegerModel(TfLiteType type);

// A model of m = |x|; n = -x; g = n reversed, which the CPU runs; y = m + g. The delegate has two
// partitions, {ABS, NEG} and {ADD}; m is passed from the first to the second.
std::vector<uint8_t> BridgedModel();

// Twelve models, including those above, that differ in operators, types and partitions. All accept
// integer inputs from 0 to 2.
struct NamedModel {
  const char* name;
  std::vector<uint8_t> bytes;
};
std::vector<NamedModel> TwelveModels();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_MODELS_H_
