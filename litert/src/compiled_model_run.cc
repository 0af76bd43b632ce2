// SPDX-License-Identifier: Apache-2.0
//
// Runs of compiled models. The tensors of a signature use the memory of the client's buffers where
// that is possible, so that nothing is copied.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "litert/src/compiled_model.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::ShapeText;

namespace {

// Returns the size of a tensor of strings from its table: the number of strings and the offsets of
// their begins and of the last end. Returns 0 if the table is damaged.
size_t StringBytes(const char* data, size_t bytes) {
  int32_t count = 0, end = 0;
  if (bytes < 2 * sizeof(int32_t)) return 0;
  std::memcpy(&count, data, sizeof(count));
  if (count < 0 || static_cast<size_t>(count) > bytes / sizeof(int32_t) - 2) return 0;
  std::memcpy(&end, data + sizeof(int32_t) * (static_cast<size_t>(count) + 1), sizeof(end));
  return end < 0 || static_cast<size_t>(end) > bytes ? 0 : static_cast<size_t>(end);
}

// Returns true if a layout has no strides, or those of a dense tensor in elements.
bool IsDense(const LiteRtLayout& layout) {
  if (!layout.has_strides) return true;
  uint64_t stride = 1;
  for (unsigned axis = layout.rank; axis-- > 0;) {
    if (layout.strides[axis] != stride) return false;
    stride *= static_cast<uint64_t>(std::max(layout.dimensions[axis], 1));
  }
  return true;
}

// Records a section of a run as an event of the profiler, if there is one.
class TimedSection {
 public:
  TimedSection(LiteRtProfiler profiler, const char* tag)
      : profiler_(profiler != nullptr && profiler->is_running ? profiler : nullptr), tag_(tag) {
    if (profiler_ != nullptr) begin_us_ = NowUs();
  }
  ~TimedSection() { End(); }
  TimedSection(const TimedSection&) = delete;
  TimedSection& operator=(const TimedSection&) = delete;

  void End() {
    if (profiler_ == nullptr) return;
    profiler_->Add(tag_, DEFAULT, begin_us_, NowUs() - begin_us_, 0, 0, LITERT);
    profiler_ = nullptr;
  }

 private:
  static uint64_t NowUs() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }

  LiteRtProfiler profiler_;
  const char* const tag_;
  uint64_t begin_us_ = 0;
};

}  // namespace

// Unlocks the buffers at the end of a run.
class LiteRtCompiledModelT::UnlockAtEnd {
 public:
  explicit UnlockAtEnd(std::vector<Locked>* locked) : locked_(locked) { locked_->clear(); }
  ~UnlockAtEnd() { (void)End(); }
  UnlockAtEnd(const UnlockAtEnd&) = delete;
  UnlockAtEnd& operator=(const UnlockAtEnd&) = delete;

  // Unlocks the buffers now. Returns the first failure.
  LiteRtStatus End() {
    LiteRtStatus status = kLiteRtStatusOk;
    for (const Locked& each : *locked_) {
      const LiteRtStatus unlocked = each.buffer->Unlock();
      if (status == kLiteRtStatusOk) status = unlocked;
    }
    locked_->clear();
    if (status == kLiteRtStatusOk) return status;
    return Fail(status, "compiled model: a buffer could not be unlocked");
  }

 private:
  std::vector<Locked>* const locked_;
};

// Locks a buffer unless the run has locked it already: an input may be an output, too.
LiteRtStatus LiteRtCompiledModelT::Lock(LiteRtTensorBufferT* buffer,
                                        LiteRtTensorBufferLockMode mode, char** out_address) {
  const auto found = std::find_if(locked_.begin(), locked_.end(),
                                  [&](const Locked& each) { return each.buffer == buffer; });
  if (found != locked_.end()) {
    *out_address = found->address;
    return kLiteRtStatusOk;
  }
  locked_.reserve(locked_.size() + 1);
  void* address = nullptr;
  LITERT_TRY(buffer->Lock(mode, &address));
  *out_address = static_cast<char*>(address) + buffer->offset;
  locked_.push_back({buffer, *out_address});
  return kLiteRtStatusOk;
}

// Resizes an input with open dimensions to the shape of its buffer.
LiteRtStatus LiteRtCompiledModelT::ResizeToBuffer(const Signature& signature, size_t index,
                                                  const LiteRtTensorBufferT& buffer) {
  const int32_t tensor_index = signature.inputs[index];
  const TfLiteTensor& tensor = *TensorOf(signature, tensor_index);
  const LiteRtLayout& layout = buffer.tensor_type.layout;
  const int rank = tensor.dims->size;
  const std::span<const int32_t> wanted(layout.dimensions, layout.rank);
  if (rank == 0 || wanted.empty() ||
      std::equal(wanted.begin(), wanted.end(), tensor.dims->data, tensor.dims->data + rank)) {
    return kLiteRtStatusOk;
  }
  const TfLiteIntArray* const open = tensor.dims_signature;
  const bool fits =
      open != nullptr && static_cast<size_t>(open->size) == wanted.size() &&
      std::equal(wanted.begin(), wanted.end(), open->data, [](int32_t extent, int allowed) {
        return allowed == -1 ? extent > 0 : extent == allowed;
      });
  if (!fits) {
    const std::span<const int> allowed_shape =
        open != nullptr && open->size > 0
            ? std::span<const int>(open->data, static_cast<size_t>(open->size))
            : std::span<const int>(tensor.dims->data, static_cast<size_t>(rank));
    return Fail(
        kLiteRtStatusErrorRuntimeFailure,
        "compiled model: input '%s': expected a buffer of a shape that matches %s, found %s",
        tensor.name, ShapeText(allowed_shape).c_str(), ShapeText(wanted).c_str());
  }
  ForgetMemory(signature.subgraph);
  if (DeputyInterpreterResizeInput(interpreter_, signature.subgraph, tensor_index, wanted.data(),
                                   static_cast<int32_t>(wanted.size()), false) != kTfLiteOk) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: input '%s': %s", tensor.name,
                DeputyInterpreterLastError(interpreter_));
  }
  return kLiteRtStatusOk;
}

// Sets the memory of a tensor to that of a buffer, unless it is set already.
LiteRtStatus LiteRtCompiledModelT::SetMemory(const Signature& signature, int32_t tensor,
                                             char* address, size_t bytes) {
  SubgraphState& state = StateOf(signature);
  TfLiteCustomAllocation& now = state.memory[tensor];
  if (now.data == address && now.bytes == bytes) return kLiteRtStatusOk;
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(address) % LITERT_HOST_MEMORY_BUFFER_ALIGNMENT == 0;
  const TfLiteCustomAllocation wanted = {address, bytes};
  if (DeputyInterpreterSetCustomAllocation(
          interpreter_, signature.subgraph, tensor, &wanted,
          is_aligned ? kTfLiteCustomAllocationFlagsNone
                     : kTfLiteCustomAllocationFlagsSkipAlignCheck) != kTfLiteOk) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: tensor '%s': %s",
                TensorOf(signature, tensor)->name, DeputyInterpreterLastError(interpreter_));
  }
  now = wanted;
  state.needs_allocation = true;
  return kLiteRtStatusOk;
}

// Lets an input without a buffer use the memory that the client has bound to it.
LiteRtStatus LiteRtCompiledModelT::UseBinding(const Signature& signature, int32_t tensor) {
  for (const Binding& binding : bindings_) {
    if (binding.subgraph != signature.subgraph || binding.tensor != tensor) continue;
    return SetMemory(signature, tensor, static_cast<char*>(binding.memory.data),
                     binding.memory.bytes);
  }
  return Fail(kLiteRtStatusErrorInvalidArgument,
              "compiled model: input '%s': expected a buffer or a binding",
              TensorOf(signature, tensor)->name);
}

void LiteRtCompiledModelT::ForgetMemory(int32_t subgraph) {
  (void)DeputyInterpreterClearCustomAllocations(interpreter_, subgraph);
  states_[static_cast<size_t>(subgraph)] = {};
}

const LiteRtTensorBufferRequirementsT* LiteRtCompiledModelT::DelegateRequirements(
    const Signature& signature, int32_t tensor) const {
  if (!buffers_.has_requirements()) return nullptr;
  const deputy::litert::TensorId id = {signature.subgraph, tensor};
  const bool is_plain =
      std::count(signature.inputs.begin(), signature.inputs.end(), tensor) +
          std::count(signature.outputs.begin(), signature.outputs.end(), tensor) ==
      1;
  return !is_plain || host_tensors_.count(id) > 0 ? nullptr : buffers_.Requirements(id);
}

bool LiteRtCompiledModelT::PassBuffer(const Signature& signature, int32_t tensor,
                                      LiteRtTensorBufferT* buffer) {
  const LiteRtTensorBufferRequirementsT* const wanted = DelegateRequirements(signature, tensor);
  if (wanted == nullptr || !deputy::litert::Accepts(*wanted, *buffer)) return false;
  passed_.emplace_back(tensor, buffer);
  buffer->Retain();
  buffers_.SetBuffer({signature.subgraph, tensor}, deputy::litert::TensorBufferPtr(buffer));
  return true;
}

LiteRtStatus LiteRtCompiledModelT::BindInput(const Signature& signature, size_t index,
                                             LiteRtTensorBufferT* buffer) {
  if (PassBuffer(signature, signature.inputs[index], buffer)) return kLiteRtStatusOk;
  char* address = nullptr;
  LITERT_TRY(Lock(buffer, kLiteRtTensorBufferLockModeRead, &address));
  const size_t bytes = buffer->bytes - buffer->offset;
  TfLiteTensor* const tensor = TensorOf(signature, signature.inputs[index]);
  if (tensor->type != kTfLiteString) {
    return SetMemory(signature, signature.inputs[index], address, bytes);
  }
  const size_t used = StringBytes(address, bytes);
  if (used == 0 || TfLiteTensorRealloc(used, tensor) != kTfLiteOk) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: input '%s': the buffer contains no valid strings", tensor->name);
  }
  std::memcpy(tensor->data.raw, address, used);
  return kLiteRtStatusOk;
}

bool LiteRtCompiledModelT::IsCopied(const Signature& signature, const TfLiteTensor& tensor,
                                    int32_t index) const {
  return tensor.allocation_type == kTfLiteDynamic || tensor.allocation_type == kTfLiteMmapRo ||
         tensor.allocation_type == kTfLitePersistentRo || tensor.type == kTfLiteString ||
         tensor.is_variable ||
         std::count(signature.inputs.begin(), signature.inputs.end(), index) > 0 ||
         std::count(signature.outputs.begin(), signature.outputs.end(), index) > 1;
}

LiteRtStatus LiteRtCompiledModelT::BindOutput(const Signature& signature, size_t index,
                                              LiteRtTensorBufferT* buffer) {
  if (PassBuffer(signature, signature.outputs[index], buffer)) return kLiteRtStatusOk;
  char* address = nullptr;
  LITERT_TRY(Lock(buffer, kLiteRtTensorBufferLockModeWrite, &address));
  const int32_t tensor_index = signature.outputs[index];
  if (IsCopied(signature, *TensorOf(signature, tensor_index), tensor_index)) {
    return kLiteRtStatusOk;
  }
  return SetMemory(signature, tensor_index, address, buffer->bytes - buffer->offset);
}

// Copies outputs that are not in their buffers' memory.
LiteRtStatus LiteRtCompiledModelT::CopyOutputs(const Signature& signature, Buffers outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const int32_t index = signature.outputs[i];
    const std::pair<int32_t, const LiteRtTensorBufferT*> output = {index, outputs[i]};
    if (std::count(passed_.begin(), passed_.end(), output) > 0) continue;
    const TfLiteTensor& tensor = *TensorOf(signature, index);
    char* address = nullptr;
    if (UsesDevice(signature, signature.inputs.size() + i, outputs[i])) continue;
    LITERT_TRY(Lock(outputs[i], kLiteRtTensorBufferLockModeWrite, &address));
    if (tensor.data.raw == address || tensor.bytes == 0 || tensor.data.raw == nullptr) continue;
    const size_t bytes = outputs[i]->bytes - outputs[i]->offset;
    if (tensor.bytes > bytes) {
      return Fail(kLiteRtStatusErrorRuntimeFailure,
                  "compiled model: output '%s': expected a buffer of %zu bytes, found %zu",
                  tensor.name, tensor.bytes, bytes);
    }
    std::memmove(address, tensor.data.raw, tensor.bytes);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::Invoke(const Signature& signature) {
  const TfLiteStatus status = DeputyInterpreterInvokeSubgraph(interpreter_, signature.subgraph);
  if (status == kTfLiteOk) return kLiteRtStatusOk;
  if (status == kTfLiteCancelled) return kLiteRtStatusCancelled;
  has_failed_ = !was_cancelled_;
  return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: the run failed: %s",
              DeputyInterpreterLastError(interpreter_));
}

LiteRtStatus LiteRtCompiledModelT::Run(size_t signature, Buffers inputs, Buffers outputs,
                                       const RunSettings& settings) {
  if (settings.is_async != nullptr) *settings.is_async = false;
  Signature* found = nullptr;
  LITERT_TRY(FindSignature(signature, &found));
  if (inputs.size() != found->inputs.size() || outputs.size() != found->outputs.size()) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: expected %zu inputs and %zu outputs, found %zu and %zu",
                found->inputs.size(), found->outputs.size(), inputs.size(), outputs.size());
  }
  for (LiteRtTensorBuffer output : outputs) {
    if (output == nullptr || output->event != nullptr) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: expected output buffers without events");
    }
  }
  for (const Buffers buffers : {inputs, outputs}) {
    for (LiteRtTensorBuffer buffer : buffers) {
      if (buffer != nullptr && !IsDense(buffer->tensor_type.layout)) {
        return Fail(kLiteRtStatusErrorInvalidArgument,
                    "compiled model: expected buffers without strides");
      }
    }
  }
  if (is_running_) {
    return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: it is running");
  }
  is_running_ = true;
  has_failed_ = was_cancelled_ = false;
  const bool is_verified = can_fall_back_ && verification_.IsDue(runs_++);
  buffers_.is_async = settings.is_async != nullptr && !is_verified;
  buffers_.run_options = settings.options;
  buffers_.scheduling = settings.scheduling;
  LiteRtStatus status = Guard([&] { return RunLocked(*found, inputs, outputs); });
  if (status != kLiteRtStatusOk) EndTasks(outputs);
  if (status == kLiteRtStatusOk && is_verified) has_failed_ = IsWrong(signature, inputs, outputs);
  const LiteRtModelT* original = nullptr;
  if (has_failed_ && std::exchange(can_fall_back_, false) &&
      Guard([&] { return FindOriginal(&original); }) == kLiteRtStatusOk) {
    deputy::litert::Log(kLiteRtLogSeverityWarning,
                        "compiled model: the CPU runs the model from now on, because operators of "
                        "compiler plug-ins failed");
    status = Guard([&] { return FallBack(*original); });
    if (status != kLiteRtStatusOk) {
      signatures_.clear();
      buffers_.EndRun();
      is_running_ = false;
      return status;
    }
    found = &signatures_[signature];
    status = Guard([&] { return RunLocked(*found, inputs, outputs); });
  }
  buffers_.EndRun();
  is_running_ = false;
  if (settings.is_async != nullptr && status == kLiteRtStatusOk) {
    *settings.is_async = std::any_of(outputs.begin(), outputs.end(), [](LiteRtTensorBuffer output) {
      return output->event != nullptr;
    });
  }
  // After a failure the memory may not fit the tensors. Operators that run a subgraph must not use
  // memory of buffers, which the client may free.
  if (status != kLiteRtStatusOk || calls_subgraphs_) ForgetMemory(found->subgraph);
  return status;
}

// Waits for tasks that write outputs of a run that has failed.
void LiteRtCompiledModelT::EndTasks(Buffers outputs) {
  for (LiteRtTensorBuffer output : outputs) {
    if (output->event == nullptr) continue;
    (void)output->event->Wait(-1);
    output->event.reset();
  }
}

LiteRtStatus LiteRtCompiledModelT::RunLocked(const Signature& signature, Buffers inputs,
                                             Buffers outputs) {
  UnlockAtEnd unlock(&locked_);
  passed_.clear();
  TimedSection registration(profiler_.get(), "LiteRT::Run[buffer registration]");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) LITERT_TRY(ResizeToBuffer(signature, i, *inputs[i]));
  }
  LeaveHostMemory(signature, inputs, outputs);
  // Requirements depend on the shapes.
  if (buffers_.has_requirements() && StateOf(signature).needs_allocation) {
    LITERT_TRY(Allocate(signature));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (UsesDevice(signature, i, inputs[i])) continue;
    LITERT_TRY(inputs[i] == nullptr ? UseBinding(signature, signature.inputs[i])
                                    : BindInput(signature, i, inputs[i]));
  }
  if (StateOf(signature).needs_allocation) LITERT_TRY(Allocate(signature));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (UsesDevice(signature, inputs.size() + i, outputs[i])) continue;
    LITERT_TRY(BindOutput(signature, i, outputs[i]));
  }
  if (StateOf(signature).needs_allocation) LITERT_TRY(Allocate(signature));
  LITERT_TRY(BindDeviceBuffers(signature, inputs, outputs));
  registration.End();
  LITERT_TRY(Invoke(signature));
  const TimedSection sync(profiler_.get(), "LiteRT::Run[Buffer sync]");
  LITERT_TRY(CopyOutputs(signature, outputs));
  return unlock.End();
}
