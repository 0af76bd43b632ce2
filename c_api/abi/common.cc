// SPDX-License-Identifier: Apache-2.0
//
// Implementation of common.h. Kernels, plug-ins and the core use these functions, so they depend
// only on the public structs.
//
// All memory is allocated with malloc, because the other side may free it with its own copy of
// these functions. Where upstream crashes on NULL, the functions of this file return the failure
// value or do nothing.
#include "c_api/include/common.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "c_api/abi/borrowed_data.h"
#include "c_api/abi/process_memory.h"

namespace {

// Padding of the blocks of resizable tensors after `bytes`, in bytes, because vector code may read
// past the end.
constexpr size_t kTailPadding = 16;

template <typename Array>
Array* CreateArray(int size) {
  if (size < 0) return nullptr;
  const size_t bytes = sizeof(Array) + static_cast<size_t>(size) * sizeof(int);
  auto* array = static_cast<Array*>(malloc(bytes));
  if (array != nullptr) array->size = size;
  return array;
}

template <typename Array>
Array* CopyArray(const Array* source) {
  if (source == nullptr) return nullptr;
  auto* copy = CreateArray<Array>(source->size);
  if (copy != nullptr) {
    memcpy(copy->data, source->data, sizeof(int) * static_cast<size_t>(source->size));
  }
  return copy;
}

static_assert(sizeof(int) == sizeof(float), "int and float have the same size");

template <typename T>
T* CopyBlock(const T* source, size_t bytes) {
  void* copy = malloc(bytes == 0 ? 1 : bytes);
  if (copy != nullptr && bytes > 0) memcpy(copy, source, bytes);
  return static_cast<T*>(copy);
}

bool IsResizable(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteDynamic || tensor.allocation_type == kTfLitePersistentRo;
}

VariantData* VariantOf(const TfLiteTensor& tensor) {
  return static_cast<VariantData*>(tensor.data.data);
}

// Clones a variant's object; returns null on failure. CloneTo is foreign code and may throw.
VariantData* CloneVariant(const VariantData* source, VariantData* reuse) noexcept {
  try {
    return source == nullptr ? nullptr : source->CloneTo(reuse);
  } catch (...) {
    return nullptr;
  }
}

TfLiteQuantization CloneQuantization(const TfLiteQuantization& source) {
  TfLiteQuantization none{kTfLiteNoQuantization, nullptr};
  if (source.params == nullptr) return none;
  TfLiteQuantization copy{source.type, nullptr};
  switch (source.type) {
    case kTfLiteNoQuantization:
      break;
    case kTfLiteAffineQuantization: {
      const auto* from = static_cast<const TfLiteAffineQuantization*>(source.params);
      auto* to = CopyBlock(from, sizeof *from);
      if (to != nullptr) {
        to->scale = TfLiteFloatArrayCopy(from->scale);
        to->zero_point = TfLiteIntArrayCopy(from->zero_point);
      }
      copy.params = to;
      break;
    }
    case kTfLiteBlockwiseQuantization:
      copy.params = CopyBlock(static_cast<const TfLiteBlockwiseQuantization*>(source.params),
                              sizeof(TfLiteBlockwiseQuantization));
      break;
    case kTfLiteMultiAxisQuantization: {
      const auto* from = static_cast<const TfLiteMultiAxisQuantization*>(source.params);
      auto* to = CopyBlock(from, sizeof *from);
      if (to != nullptr) {
        to->quantized_dimensions = TfLiteIntArrayCopy(from->quantized_dimensions);
      }
      copy.params = to;
      break;
    }
  }
  return copy.params == nullptr ? none : copy;
}

TfLiteSparsity* CloneSparsity(const TfLiteSparsity* source) {
  if (source == nullptr) return nullptr;
  auto* copy = CopyBlock(source, sizeof *source);
  if (copy == nullptr) return nullptr;
  copy->traversal_order = TfLiteIntArrayCopy(source->traversal_order);
  copy->block_map = TfLiteIntArrayCopy(source->block_map);
  copy->dim_metadata = nullptr;
  copy->dim_metadata_size = 0;
  if (source->dim_metadata == nullptr) return copy;
  const auto count = static_cast<size_t>(source->dim_metadata_size);
  copy->dim_metadata = CopyBlock(source->dim_metadata, count * sizeof *source->dim_metadata);
  if (copy->dim_metadata == nullptr) return copy;
  copy->dim_metadata_size = source->dim_metadata_size;
  for (size_t i = 0; i < count; ++i) {
    TfLiteDimensionMetadata& dimension = copy->dim_metadata[i];
    // clang-analyzer assumes a size of 0 with a count that is not 0.
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    if (dimension.format != kTfLiteDimSparseCSR) continue;
    dimension.array_segments = TfLiteIntArrayCopy(dimension.array_segments);
    dimension.array_indices = TfLiteIntArrayCopy(dimension.array_indices);
  }
  return copy;
}

// Allocate and Deallocate call the functions of an allocator, or malloc and free if it is null.
// Sizes include the padding.
void* Allocate(TfLiteAllocator* allocator, size_t bytes) {
  if (allocator == nullptr) return malloc(bytes);
  return allocator->allocate(allocator->data, bytes, alignof(max_align_t));
}

void Deallocate(TfLiteAllocator* allocator, void* block, size_t bytes) {
  if (allocator == nullptr) {
    free(block);
  } else {
    allocator->deallocate(allocator->data, block, bytes, alignof(max_align_t));
  }
}

// Returns a block of `new_bytes`, with the old block freed, or null, with the old block unchanged.
void* Reallocate(TfLiteAllocator* allocator, void* block, size_t old_bytes, size_t new_bytes,
                 bool preserve_data) {
  if (preserve_data) {
    if (allocator == nullptr) return realloc(block, new_bytes);
    if (allocator->reallocate != nullptr) {
      return allocator->reallocate(allocator->data, block, old_bytes, new_bytes,
                                   alignof(max_align_t));
    }
  }
  void* new_block = Allocate(allocator, new_bytes);
  if (new_block == nullptr) return nullptr;
  if (preserve_data) memcpy(new_block, block, old_bytes < new_bytes ? old_bytes : new_bytes);
  Deallocate(allocator, block, old_bytes);
  return new_block;
}

// Adds the padding to a size. Returns false if the size is too large, before an allocator is
// called: some abort on excessive sizes.
bool PaddedSize(size_t bytes, size_t* out_padded) {
  static const size_t limit = deputy::ProcessMemoryLimit();
  size_t padded;
  if (__builtin_add_overflow(bytes, kTailPadding, &padded) || padded > limit) return false;
  *out_padded = padded;
  return true;
}

}  // namespace

extern "C" {

// ---- Arrays ----

size_t TfLiteIntArrayGetSizeInBytes(int size) {
  return sizeof(TfLiteIntArray) + (size < 0 ? 0 : static_cast<size_t>(size) * sizeof(int));
}

TfLiteIntArray* TfLiteIntArrayCreate(int size) { return CreateArray<TfLiteIntArray>(size); }

int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  if (a == b) return 1;
  if (a == nullptr || b == nullptr) return 0;
  return TfLiteIntArrayEqualsArray(a, b->size, b->data);
}

int TfLiteIntArrayEqualsArray(const TfLiteIntArray* a, int b_size, const int* b_data) {
  if (a == nullptr) return b_size == 0;
  if (a->size != b_size) return 0;
  for (int i = 0; i < b_size; ++i) {
    if (a->data[i] != b_data[i]) return 0;
  }
  return 1;
}

TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* src) { return CopyArray(src); }

void TfLiteIntArrayFree(TfLiteIntArray* a) { free(a); }

int TfLiteFloatArrayGetSizeInBytes(int size) {
  return static_cast<int>(TfLiteIntArrayGetSizeInBytes(size));
}

TfLiteFloatArray* TfLiteFloatArrayCreate(int size) { return CreateArray<TfLiteFloatArray>(size); }

TfLiteFloatArray* TfLiteFloatArrayCopy(const TfLiteFloatArray* src) { return CopyArray(src); }

void TfLiteFloatArrayFree(TfLiteFloatArray* a) { free(a); }

// ---- Memory of a tensor ----

const char* TfLiteTypeGetName(TfLiteType type) {
  static const char* const names[] = {
      "NOTYPE",     "FLOAT32",  "INT32",     "UINT8",   "INT64",         "STRING",
      "BOOL",       "INT16",    "COMPLEX64", "INT8",    "FLOAT16",       "FLOAT64",
      "COMPLEX128", "UINT64",   "RESOURCE",  "VARIANT", "UINT32",        "UINT16",
      "INT4",       "BFLOAT16", "INT2",      "UINT4",   "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  const auto number = static_cast<unsigned>(type);
  return number < sizeof names / sizeof *names ? names[number] : "Unknown type";
}

void TfLiteTensorDataFreeWithAllocator(TfLiteTensor* t, TfLiteAllocator* allocator) {
  if (t == nullptr) return;
  if (deputy::BorrowsData(*t)) {
    t->allocation = nullptr;
  } else if (IsResizable(*t)) {
    if (t->data.raw != nullptr) Deallocate(allocator, t->data.raw, t->bytes + kTailPadding);
  } else if (t->allocation_type == kTfLiteVariantObject) {
    delete VariantOf(*t);
  }
  t->data.raw = nullptr;
}

void TfLiteTensorDataFree(TfLiteTensor* t) { TfLiteTensorDataFreeWithAllocator(t, nullptr); }

void TfLiteQuantizationFree(TfLiteQuantization* quantization) {
  if (quantization == nullptr) return;
  if (quantization->params != nullptr) {
    if (quantization->type == kTfLiteAffineQuantization) {
      auto* affine = static_cast<TfLiteAffineQuantization*>(quantization->params);
      TfLiteFloatArrayFree(affine->scale);
      TfLiteIntArrayFree(affine->zero_point);
    } else if (quantization->type == kTfLiteMultiAxisQuantization) {
      auto* multi_axis = static_cast<TfLiteMultiAxisQuantization*>(quantization->params);
      TfLiteIntArrayFree(multi_axis->quantized_dimensions);
    }
    free(quantization->params);
  }
  quantization->type = kTfLiteNoQuantization;
  quantization->params = nullptr;
}

void TfLiteSparsityFree(TfLiteSparsity* sparsity) {
  if (sparsity == nullptr) return;
  TfLiteIntArrayFree(sparsity->traversal_order);
  TfLiteIntArrayFree(sparsity->block_map);
  if (sparsity->dim_metadata != nullptr) {
    for (int i = 0; i < sparsity->dim_metadata_size; ++i) {
      const TfLiteDimensionMetadata& dimension = sparsity->dim_metadata[i];
      // Dense dimensions are skipped, because their arrays may be uninitialised.
      if (dimension.format != kTfLiteDimSparseCSR) continue;
      TfLiteIntArrayFree(dimension.array_segments);
      TfLiteIntArrayFree(dimension.array_indices);
    }
    free(sparsity->dim_metadata);
  }
  free(sparsity);
}

void TfLiteTensorFree(TfLiteTensor* t) {
  if (t == nullptr) return;
  TfLiteTensorDataFree(t);
  TfLiteIntArrayFree(t->dims);
  t->dims = nullptr;
  free(const_cast<TfLiteIntArray*>(t->dims_signature));
  t->dims_signature = nullptr;
  TfLiteQuantizationFree(&t->quantization);
  TfLiteSparsityFree(t->sparsity);
  t->sparsity = nullptr;
}

// ---- Whole tensors ----

TfLiteTensor TfLiteTensorClone(TfLiteTensor src) {
  TfLiteTensor clone = src;
  clone.dims = TfLiteIntArrayCopy(src.dims);
  clone.dims_signature = TfLiteIntArrayCopy(src.dims_signature);
  clone.quantization = CloneQuantization(src.quantization);
  clone.sparsity = CloneSparsity(src.sparsity);
  if (IsResizable(src)) {
    clone.data.raw = src.data.raw == nullptr ? nullptr : CopyBlock(src.data.raw, src.bytes);
  } else if (src.allocation_type == kTfLiteVariantObject) {
    clone.data.data = CloneVariant(VariantOf(src), nullptr);
  }
  return clone;
}

void TfLiteTensorReset(TfLiteType type, const char* name, TfLiteIntArray* dims,
                       TfLiteQuantizationParams quantization, char* buffer, size_t size,
                       TfLiteAllocationType allocation_type, const void* allocation,
                       bool is_variable, TfLiteTensor* tensor) {
  if (tensor == nullptr) return;
  // The arguments may be the arrays that the tensor already owns.
  if (tensor->dims == dims) tensor->dims = nullptr;
  if (tensor->data.raw == buffer) tensor->data.raw = nullptr;
  TfLiteTensorFree(tensor);
  tensor->type = type;
  tensor->name = name;
  tensor->dims = dims;
  tensor->params = quantization;
  tensor->data.raw = buffer;
  tensor->bytes = size;
  tensor->allocation_type = allocation_type;
  tensor->allocation = allocation;
  tensor->is_variable = is_variable;
}

TfLiteStatus TfLiteTensorCopy(const TfLiteTensor* src, TfLiteTensor* dst) {
  if (src == nullptr || dst == nullptr) return kTfLiteOk;
  if (src->bytes != dst->bytes) return kTfLiteError;
  if (src == dst) return kTfLiteOk;
  const bool is_variant = src->allocation_type == kTfLiteVariantObject;
  if (!is_variant && src->bytes > 0 && (src->data.raw == nullptr || dst->data.raw == nullptr)) {
    return kTfLiteError;
  }
  if (deputy::OwnData(dst) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* dims = TfLiteIntArrayCopy(src->dims);
  if (dims == nullptr && src->dims != nullptr) return kTfLiteError;
  if (is_variant) {
    if (dst->allocation_type != kTfLiteVariantObject) {
      TfLiteTensorDataFree(dst);
      dst->allocation_type = kTfLiteVariantObject;
    }
    dst->data.data = CloneVariant(VariantOf(*src), VariantOf(*dst));
    if (dst->data.data == nullptr && src->data.data != nullptr) {
      TfLiteIntArrayFree(dims);
      return kTfLiteError;
    }
  } else if (src->bytes > 0) {
    memcpy(dst->data.raw, src->data.raw, src->bytes);
  }
  TfLiteIntArrayFree(dst->dims);
  dst->dims = dims;
  dst->type = src->type;
  dst->buffer_handle = src->buffer_handle;
  dst->data_is_stale = src->data_is_stale;
  dst->delegate = src->delegate;
  return kTfLiteOk;
}

TfLiteStatus TfLiteTensorResizeMaybeCopyWithAllocator(size_t num_bytes, TfLiteTensor* tensor,
                                                      bool preserve_data,
                                                      TfLiteAllocator* allocator) {
  if (tensor == nullptr) return kTfLiteError;
  if (!IsResizable(*tensor)) return kTfLiteOk;
  size_t padded = 0;
  if (!PaddedSize(num_bytes, &padded)) return kTfLiteError;
  char* const old = tensor->data.raw;
  void* block = old;
  const bool borrowed = deputy::BorrowsData(*tensor);
  if (old == nullptr || borrowed) {
    block = Allocate(allocator, padded);
    if (block != nullptr && borrowed && preserve_data) {
      memcpy(block, old, num_bytes < tensor->bytes ? num_bytes : tensor->bytes);
    }
  } else if (num_bytes > tensor->bytes || (allocator != nullptr && num_bytes < tensor->bytes)) {
    block = Reallocate(allocator, old, tensor->bytes + kTailPadding, padded, preserve_data);
  }
  if (block == nullptr) return kTfLiteError;
  if (borrowed) tensor->allocation = nullptr;
  tensor->data.raw = static_cast<char*>(block);
  tensor->bytes = num_bytes;
  return kTfLiteOk;
}

TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes, TfLiteTensor* tensor,
                                         bool preserve_data) {
  return TfLiteTensorResizeMaybeCopyWithAllocator(num_bytes, tensor, preserve_data, nullptr);
}

TfLiteStatus TfLiteTensorReallocWithAllocator(size_t num_bytes, TfLiteTensor* tensor,
                                              TfLiteAllocator* allocator) {
  return TfLiteTensorResizeMaybeCopyWithAllocator(num_bytes, tensor, true, allocator);
}

TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor* tensor) {
  return TfLiteTensorResizeMaybeCopyWithAllocator(num_bytes, tensor, true, nullptr);
}

const TfLiteIntArray* TfLiteTensorGetDimsSignature(const TfLiteTensor* t) {
  if (t == nullptr) return nullptr;
  const bool has_signature = t->dims_signature != nullptr && t->dims_signature->size > 0;
  return has_signature ? t->dims_signature : t->dims;
}

TfLiteDelegate TfLiteDelegateCreate(void) { return TfLiteDelegate{}; }

// Returns the value that the ABI defines for a failed init; it is not a valid address.
// NOLINTNEXTLINE(performance-no-int-to-ptr)
void* TfLiteKernelInitFailed(void) { return reinterpret_cast<void*>(intptr_t{-1}); }

}  // extern "C"
