// SPDX-License-Identifier: Apache-2.0
//
// Runs with buffers in OpenCL memory. A tensor that a node of the GPU delegate uses is read from,
// or written to, a buffer of the environment's context without a copy. Other tensors use such a
// buffer as any other one: the buffer is mapped.
#include <algorithm>
#include <cstdint>
#include <string>

#include "deputy/deputy.h"
#include "deputy/deputy_graph.h"
#include "litert/src/compiled_model.h"
#include "litert/src/environment.h"
#include "litert/src/log.h"

using deputy::litert::Fail;

// Finds the tensors that all nodes of delegates can use in the environment's context. Tensors that
// occur twice, and outputs that are copied, are left out.
void LiteRtCompiledModelT::FindDeviceTensors(Signature* signature) {
  std::vector<int32_t> tensors = signature->inputs;
  tensors.insert(tensors.end(), signature->outputs.begin(), signature->outputs.end());
  signature->is_on_device.assign(tensors.size(), false);
  if (!signature->is_selected || calls_subgraphs_) return;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TfLiteTensor& tensor = *TensorOf(*signature, tensors[i]);
    if (std::count(tensors.begin(), tensors.end(), tensors[i]) > 1 || tensor.bytes == 0 ||
        IsCopied(*signature, tensor, -1)) {
      continue;
    }
    uint64_t domain = 0;
    const auto add = [](void* data, const DeputyMemoryRequirements* type) {
      if (type->type == kDeputyMemoryOpenCl) *static_cast<uint64_t*>(data) = type->domain;
    };
    if (DeputyInterpreterListMemoryTypes(interpreter_, signature->subgraph, tensors[i], add,
                                         &domain) != kTfLiteOk ||
        domain == 0) {
      continue;
    }
    std::string reason;
    const auto open_cl = environment_->FindOpenCl(&reason);
    if (open_cl == nullptr) return;
    device_context_ = open_cl->objects().context;
    signature->is_on_device[i] = domain == reinterpret_cast<uintptr_t>(device_context_);
  }
}

// Returns the tensors to memory of the interpreter if one that uses the device is in the memory of
// an earlier buffer, which the client may have freed.
void LiteRtCompiledModelT::LeaveHostMemory(const Signature& signature, Buffers inputs,
                                           Buffers outputs) {
  const auto& memory = StateOf(signature).memory;
  if (memory.empty()) return;
  bool leaves = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    leaves = leaves || (UsesDevice(signature, i, inputs[i]) && memory.count(signature.inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    leaves = leaves || (UsesDevice(signature, inputs.size() + i, outputs[i]) &&
                        memory.count(signature.outputs[i]));
  }
  if (leaves) ForgetMemory(signature.subgraph);
}

LiteRtStatus LiteRtCompiledModelT::BindToDevice(const Signature& signature, int32_t tensor,
                                                LiteRtTensorBufferT* buffer) {
  const char* const name = TensorOf(signature, tensor)->name;
  const size_t needed = TensorOf(signature, tensor)->bytes;
  if (buffer->bytes < needed) {
    return Fail(kLiteRtStatusErrorRuntimeFailure,
                "compiled model: tensor '%s': expected a buffer of %zu bytes, found %zu", name,
                needed, buffer->bytes);
  }
  const LiteRtClMem memory = buffer->opencl->memory();
  const auto [bound, is_new] =
      device_buffers_.try_emplace({signature.subgraph, tensor}, memory, buffer->bytes);
  if (!is_new && bound->second == std::pair(memory, buffer->bytes)) return kLiteRtStatusOk;
  DeputyBuffer given = {};
  given.struct_size = sizeof given;
  given.type = kDeputyMemoryOpenCl;
  given.file = -1;
  given.object = memory;
  given.domain = reinterpret_cast<uintptr_t>(device_context_);
  given.size = buffer->bytes;
  if (DeputyInterpreterBindBuffer(interpreter_, signature.subgraph, tensor, &given) != kTfLiteOk) {
    if (is_new) device_buffers_.erase(bound);
    return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: tensor '%s': %s", name,
                DeputyInterpreterLastError(interpreter_));
  }
  bound->second = {memory, buffer->bytes};
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledModelT::BindDeviceBuffers(const Signature& signature, Buffers inputs,
                                                     Buffers outputs) {
  // Tensors that were on the device in an earlier run, and are not in this one.
  std::vector<int32_t> left;
  for (const auto& [key, memory] : device_buffers_) {
    if (key.first == signature.subgraph) left.push_back(key.second);
  }
  for (size_t i = 0; i < inputs.size() + outputs.size(); ++i) {
    const bool is_input = i < inputs.size();
    LiteRtTensorBufferT* const buffer = is_input ? inputs[i] : outputs[i - inputs.size()];
    if (!UsesDevice(signature, i, buffer)) continue;
    const int32_t tensor = is_input ? signature.inputs[i] : signature.outputs[i - inputs.size()];
    const auto locked = std::find_if(locked_.begin(), locked_.end(),
                                     [&](const Locked& each) { return each.buffer == buffer; });
    if (locked == locked_.end()) {
      locked_.reserve(locked_.size() + 1);
      LITERT_TRY(buffer->LockForDevice());
      locked_.push_back({buffer, nullptr});
    } else if (!is_input || locked->address != nullptr) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "compiled model: expected another OpenCL buffer for tensor '%s' than for others",
                  TensorOf(signature, tensor)->name);
    }
    LITERT_TRY(BindToDevice(signature, tensor, buffer));
    std::erase(left, tensor);
  }
  for (const int32_t tensor : left) {
    device_buffers_.erase({signature.subgraph, tensor});
    if (DeputyInterpreterBindBuffer(interpreter_, signature.subgraph, tensor, nullptr) !=
        kTfLiteOk) {
      return Fail(kLiteRtStatusErrorRuntimeFailure, "compiled model: tensor '%s': %s",
                  TensorOf(signature, tensor)->name, DeputyInterpreterLastError(interpreter_));
    }
  }
  return kLiteRtStatusOk;
}
