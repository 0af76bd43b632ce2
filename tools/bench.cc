// SPDX-License-Identifier: Apache-2.0
//
// `deputy bench`: how long a model takes, and where the time goes. Inferences are timed first
// without listening to single operators; a second series with a listener gives the shares.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/profile.h"
#include "tools/session.h"
#include "tools/tensor_data.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

struct BenchOptions {
  SessionOptions session;
  int runs = 50, warmup = 1;
  double min_secs = 1, max_secs = 150, warmup_secs = 0.5;
  int nodes = 10;
  bool json = false;
};

// At least `runs` inferences and `min_secs` seconds, but no more than `max_secs`.
std::vector<double> Measure(Session* session, int runs, double min_secs, double max_secs) {
  std::vector<double> times;
  const double start = NowMs();
  for (;;) {
    const double elapsed = (NowMs() - start) / 1e3;
    const bool enough = times.size() >= static_cast<size_t>(runs) && elapsed >= min_secs;
    if (enough || (elapsed >= max_secs && !times.empty())) return times;
    times.push_back(session->Invoke());
  }
}

struct Summary {
  double first, min, median, mean, p90, max;
  size_t runs;
};

Summary Summarise(double first, std::vector<double> times) {
  Summary summary = {};
  summary.first = first;
  summary.runs = times.size();
  summary.median = Percentile(&times, 0.5);
  summary.p90 = Percentile(&times, 0.9);
  summary.min = times.front();
  summary.max = times.back();
  summary.mean =
      std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  return summary;
}

void PrintText(const BenchOptions& options, const Session& session, const Summary& summary,
               const Profile& profile, size_t profiled) {
  std::printf("model      %s\n", OneLine(options.session.model).c_str());
  std::printf("threads    %d, kernels %s\n", options.session.threads, DeputyCpuTable());
  std::printf("start-up   load %.3f ms, prepare %.3f ms, first inference %.3f ms\n",
              session.load_ms(), session.prepare_ms(), summary.first);
  std::printf("inference  min %.3f, median %.3f, p90 %.3f, max %.3f, mean %.3f ms (%zu runs)\n\n",
              summary.min, summary.median, summary.p90, summary.max, summary.mean, summary.runs);
  profile.PrintByOperator(profiled);
  if (options.nodes > 0) {
    std::printf("\n");
    profile.PrintByNode(profiled, static_cast<size_t>(options.nodes));
  }
}

void PrintJson(const BenchOptions& options, const Session& session, const Summary& summary,
               const Profile& profile, size_t profiled) {
  nlohmann::ordered_json json = {{"model", options.session.model},
                                 {"threads", options.session.threads},
                                 {"kernels", DeputyCpuTable()},
                                 {"load_ms", session.load_ms()},
                                 {"prepare_ms", session.prepare_ms()},
                                 {"first_ms", summary.first},
                                 {"runs", summary.runs},
                                 {"min_ms", summary.min},
                                 {"median_ms", summary.median},
                                 {"p90_ms", summary.p90},
                                 {"max_ms", summary.max},
                                 {"mean_ms", summary.mean}};
  json.update(profile.ToJson(profiled));
  // Names come out of the model and may be no UTF-8.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", json.dump(2, ' ', false, replace).c_str());
}

void Bench(const BenchOptions& options) {
  Session session(options.session);
  for (int i = 0; i < session.input_count(); ++i) {
    WriteRandom(static_cast<uint32_t>(i), session.input(i));
  }
  const double first = session.Invoke();
  if (options.warmup > 0) {
    Measure(&session, options.warmup, options.warmup_secs, options.max_secs);
  }
  const Summary summary =
      Summarise(first, Measure(&session, options.runs, options.min_secs, options.max_secs));
  Profile profile(session);
  const size_t profiled = Measure(&session, std::min(options.runs, 50), 0, options.max_secs).size();
  (options.json ? PrintJson : PrintText)(options, session, summary, profile, profiled);
}

}  // namespace

void AddBenchCommand(CLI::App* app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app->add_subcommand("bench", "Measure a model, whole and by operator");
  AddSessionOptions(command, &options->session);
  command->add_option("--graph", options->session.model, "The same as MODEL")->type_name("FILE");
  const CLI::Validator at_least_one = CLI::PositiveNumber.description("");
  const CLI::Validator not_negative = CLI::NonNegativeNumber.description("");
  command->add_option("-n,--runs,--num_runs", options->runs, "Inferences at least")
      ->type_name("N")
      ->check(at_least_one)
      ->capture_default_str();
  command->add_option("--min-secs,--min_secs", options->min_secs, "Seconds at least")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  command->add_option("--max-secs,--max_secs", options->max_secs, "Seconds at most")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  command
      ->add_option("--warmup,--warmup_runs", options->warmup,
                   "Inferences before measuring; 0 for none")
      ->type_name("N")
      ->check(not_negative)
      ->capture_default_str();
  command
      ->add_option("--warmup-secs,--warmup_min_secs", options->warmup_secs,
                   "Seconds of warm-up at least")
      ->type_name("S")
      ->check(not_negative)
      ->capture_default_str();
  command->add_option("--nodes", options->nodes, "Show the N most expensive nodes")
      ->type_name("N")
      ->check(not_negative)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON, with all nodes");
  command->footer(
      "Inputs are random, times in milliseconds. The spellings of TFLite's\n"
      "benchmark_model work too: --num_runs, --num_threads, --warmup_runs, ...");
  command->callback([options] { Bench(*options); });
}

}  // namespace deputy::tools
