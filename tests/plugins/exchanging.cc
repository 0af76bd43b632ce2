// SPDX-License-Identifier: Apache-2.0
//
// A delegate that passes tensors in shared buffers. It claims the node `node`, an addition of a
// float32 tensor to itself, and computes it in host memory, or in buffers of the types that `types`
// lists (names of kTypes with `:DOMAIN`, separated by commas). `alignment`, `padding` and `offset`
// are those of its buffers. `fault` is a fault to inject. The delegate appends its calls to the
// file `log`, and where it reads and writes tensors.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "deputy/deputy_plugin_entry.h"
#include "tensorflow/lite/c/common.h"

namespace {

constexpr const char* kTypes[] = {"host", "dma_buf", "opencl", "shared", "opaque"};

constexpr DeputyPluginOption kOptions[] = {
    {"node", kDeputyOptionInt, 0, "0", "Index of the node."},
    {"types", kDeputyOptionString, 0, "", "Types of memory."},
    {"alignment", kDeputyOptionInt, 0, "0", "Alignment in bytes."},
    {"padding", kDeputyOptionInt, 0, "0", "Bytes after a tensor."},
    {"offset", kDeputyOptionInt, 0, "0", "Offset of tensors in its buffers."},
    {"fault", kDeputyOptionString, 1, "", "Fault to inject."},
    {"log", kDeputyOptionString, 0, "", "File to which calls are appended."},
};

// An opaque object: memory of the process.
struct Object {
  std::vector<char> bytes;
};

struct Buffer {
  char* data = nullptr;  // start of the tensor
  void* map = nullptr;   // null: an opaque object
  size_t size = 0, offset = 0, bytes = 0;
  int file = -1;
  DeputyMemoryRequirements type{};
  Object* object = nullptr;
  bool is_own = false;
};

struct Delegate {
  TfLiteDelegate base{};
  int node = 0;
  std::string types, fault, log;
  size_t alignment = 0, padding = 0, offset = 0;
  std::map<int, DeputyMemoryRequirements> shared;  // by output
  std::map<TfLiteBufferHandle, Buffer> buffers;
  std::map<int, TfLiteBufferHandle> own;  // handle of each shared output
  TfLiteBufferHandle next = 100;
};

Delegate& Of(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

void Note(const Delegate& delegate, const std::string& text) {
  if (!delegate.log.empty()) std::ofstream(delegate.log, std::ios::app) << text << "; ";
}

// Logs the call; returns an error or throws if the fault is that of this function.
TfLiteStatus Call(const Delegate& delegate, const std::string& function) {
  Note(delegate, function);
  if (delegate.fault == "!" + function) throw std::runtime_error("as requested");
  return delegate.fault == function ? kTfLiteError : kTfLiteOk;
}

void Close(Buffer* buffer) {
  if (buffer->map != nullptr) munmap(buffer->map, buffer->size);
  if (buffer->file >= 0) close(buffer->file);
  if (buffer->is_own) delete buffer->object;
}

Buffer NewBuffer(const Delegate& delegate, const DeputyMemoryRequirements& type, size_t bytes) {
  Buffer buffer;
  buffer.type = type;
  buffer.offset = delegate.offset;
  buffer.bytes = bytes;
  buffer.size = delegate.offset + bytes + type.padding;
  buffer.is_own = true;
  if (type.type == kDeputyMemoryOpaque) {
    buffer.object = new Object{std::vector<char>(buffer.size)};
    buffer.data = buffer.object->bytes.data() + buffer.offset;
    return buffer;
  }
  buffer.file = memfd_create("exchanging", MFD_CLOEXEC);
  if (ftruncate(buffer.file, static_cast<off_t>(buffer.size)) != 0) throw std::bad_alloc();
  buffer.map = mmap(nullptr, buffer.size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.file, 0);
  buffer.data = static_cast<char*>(buffer.map) + buffer.offset;
  return buffer;
}

// Returns the buffer that contains the tensor; null: the tensor is in host memory.
Buffer* Find(Delegate* delegate, const TfLiteTensor& tensor) {
  if (tensor.delegate != &delegate->base) return nullptr;
  const auto found = delegate->buffers.find(tensor.buffer_handle);
  return found == delegate->buffers.end() ? nullptr : &found->second;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Delegate& delegate = Of(node->delegate);
  if (Call(delegate, "invoke") != kTfLiteOk) return kTfLiteError;
  const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
  const int index = node->outputs->data[0];
  TfLiteTensor& output = context->tensors[index];
  const float* from = input.data.f;
  if (input.data_is_stale) {
    const Buffer* const buffer = Find(&delegate, input);
    if (buffer == nullptr) {
      context->ReportError(context, "exchanging: a stale input without a handle");
      return kTfLiteError;
    }
    from = reinterpret_cast<const float*>(buffer->data);
  }
  Note(delegate, input.data_is_stale ? "read buffer" : "read host");
  Buffer* to = Find(&delegate, output);
  if (to == nullptr || to->is_own) {
    to = nullptr;
    if (const auto shared = delegate.shared.find(index); shared != delegate.shared.end()) {
      auto [own, is_new] = delegate.own.try_emplace(index, delegate.next);
      if (is_new)
        delegate.buffers[delegate.next++] = NewBuffer(delegate, shared->second, output.bytes);
      to = &delegate.buffers[own->second];
      output.delegate = &delegate.base;
      output.buffer_handle = own->second;
    }
  }
  float* const result = to == nullptr ? output.data.f : reinterpret_cast<float*>(to->data);
  for (size_t i = 0; i < output.bytes / sizeof(float); ++i) result[i] = from[i] + from[i];
  output.data_is_stale = to != nullptr;
  if (delegate.fault == "stale" && to != nullptr) output.buffer_handle += 1000;
  Note(delegate, to != nullptr ? "write buffer" : "write host");
  return kTfLiteOk;
}

// Frees the buffers of a node's outputs.
void Free(TfLiteContext*, void* data) {
  auto& delegate = *static_cast<Delegate*>(data);
  for (const auto& [tensor, handle] : delegate.own) {
    Close(&delegate.buffers[handle]);
    delegate.buffers.erase(handle);
  }
  delegate.own.clear();
  delegate.shared.clear();
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteRegistration registration{};
  registration.init = [](TfLiteContext*, const char* buffer, size_t) -> void* {
    return reinterpret_cast<const TfLiteDelegateParams*>(buffer)->delegate->data_;
  };
  registration.free = &Free;
  registration.invoke = &Invoke;
  registration.custom_name = "Exchanging";
  const int claimed[] = {1, Of(delegate).node};  // laid out as a TfLiteIntArray
  return context->ReplaceNodeSubsetsWithDelegateKernels(
      context, registration, reinterpret_cast<const TfLiteIntArray*>(claimed), delegate);
}

// ---- Handles ------------------------------------------------------------------------------------

TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* base, TfLiteBufferHandle,
                      TfLiteTensor* tensor) {
  Delegate& delegate = Of(base);
  if (Call(delegate, "copy_from") != kTfLiteOk) return kTfLiteError;
  const Buffer* const buffer = Find(&delegate, *tensor);
  if (buffer == nullptr || buffer->bytes != tensor->bytes) {
    context->ReportError(context, "exchanging: the handle %d is not valid", tensor->buffer_handle);
    return kTfLiteError;
  }
  memcpy(tensor->data.raw, buffer->data, tensor->bytes);
  return kTfLiteOk;
}

TfLiteStatus CopyTo(TfLiteContext*, TfLiteDelegate* base, TfLiteBufferHandle handle,
                    TfLiteTensor* tensor) {
  Delegate& delegate = Of(base);
  if (Call(delegate, "copy_to") != kTfLiteOk) return kTfLiteError;
  memcpy(delegate.buffers.at(handle).data, tensor->data.raw, tensor->bytes);
  return kTfLiteOk;
}

void FreeHandle(TfLiteContext*, TfLiteDelegate* base, TfLiteBufferHandle* handle) {
  Delegate& delegate = Of(base);
  const auto found = delegate.buffers.find(*handle);
  *handle = kTfLiteNullBufferHandle;
  if (found == delegate.buffers.end() || found->second.is_own) return;
  Note(delegate, "free");
  Close(&found->second);
  delegate.buffers.erase(found);
}

// ---- Functions for shared buffers ---------------------------------------------------------------

TfLiteStatus MemoryTypes(TfLiteDelegate* base, TfLiteContext*, TfLiteNode*, int32_t,
                         DeputyMemoryTypeCallback callback, void* user_data) {
  Delegate& delegate = Of(base);
  std::stringstream list(delegate.types);
  for (std::string entry; std::getline(list, entry, ',');) {
    DeputyMemoryRequirements type{};
    type.struct_size = delegate.fault == "small_struct" ? 16 : sizeof type;
    const size_t colon = entry.find(':');
    for (int i = 0; i < 5; ++i) {
      if (entry.substr(0, colon) == kTypes[i]) type.type = i;
    }
    if (entry == "unknown") type.type = 99;
    if (colon != std::string::npos) type.domain = std::stoul(entry.substr(colon + 1));
    type.alignment = delegate.alignment;
    type.padding = delegate.padding;
    callback(user_data, &type);
  }
  return Call(delegate, "types");
}

TfLiteStatus ShareOutput(TfLiteDelegate* base, TfLiteContext*, TfLiteNode*, int32_t tensor,
                         const DeputyMemoryRequirements* requirements) {
  Delegate& delegate = Of(base);
  if (requirements == nullptr) {
    delegate.shared.erase(tensor);
    return Call(delegate, "unshare");
  }
  if (Call(delegate, "share") != kTfLiteOk) return kTfLiteError;
  delegate.shared[tensor] = *requirements;
  return kTfLiteOk;
}

TfLiteStatus Export(TfLiteDelegate* base, TfLiteContext*, TfLiteBufferHandle handle,
                    const DeputyMemoryRequirements*, DeputyBuffer* out) {
  Delegate& delegate = Of(base);
  if (Call(delegate, "export") != kTfLiteOk) return kTfLiteError;
  const auto found = delegate.buffers.find(handle);
  if (found == delegate.buffers.end()) return kTfLiteError;
  const Buffer& buffer = found->second;
  out->type = buffer.type.type;
  out->domain = buffer.type.domain;
  out->file = buffer.file;
  out->object = buffer.object;
  out->offset = buffer.offset;
  out->bytes = buffer.bytes;
  out->size = buffer.size;
  if (delegate.fault == "wrong_type") out->type = kDeputyMemoryDmaBuf;
  if (delegate.fault == "wrong_domain") ++out->domain;
  if (delegate.fault == "wrong_bytes") out->bytes -= 4;
  if (delegate.fault == "wrong_size") out->size = out->bytes - 1;
  if (delegate.fault == "wrong_offset") out->offset = SIZE_MAX;
  if (delegate.fault == "small_file") out->size += 4096, out->offset += 4096;
  if (delegate.fault == "no_file") out->file = -1;
  if (delegate.fault == "closed_file") out->file = 1000000;
  if (delegate.fault == "no_object") out->object = nullptr;
  return kTfLiteOk;
}

TfLiteStatus Import(TfLiteDelegate* base, TfLiteContext*, const DeputyBuffer* buffer,
                    TfLiteBufferHandle* handle) {
  Delegate& delegate = Of(base);
  if (Call(delegate, "import") != kTfLiteOk) return kTfLiteError;
  if (delegate.fault == "null_handle") return kTfLiteOk;
  Buffer imported;
  imported.offset = buffer->offset;
  imported.bytes = buffer->bytes;
  imported.size = buffer->size;
  if (buffer->type == kDeputyMemoryOpaque) {
    imported.object = static_cast<Object*>(buffer->object);
    imported.data = imported.object->bytes.data() + buffer->offset;
  } else {
    imported.map = mmap(nullptr, buffer->size, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->file, 0);
    if (imported.map == MAP_FAILED) return kTfLiteError;
    imported.data = static_cast<char*>(imported.map) + buffer->offset;
  }
  *handle = delegate.next++;
  delegate.buffers[*handle] = imported;
  return kTfLiteOk;
}

// ---- Options ------------------------------------------------------------------------------------

void Set(const std::string& key, const char* value, Delegate* delegate) {
  if (key == "node") delegate->node = std::atoi(value);
  if (key == "types") delegate->types = value;
  if (key == "alignment") delegate->alignment = std::strtoul(value, nullptr, 10);
  if (key == "padding") delegate->padding = std::strtoul(value, nullptr, 10);
  if (key == "offset") delegate->offset = std::strtoul(value, nullptr, 10);
  if (key == "fault") delegate->fault = value;
  if (key == "log") delegate->log = value;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       void (*)(const char*)) {
  auto* delegate = new Delegate;
  delegate->base.data_ = delegate;
  delegate->base.Prepare = &Apply;
  delegate->base.CopyFromBufferHandle = &CopyFrom;
  delegate->base.CopyToBufferHandle = &CopyTo;
  delegate->base.FreeBufferHandle = &FreeHandle;
  for (size_t i = 0; i < count; ++i) Set(keys[i], values[i], delegate);
  return &delegate->base;
}

TfLiteStatus SetOptions(TfLiteDelegate* base, const char* const* keys, const char* const* values,
                        size_t count, void (*)(const char*)) {
  for (size_t i = 0; i < count; ++i) Set(keys[i], values[i], &Of(base));
  return kTfLiteOk;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = deputy::plugin_entry::Describe("exchanging", "1", "Deputy");
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &Create;
    plugin.destroy = [](TfLiteDelegate* delegate) { delete &Of(delegate); };
    plugin.set_options = &SetOptions;
    plugin.memory_types = &MemoryTypes;
    plugin.share_output = &ShareOutput;
    plugin.export_buffer = &Export;
    plugin.import_buffer = &Import;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace

DEPUTY_PLUGIN_EXPORTS(Describe())
