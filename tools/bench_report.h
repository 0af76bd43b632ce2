// SPDX-License-Identifier: Apache-2.0
//
// What `deputy bench` has measured, and how it is shown.
#ifndef DEPUTY_TOOLS_BENCH_REPORT_H_
#define DEPUTY_TOOLS_BENCH_REPORT_H_

#include <cstddef>
#include <vector>

#include "bench_delegates.h"
#include "bench_inputs.h"
#include "bench_options.h"
#include "device_work.h"
#include "profile.h"
#include "session.h"

namespace deputy::tools {

// Times in milliseconds.
struct BenchTimes {
  double init, first, warmup;  // warmup: the mean of the first inference and those after it
  double min, median, p90, p95, p99, max, mean;
  size_t runs;
};

struct BenchMemory {
  size_t arena = 0, persistent = 0;  // of the interpreter's subgraphs
  size_t scratch = 0;                // of the interpreter
  size_t packed = 0;                 // of the model
  size_t resource = 0;               // of the interpreter
  // Of the process: at its start, with everything ready for the first inference, and at most.
  size_t resident_at_start = 0, resident_ready = 0, resident_peak = 0;
};

// Sorts `times` of measured inferences; `warmup` starts with the first inference.
BenchTimes SummariseTimes(double init, const std::vector<double>& warmup,
                          std::vector<double> times);

// The largest size that the process has had so far.
size_t PeakResidentBytes();
BenchMemory MeasureMemory(const Session& session, size_t resident_at_start, size_t resident_ready);

struct BenchReport {
  const BenchOptions& options;
  const Session& session;
  const BenchDelegates& delegates;
  const std::vector<InputReport>& inputs;
  BenchTimes times;
  BenchMemory memory;
  const Profile* profile;               // null where none was asked for
  size_t profiled;                      // inferences in it
  std::vector<DeviceWork> device_work;  // during these; empty where nobody took times
};

// To standard output. The csv profile goes to its file, or to standard output in the place of the
// tables; ends the command with kExitUsage when the file cannot be written.
void PrintText(const BenchReport& report);
void PrintJson(const BenchReport& report);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_REPORT_H_
