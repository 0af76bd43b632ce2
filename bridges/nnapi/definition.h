// SPDX-License-Identifier: Apache-2.0
//
// Builder for an NNAPI model. The functions that define operators (operators.h) run on two kinds of
// definitions: one that only checks whether a node is supported, and one that builds. Therefore
// each claimed node can be built.
//
// To add an operation, add its inputs in NNAPI's order and its outputs, and call Finish. After the
// first refusal, or the first failing NNAPI function, no function of NNAPI is called.
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
#include "core/support/refusal.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::nnapi {

using Shape = std::vector<uint32_t>;

// Offsets of the host's constants in shared memory, by tensor.
struct SharedConstants {
  const ANeuralNetworksMemory* memory = nullptr;
  std::map<int, size_t> offsets;
};

class Definition {
 public:
  // Creates a definition that only checks.
  Definition(const TfLiteContext* context, int feature_level)
      : context_(context), feature_level_(feature_level) {}
  // Creates a definition that builds `model`, which the caller owns. `constants` may be null.
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

  // Records a refusal, unless there is one already. Returns false.
  bool Refuse(DeputyReason reason, const std::string& text);
  // Refuses if the feature level is lower than `level`.
  bool ExpectLevel(int level, std::string_view what);
  const Refusal& refusal() const { return refusal_; }
  // Returns "" or a description of the failed function.
  const std::string& error() const { return error_; }
  bool ok() const { return !refusal_ && error_.empty(); }

  // ---- Inputs of the operation, in order --------------------------------------------------------
  // Adds a tensor of the host: a constant, an input of the model, or an output of another
  // operation.
  void Input(int tensor);
  // Adds the filter of a convolution or a matrix. A constant of int8 may have one scale per slice
  // of dimension `channel`; with -1 only one scale is allowed.
  void Weights(int tensor, int channel);
  // Adds the bias of a layer with this input and these weights; `count` zeros if `tensor` is -1.
  void Bias(int tensor, const TfLiteTensor& input, const TfLiteTensor& weights, uint32_t count);
  void Int(int32_t value);
  void Float(float value);
  void Bool(bool value);
  // Add a constant tensor with one dimension, or with the given shape.
  void Ints(const std::vector<int32_t>& values);
  void Ints(const std::vector<int32_t>& values, const Shape& shape);
  // Adds an input that Intermediate has returned.
  void Operand(uint32_t operand);

  // ---- Outputs of the operation, in order, and its end ------------------------------------------
  void Output(int tensor);
  // Adds an output that is no tensor of the host, with the type and scale of `like`.
  uint32_t Intermediate(const TfLiteTensor& like, const Shape& shape);
  void Finish(OperationCode code);

  // Ends the model, whose inputs and outputs are tensors of the host. `relax` permits fp16 if the
  // library supports that. Constants and inputs that no operation reads are omitted; `out_inputs`
  // receives the others.
  void FinishModel(const std::vector<int>& inputs, const std::vector<int>& outputs, bool relax,
                   std::vector<int>* out_inputs);

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
  std::vector<uint32_t> inputs_, outputs_;  // operands of the current operation
  uint32_t next_operand_ = 0;
  std::map<int, uint32_t> operands_;  // operands, by tensor of the host
  // Operand values that NNAPI does not copy. The model borrows them, so that it must not outlive
  // the definition.
  std::deque<std::vector<int32_t>> values_;
};

// Returns true for a tensor of int8 or uint8, which NNAPI describes by a scale and a zero point.
bool IsQuantized(const TfLiteTensor& tensor);
bool IsConstant(const TfLiteTensor& tensor);
// Returns a description such as "tensor 'x'".
std::string NameOf(const TfLiteTensor& tensor);

}  // namespace deputy::nnapi

#endif  // DEPUTY_BRIDGES_NNAPI_DEFINITION_H_
