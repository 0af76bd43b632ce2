// SPDX-License-Identifier: Apache-2.0
#include "bridges/replay/delegate.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bridges/layers/layer.h"
#include "bridges/layers/record_calls.h"
#include "bridges/layers/recording.h"
#include "deputy/delegate_helper.h"

namespace deputy::replay {
namespace {

using layers::CallKind;
using layers::LayerCall;
using record::Call;
using record::Function;
using record::TensorValue;

struct ReplayDelegate {
  ReplayDelegate(record::Record record, bool crashes_in_calls)
      : recording(std::move(record)), crashes(crashes_in_calls) {}

  TfLiteDelegate base{};
  layers::Recording recording;
  layers::Describer describer{false};
  const bool crashes;
  std::mutex mutex;  // held while the delegate is applied
  // Guarded by `mutex`: the replacement in progress, and the number of the next kernel.
  const Call* replacement = nullptr;
  int kernels = 0;
};

ReplayDelegate& Of(const TfLiteDelegate* delegate) {
  return *static_cast<ReplayDelegate*>(delegate->data_);
}

// A kernel: the user data of a node.
struct Kernel {
  ReplayDelegate* delegate = nullptr;
  int number = -1;
  TfLiteRegistration registration{};
};

// NOLINTNEXTLINE(performance-no-int-to-ptr)
void* InitFailed() { return reinterpret_cast<void*>(intptr_t{-1}); }

TfLiteStatus Fail(TfLiteContext* context, const std::string& text) {
  context->ReportError(context, "replay: %s", text.c_str());
  return kTfLiteError;
}

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, const Body& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    return Fail(context, exception.what());
  }
}

// Reports the recorded errors and returns the recorded status.
TfLiteStatus EndAsRecorded(TfLiteContext* context, const record::CallEnd& end) {
  size_t begin = 0;
  while (begin < end.errors.size()) {
    const size_t line = std::min(end.errors.find('\n', begin), end.errors.size());
    context->ReportError(context, "%s", end.errors.substr(begin, line - begin).c_str());
    begin = line + 1;
  }
  const bool is_valid = end.status >= kTfLiteOk && end.status <= kTfLiteOutputShapeNotKnown;
  return is_valid ? static_cast<TfLiteStatus>(end.status) : kTfLiteError;
}

// Compares the call with the recorded one, which is null if the record has no such call. Fails if
// they differ, or if the recorded call has not returned.
TfLiteStatus CheckCall(const LayerCall& call, const Call* recorded, ReplayDelegate* delegate) {
  const record::CallBegin begin = delegate->describer.Begin(call);
  if (recorded == nullptr) {
    return Fail(call.context, std::string(record::NameOf(begin.function)) + " of kernel " +
                                  std::to_string(begin.kernel) +
                                  " is not in the record: " + delegate->recording.EndText());
  }
  const std::string problem = layers::Compare(recorded->begin, begin);
  if (!problem.empty()) return Fail(call.context, problem);
  if (recorded->end) return kTfLiteOk;
  if (delegate->crashes) (void)raise(SIGSEGV);
  return Fail(call.context, layers::NameOf(recorded->begin) +
                                " has not returned in the record: a crash, a hang, or the end of "
                                "the recording");
}

// ---- Kernels ------------------------------------------------------------------------------------

LayerCall CallOf(CallKind kind, TfLiteContext* context, const Kernel& kernel) {
  LayerCall call;
  call.kind = kind;
  call.context = context;
  call.registration = &kernel.registration;
  call.kernel = kernel.number;
  return call;
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  ReplayDelegate& delegate = Of(params.delegate);
  auto kernel = std::make_unique<Kernel>();
  const TfLiteStatus status = CatchExceptions(context, [&] {
    if (delegate.replacement == nullptr) return Fail(context, "init outside of Prepare");
    kernel->delegate = &delegate;
    kernel->number = delegate.kernels++;
    kernel->registration.custom_name = delegate.replacement->begin.name.c_str();
    kernel->registration.version = delegate.replacement->begin.version;
    LayerCall call = CallOf(CallKind::kInit, context, *kernel);
    call.params = &params;
    const Call* const recorded = delegate.recording.Next(Function::kInit, kernel->number);
    TF_LITE_ENSURE_STATUS(CheckCall(call, recorded, &delegate));
    return EndAsRecorded(context, *recorded->end);
  });
  return status == kTfLiteOk ? kernel.release() : InitFailed();
}

void Free(TfLiteContext*, void* data) {
  if (data != InitFailed()) delete static_cast<Kernel*>(data);
}

TfLiteTensor* TensorOf(TfLiteContext* context, int32_t index) {
  const bool is_valid = index >= 0 && static_cast<size_t>(index) < context->tensors_size;
  return is_valid ? &context->tensors[index] : nullptr;
}

bool HasDims(const TfLiteTensor& tensor, const std::vector<int32_t>& dims) {
  return tensor.dims != nullptr && std::equal(dims.begin(), dims.end(), tensor.dims->data,
                                              tensor.dims->data + tensor.dims->size);
}

std::string NameOf(const TensorValue& value) {
  return "tensor " + std::to_string(value.index) + " '" + value.name + "': ";
}

bool IsOutput(const TfLiteNode& node, int32_t index) {
  const TfLiteIntArray* const outputs = node.outputs;
  return outputs != nullptr && std::find(outputs->data, outputs->data + outputs->size, index) !=
                                   outputs->data + outputs->size;
}

// Makes an output dynamic. Fails if its kernel is prepared already, or if the tensor has no memory
// of the runtime's arena: only that may be dropped.
TfLiteStatus MakeDynamic(TfLiteContext* context, const TensorValue& value, bool is_prepared,
                         TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLiteDynamic) return kTfLiteOk;
  if (is_prepared || tensor->allocation_type != kTfLiteArenaRw || tensor->is_variable) {
    return Fail(context, NameOf(value) + "it cannot be made dynamic as in the record");
  }
  tensor->allocation_type = kTfLiteDynamic;
  tensor->data.raw = nullptr;
  return kTfLiteOk;
}

// Sets the recorded shape, and makes the tensor dynamic if the recorded one was.
TfLiteStatus SetShape(TfLiteContext* context, const TensorValue& value, bool is_prepared,
                      TfLiteTensor* tensor) {
  if (value.allocation == kTfLiteDynamic) {
    TF_LITE_ENSURE_STATUS(MakeDynamic(context, value, is_prepared, tensor));
  }
  if (HasDims(*tensor, value.dims)) return kTfLiteOk;
  TfLiteIntArray* const dims = DeputyIntArrayCreate(static_cast<int>(value.dims.size()));
  if (dims == nullptr) return kTfLiteError;
  std::copy(value.dims.begin(), value.dims.end(), dims->data);
  return context->ResizeTensor(context, tensor, dims);
}

// Writes the recorded data to the tensor.
TfLiteStatus WriteData(TfLiteContext* context, const TensorValue& value, TfLiteTensor* tensor) {
  const std::string name = NameOf(value);
  if (value.contents != record::Contents::kData)
    return Fail(context, name + "the record has no data");
  if (tensor->bytes != value.data.size() || (tensor->data.raw == nullptr && tensor->bytes > 0)) {
    return Fail(context, name + "expected " + std::to_string(value.data.size()) +
                             " bytes of the record, found " + std::to_string(tensor->bytes));
  }
  std::copy(value.data.begin(), value.data.end(), tensor->data.raw);
  return kTfLiteOk;
}

// Sets the outputs of a node to the recorded values.
TfLiteStatus WriteOutputs(TfLiteContext* context, const TfLiteNode& node, const Kernel& kernel,
                          const record::CallEnd& end, bool has_data) {
  for (const TensorValue& value : end.tensors) {
    TfLiteTensor* const tensor = TensorOf(context, value.index);
    if (tensor == nullptr || !IsOutput(node, value.index)) {
      return Fail(context, NameOf(value) + "it is no output of the node");
    }
    TF_LITE_ENSURE_STATUS(SetShape(context, value, has_data, tensor));
    if (!has_data) continue;
    if (!value.data_is_stale) {
      TF_LITE_ENSURE_STATUS(WriteData(context, value, tensor));
      continue;
    }
    tensor->delegate = &kernel.delegate->base;
    tensor->buffer_handle = value.buffer_handle;
    tensor->data_is_stale = true;
  }
  return kTfLiteOk;
}

TfLiteStatus RunNode(CallKind kind, TfLiteContext* context, TfLiteNode* node) {
  if (node->user_data == nullptr || node->user_data == InitFailed()) return kTfLiteError;
  const Kernel& kernel = *static_cast<const Kernel*>(node->user_data);
  return CatchExceptions(context, [&] {
    layers::Recording& recording = kernel.delegate->recording;
    const bool runs = kind == CallKind::kInvoke;
    LayerCall call = CallOf(kind, context, kernel);
    call.node = node;
    const Call* const recorded = runs ? recording.Next(Function::kInvoke, kernel.number)
                                      : recording.NextOrLast(Function::kPrepare, kernel.number);
    TF_LITE_ENSURE_STATUS(CheckCall(call, recorded, kernel.delegate));
    if (recorded->end->status == kTfLiteOk) {
      TF_LITE_ENSURE_STATUS(WriteOutputs(context, *node, kernel, *recorded->end, runs));
    }
    return EndAsRecorded(context, *recorded->end);
  });
}

TfLiteStatus PrepareNode(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(CallKind::kPrepare, context, node);
}
TfLiteStatus InvokeNode(TfLiteContext* context, TfLiteNode* node) {
  return RunNode(CallKind::kInvoke, context, node);
}

// ---- The delegate -------------------------------------------------------------------------------

TfLiteStatus ReplaceNodes(TfLiteContext* context, const Call& replacement,
                          ReplayDelegate* delegate) {
  const std::vector<int32_t>& nodes = replacement.begin.nodes;
  const std::unique_ptr<TfLiteIntArray, void (*)(TfLiteIntArray*)> array(
      DeputyIntArrayCreate(static_cast<int>(nodes.size())), &DeputyIntArrayFree);
  if (array == nullptr) return kTfLiteError;
  std::copy(nodes.begin(), nodes.end(), array->data);
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &PrepareNode;
  registration.invoke = &InvokeNode;
  registration.custom_name = replacement.begin.name.c_str();
  registration.version = replacement.begin.version;
  delegate->replacement = &replacement;
  const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, array.get(), &delegate->base);
  delegate->replacement = nullptr;
  return status;
}

TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* base) {
  ReplayDelegate& delegate = Of(base);
  const std::lock_guard lock(delegate.mutex);
  return CatchExceptions(context, [&] {
    LayerCall call;
    call.kind = CallKind::kDelegatePrepare;
    call.context = context;
    call.flags = base->flags;
    const Call* const recorded = delegate.recording.Next(Function::kDelegatePrepare, -1);
    TF_LITE_ENSURE_STATUS(CheckCall(call, recorded, &delegate));
    for (const Call* const replacement : delegate.recording.ReplacementsIn(*recorded)) {
      TF_LITE_ENSURE_STATUS(ReplaceNodes(context, *replacement, &delegate));
    }
    return EndAsRecorded(context, *recorded->end);
  });
}

TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* base, TfLiteBufferHandle handle,
                      TfLiteTensor* tensor) {
  ReplayDelegate& delegate = Of(base);
  return CatchExceptions(context, [&] {
    LayerCall call;
    call.kind = CallKind::kCopyFrom;
    call.context = context;
    call.tensor = tensor;
    call.handle = &handle;
    const Call* const recorded = delegate.recording.Next(Function::kCopyFrom, -1);
    TF_LITE_ENSURE_STATUS(CheckCall(call, recorded, &delegate));
    const TfLiteStatus status = EndAsRecorded(context, *recorded->end);
    if (status != kTfLiteOk) return status;
    for (const TensorValue& value : recorded->end->tensors) {
      TF_LITE_ENSURE_STATUS(WriteData(context, value, tensor));
    }
    return kTfLiteOk;
  });
}

TfLiteStatus CopyTo(TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle, TfLiteTensor*) {
  return kTfLiteOk;
}
void FreeHandle(TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle*) {}

int64_t FlagsOf(const record::Record& record) {
  for (const Call& call : record.calls) {
    if (call.begin.function == Function::kDelegatePrepare) return call.begin.version;
  }
  return kTfLiteDelegateFlagsNone;
}

}  // namespace

TfLiteDelegate* CreateDelegate(record::Record record, bool crashes) {
  auto created = std::make_unique<ReplayDelegate>(std::move(record), crashes);
  created->base.data_ = created.get();
  created->base.Prepare = &PrepareDelegate;
  created->base.CopyFromBufferHandle = &CopyFrom;
  created->base.CopyToBufferHandle = &CopyTo;
  created->base.FreeBufferHandle = &FreeHandle;
  created->base.flags = FlagsOf(created->recording.record());
  return &created.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &Of(delegate);
}

}  // namespace deputy::replay
