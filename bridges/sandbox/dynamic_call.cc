// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/dynamic_call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "bridges/sandbox/graph_view.h"
#include "core/support/type_size.h"

namespace deputy::sandbox {
namespace {

constexpr size_t kMaxRank = 8;  // maximum of the kernels on the CPU, which may read the tensor

std::string NameOf(const TfLiteContext& context, int tensor) {
  const char* const name = context.tensors[tensor].name;
  return "tensor " + std::to_string(tensor) + " '" + (name == nullptr ? "" : name) + "'";
}

bool HasDims(const TfLiteTensor& tensor, const std::vector<int32_t>& dims) {
  return tensor.dims != nullptr && std::equal(dims.begin(), dims.end(), tensor.dims->data,
                                              tensor.dims->data + tensor.dims->size);
}

// Returns the number of bytes of a tensor with these dimensions, which are untrusted; -1 if they
// are invalid or need more than `limit` bytes.
int64_t BytesOf(TfLiteType type, const std::vector<int32_t>& dims, int64_t limit) {
  const auto bits = static_cast<int64_t>(TypeBits(type));
  if (bits == 0 || dims.size() > kMaxRank) return -1;
  if (std::any_of(dims.begin(), dims.end(), [](int32_t dim) { return dim < 0; })) return -1;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  const int64_t max_elements = limit * 8 / bits;
  int64_t elements = 1;
  for (const int32_t dim : dims) {
    if (elements > max_elements / dim) return -1;
    elements *= dim;
  }
  return (elements * bits + 7) / 8;
}

std::string InvalidShape(const TfLiteContext& context, int index, int64_t limit) {
  return NameOf(context, index) + ": the process sent an invalid shape, or one of more than " +
         std::to_string(limit) + " bytes (option dynamic_mb)";
}

// Gives a tensor dimensions of the process. Returns "" or the reason of a failure.
std::string ResizeTo(TfLiteContext* context, int index, const std::vector<int32_t>& dims,
                     int64_t limit) {
  TfLiteTensor* const tensor = &context->tensors[index];
  const bool lacks_memory =
      tensor->allocation_type == kTfLiteDynamic && tensor->data.raw == nullptr;
  if (HasDims(*tensor, dims) && !lacks_memory) return "";
  if (BytesOf(tensor->type, dims, limit) < 0) return InvalidShape(*context, index, limit);
  IntArrayPtr array = MakeIntArray(dims);
  if (context->ResizeTensor(context, tensor, array.release()) == kTfLiteOk) return "";
  return NameOf(*context, index) + " cannot be resized";
}

std::string MakeDynamic(TfLiteContext* context, int index) {
  TfLiteTensor* const tensor = &context->tensors[index];
  if (tensor->allocation_type == kTfLiteDynamic) return "";
  if (tensor->allocation_type != kTfLiteArenaRw) {
    return NameOf(*context, index) + ": expected memory of the runtime for a dynamic size";
  }
  tensor->allocation_type = kTfLiteDynamic;
  tensor->data.raw = nullptr;
  return "";
}

const Claim& ClaimOf(const Session& session, int claim) {
  return session.claims().claims[static_cast<size_t>(claim)];
}

// Returns true if the process is prepared for the inputs that the partition has now.
bool IsPrepared(const TfLiteContext& context, const Session& session, int claim) {
  if (!session.partition(claim).is_prepared) return false;
  const std::vector<int32_t>& inputs = ClaimOf(session, claim).inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](int32_t index) {
    const TfLiteTensor& tensor = context.tensors[index];
    const Slot* const slot = session.CurrentSlotOf(index);
    return slot != nullptr && static_cast<size_t>(slot->bytes) == tensor.bytes &&
           HasDims(tensor, session.tensors()[static_cast<size_t>(index)].dims);
  });
}

// Returns slots for the inputs of the partitions up to this one, whose sizes are known, and for its
// outputs of fixed size. Claims that the host has refused may have invalid tensors.
std::vector<Slot> SlotsFor(const TfLiteContext& context, const Session& session, int claim) {
  std::map<int32_t, int64_t> bytes;
  const auto add = [&](const std::vector<int32_t>& tensors, bool with_dynamic) {
    for (const int32_t index : tensors) {
      if (index < 0 || static_cast<size_t>(index) >= context.tensors_size) continue;
      const TfLiteTensor& tensor = context.tensors[index];
      if (!HasFixedSize(tensor.type) ||
          (!with_dynamic && tensor.allocation_type == kTfLiteDynamic)) {
        continue;
      }
      bytes[index] = static_cast<int64_t>(tensor.bytes);
    }
  };
  for (int i = 0; i <= claim; ++i) add(ClaimOf(session, i).inputs, true);
  add(ClaimOf(session, claim).outputs, false);
  std::vector<Slot> slots;
  slots.reserve(bytes.size());
  for (const auto& [tensor, size] : bytes) slots.push_back({tensor, 0, size});
  return slots;
}

std::string PrepareProcess(const TfLiteContext& context, Session* session, int claim) {
  std::string problem;
  if (!session->IsRunning(&problem) || IsPrepared(context, *session, claim)) return problem;
  Resize shapes = {TensorsOf(context), SlotsFor(context, *session, claim)};
  (void)session->Resize(claim, std::move(shapes), &problem);
  return problem;
}

// Copies the inputs of the partition to their slots.
std::string WriteInputs(const TfLiteContext& context, const Session& session, int claim) {
  for (const int32_t index : ClaimOf(session, claim).inputs) {
    const TfLiteTensor& tensor = context.tensors[index];
    const Slot* const slot = session.CurrentSlotOf(index);
    if (slot == nullptr || static_cast<size_t>(slot->bytes) != tensor.bytes) {
      return NameOf(context, index) + " has no place in the shared memory";
    }
    if (tensor.bytes == 0) continue;
    if (tensor.data.raw == nullptr) return NameOf(context, index) + " has no data";
    std::memcpy(session.memory() + slot->offset, tensor.data.raw, tensor.bytes);
  }
  return "";
}

// Copies a slot to its tensor.
std::string ReadSlot(const TfLiteContext& context, const Session& session, int tensor_index,
                     const Slot* slot) {
  const TfLiteTensor& tensor = context.tensors[tensor_index];
  if (slot == nullptr || static_cast<size_t>(slot->bytes) != tensor.bytes) {
    return NameOf(context, tensor_index) + ": expected a slot of " + std::to_string(tensor.bytes) +
           " bytes";
  }
  if (tensor.bytes == 0) return "";
  if (tensor.data.raw == nullptr) return NameOf(context, tensor_index) + " has no data";
  std::memcpy(tensor.data.raw, session.memory() + slot->offset, tensor.bytes);
  return "";
}

// Returns a slot for an output with dimensions that the process has sent.
Slot SlotFor(const TfLiteContext& context, int index, const std::vector<int32_t>& dims,
             int64_t limit, std::string* problem) {
  const TfLiteTensor& tensor = context.tensors[index];
  if (tensor.allocation_type != kTfLiteDynamic) {
    if (!HasDims(tensor, dims))
      *problem = NameOf(context, index) + ": the process sent another shape";
    return {index, 0, static_cast<int64_t>(tensor.bytes)};
  }
  const int64_t bytes = BytesOf(tensor.type, dims, limit);
  if (bytes < 0) *problem = InvalidShape(context, index, limit);
  return {index, 0, bytes};
}

// Fetches the outputs, and gives them the sizes that the process has sent. Outputs are resized
// after the last step in which the process can fail, since the CPU expects their shapes after a
// failure.
CallResult ReadSizedOutputs(TfLiteContext* context, Session* session, int claim, const Sizes& sizes,
                            std::string* problem) {
  const std::vector<int32_t>& outputs = ClaimOf(*session, claim).outputs;
  std::vector<Slot> slots;
  for (size_t i = 0; i < outputs.size() && problem->empty(); ++i) {
    slots.push_back(SlotFor(*context, outputs[i], sizes.dims[i], session->max_bytes(), problem));
  }
  if (!problem->empty()) return CallResult::kFailed;
  const CallResult result = session->Fetch(claim, &slots, problem);
  if (result != CallResult::kDone) return result;
  for (size_t i = 0; i < outputs.size() && problem->empty(); ++i) {
    *problem = ResizeTo(context, outputs[i], sizes.dims[i], session->max_bytes());
    if (problem->empty()) *problem = ReadSlot(*context, *session, outputs[i], &slots[i]);
  }
  return problem->empty() ? CallResult::kDone : CallResult::kFailed;
}

CallResult ReadOutputs(TfLiteContext* context, Session* session, int claim, const Sizes& sizes,
                       std::string* problem) {
  if (!sizes.dims.empty()) return ReadSizedOutputs(context, session, claim, sizes, problem);
  const std::vector<int32_t>& outputs = ClaimOf(*session, claim).outputs;
  for (size_t i = 0; i < outputs.size() && problem->empty(); ++i) {
    *problem = session->partition(claim).outputs[i].is_dynamic
                   ? NameOf(*context, outputs[i]) + ": the process sent no shape"
                   : ReadSlot(*context, *session, outputs[i], session->CurrentSlotOf(outputs[i]));
  }
  return problem->empty() ? CallResult::kDone : CallResult::kFailed;
}

// Runs the partition and reads its results.
CallResult RunPrepared(TfLiteContext* context, Session* session, int claim,
                       const IsCancelled& is_cancelled, std::string* problem) {
  const auto begin = Clock::now();
  *problem = PrepareProcess(*context, session, claim);
  if (problem->empty()) *problem = WriteInputs(*context, *session, claim);
  if (!problem->empty()) return CallResult::kFailed;
  Sizes sizes;
  CallResult result = session->Run(claim, is_cancelled, &sizes, problem);
  if (result == CallResult::kDone) result = ReadOutputs(context, session, claim, sizes, problem);
  if (result != CallResult::kDone) return result;
  for (const int32_t index : ClaimOf(*session, claim).inputs) {
    if (!context->tensors[index].is_variable) continue;
    *problem = ReadSlot(*context, *session, index, session->CurrentSlotOf(index));
    if (!problem->empty()) return CallResult::kFailed;
  }
  session->AddCallTime(begin);
  return CallResult::kDone;
}

}  // namespace

std::string PrepareOutputs(TfLiteContext* context, Session* session, int claim,
                           OutputDims* before) {
  const auto lock = session->Lock();
  const std::vector<int32_t>& outputs = ClaimOf(*session, claim).outputs;
  before->clear();
  for (const int32_t index : outputs) {
    const TfLiteIntArray* const dims = context->tensors[index].dims;
    before->emplace_back();
    if (dims != nullptr) before->back().assign(dims->data, dims->data + dims->size);
  }
  std::string problem = PrepareProcess(*context, session, claim);
  for (size_t i = 0; i < outputs.size() && problem.empty(); ++i) {
    const Shape& shape = session->partition(claim).outputs[i];
    problem = shape.is_dynamic ? MakeDynamic(context, outputs[i])
                               : ResizeTo(context, outputs[i], shape.dims, session->max_bytes());
  }
  return problem;
}

CallResult RunWithSizes(TfLiteContext* context, Session* session, int claim,
                        const OutputDims& before, const IsCancelled& is_cancelled,
                        std::string* problem) {
  const auto lock = session->Lock();
  const CallResult result = RunPrepared(context, session, claim, is_cancelled, problem);
  if (result == CallResult::kDone) return result;
  const std::vector<int32_t>& outputs = ClaimOf(*session, claim).outputs;
  for (size_t i = 0; i < outputs.size() && i < before.size(); ++i) {
    TfLiteTensor* const output = &context->tensors[outputs[i]];
    if (output->allocation_type != kTfLiteDynamic || HasDims(*output, before[i])) continue;
    (void)context->ResizeTensor(context, output, MakeIntArray(before[i]).release());
  }
  return result;
}

}  // namespace deputy::sandbox
