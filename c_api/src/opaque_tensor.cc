// SPDX-License-Identifier: Apache-2.0
//
// Functions on opaque tensors: accessors, lists of strings, and the builder of new tensors.
//
// An opaque tensor is a TfLiteTensor; only the static type differs.
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/src/tensor_builder.h"

namespace {

const TfLiteTensor* Plain(const TfLiteOpaqueTensor* tensor) {
  return reinterpret_cast<const TfLiteTensor*>(tensor);
}

TfLiteTensor* Plain(TfLiteOpaqueTensor* tensor) { return reinterpret_cast<TfLiteTensor*>(tensor); }

// Checked access to the list of strings in a tensor: int32 count, count + 1 int32 offsets, bytes.
// The contents may come from a client and are not trusted.
class StringList {
 public:
  explicit StringList(const TfLiteTensor* tensor) {
    if (tensor == nullptr || tensor->data.raw == nullptr || tensor->bytes < sizeof(int32_t)) return;
    bytes_ = tensor->data.raw_const;
    size_ = tensor->bytes;
    const int32_t count = Word(0);
    if (count > 0 && static_cast<size_t>(count) <= size_ / sizeof(int32_t) - 1) count_ = count;
  }

  int count() const { return count_; }

  bool Get(int index, const char** out_string, int* out_length) const {
    if (index < 0 || index >= count_ ||
        (static_cast<size_t>(index) + 3) * sizeof(int32_t) > size_) {
      return false;
    }
    const int64_t begin = Word(index + 1), end = Word(index + 2);
    if (begin < 0 || end < begin || end > static_cast<int64_t>(size_)) return false;
    *out_string = bytes_ + begin;
    *out_length = static_cast<int>(end - begin);
    return true;
  }

 private:
  int32_t Word(int index) const {
    int32_t word;
    memcpy(&word, bytes_ + static_cast<size_t>(index) * sizeof word, sizeof word);
    return word;
  }

  const char* bytes_ = nullptr;
  size_t size_ = 0;
  int32_t count_ = 0;
};

// Returns the packed form of a list of strings in a malloc block. Null if its size exceeds
// INT32_MAX bytes, if a length is negative, if a string with a positive length is null, or if out
// of memory.
char* PackStrings(const char* const* strings, int count, const int* lengths, size_t* out_size) {
  const size_t header = (static_cast<size_t>(count) + 2) * sizeof(int32_t);
  size_t size = header;
  for (int i = 0; i < count; ++i) {
    if (lengths[i] < 0 || (lengths[i] > 0 && strings[i] == nullptr)) return nullptr;
    size += static_cast<size_t>(lengths[i]);
    if (size > INT32_MAX) return nullptr;
  }
  if (size > INT32_MAX) return nullptr;
  auto* buffer = static_cast<char*>(malloc(size));
  if (buffer == nullptr) return nullptr;
  auto put = [&](size_t word, size_t value) {
    const auto stored = static_cast<int32_t>(value);
    memcpy(buffer + word * sizeof stored, &stored, sizeof stored);
  };
  put(0, static_cast<size_t>(count));
  size_t position = header;
  for (int i = 0; i < count; ++i) {
    put(static_cast<size_t>(i) + 1, position);
    const auto length = static_cast<size_t>(lengths[i]);
    if (length > 0) memcpy(buffer + position, strings[i], length);
    position += length;
  }
  put(static_cast<size_t>(count) + 1, position);
  *out_size = size;
  return buffer;
}

}  // namespace

extern "C" {

// ---- Accessors ----

TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorType(Plain(opaque_tensor));
}

int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorNumDims(Plain(opaque_tensor));
}

int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* opaque_tensor, int32_t dim_index) {
  return TfLiteTensorDim(Plain(opaque_tensor), dim_index);
}

TfLiteStatus TfLiteOpaqueTensorGetNumDimsSignature(const TfLiteOpaqueTensor* opaque_tensor,
                                                   int32_t* num_dims) {
  if (opaque_tensor == nullptr || num_dims == nullptr) return kTfLiteError;
  const TfLiteIntArray* signature = Plain(opaque_tensor)->dims_signature;
  *num_dims = signature == nullptr ? -1 : signature->size;
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueTensorGetDimSignature(const TfLiteOpaqueTensor* opaque_tensor,
                                               int32_t dim_index, int32_t* dim_length) {
  const TfLiteIntArray* signature = TfLiteTensorGetDimsSignature(Plain(opaque_tensor));
  if (signature == nullptr || dim_length == nullptr || dim_index < 0 ||
      dim_index >= signature->size) {
    return kTfLiteError;
  }
  *dim_length = signature->data[dim_index];
  return kTfLiteOk;
}

int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor* opaque_tensor) {
  return opaque_tensor != nullptr && Plain(opaque_tensor)->is_variable ? 1 : 0;
}

size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorByteSize(Plain(opaque_tensor));
}

void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorData(Plain(opaque_tensor));
}

TfLiteAllocationType TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor* opaque_tensor) {
  return opaque_tensor == nullptr ? kTfLiteMemNone : Plain(opaque_tensor)->allocation_type;
}

const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorName(Plain(opaque_tensor));
}

TfLiteQuantization TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor* opaque_tensor) {
  if (opaque_tensor == nullptr) return TfLiteQuantization{kTfLiteNoQuantization, nullptr};
  return Plain(opaque_tensor)->quantization;
}

TfLiteQuantizationParams TfLiteOpaqueTensorGetQuantizationParams(
    const TfLiteOpaqueTensor* opaque_tensor) {
  return TfLiteTensorQuantizationParams(Plain(opaque_tensor));
}

TfLiteStatus TfLiteOpaqueTensorCopyFromBuffer(TfLiteOpaqueTensor* opaque_tensor,
                                              const void* input_data, size_t input_data_size) {
  return TfLiteTensorCopyFromBuffer(Plain(opaque_tensor), input_data, input_data_size);
}

TfLiteStatus TfLiteOpaqueTensorCopyToBuffer(const TfLiteOpaqueTensor* opaque_tensor,
                                            void* output_data, size_t output_data_size) {
  return TfLiteTensorCopyToBuffer(Plain(opaque_tensor), output_data, output_data_size);
}

void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor) {
  TfLiteTensor* plain = Plain(tensor);
  if (plain == nullptr || plain->allocation_type == kTfLiteDynamic) return;
  TfLiteTensorDataFree(plain);
  plain->allocation_type = kTfLiteDynamic;
}

void TfLiteOpaqueTensorSetNonCpuAllocation(TfLiteOpaqueTensor* tensor) {
  if (tensor != nullptr) Plain(tensor)->allocation_type = kTfLiteNonCpu;
}

// ---- Strings ----

int TfLiteOpaqueTensorGetStringCount(const TfLiteOpaqueTensor* tensor) {
  return StringList(Plain(tensor)).count();
}

TfLiteStatus TfLiteOpaqueTensorGetString(const TfLiteOpaqueTensor* tensor, int index,
                                         const char** str, int* len) {
  if (str == nullptr || len == nullptr) return kTfLiteError;
  return StringList(Plain(tensor)).Get(index, str, len) ? kTfLiteOk : kTfLiteError;
}

TfLiteStatus TfLiteOpaqueTensorWriteStrings(TfLiteOpaqueTensor* tensor,
                                            const char* const* str_array, int str_array_len,
                                            const int* str_n_len) {
  TfLiteTensor* plain = Plain(tensor);
  if (plain == nullptr || str_array_len < 0) return kTfLiteError;
  if (str_array_len > 0 && (str_array == nullptr || str_n_len == nullptr)) return kTfLiteError;
  size_t size = 0;
  char* buffer = PackStrings(str_array, str_array_len, str_n_len, &size);
  TfLiteIntArray* dims = buffer == nullptr ? nullptr : TfLiteIntArrayCreate(1);
  if (dims == nullptr) {
    free(buffer);
    return kTfLiteError;
  }
  dims->data[0] = str_array_len;
  TfLiteTensorReset(plain->type, plain->name, dims, plain->params, buffer, size, kTfLiteDynamic,
                    plain->allocation, plain->is_variable, plain);
  return kTfLiteOk;
}

TfLiteStatus TfLiteOpaqueTensorWriteString(TfLiteOpaqueTensor* tensor, const char* str, int len) {
  return TfLiteOpaqueTensorWriteStrings(tensor, &str, 1, &len);
}

// ---- Builder ----

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderCreate(void) {
  return new (std::nothrow) TfLiteOpaqueTensorBuilder();
}

void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder* builder) { delete builder; }

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetType(TfLiteOpaqueTensorBuilder* builder,
                                                            TfLiteType type) {
  if (builder != nullptr) builder->type = type;
  return builder;
}

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetData(TfLiteOpaqueTensorBuilder* builder,
                                                            void* data) {
  if (builder != nullptr) builder->data = data;
  return builder;
}

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetAllocationType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteAllocationType allocation_type) {
  if (builder != nullptr) builder->allocation_type = allocation_type;
  return builder;
}

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantizationParams(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantizationParams params) {
  if (builder != nullptr) builder->params = params;
  return builder;
}

TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantization(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantization quantization) {
  if (builder != nullptr) builder->quantization = quantization;
  return builder;
}

}  // extern "C"
