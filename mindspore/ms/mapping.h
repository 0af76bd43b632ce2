// SPDX-License-Identifier: Apache-2.0
//
// Maps one node: gives access to its tensors, by their indices in the new model, and to the values
// of its constants, and adds tensors and operators. The mapping functions are in map_*.cc, with one
// table per operator family.
#ifndef DEPUTY_MINDSPORE_MS_MAPPING_H_
#define DEPUTY_MINDSPORE_MS_MAPPING_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mindspore/ms/read.h"
#include "mindspore/ms/write.h"
#include "mindspore/schema/model_generated.h"

namespace deputy::ms {

using Fused = schema::ActivationFunctionType;
using LongList = flatbuffers::Vector<int64_t>;

inline constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();

// A constant for the new model: bytes of the file, or a modified copy of them.
struct Constant {
  TensorForm form;
  std::span<const uint8_t> bytes;
  std::vector<uint8_t> storage;  // holds `bytes` if they were computed

  bool has_scales() const { return form.quantization != nullptr && form.quantization->present(); }
};

class Mapping {
 public:
  Mapping(const Model& model, Writer* writer, std::string* error);

  void Start(const Node& node) { node_ = &node; }
  const Node& node() const { return *node_; }
  const Model& model() const { return model_; }
  Writer& writer() { return *writer_; }

  // Report a failure and return false. The text is the end of a sentence about the node, or about
  // one of its tensors. The first failure is kept, and failed() is true until TakeFailure.
  bool Fail(const std::string& text);
  bool FailInput(size_t i, const std::string& text);
  // Forgets a failure of the node and returns its text.
  std::string TakeFailure() { return std::exchange(*error_, {}); }
  // Returns true if anything has failed or the writer is full, even if later calls returned true.
  // The model is rejected in this case.
  bool failed() const { return !error_->empty() || writer_->full(); }

  // ---- The node's tensors ---------------------------------------------------------------------
  size_t inputs() const { return node_->inputs.size(); }
  size_t outputs() const { return node_->outputs.size(); }
  const Tensor& in(size_t i) const { return model_.tensors[node_->inputs[i]]; }
  const Tensor& out(size_t i = 0) const { return model_.tensors[node_->outputs[i]]; }
  // Returns the number of dimensions, or -1 if it is unknown.
  static int Rank(const Tensor& tensor);
  // Returns true if the tensor has integers with a scale.
  static bool IsQuantized(const Tensor& tensor);

  // Return indices of tensors in the new model; Writer::kNoTensor after a failure. A constant is
  // added on first use. In adds a float16 constant, or a quantised constant of 8 or 16 bits, as a
  // new float32 constant on each use if the node's output is float32.
  int In(size_t i);
  int RawIn(size_t i);  // like In, but without conversion
  int Out(size_t i = 0);
  std::vector<int> AllIn();
  std::vector<int> AllOut();
  int IndexOfTensor(uint32_t tensor, int channel_axis = 0);
  // Forgets the tensors of the node's outputs, so that it can be mapped again.
  void ForgetOutputs();
  // Makes the node's output an alias of one of its inputs.
  bool Forward(size_t input = 0);

  // ---- Constants and attributes ----------------------------------------------------------------
  // Returns the attributes, whose type ms.fbs declares for the primitive. Returns false if there
  // are none.
  template <typename Attributes>
  bool Read(const Attributes** out) {
    *out = static_cast<const Attributes*>(node_->primitive->value());
    return *out != nullptr || Fail("has no attributes");
  }
  // Reads an input that must be a constant of int32 or int64 with at most `max_count` values.
  bool Ints(size_t i, size_t max_count, std::vector<int64_t>* out);
  bool Floats(size_t i, std::vector<float>* out);
  // Reads a list attribute that must have `min_count` to `max_count` values. A null list is empty.
  bool List(const LongList* list, const char* name, size_t min_count, size_t max_count,
            std::vector<int64_t>* out);
  bool Within(int64_t value, const char* name, int64_t min, int64_t max);
  // Normalises `axis` to 0 to rank - 1. A negative axis counts from the end and requires a known
  // rank. If the rank is unknown (-1), axes 0 to 7 are accepted.
  bool NormalAxis(int64_t axis, int rank, int* out);
  bool KnownRank(size_t i, int* out);
  bool NeedsStatic(size_t i);
  // Checks that an input has at most one scale, for operators that do not support scales per
  // channel. Scales of int32 tensors are ignored.
  bool NeedsOneScale(size_t i);
  // Checks that the outputs are float32, which primitives that map to several operators require.
  bool NeedsFloat32();
  // Returns an input as a constant, converted to float32 under the same condition as in In(). The
  // scales apply along `axis`.
  bool Weight(size_t i, int axis, Constant* out);
  // Permutes the dimensions: dimension d of the result is perm[d] of the constant.
  bool Permute(const std::vector<int>& perm, Constant* constant);

  // ---- New tensors and operators ----------------------------------------------------------------
  int Temp(const TensorForm& form) { return writer_->AddTensor(form); }
  int TempLike(const Tensor& tensor) { return Temp(FormOf(tensor)); }
  int Add(const Constant& constant) { return writer_->AddConstant(constant.form, constant.bytes); }
  int ConstInts(const std::vector<int32_t>& values);
  int ConstInt(int32_t value);
  int ConstFloat(float value);
  int ConstFloats(const std::vector<int32_t>& dims, const std::vector<float>& values);
  TensorForm FormOf(const Tensor& tensor) const;

  void Op(Builtin code, const std::vector<int>& inputs, const std::vector<int>& outputs) {
    writer_->AddOp(code, inputs, outputs);
  }
  template <typename Options>
  void Op(Builtin code, const std::vector<int>& inputs, const std::vector<int>& outputs,
          flatbuffers::Offset<Options> options) {
    writer_->AddOp(code, inputs, outputs, options);
  }
  flatbuffers::FlatBufferBuilder& fbb() { return writer_->fbb(); }
  // Add an element-wise operator that writes `output`, or a new tensor like the node's output.
  void Apply(Builtin code, const std::vector<int>& inputs, int output, Fused fused = Fused::NONE);
  int Apply(Builtin code, const std::vector<int>& inputs);
  void Transpose(int input, const std::vector<int32_t>& perm, int output);
  void Reshape(int input, const std::vector<int32_t>& shape, int output);

  // Calls `emit(fused, output)`, which adds the operator. An activation that TensorFlow Lite cannot
  // fuse is added as separate operators.
  template <typename Emit>
  bool WithActivation(file::ActivationType activation, Emit&& emit) {
    Fused fused = Fused::NONE;
    if (FusedActivation(activation, &fused)) {
      emit(fused, Out());
      return true;
    }
    if (!NeedsFloat32()) return false;
    const int before = TempLike(out());
    emit(Fused::NONE, before);
    return Activate(activation, before, Out());
  }
  static bool IsNone(file::ActivationType activation) {
    return activation == file::ActivationType_NO_ACTIVATION ||
           activation == file::ActivationType_LINEAR;
  }
  static bool FusedActivation(file::ActivationType activation, Fused* out);
  // Adds an activation without parameters, on float32.
  bool Activate(file::ActivationType activation, int input, int output);

 private:
  bool ToFloats(const Tensor& tensor, int axis, std::vector<float>* out);
  int WeightAxis(size_t i) const;
  // Checks that a constant has one scale, or one for each index of `axis`.
  bool CheckScales(size_t i, int axis);
  bool IsDecoded(const Tensor& tensor) const;

  const Model& model_;
  Writer* const writer_;
  std::string* const error_;
  const Node* node_ = nullptr;
  std::vector<int> tensor_indices_;  // index in the new model by tensor of the file; -1: none yet
  std::vector<bool> is_input_, is_output_;  // per tensor: input, output of the model
};

// Mapping of one primitive. `map` returns false and reports an error if it is not possible.
struct Row {
  file::PrimitiveType primitive;
  uint8_t min_inputs, max_inputs;  // 255: any number
  uint8_t outputs;                 // 0: any number
  bool (*map)(Mapping& mapping, Builtin code);
  Builtin code = Builtin::ADD;  // operator, for functions that map several primitives
};

std::span<const Row> ElementRows();
std::span<const Row> ActivationRows();
std::span<const Row> ConvRows();
std::span<const Row> MatmulRows();
std::span<const Row> NormalizeRows();
std::span<const Row> ReduceRows();
std::span<const Row> ResizeRows();
std::span<const Row> ShapeRows();
std::span<const Row> SliceRows();

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_MAPPING_H_
