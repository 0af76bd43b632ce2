// SPDX-License-Identifier: Apache-2.0
//
// A .ms file as plain structs that need no further checks: all indices are in range, constants have
// the size that their shape requires, and nodes are sorted topologically. The structs point into
// the file's bytes.
#ifndef DEPUTY_MINDSPORE_MS_READ_H_
#define DEPUTY_MINDSPORE_MS_READ_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deputy/deputy.h"

namespace mindspore::schema {
struct CNode;
struct MetaGraph;
struct Primitive;
}  // namespace mindspore::schema

namespace deputy::ms {

// The tables and enumerations of the file format, which ms.fbs defines.
namespace file = ::mindspore::schema;

// Maximum number of dimensions of a tensor.
inline constexpr size_t kMaxRank = 8;

// Limits of FlatBuffers' verifier.
inline constexpr uint32_t kMaxDepth = 64, kMaxTables = 4'000'000;

// Element types, with their values in the file.
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

// Returns the corresponding type of TensorFlow Lite; kTfLiteNoType for an unsupported type.
TfLiteType TfLiteTypeOf(Type type);
// Returns the size of an element in bytes; 0 for a type that is not supported.
size_t ElementSize(Type type);
const char* TypeName(Type type);

// Quantisation parameters, one entry per tensor or per channel; empty if the tensor is not
// quantised. The file does not state which axis has the channels.
struct Quantization {
  std::vector<float> scale;
  std::vector<int64_t> zero_point;
  std::vector<float> var_corr, mean_corr;  // correction of decoded weights: value * var + mean

  bool present() const { return !scale.empty(); }
};

struct Tensor {
  std::string_view name;
  Type type = Type::kUnknown;
  bool has_dims = false;      // false: unknown shape, or the scalar shape of a constant
  std::vector<int32_t> dims;  // -1: unknown
  bool channels_first = false;
  bool constant = false;
  std::span<const uint8_t> data;
  Quantization quantization;

  // Returns true if all dimensions are known, which holds for all constants.
  bool is_static() const;
};

struct Node {
  uint32_t index = 0;  // index of the node in the file
  std::string_view name;
  const file::Primitive* primitive = nullptr;
  std::vector<uint32_t> inputs, outputs;
};

struct Model {
  int version_major = 0,
      version_minor = 0;  // version of the program that wrote the file; 0, 0 if unknown
  std::string_view version;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<uint32_t> inputs, outputs;
};

// Returns the name of a primitive in the schema.
const char* PrimitiveName(int number);
// Returns a description such as "node 3 'name' Conv2DFusion".
std::string NodeText(const Node& node);
// Returns a description such as "tensor 4 'name'".
std::string TensorText(const Model& model, uint32_t index);

// Reads a model from the bytes of a file. Returns false on failure, with the reason in `error`.
// `bytes` must be aligned to 16 bytes and outlive the model.
bool ReadModel(std::span<const uint8_t> bytes, const DeputyLimits& limits, Model* out_model,
               std::string* error);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_READ_H_
