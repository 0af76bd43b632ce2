// SPDX-License-Identifier: Apache-2.0
//
// The structs that the runtime, kernels and delegates share, and helper functions for them.
//
// Every layout here is frozen: plug-ins that were compiled years ago read these fields at fixed
// offsets. Later additions are at the end of their struct and are marked with the release that
// added them; code that may run with an older runtime or plug-in must not access them.
//
// Memory that passes between runtime, client and plug-in is allocated with malloc and released with
// free: int and float arrays, quantisation, sparsity, dynamic tensor data, builtin data. Each side
// may therefore link its own copy of these helpers.
//
// The macro TF_LITE_STATIC_MEMORY selects the layouts of a different runtime, the one for
// micro-controllers. This library does not implement them, and the header rejects the macro.
#ifndef DEPUTY_C_API_INCLUDE_COMMON_H_
#define DEPUTY_C_API_INCLUDE_COMMON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c_api_types.h"

#ifdef TF_LITE_STATIC_MEMORY
#error "TF_LITE_STATIC_MEMORY changes struct layouts and must stay undefined."
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteContext;
struct TfLiteRegistration;
struct TfLiteOpaqueDelegateBuilder;
struct TfLiteAsyncKernel;

// ------------------------------------------------------------------------------------------------
// External contexts
// ------------------------------------------------------------------------------------------------

// Slots for per-interpreter objects that delegates and kernels share with each other.
typedef enum TfLiteExternalContextType {
  // Reserved, unused.
  kTfLiteEigenContext = 0,
  // Reserved, unused.
  kTfLiteGemmLowpContext = 1,
  // The Edge TPU library's context.
  kTfLiteEdgeTpuContext = 2,
  // Threads and matrix multiplication of the CPU backend.
  kTfLiteCpuBackendContext = 3,
  // LiteRT's buffer registry (since TensorFlow 2.19).
  kTfLiteLiteRtBufferContext = 4,
  // Number of slots; 4 before TensorFlow 2.19.
  kTfLiteMaxExternalContexts = 5
} TfLiteExternalContextType;

// Base of an external context. The client derives its own struct from it and owns it; it must
// outlive every interpreter that it is set on.
typedef struct TfLiteExternalContext {
  // Slot that the context belongs to.
  TfLiteExternalContextType type;
  // Callback that the runtime calls when the client sets the number of threads of an existing
  // interpreter. May be NULL.
  TfLiteStatus (*Refresh)(struct TfLiteContext* context);
} TfLiteExternalContext;

// Index of an optional input that is absent, in a node's inputs.
#define kTfLiteOptionalTensor (-1)

// ------------------------------------------------------------------------------------------------
// Arrays
// ------------------------------------------------------------------------------------------------

// Array of ints with its size, in one malloc block of 4 + 4 * size bytes. Most pointers to one are
// owned by the struct that contains them.
__extension__ typedef struct TfLiteIntArray {
  // Number of elements, never negative.
  int size;
  // The elements, `size` of them.
  int data[];
} TfLiteIntArray;

// Size of an array of `size` ints, in bytes. Any thread; cannot fail.
TFL_CAPI_EXPORT size_t TfLiteIntArrayGetSizeInBytes(int size);

// Creates an array with uninitialised elements. The caller owns it and frees it with
// TfLiteIntArrayFree. Size 0 is valid. NULL if `size` is negative or if out of memory. Any thread.
TFL_CAPI_EXPORT TfLiteIntArray* TfLiteIntArrayCreate(int size);

// Returns 1 if both arrays have the same elements, or both are NULL, else 0. Borrows both. Any
// thread.
TFL_CAPI_EXPORT int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b);

// Returns 1 if `a` consists of exactly the `b_size` elements at `b_data`, else 0. A NULL array
// equals only a length of 0. Borrows both. Any thread.
TFL_CAPI_EXPORT int TfLiteIntArrayEqualsArray(const TfLiteIntArray* a, int b_size,
                                              const int* b_data);

// Returns a copy that the caller owns. NULL for NULL, and if out of memory. Any thread.
TFL_CAPI_EXPORT TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* src);

// Frees an array. NULL is ignored. Any thread.
TFL_CAPI_EXPORT void TfLiteIntArrayFree(TfLiteIntArray* a);

// Array of floats with its size, in one malloc block; see TfLiteIntArray.
__extension__ typedef struct TfLiteFloatArray {
  // Number of elements, never negative.
  int size;
  // The elements, `size` of them.
  float data[];
} TfLiteFloatArray;

// Size of an array of `size` floats, in bytes. Any thread; cannot fail.
TFL_CAPI_EXPORT int TfLiteFloatArrayGetSizeInBytes(int size);

// Creates an array with uninitialised elements; see TfLiteIntArrayCreate.
TFL_CAPI_EXPORT TfLiteFloatArray* TfLiteFloatArrayCreate(int size);

// Returns a copy that the caller owns. NULL for NULL, and if out of memory. Any thread.
TFL_CAPI_EXPORT TfLiteFloatArray* TfLiteFloatArrayCopy(const TfLiteFloatArray* src);

// Frees an array. NULL is ignored. Any thread.
TFL_CAPI_EXPORT void TfLiteFloatArrayFree(TfLiteFloatArray* a);

// ------------------------------------------------------------------------------------------------
// Macros of kernels and delegates that report messages or check conditions. The checks return from
// the function that contains them, which must therefore return TfLiteStatus. The macro
// TF_LITE_STRIP_ERROR_STRINGS removes the messages and keeps the checks.
// ------------------------------------------------------------------------------------------------

#ifdef TF_LITE_STRIP_ERROR_STRINGS
#define TFL_INTERNAL_REPORT_(report)
#else
#define TFL_INTERNAL_REPORT_(report) report
#endif

#define TFL_INTERNAL_TEXT_(x) #x
#define TFL_INTERNAL_LINE_TEXT_(x) TFL_INTERNAL_TEXT_(x)

// Reports a printf-style message through the context.
#define TF_LITE_KERNEL_LOG(context, ...)                                  \
  do {                                                                    \
    TFL_INTERNAL_REPORT_((context)->ReportError((context), __VA_ARGS__);) \
  } while (0)

// Reports a printf-style message if the context is not NULL.
#define TF_LITE_MAYBE_KERNEL_LOG(context, ...)    \
  do {                                            \
    if ((context) != NULL) {                      \
      TF_LITE_KERNEL_LOG((context), __VA_ARGS__); \
    }                                             \
  } while (0)

// Returns kTfLiteError unless the condition is true. The further arguments are a printf-style
// message whose format must be a string literal.
#define TF_LITE_ENSURE_MSG(context, condition, ...)                                       \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      TF_LITE_KERNEL_LOG((context),                                                       \
                         __FILE__ ":" TFL_INTERNAL_LINE_TEXT_(__LINE__) " " __VA_ARGS__); \
      return kTfLiteError;                                                                \
    }                                                                                     \
  } while (0)

// Returns kTfLiteError and reports the condition's text unless it is true.
#define TF_LITE_ENSURE(context, condition)                                                     \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s was not true.", __FILE__, __LINE__, #condition); \
      return kTfLiteError;                                                                     \
    }                                                                                          \
  } while (0)

// Returns the status of the expression if it is not kTfLiteOk. Reports nothing.
#define TF_LITE_ENSURE_STATUS(expression)                  \
  do {                                                     \
    const TfLiteStatus tfl_internal_status = (expression); \
    if (tfl_internal_status != kTfLiteOk) {                \
      return tfl_internal_status;                          \
    }                                                      \
  } while (0)

// Returns kTfLiteError and reports both integers unless they are equal.
#define TF_LITE_ENSURE_EQ(context, a, b)                                                         \
  do {                                                                                           \
    if ((a) != (b)) {                                                                            \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s != %s (%lld != %lld)", __FILE__, __LINE__, #a, #b, \
                         (long long)(a), (long long)(b));                                        \
      return kTfLiteError;                                                                       \
    }                                                                                            \
  } while (0)

// Returns kTfLiteError and reports both element types unless they are equal.
#define TF_LITE_ENSURE_TYPES_EQ(context, a, b)                                               \
  do {                                                                                       \
    if ((a) != (b)) {                                                                        \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s != %s (%s != %s)", __FILE__, __LINE__, #a, #b, \
                         TfLiteTypeGetName(a), TfLiteTypeGetName(b));                        \
      return kTfLiteError;                                                                   \
    }                                                                                        \
  } while (0)

// Returns kTfLiteError and reports both numbers if they differ by more than epsilon.
#define TF_LITE_ENSURE_NEAR(context, a, b, epsilon)                                                \
  do {                                                                                             \
    const double tfl_internal_difference = (double)(a) - (double)(b);                              \
    if (!(tfl_internal_difference <= (double)(epsilon) &&                                          \
          -tfl_internal_difference <= (double)(epsilon))) {                                        \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s not near %s (%f != %f)", __FILE__, __LINE__, #a, #b, \
                         (double)(a), (double)(b));                                                \
      return kTfLiteError;                                                                         \
    }                                                                                              \
  } while (0)

// TF_LITE_ENSURE_OK(context, status) or (context, status, printf-style message ...): returns the
// status if it is not kTfLiteOk. The message, whose format must be a string literal, is reported
// before with file and line, unless the context is NULL. Without a message nothing is reported.
#define TF_LITE_ENSURE_OK(context, ...)                                                         \
  TFL_INTERNAL_SEVENTEENTH_(                                                                    \
      __VA_ARGS__, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_,                  \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_, 0)                                 \
  (context, __VA_ARGS__)

// Variants of TF_LITE_ENSURE_OK: with one argument after the context, and with two to sixteen.
#define TFL_INTERNAL_ENSURE_OK_(context, status) \
  do {                                           \
    (void)(context);                             \
    TF_LITE_ENSURE_STATUS(status);               \
  } while (0)
#define TFL_INTERNAL_ENSURE_OK_WITH_(context, status, ...)                                       \
  do {                                                                                           \
    const TfLiteStatus tfl_internal_status = (status);                                           \
    if (tfl_internal_status != kTfLiteOk) {                                                      \
      TF_LITE_MAYBE_KERNEL_LOG((context),                                                        \
                               __FILE__ ":" TFL_INTERNAL_LINE_TEXT_(__LINE__) ": " __VA_ARGS__); \
      return tfl_internal_status;                                                                \
    }                                                                                            \
  } while (0)
#define TFL_INTERNAL_SEVENTEENTH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, ...) q

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------

// One element of type kTfLiteComplex64.
typedef struct TfLiteComplex64 {
  // Real and imaginary part.
  float re, im;
} TfLiteComplex64;

// One element of type kTfLiteComplex128.
typedef struct TfLiteComplex128 {
  // Real and imaginary part.
  double re, im;
} TfLiteComplex128;

// One element of type kTfLiteFloat16.
typedef struct TfLiteFloat16 {
  // The IEEE half precision bits.
  uint16_t data;
} TfLiteFloat16;

// One element of type kTfLiteBFloat16.
typedef struct TfLiteBFloat16 {
  // The upper half of the single precision bits.
  uint16_t data;
} TfLiteBFloat16;

// Returns the name of a type in capitals, e.g. "FLOAT32"; "Unknown type" for any other value.
// Static string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteTypeGetName(TfLiteType type);

// Type of the struct that TfLiteQuantization.params points to.
typedef enum TfLiteQuantizationType {
  // params is NULL.
  kTfLiteNoQuantization = 0,
  // params is a TfLiteAffineQuantization.
  kTfLiteAffineQuantization = 1,
  // params is a TfLiteBlockwiseQuantization (since LiteRT 1.3).
  kTfLiteBlockwiseQuantization = 2,
  // params is a TfLiteMultiAxisQuantization (since LiteRT 2.2).
  kTfLiteMultiAxisQuantization = 3,
} TfLiteQuantizationType;

// Mapping from the stored numbers of a tensor to real ones.
typedef struct TfLiteQuantization {
  // Type of `params`.
  TfLiteQuantizationType type;
  // malloc block owned by the tensor; TfLiteQuantizationFree frees it and everything that it owns.
  void* params;
} TfLiteQuantization;

// real = scale * (stored - zero_point), for the whole tensor or for each slice of one dimension.
typedef struct TfLiteAffineQuantization {
  // Scales: one element, or one per index of `quantized_dimension`. Owned.
  TfLiteFloatArray* scale;
  // Zero points: as many as scales, or one for all scales. Owned.
  TfLiteIntArray* zero_point;
  // The dimension along which each index has a scale of its own.
  int32_t quantized_dimension;
} TfLiteAffineQuantization;

// One scale per block of consecutive elements along a dimension.
typedef struct TfLiteBlockwiseQuantization {
  // Index of the tensor that holds the scales.
  int32_t scale;
  // Index of the tensor that holds the zero points, or -1.
  int32_t zero_point;
  // Elements per block.
  int32_t blocksize;
  // The dimension that is divided into blocks.
  int32_t quantized_dimension;
} TfLiteBlockwiseQuantization;

// Scales along several dimensions.
typedef struct TfLiteMultiAxisQuantization {
  // Index of the tensor that holds the scales.
  int32_t scales;
  // Index of the tensor that holds the zero points, or -1.
  int32_t zero_points;
  // Elements per block.
  int32_t blocksize;
  // Dimensions along which each index has scales of its own. Owned.
  TfLiteIntArray* quantized_dimensions;
} TfLiteMultiAxisQuantization;

// Address of a tensor's contents, typed for each element type. All members share the address; `raw`
// and `data` are the generic ones.
typedef union TfLitePtrUnion {
  int32_t* i32;
  uint32_t* u32;
  int64_t* i64;
  uint64_t* u64;
  float* f;
  TfLiteFloat16* f16;
  TfLiteBFloat16* bf16;
  double* f64;
  char* raw;
  const char* raw_const;
  uint8_t* uint8;
  bool* b;
  int16_t* i16;
  uint16_t* ui16;
  TfLiteComplex64* c64;
  TfLiteComplex128* c128;
  int8_t* int8;
  void* data;
} TfLitePtrUnion;

// Location of a tensor's contents, and the lifetime of their address and values.
typedef enum TfLiteAllocationType {
  // No memory.
  kTfLiteMemNone = 0,
  // Constant, usually in the model's bytes. Never written, freed or resized.
  kTfLiteMmapRo = 1,
  // Arena. The address is valid until the next allocation, the contents only during one Invoke.
  kTfLiteArenaRw = 2,
  // Arena. The contents survive from Invoke to Invoke; used for variables.
  kTfLiteArenaRwPersistent = 3,
  // malloc block owned by the tensor; it may be replaced during Invoke.
  kTfLiteDynamic = 4,
  // malloc block owned by the tensor, filled by a kernel's prepare and read-only afterwards.
  kTfLitePersistentRo = 5,
  // Memory of the client, set by TfLiteInterpreterSetCustomAllocationForTensor.
  kTfLiteCustom = 6,
  // `data` is a VariantData, deleted through its virtual destructor (since TensorFlow 2.14).
  kTfLiteVariantObject = 7,
  // No host memory; a delegate holds the contents (since LiteRT 1.2).
  kTfLiteNonCpu = 8,
} TfLiteAllocationType;

// Origin of a tensor's memory.
typedef enum TfLiteAllocationStrategy {
  // Unknown.
  kTfLiteAllocationStrategyUnknown = 0,
  // No memory.
  kTfLiteAllocationStrategyNone = 1,
  // Part of a mapped file or of the client's model bytes.
  kTfLiteAllocationStrategyMMap = 2,
  // Part of the interpreter's arena.
  kTfLiteAllocationStrategyArena = 3,
  // A separate malloc block.
  kTfLiteAllocationStrategyMalloc = 4,
  // A C++ object.
  kTfLiteAllocationStrategyNew = 5
} TfLiteAllocationStrategy;

// Period during which an address or a value is constant.
typedef enum TfLiteRunStability {
  // Unknown.
  kTfLiteRunStabilityUnknown = 0,
  // The address or value may change at any time.
  kTfLiteRunStabilityUnstable = 1,
  // The address or value is constant during one Invoke.
  kTfLiteRunStabilitySingleRun = 2,
  // The address or value is constant from Invoke to Invoke.
  kTfLiteRunStabilityAcrossRuns = 3,
} TfLiteRunStability;

// First phase of a kernel's life in which a property is known.
typedef enum TfLiteRunStep {
  // Unknown.
  kTfLiteRunStepUnknown = 0,
  // The kernel's init.
  kTfLiteRunStepInit = 1,
  // The kernel's prepare.
  kTfLiteRunStepPrepare = 2,
  // The kernel's invoke.
  kTfLiteRunStepEval = 3,
} TfLiteRunStep;

// Number of a buffer, assigned by a delegate; only that delegate can interpret it.
typedef int TfLiteBufferHandle;

// Value of TfLiteTensor.buffer_handle if no buffer is attached.
enum {
  kTfLiteNullBufferHandle = -1,
};

// Identifier of a tensor that has no buffer of its own in the model.
__extension__ enum {
  kTfLiteNoBufferIdentifier = SIZE_MAX,
};

// Storage format of one dimension of a sparse tensor.
typedef enum TfLiteDimensionType {
  // All `dense_size` indices are stored.
  kTfLiteDimDense = 0,
  // Only some indices are stored, as compressed rows: `array_segments` and `array_indices`.
  kTfLiteDimSparseCSR = 1,
} TfLiteDimensionType;

// One dimension of a sparse tensor.
typedef struct TfLiteDimensionMetadata {
  // Storage format of the dimension.
  TfLiteDimensionType format;
  // Number of indices of a dense dimension.
  int dense_size;
  // For CSR only: position in `array_indices` at which each row starts. Owned.
  TfLiteIntArray* array_segments;
  // For CSR only: the indices that are stored. Owned.
  TfLiteIntArray* array_indices;
} TfLiteDimensionMetadata;

// Encoding of a sparse constant. A malloc block, freed by TfLiteSparsityFree.
typedef struct TfLiteSparsity {
  // Order in which the dimensions are traversed. Owned.
  TfLiteIntArray* traversal_order;
  // Original dimension that each block dimension divides. Owned, may be NULL.
  TfLiteIntArray* block_map;
  // Description of each dimension: a malloc block of `dim_metadata_size` entries. Owned.
  TfLiteDimensionMetadata* dim_metadata;
  // Number of entries of `dim_metadata`.
  int dim_metadata_size;
} TfLiteSparsity;

// Memory of a client for a tensor. The struct is copied, the memory is borrowed.
typedef struct TfLiteCustomAllocation {
  // Address of the memory, aligned to 64 bytes unless kTfLiteCustomAllocationFlagsSkipAlignCheck is
  // set.
  void* data;
  // Size of the memory in bytes, checked when tensors are allocated.
  size_t bytes;
} TfLiteCustomAllocation;

// Flags of TfLiteInterpreterSetCustomAllocationForTensor.
typedef enum TfLiteCustomAllocationFlags {
  // Size and alignment are checked.
  kTfLiteCustomAllocationFlagsNone = 0,
  // The alignment is not checked; the kernels must support unaligned memory.
  kTfLiteCustomAllocationFlagsSkipAlignCheck = 1,
} TfLiteCustomAllocationFlags;

// Functions that replace malloc, realloc and free in the ...WithAllocator helpers (since LiteRT
// 2.2). The memory that they return must have the requested alignment, in bytes.
typedef struct TfLiteAllocator {
  // First argument of all functions of the allocator.
  void* data;
  // Returns a block of `bytes` bytes, or NULL.
  void* (*allocate)(void* data, size_t bytes, size_t alignment);
  // Resizes a block and keeps its contents, or returns NULL and keeps the old block. May be NULL;
  // then blocks are moved with allocate and deallocate.
  void* (*reallocate)(void* data, void* ptr, size_t old_bytes, size_t new_bytes, size_t alignment);
  // Frees a block.
  void (*deallocate)(void* data, void* ptr, size_t bytes, size_t alignment);
} TfLiteAllocator;

// A tensor, owned by its subgraph. The array of tensors may move when tensors are added: fetch
// pointers again after AllocateTensors and after applying a delegate.
typedef struct TfLiteTensor {
  // Element type.
  TfLiteType type;
  // Address of the contents, see allocation_type. NULL before allocation.
  TfLitePtrUnion data;
  // The shape; size 0 for a scalar, NULL only before initialisation. Owned.
  TfLiteIntArray* dims;
  // Per-tensor quantisation; set consistently with `quantization` when a model is loaded.
  TfLiteQuantizationParams params;
  // Location of the contents.
  TfLiteAllocationType allocation_type;
  // Size of the contents; for strings the size of the buffer.
  size_t bytes;
  // Data of the runtime about the memory; private, may be NULL.
  const void* allocation;
  // Name of the tensor; not owned: points into the model, or to "". May be NULL in tensors that
  // kernels or delegates add.
  const char* name;
  // The delegate that produces the tensor or owns its buffer handle, or NULL.
  struct TfLiteDelegate* delegate;
  // Number of the delegate's buffer, or kTfLiteNullBufferHandle.
  TfLiteBufferHandle buffer_handle;
  // True if the host memory is older than the contents of the delegate's buffer; set by the
  // delegate.
  bool data_is_stale;
  // True for variables, whose contents survive from Invoke to Invoke.
  bool is_variable;
  // Full quantisation. Owned.
  TfLiteQuantization quantization;
  // Encoding of a sparse constant, usually NULL. Owned.
  TfLiteSparsity* sparsity;
  // The shape with -1 for unknown dimensions; NULL or empty if the model has none. Owned.
  const TfLiteIntArray* dims_signature;
} TfLiteTensor;

// A node: one use of an operator in a graph. Owned by its subgraph.
typedef struct TfLiteNode {
  // Tensor indices of the inputs; kTfLiteOptionalTensor where an optional input is absent. Owned.
  TfLiteIntArray* inputs;
  // Tensor indices of the outputs. Owned.
  TfLiteIntArray* outputs;
  // Tensor indices of intermediate results, used by a few operators. Owned.
  TfLiteIntArray* intermediates;
  // Tensor indices of scratch tensors. Owned; prepare may free this array and store another one.
  TfLiteIntArray* temporaries;
  // Result of the kernel's init.
  void* user_data;
  // The operator's parameter struct, or the delegate's parameters for a node that a delegate added
  // to the graph: an owned malloc block. NULL for custom operators.
  void* builtin_data;
  // Options of a custom operator, inside the model, or NULL.
  const void* custom_initial_data;
  // Size of custom_initial_data, in bytes.
  int custom_initial_data_size;
  // The delegate that runs this node, or NULL.
  struct TfLiteDelegate* delegate;
  // True for IF, WHILE, CALL_ONCE and nodes with a resource tensor: they must not be removed or
  // reordered.
  bool might_have_side_effect;
} TfLiteNode;

// A tensor of the runtime for micro-controllers. Not used by this library.
typedef struct TfLiteEvalTensor {
  // Address of the contents.
  TfLitePtrUnion data;
  // Shape of the tensor.
  TfLiteIntArray* dims;
  // Element type.
  TfLiteType type;
} TfLiteEvalTensor;

// Frees the contents of a tensor whose allocation type is kTfLiteDynamic, kTfLitePersistentRo or
// kTfLiteVariantObject, and sets `data` to NULL in any case. Other fields are unchanged. NULL is
// ignored. Not thread-safe for one tensor.
TFL_CAPI_EXPORT void TfLiteTensorDataFree(TfLiteTensor* t);

// Frees the contents of a tensor like TfLiteTensorDataFree, through the allocator that allocated
// them; a NULL allocator means free().
TFL_CAPI_EXPORT void TfLiteTensorDataFreeWithAllocator(TfLiteTensor* t, TfLiteAllocator* allocator);

// Frees everything that a quantisation owns and resets it to kTfLiteNoQuantization. NULL is
// ignored.
TFL_CAPI_EXPORT void TfLiteQuantizationFree(TfLiteQuantization* quantization);

// Frees a sparsity struct and everything that it owns. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteSparsityFree(TfLiteSparsity* sparsity);

// Frees everything that a tensor owns and resets the fields that pointed to it, but does not free
// the struct. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteTensorFree(TfLiteTensor* t);

// Returns a deep copy. Shape, signature, quantisation and sparsity are copied; contents of
// kTfLiteDynamic and kTfLitePersistentRo tensors are duplicated, variant objects cloned; constant,
// arena and custom memory is shared. The caller frees the result with TfLiteTensorFree. If out of
// memory, the parts that could not be copied are NULL.
TFL_CAPI_EXPORT TfLiteTensor TfLiteTensorClone(TfLiteTensor src);

// Frees everything that the tensor owns and stores the arguments in it. Takes ownership of `dims`,
// and of `buffer` if the allocation type is one that owns its contents; `name` and `allocation` are
// borrowed. The full quantisation is reset to none. Delegate, buffer handle and data_is_stale are
// unchanged.
TFL_CAPI_EXPORT void TfLiteTensorReset(TfLiteType type, const char* name, TfLiteIntArray* dims,
                                       TfLiteQuantizationParams quantization, char* buffer,
                                       size_t size, TfLiteAllocationType allocation_type,
                                       const void* allocation, bool is_variable,
                                       TfLiteTensor* tensor);

// Copies type, shape, contents, buffer handle, data_is_stale and delegate of a tensor. The contents
// are copied into the memory of `dst`; a variant object is cloned. kTfLiteError if `bytes` differ,
// if either tensor has no memory, if the clone fails (`dst` then has no object), or if out of
// memory. Name and quantisation are unchanged. kTfLiteOk without effect if either tensor is NULL or
// both are the same tensor.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopy(const TfLiteTensor* src, TfLiteTensor* dst);

// Resizes the memory of a kTfLiteDynamic or kTfLitePersistentRo tensor to `num_bytes` bytes;
// kTfLiteOk without effect for other tensors. If the memory grows and `preserve_data` is false, the
// contents are lost; shrinking only lowers `bytes`. kTfLiteError, with the old memory kept, for a
// NULL tensor, on overflow and if out of memory.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes, TfLiteTensor* tensor,
                                                         bool preserve_data);

// Resizes a tensor like TfLiteTensorResizeMaybeCopy, but with an allocator, and shrinking
// reallocates the block. A NULL allocator means malloc.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorResizeMaybeCopyWithAllocator(size_t num_bytes,
                                                                      TfLiteTensor* tensor,
                                                                      bool preserve_data,
                                                                      TfLiteAllocator* allocator);

// Calls TfLiteTensorResizeMaybeCopy with the contents preserved.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor* tensor);

// Calls TfLiteTensorResizeMaybeCopyWithAllocator with the contents preserved. A NULL allocator
// means malloc.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorReallocWithAllocator(size_t num_bytes,
                                                              TfLiteTensor* tensor,
                                                              TfLiteAllocator* allocator);

// Returns the shape signature if the tensor has a non-empty one, else its shape. Owned by the
// tensor.
TFL_CAPI_EXPORT const TfLiteIntArray* TfLiteTensorGetDimsSignature(const TfLiteTensor* t);

// Origin of a tensor's memory; derived from its allocation type.
TFL_CAPI_EXPORT TfLiteAllocationStrategy TfLiteTensorGetAllocationStrategy(const TfLiteTensor* t);

// Period during which the address of a tensor's contents is constant.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteTensorGetBufferAddressStability(const TfLiteTensor* t);

// Period during which a tensor's contents are constant.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteTensorGetDataStability(const TfLiteTensor* t);

// First phase in which a tensor's contents are known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteTensorGetDataKnownStep(const TfLiteTensor* t);

// First phase in which a tensor's shape is known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteTensorGetShapeKnownStep(const TfLiteTensor* t);

// ------------------------------------------------------------------------------------------------
// Context
// ------------------------------------------------------------------------------------------------

// Builtin data of a delegate's node. One malloc block that contains the struct and its three
// arrays; the runtime frees it with the node.
typedef struct TfLiteDelegateParams {
  // The delegate that replaced the nodes; NULL in previews.
  struct TfLiteDelegate* delegate;
  // Indices of the replaced nodes, in execution order.
  TfLiteIntArray* nodes_to_replace;
  // Tensors that the subset reads, including constants, sorted, without duplicates.
  TfLiteIntArray* input_tensors;
  // Tensors that the subset produces for other nodes or as outputs, sorted, without duplicates.
  TfLiteIntArray* output_tensors;
} TfLiteDelegateParams;

// Builtin data of a node of a delegate of TfLiteOpaqueDelegateCreate (since TensorFlow 2.12).
typedef struct TfLiteOpaqueDelegateParams {
  // The delegate that replaced the nodes.
  TfLiteOpaqueDelegate* delegate;
  // Field `data` of the delegate's builder.
  void* delegate_data;
  // Indices of the replaced nodes, in execution order.
  TfLiteIntArray* nodes_to_replace;
  // Tensors that the subset reads, including constants, sorted, without duplicates.
  TfLiteIntArray* input_tensors;
  // Tensors that the subset produces for other nodes or as outputs, sorted, without duplicates.
  TfLiteIntArray* output_tensors;
} TfLiteOpaqueDelegateParams;

// Interface of a subgraph for kernels and delegates. Each subgraph has one object, which the
// interpreter owns and which is valid as long as the interpreter. Use it only inside the callback
// that received it.
//
// Six functions work only during a delegate's Prepare; otherwise they report an error and return
// kTfLiteError. The runtime exchanges these function pointers, so read them at each call. Seven
// other functions belong to the runtime for micro-controllers and are always NULL here.
typedef struct TfLiteContext {
  // Number of tensors; grows with AddTensors.
  size_t tensors_size;

  // For delegates only. Stores the node indices in execution order. The runtime owns the array and
  // overwrites it at the next call of this function; copy it before calling anything that may call
  // it.
  TfLiteStatus (*GetExecutionPlan)(struct TfLiteContext* context, TfLiteIntArray** execution_plan);

  // All tensors of the subgraph. The array may move when tensors are added, but not before a
  // kernel's prepare or invoke has added 16.
  TfLiteTensor* tensors;

  // Data of the runtime; private.
  void* impl_;

  // Changes the shape of a tensor. Takes ownership of `new_size` in every case; on success that
  // array becomes the tensor's `dims`. Constants and tensors without memory cannot be resized.
  TfLiteStatus (*ResizeTensor)(struct TfLiteContext* context, TfLiteTensor* tensor,
                               TfLiteIntArray* new_size);

  // Reports a printf-style message through the interpreter's error reporter.
  void (*ReportError)(struct TfLiteContext* context, const char* msg, ...);

  // Adds tensors without type, shape and memory, and stores the index of the first one in the last
  // argument unless that is NULL.
  TfLiteStatus (*AddTensors)(struct TfLiteContext* context, int tensors_to_add,
                             int* first_new_tensor_index);

  // For delegates only. Finds a node of the table, including nodes that no longer run. The pointers
  // become invalid when nodes are added.
  TfLiteStatus (*GetNodeAndRegistration)(struct TfLiteContext* context, int node_index,
                                         TfLiteNode** node,
                                         struct TfLiteRegistration** registration);

  // For delegates only. Partitions the listed nodes by their dependencies and replaces each
  // partition by a new node that runs `registration`. The graph keeps nodes that the client or the
  // interpreter excludes from delegation. The list is borrowed. On failure the delegate's Prepare
  // must return the error.
  TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(struct TfLiteContext* context,
                                                        struct TfLiteRegistration registration,
                                                        const TfLiteIntArray* nodes_to_replace,
                                                        struct TfLiteDelegate* delegate);

  // Number of threads that kernels should use; -1 if not set.
  int recommended_num_threads;

  // Returns an external context; NULL if none is set.
  TfLiteExternalContext* (*GetExternalContext)(struct TfLiteContext* context,
                                               TfLiteExternalContextType type);

  // Sets an external context; the caller keeps the ownership.
  void (*SetExternalContext)(struct TfLiteContext* context, TfLiteExternalContextType type,
                             TfLiteExternalContext* external_context);

  // True if delegates may compute in half precision. False unless a client of the C++ API sets it;
  // Deputy's kernels ignore it.
  bool allow_fp32_relax_to_fp16;

  // C++ object of upstream's profiling. Set by the C++ API (bindings/cpp) only, else NULL; the
  // library does not use it.
  void* profiler;

  // Function of the runtime for micro-controllers; always NULL here.
  void* (*AllocatePersistentBuffer)(struct TfLiteContext* context, size_t bytes);
  // Function of the runtime for micro-controllers; always NULL here.
  TfLiteStatus (*AllocateBufferForEval)(struct TfLiteContext* context, size_t bytes, void** ptr);
  // Function of the runtime for micro-controllers; always NULL here.
  TfLiteStatus (*RequestScratchBufferInArena)(struct TfLiteContext* context, size_t bytes,
                                              int* buffer_index);
  // Function of the runtime for micro-controllers; always NULL here.
  void* (*GetScratchBuffer)(struct TfLiteContext* context, int buffer_index);
  // Function of the runtime for micro-controllers; always NULL here.
  TfLiteStatus (*ResizeTensorExplicit)(struct TfLiteContext* context, TfLiteTensor* tensor,
                                       int dims, const int* shape);

  // For delegates only. Returns the partitions that replacing the nodes would create, without
  // changing the graph. The runtime owns the array and overwrites it at the next preview.
  TfLiteStatus (*PreviewDelegatePartitioning)(struct TfLiteContext* context,
                                              const TfLiteIntArray* nodes_to_replace,
                                              TfLiteDelegateParams** partition_params_array,
                                              int* num_partitions);

  // Function of the runtime for micro-controllers; always NULL here. Use `tensors` instead.
  TfLiteTensor* (*GetTensor)(const struct TfLiteContext* context, int tensor_idx);
  // Function of the runtime for micro-controllers; always NULL here.
  TfLiteEvalTensor* (*GetEvalTensor)(const struct TfLiteContext* context, int tensor_idx);

  // Returns metadata of the model by name. The bytes are valid as long as the interpreter. Returns
  // an error if the name is unknown, and during init of the model's kernels.
  TfLiteStatus (*GetModelMetadata)(const struct TfLiteContext* context, const char* name,
                                   const char** ptr, size_t* bytes);

  // For delegates only (since TensorFlow 2.14). Makes another subgraph available for delegation.
  TfLiteStatus (*AcquireSubgraphContext)(struct TfLiteContext* context, int subgraph_index,
                                         struct TfLiteContext** acquired_context);

  // For delegates only (since TensorFlow 2.14). Ends the access that AcquireSubgraphContext
  // permitted.
  TfLiteStatus (*ReleaseSubgraphContext)(struct TfLiteContext* context, int subgraph_index);
} TfLiteContext;

// ------------------------------------------------------------------------------------------------
// Registrations
// ------------------------------------------------------------------------------------------------

// Flags of the inputs whose memory the outputs of an operator may share.
__extension__ typedef enum TfLiteInPlaceOp {
  // No memory may be shared.
  kTfLiteInplaceOpNone = 0,
  // The operator does not change the contents, so output 0 may be an alias of input 0.
  kTfLiteInplaceOpDataUnmodified = 1,
  // Input i may share memory with output i.
  kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput = 2,
  // Output 0 may use the memory of input 0.
  kTfLiteInplaceOpInput0Shared = 4,
  // Output 0 may use the memory of input 1.
  kTfLiteInplaceOpInput1Shared = 8,
  // Output 0 may use the memory of input 2.
  kTfLiteInplaceOpInput2Shared = 16,
  // Makes the enum 64 bits wide.
  kTfLiteInplaceOpMaxValue = UINT64_MAX,
} TfLiteInPlaceOp;

// Number of inputs that have a flag of their own.
static const int kTfLiteMaxSharableOpInputs = 3;

// An operator as a set of functions. Append-only: plug-ins built with older headers have only the
// first 64, 72 or 80 bytes (TfLiteRegistration_V1, _V2, _V3). Initialise the struct with zeros.
typedef struct TfLiteRegistration {
  // Called once per node when the node is created. Receives the custom options, or the
  // parameter struct with length 0 for builtin operators. The result becomes the node's user data;
  // the value of TfLiteKernelInitFailed() reports a failure. May be NULL.
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);

  // Frees the result of init, if that is not NULL. May be NULL.
  void (*free)(TfLiteContext* context, void* buffer);

  // Called after each change of input shapes: checks the node and sets the output shapes. May be
  // NULL.
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);

  // Computes the outputs.
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);

  // Returns a short description of the node for profiles, owned by the kernel. May be NULL.
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);

  // Number of the builtin operator; 32 for custom operators, 51 for delegates' nodes.
  int32_t builtin_code;

  // Name of a custom operator or of a delegate's kernel. Not owned, must outlive the interpreter.
  const char* custom_name;

  // Version of the operator.
  int version;

  // An operator object that takes precedence over the functions init, free, prepare and invoke, or
  // NULL.
  TfLiteOperator* registration_external;

  // Returns the asynchronous kernel of a delegate's node (since TensorFlow 2.13). May be NULL.
  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteContext* context, TfLiteNode* node);

  // Flags of TfLiteInPlaceOp (since TensorFlow 2.14).
  uint64_t inplace_operator;
} TfLiteRegistration;

// Registration of TensorFlow 2.13, with 80 bytes; fields as in TfLiteRegistration.
typedef struct TfLiteRegistration_V3 {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  TfLiteOperator* registration_external;
  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteContext* context, TfLiteNode* node);
} TfLiteRegistration_V3;

// Registration of TensorFlow 2.10 to 2.12, with 72 bytes; fields as in TfLiteRegistration.
typedef struct TfLiteRegistration_V2 {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  TfLiteOperator* registration_external;
} TfLiteRegistration_V2;

// Registration from before TensorFlow 2.10, with 64 bytes; fields as in TfLiteRegistration.
typedef struct TfLiteRegistration_V1 {
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);
  void (*free)(TfLiteContext* context, void* buffer);
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
} TfLiteRegistration_V1;

// Returns the value by which init reports a failure: (void*)-1. Older runtimes (before TensorFlow
// 2.20) treat it as ordinary user data. Any thread.
TFL_CAPI_EXPORT void* TfLiteKernelInitFailed(void);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Flags of TfLiteDelegate.flags.
typedef enum TfLiteDelegateFlags {
  // The delegate needs static shapes; the graph is immutable after it has been applied.
  kTfLiteDelegateFlagsNone = 0,
  // The delegate supports dynamic tensors: it stays applied after a resize, and its kernels'
  // prepare is called again.
  kTfLiteDelegateFlagsAllowDynamicTensors = 1,
  // With AllowDynamicTensors: the runtime also prepares the replaced nodes, so that the shapes of
  // tensors inside partitions are known.
  kTfLiteDelegateFlagsRequirePropagatedShapes = 2,
  // The delegate reports the time of each operator itself (since TensorFlow 2.12).
  kTfLiteDelegateFlagsPerOperatorProfiling = 4,
  // Promises that this delegate claims the whole graph (since LiteRT 2.1).
  kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate = 8
} TfLiteDelegateFlags;

// A backend that runs nodes instead of the runtime's kernels. The client or plug-in that created it
// owns it and must delete it after every interpreter that it was applied to. Initialise it with
// zeros or with TfLiteDelegateCreate. The struct had 48 bytes before TensorFlow 2.11.
struct TfLiteDelegate {
  // Data of the delegate; private.
  void* data_;

  // Called once per subgraph, and when the delegate is applied again after a resize: reads the
  // graph and replaces nodes. Must not be NULL, unless the delegate is opaque.
  TfLiteStatus (*Prepare)(TfLiteContext* context, struct TfLiteDelegate* delegate);

  // Copies a buffer to the host memory of a tensor. May be NULL if tensors are never stale.
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                                       TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);

  // Copies the host memory of a tensor to a buffer. Never called by the runtime, may be NULL.
  TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                                     TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);

  // Releases a buffer. May be NULL if the delegate never sets a handle.
  void (*FreeBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                           TfLiteBufferHandle* handle);

  // Flags of TfLiteDelegateFlags. Ignored for opaque delegates.
  int64_t flags;

  // Argument of TfLiteOpaqueDelegateCreate (since TensorFlow 2.11). Read only if Prepare is NULL,
  // and by Deputy only if CopyFromBufferHandle and FreeBufferHandle are NULL, too.
  struct TfLiteOpaqueDelegateBuilder* opaque_delegate_builder;
};

// Returns a delegate whose fields are all zero. Any thread; cannot fail.
TFL_CAPI_EXPORT TfLiteDelegate TfLiteDelegateCreate(void);

// Description of an opaque delegate; see TfLiteOpaqueDelegateCreate in c_api_opaque.h. Every
// callback receives `data`.
typedef struct TfLiteOpaqueDelegateBuilder {
  // Data of the delegate; private, never freed by the runtime.
  void* data;

  // Callback TfLiteDelegate.Prepare with opaque arguments. Required.
  TfLiteStatus (*Prepare)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate, void* data);

  // Callback TfLiteDelegate.CopyFromBufferHandle with opaque arguments. May be NULL.
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                                       void* data, TfLiteBufferHandle buffer_handle,
                                       TfLiteOpaqueTensor* tensor);

  // Callback TfLiteDelegate.CopyToBufferHandle with opaque arguments. May be NULL.
  TfLiteStatus (*CopyToBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                                     void* data, TfLiteBufferHandle buffer_handle,
                                     TfLiteOpaqueTensor* tensor);

  // Callback TfLiteDelegate.FreeBufferHandle with opaque arguments. May be NULL.
  void (*FreeBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate, void* data,
                           TfLiteBufferHandle* handle);

  // Flags of TfLiteDelegateFlags.
  int64_t flags;
} TfLiteOpaqueDelegateBuilder;

#ifdef __cplusplus
}  // extern "C"

// Base class of the object in a tensor of type kTfLiteVariantObject. The order of the two virtual
// functions is part of the ABI.
struct VariantData {
  // The runtime deletes the object through this destructor.
  virtual ~VariantData() = default;

  // Returns a copy, constructed in the memory of `maybe_reuse` if that is not null, else with new.
  // The caller owns the copy.
  virtual VariantData* CloneTo(VariantData* maybe_reuse) const = 0;
};
#endif

#endif  // DEPUTY_C_API_INCLUDE_COMMON_H_
