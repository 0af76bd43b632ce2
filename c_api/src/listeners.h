// SPDX-License-Identifier: Apache-2.0
//
// Listeners that forward events of an interpreter to a client's callbacks: operators to the profile
// callback of deputy.h and to the telemetry callbacks of telemetry_profiler.h, work of threads to
// the worker callback. Exceptions of the client's callbacks are caught here.
#ifndef DEPUTY_C_API_SRC_LISTENERS_H_
#define DEPUTY_C_API_SRC_LISTENERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "c_api/include/deputy.h"
#include "core/exec/interpreter.h"

struct TfLiteTelemetryProfilerStruct;

namespace deputy {

class ProfileListener final : public OpListener {
 public:
  // Sets the callback; null ends the reports. `interpreter` must outlive this object.
  void Set(Interpreter* interpreter, DeputyProfileCallback callback, void* user_data);

  void BeginOp(int, int, const char*) override {}
  void EndOp(const OpEvent& event) override;

 private:
  void Report(const DeputyOpEvent& event) const;

  Interpreter* interpreter_ = nullptr;
  DeputyProfileCallback callback_ = nullptr;
  void* user_data_ = nullptr;
};

class WorkerListener final : public OpListener {
 public:
  // Sets the callback; null ends the reports.
  void Set(Interpreter* interpreter, DeputyWorkerCallback callback, void* user_data);

  uint32_t needs() const override { return kNeedsTiles; }
  void BeginOp(int, int, const char*) override {}
  void EndOp(const OpEvent&) override {}
  void TilesDone(int subgraph, int node, std::span<const TileWork> work) override;

 private:
  DeputyWorkerCallback callback_ = nullptr;
  void* user_data_ = nullptr;
};

// Calls a client's telemetry callbacks. The ABI requires that none is NULL; one that is NULL is not
// called.
class TelemetryListener final : public OpListener {
 public:
  // Sets the callbacks; null ends the reports. The end of an operator that is running is not
  // reported.
  void Set(Interpreter* interpreter, TfLiteTelemetryProfilerStruct* profiler);

  // Requires that nodes run one by one if operators are reported: the events are those of
  // TensorFlow Lite, which does not fuse nodes.
  uint32_t needs() const override;
  void BeginOp(int subgraph, int node, const char* op_name) override;
  void EndOp(const OpEvent& event) override;
  // Reports the end of a call.
  void ReportEvent(const char* name, TfLiteStatus status) const;
  // Reports the interpreter's settings.
  void ReportSettings() const;

 private:
  void ReportParts(const OpEvent& event, const PartitionEvents& parts) const;

  Interpreter* interpreter_ = nullptr;
  TfLiteTelemetryProfilerStruct* profiler_ = nullptr;
  // Results of ReportBeginOpInvokeEvent for the running operators, the innermost last.
  std::vector<uint32_t> open_ops_;
};

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_LISTENERS_H_
