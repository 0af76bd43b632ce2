// SPDX-License-Identifier: Apache-2.0
//
// Mutations of the graph: edges, order, operators.
#include <algorithm>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {
namespace {

objects::SubGraphT* SomeGraph(ModelT* model, Random* random) {
  return model->subgraphs.empty() ? nullptr : random->Pick(model->subgraphs).get();
}

objects::OperatorT* SomeNode(ModelT* model, Random* random) {
  objects::SubGraphT* graph = SomeGraph(model, random);
  if (graph == nullptr || graph->operators.empty()) return nullptr;
  return random->Pick(graph->operators).get();
}

int SomeTensor(size_t tensors, Random* random) {
  if (random->OneIn(16)) return random->Int();
  if (random->OneIn(16)) return -1;
  return static_cast<int>(random->Below(tensors));
}

// Replaces, adds, removes or swaps an entry of a list of tensors.
void ChangeList(size_t tensors, std::vector<int32_t>* list, Random* random) {
  const size_t kind = list->empty() ? 1 : random->Below(6);
  if (kind == 1) {
    const auto at = static_cast<std::ptrdiff_t>(random->Below(list->size() + 1));
    list->insert(list->begin() + at, SomeTensor(tensors, random));
  } else if (kind == 2) {
    list->erase(list->begin() + static_cast<std::ptrdiff_t>(random->Below(list->size())));
  } else if (kind == 3) {
    std::swap(random->Pick(*list), random->Pick(*list));
  } else {
    random->Pick(*list) = SomeTensor(tensors, random);
  }
}

}  // namespace

void MutateNodeTensors(ModelT* model, Random* random) {
  objects::SubGraphT* graph = SomeGraph(model, random);
  if (graph == nullptr || graph->operators.empty()) return;
  objects::OperatorT* node = random->Pick(graph->operators).get();
  std::vector<int32_t>* lists[] = {&node->inputs,  &node->inputs,  &node->inputs,
                                   &node->outputs, &node->outputs, &node->intermediates};
  ChangeList(graph->tensors.size(), random->Pick(lists), random);
}

void MutateGraphTensors(ModelT* model, Random* random) {
  objects::SubGraphT* graph = SomeGraph(model, random);
  if (graph == nullptr) return;
  ChangeList(graph->tensors.size(), random->OneIn(2) ? &graph->inputs : &graph->outputs, random);
}

void MutateOrder(ModelT* model, Random* random) {
  objects::SubGraphT* graph = SomeGraph(model, random);
  if (graph == nullptr || graph->operators.empty()) return;
  auto& nodes = graph->operators;
  const auto some = [&] {
    return nodes.begin() + static_cast<std::ptrdiff_t>(random->Below(nodes.size()));
  };
  switch (random->Below(4)) {
    case 0:
      std::iter_swap(some(), some());
      break;
    case 1:
      std::rotate(nodes.begin(), some(), nodes.end());
      break;
    case 2: {
      auto copy = std::make_unique<objects::OperatorT>(**some());
      nodes.insert(some(), std::move(copy));
      break;
    }
    default:
      nodes.erase(some());
  }
}

void MutateOperator(ModelT* model, Random* random) {
  if (model->operator_codes.empty()) return;
  objects::OperatorCodeT* code = random->Pick(model->operator_codes).get();
  switch (random->Below(6)) {
    case 0:
      code->version = random->OneIn(2) ? random->Between(0, 9) : random->Int();
      break;
    case 1:
      if (code->custom_code.empty()) {
        code->custom_code = "TFLite_Detection_PostProcess";
      } else {
        random->Pick(code->custom_code) = static_cast<char>(random->Next());
      }
      break;
    case 2:
    case 3:
      if (objects::OperatorT* node = SomeNode(model, random)) {
        node->opcode_index =
            random->OneIn(16) ? static_cast<uint32_t>(random->Int())
                              : static_cast<uint32_t>(random->Below(model->operator_codes.size()));
      }
      break;
    default: {
      const int number = random->OneIn(16) ? random->Int() : random->Between(0, 210);
      code->builtin_code = static_cast<objects::BuiltinOperator>(number);
      code->deprecated_builtin_code = static_cast<int8_t>(std::min(number, 127));
      code->version = random->Between(1, 4);
    }
  }
}

void MutateOptionsTable(ModelT* model, Random* random) {
  objects::OperatorT* node = SomeNode(model, random);
  objects::OperatorT* from = SomeNode(model, random);
  if (node == nullptr || from == nullptr) return;
  if (!node->custom_options.empty() && random->OneIn(2)) {
    random->Pick(node->custom_options) = static_cast<uint8_t>(random->Next());
    if (random->OneIn(3)) node->custom_options.resize(random->Below(node->custom_options.size()));
    return;
  }
  switch (random->Below(4)) {
    case 0:
      node->builtin_options.Reset();
      break;
    case 1:
      node->builtin_options_2 = objects::BuiltinOptions2Union(from->builtin_options_2);
      break;
    case 2:
      node->large_custom_options_offset = static_cast<uint64_t>(random->Hostile());
      node->large_custom_options_size = static_cast<uint64_t>(random->Hostile());
      break;
    default:
      node->builtin_options = objects::BuiltinOptionsUnion(from->builtin_options);
  }
}

void MutateSignature(ModelT* model, Random* random) {
  if (model->signature_defs.empty()) {
    if (model->subgraphs.empty()) return;
    auto signature = std::make_unique<objects::SignatureDefT>();
    signature->signature_key = "key";
    signature->subgraph_index = static_cast<uint32_t>(random->Below(model->subgraphs.size()));
    const auto& graph = *model->subgraphs[signature->subgraph_index];
    for (const int tensor : graph.inputs) {
      signature->inputs.push_back(std::make_unique<objects::TensorMapT>());
      signature->inputs.back()->name = std::to_string(tensor);
      signature->inputs.back()->tensor_index = static_cast<uint32_t>(tensor);
    }
    model->signature_defs.push_back(std::move(signature));
    return;
  }
  objects::SignatureDefT* signature = random->Pick(model->signature_defs).get();
  auto& tensors = random->OneIn(2) ? signature->inputs : signature->outputs;
  switch (random->Below(4)) {
    case 0:
      signature->subgraph_index = static_cast<uint32_t>(random->Between(-1, 3));
      break;
    case 1:
      if (!tensors.empty())
        random->Pick(tensors)->tensor_index = static_cast<uint32_t>(random->Int());
      break;
    case 2:
      if (!tensors.empty()) random->Pick(tensors)->name = random->OneIn(2) ? "" : "x";
      break;
    default:
      if (!tensors.empty()) tensors.pop_back();
  }
}

void MutateSubgraphs(ModelT* model, Random* random) {
  if (model->subgraphs.empty()) return;
  switch (random->Below(3)) {
    case 0:
      std::swap(random->Pick(model->subgraphs), random->Pick(model->subgraphs));
      break;
    case 1:
      model->subgraphs.push_back(
          std::make_unique<objects::SubGraphT>(*random->Pick(model->subgraphs)));
      break;
    default:
      if (model->subgraphs.size() > 1) model->subgraphs.pop_back();
  }
}

}  // namespace deputy::fuzz
