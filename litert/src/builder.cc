// SPDX-License-Identifier: Apache-2.0
#include "litert/src/builder.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "litert/src/layout.h"
#include "litert/src/log.h"
#include "schema_generated.h"

using deputy::litert::Bytes;
using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::NumberOf;

namespace {

bool Contains(const std::vector<LiteRtTensor>& tensors, const LiteRtTensorT* tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

// Copies the quantisation that `kind` selects.
// `kind` is a LiteRtQuantizationTypeId or another number.
LiteRtStatus SetQuantization(int kind, const LiteRtQuantizationPerTensor& per_tensor,
                             const LiteRtQuantizationPerChannel& per_channel,
                             const LiteRtQuantizationBlockWise& block_wise, LiteRtTensor tensor) {
  switch (kind) {
    case kLiteRtQuantizationNone:
      break;
    case kLiteRtQuantizationPerTensor:
      tensor->per_tensor = per_tensor;
      break;
    case kLiteRtQuantizationPerChannel: {
      const size_t count = per_channel.num_channels;
      if (count > 0 && (per_channel.scales == nullptr || per_channel.zero_points == nullptr)) {
        return kLiteRtStatusErrorInvalidArgument;
      }
      tensor->scales.assign(per_channel.scales, per_channel.scales + count);
      tensor->zero_points.assign(per_channel.zero_points, per_channel.zero_points + count);
      tensor->per_channel = per_channel;
      tensor->per_channel.scales = tensor->scales.data();
      tensor->per_channel.zero_points = tensor->zero_points.data();
      break;
    }
    case kLiteRtQuantizationBlockWise:
      if (block_wise.scales == nullptr) return kLiteRtStatusErrorInvalidArgument;
      tensor->block_wise = block_wise;
      break;
    default:
      return kLiteRtStatusErrorInvalidArgument;
  }
  tensor->quantization = static_cast<LiteRtQuantizationTypeId>(kind);
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtTensor LiteRtBuilderT::AddTensor(std::unique_ptr<LiteRtTensorT> tensor) {
  own_tensors_.insert(tensor.get());
  tensors_.push_back(std::move(tensor));
  return tensors_.back().get();
}

LiteRtStatus LiteRtBuilderT::SetWeights(LiteRtTensor tensor, Bytes bytes) {
  if (!Owns(tensor)) {
    return Fail(kLiteRtStatusErrorInvalidArgument,
                "builder: tensor '%s' is not one that the builder has added", tensor->name.c_str());
  }
  // One byte more, so that data of size 0 have an address.
  auto data = std::make_shared<std::vector<uint8_t>>(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), data->begin());
  tensor->weights.bytes = Bytes(*data).first(bytes.size());
  tensor->weights.owned = std::move(data);
  tensor->weights.buffer = model_->next_buffer++;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtBuilderT::AddOp(LiteRtOpCode code, const std::vector<LiteRtTensor>& inputs,
                                   const std::vector<LiteRtTensor>& outputs, LiteRtOp* out_op) {
  std::unordered_set<const LiteRtTensorT*> seen;
  for (const LiteRtTensor output : outputs) {
    const bool is_repeated = !seen.insert(output).second;
    if (is_repeated || (Owns(output) && output->producer != nullptr)) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "builder: tensor '%s' is an output of two operators", output->name.c_str());
    }
  }
  ops_.push_back(std::make_unique<LiteRtOpT>());
  LiteRtOpT& op = *ops_.back();
  own_ops_.insert(&op);
  op.code = code;
  op.inputs = inputs;
  op.outputs = outputs;
  // Tensors of the model are connected by Apply.
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Owns(inputs[i])) inputs[i]->uses.push_back({&op, i});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!Owns(outputs[i])) continue;
    outputs[i]->producer = &op;
    outputs[i]->producer_output = i;
  }
  *out_op = &op;
  return kLiteRtStatusOk;
}

// Returns the operators after the change.
LiteRtBuilderT::Ops LiteRtBuilderT::ListOps() const {
  std::unordered_set<const LiteRtOpT*> placed;
  for (const auto& [erased, list] : placed_) placed.insert(list.begin(), list.end());
  Ops added, ops;
  for (const auto& op : ops_) {
    if (!IsErased(op.get()) && placed.count(op.get()) == 0) added.push_back(op.get());
  }
  bool is_inserted = false;
  for (const auto& op : subgraph_->ops) {
    if (!IsErased(op.get())) {
      ops.push_back(op.get());
      continue;
    }
    if (!is_inserted) ops.insert(ops.end(), added.begin(), added.end());
    is_inserted = true;
    const auto here = placed_.find(op.get());
    if (here != placed_.end()) ops.insert(ops.end(), here->second.begin(), here->second.end());
  }
  if (!is_inserted) ops.insert(ops.end(), added.begin(), added.end());
  return ops;
}

// Checks that erased operators and all tensors are in the subgraph, that each tensor has at most
// one producer, and that no tensor that is used has lost its producer.
LiteRtStatus LiteRtBuilderT::Check(const Ops& ops) const {
  const auto is_erased = [&](const auto& op) { return IsErased(op.get()); };
  const auto found = std::count_if(subgraph_->ops.begin(), subgraph_->ops.end(), is_erased) +
                     std::count_if(ops_.begin(), ops_.end(), is_erased);
  if (static_cast<size_t>(found) != erased_.size()) {
    return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                "builder: an erased operator is not in the subgraph");
  }
  std::unordered_set<const LiteRtTensorT*> known(own_tensors_);
  for (const auto& tensor : subgraph_->tensors) known.insert(tensor.get());
  std::unordered_set<const LiteRtTensorT*> produced;
  for (const LiteRtOp op : ops) {
    for (const LiteRtTensor output : op->outputs) {
      if (!produced.insert(output).second) {
        return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                    "builder: tensor '%s' is an output of two operators", output->name.c_str());
      }
    }
  }
  const auto is_lost = [&](const LiteRtTensorT* tensor) {
    return tensor->producer != nullptr && produced.count(tensor) == 0;
  };
  const auto refuse = [](const LiteRtTensorT* tensor) {
    return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                "builder: the producer of tensor '%s' is erased, but the tensor is used",
                tensor->name.c_str());
  };
  for (const LiteRtOp op : ops) {
    for (const auto* const list : {&op->inputs, &op->outputs}) {
      for (const LiteRtTensor tensor : *list) {
        if (known.count(tensor) == 0) {
          return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                      "builder: an operator with code %d uses a tensor of another subgraph",
                      static_cast<int>(op->code));
        }
      }
    }
    for (const LiteRtTensor input : op->inputs) {
      if (is_lost(input)) return refuse(input);
    }
  }
  for (const LiteRtTensor output : subgraph_->outputs) {
    if (is_lost(output)) return refuse(output);
  }
  return kLiteRtStatusOk;
}

// Moves operators after the producers of their inputs; otherwise the order is kept.
LiteRtStatus LiteRtBuilderT::Sort(Ops* ops) {
  std::unordered_map<const LiteRtTensorT*, size_t> producer_of;
  for (size_t i = 0; i < ops->size(); ++i) {
    for (const LiteRtTensor output : (*ops)[i]->outputs) producer_of.emplace(output, i);
  }
  std::vector<std::vector<size_t>> consumers(ops->size());
  std::vector<size_t> missing(ops->size());  // number of inputs without a producer in `sorted`
  for (size_t i = 0; i < ops->size(); ++i) {
    for (const LiteRtTensor input : (*ops)[i]->inputs) {
      const auto found = producer_of.find(input);
      if (found == producer_of.end()) continue;
      consumers[found->second].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < ops->size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  Ops sorted;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    sorted.push_back((*ops)[next]);
    for (const size_t consumer : consumers[next]) {
      if (--missing[consumer] == 0) ready.push(consumer);
    }
  }
  if (sorted.size() != ops->size()) {
    return Fail(kLiteRtStatusErrorInvalidGraphInvariant, "builder: the operators form a cycle");
  }
  *ops = std::move(sorted);
  return kLiteRtStatusOk;
}

// Removes the connections of erased operators.
void LiteRtBuilderT::Detach() {
  const auto is_erased = [&](const LiteRtTensorT::Use& use) { return IsErased(use.op); };
  for (const auto* const list : {&subgraph_->ops, &ops_}) {
    for (const auto& op : *list) {
      if (!IsErased(op.get())) continue;
      for (const LiteRtTensor input : op->inputs) std::erase_if(input->uses, is_erased);
      for (const LiteRtTensor output : op->outputs) {
        if (output->producer == op.get()) output->producer = nullptr;
      }
    }
  }
}

// Connects the new operators with tensors of the subgraph.
void LiteRtBuilderT::Attach(const Ops& ops) {
  for (const LiteRtOp op : ops) {
    if (!Owns(op)) continue;
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      if (!Owns(op->inputs[i])) op->inputs[i]->uses.push_back({op, i});
    }
    for (size_t i = 0; i < op->outputs.size(); ++i) {
      if (Owns(op->outputs[i])) continue;
      op->outputs[i]->producer = op;
      op->outputs[i]->producer_output = i;
    }
  }
}

// Returns the tensors of erased operators that have no use any more, and new ones without any.
std::unordered_set<const LiteRtTensorT*> LiteRtBuilderT::FindUnused() const {
  std::unordered_set<const LiteRtTensorT*> unused(own_tensors_), kept;
  kept.insert(subgraph_->inputs.begin(), subgraph_->inputs.end());
  kept.insert(subgraph_->outputs.begin(), subgraph_->outputs.end());
  for (const auto& op : subgraph_->ops) {
    if (!IsErased(op.get())) continue;
    unused.insert(op->inputs.begin(), op->inputs.end());
    unused.insert(op->outputs.begin(), op->outputs.end());
  }
  std::erase_if(unused, [&](const LiteRtTensorT* tensor) {
    return tensor->producer != nullptr || !tensor->uses.empty() || kept.count(tensor) > 0;
  });
  // Scales and zero points of blocks are tensors.
  const auto keep_blocks = [&](const auto& tensors) {
    for (const auto& tensor : tensors) {
      if (unused.count(tensor.get()) > 0) continue;
      unused.erase(tensor->block_wise.scales);
      unused.erase(tensor->block_wise.zero_points);
    }
  };
  keep_blocks(subgraph_->tensors);
  keep_blocks(tensors_);
  return unused;
}

// Moves the new tensors to the subgraph and deletes those without use.
void LiteRtBuilderT::MoveTensors() {
  uint32_t index = 0;
  for (const auto& tensor : subgraph_->tensors) index = std::max(index, tensor->index + 1);
  const auto unused = FindUnused();
  for (auto& tensor : tensors_) {
    tensor->index = index++;
    subgraph_->tensors.push_back(std::move(tensor));
  }
  tensors_.clear();
  std::erase_if(subgraph_->tensors,
                [&](const auto& tensor) { return unused.count(tensor.get()) > 0; });
}

// Stores the operators in the subgraph and deletes erased ones.
void LiteRtBuilderT::MoveOps(const Ops& ops) {
  std::unordered_map<const LiteRtOpT*, std::unique_ptr<LiteRtOpT>> owners;
  for (auto* const list : {&subgraph_->ops, &ops_}) {
    for (auto& op : *list) {
      const LiteRtOpT* const key = op.get();
      owners.emplace(key, std::move(op));
    }
    list->clear();
  }
  for (const LiteRtOp op : ops) subgraph_->ops.push_back(std::move(owners[op]));
}

LiteRtStatus LiteRtBuilderT::Apply() {
  Ops ops = ListOps();
  LITERT_TRY(Check(ops));
  LITERT_TRY(Sort(&ops));
  Detach();
  Attach(ops);
  MoveTensors();
  MoveOps(ops);
  own_tensors_.clear();
  own_ops_.clear();
  erased_.clear();
  placed_.clear();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtBuilderBuildTensor(LiteRtBuilder builder, LiteRtTensorTypeId tensor_type_id,
                                      LiteRtRankedTensorType ranked_tensor_type,
                                      LiteRtUnrankedTensorType, LiteRtWeights weights,
                                      LiteRtQuantizationTypeId quantization_type_id,
                                      LiteRtQuantizationPerTensor per_tensor_quantization,
                                      LiteRtQuantizationPerChannel per_channel_quantization,
                                      LiteRtQuantizationBlockWise block_wise_quantization,
                                      const char* name, LiteRtTensor* new_tensor) {
  const bool is_unranked = tensor_type_id == kLiteRtUnrankedTensorType;
  if (builder == nullptr || new_tensor == nullptr || (is_unranked && weights != nullptr) ||
      (!is_unranked && tensor_type_id != kLiteRtRankedTensorType) ||
      (weights != nullptr && weights->buffer == 0)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    if (is_unranked) {
      return Fail(kLiteRtStatusErrorUnsupported,
                  "builder: expected a ranked tensor type; files cannot contain unranked tensors");
    }
    if (ranked_tensor_type.layout.rank > LITERT_TENSOR_MAX_RANK) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "builder: expected a rank of at most %d, found %u", LITERT_TENSOR_MAX_RANK,
                  static_cast<unsigned>(ranked_tensor_type.layout.rank));
    }
    auto tensor = std::make_unique<LiteRtTensorT>();
    tensor->type = ranked_tensor_type;
    LITERT_TRY(SetQuantization(NumberOf(quantization_type_id), per_tensor_quantization,
                               per_channel_quantization, block_wise_quantization, tensor.get()));
    if (name != nullptr) tensor->name = name;
    if (weights != nullptr) tensor->weights = *weights;
    *new_tensor = builder->AddTensor(std::move(tensor));
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtBuilderBuildWeights(LiteRtBuilder builder, const uint8_t* data,
                                       LiteRtParamIndex size, LiteRtTensor tensor,
                                       LiteRtWeights* new_weights) {
  if (builder == nullptr || tensor == nullptr || new_weights == nullptr ||
      (size > 0 && data == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    LITERT_TRY(builder->SetWeights(tensor, {data, size}));
    *new_weights = &tensor->weights;
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtBuilderBuildOp(LiteRtBuilder builder, LiteRtOpCode op_code,
                                  LiteRtParamIndex num_inputs, LiteRtTensor* inputs,
                                  LiteRtParamIndex num_outputs, LiteRtTensor* outputs,
                                  LiteRtOp* new_op) {
  if (builder == nullptr || new_op == nullptr || (num_inputs > 0 && inputs == nullptr) ||
      (num_outputs > 0 && outputs == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    const std::vector<LiteRtTensor> input_list(inputs, inputs + num_inputs);
    const std::vector<LiteRtTensor> output_list(outputs, outputs + num_outputs);
    if (Contains(input_list, nullptr) || Contains(output_list, nullptr)) {
      return kLiteRtStatusErrorInvalidArgument;
    }
    return builder->AddOp(op_code, input_list, output_list, new_op);
  });
}

LiteRtStatus LiteRtBuilderEraseOp(LiteRtBuilder builder, LiteRtOp op_to_erase) {
  if (builder == nullptr || op_to_erase == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    builder->EraseOp(op_to_erase);
    return kLiteRtStatusOk;
  });
}
