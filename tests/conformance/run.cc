// SPDX-License-Identifier: Apache-2.0
//
// Implements run.h. A delegate is applied before the first allocation, as clients do. If the graph
// cannot be allocated, applying a static delegate fails, too; that counts as a refusal of the
// graph, not as a failure of the delegate. A static delegate is not offered a graph with dynamic
// shapes, which then runs on the CPU.
#include "tests/conformance/run.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy_plugin.h"
#include "tests/support/owners.h"

namespace deputy::conformance {
namespace {

void Append(void* log, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(log)->append(line).append("\n");
}

Owned<TfLiteInterpreter> CreateInterpreter(const TfLiteModel* model, const Job& job,
                                           const Target& target, KeepAlive* keep_alive,
                                           Result* result) {
  const Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  TfLiteInterpreterOptionsSetErrorReporter(options.get(), &Append, &result->log);
  DeputyInterpreterOptionsSetArithmetic(options.get(), job.arithmetic);
  if (target.configure) result->complaint = target.configure(options.get(), keep_alive);
  if (!result->complaint.empty()) return nullptr;
  Owned<TfLiteInterpreter> interpreter(TfLiteInterpreterCreate(model, options.get()));
  // A delegate's node counts its runs only while a profile callback is installed.
  if (interpreter != nullptr && target.has_delegate()) {
    DeputyInterpreterSetProfileCallback(
        interpreter.get(), [](void*, const DeputyOpEvent*) {}, nullptr);
  }
  return interpreter;
}

TensorValue CopyOut(const TfLiteTensor* tensor) {
  TensorValue value;
  value.type = TfLiteTensorType(tensor);
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) {
    value.dims.push_back(TfLiteTensorDim(tensor, i));
  }
  value.data.resize(TfLiteTensorByteSize(tensor));
  if (!value.data.empty()) {
    TfLiteTensorCopyToBuffer(tensor, value.data.data(), value.data.size());
  }
  return value;
}

void CopyOutputs(const TfLiteInterpreter* interpreter, Result* result) {
  result->output_names.clear();
  result->passes.emplace_back();
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(interpreter, i);
    const char* name = TfLiteTensorName(tensor);
    result->output_names.emplace_back(name == nullptr ? "" : name);
    result->passes.back().push_back(CopyOut(tensor));
  }
}

// ---- Nodes that the delegate ran or left --------------------------------------------------------

struct NodePosition {
  int32_t subgraph, node;
};

std::string RecordedReason(const TfLiteInterpreter* interpreter, NodePosition at) {
  DeputyNodeSupport support = {};
  support.struct_size = sizeof support;
  if (DeputyInterpreterGetNodeSupport(interpreter, at.subgraph, at.node, 0, &support) !=
          kTfLiteOk ||
      support.reason == kDeputyReasonNone || support.reason >= kDeputyReasonNotClaimed) {
    return "";  // reasons from 100 on are set by the runtime
  }
  return support.text[0] != '\0' ? support.text : support.reason_name;
}

std::vector<const TfLiteTensor*> TensorsAt(const TfLiteInterpreter* interpreter, int32_t subgraph,
                                           std::span<const int32_t> indices) {
  std::vector<const TfLiteTensor*> tensors;
  for (const int32_t index : indices) {
    tensors.push_back(index < 0 ? nullptr
                                : DeputyInterpreterGetTensor(interpreter, subgraph, index));
  }
  return tensors;
}

void JudgeNodeLeft(const TfLiteInterpreter* interpreter, const DeputyNodeInfo& info,
                   const Target& target, Result* result) {
  NodeLeft left;
  left.op = info.operator_name;
  left.builtin_code = info.builtin_code;
  left.inputs = TensorsAt(interpreter, info.subgraph_index,
                          {info.inputs, static_cast<size_t>(info.input_count)});
  left.outputs = TensorsAt(interpreter, info.subgraph_index,
                           {info.outputs, static_cast<size_t>(info.output_count)});
  left.delegate_reason = RecordedReason(interpreter, {info.subgraph_index, info.node_index});
  const std::string reason = target.may_refuse ? target.may_refuse(left) : "";
  result->left.push_back(left.op + ": " + reason);
  if (!reason.empty() || !result->complaint.empty()) return;
  result->complaint =
      "node " + std::to_string(info.node_index) + " " + left.op +
      " was left to the CPU without a reason" +
      (left.delegate_reason.empty() ? "" : "; the delegate says: " + left.delegate_reason);
}

// Returns true if a node of the model ran in a delegate's kernel.
bool RanInDelegate(const TfLiteInterpreter* interpreter, NodePosition at,
                   const DeputyNodeRun& run) {
  DeputyNodeRun runner = {};
  runner.struct_size = sizeof runner;
  return run.delegate_index >= 0 &&
         DeputyInterpreterGetNodeRun(interpreter, at.subgraph, run.runner, &runner) == kTfLiteOk &&
         runner.runs > runner.recomputed;
}

// Returns true if the delegate was offered the node; the nodes of subgraphs that are never run are
// not offered.
bool WasOffered(const TfLiteInterpreter* interpreter, NodePosition at) {
  DeputyNodeSupport support = {};
  support.struct_size = sizeof support;
  return DeputyInterpreterGetNodeSupport(interpreter, at.subgraph, at.node, 0, &support) ==
         kTfLiteOk;
}

void JudgeNode(const TfLiteInterpreter* interpreter, NodePosition at, const Target& target,
               Result* result) {
  DeputyNodeInfo info = {};
  info.struct_size = sizeof info;
  DeputyNodeRun run = {};
  run.struct_size = sizeof run;
  if (DeputyInterpreterGetNodeInfo(interpreter, at.subgraph, at.node, &info) != kTfLiteOk ||
      DeputyInterpreterGetNodeRun(interpreter, at.subgraph, at.node, &run) != kTfLiteOk ||
      info.builtin_code == kTfLiteBuiltinDelegate) {
    return;
  }
  if (RanInDelegate(interpreter, at, run)) ++result->delegated;
  if (run.delegate_index < 0 && WasOffered(interpreter, at)) {
    JudgeNodeLeft(interpreter, info, target, result);
  }
}

void JudgeDelegate(const TfLiteInterpreter* interpreter, const Target& target, Result* result) {
  for (int32_t s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int32_t n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      JudgeNode(interpreter, {s, n}, target, result);
    }
  }
}

// ---- The steps ----------------------------------------------------------------------------------

// Applies the target's delegate. Returns false if the graph is unchanged, with a reason or a
// complaint in the result.
bool Apply(TfLiteInterpreter* interpreter, const Target& target, KeepAlive* keep_alive,
           Result* result) {
  const TfLiteStatus status = target.apply(interpreter, keep_alive, &result->log);
  if (status == kTfLiteOk) return true;
  if (status == kTfLiteApplicationError) {
    result->left.push_back("the graph: " + result->log);
  } else {
    result->complaint = "the delegate cannot be applied: " + result->log;
  }
  return false;
}

// Resizes inputs, applies delegates and allocates tensors. If the graph cannot be allocated without
// the delegate either, a failed apply is not reported as a failure of the delegate.
Outcome MakeReady(TfLiteInterpreter* interpreter, const Job& job, const Target& target,
                  KeepAlive* keep_alive, bool* is_applied, Result* result) {
  if (job.shape && job.shape(interpreter) != kTfLiteOk) return Outcome::kRefusedResize;
  *is_applied = target.has_delegate() && Apply(interpreter, target, keep_alive, result);
  if ((job.before_allocation && job.before_allocation(interpreter) != kTfLiteOk) ||
      TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) {
    result->complaint.clear();
    return Outcome::kRefusedAllocate;
  }
  return Outcome::kInvoked;
}

Outcome Infer(TfLiteInterpreter* interpreter, const Job& job, Result* result) {
  for (int pass = 0; pass < job.passes; ++pass) {
    if (job.feed && job.feed(interpreter, pass) != kTfLiteOk) {
      result->log += "an input has the wrong size\n";
      return Outcome::kRefusedInvoke;
    }
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return Outcome::kRefusedInvoke;
    CopyOutputs(interpreter, result);
  }
  return Outcome::kInvoked;
}

}  // namespace

const char* Name(Outcome outcome) {
  static const char* const kNames[] = {"invoked",           "refused at create",
                                       "refused at resize", "refused at allocate",
                                       "refused at invoke", "undefined"};
  return kNames[static_cast<int>(outcome)];
}

Result Run(const Job& job, const Target& target) {
  Result result;
  KeepAlive keep_alive;
  const Owned<TfLiteModel> model(
      TfLiteModelCreateWithErrorReporter(job.model.data(), job.model.size(), &Append, &result.log));
  Owned<TfLiteInterpreter> interpreter;
  if (model != nullptr)
    interpreter = CreateInterpreter(model.get(), job, target, &keep_alive, &result);
  if (interpreter == nullptr) {
    result.outcome = Outcome::kRefusedCreate;
    return result;
  }
  bool is_applied = false;
  result.outcome = MakeReady(interpreter.get(), job, target, &keep_alive, &is_applied, &result);
  if (result.outcome != Outcome::kInvoked) return result;
  result.outcome = Infer(interpreter.get(), job, &result);
  if (is_applied) JudgeDelegate(interpreter.get(), target, &result);
  return result;
}

TfLiteStatus SetInput(TfLiteTensor* tensor, std::span<const uint8_t> data) {
  if (TfLiteTensorType(tensor) != kTfLiteString) {
    return TfLiteTensorCopyFromBuffer(tensor, data.data(), data.size());
  }
  if (tensor->allocation_type != kTfLiteDynamic) {
    TfLiteTensorDataFree(tensor);
    tensor->allocation_type = kTfLiteDynamic;
  }
  if (TfLiteTensorRealloc(data.size(), tensor) != kTfLiteOk) return kTfLiteError;
  std::memcpy(tensor->data.raw, data.data(), data.size());
  return kTfLiteOk;
}

}  // namespace deputy::conformance
