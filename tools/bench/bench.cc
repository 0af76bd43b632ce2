// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench`: measures the time of a model and of its parts. A first series is timed without a
// profile callback; a second one with a callback gives the share of each node.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/delegates.h"
#include "tools/bench/inputs.h"
#include "tools/bench/report.h"
#include "tools/bench/series.h"
#include "tools/bench/state.h"
#include "tools/commands.h"
#include "tools/device_choice.h"
#include "tools/device_work.h"
#include "tools/profile.h"
#include "tools/rank.h"
#include "tools/session.h"
#include "tools/tensor_data.h"
#include "tools/text.h"
#include "tools/trace.h"

namespace deputy::tools {
namespace {

// Reports errors that can be detected before the first inference.
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

}  // namespace

void BenchModel(const BenchOptions& options) {
  if (options.all_delegates) {
    RankDelegates(options);
    return;
  }
  CheckFiles(options);
  const size_t resident_at_start = PeakResidentBytes();
  BenchDelegates delegates(options.delegates, options.session.limits);
  delegates.WarnOfAbsent(options.require_delegate);
  SessionOptions settings = options.session;
  settings.place.delegates = delegates.handles();
  const std::unique_ptr<Session> session = OpenForBench(settings);
  const bool background = options.session.background;
  if (background) {
    delegates.ApplyInBackground(session.get());
  } else {
    delegates.Apply(*session);
    delegates.CheckRequirements(options);
  }
  const double init = session->load_ms() + session->prepare_ms() + delegates.apply_ms();
  const std::vector<InputReport> inputs = FillInputs(options.inputs, *session);
  const size_t resident_ready = PeakResidentBytes();
  PrintStateIf(options.preinvoke_state, "pre-invoke", *session, options);

  std::vector<double> warmup, times;
  if (!options.dry_run) warmup = {session->Invoke()};
  if (background) {
    delegates.FinishBackground(session.get());
    delegates.CheckRequirements(options);
  }
  if (!options.dry_run) {
    const std::vector<double> more = WarmUp(session.get(), options);
    warmup.insert(warmup.end(), more.begin(), more.end());
    times = Measure(session.get(), SeriesOf(options));
  }
  const BenchMemory memory = MeasureMemory(*session, resident_at_start, resident_ready);
  std::optional<Profile> profile;
  size_t profiled = 0;
  if (options.profile && !options.dry_run) {
    (void)TakeDeviceWork(delegates.handles());  // discards the work of the runs before
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
  WarnOfChoice(options.session.device_choice);
  session->WarnIfDegraded();
  session->ReportVerification();
  profile.reset();
  FailOnFindings(session->Close());
}

}  // namespace deputy::tools
