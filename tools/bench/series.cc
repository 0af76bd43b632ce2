// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/series.h"

#include <chrono>
#include <string>
#include <thread>

#include "tools/tensor_data.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

// Waits before the next inference; `done` inferences ran since `start_ms`. A late inference starts
// immediately, so that the rate catches up.
void Wait(const Series& series, size_t done, double start_ms) {
  double seconds = series.delay;
  if (series.frequency > 0) {
    seconds = static_cast<double>(done) / series.frequency - (NowMs() - start_ms) / 1e3;
  }
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

Series SeriesOf(const BenchOptions& options) {
  return {options.runs, options.min_secs, options.max_secs, options.run_delay,
          options.run_frequency};
}

std::vector<double> Measure(Session* session, const Series& series) {
  std::vector<double> times;
  const double start = NowMs();
  for (;;) {
    const double elapsed = (NowMs() - start) / 1e3;
    const bool enough =
        times.size() >= static_cast<size_t>(series.runs) && elapsed >= series.min_secs;
    if (enough || (elapsed >= series.max_secs && !times.empty())) return times;
    times.push_back(session->Invoke());
    Wait(series, times.size(), start);
  }
}

std::vector<double> WarmUp(Session* session, const BenchOptions& options) {
  if (options.warmup == 0) return {};
  Series series = SeriesOf(options);
  series.runs = options.warmup;
  series.min_secs = options.warmup_secs;
  return Measure(session, series);
}

std::unique_ptr<Session> OpenForBench(const SessionOptions& options) {
  try {
    return std::make_unique<Session>(options);
  } catch (const ToolError& error) {
    if (options.shapes.empty() || error.exit_code != kExitFailed) throw;
    SessionOptions plain = options;
    plain.shapes.clear();
    std::string own;
    try {
      const Session session(plain);
      for (int i = 0; i < session.input_count(); ++i) {
        own += Format("%s'%s' %s", i == 0 ? "" : ", ", TfLiteTensorName(session.input(i)),
                      ShapeText(ShapeOf(session.input(i))).c_str());
      }
    } catch (const ToolError&) {
      throw error;
    }
    throw ToolError(error.exit_code, std::string(error.what()) + "; shapes in the model: " + own);
  }
}

}  // namespace deputy::tools
