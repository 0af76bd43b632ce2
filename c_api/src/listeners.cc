// SPDX-License-Identifier: Apache-2.0
#include "c_api/src/listeners.h"

#include <utility>

#include "c_api/include/telemetry_profiler.h"
#include "c_api/src/telemetry.h"
#include "core/base/guard.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

using Telemetry = TfLiteTelemetryProfilerStruct;

// Source of the events: the interpreter. Delegates would have other numbers.
constexpr uint32_t kSourceInterpreter = 0;

struct SubgraphSettings {
  std::vector<TfLiteQuantization> quantizations;
  std::vector<int32_t> op_types;
  std::vector<const char*> custom_op_names;

  explicit SubgraphSettings(Subgraph* subgraph) {
    for (int i = 0; i < subgraph->graph().tensor_count(); ++i) {
      const TfLiteQuantization& quantization = subgraph->graph().tensor(i)->quantization;
      if (quantization.type != kTfLiteNoQuantization) quantizations.push_back(quantization);
    }
    for (int i = 0; i < subgraph->graph().node_count(); ++i) {
      const TfLiteRegistration& registration = *subgraph->graph().registration(i);
      op_types.push_back(registration.builtin_code);
      if (registration.builtin_code != kTfLiteBuiltinCustom) continue;
      custom_op_names.push_back(registration.custom_name);
    }
  }
};

void ReportInterpreterSettings(Telemetry* telemetry, Interpreter* interpreter) {
  std::vector<SubgraphSettings> contents;
  contents.reserve(static_cast<size_t>(interpreter->subgraph_count()));
  for (int i = 0; i < interpreter->subgraph_count(); ++i) {
    contents.emplace_back(interpreter->subgraph(i));
  }
  std::vector<TfLiteTelemetrySubgraphInfo> subgraphs;
  subgraphs.reserve(contents.size());
  for (SubgraphSettings& content : contents) {
    subgraphs.push_back({content.quantizations, content.op_types, content.custom_op_names});
  }
  TfLiteTelemetryInterpreterSettings settings;
  settings.subgraphs = subgraphs;
  const TfLiteTelemetrySettings tagged = {kSourceInterpreter, &settings};
  // "InterpreterBuilder::operator()" is upstream's name of the setting.
  telemetry->ReportSettings(telemetry, "InterpreterBuilder::operator()", &tagged);
}

// Fills the event of an operator of a delegate's partition.
DeputyOpEvent PartEvent(const Interpreter& interpreter, const OpEvent& event,
                        const PartitionEvents& parts, const PartitionEvents::Event& part) {
  DeputyOpEvent out{};
  out.struct_size = sizeof out;
  out.subgraph_index = event.subgraph;
  out.node_index = part.node < 0 ? event.node : part.node;
  const Graph& graph = interpreter.running()->subgraph(event.subgraph)->graph();
  out.operator_name = OperatorName(*graph.registration(out.node_index));
  out.begin_ns = part.begin_ns;
  out.duration_ns = part.duration_ns;
  out.delegate_name = parts.delegate.c_str();
  out.detail = part.name.c_str();
  out.node_begin_ns = event.begin_ns;
  out.node_duration_ns = event.end_ns - event.begin_ns;
  out.delegate_node = event.node;
  return out;
}

template <typename Listener>
void Register(Interpreter* interpreter, Listener* listener, bool is_active) {
  if (is_active) {
    interpreter->AddOpListener(listener);
  } else {
    interpreter->RemoveOpListener(listener);
  }
}

}  // namespace

// ---- Profile callback ---------------------------------------------------------------------------

void ProfileListener::Set(Interpreter* interpreter, DeputyProfileCallback callback,
                          void* user_data) {
  Register(interpreter, this, callback != nullptr);
  interpreter_ = interpreter;
  callback_ = callback;
  user_data_ = user_data;
}

void ProfileListener::Report(const DeputyOpEvent& event) const {
  if (callback_ == nullptr) return;
  Guard(Ignore, [&] { callback_(user_data_, &event); });
}

// Reports an operator; the operators of a partition replace the delegate's node.
void ProfileListener::EndOp(const OpEvent& event) {
  if (event.parts != nullptr && !event.parts->events.empty()) {
    for (const PartitionEvents::Event& part : event.parts->events) {
      Report(PartEvent(*interpreter_, event, *event.parts, part));
    }
    return;
  }
  DeputyOpEvent out{};
  out.struct_size = sizeof out;
  out.subgraph_index = event.subgraph;
  out.node_index = event.node;
  out.delegate_name = out.detail = "";
  out.delegate_node = -1;
  out.operator_name = event.op_name;
  out.begin_ns = event.begin_ns;
  out.duration_ns = event.end_ns - event.begin_ns;
  out.status = event.status;
  Report(out);
}

// ---- Worker callback ----------------------------------------------------------------------------

void WorkerListener::Set(Interpreter* interpreter, DeputyWorkerCallback callback, void* user_data) {
  Register(interpreter, this, callback != nullptr);
  callback_ = callback;
  user_data_ = user_data;
}

void WorkerListener::TilesDone(int subgraph, int node, std::span<const TileWork> work) {
  for (const TileWork& part : work) {
    DeputyWorkerEvent out{};
    out.struct_size = sizeof out;
    out.subgraph_index = subgraph;
    out.node_index = node;
    out.worker = part.worker;
    out.tiles = part.tiles;
    out.begin_ns = part.begin_ns;
    out.duration_ns = part.end_ns - part.begin_ns;
    if (callback_ == nullptr) return;
    Guard(Ignore, [&] { callback_(user_data_, &out); });
  }
}

// ---- Telemetry ----------------------------------------------------------------------------------

void TelemetryListener::Set(Interpreter* interpreter, Telemetry* profiler) {
  interpreter_ = interpreter;
  profiler_ = profiler;
  open_ops_.clear();
  Register(interpreter, this, profiler != nullptr);
}

uint32_t TelemetryListener::needs() const {
  const bool per_node = profiler_ != nullptr && profiler_->ReportBeginOpInvokeEvent != nullptr;
  return per_node ? kNeedsEveryNode : kNeedsNothing;
}

void TelemetryListener::BeginOp(int subgraph, int node, const char* op_name) {
  Guard(Ignore, [&] {
    open_ops_.push_back(UINT32_MAX);
    if (profiler_ == nullptr || profiler_->ReportBeginOpInvokeEvent == nullptr) return;
    const uint32_t handle = profiler_->ReportBeginOpInvokeEvent(profiler_, op_name, node, subgraph);
    // If the function has replaced the profiler, no operators are open.
    if (!open_ops_.empty()) open_ops_.back() = handle;
  });
}

void TelemetryListener::EndOp(const OpEvent& event) {
  if (profiler_ == nullptr) return;
  if (event.parts != nullptr && profiler_->ReportOpInvokeEvent != nullptr) {
    ReportParts(event, *event.parts);
  }
  if (open_ops_.empty()) return;
  const uint32_t handle = open_ops_.back();
  open_ops_.pop_back();
  if (handle != UINT32_MAX && profiler_ != nullptr &&
      profiler_->ReportEndOpInvokeEvent != nullptr) {
    Guard(Ignore, [&] { profiler_->ReportEndOpInvokeEvent(profiler_, handle); });
  }
}

void TelemetryListener::ReportParts(const OpEvent& event, const PartitionEvents& parts) const {
  for (const PartitionEvents::Event& part : parts.events) {
    const DeputyOpEvent out = PartEvent(*interpreter_, event, parts, part);
    const auto microseconds = static_cast<uint64_t>(part.duration_ns) / 1000;
    if (profiler_ == nullptr || profiler_->ReportOpInvokeEvent == nullptr) return;
    Guard(Ignore, [&] {
      profiler_->ReportOpInvokeEvent(profiler_, out.operator_name, microseconds, out.node_index,
                                     event.subgraph);
    });
  }
}

void TelemetryListener::ReportEvent(const char* name, TfLiteStatus status) const {
  if (profiler_ == nullptr || profiler_->ReportTelemetryEvent == nullptr) return;
  const uint64_t code =
      static_cast<uint64_t>(kSourceInterpreter) << 32 | static_cast<uint32_t>(status);
  Guard(Ignore, [&] { profiler_->ReportTelemetryEvent(profiler_, name, code); });
}

void TelemetryListener::ReportSettings() const {
  if (profiler_ == nullptr || profiler_->ReportSettings == nullptr) return;
  Guard(Ignore, [&] { ReportInterpreterSettings(profiler_, interpreter_); });
}

}  // namespace deputy
