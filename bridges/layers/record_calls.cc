// SPDX-License-Identifier: Apache-2.0
#include "bridges/layers/record_calls.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace deputy::layers {
namespace {

using record::CallBegin;
using record::CallEnd;
using record::Contents;
using record::Function;
using record::TensorValue;

// Flags of the delegate that affect which nodes the runtime replaces.
constexpr int64_t kRecordedFlags =
    kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsRequirePropagatedShapes;

std::vector<int32_t> Copy(const TfLiteIntArray* array) {
  if (array == nullptr) return {};
  return {array->data, array->data + array->size};
}

Function FunctionOf(CallKind kind) {
  switch (kind) {
    case CallKind::kDelegatePrepare:
      return Function::kDelegatePrepare;
    case CallKind::kCopyFrom:
      return Function::kCopyFrom;
    case CallKind::kCopyTo:
      return Function::kCopyTo;
    case CallKind::kFreeHandle:
      return Function::kFreeHandle;
    case CallKind::kReplace:
      return Function::kReplace;
    case CallKind::kResizeTensor:
      return Function::kResizeTensor;
    case CallKind::kAddTensors:
      return Function::kAddTensors;
    case CallKind::kInit:
      return Function::kInit;
    case CallKind::kPrepare:
      return Function::kPrepare;
    case CallKind::kInvoke:
      return Function::kInvoke;
    case CallKind::kFree:
      return Function::kFree;
    case CallKind::kTaskStart:
    case CallKind::kTaskWait:
      break;  // not recorded
  }
  return Function::kInvoke;
}

bool HasMemory(const TfLiteTensor& tensor) {
  switch (tensor.type) {
    case kTfLiteNoType:
    case kTfLiteResource:
    case kTfLiteVariant:
      return false;
    default:
      return tensor.data.raw != nullptr || tensor.bytes == 0;
  }
}

// Clears the fields that depend on the allocation of tensors, except for constants.
void LeaveOutMemory(TensorValue* tensor) {
  if (tensor->allocation == kTfLiteMmapRo) return;
  tensor->allocation = kTfLiteMemNone;
  tensor->dims.clear();
  tensor->bytes = 0;
}

std::string Expected(std::string_view what, const std::string& recorded, const std::string& found) {
  return std::string(what) + ": expected " + recorded + " of the record, found " + found;
}

std::string Text(int64_t value) { return std::to_string(value); }
std::string Text(const std::string& text) { return "'" + text + "'"; }
std::string Text(const std::vector<int32_t>& values) {
  std::string text = "[";
  for (const int32_t value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

// Finds the first difference of several values.
class Differences {
 public:
  template <typename Value>
  Differences& Add(std::string_view what, const Value& recorded, const Value& found) {
    if (text_.empty() && recorded != found) text_ = Expected(what, Text(recorded), Text(found));
    return *this;
  }
  Differences& Add(const std::vector<TensorValue>& recorded,
                   const std::vector<TensorValue>& found) {
    Add("number of tensors", static_cast<int64_t>(recorded.size()),
        static_cast<int64_t>(found.size()));
    for (size_t i = 0; i < recorded.size() && text_.empty(); ++i) {
      text_ = Compare(recorded[i], found[i]);
    }
    return *this;
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

int64_t Bits(uint64_t value) { return static_cast<int64_t>(value); }

std::string NameOf(const TensorValue& tensor) {
  return "tensor " + std::to_string(tensor.index) + " '" + tensor.name + "': ";
}

}  // namespace

int32_t Describer::NumberOf(const TfLiteContext* context) {
  const std::lock_guard lock(mutex_);
  return contexts_.emplace(context, static_cast<int32_t>(contexts_.size())).first->second;
}

TensorValue Describer::Describe(const TfLiteContext& context, int index, Read read) const {
  TensorValue value;
  value.index = index;
  if (index < 0 || static_cast<size_t>(index) >= context.tensors_size) return value;
  const TfLiteTensor& tensor = context.tensors[index];
  if (tensor.name != nullptr) value.name = tensor.name;
  value.type = tensor.type;
  // The tensors of an isolated delegate have memory of the client in the process, and that of the
  // arena in the program.
  value.allocation =
      tensor.allocation_type == kTfLiteCustom ? kTfLiteArenaRw : tensor.allocation_type;
  value.dims = Copy(tensor.dims);
  value.scale = tensor.params.scale;
  value.zero_point = tensor.params.zero_point;
  value.bytes = tensor.bytes;
  value.buffer_handle = tensor.buffer_handle;
  value.data_is_stale = tensor.data_is_stale;
  const bool is_constant = tensor.allocation_type == kTfLiteMmapRo;
  const bool is_read =
      read == Read::kCopied ||
      (read == (is_constant ? Read::kConstants : Read::kOthers) && !tensor.data_is_stale);
  if (!is_read || !HasMemory(tensor)) return value;
  const std::string_view data(tensor.data.raw, tensor.bytes);
  value.digest = record::DigestOf(data);
  value.contents = has_data_ && !is_constant ? Contents::kData : Contents::kDigest;
  if (value.contents == Contents::kData) value.data = data;
  return value;
}

void Describer::Describe(const TfLiteContext& context, const TfLiteIntArray* indices, Read read,
                         std::vector<TensorValue>* out) const {
  for (const int32_t index : Copy(indices)) out->push_back(Describe(context, index, read));
}

CallBegin Describer::Begin(const LayerCall& call) {
  CallBegin begin;
  begin.function = FunctionOf(call.kind);
  begin.subgraph = NumberOf(call.context);
  begin.kernel = call.kernel;
  if (call.handle != nullptr) begin.buffer_handle = *call.handle;
  if (call.kind == CallKind::kFree) return begin;
  if (call.registration != nullptr) {
    const char* const name = call.registration->custom_name;
    begin.name = name == nullptr ? "" : name;
    begin.version = call.registration->version;
  }
  begin.nodes = Copy(call.nodes);
  if (call.kind == CallKind::kDelegatePrepare) {
    begin.version = static_cast<int32_t>(call.flags & kRecordedFlags);
    TfLiteIntArray* plan = nullptr;
    if (call.context->GetExecutionPlan(call.context, &plan) == kTfLiteOk) begin.nodes = Copy(plan);
  }
  if (call.kind == CallKind::kInit) {
    begin.nodes = Copy(call.params->nodes_to_replace);
    begin.inputs = Copy(call.params->input_tensors);
    begin.outputs = Copy(call.params->output_tensors);
    Describe(*call.context, call.params->input_tensors, Read::kConstants, &begin.tensors);
    Describe(*call.context, call.params->output_tensors, Read::kNothing, &begin.tensors);
    for (TensorValue& tensor : begin.tensors) LeaveOutMemory(&tensor);
  }
  if (call.node != nullptr) {
    begin.inputs = Copy(call.node->inputs);
    begin.outputs = Copy(call.node->outputs);
    const bool runs = call.kind == CallKind::kInvoke;
    Describe(*call.context, call.node->inputs, runs ? Read::kOthers : Read::kNothing,
             &begin.tensors);
  }
  if (call.kind == CallKind::kAddTensors) begin.inputs = {call.count};
  if (call.tensor != nullptr) {
    begin.tensor = static_cast<int32_t>(call.tensor - call.context->tensors);
    const bool reads = call.kind == CallKind::kCopyTo;
    begin.tensors.push_back(
        Describe(*call.context, begin.tensor, reads ? Read::kOthers : Read::kNothing));
  }
  if (call.kind == CallKind::kResizeTensor) {
    begin.tensors[0].dims = Copy(call.dims);
    begin.tensors[0].bytes = 0;
  }
  return begin;
}

CallEnd Describer::End(const LayerCall& call, TfLiteStatus status) const {
  CallEnd end;
  end.status = status;
  if (call.handle != nullptr) end.buffer_handle = *call.handle;
  if (call.node != nullptr) {
    const bool has_run = call.kind == CallKind::kInvoke && status == kTfLiteOk;
    Describe(*call.context, call.node->outputs, has_run ? Read::kOthers : Read::kNothing,
             &end.tensors);
  }
  if (call.kind == CallKind::kCopyFrom) {
    const auto tensor = static_cast<int>(call.tensor - call.context->tensors);
    const Read read = status == kTfLiteOk ? Read::kCopied : Read::kNothing;
    end.tensors.push_back(Describe(*call.context, tensor, read));
  }
  if (call.kind == CallKind::kAddTensors && status == kTfLiteOk && call.first_tensor != nullptr) {
    end.tensors.emplace_back().index = *call.first_tensor;
  }
  return end;
}

std::string NameOf(const CallBegin& begin) {
  std::string text = "call " + std::to_string(begin.call) + " (";
  text += record::NameOf(begin.function);
  if (begin.kernel >= 0) text += " of kernel " + std::to_string(begin.kernel);
  return text + ")";
}

std::string Compare(const TensorValue& recorded, const TensorValue& found) {
  Differences differences;
  differences.Add("index", int64_t{recorded.index}, int64_t{found.index})
      .Add("name", recorded.name, found.name)
      .Add("type", int64_t{recorded.type}, int64_t{found.type})
      .Add("allocation type", int64_t{recorded.allocation}, int64_t{found.allocation})
      .Add("shape", recorded.dims, found.dims)
      .Add("zero point", int64_t{recorded.zero_point}, int64_t{found.zero_point})
      .Add("bytes", Bits(recorded.bytes), Bits(found.bytes))
      .Add("buffer handle", int64_t{recorded.buffer_handle}, int64_t{found.buffer_handle})
      .Add("data is stale", int64_t{recorded.data_is_stale}, int64_t{found.data_is_stale});
  std::string text = differences.text();
  if (text.empty() && !(recorded.scale == found.scale)) {
    text = Expected("scale", std::to_string(recorded.scale), std::to_string(found.scale));
  }
  const bool has_contents = recorded.contents != Contents::kNone;
  if (text.empty() && has_contents != (found.contents != Contents::kNone)) {
    text =
        has_contents ? "its data cannot be read now" : "its data could not be read for the record";
  }
  if (text.empty() && recorded.digest != found.digest) text = "its data differ from the record";
  return text.empty() ? "" : NameOf(recorded) + text;
}

std::string Compare(const CallBegin& recorded, const CallBegin& found) {
  Differences differences;
  differences
      .Add("function", std::string(record::NameOf(recorded.function)),
           std::string(record::NameOf(found.function)))
      .Add("subgraph", int64_t{recorded.subgraph}, int64_t{found.subgraph})
      .Add("kernel", int64_t{recorded.kernel}, int64_t{found.kernel})
      .Add("tensor", int64_t{recorded.tensor}, int64_t{found.tensor})
      .Add("buffer handle", int64_t{recorded.buffer_handle}, int64_t{found.buffer_handle})
      .Add("nodes", recorded.nodes, found.nodes)
      .Add("inputs", recorded.inputs, found.inputs)
      .Add("outputs", recorded.outputs, found.outputs)
      .Add("name of the kernel", recorded.name, found.name)
      .Add("version of the kernel", int64_t{recorded.version}, int64_t{found.version})
      .Add(recorded.tensors, found.tensors);
  const std::string text = differences.text();
  return text.empty() ? "" : NameOf(recorded) + ": " + text;
}

std::string Compare(const CallEnd& recorded, const CallEnd& found) {
  return Differences()
      .Add("status", int64_t{recorded.status}, int64_t{found.status})
      .Add("buffer handle", int64_t{recorded.buffer_handle}, int64_t{found.buffer_handle})
      .Add(recorded.tensors, found.tensors)
      .text();
}

}  // namespace deputy::layers
