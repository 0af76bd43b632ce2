// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench`: how long a model takes, and where the time goes. Inferences are timed first
// without listening to single operators; a second series with a listener gives the shares.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench_delegates.h"
#include "bench_inputs.h"
#include "bench_report.h"
#include "commands.h"
#include "device_work.h"
#include "profile.h"
#include "session.h"
#include "tensor_data.h"
#include "text.h"
#include "trace.h"

namespace deputy::tools {
namespace {

// How long a series goes on: at least `runs` inferences and `min_secs` seconds, but no more than
// `max_secs`; `delay` seconds between two inferences.
struct Series {
  int runs;
  double min_secs, max_secs, delay;
};

std::vector<double> Measure(Session* session, const Series& series) {
  std::vector<double> times;
  const double start = NowMs();
  for (;;) {
    const double elapsed = (NowMs() - start) / 1e3;
    const bool enough =
        times.size() >= static_cast<size_t>(series.runs) && elapsed >= series.min_secs;
    if (enough || (elapsed >= series.max_secs && !times.empty())) return times;
    times.push_back(session->Invoke());
    if (series.delay > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(series.delay));
    }
  }
}

// A model that refuses the shapes it was given says so in terms of its first node; this adds the
// shapes that it came with.
std::unique_ptr<Session> Open(const SessionOptions& options) {
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
    throw ToolError(error.exit_code, std::string(error.what()) + "; the model's own: " + own);
  }
}

}  // namespace

void BenchModel(const BenchOptions& options) {
  const size_t resident_at_start = PeakResidentBytes();
  BenchDelegates delegates(options.delegates, options.require_delegate);
  const std::unique_ptr<Session> session = Open(options.session);
  delegates.Apply(*session);
  delegates.CheckRequirements(options);
  const double init = session->load_ms() + session->prepare_ms() + delegates.apply_ms();
  const std::vector<InputReport> inputs = FillInputs(options.inputs, *session);

  std::vector<double> warmup = {session->Invoke()};
  if (options.warmup > 0) {
    const std::vector<double> more = Measure(
        session.get(), {options.warmup, options.warmup_secs, options.max_secs, options.run_delay});
    warmup.insert(warmup.end(), more.begin(), more.end());
  }
  const std::vector<double> times =
      Measure(session.get(), {options.runs, options.min_secs, options.max_secs, options.run_delay});
  const BenchMemory memory = MeasureMemory(*session, resident_at_start);
  std::optional<Profile> profile;
  size_t profiled = 0;
  if (options.profile) {
    (void)TakeDeviceWork(delegates.handles());  // that of the runs before
    profile.emplace(*session, !options.trace.empty());
    profiled = Measure(session.get(), {std::min(options.runs, 50), 0, options.max_secs, 0}).size();
  }
  const std::vector<DeviceWork> work = TakeDeviceWork(delegates.handles());
  if (!options.trace.empty()) WriteTrace(options.trace, *profile, work);
  const BenchReport report = {options,
                              *session,
                              delegates,
                              inputs,
                              SummariseTimes(init, warmup, times),
                              memory,
                              profile ? &*profile : nullptr,
                              profiled,
                              profile ? work : std::vector<DeviceWork>()};
  (options.json ? PrintJson : PrintText)(report);
  session->WarnIfDegraded();
}

}  // namespace deputy::tools
