// SPDX-License-Identifier: Apache-2.0
//
// What maps one node: its tensors by their numbers in the new model, its constants as numbers, and
// short ways to add tensors and operators. The functions that use it stand in map_*.cc, with a
// table per family.
#ifndef DEPUTY_MINDSPORE_MS_MAPPING_H_
#define DEPUTY_MINDSPORE_MS_MAPPING_H_

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "mindspore/ms/read.h"
#include "mindspore/ms/write.h"
#include "ms_generated.h"

namespace deputy::ms {

using Fused = schema::ActivationFunctionType;
using LongList = flatbuffers::Vector<int64_t>;

inline constexpr int64_t kGreatestInt = std::numeric_limits<int32_t>::max();

// A constant on its way into the new model: bytes of the file, or a changed copy of them.
struct Constant {
  TensorForm form;
  std::span<const uint8_t> bytes;
  std::vector<uint8_t> storage;  // what `bytes` shows, if it was computed

  bool has_scales() const { return form.quantization != nullptr && form.quantization->present(); }
};

class Mapping {
 public:
  Mapping(const Model& model, Writer* writer, std::string* error);

  void Start(const Node& node) { node_ = &node; }
  const Node& node() const { return *node_; }
  const Model& model() const { return model_; }
  Writer& writer() { return *writer_; }

  // All return false. The text is the end of a sentence about the node, or about one of its
  // tensors. The first failure stays, and makes failed() true for good.
  bool Fail(const std::string& text);
  bool FailInput(size_t i, const std::string& text);
  // True once anything has failed or the writer is full, whatever the functions below returned
  // since: the model is refused then.
  bool failed() const { return !error_->empty() || writer_->full(); }

  // ---- The node's tensors ---------------------------------------------------------------------
  size_t inputs() const { return node_->inputs.size(); }
  size_t outputs() const { return node_->outputs.size(); }
  const Tensor& in(size_t i) const { return model_.tensors[node_->inputs[i]]; }
  const Tensor& out(size_t i = 0) const { return model_.tensors[node_->outputs[i]]; }
  // -1: unknown.
  static int Rank(const Tensor& tensor);
  // True when values are in steps of a scale.
  static bool IsQuantized(const Tensor& tensor);

  // Numbers in the new model; Writer::kNoTensor after a failure. Constants are added when they are
  // first used: weights in few bits become float32 where the node's output is float32.
  int In(size_t i);
  int RawIn(size_t i);  // as it is in the file
  int Out(size_t i = 0);
  std::vector<int> AllIn();
  std::vector<int> AllOut();
  int OfTensor(uint32_t tensor, int channel_axis = 0);
  // The output is the input itself.
  bool Forward(size_t input = 0);

  // ---- What constants and attributes say --------------------------------------------------------
  // The attributes, of the type that ms.fbs names for the primitive. False if there are none.
  template <typename Attributes>
  bool Read(const Attributes** out) {
    *out = static_cast<const Attributes*>(node_->primitive->value());
    return *out != nullptr || Fail("has no attributes");
  }
  // An input that must be a constant of int32 or int64 with at most `most` values.
  bool Ints(size_t i, size_t most, std::vector<int64_t>* out);
  bool Floats(size_t i, std::vector<float>* out);
  // A list of attributes with between `least` and `most` values; null has none.
  bool List(const LongList* list, const char* name, size_t least, size_t most,
            std::vector<int64_t>* out);
  bool Within(int64_t value, const char* name, int64_t least, int64_t greatest);
  // `axis` of 0 to rank - 1; a negative one counts from the end, and needs a known rank.
  bool NormalAxis(int64_t axis, int rank, int* out);
  bool KnownRank(size_t i, int* out);
  bool NeedsStatic(size_t i);
  // For operators that take no scale per channel; those of indices mean nothing.
  bool NeedsOneScale(size_t i);
  // For primitives that become several operators.
  bool NeedsFloat32();
  // An input as constant, in float32 if weights in few bits meet a float32 output; their scales lie
  // along `axis`.
  bool Weight(size_t i, int axis, Constant* out);
  // Reorders the dimensions: dimension d of the result is perm[d] of the constant.
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
  // An element-wise operator, to `output` or to a new tensor like the node's output.
  void Apply(Builtin code, const std::vector<int>& inputs, int output, Fused fused = Fused::NONE);
  int Apply(Builtin code, const std::vector<int>& inputs);
  void Transpose(int input, const std::vector<int32_t>& perm, int output);
  void Reshape(int input, const std::vector<int32_t>& shape, int output);

  // `emit(fused, output)` adds the operator; an activation that TensorFlow Lite fuses with none
  // follows as operators of its own.
  template <typename Emit>
  bool WithActivation(file::Activation activation, Emit&& emit) {
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
  static bool IsNone(file::Activation activation) {
    return activation == file::Activation::NONE || activation == file::Activation::LINEAR;
  }
  static bool FusedActivation(file::Activation activation, Fused* out);
  // An activation without parameters on float32.
  bool Activate(file::Activation activation, int input, int output);

 private:
  bool ToFloats(const Tensor& tensor, int axis, std::vector<float>* out);
  int WeightAxis(size_t i) const;
  // A constant has one scale, or one per step of `axis`.
  bool CheckScales(size_t i, int axis);
  bool IsDecoded(const Tensor& tensor) const;

  const Model& model_;
  Writer* const writer_;
  std::string* const error_;
  const Node* node_ = nullptr;
  std::vector<int> places_;                 // per tensor of the file; -1: not added yet
  std::vector<bool> is_input_, is_output_;  // of the model
};

// How a primitive is mapped: false, with a report, if it cannot be.
struct Row {
  file::Value primitive;
  uint8_t least_inputs, most_inputs;  // 255: any number
  uint8_t outputs;                    // 0: any number
  bool (*map)(Mapping& mapping, Builtin code);
  Builtin code = Builtin::ADD;  // for functions that map several primitives
};

std::span<const Row> ElementRows();
std::span<const Row> ActivationRows();
std::span<const Row> ConvRows();
std::span<const Row> MatmulRows();
std::span<const Row> NormalizeRows();
std::span<const Row> ReduceRows();
std::span<const Row> ShapeRows();
std::span<const Row> SliceRows();

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_MAPPING_H_
