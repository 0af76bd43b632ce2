// SPDX-License-Identifier: Apache-2.0
//
// Finds operators without a kernel and adds placeholders for them.
#include "missing.h"

#include <utility>

#include "deputy/c_api_experimental.h"
#include "text.h"

namespace deputy::tools {
namespace {

TfLiteStatus PrepareNothing(TfLiteContext* /*context*/, TfLiteNode* /*node*/) { return kTfLiteOk; }
TfLiteStatus RunNothing(TfLiteContext* /*context*/, TfLiteNode* /*node*/) { return kTfLiteError; }

}  // namespace

std::vector<MissingOperator> MissingOperators(const TfLiteModel* model) {
  std::vector<MissingOperator> missing;
  for (size_t i = 0; i < DeputyModelGetOperatorCount(model); ++i) {
    DeputyModelOperator op = {};
    op.struct_size = sizeof op;
    if (DeputyModelGetOperator(model, i, &op) != kTfLiteOk || op.node_count == 0) continue;
    if (op.has_kernel == 0)
      missing.push_back({op.name, op.builtin_code, op.version, op.node_count});
  }
  return missing;
}

void AddPlaceholders(const std::vector<MissingOperator>& missing,
                     TfLiteInterpreterOptions* options) {
  TfLiteRegistration placeholder = {};
  placeholder.prepare = &PrepareNothing;
  placeholder.invoke = &RunNothing;
  for (const MissingOperator& op : missing) {
    if (op.builtin_code == kTfLiteBuiltinCustom) {
      TfLiteInterpreterOptionsAddCustomOp(options, op.name.c_str(), &placeholder, op.version,
                                          op.version);
    } else {
      TfLiteInterpreterOptionsAddBuiltinOp(options,
                                           static_cast<TfLiteBuiltinOperator>(op.builtin_code),
                                           &placeholder, op.version, op.version);
    }
  }
}

bool IsMissing(const std::vector<MissingOperator>& missing, const TfLiteInterpreter* interpreter,
               int subgraph, int node) {
  if (missing.empty()) return false;
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  if (DeputyInterpreterGetNodeInfo(interpreter, subgraph, node, &info) != kTfLiteOk) return false;
  DeputyNodeRun run = {};
  run.struct_size = sizeof run;
  if (DeputyInterpreterGetNodeRun(interpreter, subgraph, node, &run) == kTfLiteOk &&
      run.delegate_index >= 0) {
    return false;
  }
  for (const MissingOperator& op : missing) {
    if (op.name == info.operator_name && op.version == info.version) return true;
  }
  return false;
}

std::vector<MissingOperator> MissingLeft(std::vector<MissingOperator> missing,
                                         const TfLiteInterpreter* interpreter) {
  std::vector<MissingOperator> left;
  for (MissingOperator& op : missing) {
    const std::vector<MissingOperator> only = {op};
    op.nodes = 0;
    for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
      for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
        if (IsMissing(only, interpreter, s, n)) ++op.nodes;
      }
    }
    if (op.nodes > 0) left.push_back(std::move(op));
  }
  return left;
}

std::string MissingText(const std::vector<MissingOperator>& missing) {
  std::string list;
  for (const MissingOperator& op : missing) {
    list += (list.empty() ? "" : ", ") + OneLine(op.name) + " version " +
            std::to_string(op.version) + " (" +
            PluralText(static_cast<size_t>(op.nodes), "node", "nodes") + ")";
  }
  return PluralText(missing.size(), "operator has", "operators have") + " no kernel: " + list;
}

}  // namespace deputy::tools
