// SPDX-License-Identifier: Apache-2.0
//
// Table of the device memory that the buffer handles of tensors refer to.
#ifndef DEPUTY_GPU_CL_DEVICE_BUFFER_TABLE_H_
#define DEPUTY_GPU_CL_DEVICE_BUFFER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu_cl/device/cl_api.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// A range of a buffer. Holds a reference to the buffer.
struct DeviceBuffer {
  ClMemory memory;
  size_t offset = 0;
  size_t bytes = 0;
  // True if the client provided the buffer. Otherwise it is the output of a partition and
  // overwritten by every run of the partition.
  bool from_client = false;
};

// A handle consists of a slot of the table and the slot's generation, so that a freed handle is
// detected until its slot has been reused 32768 times. Thread-safe.
class BufferTable {
 public:
  // Returns a handle for the buffer; kTfLiteNullBufferHandle if all 65536 slots are in use.
  TfLiteBufferHandle Add(std::shared_ptr<const DeviceBuffer> buffer);
  // Binds the handle to another buffer, or with null to none, until the next call. Returns false if
  // the handle is not valid.
  bool Replace(TfLiteBufferHandle handle, std::shared_ptr<const DeviceBuffer> buffer);
  // Returns null if the handle is bound to no buffer or is not valid.
  std::shared_ptr<const DeviceBuffer> Find(TfLiteBufferHandle handle) const;
  void Remove(TfLiteBufferHandle handle);
  // Unbinds every handle that refers to the buffer.
  void Forget(const DeviceBuffer* buffer);

 private:
  struct Slot {
    std::shared_ptr<const DeviceBuffer> buffer;
    int generation = 0;
    bool in_use = false;
  };

  // Returns null if the handle is not valid (freed, or never returned by Add). Requires the mutex.
  const Slot* FindSlot(TfLiteBufferHandle handle) const;

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_BUFFER_TABLE_H_
