/* SPDX-License-Identifier: Apache-2.0
 *
 * The helpers of common.h, operator objects, opaque accessors and the small exported objects,
 * called from C as a plug-in would call them. Expected values are those of the ABI, as literals.
 *
 * No interpreter is involved: this file creates tensors, nodes and the context itself, which
 * also tests the opaque functions on another runtime's context. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "deputy/c_api.h"
#include "deputy/c_api_experimental.h"
#include "deputy/c_api_opaque.h"
#include "deputy/external_delegate.h"
#include "deputy/interop_attribute_map.h"
#include "deputy/interop_types.h"
#include "deputy/nnapi_delegate_c_api.h"
#include "deputy/telemetry_profiler.h"
#include "deputy/xnnpack_delegate.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static TfLiteIntArray* ints(int count, const int* values) {
  TfLiteIntArray* array = TfLiteIntArrayCreate(count);
  assert_non_null(array);
  if (count > 0) memcpy(array->data, values, sizeof(int) * (size_t)count);
  return array;
}

/* ---- Arrays ---- */

static void arrays_have_size_and_elements_in_one_block(void** state) {
  (void)state;
  assert_int_equal(TfLiteIntArrayGetSizeInBytes(0), 4);
  assert_int_equal(TfLiteIntArrayGetSizeInBytes(3), 16);
  assert_int_equal(TfLiteFloatArrayGetSizeInBytes(5), 24);
  TfLiteIntArray* empty = TfLiteIntArrayCreate(0);
  assert_non_null(empty);
  assert_int_equal(empty->size, 0);
  TfLiteIntArrayFree(empty);
  assert_null(TfLiteIntArrayCreate(-1));
  assert_null(TfLiteFloatArrayCreate(-1));
  TfLiteIntArrayFree(NULL);
  TfLiteFloatArrayFree(NULL);
}

static void arrays_compare_by_elements(void** state) {
  (void)state;
  const int values[] = {2, 3, 5};
  TfLiteIntArray* a = ints(3, values);
  TfLiteIntArray* b = ints(3, values);
  TfLiteIntArray* shorter = ints(2, values);
  assert_int_equal(TfLiteIntArrayEqual(a, a), 1);
  assert_int_equal(TfLiteIntArrayEqual(a, b), 1);
  assert_int_equal(TfLiteIntArrayEqual(a, shorter), 0);
  assert_int_equal(TfLiteIntArrayEqual(NULL, NULL), 1);
  assert_int_equal(TfLiteIntArrayEqual(a, NULL), 0);
  assert_int_equal(TfLiteIntArrayEqual(NULL, a), 0);
  assert_int_equal(TfLiteIntArrayEqualsArray(a, 3, values), 1);
  assert_int_equal(TfLiteIntArrayEqualsArray(a, 2, values), 0);
  assert_int_equal(TfLiteIntArrayEqualsArray(NULL, 0, NULL), 1);
  assert_int_equal(TfLiteIntArrayEqualsArray(NULL, 1, values), 0);
  b->data[2] = 7;
  assert_int_equal(TfLiteIntArrayEqual(a, b), 0);
  TfLiteIntArrayFree(a);
  TfLiteIntArrayFree(b);
  TfLiteIntArrayFree(shorter);
}

static void array_copies_are_independent(void** state) {
  (void)state;
  const int values[] = {1, -2};
  TfLiteIntArray* a = ints(2, values);
  TfLiteIntArray* copy = TfLiteIntArrayCopy(a);
  a->data[0] = 9;
  assert_int_equal(copy->size, 2);
  assert_int_equal(copy->data[0], 1);
  assert_int_equal(copy->data[1], -2);
  assert_null(TfLiteIntArrayCopy(NULL));
  assert_null(TfLiteFloatArrayCopy(NULL));
  TfLiteFloatArray* floats = TfLiteFloatArrayCreate(1);
  floats->data[0] = 0.5f;
  TfLiteFloatArray* floats_copy = TfLiteFloatArrayCopy(floats);
  assert_true(floats_copy->size == 1 && floats_copy->data[0] == 0.5f);
  TfLiteFloatArrayFree(floats);
  TfLiteFloatArrayFree(floats_copy);
  TfLiteIntArrayFree(a);
  TfLiteIntArrayFree(copy);
}

static void type_names_are_those_of_the_table(void** state) {
  (void)state;
  static const char* const names[] = {
      "NOTYPE",     "FLOAT32",  "INT32",     "UINT8",   "INT64",         "STRING",
      "BOOL",       "INT16",    "COMPLEX64", "INT8",    "FLOAT16",       "FLOAT64",
      "COMPLEX128", "UINT64",   "RESOURCE",  "VARIANT", "UINT32",        "UINT16",
      "INT4",       "BFLOAT16", "INT2",      "UINT4",   "FLOAT8_E4M3FN", "FLOAT8_E5M2"};
  assert_int_equal(COUNT(names), 24);
  for (int i = 0; i < COUNT(names); ++i) {
    assert_string_equal(TfLiteTypeGetName((TfLiteType)i), names[i]);
  }
  assert_string_equal(TfLiteTypeGetName((TfLiteType)24), "Unknown type");
  assert_string_equal(TfLiteTypeGetName((TfLiteType)-1), "Unknown type");
}

/* ---- Tensors ---- */

static TfLiteTensor dynamic_tensor(TfLiteType type) {
  TfLiteTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.type = type;
  tensor.allocation_type = kTfLiteDynamic;
  tensor.buffer_handle = kTfLiteNullBufferHandle;
  return tensor;
}

static void resize_keeps_or_drops_contents_and_never_shrinks_memory(void** state) {
  (void)state;
  TfLiteTensor tensor = dynamic_tensor(kTfLiteUInt8);
  assert_int_equal(TfLiteTensorRealloc(0, &tensor), kTfLiteOk);
  assert_non_null(tensor.data.raw);
  assert_int_equal(tensor.bytes, 0);
  assert_int_equal(TfLiteTensorRealloc(4, &tensor), kTfLiteOk);
  memcpy(tensor.data.raw, "abcd", 4);
  assert_int_equal(TfLiteTensorRealloc(4000, &tensor), kTfLiteOk);
  assert_int_equal(tensor.bytes, 4000);
  assert_memory_equal(tensor.data.raw, "abcd", 4);
  memset(tensor.data.raw, 1, 4000 + 16); /* 16 padding bytes belong to the block */
  const char* block = tensor.data.raw;
  assert_int_equal(TfLiteTensorResizeMaybeCopy(10, &tensor, false), kTfLiteOk);
  assert_ptr_equal(tensor.data.raw, block);
  assert_int_equal(tensor.bytes, 10);
  assert_int_equal(TfLiteTensorResizeMaybeCopy(8000, &tensor, false), kTfLiteOk);
  assert_int_equal(tensor.bytes, 8000);
  TfLiteTensorDataFree(&tensor);
  assert_null(tensor.data.raw);
  assert_int_equal(tensor.bytes, 8000);
}

static void resize_refuses_invalid_sizes_and_keeps_the_block(void** state) {
  (void)state;
  TfLiteTensor tensor = dynamic_tensor(kTfLiteUInt8);
  assert_int_equal(TfLiteTensorRealloc(8, NULL), kTfLiteError);
  assert_int_equal(TfLiteTensorRealloc(8, &tensor), kTfLiteOk);
  memcpy(tensor.data.raw, "12345678", 8);
  assert_int_equal(TfLiteTensorRealloc(SIZE_MAX, &tensor), kTfLiteError);
  assert_int_equal(TfLiteTensorRealloc(SIZE_MAX - 15, &tensor), kTfLiteError);
  assert_int_equal(TfLiteTensorRealloc(SIZE_MAX / 2, &tensor), kTfLiteError);
  assert_int_equal(tensor.bytes, 8);
  assert_memory_equal(tensor.data.raw, "12345678", 8);
  TfLiteTensorFree(&tensor);
  char memory[4] = "xyz";
  TfLiteTensor arena = dynamic_tensor(kTfLiteUInt8);
  arena.allocation_type = kTfLiteArenaRw;
  arena.data.raw = memory;
  arena.bytes = 4;
  assert_int_equal(TfLiteTensorRealloc(100, &arena), kTfLiteOk);
  assert_int_equal(arena.bytes, 4);
  assert_ptr_equal(arena.data.raw, memory);
  TfLiteTensorDataFree(&arena); /* frees nothing */
  assert_null(arena.data.raw);
}

struct counter {
  int allocated, reallocated, freed;
  size_t live;
};

static void* count_allocate(void* data, size_t bytes, size_t alignment) {
  struct counter* counter = data;
  ++counter->allocated;
  counter->live += bytes;
  assert_int_equal(alignment, _Alignof(max_align_t));
  return malloc(bytes);
}

static void* count_reallocate(void* data, void* ptr, size_t old_bytes, size_t new_bytes,
                              size_t alignment) {
  struct counter* counter = data;
  ++counter->reallocated;
  counter->live += new_bytes - old_bytes;
  assert_int_equal(alignment, _Alignof(max_align_t));
  return realloc(ptr, new_bytes);
}

static void count_free(void* data, void* ptr, size_t bytes, size_t alignment) {
  struct counter* counter = data;
  ++counter->freed;
  counter->live -= bytes;
  assert_int_equal(alignment, _Alignof(max_align_t));
  free(ptr);
}

static void allocators_receive_balanced_sizes_and_shrink(void** state) {
  (void)state;
  for (int with_reallocate = 0; with_reallocate < 2; ++with_reallocate) {
    struct counter counter = {0, 0, 0, 0};
    TfLiteAllocator allocator = {&counter, count_allocate,
                                 with_reallocate ? count_reallocate : NULL, count_free};
    TfLiteTensor tensor = dynamic_tensor(kTfLiteUInt8);
    assert_int_equal(TfLiteTensorReallocWithAllocator(4, &tensor, &allocator), kTfLiteOk);
    memcpy(tensor.data.raw, "abcd", 4);
    assert_int_equal(counter.allocated, 1);
    assert_int_equal(TfLiteTensorReallocWithAllocator(100, &tensor, &allocator), kTfLiteOk);
    assert_memory_equal(tensor.data.raw, "abcd", 4);
    assert_int_equal(TfLiteTensorReallocWithAllocator(2, &tensor, &allocator), kTfLiteOk);
    assert_memory_equal(tensor.data.raw, "ab", 2);
    assert_int_equal(counter.reallocated, with_reallocate ? 2 : 0);
    assert_int_equal(TfLiteTensorResizeMaybeCopyWithAllocator(64, &tensor, false, &allocator),
                     kTfLiteOk);
    TfLiteTensorDataFreeWithAllocator(&tensor, &allocator);
    assert_int_equal(counter.live, 0);
    assert_null(tensor.data.raw);
  }
}

static TfLiteQuantization affine(float scale, int zero_point) {
  TfLiteAffineQuantization* params = malloc(sizeof *params);
  params->scale = TfLiteFloatArrayCreate(1);
  params->scale->data[0] = scale;
  params->zero_point = ints(1, &zero_point);
  params->quantized_dimension = 3;
  TfLiteQuantization quantization = {kTfLiteAffineQuantization, params};
  return quantization;
}

static void quantisation_is_freed_by_its_kind_and_reset(void** state) {
  (void)state;
  TfLiteQuantizationFree(NULL);
  TfLiteQuantization quantization = affine(0.5f, 7);
  TfLiteQuantizationFree(&quantization);
  assert_int_equal(quantization.type, kTfLiteNoQuantization);
  assert_null(quantization.params);
  quantization.type = kTfLiteBlockwiseQuantization;
  quantization.params = calloc(1, sizeof(TfLiteBlockwiseQuantization));
  TfLiteQuantizationFree(&quantization);
  TfLiteMultiAxisQuantization* axes = calloc(1, sizeof *axes);
  const int dimensions[] = {0, 2};
  axes->quantized_dimensions = ints(2, dimensions);
  quantization.type = kTfLiteMultiAxisQuantization;
  quantization.params = axes;
  TfLiteQuantizationFree(&quantization);
  assert_null(quantization.params);
}

static TfLiteSparsity* sparsity(void) {
  const int order[] = {0, 1}, segments[] = {0, 1, 2}, indices[] = {3, 0};
  TfLiteSparsity* result = calloc(1, sizeof *result);
  result->traversal_order = ints(2, order);
  result->dim_metadata = malloc(2 * sizeof *result->dim_metadata);
  /* malloc leaves the arrays of a dense dimension uninitialised. */
  memset(result->dim_metadata, 0xa5, 2 * sizeof *result->dim_metadata);
  result->dim_metadata_size = 2;
  result->dim_metadata[0].format = kTfLiteDimDense;
  result->dim_metadata[0].dense_size = 2;
  result->dim_metadata[1].format = kTfLiteDimSparseCSR;
  result->dim_metadata[1].array_segments = ints(3, segments);
  result->dim_metadata[1].array_indices = ints(2, indices);
  return result;
}

static void clone_shares_nothing_that_a_tensor_owns(void** state) {
  (void)state;
  const int dims[] = {1, 2}, signature[] = {-1, 2};
  TfLiteTensor tensor = dynamic_tensor(kTfLiteInt16);
  tensor.name = "t";
  tensor.dims = ints(2, dims);
  tensor.dims_signature = ints(2, signature);
  tensor.quantization = affine(0.25f, -4);
  tensor.sparsity = sparsity();
  assert_int_equal(TfLiteTensorRealloc(4, &tensor), kTfLiteOk);
  memcpy(tensor.data.raw, "\1\2\3\4", 4);

  TfLiteTensor clone = TfLiteTensorClone(tensor);
  TfLiteTensorFree(&tensor);
  assert_null(tensor.dims);
  assert_null(tensor.dims_signature);
  assert_null(tensor.sparsity);
  assert_null(tensor.data.raw);
  assert_int_equal(tensor.quantization.type, kTfLiteNoQuantization);

  assert_string_equal(clone.name, "t");
  assert_int_equal(clone.bytes, 4);
  assert_memory_equal(clone.data.raw, "\1\2\3\4", 4);
  assert_int_equal(TfLiteIntArrayEqualsArray(clone.dims, 2, dims), 1);
  assert_int_equal(TfLiteIntArrayEqualsArray(clone.dims_signature, 2, signature), 1);
  const TfLiteAffineQuantization* params = clone.quantization.params;
  assert_true(params->scale->data[0] == 0.25f);
  assert_int_equal(params->zero_point->data[0], -4);
  assert_int_equal(params->quantized_dimension, 3);
  assert_int_equal(clone.sparsity->dim_metadata[0].dense_size, 2);
  assert_int_equal(clone.sparsity->dim_metadata[1].array_indices->data[0], 3);
  assert_null(clone.sparsity->block_map);
  TfLiteTensorFree(&clone);
}

static void clone_shares_constant_and_arena_memory(void** state) {
  (void)state;
  char memory[2] = {1, 2};
  const TfLiteAllocationType types[] = {kTfLiteMmapRo, kTfLiteArenaRw, kTfLiteArenaRwPersistent,
                                        kTfLiteCustom};
  for (int i = 0; i < COUNT(types); ++i) {
    TfLiteTensor tensor = dynamic_tensor(kTfLiteInt8);
    tensor.allocation_type = types[i];
    tensor.data.raw = memory;
    tensor.bytes = 2;
    TfLiteTensor clone = TfLiteTensorClone(tensor);
    assert_ptr_equal(clone.data.raw, memory);
    TfLiteTensorFree(&clone);
    TfLiteTensorFree(&tensor);
  }
}

static void reset_stores_all_arguments_and_keeps_the_delegate(void** state) {
  (void)state;
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  TfLiteTensor tensor = dynamic_tensor(kTfLiteFloat32);
  tensor.dims = ints(0, NULL);
  tensor.quantization = affine(1.0f, 0);
  tensor.delegate = &delegate;
  tensor.buffer_handle = 5;
  tensor.data_is_stale = true;
  const int dims[] = {3};
  TfLiteIntArray* new_dims = ints(1, dims);
  char memory[3];
  const TfLiteQuantizationParams params = {0.5f, 3};
  TfLiteTensorReset(kTfLiteInt8, "name", new_dims, params, memory, 3, kTfLiteArenaRw, &delegate,
                    true, &tensor);
  assert_int_equal(tensor.type, kTfLiteInt8);
  assert_string_equal(tensor.name, "name");
  assert_ptr_equal(tensor.dims, new_dims);
  assert_true(tensor.params.scale == 0.5f && tensor.params.zero_point == 3);
  assert_ptr_equal(tensor.data.raw, memory);
  assert_int_equal(tensor.bytes, 3);
  assert_int_equal(tensor.allocation_type, kTfLiteArenaRw);
  assert_ptr_equal(tensor.allocation, &delegate);
  assert_true(tensor.is_variable);
  assert_int_equal(tensor.quantization.type, kTfLiteNoQuantization);
  assert_ptr_equal(tensor.delegate, &delegate);
  assert_int_equal(tensor.buffer_handle, 5);
  assert_true(tensor.data_is_stale);
  TfLiteTensorFree(&tensor);
}

static void copy_requires_equal_sizes_and_copies_shape_and_bytes(void** state) {
  (void)state;
  const int dims[] = {2, 2};
  TfLiteTensor from = dynamic_tensor(kTfLiteInt8), to = dynamic_tensor(kTfLiteUInt8);
  from.dims = ints(2, dims);
  from.buffer_handle = 8;
  from.data_is_stale = true;
  to.quantization = affine(2.0f, 1);
  to.name = "to";
  assert_int_equal(TfLiteTensorRealloc(4, &from), kTfLiteOk);
  assert_int_equal(TfLiteTensorRealloc(3, &to), kTfLiteOk);
  memcpy(from.data.raw, "wxyz", 4);
  assert_int_equal(TfLiteTensorCopy(NULL, &to), kTfLiteOk);
  assert_int_equal(TfLiteTensorCopy(&from, NULL), kTfLiteOk);
  assert_int_equal(TfLiteTensorCopy(&from, &from), kTfLiteOk);
  assert_int_equal(TfLiteTensorCopy(&from, &to), kTfLiteError);
  assert_int_equal(to.type, kTfLiteUInt8);
  assert_int_equal(TfLiteTensorRealloc(4, &to), kTfLiteOk);
  assert_int_equal(TfLiteTensorCopy(&from, &to), kTfLiteOk);
  assert_int_equal(to.type, kTfLiteInt8);
  assert_memory_equal(to.data.raw, "wxyz", 4);
  assert_int_equal(TfLiteIntArrayEqual(to.dims, from.dims), 1);
  assert_ptr_not_equal(to.dims, from.dims);
  assert_int_equal(to.buffer_handle, 8);
  assert_true(to.data_is_stale);
  assert_string_equal(to.name, "to");
  assert_int_equal(to.quantization.type, kTfLiteAffineQuantization);
  TfLiteTensorDataFree(&to);
  assert_int_equal(TfLiteTensorCopy(&from, &to), kTfLiteError);
  TfLiteTensorFree(&from);
  TfLiteTensorFree(&to);
}

static void dims_signature_falls_back_to_dims(void** state) {
  (void)state;
  const int dims[] = {1, 2}, signature[] = {-1, 2};
  TfLiteTensor tensor = dynamic_tensor(kTfLiteInt8);
  tensor.dims = ints(2, dims);
  assert_ptr_equal(TfLiteTensorGetDimsSignature(&tensor), tensor.dims);
  tensor.dims_signature = ints(0, NULL);
  assert_ptr_equal(TfLiteTensorGetDimsSignature(&tensor), tensor.dims);
  TfLiteIntArrayFree((TfLiteIntArray*)tensor.dims_signature);
  tensor.dims_signature = ints(2, signature);
  assert_ptr_equal(TfLiteTensorGetDimsSignature(&tensor), tensor.dims_signature);
  TfLiteTensorFree(&tensor);
}

static void stability_follows_the_allocation_type(void** state) {
  (void)state;
  /* Columns: allocation type, strategy, stability of the address, stability of the data, step in
   * which the data is known, step in which the shape is known. */
  static const int table[][6] = {{0, 1, 3, 3, 1, 1}, {1, 2, 3, 3, 1, 1}, {2, 3, 1, 2, 3, 2},
                                 {3, 3, 1, 3, 3, 2}, {4, 4, 2, 2, 3, 3}, {5, 4, 2, 2, 2, 2},
                                 {6, 0, 0, 0, 0, 0}, {7, 5, 3, 2, 3, 3}, {8, 0, 0, 0, 0, 0},
                                 {9, 0, 0, 0, 0, 0}};
  for (int i = 0; i < COUNT(table); ++i) {
    TfLiteTensor tensor = dynamic_tensor(kTfLiteInt8);
    tensor.allocation_type = (TfLiteAllocationType)table[i][0];
    const TfLiteOpaqueTensor* opaque = (const TfLiteOpaqueTensor*)&tensor;
    assert_int_equal(TfLiteTensorGetAllocationStrategy(&tensor), table[i][1]);
    assert_int_equal(TfLiteTensorGetBufferAddressStability(&tensor), table[i][2]);
    assert_int_equal(TfLiteTensorGetDataStability(&tensor), table[i][3]);
    assert_int_equal(TfLiteTensorGetDataKnownStep(&tensor), table[i][4]);
    assert_int_equal(TfLiteTensorGetShapeKnownStep(&tensor), table[i][5]);
    assert_int_equal(TfLiteOpaqueTensorGetAllocationStrategy(opaque), table[i][1]);
    assert_int_equal(TfLiteOpaqueTensorGetBufferAddressStability(opaque), table[i][2]);
    assert_int_equal(TfLiteOpaqueTensorGetDataStability(opaque), table[i][3]);
    assert_int_equal(TfLiteOpaqueTensorGetDataKnownStep(opaque), table[i][4]);
    assert_int_equal(TfLiteOpaqueTensorGetShapeKnownStep(opaque), table[i][5]);
  }
}

static void small_constants_are_right(void** state) {
  (void)state;
  assert_int_equal((intptr_t)TfLiteKernelInitFailed(), -1);
  const TfLiteDelegate zero = TfLiteDelegateCreate();
  const char zeros[sizeof zero] = {0};
  assert_memory_equal(&zero, zeros, sizeof zero);
  assert_string_equal(TfLiteVersion(), "2.19.0");
  assert_string_equal(TfLiteExtensionApisVersion(), "2.19.0");
  assert_int_equal(TfLiteSchemaVersion(), 3);
}

static void tensor_accessors_accept_null_and_bad_sizes(void** state) {
  (void)state;
  const int dims[] = {4, 5};
  TfLiteTensor tensor = dynamic_tensor(kTfLiteInt8);
  assert_int_equal(TfLiteTensorNumDims(&tensor), -1);
  tensor.dims = ints(2, dims);
  assert_int_equal(TfLiteTensorNumDims(&tensor), 2);
  assert_int_equal(TfLiteTensorDim(&tensor, 1), 5);
  assert_int_equal(TfLiteTensorDim(&tensor, 2), -1);
  assert_int_equal(TfLiteTensorDim(&tensor, -1), -1);
  tensor.bytes = 2;
  char bytes[3] = "ab";
  assert_int_equal(TfLiteTensorCopyFromBuffer(&tensor, bytes, 2), kTfLiteError);
  tensor.bytes = 0;
  assert_int_equal(TfLiteTensorRealloc(2, &tensor), kTfLiteOk);
  assert_int_equal(TfLiteTensorCopyFromBuffer(&tensor, bytes, 3), kTfLiteError);
  assert_int_equal(TfLiteTensorCopyFromBuffer(&tensor, bytes, 2), kTfLiteOk);
  char out[2] = {0, 0};
  assert_int_equal(TfLiteTensorCopyToBuffer(&tensor, out, 1), kTfLiteError);
  assert_int_equal(out[0], 0);
  assert_int_equal(TfLiteTensorCopyToBuffer(&tensor, out, 2), kTfLiteOk);
  assert_memory_equal(out, "ab", 2);
  TfLiteTensorFree(&tensor);

  assert_int_equal(TfLiteTensorType(NULL), kTfLiteNoType);
  assert_int_equal(TfLiteTensorNumDims(NULL), -1);
  assert_int_equal(TfLiteTensorByteSize(NULL), 0);
  assert_null(TfLiteTensorData(NULL));
  assert_int_equal(TfLiteTensorCopyFromBuffer(NULL, bytes, 0), kTfLiteError);
  assert_int_equal(TfLiteTensorCopyToBuffer(NULL, out, 0), kTfLiteError);
  TfLiteTensorFree(NULL);
  TfLiteTensorDataFree(NULL);
  TfLiteSparsityFree(NULL);
  assert_null(TfLiteTensorGetDimsSignature(NULL));
}

/* ---- Strings ---- */

static void strings_are_packed_as_count_offsets_bytes(void** state) {
  (void)state;
  TfLiteTensor tensor = dynamic_tensor(kTfLiteString);
  tensor.name = "s";
  tensor.quantization = affine(1.0f, 0);
  TfLiteOpaqueTensor* opaque = (TfLiteOpaqueTensor*)&tensor;
  assert_int_equal(TfLiteOpaqueTensorGetStringCount(opaque), 0);
  const char* const strings[] = {"ab", NULL, "c\0d"};
  const int lengths[] = {2, 0, 3};
  assert_int_equal(TfLiteOpaqueTensorWriteStrings(opaque, strings, 3, lengths), kTfLiteOk);
  const int32_t head[] = {3, 20, 22, 22, 25};
  assert_int_equal(tensor.bytes, 25);
  assert_memory_equal(tensor.data.raw, head, sizeof head);
  assert_memory_equal(tensor.data.raw + 20, "abc\0d", 5);
  assert_int_equal(tensor.allocation_type, kTfLiteDynamic);
  assert_int_equal(tensor.dims->size, 1);
  assert_int_equal(tensor.dims->data[0], 3);
  assert_int_equal(tensor.quantization.type, kTfLiteNoQuantization);
  assert_int_equal(TfLiteOpaqueTensorGetStringCount(opaque), 3);
  const char* text = NULL;
  int length = -1;
  assert_int_equal(TfLiteOpaqueTensorGetString(opaque, 2, &text, &length), kTfLiteOk);
  assert_int_equal(length, 3);
  assert_memory_equal(text, "c\0d", 3);
  assert_int_equal(TfLiteOpaqueTensorGetString(opaque, 3, &text, &length), kTfLiteError);
  assert_int_equal(TfLiteOpaqueTensorGetString(opaque, -1, &text, &length), kTfLiteError);

  assert_int_equal(TfLiteOpaqueTensorWriteStrings(opaque, NULL, 0, NULL), kTfLiteOk);
  const int32_t empty[] = {0, 8};
  assert_int_equal(tensor.bytes, 8);
  assert_memory_equal(tensor.data.raw, empty, 8);
  assert_int_equal(TfLiteOpaqueTensorWriteString(opaque, "xy", 2), kTfLiteOk);
  assert_int_equal(tensor.dims->data[0], 1);
  const int negative = -1;
  assert_int_equal(TfLiteOpaqueTensorWriteStrings(opaque, strings, 1, &negative), kTfLiteError);
  assert_int_equal(TfLiteOpaqueTensorGetStringCount(opaque), 1);
  TfLiteTensorFree(&tensor);
}

static void inconsistent_strings_are_refused(void** state) {
  (void)state;
  static const int32_t inconsistent[][4] = {{1, 12, 400, 0},      {1, -4, 16, 0},  {1, 16, 12, 0},
                                            {1000000, 12, 16, 0}, {-1, 12, 16, 0}, {3, 16, 16, 16}};
  for (int i = 0; i < COUNT(inconsistent); ++i) {
    TfLiteTensor tensor = dynamic_tensor(kTfLiteString);
    tensor.data.raw = (char*)inconsistent[i];
    tensor.bytes = sizeof inconsistent[i];
    const TfLiteOpaqueTensor* opaque = (const TfLiteOpaqueTensor*)&tensor;
    const char* text;
    int length;
    const int last = TfLiteOpaqueTensorGetStringCount(opaque) - 1;
    assert_true(last < 3);
    assert_int_equal(TfLiteOpaqueTensorGetString(opaque, last < 0 ? 0 : last, &text, &length),
                     kTfLiteError);
  }
}

/* ---- A context without an interpreter ---- */

static char reported[256];
static const char* reported_format;
static int forbidden_calls;

static void fake_report(TfLiteContext* context, const char* format, ...) {
  (void)context;
  va_list args;
  va_start(args, format);
  vsnprintf(reported, sizeof reported, format, args);
  va_end(args);
  reported_format = format;
}

static TfLiteStatus fake_resize(TfLiteContext* context, TfLiteTensor* tensor,
                                TfLiteIntArray* dims) {
  (void)context;
  TfLiteIntArrayFree(tensor->dims);
  tensor->dims = dims;
  return kTfLiteOk;
}

static TfLiteStatus fake_add(TfLiteContext* context, int count, int* first) {
  *first = (int)context->tensors_size;
  context->tensors_size += (size_t)count;
  return kTfLiteOk;
}

static TfLiteStatus forbidden_plan(TfLiteContext* context, TfLiteIntArray** plan) {
  (void)context;
  (void)plan;
  ++forbidden_calls;
  return kTfLiteError;
}

static TfLiteExternalContext* fake_external(TfLiteContext* context,
                                            TfLiteExternalContextType type) {
  static TfLiteExternalContext external;
  (void)context;
  return type == kTfLiteCpuBackendContext ? &external : NULL;
}

static TfLiteStatus fake_metadata(const TfLiteContext* context, const char* name,
                                  const char** bytes, size_t* size) {
  (void)context;
  if (strcmp(name, "known") != 0) return kTfLiteError;
  *bytes = "data";
  *size = 4;
  return kTfLiteOk;
}

static TfLiteTensor tensors[8];

static TfLiteContext fake_context(void) {
  TfLiteContext context;
  memset(&context, 0, sizeof context);
  memset(tensors, 0, sizeof tensors);
  context.tensors = tensors;
  context.tensors_size = 3;
  context.ReportError = fake_report;
  context.ResizeTensor = fake_resize;
  context.AddTensors = fake_add;
  context.GetExecutionPlan = forbidden_plan;
  context.GetExternalContext = fake_external;
  context.GetModelMetadata = fake_metadata;
  return context;
}

static void nodes_are_read_with_bounds(void** state) {
  (void)state;
  TfLiteContext context = fake_context();
  TfLiteOpaqueContext* opaque = (TfLiteOpaqueContext*)&context;
  const int inputs[] = {2, -1, 7}, outputs[] = {1};
  TfLiteNode node;
  memset(&node, 0, sizeof node);
  node.inputs = ints(3, inputs);
  node.outputs = ints(1, outputs);
  node.user_data = &context;
  node.builtin_data = &node;
  node.custom_initial_data = "opts";
  node.custom_initial_data_size = 4;
  TfLiteOpaqueNode* n = (TfLiteOpaqueNode*)&node;

  assert_int_equal(TfLiteOpaqueNodeNumberOfInputs(n), 3);
  assert_int_equal(TfLiteOpaqueNodeNumberOfOutputs(n), 1);
  assert_ptr_equal(TfLiteOpaqueNodeGetInput(opaque, n, 0), &tensors[2]);
  assert_null(TfLiteOpaqueNodeGetInput(opaque, n, 1)); /* absent */
  assert_null(TfLiteOpaqueNodeGetInput(opaque, n, 2)); /* no such tensor */
  assert_null(TfLiteOpaqueNodeGetInput(opaque, n, 3));
  assert_null(TfLiteOpaqueNodeGetInput(opaque, n, -1));
  assert_ptr_equal(TfLiteOpaqueNodeGetOutput(opaque, n, 0), &tensors[1]);
  assert_null(TfLiteOpaqueNodeGetOutput(opaque, n, 1));
  assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(n, 0), 2);
  assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(n, 1), -1);
  assert_int_equal(TfLiteOpaqueNodeGetInputTensorIndex(n, 9), -1);
  assert_int_equal(TfLiteOpaqueNodeGetOutputTensorIndex(n, 0), 1);
  assert_int_equal(TfLiteOpaqueNodeGetOutputTensorIndex(n, 1), -1);
  assert_ptr_equal(TfLiteOpaqueNodeGetUserData(n), &context);
  assert_ptr_equal(TfLiteOpaqueNodeGetBuiltinData(n), &node);
  const void* options = NULL;
  int size = 0;
  assert_int_equal(TfLiteOpaqueNodeGetCustomInitialData(n, &options, &size), kTfLiteOk);
  assert_int_equal(size, 4);
  assert_memory_equal(options, "opts", 4);

  const int* list = NULL;
  assert_int_equal(TfLiteOpaqueNodeInputs(n, &list, &size), kTfLiteOk);
  assert_int_equal(size, 3);
  assert_ptr_equal(list, node.inputs->data);
  assert_int_equal(TfLiteOpaqueNodeOutputs(n, &list, &size), kTfLiteOk);
  assert_int_equal(size, 1);
  assert_int_equal(TfLiteOpaqueNodeTemporaries(n, &list, &size), kTfLiteOk);
  assert_int_equal(size, 0);
  const int temporaries[] = {4, 5};
  assert_int_equal(TfLiteOpaqueNodeSetTemporaries(n, temporaries, -1), kTfLiteError);
  assert_int_equal(TfLiteOpaqueNodeSetTemporaries(n, temporaries, 2), kTfLiteOk);
  assert_int_equal(TfLiteOpaqueNodeTemporaries(n, &list, &size), kTfLiteOk);
  assert_int_equal(size, 2);
  assert_int_equal(list[1], 5);
  assert_int_equal(TfLiteOpaqueNodeSetTemporaries(n, NULL, 0), kTfLiteOk);
  assert_int_equal(node.temporaries->size, 0);
  TfLiteIntArrayFree(node.inputs);
  TfLiteIntArrayFree(node.outputs);
  TfLiteIntArrayFree(node.temporaries);
}

static void opaque_contexts_forward_to_the_function_pointers(void** state) {
  (void)state;
  TfLiteContext context = fake_context();
  TfLiteOpaqueContext* opaque = (TfLiteOpaqueContext*)&context;
  TfLiteIntArray* plan = NULL;
  forbidden_calls = 0;
  assert_int_equal(TfLiteOpaqueContextGetExecutionPlan(opaque, &plan), kTfLiteError);
  assert_int_equal(forbidden_calls, 1);
  TfLiteOpaqueContextReportError(opaque, "%d%%: %s", 50, "half");
  assert_string_equal(reported, "50%: half");
  assert_string_equal(reported_format, "%s");
  assert_int_equal(TfLiteOpaqueContextGetNumTensors(opaque), 3);
  assert_ptr_equal(TfLiteOpaqueContextGetOpaqueTensor(opaque, 1), &tensors[1]);
  assert_null(TfLiteOpaqueContextGetOpaqueTensor(opaque, 3));
  assert_null(TfLiteOpaqueContextGetOpaqueTensor(opaque, -1));
  void* external = &context;
  assert_int_equal(TfLiteOpaqueContextGetExternalContext(opaque, &external, kTfLiteEigenContext),
                   kTfLiteOk);
  assert_null(external);
  assert_int_equal(
      TfLiteOpaqueContextGetExternalContext(opaque, &external, kTfLiteCpuBackendContext),
      kTfLiteOk);
  assert_non_null(external);
  const char* bytes = NULL;
  size_t size = 0;
  assert_int_equal(TfLiteOpaqueContextGetMetadata(opaque, "known", &bytes, &size), kTfLiteOk);
  assert_int_equal(size, 4);
  assert_int_equal(TfLiteOpaqueContextGetMetadata(opaque, "other", &bytes, &size), kTfLiteError);
  const int dims[] = {6};
  assert_int_equal(
      TfLiteOpaqueContextResizeTensor(opaque, (TfLiteOpaqueTensor*)&tensors[0], ints(1, dims)),
      kTfLiteOk);
  assert_int_equal(tensors[0].dims->data[0], 6);
  assert_int_equal(TfLiteOpaqueContextResizeTensor(opaque, NULL, ints(1, dims)), kTfLiteError);
  TfLiteTensorFree(&tensors[0]);
}

static void foreign_contexts_are_recognised(void** state) {
  (void)state;
  TfLiteContext context = fake_context();
  context.impl_ = &context;
  TfLiteOpaqueContext* opaque = (TfLiteOpaqueContext*)&context;
  const int* list = NULL;
  int count = 0;
  assert_int_equal(TfLiteOpaqueContextGetInputs(opaque, &list, &count), kTfLiteError);
  assert_int_equal(TfLiteOpaqueContextGetOutputs(opaque, &list, &count), kTfLiteError);
  assert_int_equal(TfLiteOpaqueContextGetVariables(opaque, &list, &count), kTfLiteError);
  assert_int_equal(TfLiteOpaqueContextGetNumNodes(opaque), 0);
  assert_string_equal(TfLiteOpaqueContextGetName(opaque), "");
}

static void type_sizes_are_unpacked(void** state) {
  (void)state;
  TfLiteContext context = fake_context();
  TfLiteOpaqueContext* opaque = (TfLiteOpaqueContext*)&context;
  /* Bytes per element by type number; 0 for types without a fixed size. */
  static const size_t sizes[] = {0,  4, 4, 1, 8, 0, 1, 2, 8, 1, 2, 8,
                                 16, 8, 0, 0, 4, 2, 1, 2, 1, 1, 1, 1};
  for (int type = 0; type < COUNT(sizes); ++type) {
    size_t size = 99;
    const TfLiteStatus status = TfLiteOpaqueContextGetSizeOfType(opaque, (TfLiteType)type, &size);
    assert_int_equal(status, sizes[type] == 0 ? kTfLiteError : kTfLiteOk);
    assert_int_equal(size, sizes[type] == 0 ? 99 : sizes[type]);
  }
}

static void builders_create_tensors_of_three_kinds_only(void** state) {
  (void)state;
  TfLiteContext context = fake_context();
  TfLiteOpaqueContext* opaque = (TfLiteOpaqueContext*)&context;
  TfLiteOpaqueTensorBuilder* builder = TfLiteOpaqueTensorBuilderCreate();
  int index = -1;
  reported[0] = '\0';
  assert_int_equal(TfLiteOpaqueContextAddTensor(opaque, builder, &index), kTfLiteError);
  assert_true(strlen(reported) > 0);
  char memory[1];
  assert_ptr_equal(TfLiteOpaqueTensorBuilderSetData(builder, memory), builder);
  assert_ptr_equal(TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteArenaRw), builder);
  assert_int_equal(TfLiteOpaqueContextAddTensor(opaque, builder, &index), kTfLiteError);
  TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteMmapRo);
  assert_int_equal(TfLiteOpaqueContextAddTensor(opaque, builder, &index), kTfLiteError);
  TfLiteOpaqueTensorBuilderSetData(builder, NULL);
  TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteDynamic);
  assert_int_equal(TfLiteOpaqueContextAddTensor(opaque, builder, &index), kTfLiteError);
  assert_int_equal(context.tensors_size, 3);

  const TfLiteQuantizationParams params = {0.5f, 1};
  TfLiteOpaqueTensorBuilderSetType(builder, kTfLiteInt8);
  TfLiteOpaqueTensorBuilderSetAllocationType(builder, kTfLiteArenaRw);
  TfLiteOpaqueTensorBuilderSetQuantizationParams(builder, params);
  TfLiteOpaqueTensorBuilderSetQuantization(builder, affine(0.5f, 1));
  assert_int_equal(TfLiteOpaqueContextAddTensor(opaque, builder, &index), kTfLiteOk);
  assert_int_equal(index, 3);
  assert_int_equal(tensors[3].type, kTfLiteInt8);
  assert_int_equal(tensors[3].allocation_type, kTfLiteArenaRw);
  assert_true(tensors[3].params.scale == 0.5f);
  assert_int_equal(tensors[3].quantization.type, kTfLiteAffineQuantization);
  TfLiteTensorFree(&tensors[3]);
  TfLiteOpaqueTensorBuilderDelete(builder);
  TfLiteOpaqueTensorBuilderDelete(NULL);
}

static void opaque_tensor_accessors_equal_plain_fields(void** state) {
  (void)state;
  const int dims[] = {1, 3}, signature[] = {-1, 3};
  TfLiteTensor tensor = dynamic_tensor(kTfLiteUInt8);
  TfLiteOpaqueTensor* opaque = (TfLiteOpaqueTensor*)&tensor;
  int32_t value = 0;
  assert_int_equal(TfLiteOpaqueTensorGetNumDimsSignature(opaque, &value), kTfLiteOk);
  assert_int_equal(value, -1);
  tensor.dims = ints(2, dims);
  tensor.dims_signature = ints(0, NULL);
  assert_int_equal(TfLiteOpaqueTensorGetNumDimsSignature(opaque, &value), kTfLiteOk);
  assert_int_equal(value, 0);
  assert_int_equal(TfLiteOpaqueTensorGetDimSignature(opaque, 0, &value), kTfLiteOk);
  assert_int_equal(value, 1);
  TfLiteIntArrayFree((TfLiteIntArray*)tensor.dims_signature);
  tensor.dims_signature = ints(2, signature);
  assert_int_equal(TfLiteOpaqueTensorGetDimSignature(opaque, 0, &value), kTfLiteOk);
  assert_int_equal(value, -1);
  assert_int_equal(TfLiteOpaqueTensorGetDimSignature(opaque, 2, &value), kTfLiteError);
  tensor.name = "o";
  tensor.is_variable = true;
  tensor.params.scale = 0.5f;
  assert_int_equal(TfLiteTensorRealloc(3, &tensor), kTfLiteOk);
  assert_int_equal(TfLiteOpaqueTensorType(opaque), kTfLiteUInt8);
  assert_int_equal(TfLiteOpaqueTensorNumDims(opaque), 2);
  assert_int_equal(TfLiteOpaqueTensorDim(opaque, 1), 3);
  assert_int_equal(TfLiteOpaqueTensorIsVariable(opaque), 1);
  assert_int_equal(TfLiteOpaqueTensorByteSize(opaque), 3);
  assert_ptr_equal(TfLiteOpaqueTensorData(opaque), tensor.data.raw);
  assert_string_equal(TfLiteOpaqueTensorName(opaque), "o");
  assert_int_equal(TfLiteOpaqueTensorGetAllocationType(opaque), kTfLiteDynamic);
  assert_true(TfLiteOpaqueTensorGetQuantizationParams(opaque).scale == 0.5f);
  assert_int_equal(TfLiteOpaqueTensorGetQuantization(opaque).type, kTfLiteNoQuantization);
  assert_int_equal(TfLiteOpaqueTensorCopyFromBuffer(opaque, "abc", 3), kTfLiteOk);
  char out[3];
  assert_int_equal(TfLiteOpaqueTensorCopyToBuffer(opaque, out, 3), kTfLiteOk);
  assert_memory_equal(out, "abc", 3);
  TfLiteOpaqueTensorSetAllocationTypeToDynamic(opaque); /* the type is already dynamic */
  assert_non_null(tensor.data.raw);
  tensor.allocation_type = kTfLitePersistentRo;
  TfLiteOpaqueTensorSetAllocationTypeToDynamic(opaque);
  assert_null(tensor.data.raw);
  assert_int_equal(tensor.allocation_type, kTfLiteDynamic);
  TfLiteOpaqueTensorSetNonCpuAllocation(opaque);
  assert_int_equal(tensor.allocation_type, kTfLiteNonCpu);
  TfLiteTensorFree(&tensor);
  assert_null(TfLiteOpaqueTensorData(NULL));
}

/* ---- Operators ---- */

static void* init_probe(TfLiteOpaqueContext* context, const char* buffer, size_t length) {
  (void)context;
  (void)buffer;
  (void)length;
  return NULL;
}

/* Names used before TensorFlow 2.17, as an old program imports them; the macros of the current
 * headers would replace them by the new names. */
#undef TfLiteRegistrationExternalCreate
#undef TfLiteRegistrationExternalDelete
#undef TfLiteRegistrationExternalGetVersion
#undef TfLiteRegistrationExternalSetInit
TfLiteOperator* TfLiteRegistrationExternalCreate(TfLiteBuiltinOperator, const char*, int);
void TfLiteRegistrationExternalDelete(TfLiteOperator*);
int TfLiteRegistrationExternalGetVersion(const TfLiteOperator*);
void TfLiteRegistrationExternalSetInit(TfLiteOperator*,
                                       void* (*)(TfLiteOpaqueContext*, const char*, size_t));
TfLiteOperator* TfLiteOperatorCreateWithData(TfLiteBuiltinOperator, const char*, int, void*);

static void operators_have_the_layout_that_plug_ins_access(void** state) {
  (void)state;
  int data = 0;
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "My", 3, &data);
  assert_int_equal(TfLiteOperatorGetBuiltInCode(op), kTfLiteBuiltinCustom);
  assert_string_equal(TfLiteOperatorGetCustomName(op), "My");
  assert_int_equal(TfLiteOperatorGetVersion(op), 3);
  assert_ptr_equal(TfLiteOperatorGetUserData(op), &data);
  TfLiteOperatorSetInit(op, init_probe);
  TfLiteOperatorSetInplaceOperator(op, 5);
  const char* bytes = (const char*)op;
  assert_ptr_equal(*(const char* const*)bytes, TfLiteOperatorGetCustomName(op));
  assert_int_equal(*(const int*)(bytes + 8), 3);
  assert_true(*(void* (*const*)(TfLiteOpaqueContext*, const char*, size_t))(bytes + 16) ==
              init_probe);
  assert_int_equal(*(const int32_t*)(bytes + 56), 32);
  assert_int_equal(*(const int*)(bytes + 60), -1);
  assert_int_equal(*(const uint64_t*)(bytes + 64), 5);
  assert_ptr_equal(*(void* const*)(bytes + 72), &data);
  assert_null(*(void* const*)(bytes + 80));
  assert_int_equal(TfLiteOperatorSetInitWithData(op, NULL), kTfLiteOk);
  assert_int_equal(TfLiteOperatorSetFreeWithData(op, NULL), kTfLiteOk);
  assert_int_equal(TfLiteOperatorSetPrepareWithData(op, NULL), kTfLiteOk);
  assert_int_equal(TfLiteOperatorSetInvokeWithData(op, NULL), kTfLiteOk);
  assert_int_equal(TfLiteOperatorSetAsyncKernelWithData(op, NULL), kTfLiteOk);
  TfLiteOperatorDelete(op);
  TfLiteOperatorDelete(NULL);
  assert_int_equal(TfLiteOperatorGetVersion(NULL), -1);
  assert_null(TfLiteOperatorGetUserData(NULL));
}

static void old_names_work_in_old_programs(void** state) {
  (void)state;
  TfLiteOperator* op = TfLiteRegistrationExternalCreate(kTfLiteBuiltinDelegate, "Old", 2);
  TfLiteRegistrationExternalSetInit(op, init_probe);
  assert_int_equal(TfLiteRegistrationExternalGetVersion(op), 2);
  assert_string_equal(TfLiteOperatorGetCustomName(op), "Old");
  assert_null(TfLiteOperatorGetUserData(op));
  TfLiteRegistrationExternalDelete(op);
  int data = 0;
  op = TfLiteOperatorCreateWithData(kTfLiteBuiltinAdd, NULL, 1, &data);
  assert_ptr_equal(TfLiteOperatorGetUserData(op), &data);
  TfLiteOperatorDelete(op);
}

/* ---- Delegates and holders ---- */

static TfLiteStatus opaque_prepare(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                                   void* data) {
  (void)context;
  (void)delegate;
  (void)data;
  return kTfLiteOk;
}

static void opaque_delegates_copy_their_builder(void** state) {
  (void)state;
  int data = 0;
  TfLiteOpaqueDelegateBuilder builder = {&data, opaque_prepare, NULL, NULL, NULL, 1};
  assert_null(TfLiteOpaqueDelegateCreate(NULL));
  TfLiteOpaqueDelegate* delegate = TfLiteOpaqueDelegateCreate(&builder);
  builder.data = NULL;
  assert_ptr_equal(TfLiteOpaqueDelegateGetData(delegate), &data);
  assert_null(delegate->data_);
  assert_true(delegate->Prepare == NULL);
  assert_int_equal(delegate->flags, 0);
  assert_true(delegate->opaque_delegate_builder->Prepare == opaque_prepare);
  TfLiteOpaqueDelegateDelete(delegate);
  TfLiteOpaqueDelegateDelete(NULL);
  assert_null(TfLiteOpaqueDelegateGetData(NULL));
  TfLiteDelegate legacy = TfLiteDelegateCreate();
  legacy.data_ = &data;
  assert_ptr_equal(TfLiteOpaqueDelegateGetData(&legacy), &data);
}

static void xnnpack_and_nnapi_claim_no_node(void** state) {
  (void)state;
  TfLiteXNNPackDelegateOptions options = TfLiteXNNPackDelegateOptionsDefault();
  assert_int_equal(options.num_threads, 0);
  options.num_threads = 3;
  options.flags = 0x40; /* not read: old callers have another member there */
  TfLiteDelegate* delegate = TfLiteXNNPackDelegateCreate(&options);
  assert_int_equal(TfLiteXNNPackDelegateGetOptions(delegate)->num_threads, 3);
  assert_int_equal(TfLiteXNNPackDelegateGetOptions(delegate)->weight_cache_file_descriptor, -1);
  assert_int_equal(TfLiteXNNPackDelegateGetFlags(delegate),
                   TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | TFLITE_XNNPACK_DELEGATE_FLAG_QU8);
  assert_null(TfLiteXNNPackDelegateGetThreadPool(delegate));
  assert_int_equal(delegate->flags, kTfLiteDelegateFlagsPerOperatorProfiling |
                                        kTfLiteDelegateFlagsAllowDynamicTensors);
  assert_int_equal(delegate->Prepare(NULL, delegate), kTfLiteOk);
  TfLiteXNNPackDelegateDelete(delegate);
  TfLiteXNNPackDelegateDelete(NULL);
  assert_null(TfLiteXNNPackDelegateGetOptions(NULL));
  assert_int_equal(TfLiteXNNPackDelegateGetFlags(NULL), 0);
  struct TfLiteXNNPackDelegateWeightsCache* cache =
      TfLiteXNNPackDelegateWeightsCacheCreateWithSize(100);
  assert_true(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(cache));
  assert_true(TfLiteXNNPackDelegateWeightsCacheFinalizeHard(cache));
  assert_false(TfLiteXNNPackDelegateWeightsCacheFinalizeHard(NULL));
  TfLiteXNNPackDelegateWeightsCacheDelete(cache);

  const TfLiteNnapiDelegateOptions nnapi = TfLiteNnapiDelegateOptionsDefault();
  assert_int_equal(nnapi.execution_preference, kUndefined);
  assert_int_equal(nnapi.disallow_nnapi_cpu, 1);
  assert_int_equal(nnapi.allow_fp16, 0);
  assert_int_equal(nnapi.max_number_delegated_partitions, 3);
  delegate = TfLiteNnapiDelegateCreate(&nnapi);
  assert_int_equal(delegate->flags, 0);
  TfLiteNnapiDelegateDelete(delegate);
  TfLiteNnapiDelegateDelete(NULL);
}

static void external_delegate_options_hold_256_pairs(void** state) {
  (void)state;
  TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault("/lib.so");
  assert_string_equal(options.lib_path, "/lib.so");
  assert_int_equal(options.count, 0);
  for (int i = 0; i < 256; ++i) {
    assert_int_equal(options.insert(&options, "key", "value"), kTfLiteOk);
  }
  assert_int_equal(options.insert(&options, "key", "value"), kTfLiteError);
  assert_int_equal(options.count, 256);
  assert_string_equal(options.keys[255], "key");
  TfLiteExternalDelegateDelete(NULL);
}

static void holders_return_the_stored_objects(void** state) {
  (void)state;
  int object = 0;
  TfLiteBackendBuffer* buffer = TfLiteBackendBufferCreate();
  assert_null(TfLiteBackendBufferGetPtr(buffer));
  TfLiteBackendBufferSetPtr(buffer, &object);
  assert_ptr_equal(TfLiteBackendBufferGetPtr(buffer), &object);
  TfLiteBackendBufferDelete(buffer);
  TfLiteBackendBufferDelete(NULL);
  TfLiteSynchronization* sync = TfLiteSynchronizationCreate();
  TfLiteSynchronizationSetPtr(sync, &object);
  assert_ptr_equal(TfLiteSynchronizationGetPtr(sync), &object);
  TfLiteSynchronizationDelete(sync);
  assert_null(TfLiteSynchronizationGetPtr(NULL));
  assert_int_equal(TfLiteTelemetryInterpreterSettingsGetNumSubgraphInfo(NULL), 0);
  assert_null(TfLiteTelemetrySubgraphInfoGetQuantizations(NULL));
}

static void attribute_maps_keep_values_by_their_type(void** state) {
  (void)state;
  TfLiteAttributeMap* buffer = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
  TfLiteAttributeMap* sync = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
  assert_true(TfLiteAttributeMapIsBufferAttributeMap(buffer));
  assert_false(TfLiteAttributeMapIsSyncAttributeMap(buffer));
  assert_true(TfLiteAttributeMapIsSyncAttributeMap(sync));
  size_t size = 7;
  bool truth = false;
  const char* text = NULL;
  int number = 0;
  assert_false(TfLiteAttributeMapGetSizeTBufferAttr(buffer, kTfLiteBufferAttrKeySize, &size));
  assert_int_equal(size, 7);
  assert_true(TfLiteAttributeMapSetSizeTBufferAttr(buffer, kTfLiteBufferAttrKeySize, 1));
  assert_true(TfLiteAttributeMapSetSizeTBufferAttr(buffer, kTfLiteBufferAttrKeySize, 64));
  assert_false(TfLiteAttributeMapSetSizeTBufferAttr(sync, kTfLiteBufferAttrKeySize, 64));
  assert_true(TfLiteAttributeMapGetSizeTBufferAttr(buffer, kTfLiteBufferAttrKeySize, &size));
  assert_int_equal(size, 64);
  assert_false(TfLiteAttributeMapGetBoolBufferAttr(buffer, kTfLiteBufferAttrKeySize, &truth));
  assert_false(TfLiteAttributeMapGetStringSyncAttr(
      buffer, kTfLiteSynchronizationAttrKeyObjectTypeName, &text));
  assert_true(TfLiteAttributeMapSetStringSyncAttr(sync, kTfLiteSynchronizationAttrKeyObjectTypeName,
                                                  "fence"));
  assert_true(TfLiteAttributeMapGetStringSyncAttr(sync, kTfLiteSynchronizationAttrKeyObjectTypeName,
                                                  &text));
  assert_string_equal(text, "fence");
  TfLiteAttributeMapSetCustomIntAttr(buffer, "mine", 3);
  TfLiteAttributeMapSetCustomIntAttr(buffer, NULL, 4);
  TfLiteAttributeMapCopy(buffer, sync);
  assert_true(TfLiteAttributeMapIsBufferAttributeMap(sync));
  assert_true(TfLiteAttributeMapGetCustomIntAttr(sync, "mine", &number));
  assert_int_equal(number, 3);
  assert_false(TfLiteAttributeMapGetCustomIntAttr(sync, "yours", &number));
  assert_true(TfLiteAttributeMapGetSizeTAttr(sync, kTfLiteBufferAttrKeySize, &size));
  TfLiteAttributeMapDelete(buffer);
  TfLiteAttributeMapDelete(sync);
  TfLiteAttributeMapDelete(NULL);
  assert_false(TfLiteAttributeMapGetIntAttr(NULL, 1, &number));
  assert_false(TfLiteAttributeMapIsBufferAttributeMap(NULL));
}

// ---- Macros -------------------------------------------------------------------------------------

static char last_report[512];
static int report_count;

static void keep_report(TfLiteContext* context, const char* format, ...) {
  (void)context;
  va_list args;
  va_start(args, format);
  vsnprintf(last_report, sizeof last_report, format, args);
  va_end(args);
  ++report_count;
}

static TfLiteStatus ensure_ok(TfLiteContext* context, TfLiteStatus status) {
  TF_LITE_ENSURE_OK(context, status);
  return kTfLiteOk;
}

static TfLiteStatus ensure_ok_with_message(TfLiteContext* context, TfLiteStatus status) {
  TF_LITE_ENSURE_OK(context, status, "no %s, code %d", "device", 7);
  return kTfLiteOk;
}

// TF_LITE_ENSURE_OK and its relatives must report as often as upstream's, because clients count
// reports.
static void ensure_ok_is_silent_without_a_message(void** state) {
  (void)state;
  TfLiteContext context = {0};
  context.ReportError = keep_report;
  report_count = 0;
  assert_int_equal(ensure_ok(&context, kTfLiteOk), kTfLiteOk);
  assert_int_equal(ensure_ok(&context, kTfLiteDelegateError), kTfLiteDelegateError);
  assert_int_equal(ensure_ok_with_message(&context, kTfLiteOk), kTfLiteOk);
  assert_int_equal(report_count, 0);
  assert_int_equal(ensure_ok_with_message(&context, kTfLiteApplicationError),
                   kTfLiteApplicationError);
  assert_int_equal(report_count, 1);
  assert_non_null(strstr(last_report, "abi_common_test.c:"));
  assert_non_null(strstr(last_report, ": no device, code 7"));
  assert_int_equal(ensure_ok_with_message(NULL, kTfLiteError), kTfLiteError);
  assert_int_equal(report_count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_have_size_and_elements_in_one_block),
      cmocka_unit_test(arrays_compare_by_elements),
      cmocka_unit_test(array_copies_are_independent),
      cmocka_unit_test(type_names_are_those_of_the_table),
      cmocka_unit_test(resize_keeps_or_drops_contents_and_never_shrinks_memory),
      cmocka_unit_test(resize_refuses_invalid_sizes_and_keeps_the_block),
      cmocka_unit_test(allocators_receive_balanced_sizes_and_shrink),
      cmocka_unit_test(quantisation_is_freed_by_its_kind_and_reset),
      cmocka_unit_test(clone_shares_nothing_that_a_tensor_owns),
      cmocka_unit_test(clone_shares_constant_and_arena_memory),
      cmocka_unit_test(reset_stores_all_arguments_and_keeps_the_delegate),
      cmocka_unit_test(copy_requires_equal_sizes_and_copies_shape_and_bytes),
      cmocka_unit_test(dims_signature_falls_back_to_dims),
      cmocka_unit_test(stability_follows_the_allocation_type),
      cmocka_unit_test(small_constants_are_right),
      cmocka_unit_test(tensor_accessors_accept_null_and_bad_sizes),
      cmocka_unit_test(strings_are_packed_as_count_offsets_bytes),
      cmocka_unit_test(inconsistent_strings_are_refused),
      cmocka_unit_test(nodes_are_read_with_bounds),
      cmocka_unit_test(opaque_contexts_forward_to_the_function_pointers),
      cmocka_unit_test(foreign_contexts_are_recognised),
      cmocka_unit_test(type_sizes_are_unpacked),
      cmocka_unit_test(builders_create_tensors_of_three_kinds_only),
      cmocka_unit_test(opaque_tensor_accessors_equal_plain_fields),
      cmocka_unit_test(operators_have_the_layout_that_plug_ins_access),
      cmocka_unit_test(old_names_work_in_old_programs),
      cmocka_unit_test(opaque_delegates_copy_their_builder),
      cmocka_unit_test(xnnpack_and_nnapi_claim_no_node),
      cmocka_unit_test(external_delegate_options_hold_256_pairs),
      cmocka_unit_test(holders_return_the_stored_objects),
      cmocka_unit_test(attribute_maps_keep_values_by_their_type),
      cmocka_unit_test(ensure_ok_is_silent_without_a_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
