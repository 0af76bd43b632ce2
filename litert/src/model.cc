// SPDX-License-Identifier: Apache-2.0
//
// Inspection of models.
#include "litert/src/model.h"

#include <algorithm>

#include "litert/src/log.h"

using deputy::litert::Fail;
using deputy::litert::Guard;

namespace {

// Stores a property of an object.
template <typename Object, typename Out, typename Property>
LiteRtStatus Store(Object object, Out* out, const Property& property) {
  if (object == nullptr || out == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out = static_cast<Out>(property(*object));
  return kLiteRtStatusOk;
}

// Stores the number of elements of a list.
template <typename Object, typename List>
LiteRtStatus Count(Object object, LiteRtParamIndex* out, const List& list) {
  return Store(object, out, [&](const auto& each) { return list(each).size(); });
}

template <typename T>
T* HandleOf(T* element) {
  return element;
}
template <typename T>
T* HandleOf(const std::unique_ptr<T>& element) {
  return element.get();
}
inline const char* HandleOf(const std::string& element) { return element.c_str(); }

// Stores an element of a list.
template <typename Object, typename Out, typename List>
LiteRtStatus At(Object object, LiteRtParamIndex index, Out* out, const List& list) {
  if (object == nullptr || out == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const auto& elements = list(*object);
  if (index >= elements.size()) return kLiteRtStatusErrorIndexOOB;
  *out = HandleOf(elements[index]);
  return kLiteRtStatusOk;
}

// Stores the tensor with a name.
LiteRtStatus FindByName(const std::vector<std::string>& names,
                        const std::vector<LiteRtTensor>& tensors, const char* name,
                        LiteRtTensor* out) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return kLiteRtStatusErrorNotFound;
  *out = tensors[static_cast<size_t>(found - names.begin())];
  return kLiteRtStatusOk;
}

// Stores the quantisation of a tensor if it has the kind.
template <typename Out>
LiteRtStatus StoreQuantization(LiteRtTensor tensor, Out* out, LiteRtQuantizationTypeId kind,
                               Out LiteRtTensorT::*parameters) {
  if (tensor == nullptr || out == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (tensor->quantization != kind) return kLiteRtStatusErrorInvalidIrType;
  *out = tensor->*parameters;
  return kLiteRtStatusOk;
}

}  // namespace

void LiteRtOpT::CopyOptions(const LiteRtOpT& from) {
  custom_code = from.custom_code;
  custom_options = from.custom_options;
  version = from.version;
  byte_code = from.byte_code;
  owned_byte_code = from.owned_byte_code;
  entry_point = from.entry_point;
  owned_options = from.owned_options;
  options = from.options;
  if (owned_options.empty()) return;
  const auto offset = reinterpret_cast<const uint8_t*>(from.options) - from.owned_options.data();
  options = reinterpret_cast<const deputy::schema::Operator*>(owned_options.data() + offset);
}

// ---- Models -------------------------------------------------------------------------------------

LiteRtStatus LiteRtGetNumModelSubgraphs(LiteRtModel model, LiteRtParamIndex* num_subgraphs) {
  return Count(
      model, num_subgraphs, [](const auto& m) -> auto& { return m.subgraphs; });
}

LiteRtStatus LiteRtGetModelSubgraph(LiteRtModel model, LiteRtParamIndex subgraph_index,
                                    LiteRtSubgraph* subgraph) {
  return At(
      model, subgraph_index, subgraph, [](const auto& m) -> auto& { return m.subgraphs; });
}

LiteRtStatus LiteRtGetMainModelSubgraphIndex(LiteRtModel model,
                                             LiteRtParamIndex* main_subgraph_index) {
  return Store(model, main_subgraph_index, [](const auto&) { return 0; });
}

LiteRtStatus LiteRtGetNumModelSignatures(LiteRtModel model, LiteRtParamIndex* num_signatures) {
  return Count(
      model, num_signatures, [](const auto& m) -> auto& { return m.signatures; });
}

LiteRtStatus LiteRtGetModelSignature(LiteRtModel model, LiteRtParamIndex signature_index,
                                     LiteRtSignature* signature) {
  return At(
      model, signature_index, signature, [](const auto& m) -> auto& { return m.signatures; });
}

LiteRtStatus LiteRtGetModelMetadata(LiteRtModel model, const char* metadata_key,
                                    const void** metadata_buffer, size_t* metadata_buffer_size) {
  if (model == nullptr || metadata_key == nullptr || metadata_buffer == nullptr ||
      metadata_buffer_size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const auto found = model->metadata.find(metadata_key);
  if (found == model->metadata.end()) return kLiteRtStatusErrorNotFound;
  *metadata_buffer = found->second.data();
  *metadata_buffer_size = found->second.size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAddModelMetadata(LiteRtModel model, const char* metadata_key,
                                    const void* metadata_buffer, size_t metadata_buffer_size) {
  if (model == nullptr || metadata_key == nullptr || metadata_buffer == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    if (model->metadata.count(metadata_key) > 0) {
      return Fail(kLiteRtStatusErrorAlreadyExists, "model: metadata '%s' exists already",
                  metadata_key);
    }
    const auto* const bytes = static_cast<const uint8_t*>(metadata_buffer);
    model->metadata[metadata_key].assign(bytes, bytes + metadata_buffer_size);
    return kLiteRtStatusOk;
  });
}

// ---- Signatures ---------------------------------------------------------------------------------

LiteRtStatus LiteRtGetSignatureKey(LiteRtSignature signature, const char** signature_key) {
  return Store(signature, signature_key, [](const auto& s) { return s.key.c_str(); });
}

LiteRtStatus LiteRtGetSignatureSubgraph(LiteRtSignature signature, LiteRtSubgraph* subgraph) {
  return Store(signature, subgraph, [](const auto& s) { return s.subgraph; });
}

LiteRtStatus LiteRtGetNumSignatureInputs(LiteRtSignature signature, LiteRtParamIndex* num_inputs) {
  return Count(
      signature, num_inputs, [](const auto& s) -> auto& { return s.input_names; });
}

LiteRtStatus LiteRtGetSignatureInputName(LiteRtSignature signature, LiteRtParamIndex input_idx,
                                         const char** input_name) {
  return At(
      signature, input_idx, input_name, [](const auto& s) -> auto& { return s.input_names; });
}

LiteRtStatus LiteRtGetSignatureInputTensor(LiteRtSignature signature, const char* input_name,
                                           LiteRtTensor* tensor) {
  if (signature == nullptr || input_name == nullptr || tensor == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return FindByName(signature->input_names, signature->subgraph->inputs, input_name, tensor);
}

LiteRtStatus LiteRtGetSignatureInputTensorByIndex(LiteRtSignature signature,
                                                  LiteRtParamIndex input_idx,
                                                  LiteRtTensor* tensor) {
  return At(
      signature, input_idx, tensor, [](const auto& s) -> auto& { return s.subgraph->inputs; });
}

LiteRtStatus LiteRtGetNumSignatureOutputs(LiteRtSignature signature,
                                          LiteRtParamIndex* num_outputs) {
  return Count(
      signature, num_outputs, [](const auto& s) -> auto& { return s.output_names; });
}

LiteRtStatus LiteRtGetSignatureOutputName(LiteRtSignature signature, LiteRtParamIndex output_idx,
                                          const char** output_name) {
  return At(
      signature, output_idx, output_name, [](const auto& s) -> auto& { return s.output_names; });
}

LiteRtStatus LiteRtGetSignatureOutputTensor(LiteRtSignature signature, const char* output_name,
                                            LiteRtTensor* tensor) {
  if (signature == nullptr || output_name == nullptr || tensor == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return FindByName(signature->output_names, signature->subgraph->outputs, output_name, tensor);
}

LiteRtStatus LiteRtGetSignatureOutputTensorByIndex(LiteRtSignature signature,
                                                   LiteRtParamIndex output_idx,
                                                   LiteRtTensor* tensor) {
  return At(
      signature, output_idx, tensor, [](const auto& s) -> auto& { return s.subgraph->outputs; });
}

// ---- Subgraphs ----------------------------------------------------------------------------------

LiteRtStatus LiteRtGetSubgraphName(LiteRtSubgraph subgraph, const char** name) {
  return Store(subgraph, name, [](const auto& s) { return s.name.c_str(); });
}

LiteRtStatus LiteRtGetNumSubgraphInputs(LiteRtSubgraph subgraph, LiteRtParamIndex* num_inputs) {
  return Count(
      subgraph, num_inputs, [](const auto& s) -> auto& { return s.inputs; });
}

LiteRtStatus LiteRtGetSubgraphInput(LiteRtSubgraph subgraph, LiteRtParamIndex input_index,
                                    LiteRtTensor* input) {
  return At(
      subgraph, input_index, input, [](const auto& s) -> auto& { return s.inputs; });
}

LiteRtStatus LiteRtGetNumSubgraphOutputs(LiteRtSubgraph subgraph, LiteRtParamIndex* num_outputs) {
  return Count(
      subgraph, num_outputs, [](const auto& s) -> auto& { return s.outputs; });
}

LiteRtStatus LiteRtGetSubgraphOutput(LiteRtSubgraph subgraph, LiteRtParamIndex output_index,
                                     LiteRtTensor* output) {
  return At(
      subgraph, output_index, output, [](const auto& s) -> auto& { return s.outputs; });
}

LiteRtStatus LiteRtGetNumSubgraphOps(LiteRtSubgraph subgraph, LiteRtParamIndex* num_ops) {
  return Count(
      subgraph, num_ops, [](const auto& s) -> auto& { return s.ops; });
}

LiteRtStatus LiteRtGetSubgraphOp(LiteRtSubgraph subgraph, LiteRtParamIndex op_index, LiteRtOp* op) {
  return At(
      subgraph, op_index, op, [](const auto& s) -> auto& { return s.ops; });
}

// ---- Operators ----------------------------------------------------------------------------------

LiteRtStatus LiteRtGetOpCode(LiteRtOp op, LiteRtOpCode* code) {
  return Store(op, code, [](const auto& o) { return o.code; });
}

LiteRtStatus LiteRtGetNumOpInputs(LiteRtOp op, LiteRtParamIndex* num_inputs) {
  return Count(
      op, num_inputs, [](const auto& o) -> auto& { return o.inputs; });
}

LiteRtStatus LiteRtGetOpInput(LiteRtOp op, LiteRtParamIndex input_index, LiteRtTensor* input) {
  return At(
      op, input_index, input, [](const auto& o) -> auto& { return o.inputs; });
}

LiteRtStatus LiteRtGetNumOpOutputs(LiteRtOp op, LiteRtParamIndex* num_outputs) {
  return Count(
      op, num_outputs, [](const auto& o) -> auto& { return o.outputs; });
}

LiteRtStatus LiteRtGetOpOutput(LiteRtOp op, LiteRtParamIndex output_index, LiteRtTensor* output) {
  return At(
      op, output_index, output, [](const auto& o) -> auto& { return o.outputs; });
}

LiteRtStatus LiteRtGetCustomCode(LiteRtOp op, const char** code) {
  if (op == nullptr || code == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (op->custom_code.empty()) return kLiteRtStatusErrorInvalidArgument;
  *code = op->custom_code.c_str();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCustomOptions(LiteRtOp op, const uint8_t** custom_options, int32_t* size) {
  if (op == nullptr || custom_options == nullptr || size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *custom_options = op->custom_options.data();
  *size = static_cast<int32_t>(op->custom_options.size());
  return kLiteRtStatusOk;
}

// ---- Tensors ------------------------------------------------------------------------------------

LiteRtStatus LiteRtGetTensorName(LiteRtTensor tensor, const char** name) {
  return Store(tensor, name, [](const auto& t) { return t.name.c_str(); });
}

LiteRtStatus LiteRtGetTensorIndex(LiteRtTensor tensor, uint32_t* tensor_index) {
  return Store(tensor, tensor_index, [](const auto& t) { return t.index; });
}

LiteRtStatus LiteRtGetTensorTypeId(LiteRtTensor tensor, LiteRtTensorTypeId* type_id) {
  return Store(tensor, type_id, [](const auto&) { return kLiteRtRankedTensorType; });
}

// All tensors are ranked.
LiteRtStatus LiteRtGetUnrankedTensorType(LiteRtTensor tensor,
                                         LiteRtUnrankedTensorType* unranked_tensor_type) {
  if (tensor == nullptr || unranked_tensor_type == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return kLiteRtStatusErrorInvalidIrType;
}

LiteRtStatus LiteRtGetRankedTensorType(LiteRtTensor tensor,
                                       LiteRtRankedTensorType* ranked_tensor_type) {
  return Store(tensor, ranked_tensor_type, [](const auto& t) { return t.type; });
}

LiteRtStatus LiteRtGetQuantizationTypeId(LiteRtTensor tensor, LiteRtQuantizationTypeId* q_type_id) {
  return Store(tensor, q_type_id, [](const auto& t) { return t.quantization; });
}

LiteRtStatus LiteRtGetPerTensorQuantization(LiteRtTensor tensor,
                                            LiteRtQuantizationPerTensor* per_tensor_quantization) {
  return StoreQuantization(tensor, per_tensor_quantization, kLiteRtQuantizationPerTensor,
                           &LiteRtTensorT::per_tensor);
}

LiteRtStatus LiteRtGetPerChannelQuantization(
    LiteRtTensor tensor, LiteRtQuantizationPerChannel* per_channel_quantization) {
  return StoreQuantization(tensor, per_channel_quantization, kLiteRtQuantizationPerChannel,
                           &LiteRtTensorT::per_channel);
}

LiteRtStatus LiteRtGetBlockWiseQuantization(LiteRtTensor tensor,
                                            LiteRtQuantizationBlockWise* block_wise_quantization) {
  return StoreQuantization(tensor, block_wise_quantization, kLiteRtQuantizationBlockWise,
                           &LiteRtTensorT::block_wise);
}

LiteRtStatus LiteRtGetNumTensorUses(LiteRtTensor tensor, LiteRtParamIndex* num_uses) {
  return Count(
      tensor, num_uses, [](const auto& t) -> auto& { return t.uses; });
}

LiteRtStatus LiteRtGetTensorUse(LiteRtTensor tensor, LiteRtParamIndex use_index, LiteRtOp* user,
                                LiteRtParamIndex* user_arg_index) {
  if (tensor == nullptr || user == nullptr || user_arg_index == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (use_index >= tensor->uses.size()) return kLiteRtStatusErrorIndexOOB;
  *user = tensor->uses[use_index].op;
  *user_arg_index = tensor->uses[use_index].input;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorDefiningOp(LiteRtTensor tensor, bool* has_defining_op,
                                       LiteRtTensorDefiningOp* defining_op) {
  if (tensor == nullptr || has_defining_op == nullptr || defining_op == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *has_defining_op = tensor->producer != nullptr;
  if (*has_defining_op) {
    *defining_op = {.op = tensor->producer, .op_output_index = tensor->producer_output};
  }
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetTensorWeights(LiteRtTensor tensor, LiteRtWeights* weights) {
  if (tensor == nullptr || weights == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *weights = &tensor->weights;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetWeightsBytes(LiteRtWeights weights, const void** addr, size_t* size) {
  if (weights == nullptr || addr == nullptr || size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *addr = weights->bytes.data();
  *size = weights->bytes.size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetWeightsBufferId(LiteRtWeights weights, int32_t* buffer_id) {
  return Store(weights, buffer_id, [](const auto& w) { return w.buffer; });
}
