// SPDX-License-Identifier: Apache-2.0
//
// A model as objects: subgraphs, operators, tensors, signatures and metadata. The objects refer to
// the bytes of the model file, which the model owns or the client keeps.
#ifndef DEPUTY_LITERT_SRC_MODEL_H_
#define DEPUTY_LITERT_SRC_MODEL_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "litert/c/litert_model.h"
#include "litert/c/litert_op_code.h"

struct TfLiteModel;

namespace deputy::schema {
struct Operator;
struct Tensor;
}  // namespace deputy::schema

namespace deputy::litert {

// Releases a block of malloc.
struct FreeBlock {
  void operator()(uint8_t* block) const { std::free(block); }
};

// The key of the signature that a model without signatures has.
inline constexpr char kDefaultSignatureKey[] = "<placeholder signature>";

using Bytes = std::span<const uint8_t>;

}  // namespace deputy::litert

class LiteRtWeightsT {
 public:
  deputy::litert::Bytes bytes;
  int32_t buffer = 0;                                 // index in the file; 0: no data
  std::shared_ptr<const std::vector<uint8_t>> owned;  // bytes that are not in the file; may be null
};

class LiteRtTensorT {
 public:
  // An operator that reads the tensor, and the index of the input.
  struct Use {
    LiteRtOp op = nullptr;
    LiteRtParamIndex input = 0;
  };

  std::string name;
  uint32_t index = 0;
  LiteRtRankedTensorType type = {};  // dimensions that are open are -1
  LiteRtWeightsT weights;
  LiteRtQuantizationTypeId quantization = kLiteRtQuantizationNone;
  LiteRtQuantizationPerTensor per_tensor = {};
  LiteRtQuantizationPerChannel per_channel = {};  // its arrays are in `scales`, `zero_points`
  LiteRtQuantizationBlockWise block_wise = {};
  std::vector<float> scales;
  std::vector<int64_t> zero_points;
  LiteRtOp producer = nullptr;  // null: an input or a constant
  LiteRtParamIndex producer_output = 0;
  std::vector<Use> uses;
  bool is_variable = false;                        // keeps its contents between runs
  const deputy::schema::Tensor* source = nullptr;  // the tensor in the file; null: added later
};

class LiteRtOpT {
 public:
  // Copies everything but the code and the tensors.
  void CopyOptions(const LiteRtOpT& from);

  LiteRtOpCode code = kLiteRtOpCodeTflCustom;
  std::string custom_code;
  deputy::litert::Bytes custom_options;
  // The tensors that the operator reads; optional inputs that are absent are not listed.
  std::vector<LiteRtTensor> inputs;
  std::vector<LiteRtTensor> outputs;
  const deputy::schema::Operator* options = nullptr;  // in the file or in `owned_options`
  std::vector<uint8_t> owned_options;  // a FlatBuffer with the operator, for one that was added
  int32_t version = 1;
  // Byte code of a compiled operator, and its entry point. The bytes are in the file or owned.
  deputy::litert::Bytes byte_code;
  std::shared_ptr<const std::vector<uint8_t>> owned_byte_code;
  std::string entry_point;
};

class LiteRtSubgraphT {
 public:
  std::string name;
  std::vector<std::unique_ptr<LiteRtTensorT>> tensors;
  std::vector<std::unique_ptr<LiteRtOpT>> ops;
  std::vector<LiteRtTensor> inputs, outputs;
};

class LiteRtSignatureT {
 public:
  // Inputs and outputs are in the order of the subgraph.
  std::string key;
  LiteRtSubgraph subgraph = nullptr;
  std::vector<std::string> input_names, output_names;
};

class LiteRtModelT {
 public:
  LiteRtModelT() = default;
  ~LiteRtModelT();
  LiteRtModelT(const LiteRtModelT&) = delete;
  LiteRtModelT& operator=(const LiteRtModelT&) = delete;

  // Creates the objects of a model. `file` must stay valid as long as the model, which copies it if
  // it is not aligned.
  LiteRtStatus Load(deputy::litert::Bytes file);

  std::vector<uint8_t> owned;                                         // bytes of a file
  std::unique_ptr<uint8_t[], deputy::litert::FreeBlock> owned_block;  // the same, of malloc
  std::string name;              // of the file, without folder and extension; "": no file
  deputy::litert::Bytes bytes;   // the file, which the model owns or the client keeps
  TfLiteModel* model = nullptr;  // the verified model

  int32_t next_buffer = 1;  // number of the next buffer that is added

  std::vector<std::unique_ptr<LiteRtSubgraphT>> subgraphs;
  std::vector<std::unique_ptr<LiteRtSignatureT>> signatures;
  std::map<std::string, std::vector<uint8_t>> metadata;

  // The client's reference and those of compiled models; the last one deletes the model.
  mutable std::atomic<int> references = 1;
};

namespace deputy::litert {

inline void Release(const LiteRtModelT* model) {
  if (model != nullptr && model->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete model;
  }
}

// RAII guard: a reference to a model of the client.
class ModelReference {
 public:
  explicit ModelReference(const LiteRtModelT* model) : model_(model) {
    model_->references.fetch_add(1, std::memory_order_relaxed);
  }
  ~ModelReference() { Release(model_); }
  ModelReference(const ModelReference&) = delete;
  ModelReference& operator=(const ModelReference&) = delete;

  const LiteRtModelT& get() const { return *model_; }

 private:
  const LiteRtModelT* const model_;
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_MODEL_H_
