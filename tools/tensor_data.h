// SPDX-License-Identifier: Apache-2.0
//
// What is in a tensor, as real numbers and as text, and back. Quantised tensors go through their
// scale and zero point, so that the rest of the command speaks of real values only.
#ifndef DEPUTY_TOOLS_TENSOR_DATA_H_
#define DEPUTY_TOOLS_TENSOR_DATA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deputy/c_api.h"
#include "deputy/common.h"

namespace deputy::tools {

// "" for a tensor without a name.
std::string NameOf(const TfLiteTensor* tensor);

// Bytes of one element; 0 where elements have no whole number of bytes (strings, int4, resources).
size_t ElementBytes(TfLiteType type);

std::vector<int> ShapeOf(const TfLiteTensor* tensor);
size_t ElementCount(const std::vector<int>& shape);

// Whether ReadReals and WriteReals know the type.
bool IsNumeric(TfLiteType type);

// Elements `bytes` of `type` as real numbers; `quantization.scale` 0 means none.
std::vector<double> ReadReals(TfLiteType type, std::span<const char> bytes,
                              TfLiteQuantizationParams quantization);
// The whole tensor; ends the command with kExitFailed when its type has no real values.
std::vector<double> ReadReals(const TfLiteTensor* tensor);

// Quantises or converts `values`, one per element, into the tensor. Integers without a scale round;
// whatever does not fit takes the nearest value of the type.
void WriteReals(std::span<const float> values, TfLiteTensor* tensor);

// The tensor's own bytes, as many as it has. Ends the command with kExitFailed where it has no
// memory to fill.
void WriteBytes(std::span<const char> bytes, TfLiteTensor* tensor);

// Values in the middle of the type's range, the same ones for the same seed.
void WriteRandom(uint32_t seed, TfLiteTensor* tensor);

// Rows of the last dimension, real values; at most `limit` elements.
void PrintTensor(const TfLiteTensor* tensor, size_t limit);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TENSOR_DATA_H_
