// SPDX-License-Identifier: Apache-2.0
//
// Accessors for kernels and delegates that must not depend on the layout of TfLiteContext,
// TfLiteNode and TfLiteTensor.
//
// The opaque types are those structs as incomplete types. Functions on contexts may be called only
// inside init, prepare, invoke, free or a delegate's callback, on the thread that runs it.
// Functions on tensors may also be called by clients, with an interpreter's tensors. The runtime
// owns the pointers that these functions return. A NULL object or an index out of range returns the
// failure value and does not crash.
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

// Element type of a tensor; kTfLiteNoType for NULL.
TFL_CAPI_EXPORT TfLiteType TfLiteOpaqueTensorType(const TfLiteOpaqueTensor* opaque_tensor);

// Number of dimensions of a tensor: 0 for a scalar, -1 if it has no shape.
TFL_CAPI_EXPORT int32_t TfLiteOpaqueTensorNumDims(const TfLiteOpaqueTensor* opaque_tensor);

// Size of one dimension of a tensor; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteOpaqueTensorDim(const TfLiteOpaqueTensor* opaque_tensor,
                                              int32_t dim_index);

// Stores the number of dimensions of a tensor's shape signature: -1 if there is none, 0 if it is
// empty.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteOpaqueTensorGetNumDimsSignature(const TfLiteOpaqueTensor* opaque_tensor, int32_t* num_dims);

// Stores the size of one dimension of a tensor's shape signature, -1 if it is unknown; the size in
// the shape itself if the signature is absent or empty. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorGetDimSignature(
    const TfLiteOpaqueTensor* opaque_tensor, int32_t dim_index, int32_t* dim_length);

// Returns 1 for a variable, whose contents survive from Invoke to Invoke, else 0.
TFL_CAPI_EXPORT int TfLiteOpaqueTensorIsVariable(const TfLiteOpaqueTensor* opaque_tensor);

// Size of a tensor's contents in bytes; 0 for NULL.
TFL_CAPI_EXPORT size_t TfLiteOpaqueTensorByteSize(const TfLiteOpaqueTensor* opaque_tensor);

// Address of a tensor's contents; NULL for NULL and before allocation.
TFL_CAPI_EXPORT void* TfLiteOpaqueTensorData(const TfLiteOpaqueTensor* opaque_tensor);

// Location of a tensor's contents.
TFL_CAPI_EXPORT TfLiteAllocationType
TfLiteOpaqueTensorGetAllocationType(const TfLiteOpaqueTensor* opaque_tensor);

// Origin of a tensor's memory.
TFL_CAPI_EXPORT TfLiteAllocationStrategy
TfLiteOpaqueTensorGetAllocationStrategy(const TfLiteOpaqueTensor* t);

// Period during which the address of a tensor's contents is constant.
TFL_CAPI_EXPORT TfLiteRunStability
TfLiteOpaqueTensorGetBufferAddressStability(const TfLiteOpaqueTensor* t);

// Period during which a tensor's contents are constant.
TFL_CAPI_EXPORT TfLiteRunStability TfLiteOpaqueTensorGetDataStability(const TfLiteOpaqueTensor* t);

// First phase in which a tensor's contents are known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteOpaqueTensorGetDataKnownStep(const TfLiteOpaqueTensor* t);

// First phase in which a tensor's shape is known.
TFL_CAPI_EXPORT TfLiteRunStep TfLiteOpaqueTensorGetShapeKnownStep(const TfLiteOpaqueTensor* t);

// Name of a tensor; may be NULL for tensors that kernels or delegates added.
TFL_CAPI_EXPORT const char* TfLiteOpaqueTensorName(const TfLiteOpaqueTensor* opaque_tensor);

// Full quantisation of a tensor by value; the tensor owns what it points to.
TFL_CAPI_EXPORT TfLiteQuantization
TfLiteOpaqueTensorGetQuantization(const TfLiteOpaqueTensor* opaque_tensor);

// Per-tensor quantisation by value; zeros if the tensor has none.
TFL_CAPI_EXPORT TfLiteQuantizationParams
TfLiteOpaqueTensorGetQuantizationParams(const TfLiteOpaqueTensor* opaque_tensor);

// TfLiteTensorCopyFromBuffer for an opaque tensor.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorCopyFromBuffer(TfLiteOpaqueTensor* opaque_tensor,
                                                              const void* input_data,
                                                              size_t input_data_size);

// TfLiteTensorCopyToBuffer for an opaque tensor.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorCopyToBuffer(const TfLiteOpaqueTensor* opaque_tensor,
                                                            void* output_data,
                                                            size_t output_data_size);

// Number of strings in a string tensor; 0 if it has no contents.
TFL_CAPI_EXPORT int TfLiteOpaqueTensorGetStringCount(const TfLiteOpaqueTensor* tensor);

// Stores the address and the length of a string in the tensor; the string has no terminator.
// kTfLiteError if the index is out of range or the contents are not a list of strings.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorGetString(const TfLiteOpaqueTensor* tensor,
                                                         int index, const char** str, int* len);

// Stores copies of `str_array_len` strings, whose lengths are in `str_n_len`, in the tensor. The
// tensor becomes dynamic with that number of elements in one dimension; the full quantisation,
// sparsity and signature are removed. kTfLiteError, with the tensor unchanged, for NULL arguments,
// a negative number or length, and if out of memory.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorWriteStrings(TfLiteOpaqueTensor* tensor,
                                                            const char* const* str_array,
                                                            int str_array_len,
                                                            const int* str_n_len);

// Stores a copy of one string, like TfLiteOpaqueTensorWriteStrings.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueTensorWriteString(TfLiteOpaqueTensor* tensor,
                                                           const char* str, int len);

// Makes a tensor dynamic and frees the memory that it owns; it then has no contents. No effect on a
// dynamic tensor.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorSetAllocationTypeToDynamic(TfLiteOpaqueTensor* tensor);

// Declares that the tensor needs no host memory. Changes nothing but the allocation type.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorSetNonCpuAllocation(TfLiteOpaqueTensor* tensor);

// ------------------------------------------------------------------------------------------------
// Tensor builders
// ------------------------------------------------------------------------------------------------

// Description of a new tensor for TfLiteOpaqueContextAddTensor.
typedef struct TfLiteOpaqueTensorBuilder TfLiteOpaqueTensorBuilder;

// Creates a builder without type, contents and allocation type. The caller owns it. NULL if out of
// memory.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderCreate(void);

// Deletes a builder, but not the objects stored in it. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteOpaqueTensorBuilderDelete(TfLiteOpaqueTensorBuilder* builder);

// Sets the element type. Returns the builder, as all setters of builders do.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteType type);

// Sets the contents, a malloc block that the new tensor will own. kTfLiteDynamic requires contents,
// the arena types exclude them.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetData(
    TfLiteOpaqueTensorBuilder* builder, void* data);

// Sets the allocation type: kTfLiteDynamic, kTfLiteArenaRw or kTfLiteArenaRwPersistent.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetAllocationType(
    TfLiteOpaqueTensorBuilder* builder, TfLiteAllocationType allocation_type);

// Sets the per-tensor quantisation.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantizationParams(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantizationParams params);

// Sets the full quantisation; the new tensor will own what it points to.
TFL_CAPI_EXPORT TfLiteOpaqueTensorBuilder* TfLiteOpaqueTensorBuilderSetQuantization(
    TfLiteOpaqueTensorBuilder* builder, TfLiteQuantization quantization);

// ------------------------------------------------------------------------------------------------
// Nodes
// ------------------------------------------------------------------------------------------------

// Returns an input tensor; NULL if the index is out of range, or if an optional input is absent.
TFL_CAPI_EXPORT const TfLiteOpaqueTensor* TfLiteOpaqueNodeGetInput(
    const TfLiteOpaqueContext* opaque_context, const TfLiteOpaqueNode* opaque_node, int index);

// Returns an output tensor; NULL if the index is out of range or the output is absent.
TFL_CAPI_EXPORT TfLiteOpaqueTensor* TfLiteOpaqueNodeGetOutput(TfLiteOpaqueContext* opaque_context,
                                                              const TfLiteOpaqueNode* opaque_node,
                                                              int index);

// Number of inputs of a node, including absent ones.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeNumberOfInputs(const TfLiteOpaqueNode* opaque_node);

// Number of outputs of a node.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeNumberOfOutputs(const TfLiteOpaqueNode* opaque_node);

// Returns the result of the kernel's init.
TFL_CAPI_EXPORT void* TfLiteOpaqueNodeGetUserData(const TfLiteOpaqueNode* opaque_node);

// Returns the operator's parameter struct, see builtin_op_data.h; NULL for custom operators.
TFL_CAPI_EXPORT void* TfLiteOpaqueNodeGetBuiltinData(const TfLiteOpaqueNode* opaque_node);

// Stores a custom operator's options and their size; NULL and 0 for builtin operators.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeGetCustomInitialData(
    const TfLiteOpaqueNode* opaque_node, const void** init_data, int* size);

// Stores the tensor indices of a node's inputs, -1 for absent ones.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeInputs(const TfLiteOpaqueNode* opaque_node,
                                                    const int** inputs, int* num_inputs);

// Stores the tensor indices of a node's outputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeOutputs(const TfLiteOpaqueNode* opaque_node,
                                                     const int** outputs, int* num_outputs);

// Replaces a node's list of scratch tensors by a copy of `temporaries`. kTfLiteError if the count
// is negative or if out of memory.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeSetTemporaries(TfLiteOpaqueNode* opaque_node,
                                                            const int* temporaries,
                                                            int num_temporaries);

// Stores the tensor indices of a node's scratch tensors.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueNodeTemporaries(const TfLiteOpaqueNode* opaque_node,
                                                         const int** temporaries,
                                                         int* num_temporaries);

// Returns the tensor index of an input; -1 if the index is out of range or the input is absent.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeGetInputTensorIndex(const TfLiteOpaqueNode* opaque_node,
                                                        int index_of_input);

// Returns the tensor index of an output; -1 if the index is out of range.
TFL_CAPI_EXPORT int TfLiteOpaqueNodeGetOutputTensorIndex(const TfLiteOpaqueNode* opaque_node,
                                                         int index_of_output);

// ------------------------------------------------------------------------------------------------
// Contexts
// ------------------------------------------------------------------------------------------------

// TfLiteContext.GetExecutionPlan for an opaque context; only inside a delegate's Prepare.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetExecutionPlan(
    TfLiteOpaqueContext* opaque_context, TfLiteIntArray** execution_plan);

// Stores an external context; NULL if none is set.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetExternalContext(
    TfLiteOpaqueContext* opaque_context, void** external_context, TfLiteExternalContextType type);

// Stores a node and its operator; only inside a delegate's Prepare. The runtime owns the operator;
// it must not be deleted. Compare operators by code or name, not by pointer.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetNodeAndRegistration(
    struct TfLiteOpaqueContext* opaque_context, int node_index, TfLiteOpaqueNode** node,
    TfLiteOperator** registration_external);

// TfLiteContext.ReplaceNodeSubsetsWithDelegateKernels for an opaque context; only inside a
// delegate's Prepare. If the delegate was created by TfLiteOpaqueDelegateCreate, the runtime
// becomes the owner of the operator, even if no node is replaced.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(
    struct TfLiteOpaqueContext* opaque_context, TfLiteOperator* registration_external,
    const TfLiteIntArray* nodes_to_replace, TfLiteOpaqueDelegate* opaque_delegate);

// Returns a tensor; NULL if the index is out of range. The pointer may change when tensors are
// added.
TFL_CAPI_EXPORT TfLiteOpaqueTensor* TfLiteOpaqueContextGetOpaqueTensor(
    const TfLiteOpaqueContext* opaque_context, int index);

// Stores the tensor indices of the subgraph's inputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetInputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** inputs, int* num_inputs);

// Stores the tensor indices of the subgraph's outputs.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetOutputs(
    const struct TfLiteOpaqueContext* opaque_context, const int** outputs, int* num_outputs);

// Stores the tensor indices of the subgraph's variables.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetVariables(
    const struct TfLiteOpaqueContext* opaque_context, const int** variables, int* num_variables);

// Number of nodes in the node table, including replaced nodes and those of delegates.
TFL_CAPI_EXPORT size_t
TfLiteOpaqueContextGetNumNodes(const struct TfLiteOpaqueContext* opaque_context);

// Number of tensors of the subgraph.
TFL_CAPI_EXPORT size_t
TfLiteOpaqueContextGetNumTensors(const struct TfLiteOpaqueContext* opaque_context);

// Name of the subgraph; "" if it has none.
TFL_CAPI_EXPORT const char* TfLiteOpaqueContextGetName(
    const struct TfLiteOpaqueContext* opaque_context);

// TfLiteContext.ResizeTensor for an opaque context: takes ownership of `new_size` in every case.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextResizeTensor(TfLiteOpaqueContext* context,
                                                             TfLiteOpaqueTensor* tensor,
                                                             TfLiteIntArray* new_size);

// Makes another subgraph available for delegation; permitted outside a delegate's Prepare, too.
// kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextAcquireSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index,
    TfLiteOpaqueContext** acquired_opaque_context);

// Ends the access that TfLiteOpaqueContextAcquireSubgraphContext permitted.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextReleaseSubgraphContext(
    struct TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Reports a printf-style message through the interpreter's error reporter.
TFL_CAPI_EXPORT void TfLiteOpaqueContextReportError(struct TfLiteOpaqueContext* opaque_context,
                                                    const char* format, ...);

// Reports a printf-style message with a va_list, which is formatted during the call.
TFL_CAPI_EXPORT void TfLiteOpaqueContextReportErrorVa(struct TfLiteOpaqueContext* opaque_context,
                                                      const char* format, va_list vlist);

// Excludes a subgraph from the application of further delegates. kTfLiteError unless the index is
// at least 1 and in range.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
    TfLiteOpaqueContext* opaque_context, int subgraph_index);

// Stores the position of a node's custom options in the model's file: descriptor, offset and size
// in bytes, the last two -1 if it has no options. kTfLiteError unless the model was mapped from a
// file.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetNodeInitDataMmapInfo(
    const TfLiteOpaqueContext* context, const TfLiteOpaqueNode* node, int* fd,
    int64_t* custom_initial_data_offset_in_file, int64_t* custom_initial_data_size);

// Adds a tensor described by a builder and stores its index, unless the pointer is NULL. The tensor
// has no shape and no size before it is resized. Tensor pointers from before may be invalid.
// kTfLiteError for other allocation types than those of TfLiteOpaqueTensorBuilderSetAllocationType,
// for a dynamic tensor without contents, and for an arena tensor with contents.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextAddTensor(TfLiteOpaqueContext* context,
                                                          TfLiteOpaqueTensorBuilder* builder,
                                                          int* new_tensor_index);

// Stores the unpacked size of one element, 1 for types smaller than a byte. kTfLiteError for types
// without a fixed size.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetSizeOfType(TfLiteOpaqueContext* context,
                                                              TfLiteType type, size_t* bytes);

// Stores metadata of the model by name. The bytes are valid as long as the interpreter.
// kTfLiteError if the name is unknown, and during init of the model's kernels.
TFL_CAPI_EXPORT TfLiteStatus TfLiteOpaqueContextGetMetadata(TfLiteOpaqueContext* context,
                                                            const char* name, const char** ptr,
                                                            size_t* bytes);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Creates a delegate from callbacks. The builder is copied; the caller owns the delegate and
// deletes it after every interpreter that it was applied to. NULL for NULL and if out of memory.
TFL_CAPI_EXPORT TfLiteOpaqueDelegate* TfLiteOpaqueDelegateCreate(
    const TfLiteOpaqueDelegateBuilder* opaque_delegate_builder);

// Deletes a delegate of TfLiteOpaqueDelegateCreate, but not its `data`. NULL is ignored.
TFL_CAPI_EXPORT void TfLiteOpaqueDelegateDelete(TfLiteOpaqueDelegate* delegate);

// Returns `data` of the builder, or `data_` of a delegate with public fields. NULL for NULL.
TFL_CAPI_EXPORT void* TfLiteOpaqueDelegateGetData(const TfLiteOpaqueDelegate* delegate);

// ------------------------------------------------------------------------------------------------
// Macros that report messages or check conditions on opaque contexts; see those of common.h.
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

// Returns kTfLiteError and reports the message, which is not a format, unless the condition is
// true.
#define TF_LITE_OPAQUE_ENSURE_MSG(opaque_context, condition, message)                         \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      TF_LITE_OPAQUE_KERNEL_LOG((opaque_context), "%s:%d %s", __FILE__, __LINE__, (message)); \
      return kTfLiteError;                                                                    \
    }                                                                                         \
  } while (0)

// Returns kTfLiteError and reports the condition's text unless it is true.
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
