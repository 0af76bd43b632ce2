// SPDX-License-Identifier: Apache-2.0
//
// What the buffer handles of tensors stand for: places in memory of the device.
#ifndef DEPUTY_GPU_CL_BUFFER_TABLE_H_
#define DEPUTY_GPU_CL_BUFFER_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu_cl/cl_api.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// A range of a buffer, with a reference of its own to the buffer.
struct DeviceBuffer {
  ClMemory memory;
  size_t offset = 0;
  size_t bytes = 0;
  // Whether the client brought it. Else it is the output of a partition, which every run of the
  // partition writes again.
  bool of_client = false;
};

// Handles name a place in the table and its generation, so that a handle that was freed is known
// as such, until 32767 others have had its place. Any thread.
class BufferTable {
 public:
  // A handle for the buffer; kTfLiteNullBufferHandle if all 65536 places are taken.
  TfLiteBufferHandle Add(std::shared_ptr<const DeviceBuffer> buffer);
  // Lets the handle stand for another buffer; null: for none, until the next call. False if it was
  // freed or never given out.
  bool Replace(TfLiteBufferHandle handle, std::shared_ptr<const DeviceBuffer> buffer);
  // Null if the handle stands for none, was freed or never given out.
  std::shared_ptr<const DeviceBuffer> Find(TfLiteBufferHandle handle) const;
  void Remove(TfLiteBufferHandle handle);
  // Lets every handle that stands for the buffer stand for none.
  void Forget(const DeviceBuffer* buffer);

 private:
  struct Place {
    std::shared_ptr<const DeviceBuffer> buffer;
    int generation = 0;
    bool taken = false;
  };

  // Null if the handle was freed or never given out. Under the mutex.
  const Place* PlaceOf(TfLiteBufferHandle handle) const;

  mutable std::mutex mutex_;
  std::vector<Place> places_;
  std::vector<size_t> free_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_BUFFER_TABLE_H_
