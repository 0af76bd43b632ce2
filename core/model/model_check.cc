// SPDX-License-Identifier: Apache-2.0
//
// Checks that the numbers of a model are consistent, which a FlatBuffers verifier cannot do.
// Findings that would make reading unsafe reject the model; findings that TensorFlow Lite accepts
// at load and rejects at allocation make the subgraph inconsistent.
#include "core/model/model_check.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/builtin_ops.h"
#include "core/base/type_size.h"
#include "core/model/model_position.h"
#include "core/model/op_names.h"
#include "core/model/tensor_producers.h"

namespace deputy {
namespace {

// Operators that refer to subgraphs in their options: the union member and its fields.
struct CallingOperator {
  TfLiteBuiltinOperator code;
  OptionsKind options;
  int first_field;
  int second_field;  // field with a second subgraph index; -1: none
  bool is_list;      // true: first_field is a vector of subgraph indices
  bool runs;         // false: the nodes of the subgraph are only inspected, never run
};
constexpr CallingOperator kCallingOperators[] = {
    {kTfLiteBuiltinIf, {1, 92}, 0, 1, false, true},
    {kTfLiteBuiltinWhile, {1, 93}, 0, 1, false, true},
    {kTfLiteBuiltinCallOnce, {1, 103}, 0, -1, false, true},
    {kTfLiteBuiltinStablehloReduce, {2, 6}, 1, -1, false, false},
    {kTfLiteBuiltinStablehloScatter, {2, 7}, 6, -1, false, false},
    {kTfLiteBuiltinStablehloReduceWindow, {2, 13}, 5, -1, false, false},
    {kTfLiteBuiltinStablehloSort, {2, 14}, 2, -1, false, false},
    {kTfLiteBuiltinStablehloWhile, {2, 15}, 0, 1, false, true},
    {kTfLiteBuiltinStablehloComposite, {2, 21}, 1, -1, false, true},
    {kTfLiteBuiltinStablehloCase, {2, 23}, 0, -1, true, true},
};

std::vector<int32_t> CalledSubgraphs(const CallingOperator& row, const OpOptions& options) {
  const OpOptions own = options.As(row.options);
  if (row.is_list) {
    // Excess branches are rejected when the options are parsed.
    std::span<const int32_t> branches = own.Ints(row.first_field);
    branches = branches.first(
        std::min<size_t>(branches.size(), TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT));
    return {branches.begin(), branches.end()};
  }
  std::vector<int32_t> called = {own.Int(row.first_field)};
  if (row.second_field >= 0) called.push_back(own.Int(row.second_field));
  return called;
}

bool Contains(std::span<const int32_t> sorted, int32_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

class Validator {
 public:
  Validator(ModelDesc* desc, const Limits& limits, ErrorReporter* reporter)
      : desc_(desc), limits_(limits), reporter_(reporter) {}

  TfLiteStatus Run();

 private:
  TfLiteStatus CheckTensor(TensorDesc* tensor);
  TfLiteStatus CheckStrings(const TensorDesc& tensor, size_t elements);
  TfLiteStatus CheckQuantization(const TensorDesc& tensor);
  TfLiteStatus CheckAffine(const TensorDesc& tensor);
  TfLiteStatus CheckQuantizationTensors(const QuantizationDesc& quantization);
  TfLiteStatus CheckSparsity(const TensorDesc& tensor);
  TfLiteStatus CheckTraversal(const SparsityDesc& sparsity, size_t rank);
  TfLiteStatus SparseExtents(const TensorDesc& tensor, std::vector<int32_t>* out_extents);
  TfLiteStatus CheckSparseLevel(const DimensionDesc& level, size_t number, int32_t extent,
                                size_t* positions);
  TfLiteStatus CheckSignature(const SignatureDesc& signature);
  TfLiteStatus CheckSignatureTensors(const std::vector<SignatureTensorDesc>& tensors,
                                     const char* what, int tensor_count);

  TfLiteStatus CheckNodes();
  bool CheckIndices(std::span<const int32_t> indices, const char* what, bool may_be_absent);
  bool CheckOverlap(const OperatorDesc& op);
  bool CheckCalls(const OperatorDesc& op, int caller);
  void CheckCallDepth();
  void MarkBodies();

  TfLiteStatus Refuse(const char* format, ...) __attribute__((format(printf, 2, 3)));
  // Records the first inconsistency of the current subgraph. Returns false, for use in a return
  // statement.
  bool Note(const char* format, ...) __attribute__((format(printf, 2, 3)));

  ModelDesc* const desc_;
  const Limits& limits_;
  ErrorReporter* const reporter_;
  SubgraphDesc* subgraph_ = nullptr;        // subgraph that is being checked
  std::vector<std::pair<int, int>> calls_;  // pairs of caller and callee
  // Callees of operators that run them, and of operators that only inspect them.
  std::vector<int> run_, inspected_;
  std::vector<int32_t> scratch_;
  ModelPosition position_;  // of the check
};

TfLiteStatus Validator::Refuse(const char* format, ...) {
  char reason[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  return Fail(reporter_, kTfLiteError, "Invalid model; %s%s", position_.Text().c_str(), reason);
}

bool Validator::Note(const char* format, ...) {
  char reason[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  if (subgraph_->inconsistency.empty()) {
    subgraph_->inconsistency = position_.Text() + reason;
  }
  return false;
}

TfLiteStatus Validator::Run() {
  for (size_t s = 0; s < desc_->subgraphs.size(); ++s) {
    subgraph_ = &desc_->subgraphs[s];
    position_.EnterSubgraph(s);
    for (size_t t = 0; t < subgraph_->tensors.size(); ++t) {
      TensorDesc& tensor = subgraph_->tensors[t];
      position_.item = {"tensor", t, tensor.name};
      TF_LITE_ENSURE_STATUS(CheckTensor(&tensor));
    }
    position_.item = {};
    TF_LITE_ENSURE_STATUS(CheckNodes());
  }
  position_ = {};
  CheckCallDepth();
  for (size_t i = 0; i < desc_->signatures.size(); ++i) {
    position_.item = {"signature", i, desc_->signatures[i].key};
    TF_LITE_ENSURE_STATUS(CheckSignature(desc_->signatures[i]));
  }
  MarkBodies();
  return kTfLiteOk;
}

// ---- Tensors ------------------------------------------------------------------------------------

// Checks a tensor. Excess bytes of a constant are cut off.
TfLiteStatus Validator::CheckTensor(TensorDesc* checked) {
  const TensorDesc& tensor = *checked;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] < 0) {
      return Refuse("shape[%zu]: expected 0 or more, found %d", i, tensor.shape[i]);
    }
  }
  if (!tensor.signature.empty() && tensor.signature.size() != tensor.shape.size()) {
    return Refuse("shape signature: expected %zu dimensions like the shape, found %zu",
                  tensor.shape.size(), tensor.signature.size());
  }
  // An int8 element has one byte, so this computes the number of elements.
  size_t elements;
  size_t bytes = 0;
  if (!TensorBytes(kTfLiteInt8, tensor.shape, &elements) ||
      (HasFixedSize(tensor.type) && !TensorBytes(tensor.type, tensor.shape, &bytes))) {
    return Refuse("shape: expected a size that fits %zu bits, found more", sizeof(size_t) * 8);
  }
  TF_LITE_ENSURE_STATUS(CheckQuantization(tensor));
  if (tensor.data == nullptr) return kTfLiteOk;

  if (tensor.is_variable) {
    return Refuse("expected a variable without data, found %zu bytes", tensor.bytes);
  }
  if (tensor.sparsity != nullptr) return CheckSparsity(tensor);
  if (tensor.type == kTfLiteString) return CheckStrings(tensor, elements);
  if (!HasFixedSize(tensor.type)) return kTfLiteOk;
  if (tensor.bytes < bytes) {
    return Refuse("data: expected %zu bytes, found %zu", bytes, tensor.bytes);
  }
  checked->bytes = bytes;
  return kTfLiteOk;
}

// Checks the data of a string tensor: a count, count + 1 offsets from the start of the data, and
// the texts (abi.md appendix A).
TfLiteStatus Validator::CheckStrings(const TensorDesc& tensor, size_t elements) {
  const auto word = [&tensor](size_t index) {
    int32_t value;
    std::memcpy(&value, tensor.data + index * sizeof(value), sizeof(value));
    return value;
  };
  if (tensor.bytes < 2 * sizeof(int32_t)) {
    return Refuse("string data: expected at least 8 bytes, found %zu", tensor.bytes);
  }
  if (word(0) < 0 || static_cast<size_t>(word(0)) != elements) {
    return Refuse("string data: expected %zu strings, found %d", elements, word(0));
  }
  // The sum cannot overflow, since elements is below 2^31 here.
  const size_t table_words = elements + 2;
  if (tensor.bytes / sizeof(int32_t) < table_words) {
    return Refuse("string data: expected a table of %zu bytes, found %zu bytes in all",
                  table_words * sizeof(int32_t), tensor.bytes);
  }
  int64_t minimum = static_cast<int64_t>(table_words * sizeof(int32_t));
  for (size_t i = 0; i <= elements; ++i) {
    const int32_t offset = word(1 + i);
    if (offset < minimum || static_cast<size_t>(offset) > tensor.bytes) {
      return Refuse("string data: offset %zu: expected %lld..%zu, found %d", i,
                    static_cast<long long>(minimum), tensor.bytes, offset);
    }
    minimum = offset;
  }
  return kTfLiteOk;
}

TfLiteStatus Validator::CheckQuantization(const TensorDesc& tensor) {
  switch (tensor.quantization.type) {
    case kTfLiteAffineQuantization:
      return CheckAffine(tensor);
    case kTfLiteBlockwiseQuantization:
    case kTfLiteMultiAxisQuantization:
      return CheckQuantizationTensors(tensor.quantization);
    default:
      return kTfLiteOk;
  }
}

// Checks affine quantisation by TensorFlow Lite's rules, which ignore dimensions if the shape is
// empty, and that zero points fit 32 bits. Kernels check the values.
TfLiteStatus Validator::CheckAffine(const TensorDesc& tensor) {
  const QuantizationDesc& quantization = tensor.quantization;
  const size_t scales = quantization.scale.size();
  if (quantization.zero_point.size() != scales) {
    return Refuse("zero points: expected %zu like the scales, found %zu", scales,
                  quantization.zero_point.size());
  }
  const size_t rank = tensor.shape.size();
  if (quantization.dimension < 0 ||
      (rank != 0 && static_cast<size_t>(quantization.dimension) >= rank)) {
    return Refuse("quantized dimension: expected one of %zu dimensions, found %d", rank,
                  quantization.dimension);
  }
  if (rank != 0 && scales != 1 &&
      scales != static_cast<size_t>(tensor.shape[quantization.dimension])) {
    return Refuse("scales: expected 1 or %d, found %zu", tensor.shape[quantization.dimension],
                  scales);
  }
  for (size_t i = 0; i < scales; ++i) {
    const int64_t zero_point = quantization.zero_point[i];
    if (zero_point < std::numeric_limits<int32_t>::min() ||
        zero_point > std::numeric_limits<int32_t>::max()) {
      return Refuse("zero point %zu: expected 32 bits, found %lld", i,
                    static_cast<long long>(zero_point));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus Validator::CheckQuantizationTensors(const QuantizationDesc& quantization) {
  const int count = static_cast<int>(subgraph_->tensors.size());
  if (quantization.scales_tensor < 0 || quantization.scales_tensor >= count) {
    return Refuse("tensor of scales: expected 0..%d, found %d", count - 1,
                  quantization.scales_tensor);
  }
  if (quantization.zero_points_tensor < -1 || quantization.zero_points_tensor >= count) {
    return Refuse("tensor of zero points: expected -1..%d, found %d", count - 1,
                  quantization.zero_points_tensor);
  }
  return kTfLiteOk;
}

// ---- Sparsity -----------------------------------------------------------------------------------

// Checks a sparse tensor. The format stores a tree: one level per dimension in traversal order,
// then one per dimension of the block. A dense level has `dense_size` children per node, a sparse
// one the children that its segments delimit. The leaves are the values. This check counts the
// nodes level by level, so that code which expands the tree can rely on every number.
TfLiteStatus Validator::CheckSparsity(const TensorDesc& tensor) {
  const SparsityDesc& sparsity = *tensor.sparsity;
  if (!HasFixedSize(tensor.type)) {
    return Refuse("sparsity: expected a type of fixed size, found %d", tensor.type);
  }
  TF_LITE_ENSURE_STATUS(CheckTraversal(sparsity, tensor.shape.size()));
  std::vector<int32_t> extents;
  TF_LITE_ENSURE_STATUS(SparseExtents(tensor, &extents));
  size_t positions = 1;
  for (size_t level = 0; level < sparsity.dimensions.size(); ++level) {
    const int32_t extent = extents[static_cast<size_t>(sparsity.traversal_order[level])];
    TF_LITE_ENSURE_STATUS(CheckSparseLevel(sparsity.dimensions[level], level, extent, &positions));
  }
  size_t bits;
  if (!MultiplySizes(positions, TypeBits(tensor.type), &bits) || (bits + 7) / 8 > tensor.bytes) {
    return Refuse("sparse data: expected %zu values, found %zu bytes", positions, tensor.bytes);
  }
  return kTfLiteOk;
}

// Checks the traversal order and the block map. The traversal order is a permutation of the
// dimensions, followed by one of the block's dimensions. The block map lists, in ascending order,
// the dimensions that the block dimensions divide.
TfLiteStatus Validator::CheckTraversal(const SparsityDesc& sparsity, size_t rank) {
  const size_t levels = rank + sparsity.block_map.size();
  if (sparsity.traversal_order.size() != levels || sparsity.dimensions.size() != levels) {
    return Refuse(
        "sparsity: expected %zu levels, found %zu in the traversal order and %zu described", levels,
        sparsity.traversal_order.size(), sparsity.dimensions.size());
  }
  std::vector<bool> seen(levels);
  for (size_t i = 0; i < levels; ++i) {
    const int32_t dimension = sparsity.traversal_order[i];
    const bool in_range = i < rank ? dimension >= 0 && static_cast<size_t>(dimension) < rank
                                   : static_cast<size_t>(dimension) >= rank &&
                                         static_cast<size_t>(dimension) < levels;
    if (!in_range || seen[static_cast<size_t>(dimension)]) {
      return Refuse("sparsity: traversal order[%zu]: expected a permutation, found %d", i,
                    dimension);
    }
    seen[static_cast<size_t>(dimension)] = true;
  }
  int32_t minimum = 0;
  for (size_t i = 0; i < sparsity.block_map.size(); ++i) {
    const int32_t dimension = sparsity.block_map[i];
    if (dimension < minimum || static_cast<size_t>(dimension) >= rank) {
      return Refuse("sparsity: block map[%zu]: expected %d..%zu, found %d", i, minimum, rank - 1,
                    dimension);
    }
    minimum = dimension + 1;
  }
  return kTfLiteOk;
}

// Computes the extent of each dimension of the traversal: that of the block, and the shape divided
// by the block.
TfLiteStatus Validator::SparseExtents(const TensorDesc& tensor, std::vector<int32_t>* out_extents) {
  const SparsityDesc& sparsity = *tensor.sparsity;
  const size_t rank = tensor.shape.size();
  out_extents->assign(tensor.shape.begin(), tensor.shape.end());
  out_extents->resize(sparsity.dimensions.size());
  for (size_t level = rank; level < sparsity.dimensions.size(); ++level) {
    const DimensionDesc& block = sparsity.dimensions[level];
    const auto dimension = static_cast<size_t>(sparsity.traversal_order[level]);
    const auto divided = static_cast<size_t>(sparsity.block_map[dimension - rank]);
    if (block.sparse_csr || block.dense_size < 1 || tensor.shape[divided] % block.dense_size != 0) {
      return Refuse("sparsity: level %zu: expected a dense block that divides %d, found %s of %d",
                    level, tensor.shape[divided], block.sparse_csr ? "a sparse one" : "one",
                    block.dense_size);
    }
    (*out_extents)[dimension] = block.dense_size;
    (*out_extents)[divided] = tensor.shape[divided] / block.dense_size;
  }
  return kTfLiteOk;
}

TfLiteStatus Validator::CheckSparseLevel(const DimensionDesc& level, size_t number, int32_t extent,
                                         size_t* positions) {
  if (!level.sparse_csr) {
    if (level.dense_size < 0 || level.dense_size > extent) {
      return Refuse("sparsity: level %zu: expected a size of 0..%d, found %d", number, extent,
                    level.dense_size);
    }
    if (!MultiplySizes(*positions, static_cast<size_t>(level.dense_size), positions)) {
      return Refuse("sparsity: level %zu: expected a size that fits, found more", number);
    }
    return kTfLiteOk;
  }
  if (level.segments.empty() || level.segments.size() - 1 != *positions) {
    return Refuse("sparsity: level %zu: expected %zu segments, found %zu", number, *positions + 1,
                  level.segments.size());
  }
  int32_t minimum = 0;
  for (size_t i = 0; i < level.segments.size(); ++i) {
    const int32_t segment = level.segments[i];
    if (segment < minimum || static_cast<size_t>(segment) > level.indices.size() ||
        (i == 0 && segment != 0)) {
      return Refuse("sparsity: level %zu: segment %zu: expected %d..%zu, found %d", number, i,
                    minimum, i == 0 ? 0 : level.indices.size(), segment);
    }
    minimum = segment;
  }
  if (static_cast<size_t>(minimum) != level.indices.size()) {
    return Refuse("sparsity: level %zu: expected the last segment to end at %zu, found %d", number,
                  level.indices.size(), minimum);
  }
  for (size_t i = 0; i < level.indices.size(); ++i) {
    if (level.indices[i] < 0 || level.indices[i] >= extent) {
      return Refuse("sparsity: level %zu: index %zu: expected 0..%d, found %d", number, i,
                    extent - 1, level.indices[i]);
    }
  }
  *positions = level.indices.size();
  return kTfLiteOk;
}

// ---- Signatures ---------------------------------------------------------------------------------

TfLiteStatus Validator::CheckSignature(const SignatureDesc& signature) {
  if (signature.subgraph_index >= desc_->subgraphs.size()) {
    return Refuse("subgraph index: expected one of %zu subgraphs, found %u",
                  desc_->subgraphs.size(), signature.subgraph_index);
  }
  subgraph_ = &desc_->subgraphs[signature.subgraph_index];
  const int count = static_cast<int>(subgraph_->tensors.size());
  TF_LITE_ENSURE_STATUS(CheckSignatureTensors(signature.inputs, "input", count));
  TF_LITE_ENSURE_STATUS(CheckSignatureTensors(signature.outputs, "output", count));
  // Callers may write to the memory of inputs, so they must not be constants.
  for (const SignatureTensorDesc& input : signature.inputs) {
    const TensorDesc& tensor = subgraph_->tensors[static_cast<size_t>(input.tensor_index)];
    if (tensor.data == nullptr) continue;
    Note("input '%.64s': expected no constant, found tensor %d '%.64s'", input.name,
         input.tensor_index, tensor.name);
  }
  return kTfLiteOk;
}

TfLiteStatus Validator::CheckSignatureTensors(const std::vector<SignatureTensorDesc>& tensors,
                                              const char* what, int tensor_count) {
  for (const SignatureTensorDesc& tensor : tensors) {
    if (tensor.tensor_index < 0 || tensor.tensor_index >= tensor_count) {
      return Refuse("%s '%.64s': expected a tensor index 0..%d, found %d", what, tensor.name,
                    tensor_count - 1, tensor.tensor_index);
    }
  }
  return kTfLiteOk;
}

// ---- Nodes --------------------------------------------------------------------------------------

TfLiteStatus Validator::CheckNodes() {
  const int caller = static_cast<int>(subgraph_ - desc_->subgraphs.data());
  CheckIndices(subgraph_->inputs, "subgraph input", true);
  CheckIndices(subgraph_->outputs, "subgraph output", false);
  for (size_t n = 0; n < subgraph_->operators.size(); ++n) {
    const OperatorDesc& op = subgraph_->operators[n];
    if (op.code_index >= desc_->operator_codes.size()) {
      return Refuse("node %zu: operator code index: expected one of %zu codes, found %u", n,
                    desc_->operator_codes.size(), op.code_index);
    }
    const OperatorCodeDesc& code = desc_->operator_codes[op.code_index];
    position_.item = {"node", n, OperatorName(code), false};
    if (!CheckIndices(op.inputs, "input", true) || !CheckIndices(op.outputs, "output", false) ||
        !CheckIndices(op.intermediates, "intermediate", true)) {
      continue;
    }
    // A custom operator may work in place, so its inputs may be outputs.
    if (code.custom_name == nullptr && CheckOverlap(op)) CheckCalls(op, caller);
  }
  position_.item = {};
  // The checks that follow require that all indices are in range.
  if (!subgraph_->inconsistency.empty()) return kTfLiteOk;
  const std::string fault = FindProducerFault(*desc_, *subgraph_);
  if (!fault.empty()) Note("%s", fault.c_str());
  return kTfLiteOk;
}

bool Validator::CheckIndices(std::span<const int32_t> indices, const char* what,
                             bool may_be_absent) {
  const int count = static_cast<int>(subgraph_->tensors.size());
  const int minimum = may_be_absent ? kTfLiteOptionalTensor : 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < minimum || indices[i] >= count) {
      return Note("%s %zu: expected a tensor index %d..%d, found %d", what, i, minimum, count - 1,
                  indices[i]);
    }
  }
  return true;
}

bool Validator::CheckOverlap(const OperatorDesc& op) {
  scratch_.assign(op.outputs.begin(), op.outputs.end());
  std::sort(scratch_.begin(), scratch_.end());
  for (const int32_t input : op.inputs) {
    if (input != kTfLiteOptionalTensor && Contains(scratch_, input)) {
      return Note("expected outputs that are no inputs, found tensor %d in both", input);
    }
  }
  return true;
}

bool Validator::CheckCalls(const OperatorDesc& op, int caller) {
  const TfLiteBuiltinOperator code = desc_->operator_codes[op.code_index].code;
  for (const CallingOperator& row : kCallingOperators) {
    if (row.code != code) continue;
    const int count = static_cast<int>(desc_->subgraphs.size());
    for (const int32_t callee : CalledSubgraphs(row, op.options)) {
      if (callee < 0 || callee >= count) {
        return Note("expected a subgraph index 0..%d, found %d", count - 1, callee);
      }
      calls_.emplace_back(caller, callee);
      (row.runs ? run_ : inspected_).push_back(callee);
    }
  }
  return true;
}

// Computes depths by relaxation: each round propagates them from callees to callers by at least one
// call. A depth above `max_call_depth` is too deep or the result of a cycle.
void Validator::CheckCallDepth() {
  std::sort(calls_.begin(), calls_.end());
  calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
  const int maximum = std::max(limits_.max_call_depth, 0);
  std::vector<int> depth(desc_->subgraphs.size());
  bool changed = true;
  while (changed) {
    changed = false;
    for (const auto& [caller, callee] : calls_) {
      const int through = std::min(depth[static_cast<size_t>(callee)] + 1, maximum + 1);
      if (through > depth[static_cast<size_t>(caller)]) {
        depth[static_cast<size_t>(caller)] = through;
        changed = true;
      }
    }
  }
  for (size_t s = 0; s < depth.size(); ++s) {
    if (depth[s] <= maximum) {
      desc_->counts.call_depth = std::max(desc_->counts.call_depth, static_cast<size_t>(depth[s]));
      continue;
    }
    subgraph_ = &desc_->subgraphs[s];
    Note("subgraph %zu: expected calls of subgraphs at most %d deep, found more or a cycle", s,
         maximum);
  }
}

// Marks subgraphs that are only inspected: an operator inspects them, and no operator, signature or
// client (which runs subgraph 0) runs them.
void Validator::MarkBodies() {
  for (const int body : inspected_)
    desc_->subgraphs[static_cast<size_t>(body)].only_inspected = true;
  for (const int called : run_)
    desc_->subgraphs[static_cast<size_t>(called)].only_inspected = false;
  for (const SignatureDesc& signature : desc_->signatures) {
    desc_->subgraphs[signature.subgraph_index].only_inspected = false;
  }
  if (!desc_->subgraphs.empty()) desc_->subgraphs[0].only_inspected = false;
}

}  // namespace

TfLiteStatus CheckModel(ModelDesc* desc, const Limits& limits, ErrorReporter* reporter) {
  return Validator(desc, limits, reporter).Run();
}

}  // namespace deputy
