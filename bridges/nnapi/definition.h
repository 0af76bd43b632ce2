// SPDX-License-Identifier: Apache-2.0
//
// An NNAPI model in the making. The functions that define operators (operators.h) run on two kinds
// of definitions: one that only looks, to decide whether a node can be had, and one that builds. So
// what is claimed is what can be built.
//
// An operation is its inputs in NNAPI's order, its outputs, and Finish. After the first refusal, or
// the first function of NNAPI that fails, everything does nothing.
#ifndef DEPUTY_BRIDGES_NNAPI_DEFINITION_H_
#define DEPUTY_BRIDGES_NNAPI_DEFINITION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bridges/nnapi/nnapi.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

struct Refusal {
  DeputyReason reason = kDeputyReasonNone;
  std::string text;

  explicit operator bool() const { return reason != kDeputyReasonNone; }
};

using Shape = std::vector<uint32_t>;

// Constants of the host's that lie in shared memory, by the tensor's number.
struct SharedConstants {
  const ANeuralNetworksMemory* memory = nullptr;
  std::map<int, size_t> offsets;
};

class Definition {
 public:
  // One that only looks.
  Definition(const TfLiteContext* context, int feature_level)
      : context_(context), feature_level_(feature_level) {}
  // One that builds `model`, which is the caller's. `constants` may be null.
  Definition(const TfLiteContext* context, int feature_level, const Functions* functions,
             ANeuralNetworksModel* model, const SharedConstants* constants)
      : context_(context),
        feature_level_(feature_level),
        functions_(functions),
        model_(model),
        constants_(constants) {}
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;

  int feature_level() const { return feature_level_; }
  const TfLiteContext& context() const { return *context_; }

  // The first refusal counts. Returns false.
  bool Refuse(DeputyReason reason, const std::string& text);
  // Refuses if the feature level is less.
  bool ExpectLevel(int level, std::string_view what);
  const Refusal& refusal() const { return refusal_; }
  // "" or which function failed, and how.
  const std::string& error() const { return error_; }
  bool ok() const { return !refusal_ && error_.empty(); }

  // ---- Inputs of the operation, in order --------------------------------------------------------
  // A tensor of the host's as it is: a constant, an input of the model, or what another made.
  void Input(int tensor);
  // The filter of a convolution or a matrix: a constant may have a scale per slice of dimension
  // `channel`; -1: one scale only.
  void Weights(int tensor, int channel);
  // Of a layer with these inputs and weights; without one, if `tensor` is -1, `count` zeros.
  void Bias(int tensor, const TfLiteTensor& input, const TfLiteTensor& weights, uint32_t count);
  void Int(int32_t value);
  void Float(float value);
  void Bool(bool value);
  // A constant tensor of one dimension, or of the shape.
  void Ints(const std::vector<int32_t>& values);
  void Ints(const std::vector<int32_t>& values, const Shape& shape);
  // What an earlier operation made, see Intermediate.
  void Operand(uint32_t operand);

  // ---- Outputs, in order, and the end -----------------------------------------------------------
  void Output(int tensor);
  // An output that no tensor of the host's has: type and scale are those of `like`.
  uint32_t Intermediate(const TfLiteTensor& like, const Shape& shape);
  void Finish(OperationCode code);

  // Ends the model, whose inputs and outputs are tensors of the host's, with fp16 relaxation where
  // the library has it. Inputs that no operation reads are left out; those that are in go to
  // `out_inputs`.
  void FinishModel(const std::vector<int>& inputs, const std::vector<int>& outputs, bool relax,
                   std::vector<int>* out_inputs);

  int operation_count() const { return operation_count_; }

 private:
  struct Type {
    int32_t code = 0;
    Shape dims;
    float scale = 0;
    int32_t zero_point = 0;
  };

  bool TypeOf(const TfLiteTensor& tensor, Type* out_type);
  bool Check(const char* function, int code);
  uint32_t AddOperand(const Type& type);
  uint32_t AddConstant(const Type& type, const void* data, size_t bytes);
  uint32_t AddTensor(int tensor);
  void SetTensorValue(int tensor, uint32_t operand);
  void PerChannelWeights(int tensor, int channel);

  const TfLiteContext* const context_;
  const int feature_level_;
  const Functions* const functions_ = nullptr;
  ANeuralNetworksModel* const model_ = nullptr;
  const SharedConstants* const constants_ = nullptr;

  Refusal refusal_;
  std::string error_;
  std::vector<uint32_t> inputs_, outputs_;  // of the operation in the making
  uint32_t next_operand_ = 0;
  int operation_count_ = 0;
  std::map<int, uint32_t> operands_;  // by the host's tensors
  // Values that NNAPI does not copy; borrowed by the model, so they go with the definition.
  std::deque<std::vector<int32_t>> values_;
};

// Of a tensor that is quantised as a whole.
bool IsQuantised(const TfLiteTensor& tensor);
bool IsConstant(const TfLiteTensor& tensor);
// "tensor 'x'".
std::string NameOf(const TfLiteTensor& tensor);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_DEFINITION_H_
