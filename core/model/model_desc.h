// SPDX-License-Identifier: Apache-2.0
//
// A model file as plain structs, which point into the file's bytes; weights are used in place if
// they are aligned. All code that reads models, except core/model/model.cc, uses these structs
// instead of the generated schema.
#ifndef DEPUTY_CORE_MODEL_MODEL_DESC_H_
#define DEPUTY_CORE_MODEL_MODEL_DESC_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/builtin_ops.h"
#include "c_api/include/common.h"
#include "core/base/op_options.h"

namespace deputy {

struct QuantizationDesc {
  TfLiteQuantizationType type = kTfLiteNoQuantization;
  std::span<const float> scale;         // affine: one scale, or one per slice of `dimension`
  std::span<const int64_t> zero_point;  // affine: one zero point per scale; each fits 32 bits
  int32_t dimension = 0;
  // Blockwise and multi-axis: tensor indices of scales and zero points (-1: none), block size.
  int32_t scales_tensor = -1;
  int32_t zero_points_tensor = -1;
  int32_t block_size = 0;
  std::span<const int32_t> dimensions;  // multi-axis: the quantised dimensions
};

struct DimensionDesc {
  bool sparse_csr = false;
  int32_t dense_size = 0;
  std::vector<int32_t> segments;  // elements widened from the file's 8, 16 or 32 bits
  std::vector<int32_t> indices;
};

struct SparsityDesc {
  std::span<const int32_t> traversal_order;
  std::span<const int32_t> block_map;
  std::vector<DimensionDesc> dimensions;
};

struct TensorDesc {
  const char* name = "";
  TfLiteType type = kTfLiteFloat32;
  std::span<const int32_t> shape;
  bool has_signature = false;  // true: the file has a shape_signature vector
  std::span<const int32_t> signature;
  bool is_variable = false;
  const uint8_t* data = nullptr;  // contents of a constant; null: the tensor is not a constant
  size_t bytes = 0;
  QuantizationDesc quantization;
  std::unique_ptr<SparsityDesc> sparsity;
};

struct OperatorDesc {
  uint32_t code_index = 0;  // index into ModelDesc::operator_codes
  std::span<const int32_t> inputs, outputs, intermediates;
  OpOptions options;                        // options of the union member that the file has
  std::span<const uint8_t> custom_options;  // options of a custom operator; empty if absent
};

struct OperatorCodeDesc {
  TfLiteBuiltinOperator code = kTfLiteBuiltinCustom;
  const char* custom_name = nullptr;  // name of a custom operator; null for builtin operators
  int version = 1;
};

struct SubgraphDesc {
  const char* name = "";
  std::vector<TensorDesc> tensors;
  std::span<const int32_t> inputs, outputs;
  std::vector<OperatorDesc> operators;
  // True if the file has the subgraph's tensor and operator tables and the model's buffer table,
  // possibly empty. TfLiteInterpreterCreate rejects a model with a subgraph that lacks one.
  bool complete = true;
  // Empty if every node is valid. Otherwise the first structural error (for example an index out of
  // range, a builtin whose input is its output, or a tensor with two producers): the subgraph is
  // created but cannot be allocated or run.
  std::string inconsistency;
  // True if the subgraph is never run: STABLEHLO_SCATTER, STABLEHLO_REDUCE_WINDOW and similar
  // operators only inspect its nodes.
  bool only_inspected = false;
};

struct SignatureTensorDesc {
  const char* name;
  int32_t tensor_index;
};

struct SignatureDesc {
  const char* key = "";
  uint32_t subgraph_index = 0;
  std::vector<SignatureTensorDesc> inputs, outputs;
};

struct MetadataDesc {
  const char* name;
  std::span<const uint8_t> data;
};

// Sizes of the model's tables that limits bound. Tensors and operators are those of all subgraphs.
struct ModelCounts {
  size_t operator_codes = 0, subgraphs = 0, signatures = 0, metadata = 0;
  size_t tensors = 0, operators = 0;
  size_t call_depth = 0;  // maximum depth of nested calls that is within the limit
};

struct ModelDesc {
  uint32_t schema_version = 0;
  const char* description = "";
  std::vector<OperatorCodeDesc> operator_codes;
  std::vector<SubgraphDesc> subgraphs;
  std::vector<SignatureDesc> signatures;
  std::vector<MetadataDesc> metadata;
  ModelCounts counts;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_DESC_H_
