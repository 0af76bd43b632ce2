// SPDX-License-Identifier: Apache-2.0
//
// Submission of runs whose transfers overlap with the kernels of other runs. A run passes through
// three queues:
// - The queue of uploads writes the inputs to the run's slot after the slot's previous run has been
//   downloaded.
// - The queue of kernels copies them to the buffers of values, runs the steps and copies results to
//   the slot.
// - The queue of downloads reads the results from the slot.
// Commands of one queue are executed in their order, so that runs share the buffers of values.
#include <algorithm>
#include <functional>
#include <utility>

#include "gpu_cl/run/exec.h"
#include "gpu_cl/run/overlap.h"

namespace deputy::gpu_cl {

void Overlap::AddWriters(const void* host, size_t bytes, std::vector<cl_event>* events) const {
  const std::less<const char*> is_before;
  const auto* const begin = static_cast<const char*>(host);
  for (const TransferSlot& slot : slots) {
    for (const auto& [first, count] : slot.written) {
      if (!is_before(begin, first + count) || !is_before(first, begin + bytes)) continue;
      cl_event free = slot.free.get();
      if (std::find(events->begin(), events->end(), free) == events->end()) events->push_back(free);
    }
  }
}

void Overlap::Reset() {
  for (TransferSlot& slot : slots) {
    slot.free.Reset();
    slot.written.clear();
  }
}

// Creates queues and slots. They are optional: after a failure other than a lost device, runs are
// submitted to a single queue.
ClStatus Executor::StartOverlap() {
  if (overlap_ != nullptr || options_.overlapped_runs == 0) return {};
  const size_t before = device_bytes_;
  auto overlap = std::make_unique<Overlap>();
  ClStatus status = NewQueue(&overlap->uploads);
  if (status.ok()) status = NewQueue(&overlap->downloads);
  const auto allocate = [&](const std::vector<compiler::ValueId>& ids,
                            std::vector<ClMemory>* buffers) {
    for (const compiler::ValueId id : ids) {
      const size_t bytes = graph_.value(id).bytes();
      buffers->emplace_back();
      if (!status.ok() || bytes == 0) continue;
      status = NewBuffer(CL_MEM_READ_WRITE, bytes, nullptr, "a transfer", &buffers->back());
    }
  };
  for (size_t i = 0; i < options_.overlapped_runs && status.ok(); ++i) {
    TransferSlot& slot = overlap->slots.emplace_back();
    allocate(graph_.inputs, &slot.inputs);
    allocate(graph_.outputs, &slot.outputs);
  }
  if (status.ok()) {
    overlap_ = std::move(overlap);
    return status;
  }
  device_bytes_ = before;
  options_.overlapped_runs = 0;
  return IsDeviceLost(status.code) ? status : ClStatus{};
}

// The event `uploaded` fails if one of `waits` does. It does not depend on the slot's former run,
// whose failure must not affect this one.
ClStatus Executor::UploadToSlot(std::span<const InputLocation> inputs,
                                std::span<const cl_event> waits, TransferSlot* slot,
                                ClEvent* uploaded) {
  cl_command_queue queue = overlap_->uploads.get();
  std::vector<cl_event> before(waits.begin(), waits.end());
  if (slot->free) before.push_back(slot->free.get());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].device != nullptr) continue;
    overlap_->AddWriters(inputs[i].host, graph_.value(graph_.inputs[i]).bytes(), &before);
  }
  ClStatus status;
  if (!before.empty()) status = Mark(queue, before, nullptr);
  for (size_t i = 0; i < inputs.size() && status.ok(); ++i) {
    const size_t bytes = graph_.value(graph_.inputs[i]).bytes();
    if (bytes == 0 || inputs[i].device != nullptr) continue;
    status = ClCall("clEnqueueWriteBuffer",
                    api().EnqueueWriteBuffer(queue, slot->inputs[i].get(), CL_FALSE, 0, bytes,
                                             inputs[i].host, 0, nullptr, TimeCopy("upload")));
  }
  if (status.ok()) status = Mark(queue, waits, uploaded);
  return status.ok() ? ClCall("clFlush", api().Flush(queue)) : status;
}

ClStatus Executor::ComputeInSlot(std::span<const InputLocation> inputs,
                                 std::span<const OutputLocation> outputs, cl_event uploaded,
                                 TransferSlot* slot, Submission* submission, ClEvent* computed) {
  ClStatus status = Mark(queue_.get(), {&uploaded, 1}, nullptr);
  if (status.ok()) status = ClearStatus(CL_FALSE);
  for (size_t i = 0; i < inputs.size() && status.ok(); ++i) {
    const size_t bytes = graph_.value(graph_.inputs[i]).bytes();
    const DeviceBuffer* const from = inputs[i].device.get();
    if (bytes == 0) continue;
    status = Copy(from != nullptr ? from->memory.get() : slot->inputs[i].get(),
                  from != nullptr ? from->offset : 0, BufferOf(graph_.inputs[i]), 0, bytes);
  }
  if (status.ok()) status = RunSteps();
  for (size_t i = 0; i < outputs.size() && status.ok(); ++i) {
    const size_t bytes = graph_.value(graph_.outputs[i]).bytes();
    const DeviceBuffer* const to = outputs[i].device.get();
    if (bytes == 0 || (to == nullptr && outputs[i].host == nullptr)) continue;
    status = Copy(BufferOf(graph_.outputs[i]), 0,
                  to != nullptr ? to->memory.get() : slot->outputs[i].get(),
                  to != nullptr ? to->offset : 0, bytes);
  }
  if (status.ok()) status = ReadStatus(CL_FALSE, &submission->problem);
  if (status.ok()) status = Mark(queue_.get(), {}, computed);
  return status.ok() ? ClCall("clFlush", api().Flush(queue_.get())) : status;
}

ClStatus Executor::DownloadFromSlot(std::span<const OutputLocation> outputs, cl_event uploaded,
                                    cl_event computed, TransferSlot* slot, ClEvent* done) {
  cl_command_queue queue = overlap_->downloads.get();
  ClStatus status = Mark(queue, {&computed, 1}, nullptr);
  slot->written.clear();
  for (size_t i = 0; i < outputs.size() && status.ok(); ++i) {
    const size_t bytes = graph_.value(graph_.outputs[i]).bytes();
    char* const to = static_cast<char*>(outputs[i].host);
    if (bytes == 0 || outputs[i].device != nullptr || to == nullptr) continue;
    slot->written.emplace_back(to, bytes);
    status = ClCall("clEnqueueReadBuffer",
                    api().EnqueueReadBuffer(queue, slot->outputs[i].get(), CL_FALSE, 0, bytes, to,
                                            0, nullptr, TimeCopy("download")));
  }
  if (status.ok()) status = Mark(queue, {}, &slot->free);
  if (status.ok()) status = Mark(queue, {&uploaded, 1}, done);
  return status.ok() ? ClCall("clFlush", api().Flush(queue)) : status;
}

ClStatus Executor::EnqueueOverlapped(std::span<const InputLocation> inputs,
                                     std::span<const OutputLocation> outputs,
                                     std::span<const cl_event> waits, Submission* submission) {
  TransferSlot& slot = overlap_->slots[overlap_->next];
  overlap_->next = (overlap_->next + 1) % overlap_->slots.size();
  ClEvent uploaded, computed;
  ClStatus status = UploadToSlot(inputs, waits, &slot, &uploaded);
  if (status.ok()) {
    status = ComputeInSlot(inputs, outputs, uploaded.get(), &slot, submission, &computed);
  }
  if (!status.ok()) return status;
  return DownloadFromSlot(outputs, uploaded.get(), computed.get(), &slot, &submission->done);
}

}  // namespace deputy::gpu_cl
