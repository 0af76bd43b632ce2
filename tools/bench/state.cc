// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/state.h"

#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "tools/tensor_data.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

const char* AllocationName(const TfLiteTensor& tensor) {
  switch (tensor.allocation_type) {
    case kTfLiteMemNone:
      return "kTfLiteMemNone";
    case kTfLiteMmapRo:
      return "kTfLiteMmapRo";
    case kTfLiteArenaRw:
      return "kTfLiteArenaRw";
    case kTfLiteArenaRwPersistent:
      return "kTfLiteArenaRwPersistent";
    case kTfLiteDynamic:
      return "kTfLiteDynamic";
    case kTfLitePersistentRo:
      return "kTfLitePersistentRo";
    case kTfLiteCustom:
      return "kTfLiteCustom";
    default:
      return "kTfLiteVariantObject";
  }
}

void PrintTensors(const Session& session, int subgraph, const StateColumns& columns) {
  Table table("><<<><", {"tensor", "name", "type", "memory", "bytes", "shape"});
  std::map<std::string, size_t> totals;
  for (int t = 0; t < DeputyInterpreterGetTensorCount(session.interpreter(), subgraph); ++t) {
    const TfLiteTensor* tensor = DeputyInterpreterGetTensor(session.interpreter(), subgraph, t);
    if (tensor == nullptr) continue;
    const char* memory = AllocationName(*tensor);
    totals[memory] += tensor->bytes;
    table.Add({std::to_string(t), Shorten(OneLine(NameOf(tensor)), columns.name),
               Shorten(TfLiteTypeGetName(tensor->type), columns.type),
               Shorten(memory, columns.memory), std::to_string(tensor->bytes),
               ShapeText(ShapeOf(tensor))});
  }
  table.Print();
  for (const auto& [memory, bytes] : totals) {
    std::printf("%s: %s\n", memory.c_str(), BytesText(bytes).c_str());
  }
}

void PrintNodes(const Session& session, int subgraph) {
  std::map<int, std::string> plan;  // node by position in the plan
  for (int n = 0; n < DeputyInterpreterGetNodeCount(session.interpreter(), subgraph); ++n) {
    DeputyNodeInfo info = {};
    info.struct_size = sizeof(info);
    if (DeputyInterpreterGetNodeInfo(session.interpreter(), subgraph, n, &info) != kTfLiteOk ||
        info.plan_position < 0) {
      continue;
    }
    const auto list = [](const int* tensors, int count) {
      return ShapeText(std::vector<int>(tensors, tensors + count));
    };
    plan[info.plan_position] =
        Format("node %d %s: inputs %s, outputs %s, run by %s", n,
               OneLine(info.operator_name).c_str(), list(info.inputs, info.input_count).c_str(),
               list(info.outputs, info.output_count).c_str(), OneLine(info.owner).c_str());
  }
  for (const auto& [position, text] : plan) std::printf("%s\n", text.c_str());
}

using Runner = std::unique_ptr<TfLiteSignatureRunner, void (*)(TfLiteSignatureRunner*)>;

std::string InputNames(const TfLiteSignatureRunner* runner) {
  std::string names;
  for (size_t i = 0; i < TfLiteSignatureRunnerGetInputCount(runner); ++i) {
    const char* name = TfLiteSignatureRunnerGetInputName(runner, static_cast<int32_t>(i));
    names += (i == 0 ? "" : ", ") + OneLine(name == nullptr ? "" : name);
  }
  return names;
}

std::string OutputNames(const TfLiteSignatureRunner* runner) {
  std::string names;
  for (size_t i = 0; i < TfLiteSignatureRunnerGetOutputCount(runner); ++i) {
    const char* name = TfLiteSignatureRunnerGetOutputName(runner, static_cast<int32_t>(i));
    names += (i == 0 ? "" : ", ") + OneLine(name == nullptr ? "" : name);
  }
  return names;
}

}  // namespace

void PrintState(const Session& session, const std::string& when, const StateColumns& columns) {
  std::printf("==== %s state begins ====\n", when.c_str());
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(session.interpreter()); ++s) {
    std::printf("subgraph %d\n", s);
    PrintTensors(session, s, columns);
    PrintNodes(session, s);
  }
  std::printf("==== %s state ends ====\n\n", when.c_str());
}

void PrintSignatures(const Session& session) {
  const int count = TfLiteInterpreterGetSignatureCount(session.interpreter());
  if (count == 0) std::printf("signature  none\n");
  for (int i = 0; i < count; ++i) {
    const char* key = TfLiteInterpreterGetSignatureKey(session.interpreter(), i);
    const Runner runner(TfLiteInterpreterGetSignatureRunner(session.interpreter(), key),
                        &TfLiteSignatureRunnerDelete);
    if (runner == nullptr) continue;
    std::printf("signature  %s(%s) -> %s\n", OneLine(key).c_str(), InputNames(runner.get()).c_str(),
                OutputNames(runner.get()).c_str());
  }
}

}  // namespace deputy::tools
