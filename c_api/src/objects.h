// SPDX-License-Identifier: Apache-2.0
//
// Definitions of the opaque types of the C API. All functions of the API that may throw run in
// Guard, so that no exception passes to C code.
#ifndef DEPUTY_C_API_SRC_OBJECTS_H_
#define DEPUTY_C_API_SRC_OBJECTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "c_api/src/resolver.h"
#include "core/base/guard.h"
#include "core/delegation/delegation.h"
#include "core/delegation/hot_fallback.h"
#include "core/delegation/placement.h"
#include "core/exec/interpreter.h"
#include "core/exec/op_listener.h"
#include "core/validation/validation.h"

struct TfLiteTelemetryProfilerStruct;

struct TfLiteModel {
  std::shared_ptr<const deputy::Model> impl;
};

struct TfLiteInterpreterOptions {
  deputy::InterpreterConfig config;
  // Set by the functions of the API; the environment selects the values that are not set.
  bool arithmetic_set = false;
  bool precision_set = false;
  bool policy_set = false;
  bool validation_set = false;
  deputy::ValidationConfig validation;
  std::vector<deputy::Placement> placements;  // constraints on the delegates of nodes
  deputy::OperatorSet operators;
  std::vector<TfLiteDelegate*> delegates;  // borrowed, in the order of application
  bool delegate_fallback = false;
  int requirement = 0;                                 // a DeputyRequirement
  TfLiteTelemetryProfilerStruct* telemetry = nullptr;  // borrowed
};

// Forwards begin and end of operators to the client's profile callback and telemetry; see
// listeners.cc.
struct TfLiteInterpreter final : deputy::OpListener {
  void BeginOp(int subgraph, int node, const char* op_name) override;
  void EndOp(const deputy::OpEvent& event) override;
  void ReportPartEvent(const deputy::OpEvent& event, size_t index);
  bool needs_each_node() const override;
  bool needs_tiles() const override { return worker_callback != nullptr; }
  void TilesDone(int subgraph, int node, std::span<const deputy::TileWork> work) override;
  // Updates the registration as a listener after a callback has been set or removed.
  void UpdateListener();
  // Reports the end of a call to the telemetry callbacks.
  void ReportEvent(const char* name, TfLiteStatus status) const;
  // Reports the interpreter's settings to the telemetry callbacks.
  void ReportSettings() const;

  std::unique_ptr<deputy::Interpreter> impl;
  bool delegate_fallback = false;
  bool allow_buffer_handle_output = false;
  TfLiteTelemetryProfilerStruct* telemetry = nullptr;
  DeputyProfileCallback profile_callback = nullptr;
  void* profile_user_data = nullptr;
  DeputyWorkerCallback worker_callback = nullptr;
  void* worker_user_data = nullptr;
  // Results of ReportBeginOpInvokeEvent for the running operators, the innermost last.
  std::vector<uint32_t> open_ops;
};

struct TfLiteSignatureRunner {
  deputy::SignatureRunner* impl = nullptr;         // owned by the interpreter
  const TfLiteInterpreter* interpreter = nullptr;  // the interpreter that created it
};

namespace deputy {

// DeputyInterpreterCheckDelegation without its checks of arguments.
TfLiteStatus CheckDelegation(Interpreter* interpreter, int requirement, int32_t* delegated,
                             int32_t* total);

// Returns the validation layer, null if it is disabled. No other type of observer exists.
inline Validation* ValidationOf(const TfLiteInterpreter* interpreter) {
  return static_cast<Validation*>(interpreter->impl->observer());
}

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_OBJECTS_H_
