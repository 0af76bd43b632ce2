// SPDX-License-Identifier: Apache-2.0
//
// Small models for tests of the OpenCL delegate.
#ifndef DEPUTY_TESTS_GPU_MODELS_H_
#define DEPUTY_TESTS_GPU_MODELS_H_

#include <cstdint>
#include <vector>

#include "c_api/include/common.h"

namespace deputy::gpu_cl {

// CONV_2D, MAX_POOL_2D, RESHAPE, GATHER, FULLY_CONNECTED, SOFTMAX: from a picture [1, 4, 4, 1] and
// three indices from 0 to 3, three rows of three probabilities.
std::vector<uint8_t> PictureModel();

// max(x + [1, 2, -1, 0.5], 0) * 2, as ADD and MUL, over rows of four.
std::vector<uint8_t> SmallModel();

// NEG, ABS, Backwards (test_interpreter.h), NEG: the third is none of the delegate's.
std::vector<uint8_t> DividedModel();

// CONV_2D, MAX_POOL_2D, ADD of a row, SOFTMAX, on pictures [batch, 4, 4, 1].
std::vector<uint8_t> BatchModel();

// A product of two rows of integers, of int8 or int16.
std::vector<uint8_t> WholeModel(TfLiteType type);

// m = |x|; n = -x; g = n backwards, which the CPU runs; y = m + g. The delegate has two partitions,
// {ABS, NEG} and {ADD}, and m goes from the one to the other.
std::vector<uint8_t> BridgedModel();

// Twelve models, those above among them, that differ in operators, types and partitions. Integer
// inputs from 0 to 2 are fine for all.
struct NamedModel {
  const char* name;
  std::vector<uint8_t> bytes;
};
std::vector<NamedModel> TwelveModels();

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_MODELS_H_
