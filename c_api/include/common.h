// SPDX-License-Identifier: Apache-2.0
//
// The structs that the runtime, kernels and delegates share, and the helpers that work on them.
//
// Every layout here is frozen: plug-ins compiled years ago read these fields at fixed offsets. What
// was added later sits at the end of its struct and is marked with the release that brought it;
// code that may meet an older runtime or an older plug-in must not touch it.
//
// Memory that crosses the border between runtime, client and plug-in comes from malloc and goes to
// free: int and float arrays, quantisation, sparsity, dynamic tensor data, builtin data. So each
// side may link its own copy of these helpers.
//
// Defining TF_LITE_STATIC_MEMORY selects the layouts of a different, micro-controller runtime. This
// library is not that one, and the header refuses to compile with it.
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
  // The number of slots. It was 4 before TensorFlow 2.19.
  kTfLiteMaxExternalContexts = 5
} TfLiteExternalContextType;

// The head of an external context. The client derives its own struct from it and owns it; it must
// outlive every interpreter that it is set on.
typedef struct TfLiteExternalContext {
  // The slot it was made for.
  TfLiteExternalContextType type;
  // Called when the number of threads changes. May be NULL.
  TfLiteStatus (*Refresh)(struct TfLiteContext* context);
} TfLiteExternalContext;

// Stands in a node's inputs for an optional input that is absent.
#define kTfLiteOptionalTensor (-1)

// ------------------------------------------------------------------------------------------------
// Arrays
// ------------------------------------------------------------------------------------------------

// A counted array of ints in one malloc block of 4 + 4 * size bytes. Most pointers to one are owned
// by the struct they sit in.
__extension__ typedef struct TfLiteIntArray {
  // Number of elements, never negative.
  int size;
  // The elements.
  int data[];
} TfLiteIntArray;

// Bytes that an array of `size` ints occupies. Any thread; cannot fail.
TFL_CAPI_EXPORT size_t TfLiteIntArrayGetSizeInBytes(int size);

// Makes an array whose elements are uninitialised. The caller owns it and frees it with
// TfLiteIntArrayFree. Size 0 gives a valid array. NULL if `size` is negative or memory is short.
// Any thread.
TFL_CAPI_EXPORT TfLiteIntArray* TfLiteIntArrayCreate(int size);

// 1 if both hold the same elements, or both are NULL, else 0. Borrows both. Any thread.
TFL_CAPI_EXPORT int TfLiteIntArrayEqual(const TfLiteIntArray* a, const TfLiteIntArray* b);

// 1 if `a` holds exactly the `b_size` elements at `b_data`, else 0. A NULL array equals only a
// length of 0. Borrows both. Any thread.
TFL_CAPI_EXPORT int TfLiteIntArrayEqualsArray(const TfLiteIntArray* a, int b_size,
                                              const int* b_data);

// A copy that the caller owns. NULL for NULL, and when memory is short. Any thread.
TFL_CAPI_EXPORT TfLiteIntArray* TfLiteIntArrayCopy(const TfLiteIntArray* src);

// Frees an array. NULL is fine. Any thread.
TFL_CAPI_EXPORT void TfLiteIntArrayFree(TfLiteIntArray* a);

// A counted array of floats in one malloc block; like TfLiteIntArray.
__extension__ typedef struct TfLiteFloatArray {
  // Number of elements, never negative.
  int size;
  // The elements.
  float data[];
} TfLiteFloatArray;

// Bytes that an array of `size` floats occupies. Any thread; cannot fail.
TFL_CAPI_EXPORT int TfLiteFloatArrayGetSizeInBytes(int size);

// Makes an array whose elements are uninitialised; rules as for TfLiteIntArrayCreate.
TFL_CAPI_EXPORT TfLiteFloatArray* TfLiteFloatArrayCreate(int size);

// A copy that the caller owns. NULL for NULL, and when memory is short. Any thread.
TFL_CAPI_EXPORT TfLiteFloatArray* TfLiteFloatArrayCopy(const TfLiteFloatArray* src);

// Frees an array. NULL is fine. Any thread.
TFL_CAPI_EXPORT void TfLiteFloatArrayFree(TfLiteFloatArray* a);

// ------------------------------------------------------------------------------------------------
// Reporting and checking macros for kernels and delegates. Those that check return from the
// function they stand in, so it must return TfLiteStatus. TF_LITE_STRIP_ERROR_STRINGS compiles the
// messages out and keeps the checks.
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

// Returns kTfLiteError unless the condition holds. The rest is a printf-style message; its format
// must be a string literal.
#define TF_LITE_ENSURE_MSG(context, condition, ...)                                       \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      TF_LITE_KERNEL_LOG((context),                                                       \
                         __FILE__ ":" TFL_INTERNAL_LINE_TEXT_(__LINE__) " " __VA_ARGS__); \
      return kTfLiteError;                                                                \
    }                                                                                     \
  } while (0)

// Returns kTfLiteError and names the condition unless it holds.
#define TF_LITE_ENSURE(context, condition)                                                     \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      TF_LITE_KERNEL_LOG((context), "%s:%d %s was not true.", __FILE__, __LINE__, #condition); \
      return kTfLiteError;                                                                     \
    }                                                                                          \
  } while (0)

// Returns the status of the expression if it is not kTfLiteOk. Silent.
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
// status if it is not kTfLiteOk, having reported the message with its place, if there is one and
// the context is not NULL. Silent without a message, whose format must be a string literal.
#define TF_LITE_ENSURE_OK(context, ...)                                                         \
  TFL_INTERNAL_SEVENTEENTH_(                                                                    \
      __VA_ARGS__, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_,                  \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_WITH_, \
      TFL_INTERNAL_ENSURE_OK_WITH_, TFL_INTERNAL_ENSURE_OK_, 0)                                 \
  (context, __VA_ARGS__)

// With one argument behind the context, and with two to sixteen.
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

// The name of a type in capitals, for example "FLOAT32"; "Unknown type" for any other value. Static
// string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteTypeGetName(TfLiteType type);

// Selects what TfLiteQuantization.params points to.
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

// How the stored numbers of a tensor map to real ones.
typedef struct TfLiteQuantization {
  // What `params` points to.
  TfLiteQuantizationType type;
  // malloc block owned by the tensor; freed, with what it owns, by TfLiteQuantizationFree.
  void* params;
} TfLiteQuantization;

// real = scale * (stored - zero_point), for the whole tensor or for each slice of one dimension.
typedef struct TfLiteAffineQuantization {
  // Owned. One element, or one per slice of `quantized_dimension`.
  TfLiteFloatArray* scale;
  // Owned. As long as `scale`, or one element that stands for all.
  TfLiteIntArray* zero_point;
  // The dimension whose slices have scales of their own.
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
  // The dimension that is cut into blocks.
  int32_t quantized_dimension;
} TfLiteBlockwiseQuantization;

// Scales along several dimensions at once.
typedef struct TfLiteMultiAxisQuantization {
  // Index of the tensor that holds the scales.
  int32_t scales;
  // Index of the tensor that holds the zero points, or -1.
  int32_t zero_points;
  // Elements per block.
  int32_t blocksize;
  // Owned. The dimensions.
  TfLiteIntArray* quantized_dimensions;
} TfLiteMultiAxisQuantization;

// The storage of a tensor, as a pointer to whatever its type says. All members share the address;
// `raw` and `data` are the generic ones.
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

// Where the bytes of a tensor live, and for how long they hold still.
typedef enum TfLiteAllocationType {
  // No storage.
  kTfLiteMemNone = 0,
  // A constant inside the model's bytes. Never written, freed or resized.
  kTfLiteMmapRo = 1,
  // Arena. The address holds between two allocations, the contents only within one Invoke.
  kTfLiteArenaRw = 2,
  // Arena. The contents survive from Invoke to Invoke; used for variables.
  kTfLiteArenaRwPersistent = 3,
  // malloc block owned by the tensor; it may be replaced during Invoke.
  kTfLiteDynamic = 4,
  // malloc block owned by the tensor, filled by a kernel's prepare and read-only afterwards.
  kTfLitePersistentRo = 5,
  // Memory of the client, given by TfLiteInterpreterSetCustomAllocationForTensor.
  kTfLiteCustom = 6,
  // `data` is a VariantData, deleted through its virtual destructor (since TensorFlow 2.14).
  kTfLiteVariantObject = 7,
  // No CPU memory at all, a delegate holds the contents (since LiteRT 1.2).
  kTfLiteNonCpu = 8,
} TfLiteAllocationType;

// How the memory of a tensor came to be.
typedef enum TfLiteAllocationStrategy {
  // Not known.
  kTfLiteAllocationStrategyUnknown = 0,
  // There is no memory.
  kTfLiteAllocationStrategyNone = 1,
  // Part of a mapped file or of the client's model bytes.
  kTfLiteAllocationStrategyMMap = 2,
  // Part of the interpreter's arena.
  kTfLiteAllocationStrategyArena = 3,
  // A malloc block of its own.
  kTfLiteAllocationStrategyMalloc = 4,
  // A C++ object.
  kTfLiteAllocationStrategyNew = 5
} TfLiteAllocationStrategy;

// For how long an address or a value holds still.
typedef enum TfLiteRunStability {
  // Not known.
  kTfLiteRunStabilityUnknown = 0,
  // It may change at any time.
  kTfLiteRunStabilityUnstable = 1,
  // It holds during one Invoke.
  kTfLiteRunStabilitySingleRun = 2,
  // It holds from Invoke to Invoke.
  kTfLiteRunStabilityAcrossRuns = 3,
} TfLiteRunStability;

// The first step of a kernel's life in which something is known.
typedef enum TfLiteRunStep {
  // Not known.
  kTfLiteRunStepUnknown = 0,
  // When the kernel's init runs.
  kTfLiteRunStepInit = 1,
  // When the kernel's prepare runs.
  kTfLiteRunStepPrepare = 2,
  // When the kernel's invoke runs.
  kTfLiteRunStepEval = 3,
} TfLiteRunStep;

// A delegate's own number for a buffer; only the delegate that issued it can read it.
typedef int TfLiteBufferHandle;

// The value of TfLiteTensor.buffer_handle when no buffer is attached.
enum {
  kTfLiteNullBufferHandle = -1,
};

// The identifier of a tensor without a buffer of its own in the model.
__extension__ enum {
  kTfLiteNoBufferIdentifier = SIZE_MAX,
};

// How one dimension of a sparse tensor is stored.
typedef enum TfLiteDimensionType {
  // All positions, `dense_size` of them.
  kTfLiteDimDense = 0,
  // Compressed rows: segments and indices.
  kTfLiteDimSparseCSR = 1,
} TfLiteDimensionType;

// One dimension of a sparse tensor.
typedef struct TfLiteDimensionMetadata {
  // How it is stored.
  TfLiteDimensionType format;
  // Number of positions, when dense.
  int dense_size;
  // Owned, only when CSR: where each row starts in `array_indices`.
  TfLiteIntArray* array_segments;
  // Owned, only when CSR: the positions that are present.
  TfLiteIntArray* array_indices;
} TfLiteDimensionMetadata;

// The encoding of a sparse constant. A malloc block, freed by TfLiteSparsityFree.
typedef struct TfLiteSparsity {
  // Owned. The order in which dimensions are walked.
  TfLiteIntArray* traversal_order;
  // Owned, may be NULL. Which original dimension each block dimension cuts.
  TfLiteIntArray* block_map;
  // Owned malloc block of `dim_metadata_size` entries.
  TfLiteDimensionMetadata* dim_metadata;
  // Number of entries.
  int dim_metadata_size;
} TfLiteSparsity;

// Memory that a client gives to a tensor. The struct is copied, the memory is borrowed.
typedef struct TfLiteCustomAllocation {
  // Aligned to 64 bytes, unless the flag says that this is not checked.
  void* data;
  // Size, checked when tensors are allocated.
  size_t bytes;
} TfLiteCustomAllocation;

// Bits for the flags of TfLiteInterpreterSetCustomAllocationForTensor.
typedef enum TfLiteCustomAllocationFlags {
  // Everything is checked.
  kTfLiteCustomAllocationFlagsNone = 0,
  // The alignment of the memory is not checked; the kernels must cope with it.
  kTfLiteCustomAllocationFlagsSkipAlignCheck = 1,
} TfLiteCustomAllocationFlags;

// Functions that replace malloc, realloc and free in the ...WithAllocator helpers (since LiteRT
// 2.2). All get `data` first. The memory they return must be aligned as asked.
typedef struct TfLiteAllocator {
  // Passed as first argument.
  void* data;
  // Returns `bytes` bytes, or NULL.
  void* (*allocate)(void* data, size_t bytes, size_t alignment);
  // Grows or shrinks a block and keeps its contents, or returns NULL and keeps the old one. May be
  // NULL; then blocks are moved with allocate and deallocate.
  void* (*reallocate)(void* data, void* ptr, size_t old_bytes, size_t new_bytes, size_t alignment);
  // Gives a block back.
  void (*deallocate)(void* data, void* ptr, size_t bytes, size_t alignment);
} TfLiteAllocator;

// A tensor. Owned by its subgraph; pointers to it may move when tensors are added, so fetch them
// again after AllocateTensors and after applying a delegate.
typedef struct TfLiteTensor {
  // Element type.
  TfLiteType type;
  // Storage, see allocation_type. NULL before allocation.
  TfLitePtrUnion data;
  // Owned. The shape; size 0 for a scalar, NULL only before setup.
  TfLiteIntArray* dims;
  // Per-tensor quantisation; kept in step with `quantization` when a model is loaded.
  TfLiteQuantizationParams params;
  // Where the bytes live.
  TfLiteAllocationType allocation_type;
  // Payload size; for strings the size of the buffer.
  size_t bytes;
  // Private to the runtime, may be NULL.
  const void* allocation;
  // Not owned: points into the model, or to "". May be NULL in tensors that were added later.
  const char* name;
  // The delegate that produced the tensor or owns its buffer handle, or NULL.
  struct TfLiteDelegate* delegate;
  // The delegate's number for the buffer, or kTfLiteNullBufferHandle.
  TfLiteBufferHandle buffer_handle;
  // Set by the delegate: the CPU bytes are older than what the handle stands for.
  bool data_is_stale;
  // The contents survive from Invoke to Invoke.
  bool is_variable;
  // Owned. Full quantisation.
  TfLiteQuantization quantization;
  // Owned, usually NULL.
  TfLiteSparsity* sparsity;
  // Owned. The shape with -1 for what is unknown; NULL or empty when the model has none.
  const TfLiteIntArray* dims_signature;
} TfLiteTensor;

// One use of an operator in a graph. Owned by its subgraph.
typedef struct TfLiteNode {
  // Owned. Tensor indices; kTfLiteOptionalTensor where an optional input is absent.
  TfLiteIntArray* inputs;
  // Owned. Tensor indices.
  TfLiteIntArray* outputs;
  // Owned. Tensor indices of intermediate results, used by a few operators.
  TfLiteIntArray* intermediates;
  // Owned. Tensor indices of scratch tensors; prepare may free this array and store another.
  TfLiteIntArray* temporaries;
  // What the kernel's init returned.
  void* user_data;
  // Owned malloc block: the operator's parameter struct, or the delegate's parameters for a node
  // that a delegate put into the graph. NULL for custom operators.
  void* builtin_data;
  // The custom operator's options inside the model, or NULL.
  const void* custom_initial_data;
  // Their size in bytes.
  int custom_initial_data_size;
  // The delegate that runs this node, or NULL.
  struct TfLiteDelegate* delegate;
  // The node touches a resource or runs another subgraph, so it must not be dropped or reordered.
  bool might_have_side_effect;
} TfLiteNode;

// A tensor of the micro-controller runtime. Never produced by this one.
typedef struct TfLiteEvalTensor {
  // Storage.
  TfLitePtrUnion data;
  // Shape.
  TfLiteIntArray* dims;
  // Element type.
  TfLiteType type;
} TfLiteEvalTensor;

// Frees the bytes of a tensor whose allocation type is dynamic, persistent or variant object, and
// sets `data` to NULL in any case. The other fields stay. NULL is fine. Any thread that owns the
// tensor.
TFL_CAPI_EXPORT void TfLiteTensorDataFree(TfLiteTensor* t);

// The same through the allocator that the bytes came from; NULL means free.
TFL_CAPI_EXPORT void TfLiteTensorDataFreeWithAllocator(TfLiteTensor* t, TfLiteAllocator* allocator);

// Frees what a quantisation owns and resets it to kTfLiteNoQuantization. NULL is fine.
TFL_CAPI_EXPORT void TfLiteQuantizationFree(TfLiteQuantization* quantization);

// Frees a sparsity with everything in it, itself included. NULL is fine.
TFL_CAPI_EXPORT void TfLiteSparsityFree(TfLiteSparsity* sparsity);

// Frees everything a tensor owns and resets those fields. The struct itself stays. NULL is fine.
TFL_CAPI_EXPORT void TfLiteTensorFree(TfLiteTensor* t);

// A deep copy. Shape, signature, quantisation and sparsity are copied; bytes of dynamic and
// persistent tensors are duplicated, variant objects cloned; constant, arena and custom memory is
// shared. The caller frees the result with TfLiteTensorFree. When memory is short, the parts that
// could not be copied are NULL.
TFL_CAPI_EXPORT TfLiteTensor TfLiteTensorClone(TfLiteTensor src);

// Frees what the tensor owns and stores the arguments in it. Takes ownership of `dims`, and of
// `buffer` if the allocation type is one that owns its bytes; `name` and `allocation` are borrowed.
// Full quantisation becomes none. Delegate, buffer handle and stale bit are kept.
TFL_CAPI_EXPORT void TfLiteTensorReset(TfLiteType type, const char* name, TfLiteIntArray* dims,
                                       TfLiteQuantizationParams quantization, char* buffer,
                                       size_t size, TfLiteAllocationType allocation_type,
                                       const void* allocation, bool is_variable,
                                       TfLiteTensor* tensor);

// Copies type, shape, bytes, buffer handle, stale bit and delegate. The bytes are copied into the
// memory that `dst` has, so `bytes` must agree, else kTfLiteError. Name and quantisation stay. Ok
// without effect if either is NULL or both are the same tensor.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopy(const TfLiteTensor* src, TfLiteTensor* dst);

// Makes a dynamic or persistent tensor hold `num_bytes` bytes; other tensors are left alone and the
// answer is Ok. When it grows and `preserve_data` is false, the contents are lost; shrinking only
// lowers `bytes`. kTfLiteError, with the old memory kept, for a NULL tensor, on overflow and when
// memory is short.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorResizeMaybeCopy(size_t num_bytes, TfLiteTensor* tensor,
                                                         bool preserve_data);

// The same with an allocator; NULL means malloc. A given allocator also shrinks blocks.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorResizeMaybeCopyWithAllocator(size_t num_bytes,
                                                                      TfLiteTensor* tensor,
                                                                      bool preserve_data,
                                                                      TfLiteAllocator* allocator);

// TfLiteTensorResizeMaybeCopy with the contents preserved.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorRealloc(size_t num_bytes, TfLiteTensor* tensor);

// The same with an allocator; NULL means malloc.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorReallocWithAllocator(size_t num_bytes,
                                                              TfLiteTensor* tensor,
                                                              TfLiteAllocator* allocator);

// The shape signature if the tensor has a non-empty one, else its shape. Borrowed from the tensor.
TFL_CAPI_EXPORT const TfLiteIntArray* TfLiteTensorGetDimsSignature(const TfLiteTensor* t);

// How the memory of the tensor came to be; derived from its allocation type.
TFL_CAPI_EXPORT TfLiteAllocationStrategy TfLiteTensorGetAllocationStrategy(const TfLiteTensor* t);

// For how long the address of its memory holds.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteTensorGetBufferAddressStability(const TfLiteTensor* t);

// For how long its contents hold.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteTensorGetDataStability(const TfLiteTensor* t);

// When its contents are first known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteTensorGetDataKnownStep(const TfLiteTensor* t);

// When its shape is first known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteTensorGetShapeKnownStep(const TfLiteTensor* t);

// ------------------------------------------------------------------------------------------------
// Context
// ------------------------------------------------------------------------------------------------

// What a delegate's node gets as builtin data. One malloc block that holds the struct and its three
// arrays; the runtime frees it with the node.
typedef struct TfLiteDelegateParams {
  // The delegate that asked for the replacement; NULL in previews.
  struct TfLiteDelegate* delegate;
  // The replaced nodes in the order they would run.
  TfLiteIntArray* nodes_to_replace;
  // Tensors the subset reads, sorted, each once, constants included.
  TfLiteIntArray* input_tensors;
  // Tensors the subset makes for others, sorted, each once.
  TfLiteIntArray* output_tensors;
} TfLiteDelegateParams;

// The same for a delegate made with TfLiteOpaqueDelegateCreate (since TensorFlow 2.12).
typedef struct TfLiteOpaqueDelegateParams {
  // The delegate that asked for the replacement.
  TfLiteOpaqueDelegate* delegate;
  // `data` of its builder.
  void* delegate_data;
  // The replaced nodes in the order they would run.
  TfLiteIntArray* nodes_to_replace;
  // Tensors the subset reads, sorted, each once, constants included.
  TfLiteIntArray* input_tensors;
  // Tensors the subset makes for others, sorted, each once.
  TfLiteIntArray* output_tensors;
} TfLiteOpaqueDelegateParams;

// The subgraph, as kernels and delegates see it. One per subgraph, owned by the interpreter, and
// the same object for the interpreter's life. It may be used only inside the callback it was handed
// to.
//
// Six functions work only while a delegate's Prepare runs; otherwise they report that they are
// forbidden and return kTfLiteError. They are swapped in place, so read the pointer each time.
// Seven others belong to the micro-controller runtime and are NULL here, always.
typedef struct TfLiteContext {
  // Number of tensors; grows with AddTensors.
  size_t tensors_size;

  // Delegates only. Gives the node indices in the order they run. The runtime owns the array and
  // overwrites it at the next call; copy it before calling anything that may ask again.
  TfLiteStatus (*GetExecutionPlan)(struct TfLiteContext* context, TfLiteIntArray** execution_plan);

  // All tensors. The array may move when tensors are added; at least 16 can be added in a kernel's
  // prepare or invoke before it does.
  TfLiteTensor* tensors;

  // Private to the runtime.
  void* impl_;

  // Changes the shape of a tensor. Takes ownership of `new_size` in every case; on success that
  // very array becomes the tensor's `dims`. Constants and tensors without storage cannot be
  // resized.
  TfLiteStatus (*ResizeTensor)(struct TfLiteContext* context, TfLiteTensor* tensor,
                               TfLiteIntArray* new_size);

  // Reports a printf-style message through the interpreter's error reporter.
  void (*ReportError)(struct TfLiteContext* context, const char* msg, ...);

  // Adds tensors without type, shape and memory, and stores the index of the first one through the
  // last argument unless that is NULL.
  TfLiteStatus (*AddTensors)(struct TfLiteContext* context, int tensors_to_add,
                             int* first_new_tensor_index);

  // Delegates only. Looks up a node of the table, also one that no longer runs. The pointers are
  // live and become invalid when nodes are added.
  TfLiteStatus (*GetNodeAndRegistration)(struct TfLiteContext* context, int node_index,
                                         TfLiteNode** node,
                                         struct TfLiteRegistration** registration);

  // Delegates only. Replaces the listed nodes by as few new nodes as their dependencies allow; each
  // new node runs `registration`. The list is only read. On failure the delegate's Prepare must
  // return the error.
  TfLiteStatus (*ReplaceNodeSubsetsWithDelegateKernels)(struct TfLiteContext* context,
                                                        struct TfLiteRegistration registration,
                                                        const TfLiteIntArray* nodes_to_replace,
                                                        struct TfLiteDelegate* delegate);

  // How many threads to use; -1 when nobody said.
  int recommended_num_threads;

  // Looks up an external context; NULL if none is set.
  TfLiteExternalContext* (*GetExternalContext)(struct TfLiteContext* context,
                                               TfLiteExternalContextType type);

  // Sets an external context, which stays the caller's.
  void (*SetExternalContext)(struct TfLiteContext* context, TfLiteExternalContextType type,
                             TfLiteExternalContext* external_context);

  // Delegates and kernels may compute in half precision. False.
  bool allow_fp32_relax_to_fp16;

  // NULL, always: other runtimes put a C++ object here.
  void* profiler;

  // Micro-controller runtime; NULL here.
  void* (*AllocatePersistentBuffer)(struct TfLiteContext* context, size_t bytes);
  // Micro-controller runtime; NULL here.
  TfLiteStatus (*AllocateBufferForEval)(struct TfLiteContext* context, size_t bytes, void** ptr);
  // Micro-controller runtime; NULL here.
  TfLiteStatus (*RequestScratchBufferInArena)(struct TfLiteContext* context, size_t bytes,
                                              int* buffer_index);
  // Micro-controller runtime; NULL here.
  void* (*GetScratchBuffer)(struct TfLiteContext* context, int buffer_index);
  // Micro-controller runtime; NULL here.
  TfLiteStatus (*ResizeTensorExplicit)(struct TfLiteContext* context, TfLiteTensor* tensor,
                                       int dims, const int* shape);

  // Delegates only. Shows how the nodes would be grouped, without changing anything. The runtime
  // owns the array and overwrites it at the next preview.
  TfLiteStatus (*PreviewDelegatePartitioning)(struct TfLiteContext* context,
                                              const TfLiteIntArray* nodes_to_replace,
                                              TfLiteDelegateParams** partition_params_array,
                                              int* num_partitions);

  // Micro-controller runtime; NULL here. Use `tensors`.
  TfLiteTensor* (*GetTensor)(const struct TfLiteContext* context, int tensor_idx);
  // Micro-controller runtime; NULL here.
  TfLiteEvalTensor* (*GetEvalTensor)(const struct TfLiteContext* context, int tensor_idx);

  // Looks up metadata of the model by name. The bytes live as long as the interpreter. Error if the
  // name is unknown, and while kernels are initialised.
  TfLiteStatus (*GetModelMetadata)(const struct TfLiteContext* context, const char* name,
                                   const char** ptr, size_t* bytes);

  // Delegates only (since TensorFlow 2.14). Opens another subgraph for delegation.
  TfLiteStatus (*AcquireSubgraphContext)(struct TfLiteContext* context, int subgraph_index,
                                         struct TfLiteContext** acquired_context);

  // Delegates only (since TensorFlow 2.14). Closes what AcquireSubgraphContext opened.
  TfLiteStatus (*ReleaseSubgraphContext)(struct TfLiteContext* context, int subgraph_index);
} TfLiteContext;

// ------------------------------------------------------------------------------------------------
// Registrations
// ------------------------------------------------------------------------------------------------

// Bits that say which memory the outputs of an operator may share with its inputs.
__extension__ typedef enum TfLiteInPlaceOp {
  // Nothing may be shared.
  kTfLiteInplaceOpNone = 0,
  // The operator does not change the bytes, so output 0 may simply be input 0.
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

// How many inputs have a sharing bit of their own.
static const int kTfLiteMaxSharableOpInputs = 3;

// An operator as a set of functions. Append-only: plug-ins built with older headers know only the
// first 64, 72 or 80 bytes (TfLiteRegistration_V1, _V2, _V3). Start from zeroed memory.
typedef struct TfLiteRegistration {
  // Called once per node when a model is loaded. Gets the custom options, or the parameter struct
  // with length 0 for builtins. The result becomes the node's user data. May be NULL. Failure is
  // the value of TfLiteKernelInitFailed().
  void* (*init)(TfLiteContext* context, const char* buffer, size_t length);

  // Frees what init returned, if that was not NULL. May be NULL.
  void (*free)(TfLiteContext* context, void* buffer);

  // Called after each change of input shapes: checks the node and sets the output shapes. May be
  // NULL when there is nothing to prepare.
  TfLiteStatus (*prepare)(TfLiteContext* context, TfLiteNode* node);

  // Computes the outputs.
  TfLiteStatus (*invoke)(TfLiteContext* context, TfLiteNode* node);

  // A few words about the node for profiles. May be NULL. The string is the kernel's.
  const char* (*profiling_string)(const TfLiteContext* context, const TfLiteNode* node);

  // Number of the builtin operator; 32 for custom operators, 51 for nodes of delegates.
  int32_t builtin_code;

  // Name of a custom operator or of a delegate's kernel. Not owned, must outlive the interpreter.
  const char* custom_name;

  // Version of the operator.
  int version;

  // An operator object that takes precedence over the four functions above, or NULL.
  TfLiteOperator* registration_external;

  // Returns the asynchronous kernel of a delegate's node (since TensorFlow 2.13). May be NULL.
  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteContext* context, TfLiteNode* node);

  // TfLiteInPlaceOp bits (since TensorFlow 2.14).
  uint64_t inplace_operator;
} TfLiteRegistration;

// The 80 bytes of TensorFlow 2.13; fields as in TfLiteRegistration.
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

// The 72 bytes of TensorFlow 2.10 to 2.12; fields as in TfLiteRegistration.
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

// The 64 bytes from before TensorFlow 2.10; fields as in TfLiteRegistration.
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

// The value that init returns to report failure: (void*)-1. Older runtimes (before TensorFlow 2.20)
// take it for ordinary user data. Any thread.
TFL_CAPI_EXPORT void* TfLiteKernelInitFailed(void);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Bits for TfLiteDelegate.flags.
typedef enum TfLiteDelegateFlags {
  // The delegate needs static shapes; the graph is frozen once it is applied.
  kTfLiteDelegateFlagsNone = 0,
  // The delegate copes with dynamic tensors and is asked again after each resize.
  kTfLiteDelegateFlagsAllowDynamicTensors = 1,
  // With AllowDynamicTensors: the runtime also prepares the replaced nodes, so that the shapes of
  // inner tensors are known.
  kTfLiteDelegateFlagsRequirePropagatedShapes = 2,
  // The delegate reports the time of each operator itself (since TensorFlow 2.12).
  kTfLiteDelegateFlagsPerOperatorProfiling = 4,
  // A promise that this one delegate takes the whole graph (since LiteRT 2.1).
  kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate = 8
} TfLiteDelegateFlags;

// Somebody who runs nodes in the runtime's place. The client or plug-in that made it owns it and
// keeps it alive until every interpreter it was applied to is gone. Start from zeroed memory or
// from TfLiteDelegateCreate. The struct had 48 bytes before TensorFlow 2.11.
struct TfLiteDelegate {
  // The delegate's own.
  void* data_;

  // Called once per subgraph, and again after each resize: looks at the graph and replaces nodes.
  // Must not be NULL, unless the delegate is opaque.
  TfLiteStatus (*Prepare)(TfLiteContext* context, struct TfLiteDelegate* delegate);

  // Copies a buffer into the CPU memory of a tensor. May be NULL if tensors are never stale.
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                                       TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);

  // Never called by the runtime. May be NULL.
  TfLiteStatus (*CopyToBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                                     TfLiteBufferHandle buffer_handle, TfLiteTensor* tensor);

  // Gives a buffer back. May be NULL if no handle is ever set.
  void (*FreeBufferHandle)(TfLiteContext* context, struct TfLiteDelegate* delegate,
                           TfLiteBufferHandle* handle);

  // TfLiteDelegateFlags bits. Ignored when the delegate is opaque.
  int64_t flags;

  // What TfLiteOpaqueDelegateCreate was given (since TensorFlow 2.11). Read only if Prepare is
  // NULL.
  struct TfLiteOpaqueDelegateBuilder* opaque_delegate_builder;
};

// A delegate whose fields are all zero, by value. Any thread; cannot fail.
TFL_CAPI_EXPORT TfLiteDelegate TfLiteDelegateCreate(void);

// What an opaque delegate is made of; see TfLiteOpaqueDelegateCreate in c_api_opaque.h. Every
// callback gets `data` as its third argument.
typedef struct TfLiteOpaqueDelegateBuilder {
  // The delegate's own; never freed by the runtime.
  void* data;

  // As TfLiteDelegate.Prepare. Required.
  TfLiteStatus (*Prepare)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate, void* data);

  // As TfLiteDelegate.CopyFromBufferHandle.
  TfLiteStatus (*CopyFromBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                                       void* data, TfLiteBufferHandle buffer_handle,
                                       TfLiteOpaqueTensor* tensor);

  // As TfLiteDelegate.CopyToBufferHandle.
  TfLiteStatus (*CopyToBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                                     void* data, TfLiteBufferHandle buffer_handle,
                                     TfLiteOpaqueTensor* tensor);

  // As TfLiteDelegate.FreeBufferHandle.
  void (*FreeBufferHandle)(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate, void* data,
                           TfLiteBufferHandle* handle);

  // TfLiteDelegateFlags bits.
  int64_t flags;
} TfLiteOpaqueDelegateBuilder;

#ifdef __cplusplus
}  // extern "C"

// The base of the object behind a tensor of kTfLiteVariantObject. The order of the two virtual
// functions is part of the binary interface.
struct VariantData {
  // The runtime deletes the object through this.
  virtual ~VariantData() = default;

  // Returns a copy, made in place over `maybe_reuse` if that is not null, else with new. The caller
  // owns the copy.
  virtual VariantData* CloneTo(VariantData* maybe_reuse) const = 0;
};
#endif

#endif  // DEPUTY_C_API_INCLUDE_COMMON_H_
