// SPDX-License-Identifier: Apache-2.0
//
// Models: loading, inspection, metadata and serialisation. Subgraphs, signatures, operators,
// tensors, weights and strings that the functions return belong to the model and are valid until
// LiteRtDestroyModel. A model may be inspected by several threads at a time if none changes it.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/litert_common.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_op_code.h"

// Allocation of TensorFlow Lite's C++ API.
#ifdef __cplusplus
namespace tflite {
class Allocation;
}
using LiteRtAllocationT = tflite::Allocation;
typedef LiteRtAllocationT* LiteRtAllocation;
typedef const LiteRtAllocationT* LiteRtAllocationConst;
#else
typedef struct LiteRtAllocationT* LiteRtAllocation;
typedef const struct LiteRtAllocationT* LiteRtAllocationConst;
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Models -------------------------------------------------------------------------------------

// Loads a model from a file. kLiteRtStatusErrorFileIO if it cannot be read or is not a model.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment environment,
                                                          const char* filename, LiteRtModel* model);

// Loads a model from memory, which the caller keeps unchanged until the model and its compiled
// models are destroyed. kLiteRtStatusErrorInvalidFlatbuffer if it is not a model.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromBuffer(LiteRtEnvironment environment,
                                                            const void* buffer_addr,
                                                            size_t buffer_size, LiteRtModel* model);

// Loads a model from `size` bytes of a file, from `offset` on. The caller keeps its file descriptor
// and may close it after the call.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromFd(LiteRtEnvironment environment, int fd,
                                                        size_t offset, size_t size,
                                                        LiteRtModel* model);

// Loads a model from an allocation of TensorFlow Lite, of which it takes ownership, even if it
// fails. Not part of libLiteRt.so.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateModelFromAllocation(LiteRtEnvironment environment,
                                                                LiteRtAllocation allocation,
                                                                LiteRtModel* model);

// Destroys a model; NULL is allowed. In LiteRT, compiled models of it must be destroyed before.
LITERT_CAPI_EXPORT void LiteRtDestroyModel(LiteRtModel model);

// Returns the bytes of a metadata entry. kLiteRtStatusErrorNotFound if no entry has the key.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelMetadata(LiteRtModel model, const char* metadata_key,
                                                       const void** metadata_buffer,
                                                       size_t* metadata_buffer_size);

// Adds a metadata entry; key and bytes are copied. kLiteRtStatusErrorAlreadyExists if an entry has
// the key.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAddModelMetadata(LiteRtModel model, const char* metadata_key,
                                                       const void* metadata_buffer,
                                                       size_t metadata_buffer_size);

// Returns the index of the subgraph that runs by default.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetMainModelSubgraphIndex(LiteRtModel model, LiteRtParamIndex* main_subgraph_index);

// The following functions enumerate subgraphs and signatures. kLiteRtStatusErrorIndexOOB if an
// index is out of range. A model without signatures has a default signature, which runs its main
// subgraph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumModelSubgraphs(LiteRtModel model,
                                                           LiteRtParamIndex* num_subgraphs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelSubgraph(LiteRtModel model,
                                                       LiteRtParamIndex subgraph_index,
                                                       LiteRtSubgraph* subgraph);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumModelSignatures(LiteRtModel model,
                                                            LiteRtParamIndex* num_signatures);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetModelSignature(LiteRtModel model,
                                                        LiteRtParamIndex signature_index,
                                                        LiteRtSignature* signature);

// ---- Signatures ---------------------------------------------------------------------------------

// Returns the key of a signature.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureKey(LiteRtSignature signature,
                                                      const char** signature_key);

// Returns the subgraph that a signature runs.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureSubgraph(LiteRtSignature signature,
                                                           LiteRtSubgraph* subgraph);

// The following functions enumerate the inputs of a signature: their names, and their tensors by
// name (kLiteRtStatusErrorNotFound) or by index (kLiteRtStatusErrorIndexOOB).
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSignatureInputs(LiteRtSignature signature,
                                                            LiteRtParamIndex* num_inputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputName(LiteRtSignature signature,
                                                            LiteRtParamIndex input_idx,
                                                            const char** input_name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputTensor(LiteRtSignature signature,
                                                              const char* input_name,
                                                              LiteRtTensor* tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureInputTensorByIndex(LiteRtSignature signature,
                                                                     LiteRtParamIndex input_idx,
                                                                     LiteRtTensor* tensor);

// The following functions enumerate the outputs of a signature in the same way.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSignatureOutputs(LiteRtSignature signature,
                                                             LiteRtParamIndex* num_outputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputName(LiteRtSignature signature,
                                                             LiteRtParamIndex output_idx,
                                                             const char** output_name);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputTensor(LiteRtSignature signature,
                                                               const char* output_name,
                                                               LiteRtTensor* tensor);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature signature,
                                                                      LiteRtParamIndex output_idx,
                                                                      LiteRtTensor* tensor);

// ---- Subgraphs ----------------------------------------------------------------------------------

// Returns the name of a subgraph; "" if it has none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphName(LiteRtSubgraph subgraph, const char** name);

// The following functions enumerate the inputs, the outputs and, in execution order, the operators
// of a subgraph. kLiteRtStatusErrorIndexOOB if an index is out of range.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSubgraphInputs(LiteRtSubgraph subgraph,
                                                           LiteRtParamIndex* num_inputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphInput(LiteRtSubgraph subgraph,
                                                       LiteRtParamIndex input_index,
                                                       LiteRtTensor* input);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSubgraphOutputs(LiteRtSubgraph subgraph,
                                                            LiteRtParamIndex* num_outputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphOutput(LiteRtSubgraph subgraph,
                                                        LiteRtParamIndex output_index,
                                                        LiteRtTensor* output);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumSubgraphOps(LiteRtSubgraph subgraph,
                                                        LiteRtParamIndex* num_ops);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetSubgraphOp(LiteRtSubgraph subgraph,
                                                    LiteRtParamIndex op_index, LiteRtOp* op);

// ---- Operators ----------------------------------------------------------------------------------

// Returns the kind of an operator.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpCode(LiteRtOp op, LiteRtOpCode* code);

// Returns the name of a custom operator. An error if the operator is not a custom one.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCustomCode(LiteRtOp op, const char** code);

// Returns the options of a custom operator as bytes.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCustomOptions(LiteRtOp op, const uint8_t** custom_options,
                                                       int32_t* size);

// The following functions enumerate the inputs and outputs of an operator.
// kLiteRtStatusErrorIndexOOB if an index is out of range.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumOpInputs(LiteRtOp op, LiteRtParamIndex* num_inputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpInput(LiteRtOp op, LiteRtParamIndex input_index,
                                                 LiteRtTensor* input);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumOpOutputs(LiteRtOp op, LiteRtParamIndex* num_outputs);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpOutput(LiteRtOp op, LiteRtParamIndex output_index,
                                                  LiteRtTensor* output);

// Appends an operator to the list of a compiler plug-in. Operators with different `partition_index`
// are compiled separately.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtPushOp(LiteRtOpList op_list, LiteRtOp op,
                                             LiteRtParamIndex partition_index);

// ---- Tensors ------------------------------------------------------------------------------------

// Returns the name of a tensor; "" if it has none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorName(LiteRtTensor tensor, const char** name);

// Returns the index of a tensor in its subgraph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorIndex(LiteRtTensor tensor, uint32_t* tensor_index);

// The following functions return which kind of type a tensor has, and the type.
// kLiteRtStatusErrorInvalidIrType if the tensor has the other kind.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorTypeId(LiteRtTensor tensor,
                                                      LiteRtTensorTypeId* type_id);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetUnrankedTensorType(LiteRtTensor tensor, LiteRtUnrankedTensorType* unranked_tensor_type);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtGetRankedTensorType(LiteRtTensor tensor, LiteRtRankedTensorType* ranked_tensor_type);

// The following functions return the kind of a tensor's quantisation and its parameters.
// kLiteRtStatusErrorInvalidIrType if the tensor has another kind.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor,
                                                            LiteRtQuantizationTypeId* q_type_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerTensorQuantization(
    LiteRtTensor tensor, LiteRtQuantizationPerTensor* per_tensor_quantization);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetPerChannelQuantization(
    LiteRtTensor tensor, LiteRtQuantizationPerChannel* per_channel_quantization);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetBlockWiseQuantization(
    LiteRtTensor tensor, LiteRtQuantizationBlockWise* block_wise_quantization);

// The following functions enumerate the operators that consume a tensor. `user_arg_index` is the
// index of the tensor among the inputs of `user`.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNumTensorUses(LiteRtTensor tensor,
                                                       LiteRtParamIndex* num_uses);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorUse(LiteRtTensor tensor, LiteRtParamIndex use_index,
                                                   LiteRtOp* user,
                                                   LiteRtParamIndex* user_arg_index);

// Returns the operator that produces a tensor. `has_defining_op` is false for inputs of the
// subgraph and for constants; `defining_op` is undefined then.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorDefiningOp(LiteRtTensor tensor,
                                                          bool* has_defining_op,
                                                          LiteRtTensorDefiningOp* defining_op);

// Returns the constant data of a tensor. Every tensor has weights; those of a tensor that is not
// constant have size 0.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetTensorWeights(LiteRtTensor tensor, LiteRtWeights* weights);

// ---- Weights ------------------------------------------------------------------------------------

// Returns the bytes of weights.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetWeightsBytes(LiteRtWeights weights, const void** addr,
                                                      size_t* size);

// Returns the number of the buffer with the weights. Tensors that share data have the same number;
// numbers of data begin with 1.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetWeightsBufferId(LiteRtWeights weights, int32_t* buffer_id);

// ---- Serialisation ------------------------------------------------------------------------------

// Writes a model as bytes of a .tflite file: `size` bytes in a block at `*buf`, of which the model
// begins at `offset`. The caller releases the block with free(). With `destroy_model` the model is
// destroyed, even if the call fails. `signatures` are keys, one per subgraph; a NULL key adds no
// signature to its subgraph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSerializeModelWithSignatures(
    LiteRtModel model, uint8_t** buf, size_t* size, size_t* offset, bool destroy_model,
    char** signatures, LiteRtParamIndex num_signatures, LiteRtModelSerializationOptions options);

// Writes a model in the same way, with the signatures that it has.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSerializeModel(LiteRtModel model, uint8_t** buf, size_t* size,
                                                     size_t* offset, bool destroy_model,
                                                     LiteRtModelSerializationOptions options);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_MODEL_H_
