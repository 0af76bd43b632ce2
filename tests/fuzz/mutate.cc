// SPDX-License-Identifier: Apache-2.0
//
// Makes whole mutants: choosing changes, cutting out nodes, splicing, packing.
#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <map>
#include <set>

namespace deputy::fuzz {
namespace {

using Change = void (*)(ModelT*, Random*);

// The kinds of changes. Each entry has the same probability, so more frequent kinds are listed
// repeatedly.
constexpr Change kChanges[] = {
    &MutateNodeTensors, &MutateNodeTensors, &MutateGraphTensors, &MutateOrder, &MutateOperator,
    &MutateOptionsTable, &MutateSignature, &MutateSubgraphs, &MutateShape, &MutateShape,
    &MutateShape, &MutateType, &MutateConstant, &MutateConstant, &MutateConstant, &MutateConstant,
    &MutateKnown, &MutateKnown, &MutateKnown, &MutateBuffer, &MutateQuantization,
    &MutateQuantization, &MutateSparsity, &MutateVariable,
    // Null entries stand for MutateOptionsField.
    nullptr, nullptr, nullptr};

// The tensors of a sequence of nodes: those that it reads before it has written them, and those
// that it writes.
struct RunTensors {
  std::set<int> read, made;
};

RunTensors TensorsOf(const objects::SubGraphT& graph, size_t first, size_t last) {
  RunTensors tensors;
  for (size_t n = first; n < last; ++n) {
    for (const int tensor : graph.operators[n]->inputs) {
      if (tensor >= 0 && !tensors.made.contains(tensor)) tensors.read.insert(tensor);
    }
    for (const int tensor : graph.operators[n]->outputs) {
      if (tensor >= 0) tensors.made.insert(tensor);
    }
  }
  return tensors;
}

// Copies tensors with their buffers, and nodes with their operator codes, from one model into
// another.
class Copier {
 public:
  Copier(const ModelT& from, ModelT* to) : from_(from), to_(to) {}

  int Tensor(const objects::SubGraphT& graph, int index, objects::SubGraphT* to) {
    if (index < 0 || static_cast<size_t>(index) >= graph.tensors.size()) return index;
    const auto [place, added] = tensors_.try_emplace(index, static_cast<int>(to->tensors.size()));
    if (added) {
      to->tensors.push_back(
          std::make_unique<objects::TensorT>(*graph.tensors[static_cast<size_t>(index)]));
      to->tensors.back()->buffer = Buffer(to->tensors.back()->buffer);
    }
    return place->second;
  }

  void Node(const objects::SubGraphT& graph, const objects::OperatorT& node,
            objects::SubGraphT* to) {
    auto copy = std::make_unique<objects::OperatorT>(node);
    copy->opcode_index = Code(node.opcode_index);
    for (std::vector<int32_t>* list : {&copy->inputs, &copy->outputs, &copy->intermediates}) {
      for (int32_t& tensor : *list) tensor = Tensor(graph, tensor, to);
    }
    to->operators.push_back(std::move(copy));
  }

 private:
  uint32_t Buffer(uint32_t index) {
    if (index >= from_.buffers.size()) return index;
    const auto [place, added] =
        buffers_.try_emplace(index, static_cast<uint32_t>(to_->buffers.size()));
    if (added) to_->buffers.push_back(std::make_unique<objects::BufferT>(*from_.buffers[index]));
    return place->second;
  }
  uint32_t Code(uint32_t index) {
    if (index >= from_.operator_codes.size()) return index;
    const auto [place, added] =
        codes_.try_emplace(index, static_cast<uint32_t>(to_->operator_codes.size()));
    if (added) {
      to_->operator_codes.push_back(
          std::make_unique<objects::OperatorCodeT>(*from_.operator_codes[index]));
    }
    return place->second;
  }

  const ModelT& from_;
  ModelT* to_;
  std::map<int, int> tensors_;
  std::map<uint32_t, uint32_t> buffers_, codes_;
};

}  // namespace

std::unique_ptr<ModelT> CutOut(const ModelT& model, Random* random) {
  const objects::SubGraphT& graph = *model.subgraphs[random->Below(model.subgraphs.size())];
  const size_t count = graph.operators.size();
  const size_t first = random->Below(count);
  const size_t last = std::min(count, first + 1 + random->Below(12));
  auto cut = std::make_unique<ModelT>();
  cut->version = model.version;
  cut->buffers.push_back(std::make_unique<objects::BufferT>());
  cut->subgraphs.push_back(std::make_unique<objects::SubGraphT>());
  objects::SubGraphT* to = cut->subgraphs[0].get();
  Copier copier(model, cut.get());
  for (size_t n = first; n < last; ++n) copier.Node(graph, *graph.operators[n], to);
  const RunTensors inside = TensorsOf(graph, first, last), after = TensorsOf(graph, last, count);
  for (const int tensor : inside.read) {
    const uint32_t buffer = graph.tensors[static_cast<size_t>(tensor)]->buffer;
    const bool constant = buffer < model.buffers.size() && !model.buffers[buffer]->data.empty();
    if (!constant) to->inputs.push_back(copier.Tensor(graph, tensor, to));
  }
  for (const int tensor : inside.made) {
    if (after.read.contains(tensor) || last == count) {
      to->outputs.push_back(copier.Tensor(graph, tensor, to));
    }
  }
  return cut;
}

void Splice(const ModelT& other, ModelT* model, Random* random) {
  if (model->subgraphs.empty() || other.subgraphs.empty()) return;
  const objects::SubGraphT& graph = *other.subgraphs[random->Below(other.subgraphs.size())];
  objects::SubGraphT* to = random->Pick(model->subgraphs).get();
  const size_t own_tensors = to->tensors.size();
  Copier copier(other, model);
  for (const auto& node : graph.operators) copier.Node(graph, *node, to);
  for (const int tensor : graph.inputs) {
    const int added = copier.Tensor(graph, tensor, to);
    to->inputs.push_back(added);
  }
  for (const int tensor : graph.outputs) to->outputs.push_back(copier.Tensor(graph, tensor, to));
  // Connects the new nodes to tensors of the model's own nodes.
  if (own_tensors == 0 || random->OneIn(3)) return;
  for (const int added : graph.inputs) {
    const int from = copier.Tensor(graph, added, to);
    const int now = static_cast<int>(random->Below(own_tensors));
    std::erase(to->inputs, from);
    for (const auto& node : to->operators)
      std::replace(node->inputs.begin(), node->inputs.end(), from, now);
  }
}

std::vector<uint8_t> PackModel(const ModelT& model) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.ForceDefaults(true);
  objects::FinishModelBuffer(fbb, objects::CreateModel(fbb, &model));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

std::vector<uint8_t> Mutant(const ModelT& model, const ModelT& other, Random* random) {
  auto mutant = std::make_unique<ModelT>(model);
  if (random->OneIn(4)) Splice(other, mutant.get(), random);
  int option_changes = 0;
  for (int changes = random->Between(1, 4); changes > 0; --changes) {
    const Change change = random->Pick(kChanges);
    if (change == nullptr) {
      ++option_changes;
    } else {
      change(mutant.get(), random);
    }
  }
  std::vector<uint8_t> file = PackModel(*mutant);
  for (; option_changes > 0; --option_changes) MutateOptionsField(&file, random);
  return file;
}

}  // namespace deputy::fuzz
