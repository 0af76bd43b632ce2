// SPDX-License-Identifier: Apache-2.0
//
// Builder for the ONNX model of a partition. The functions that define operators (operators.h) run
// on two kinds of definitions: one that only checks whether a node is supported, and one that
// builds. Therefore each claimed node can be built.
//
// A tensor of the host can have two values in the model: one in its own layout, NHWC, and one in
// NCHW, which ONNX's convolutions and poolings require. Each is created when it is first used, so
// that no transposition is between two operators that use NCHW.
#ifndef DEPUTY_BRIDGES_ONNXRUNTIME_DEFINITION_H_
#define DEPUTY_BRIDGES_ONNXRUNTIME_DEFINITION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/onnxruntime/onnx_model.h"
#include "core/support/refusal.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"

namespace deputy::onnxruntime {

enum class Layout { kNhwc, kNchw };

// Constants of float16, by the float32 tensor into which a DEQUANTIZE node converts them. The host
// computes that node once, so that the tensor is a constant, too.
using HalfConstants = std::map<int, int>;

// Finds the constants among the outputs of the nodes up to `last_node`.
HalfConstants FindHalfConstants(TfLiteContext* context, int last_node);

class Definition {
 public:
  // If `checking`, the definition only checks nodes and does not copy the contents of constants.
  Definition(const TfLiteContext* context, const HalfConstants* halves, bool checking)
      : context_(context), halves_(halves), checking_(checking) {}
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;

  const TfLiteContext& context() const { return *context_; }

  // Records a refusal, unless there is one already. Returns false.
  bool Refuse(DeputyReason reason, const std::string& text);
  const Refusal& refusal() const { return refusal_; }
  bool ok() const { return !refusal_; }

  bool IsHalfConstant(int tensor) const { return halves_->count(tensor) != 0; }
  bool IsConstant(int tensor) const;

  // ---- Values of tensors ------------------------------------------------------------------------
  // The functions return the name of a value; after a refusal the name is meaningless. NCHW
  // requires four dimensions, or at most four for a constant.

  // Returns the tensor as it is stored: quantised tensors as integers, boolean ones as UINT8,
  // because ONNX Runtime expects 0 or 1 and TensorFlow Lite accepts any byte.
  std::string Stored(int tensor, Layout layout = Layout::kNhwc);
  // Returns the tensor's numbers: quantised tensors as float32, boolean ones as BOOL.
  std::string Real(int tensor, Layout layout = Layout::kNhwc);
  // Set the tensor's value to the result of an operator.
  void SetStored(int tensor, const std::string& value, Layout layout = Layout::kNhwc);
  void SetReal(int tensor, const std::string& value, Layout layout = Layout::kNhwc);
  // Returns true if the tensor has been computed in NCHW and not been used in NHWC.
  bool IsOnlyNchw(int tensor) const;

  // Returns the numbers of a filter or matrix with its dimensions in the given order. A quantised
  // one must be constant and may have one scale per slice of dimension `channel` (-1: it may not).
  std::string Weights(int tensor, const Dims& order, int channel);
  // Returns the bias of a layer with this input and these weights, which has `count` elements; ""
  // if `tensor` is -1.
  std::string Bias(int tensor, const TfLiteTensor& input, const TfLiteTensor& weights,
                   int64_t count);

  // ---- Other values -----------------------------------------------------------------------------
  std::string Ints(const Dims& values);
  std::string Float(float value);
  std::string Constant(ElementType type, const Dims& dims, std::string_view contents);
  // Add an operation of ONNX and return its outputs.
  std::string Add(std::string_view op, const std::vector<std::string>& inputs,
                  const std::vector<Attribute>& attributes = {});
  std::vector<std::string> AddMany(std::string_view op, const std::vector<std::string>& inputs,
                                   int outputs, const std::vector<Attribute>& attributes = {});

  // Ends the model, whose inputs and outputs are tensors of the host, and returns its bytes.
  // Constants and inputs that no operation reads are omitted; `out_inputs` receives the others, and
  // the name vectors receive the values of inputs and outputs.
  std::string Finish(const std::vector<int>& inputs, const std::vector<int>& outputs,
                     std::vector<int>* out_inputs, std::vector<std::string>* out_input_names,
                     std::vector<std::string>* out_output_names);

 private:
  struct Values {
    std::string nhwc, nchw;
  };

  std::string Contents(int tensor) const;
  std::string Numbers(int tensor, int channel);
  std::string NewName() { return "v" + std::to_string(next_++); }
  std::string FirstValue(int tensor, Layout layout, const Values& values);
  bool Affine(const TfLiteTensor& tensor, std::string* out_scale, std::string* out_zero_point);
  bool ReadScales(const TfLiteTensor& weights, int channel, std::vector<float>* out_scales,
                  std::vector<int>* out_zero_points);

  const TfLiteContext* const context_;
  const HalfConstants* const halves_;
  const bool checking_;
  Refusal refusal_;
  OnnxModel model_;
  int next_ = 0;
  std::map<int, Values> values_;
  std::set<int> inputs_;  // tensors that are inputs of the model
  std::map<std::pair<int, Dims>, std::string> weights_;
};

// Returns the type in which a tensor's elements are stored; kUndefined if it is not supported.
ElementType TypeOf(const TfLiteTensor& tensor);
// Returns true for a tensor of int8 or uint8.
bool IsQuantized(const TfLiteTensor& tensor);
bool IsConstant(const TfLiteTensor& tensor);
Dims DimsOf(const TfLiteTensor& tensor);
int64_t CountOf(const Dims& dims);
size_t ElementBytes(ElementType type);
// Returns a description such as "tensor 'x'".
std::string NameOf(const TfLiteTensor& tensor);

}  // namespace deputy::onnxruntime

#endif  // DEPUTY_BRIDGES_ONNXRUNTIME_DEFINITION_H_
