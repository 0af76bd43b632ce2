// SPDX-License-Identifier: Apache-2.0
//
// Device memory of an executor: buffers of values, packed filters, and images.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "compiler/memory_plan.h"
#include "gpu_cl/emit/filter_image.h"
#include "gpu_cl/run/exec.h"
#include "gpu_cl/run/whole_buffers.h"

namespace deputy::gpu_cl {

using compiler::Value;
using compiler::ValueId;

namespace {

size_t TexelBytes(TfLiteType type) { return kTexelWidth * compiler::ElementBytes(type); }

cl_image_format FormatOf(TfLiteType type) {
  const cl_channel_type channel = type == kTfLiteFloat16 ? CL_HALF_FLOAT : CL_FLOAT;
  return {CL_RGBA, channel};
}

cl_image_desc DescriptionOf(Storage storage, const ImageExtent& extent, cl_mem buffer) {
  cl_image_desc image{};
  image.image_width = extent.width;
  image.buffer = buffer;
  if (storage == Storage::kImageBuffer) {
    image.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    return image;
  }
  image.image_height = extent.height;
  if (storage == Storage::kImage2d) {
    image.image_type = CL_MEM_OBJECT_IMAGE2D;
  } else if (storage == Storage::kImage2dArray) {
    image.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY;
    image.image_array_size = extent.depth;
  } else {
    image.image_type = CL_MEM_OBJECT_IMAGE3D;
    image.image_depth = extent.depth;
  }
  return image;
}

}  // namespace

// Allocates what the steps need and is not yet allocated: values keep their buffers when the plan
// changes.
ClStatus Executor::Allocate() {
  filters_.clear();
  texels_.clear();
  block_images_.clear();
  device_bytes_ -= std::exchange(filter_bytes_, 0);
  std::vector<bool> is_read(buffers_.size(), false);
  size_t zeros = 0;
  for (const Step& step : plan_.steps) {
    for (const Argument& argument : step.arguments) {
      uses_status_ = uses_status_ || std::holds_alternative<StatusBuffer>(argument);
      if (const auto* zero = std::get_if<ZeroBuffer>(&argument)) {
        zeros = std::max(zeros, static_cast<size_t>(zero->count));
      } else if (const auto* value = std::get_if<ValueBuffer>(&argument)) {
        is_read[static_cast<size_t>(value->value)] = true;
      } else if (const auto* image = std::get_if<ValueImage>(&argument)) {
        is_read[static_cast<size_t>(image->value)] = true;
      }
    }
  }
  for (ValueId id : graph_.outputs) is_read[static_cast<size_t>(id)] = true;
  ClStatus status = AllocateConstants(is_read, zeros);
  if (status.ok() && blocks_.empty()) status = AllocateBlocks();
  if (!status.ok() || !uses_status_ || status_) return status;
  return NewBuffer(CL_MEM_READ_WRITE, sizeof(cl_int), nullptr, "the status", &status_);
}

// Uploads constants that a kernel reads unpacked or that are outputs, packed filters, and zeros.
ClStatus Executor::AllocateConstants(const std::vector<bool>& is_read, size_t zeros) {
  constexpr cl_mem_flags kCopied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  ClStatus status;
  for (size_t i = 0; i < is_read.size() && status.ok(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (is_read[i] && graph_.value(id).constant() && !buffers_[i]) status = AllocateConstant(id);
  }
  for (const Packing& packing : plan_.packings) {
    if (!status.ok()) return status;
    status = AllocateFilter(packing, &filters_.emplace_back());
  }
  if (!status.ok() || zeros == 0) return status;
  filter_bytes_ += zeros * sizeof(float);
  std::vector<float> contents(zeros, 0.0f);
  return NewBuffer(kCopied, zeros * sizeof(float), contents.data(), "zeros", &zeros_);
}

ClStatus Executor::AllocateFilter(const Packing& packing, Filter* out_filter) {
  constexpr cl_mem_flags kCopied = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
  const std::string what = "filter '" + graph_.value(packing.filter).name + "'";
  std::vector<std::byte> contents = Pack(graph_, packing);
  const Storage storage = packing.storage;
  ClStatus status;
  if (storage == Storage::kBuffer || storage == Storage::kImageBuffer) {
    status = NewBuffer(kCopied, contents.size(), contents.data(), what, &out_filter->buffer);
    if (status.ok()) filter_bytes_ += contents.size();
    if (!status.ok() || storage == Storage::kBuffer) return status;
  }
  const ImageExtent extent = ExtentOf(packing, storage);
  if (storage == Storage::kImageBuffer) {
    return NewImage(CL_MEM_READ_ONLY, packing.type,
                    DescriptionOf(storage, extent, out_filter->buffer.get()), nullptr, what,
                    &out_filter->image);
  }
  status = NewImage(kCopied, packing.type, DescriptionOf(storage, extent, nullptr), contents.data(),
                    what, &out_filter->image);
  if (status.ok()) device_bytes_ += contents.size();
  if (status.ok()) filter_bytes_ += contents.size();
  return status;
}

// Creates an image. If the driver refuses it, all kernels of the plan that read images count as
// failed, so that the fallback plan has no images.
ClStatus Executor::NewImage(cl_mem_flags flags, TfLiteType type, const cl_image_desc& description,
                            void* contents, const std::string& what, ClMemory* out_image) {
  const cl_image_format format = FormatOf(type);
  cl_int code = CL_SUCCESS;
  *out_image = ClMemory(&api(), api().CreateImage(context_->context(), flags, &format, &description,
                                                  contents, &code));
  ClStatus status = ClCall("clCreateImage", code);
  if (status.ok()) return status;
  status.text += ": " + what;
  for (const std::string& text : plan_.kernels) {
    if (text.find("read_only image") != std::string::npos) failed_kernels_.insert(text);
  }
  return status;
}

// Returns an image over the memory of a value. PoCL 3.1 does not support images over sub-buffers:
// there the image is over the whole block, although the standard guarantees little for overlapping
// views.
ClStatus Executor::TexelsOf(ValueId id, cl_mem* out_image, cl_int* out_first) {
  const Value& value = graph_.value(id);
  const ValueId owner = OwnerOf(id);
  const size_t texel = TexelBytes(value.type);
  Texels& found = texels_[{owner, value.type}];
  ClStatus status;
  const auto make = [&](cl_mem buffer, size_t bytes, ClMemory* out) {
    const ImageExtent extent = {bytes / texel};
    const auto storage = Storage::kImageBuffer;
    if (!Fits(extent, storage, context_->device().profile.image_limits)) {
      status = {CL_INVALID_IMAGE_SIZE, "an image is larger than the device's largest"};
    } else {
      status = NewImage(CL_MEM_READ_ONLY, value.type, DescriptionOf(storage, extent, buffer),
                        nullptr, "'" + value.name + "'", out);
    }
  };
  if (found.image == nullptr && (value.constant() || !rejects_sub_buffer_images_)) {
    make(BufferOf(id), value.bytes(), &found.own);
    found.image = found.own.get();
  }
  if (found.image == nullptr && !value.constant() && !IsDeviceLost(status.code)) {
    rejects_sub_buffer_images_ = true;
    failed_kernels_.clear();
    const compiler::Location& location = locations_[static_cast<size_t>(owner)];
    ClMemory& image = block_images_[{location.block, value.type}];
    const auto block = static_cast<size_t>(location.block);
    status = {};
    if (!image) make(blocks_[block].get(), block_bytes_[block], &image);
    found.image = image.get();
    found.first = static_cast<cl_int>(location.offset / texel);
  }
  *out_image = found.image;
  *out_first = found.first;
  return status;
}

ClStatus Executor::NewBuffer(cl_mem_flags flags, size_t bytes, void* contents,
                             const std::string& what, ClMemory* out_buffer) {
  cl_int code = CL_SUCCESS;
  *out_buffer =
      ClMemory(&api(), api().CreateBuffer(context_->context(), flags, bytes, contents, &code));
  ClStatus status = ClCall("clCreateBuffer", code);
  if (status.ok()) {
    device_bytes_ += bytes;
  } else {
    status.text += ": " + std::to_string(bytes) + " bytes for " + what + ", in addition to " +
                   std::to_string(device_bytes_) + " bytes in use";
  }
  return status;
}

ClStatus Executor::AllocateConstant(ValueId id) {
  const Value& value = graph_.value(id);
  // A buffer cannot be empty. The contents are only read.
  const bool empty = value.bytes() == 0;
  return NewBuffer(empty ? CL_MEM_READ_ONLY : CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                   empty ? 1 : value.bytes(), empty ? nullptr : const_cast<std::byte*>(value.data),
                   "constant '" + value.name + "'", &buffers_[static_cast<size_t>(id)]);
}

// Values with disjoint lifetimes share memory: as sub-buffers of few large blocks, or as whole
// blocks.
ClStatus Executor::AllocateBlocks() {
  std::vector<compiler::Interval> intervals(buffers_.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    const compiler::Lifetime& lifetime = lifetimes_.of_storage[i];
    if (lifetime.empty()) {
      intervals[i] = {0, 0, -1};
    } else {
      const size_t bytes = graph_.value(static_cast<ValueId>(i)).bytes();
      intervals[i] = {std::max<size_t>(bytes, 1), lifetime.first, lifetime.last};
    }
  }
  const DeviceProfile& profile = context_->device().profile;
  compiler::MemoryPlan memory;
  // Kernels with vectors of four floats require this alignment (Buffer::aligned).
  constexpr uint32_t kVectorBytes = 16;
  const auto plan = profile.slow_sub_buffers ? &PlanWholeBuffers : &compiler::PlanMemory;
  if (!plan(intervals, std::max(profile.base_alignment, kVectorBytes), profile.max_allocation,
            &memory)) {
    return {CL_INVALID_BUFFER_SIZE, "a tensor is larger than the device's largest buffer, " +
                                        std::to_string(profile.max_allocation) + " bytes"};
  }
  locations_ = std::move(memory.locations);
  block_bytes_ = std::move(memory.block_bytes);
  for (size_t bytes : block_bytes_) {
    blocks_.emplace_back();
    ClStatus status = NewBuffer(CL_MEM_READ_WRITE, bytes, nullptr, "tensors", &blocks_.back());
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (lifetimes_.of_storage[i].empty()) continue;
    const cl_buffer_region region = {locations_[i].offset, intervals[i].bytes};
    cl_int code = CL_SUCCESS;
    cl_mem block = blocks_[static_cast<size_t>(locations_[i].block)].get();
    if (profile.slow_sub_buffers) {
      ClStatus status = ClCall("clRetainMemObject", api().RetainMemObject(block));
      if (!status.ok()) return status;
      buffers_[i] = ClMemory(&api(), block);
      continue;
    }
    buffers_[i] =
        ClMemory(&api(), api().CreateSubBuffer(block, CL_MEM_READ_WRITE,
                                               CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    ClStatus status = ClCall("clCreateSubBuffer", code);
    if (!status.ok()) return status;
  }
  return {};
}

ValueId Executor::OwnerOf(ValueId id) const {
  const ValueId owner = lifetimes_.storage[static_cast<size_t>(id)];
  return owner == compiler::kNoValue ? id : owner;
}

cl_mem Executor::BufferOf(ValueId id) const {
  return buffers_[static_cast<size_t>(OwnerOf(id))].get();
}

cl_mem Executor::BufferOf(const Argument& argument) const {
  if (const auto* value = std::get_if<ValueBuffer>(&argument)) return BufferOf(value->value);
  if (const auto* packed = std::get_if<PackedBuffer>(&argument)) {
    const Filter& filter = filters_[static_cast<size_t>(packed->packing)];
    return filter.image ? filter.image.get() : filter.buffer.get();
  }
  return std::holds_alternative<ZeroBuffer>(argument) ? zeros_.get() : status_.get();
}

}  // namespace deputy::gpu_cl
