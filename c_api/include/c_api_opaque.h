// SPDX-License-Identifier: Apache-2.0
//
// Accessors for kernels and delegates that do not want to know the layout of TfLiteContext,
// TfLiteNode and TfLiteTensor.
//
// The opaque objects are those structs, seen through an incomplete type. Functions on contexts are
// for callbacks only: they may be called inside init, prepare, invoke, free or a delegate's
// callback, on the thread that runs it. Functions on tensors may also be used by clients on an
// interpreter's tensors. Pointers that are handed out belong to the runtime. A NULL object or an
// index out of range gives the failure value, never a crash.
#ifndef DEPUTY_C_API_INCLUDE_C_API_OPAQUE_H_
#define DEPUTY_C_API_INCLUDE_C_API_OPAQUE_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "c_api_types.h"
#include "common.h"
#include "operator.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------

// Element type; kTfLiteNoType for NULL.
TFL_CAPI_EXPORT TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* opaque_tensor);

// Number of dimensions: 0 for a scalar, -1 if there is no shape.
TFL_CAPI_EXPORT int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* opaque_tensor);

// Length of one dimension; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* opaque_tensor,
                                              int32_t dim_index);

// Number of dimensions of the shape signature: -1 if there is none, 0 if it is empty.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteOpaqueTensorGetNumDimsSignature(const TfLiteOpaqueTensor* opaque_tensor, int32_t* num_dims);

// Length of one dimension of the shape signature, -1 where it is open; of the shape itself if the
// signature is absent or empty. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorGetDimSignature(
    const TfLiteOpaqueTensor* opaque_tensor, int32_t dim_index, int32_t* dim_length);

// 1 if the contents survive from Invoke to Invoke, else 0.
TFL_CAPI_EXPORT int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor* opaque_tensor);

// Size in bytes.
TFL_CAPI_EXPORT size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* opaque_tensor);

// The bytes; NULL for NULL and before allocation.
TFL_CAPI_EXPORT void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* opaque_tensor);

// Where the bytes live.
TFL_CAPI_EXPORT TfLiteAllocationType
TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor* opaque_tensor);

// How the memory came to be.
TFL_CAPI_EXPORT TfLiteAllocationStrategy
TfLiteOpaqueTensorGetAllocationStrategy(const TfLiteOpaqueTensor* t);

// For how long the address of the memory holds.
TFL_CAPI_EXPORT TfLiteRunStability
TfLiteOpaqueTensorGetBufferAddressStability(const TfLiteOpaqueTensor* t);

// For how long the contents hold.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteOpaqueTensorGetDataStability(const TfLiteOpaqueTensor* t);

// When the contents are first known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteOpaqueTensorGetDataKnownStep(const TfLiteOpaqueTensor* t);

// When the shape is first known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteOpaqueTensorGetShapeKnownStep(const TfLiteOpaqueTensor* t);

// The name; may be NULL in tensors that were added later.
TFL_CAPI_EXPORT const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* opaque_tensor);

// Full quantisation by value; what it points to stays the tensor's.
TFL_CAPI_EXPORT TfLiteQuantization
TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor* opaque_tensor);

// Per-tensor quantisation by value; zeros if there is none.
TFL_CAPI_EXPORT TfLiteQuantizationParams
TfLiteOpaqueTensorGetQuantizationParams(const TfLiteOpaqueTensor* opaque_tensor);

// As TfLiteTensorCopyFromBuffer.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorCopyFromBuffer(TfLiteOpaqueTensor* opaque_tensor,
                                                              const void* input_data,
                                                              size_t input_data_size);

// As TfLiteTensorCopyToBuffer.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorCopyToBuffer(const TfLiteOpaqueTensor* opaque_tensor,
                                                            void* output_data,
                                                            size_t output_data_size);

// Number of strings in a string tensor; 0 if it has no bytes.
TFL_CAPI_EXPORT int TfLiteOpaqueTensorGetStringCount(const TfLiteOpaqueTensor* tensor);

// Points `str` at the n-th string inside the tensor and stores its length; there is no terminator.
// kTfLiteError if the index is out of range or the bytes are not a list of strings.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorGetString(const TfLiteOpaqueTensor* tensor,
                                                         int index, const char** str, int* len);

// Makes the tensor hold copies of `str_array_len` strings whose lengths are in `str_n_len`. It
// becomes dynamic with that many elements in one dimension; quantisation, sparsity and signature
// are dropped. kTfLiteError, with nothing changed, if a length is negative or memory is short.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorWriteStrings(TfLiteOpaqueTensor* tensor,
                                                            const char* const* str_array,
                                                            int str_array_len,
                                                            const int* str_n_len);

// The same with one string.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorWriteString(TfLiteOpaqueTensor* tensor,
                                                           const char* str, int len);

// Makes a tensor dynamic and frees the memory it had; nothing if it is dynamic already.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor);

// Declares that the tensor needs no CPU memory. Sets the allocation type and nothing else.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorSetNonCpuAllocation(TfLiteOpaqueTensor* tensor);

// ------------------------------------------------------------------------------------------------
// Tensor builders
// ------------------------------------------------------------------------------------------------

// What TfLiteOpaqueContextAddTensor makes a tensor from.
typedef struct TfLiteOpaqueTensorBuilder TfLiteOpaqueTensorBuilder;

// A builder without type, data and storage. The caller owns it. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderCreate(void);

// Frees a builder, not what was put into it. NULL is fine.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder* builder);

// Stores the element type. Returns the builder, as do the next four.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteType type);

// Stores the bytes, a malloc block that the new tensor will own; only with kTfLiteDynamic.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetData(
    TfLiteOpaqueTensorBuilder* builder, void* data);

// Stores the allocation type: kTfLiteDynamic, kTfLiteArenaRw or kTfLiteArenaRwPersistent.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetAllocationType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteAllocationType allocation_type);

// Stores per-tensor quantisation.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantizationParams(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantizationParams params);

// Stores full quantisation; the new tensor will own what it points to.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantization(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantization quantization);

// ------------------------------------------------------------------------------------------------
// Nodes
// ------------------------------------------------------------------------------------------------

// The n-th input tensor; NULL if out of range, or optional and absent.
TFL_CAPI_EXPORT const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(
    const TfLiteOpaqueContext* opaque_context, const TfLiteOpaqueNode* opaque_node, int index);

// The n-th output tensor; NULL if out of range or absent.
TFL_CAPI_EXPORT TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext* opaque_context,
                                                              const TfLiteOpaqueNode* opaque_node,
                                                              int index);

// Number of inputs, absent ones included.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* opaque_node);

// Number of outputs.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* opaque_node);

// What the kernel's init returned.
TFL_CAPI_EXPORT void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* opaque_node);

// The operator's parameter struct, see builtin_op_data.h; NULL for custom operators.
TFL_CAPI_EXPORT void* TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode* opaque_node);

// The custom operator's options and their size; NULL and 0 for builtin operators.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(
    const TfLiteOpaqueNode* opaque_node, const void** init_data, int* size);

// The tensor indices of the inputs, -1 for absent ones.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode* opaque_node,
                                                    const int** inputs, int* num_inputs);

// The tensor indices of the outputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode* opaque_node,
                                                     const int** outputs, int* num_outputs);

// Replaces the scratch tensors by a copy of this list. kTfLiteError if the count is negative or
// memory is short.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode* opaque_node,
                                                            const int* temporaries,
                                                            int num_temporaries);

// The tensor indices of the scratch tensors.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeTemporaries(const TfLiteOpaqueNode* opaque_node,
                                                         const int** temporaries,
                                                         int* num_temporaries);

// Tensor index of the n-th input; -1 if out of range or absent.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeGetInputTensorIndex(const TfLiteOpaqueNode* opaque_node,
                                                        int index_of_input);

// Tensor index of the n-th output; -1 if out of range.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeGetOutputTensorIndex(const TfLiteOpaqueNode* opaque_node,
                                                         int index_of_output);

// ------------------------------------------------------------------------------------------------
// Contexts
// ------------------------------------------------------------------------------------------------

// As TfLiteContext.GetExecutionPlan; only inside a delegate's Prepare.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetExecutionPlan(
    TfLiteOpaqueContext* opaque_context, TfLiteIntArray** execution_plan);

// Looks up an external context; NULL if none is set.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetExternalContext(
    TfLiteOpaqueContext* opaque_context, void** external_context, TfLiteExternalContextType type);

// Looks up a node and its operator; only inside a delegate's Prepare. The operator belongs to the
// runtime and must not be deleted. Compare operators by code or name, not by pointer.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetNodeAndRegistration(
    struct TfLiteOpaqueContext* opaque_context, int node_index, TfLiteOpaqueNode** node,
    TfLiteOperator** registration_external);

// As TfLiteContext.ReplaceNodeSubsetsWithDelegateKernels; only inside a delegate's Prepare. If the
// delegate was made with TfLiteOpaqueDelegateCreate, the runtime takes the operator over, even if
// no node is replaced.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
    struct TfLiteOpaqueContext* opaque_context, TfLiteOperator* registration_external,
    const TfLiteIntArray* nodes_to_replace, TfLiteOpaqueDelegate* opaque_delegate);

// A tensor by its index; NULL if out of range. May move when tensors are added.
TFL_CAPI_EXPORT TfLiteOpaqueTensor* TfLiteOpaqueContextGetOpaqueTensor(
    const TfLiteOpaqueContext* opaque_context, int index);

// The tensor indices of the subgraph's inputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetInputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** inputs, int* num_inputs);

// The tensor indices of the subgraph's outputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetOutputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** outputs, int* num_outputs);

// The tensor indices of the subgraph's variables.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetVariables(
    const struct TfLiteOpaqueContext* opaque_context, const int** variables, int* num_variables);

// Number of nodes in the node table, replaced ones and delegates' ones included.
TFL_CAPI_EXPORT size_t
TfLiteOpaqueContextGetNumNodes(const struct TfLiteOpaqueContext* opaque_context);

// Number of tensors.
TFL_CAPI_EXPORT size_t
TfLiteOpaqueContextGetNumTensors(const struct TfLiteOpaqueContext* opaque_context);

// Name of the subgraph; "" if it has none.
TFL_CAPI_EXPORT const char* TfLiteOpaqueContextGetName(
    const struct TfLiteOpaqueContext* opaque_context);

// As TfLiteContext.ResizeTensor: takes ownership of `new_size` in every case.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                                             TfLiteOpaqueTensor* tensor,
                                                             TfLiteIntArray* new_size);

// Opens another subgraph for delegation; it works outside a delegate's Prepare, too. kTfLiteError
// if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index,
    TfLiteOpaqueContext** acquired_opaque_context);

// Closes what the function above opened.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Reports a printf-style message through the interpreter's error reporter.
TFL_CAPI_EXPORT void TfLiteOpaqueContextReportError(struct TfLiteOpaqueContext* opaque_context,
                                                    const char* format, ...);

// The same with a va_list. The message is formatted here.
TFL_CAPI_EXPORT void TfLiteOpaqueContextReportErrorVa(struct TfLiteOpaqueContext* opaque_context,
                                                      const char* format, va_list vlist);

// Tells the runtime that no delegate needs to look at this subgraph any more. kTfLiteError unless
// the index is at least 1 and in range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
    TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Where the custom options of a node lie in the model's file: descriptor, offset and size, the last
// two -1 if it has none. kTfLiteError unless the model was mapped from a file.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetNodeInitDataMmapInfo(
    const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node, int* fd,
    int64_t* custom_initial_data_offset_in_file, int64_t* custom_initial_data_size);

// Adds a tensor made from a builder and stores its index, unless the pointer is NULL. It has no
// shape and no size yet, so resize it. Its pointers from before may have moved. kTfLiteError for a
// kind of storage that the builder's comments exclude.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                                          TfLiteOpaqueTensorBuilder* builder,
                                                          int* new_tensor_index);

// Unpacked size of one element, 1 for types of less than a byte. kTfLiteError for types without a
// fixed size.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetSizeOfType(TfLiteOpaqueContext* context,
                                                              TfLiteType type, size_t* bytes);

// Looks up metadata of the model by name. The bytes live as long as the interpreter. kTfLiteError
// if the name is unknown, and while kernels are initialised.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetMetadata(TfLiteOpaqueContext* context,
                                                            const char* name, const char** ptr,
                                                            size_t* bytes);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Makes a delegate from callbacks. The builder is copied; the caller owns the delegate and deletes
// it after every interpreter it was applied to. NULL for NULL and if memory is short.
TFL_CAPI_EXPORT TfLiteOpaqueDelegate* TfLiteOpaqueDelegateCreate(
    const TfLiteOpaqueDelegateBuilder* opaque_delegate_builder);

// Frees such a delegate, not its `data`. NULL is fine.
TFL_CAPI_EXPORT void TfLiteOpaqueDelegateDelete(TfLiteOpaqueDelegate* delegate);

// `data` of the builder, or `data_` of a delegate with public fields. NULL for NULL.
TFL_CAPI_EXPORT void* TfLiteOpaqueDelegateGetData(const TfLiteOpaqueDelegate* delegate);

// ------------------------------------------------------------------------------------------------
// Reporting and checking macros on opaque contexts; see those of common.h.
// ------------------------------------------------------------------------------------------------

// Reports a printf-style message through the context.
#define TF_LITE_OPAQUE_KERNEL_LOG(context, ...)                                   \
  do {                                                                            \
    TFL_INTERNAL_REPORT_(TfLiteOpaqueContextReportError((context), __VA_ARGS__);) \
  } while (0)

// Reports a printf-style message if the context is not NULL.
#define TF_LITE_OPAQUE_MAYBE_KERNEL_LOG(context, ...)    \
  do {                                                   \
    if ((context) != NULL) {                             \
      TF_LITE_OPAQUE_KERNEL_LOG((context), __VA_ARGS__); \
    }                                                    \
  } while (0)

// Returns kTfLiteError and reports the message, which is data and not a format, unless the
// condition holds.
#define TF_LITE_OPAQUE_ENSURE_MSG(opaque_context, condition, message)                         \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s", __FILE__, __LINE__, (message)); \
      return kTfLiteError;                                                                    \
    }                                                                                         \
  } while (0)

// Returns kTfLiteError and names the condition unless it holds.
#define TF_LITE_OPAQUE_ENSURE(opaque_context, condition)                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s was not true.", __FILE__, __LINE__, \
                                #condition);                                                    \
      return kTfLiteError;                                                                      \
    }                                                                                           \
  } while (0)

// Returns kTfLiteError and reports both integers unless they are equal.
#define TF_LITE_OPAQUE_ENSURE_EQ(opaque_context, a, b)                                       \
  do {                                                                                       \
    if ((a) != (b)) {                                                                        \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s != %s (%lld != %lld)", __FILE__, \
                                __LINE__, #a, #b, (long long)(a), (long long)(b));           \
      return kTfLiteError;                                                                   \
    }                                                                                        \
  } while (0)

// Returns kTfLiteError and reports both element types unless they are equal.
#define TF_LITE_OPAQUE_ENSURE_TYPES_EQ(opaque_context, a, b)                                       \
  do {                                                                                             \
    if ((a) != (b)) {                                                                              \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s != %s (%s != %s)", __FILE__, __LINE__, \
                                #a, #b, TfLiteTypeGetName(a), TfLiteTypeGetName(b));               \
      return kTfLiteError;                                                                         \
    }                                                                                              \
  } while (0)

// Returns kTfLiteError and reports both numbers if they differ by more than epsilon.
#define TF_LITE_OPAQUE_ENSURE_NEAR(opaque_context, a, b, epsilon)                              \
  do {                                                                                         \
    const double tfl_internal_difference = (double)(a) - (double)(b);                          \
    if (!(tfl_internal_difference <= (double)(epsilon) &&                                      \
          -tfl_internal_difference <= (double)(epsilon))) {                                    \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s not near %s (%f != %f)", __FILE__, \
                                __LINE__, #a, #b, (double)(a), (double)(b));                   \
      return kTfLiteError;                                                                     \
    }                                                                                          \
  } while (0)

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_OPAQUE_H_
