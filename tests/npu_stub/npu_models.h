// SPDX-License-Identifier: Apache-2.0
//
// Small models for tests of the NPU stub.
#ifndef DEPUTY_TESTS_NPU_STUB_NPU_MODELS_H_
#define DEPUTY_TESTS_NPU_STUB_NPU_MODELS_H_

#include <cstdint>
#include <set>
#include <vector>

namespace deputy {

// Changes to ConvModel, for tests of caches: `weight` is the first weight of the model, `stride`
// that of the first convolution, `size` the height and width of the image. The model is CONV_2D
// with ReLU, MAX_POOL_2D, CONV_2D, RESHAPE, FULLY_CONNECTED, SOFTMAX: from an image [1, size, size,
// 2] to [1, 3].
struct ConvChanges {
  float weight = 0.25f;
  int32_t stride = 1;
  int32_t size = 8;
};
constexpr int kConvModelNodes = 6;
std::vector<uint8_t> ConvModel(const ConvChanges& changes = {});

// A model of a convolution and a mean over rows and columns of images [1, 8, 8, 2], which may be
// resized.
std::vector<uint8_t> ResizableModel();

// A chain of `length` nodes over [1, 4], of which the NPU supports those in `taken` (NEG), but not
// the others (PRELU).
std::vector<uint8_t> MixedChain(int length, const std::set<int>& taken);

// A model of c = a + b * 2, where a is [1, 4] and b is [3, 4].
std::vector<uint8_t> TwoInputsModel();

// A model of FULLY_CONNECTED, whose weights are float16 and widened by a DEQUANTIZE, and TANH.
std::vector<uint8_t> HalfModel();

// A model of ABS, a DEQUANTIZE of float16 weights, FULLY_CONNECTED with these weights, PRELU: the
// NPU's partition precedes the DEQUANTIZE.
std::vector<uint8_t> EarlyHalfModel();

// A random graph of 2 to 14 steps, each of one to three operators, over images [1, 6, 6, 4] and
// rows [1, 4], with operators that the NPU supports and some that it does not; one or two outputs.
std::vector<uint8_t> RandomModel(uint32_t seed);

}  // namespace deputy

#endif  // DEPUTY_TESTS_NPU_STUB_NPU_MODELS_H_
