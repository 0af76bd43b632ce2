// SPDX-License-Identifier: Apache-2.0
//
// Reports of an interpreter to its client: operators to the profile callback of deputy.h and to the
// telemetry callbacks of telemetry_profiler.h, work of threads to the worker callback, calls and
// settings to the telemetry callbacks. Exceptions of the client's callbacks are caught here. The
// ABI requires that no telemetry callback is NULL; one that is is not called.
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/telemetry_profiler.h"
#include "c_api/src/objects.h"
#include "c_api/src/telemetry.h"
#include "core/model/op_names.h"

using deputy::Guard;
using deputy::Ignore;

namespace {

using Telemetry = TfLiteTelemetryProfilerStruct;

// The source of an event is the interpreter; delegates would have other numbers.
constexpr uint32_t kSourceInterpreter = 0;

// Data of one subgraph for the accessors of telemetry_setting.h.
struct SubgraphSettings {
  std::vector<TfLiteQuantization> quantizations;
  std::vector<int32_t> op_types;
  std::vector<const char*> custom_op_names;

  explicit SubgraphSettings(deputy::Subgraph* subgraph) {
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

void ReportInterpreterSettings(Telemetry* telemetry, deputy::Interpreter* interpreter) {
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
  // Upstream's name of the setting.
  telemetry->ReportSettings(telemetry, "InterpreterBuilder::operator()", &tagged);
}

}  // namespace

void TfLiteInterpreter::UpdateListener() {
  const bool any =
      profile_callback != nullptr || worker_callback != nullptr || telemetry != nullptr;
  impl->SetOpListener(any ? this : nullptr);
}

// The telemetry events are those of TensorFlow Lite, which does not fuse nodes.
bool TfLiteInterpreter::needs_each_node() const {
  return telemetry != nullptr && telemetry->ReportBeginOpInvokeEvent != nullptr;
}

void TfLiteInterpreter::BeginOp(int subgraph, int node, const char* op_name) {
  if (telemetry == nullptr) return;
  Guard(Ignore, [&] {
    open_ops.push_back(UINT32_MAX);
    if (telemetry->ReportBeginOpInvokeEvent == nullptr) return;
    open_ops.back() = telemetry->ReportBeginOpInvokeEvent(telemetry, op_name, node, subgraph);
  });
}

// Reports one event of a delegate's partition.
void TfLiteInterpreter::ReportPartEvent(const deputy::OpEvent& event, size_t index) {
  const deputy::PartitionEvents::Event& part = event.parts->events[index];
  DeputyOpEvent out{};
  out.struct_size = sizeof out;
  out.subgraph_index = event.subgraph;
  out.node_index = part.node < 0 ? event.node : part.node;
  const deputy::Subgraph* subgraph = impl->subgraph(event.subgraph);
  out.operator_name = deputy::OperatorName(*subgraph->graph().registration(out.node_index));
  out.begin_ns = part.begin_ns;
  out.duration_ns = part.duration_ns;
  out.delegate_name = event.parts->delegate.c_str();
  out.detail = part.name.c_str();
  out.node_begin_ns = event.begin_ns;
  out.node_duration_ns = event.end_ns - event.begin_ns;
  out.delegate_node = event.node;
  if (telemetry != nullptr && telemetry->ReportOpInvokeEvent != nullptr) {
    const auto microseconds = static_cast<uint64_t>(part.duration_ns) / 1000;
    Guard(Ignore, [&] {
      telemetry->ReportOpInvokeEvent(telemetry, out.operator_name, microseconds, out.node_index,
                                     event.subgraph);
    });
  }
  if (profile_callback != nullptr)
    Guard(Ignore, [&] { profile_callback(profile_user_data, &out); });
}

void TfLiteInterpreter::EndOp(const deputy::OpEvent& event) {
  const size_t parts = event.parts == nullptr ? 0 : event.parts->events.size();
  for (size_t i = 0; i < parts; ++i) ReportPartEvent(event, i);
  if (telemetry != nullptr && !open_ops.empty()) {
    const uint32_t handle = open_ops.back();
    open_ops.pop_back();
    if (handle != UINT32_MAX && telemetry->ReportEndOpInvokeEvent != nullptr) {
      Guard(Ignore, [&] { telemetry->ReportEndOpInvokeEvent(telemetry, handle); });
    }
  }
  if (profile_callback == nullptr || parts > 0) return;
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
  Guard(Ignore, [&] { profile_callback(profile_user_data, &out); });
}

void TfLiteInterpreter::TilesDone(int subgraph, int node, std::span<const deputy::TileWork> work) {
  for (const deputy::TileWork& part : work) {
    DeputyWorkerEvent out{};
    out.struct_size = sizeof out;
    out.subgraph_index = subgraph;
    out.node_index = node;
    out.worker = part.worker;
    out.tiles = part.tiles;
    out.begin_ns = part.begin_ns;
    out.duration_ns = part.end_ns - part.begin_ns;
    if (worker_callback == nullptr) return;
    Guard(Ignore, [&] { worker_callback(worker_user_data, &out); });
  }
}

void TfLiteInterpreter::ReportEvent(const char* name, TfLiteStatus status) const {
  if (telemetry == nullptr || telemetry->ReportTelemetryEvent == nullptr) return;
  const uint64_t code =
      static_cast<uint64_t>(kSourceInterpreter) << 32 | static_cast<uint32_t>(status);
  Guard(Ignore, [&] { telemetry->ReportTelemetryEvent(telemetry, name, code); });
}

void TfLiteInterpreter::ReportSettings() const {
  if (telemetry == nullptr || telemetry->ReportSettings == nullptr) return;
  Guard(Ignore, [&] { ReportInterpreterSettings(telemetry, impl.get()); });
}
