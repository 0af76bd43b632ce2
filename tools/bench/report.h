// SPDX-License-Identifier: Apache-2.0
//
// The results of `deputy bench` and their output as text and JSON.
#ifndef DEPUTY_TOOLS_BENCH_REPORT_H_
#define DEPUTY_TOOLS_BENCH_REPORT_H_

#include <cstddef>
#include <vector>

#include "tools/bench/delegates.h"
#include "tools/bench/inputs.h"
#include "tools/bench/options.h"
#include "tools/device_work.h"
#include "tools/profile.h"
#include "tools/session.h"

namespace deputy::tools {

// Times of a benchmark in milliseconds.
struct BenchTimes {
  double init, first, warmup;  // warmup: mean of all warm-up inferences, including the first
  double min, median, p90, p95, p99, max, mean;
  size_t runs;
};

struct BenchMemory {
  size_t arena = 0, persistent = 0;  // bytes, over all subgraphs of the interpreter
  size_t scratch = 0;                // bytes, of the interpreter
  size_t packed = 0;                 // bytes of packed constants, of the model
  size_t resource = 0;               // bytes of resources, of the interpreter
  // Peak resident set size of the process until its start, until immediately before the first
  // inference, and until after the measured inferences.
  size_t resident_at_start = 0, resident_ready = 0, resident_peak = 0;
};

// Computes the statistics of `times`, the measured inferences, and of `warmup`, which starts with
// the first inference. All times are in milliseconds.
BenchTimes SummariseTimes(double init, const std::vector<double>& warmup,
                          std::vector<double> times);

// Returns the peak resident set size of the process so far.
size_t PeakResidentBytes();
BenchMemory MeasureMemory(const Session& session, size_t resident_at_start, size_t resident_ready);

struct BenchReport {
  const BenchOptions& options;
  const Session& session;
  const BenchDelegates& delegates;
  const std::vector<InputReport>& inputs;
  BenchTimes times;
  BenchMemory memory;
  const Profile* profile;  // null if not requested
  size_t profiled;         // number of inferences in the profile
  // Operations of the delegates' devices during the profiled inferences; empty if no delegate
  // measured times.
  std::vector<DeviceWork> device_work;
};

// Print the results to standard output. The CSV profile goes to its file, or replaces the tables on
// standard output; ends the command with kExitUsage if the file cannot be opened, and with
// kExitFailed if it cannot be written.
void PrintText(const BenchReport& report);
void PrintJson(const BenchReport& report);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_BENCH_REPORT_H_
