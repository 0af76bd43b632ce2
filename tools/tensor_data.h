// SPDX-License-Identifier: Apache-2.0
//
// Converts the contents of tensors to real numbers and text, and back. Quantised tensors are
// converted by their scale and zero point, so that the rest of the command uses real values only.
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

// Returns the name of the tensor, "" if it has none.
std::string NameOf(const TfLiteTensor* tensor);

// Returns the bytes of one element; 0 if its size is not a whole number of bytes or not fixed
// (strings, int4, resources).
size_t ElementBytes(TfLiteType type);

std::vector<int> ShapeOf(const TfLiteTensor* tensor);
size_t ElementCount(const std::vector<int>& shape);

// Returns true if ReadReals and WriteReals support the type.
bool IsNumeric(TfLiteType type);

// Converts `bytes`, elements of `type`, to real numbers; `quantization.scale` 0 means unquantised.
std::vector<double> ReadReals(TfLiteType type, std::span<const char> bytes,
                              TfLiteQuantizationParams quantization);
// Reads the whole tensor; ends the command with kExitFailed if its type has no real values.
std::vector<double> ReadReals(const TfLiteTensor* tensor);

// Quantises or converts `values`, one per element, into the tensor. Integers without a scale are
// rounded; out-of-range integers saturate. Ends the command with kExitUsage if the type has no real
// values or the number of values differs.
void WriteReals(std::span<const float> values, TfLiteTensor* tensor);

// Copies raw bytes into the tensor. Ends the command with kExitUsage if the sizes differ, and with
// kExitFailed if the tensor is a constant or has no memory to fill.
void WriteBytes(std::span<const char> bytes, TfLiteTensor* tensor);

// Writes random values; equal seeds give equal values. Floats are from [0, 1), stored values of
// quantised tensors from -128 to 127 and saturated to the type, other integers 0 or 1.
void WriteRandom(uint32_t seed, TfLiteTensor* tensor);

// Prints one row per row of the last dimension, as real values; at most `limit` elements.
void PrintTensor(const TfLiteTensor* tensor, size_t limit);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TENSOR_DATA_H_
