// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench`: how long a model takes, and where the time goes. Inferences are timed first
// without listening to single operators; a second series with a listener gives the shares.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench_delegates.h"
#include "bench_inputs.h"
#include "bench_report.h"
#include "bench_state.h"
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
// `max_secs`; `delay` seconds between two inferences, or as many in a second as `frequency` says
// where that is not 0.
struct Series {
  int runs;
  double min_secs, max_secs, delay, frequency;
};

// Before the next inference, of which there were `done` since `start_ms`. One that is late begins
// at once, so that the rate is caught up with.
void Wait(const Series& series, size_t done, double start_ms) {
  double seconds = series.delay;
  if (series.frequency > 0) {
    seconds = static_cast<double>(done) / series.frequency - (NowMs() - start_ms) / 1e3;
  }
  if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
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

// What can be told before the first inference is.
void CheckFiles(const BenchOptions& options) {
  for (const std::string* path : {&options.profile_file, &options.trace, &options.output_file}) {
    if (!path->empty()) CheckWritable(*path);
  }
}

void WriteOutputs(const std::string& path, const Session& session) {
  std::ofstream file(path, std::ios::binary);
  for (int i = 0; i < session.output_count(); ++i) {
    const TfLiteTensor* tensor = session.output(i);
    file.write(static_cast<const char*>(TfLiteTensorData(tensor)),
               static_cast<std::streamsize>(TfLiteTensorByteSize(tensor)));
  }
  if (!file.flush()) FailWork("%s: %s", path.c_str(), std::strerror(errno));
}

void PrintStateIf(bool wanted, const char* when, const Session& session,
                  const BenchOptions& options) {
  if (wanted && !options.json) PrintState(session, when, options.columns);
}

// The inferences before those that count; the first one is among them.
std::vector<double> WarmUp(Session* session, const BenchOptions& options) {
  std::vector<double> warmup = {session->Invoke()};
  if (options.warmup == 0) return warmup;
  const std::vector<double> more =
      Measure(session, {options.warmup, options.warmup_secs, options.max_secs, options.run_delay,
                        options.run_frequency});
  warmup.insert(warmup.end(), more.begin(), more.end());
  return warmup;
}

}  // namespace

void BenchModel(const BenchOptions& options) {
  CheckFiles(options);
  const size_t resident_at_start = PeakResidentBytes();
  BenchDelegates delegates(options.delegates, options.require_delegate);
  const std::unique_ptr<Session> session = Open(options.session);
  delegates.Apply(*session);
  delegates.CheckRequirements(options);
  const double init = session->load_ms() + session->prepare_ms() + delegates.apply_ms();
  const std::vector<InputReport> inputs = FillInputs(options.inputs, *session);
  const size_t resident_ready = PeakResidentBytes();
  PrintStateIf(options.preinvoke_state, "pre-invoke", *session, options);

  std::vector<double> warmup, times;
  if (!options.dry_run) {
    warmup = WarmUp(session.get(), options);
    times = Measure(session.get(), {options.runs, options.min_secs, options.max_secs,
                                    options.run_delay, options.run_frequency});
  }
  const BenchMemory memory = MeasureMemory(*session, resident_at_start, resident_ready);
  std::optional<Profile> profile;
  size_t profiled = 0;
  if (options.profile && !options.dry_run) {
    (void)TakeDeviceWork(delegates.handles());  // that of the runs before
    profile.emplace(*session, !options.trace.empty());
    profiled =
        Measure(session.get(), {std::min(options.runs, 50), 0, options.max_secs, 0, 0}).size();
  }
  const std::vector<DeviceWork> work = TakeDeviceWork(delegates.handles());
  if (!options.trace.empty() && profile)
    WriteTrace(options.trace, *profile, delegates.handles(), work);
  if (!options.output_file.empty() && !options.dry_run) WriteOutputs(options.output_file, *session);
  PrintStateIf(options.postinvoke_state, "post-invoke", *session, options);
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
  session->ReportVerification();
  profile.reset();
  FailOnFindings(session->Close());
}

}  // namespace deputy::tools
