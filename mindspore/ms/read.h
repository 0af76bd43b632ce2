// SPDX-License-Identifier: Apache-2.0
//
// A .ms file as plain structs that may be read without further checks: every index is in range,
// every constant holds what its shape asks for, nodes are in an order in which they can run. The
// structs point into the file's bytes.
#ifndef DEPUTY_MINDSPORE_MS_READ_H_
#define DEPUTY_MINDSPORE_MS_READ_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deputy/deputy.h"

namespace deputy::ms {
namespace file {
struct MetaGraph;
struct Primitive;
}  // namespace file

// The most dimensions that a tensor may have.
inline constexpr size_t kMaxRank = 8;

// Element types by their number in the file.
enum class Type : int {
  kUnknown = 0,
  kBool = 30,
  kInt8 = 32,
  kInt16 = 33,
  kInt32 = 34,
  kInt64 = 35,
  kUInt8 = 37,
  kUInt16 = 38,
  kUInt32 = 39,
  kUInt64 = 40,
  kFloat16 = 42,
  kFloat32 = 43,
  kFloat64 = 44,
};

// Bytes of an element; 0 for a type that cannot be read.
size_t ElementSize(Type type);
const char* TypeName(Type type);

// Empty vectors: not quantised. One entry per tensor or per channel; which axis has the channels is
// not in the file.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  std::vector<float> var_corr, mean_corr;  // of decoded weights: value * var + mean

  bool present() const { return !scale.empty(); }
};

struct Tensor {
  std::string_view name;
  Type type = Type::kUnknown;
  bool has_dims = false;      // false: shape unknown, or a scalar if it is a constant
  std::vector<int32_t> dims;  // -1: unknown
  bool channels_first = false;
  bool constant = false;
  std::span<const uint8_t> data;
  Quantization quantization;

  // True if the shape is known to the last dimension; `constant` tensors always are.
  bool is_static() const;
};

struct Node {
  uint32_t index = 0;  // in the file
  std::string_view name;
  const file::Primitive* primitive = nullptr;
  std::vector<uint32_t> inputs, outputs;
};

struct Model {
  int version_major = 0, version_minor = 0;  // of the writer; 0, 0 where the file does not say
  std::string_view version;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs, outputs;
};

// Primitives by their name in the format.
const char* PrimitiveName(int number);
// "node 3 'name' Conv2DFusion"
std::string NodeText(const Node& node);
// "tensor 4 'name'"
std::string TensorText(const Model& model, uint32_t index);

// False, and why in `error`. `bytes` must be aligned to 16 bytes and outlive the model.
bool ReadModel(std::span<const uint8_t> bytes, const DeputyLimits& limits, Model* out_model,
               std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_READ_H_
