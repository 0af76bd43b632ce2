// SPDX-License-Identifier: Apache-2.0
//
// What a model file says, as plain structs. They point into the file's bytes; weights are used in
// place. The rest of the library knows these, not the generated schema.
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
  std::span<const float> scale;         // affine: one, or one per slice of `dimension`
  std::span<const int64_t> zero_point;  // affine: as many as scales, each fits 32 bits
  int32_t dimension = 0;
  // Blockwise and multi-axis: tensor indices of scales and zero points (-1 = none), block size.
  int32_t scales_tensor = -1;
  int32_t zero_points_tensor = -1;
  int32_t block_size = 0;
  std::span<const int32_t> dimensions;  // multi-axis: the quantised dimensions
};

struct DimensionDesc {
  bool sparse_csr = false;
  int32_t dense_size = 0;
  std::vector<int32_t> segments;  // widened from the file's 8, 16 or 32 bits
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
  bool has_signature = false;  // the file has a shape_signature vector
  std::span<const int32_t> signature;
  bool is_variable = false;
  const uint8_t* data = nullptr;  // null: not a constant
  size_t bytes = 0;
  QuantizationDesc quantization;
  std::unique_ptr<SparsityDesc> sparsity;
};

struct OperatorDesc {
  uint32_t code_index = 0;  // into ModelDesc::operator_codes
  std::span<const int32_t> inputs, outputs, intermediates;
  OpOptions options;                        // whatever union member the file carries
  std::span<const uint8_t> custom_options;  // custom operators; empty when absent
};

struct OperatorCodeDesc {
  TfLiteBuiltinOperator code = kTfLiteBuiltinCustom;
  const char* custom_name = nullptr;  // non-null exactly for custom operators
  int version = 1;
};

struct SubgraphDesc {
  const char* name = "";
  std::vector<TensorDesc> tensors;
  std::span<const int32_t> inputs, outputs;
  std::vector<OperatorDesc> operators;
  // The file has the subgraph's tensor and operator tables and the model's buffer table, be they
  // empty. TfLiteInterpreterCreate refuses a model with a subgraph that lacks one.
  bool complete = true;
  // Empty when every node is sound. Otherwise the first structural error (an index out of range, a
  // builtin whose input is its output, a tensor with two makers): the subgraph is created but never
  // allocates or runs.
  std::string inconsistency;
  // Nobody runs it: STABLEHLO_SCATTER, STABLEHLO_REDUCE_WINDOW and their like only look at its
  // nodes.
  bool only_looked_at = false;
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

// How much there is of what limits bound. Tensors and operators are those of all subgraphs.
struct ModelCounts {
  size_t operator_codes = 0, subgraphs = 0, signatures = 0, metadata = 0;
  size_t tensors = 0, operators = 0;
  size_t call_depth = 0;  // calls inside each other, from subgraphs that are consistent
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
