// SPDX-License-Identifier: Apache-2.0
//
// model_fuzz: runs mutated models through their life cycle. Exits with 1 if one crashed, hung,
// leaked or caused a sanitizer report.
//
//   --runs N     number of mutants (3000)
//   --seed S     seed of the sequence of mutants (1)
//   --only N     run mutant N only, in this process; printed for each failure
//   --write FILE with --only: write the mutant's model
//   --from TEXT  use only models with TEXT in their names: "MIRROR_PAD", ".tflite"
//   --jobs N     number of processes (one per processor)
//   --failures N stop after this number of failures (20)
//   --sweep N    run every hostile variant of N cases of each operator instead of mutants; with
//                --only: of case number N, printing a line before each variant
#include <unistd.h>

#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/life.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/sweep.h"
#include "tests/fuzz/workers.h"

namespace deputy::fuzz {
namespace {

struct Arguments {
  uint64_t runs = 3000, seed = 1, sweep = 0;
  std::optional<uint64_t> only;
  std::string write, from;
  int jobs = 0, failures = 20;
};

template <typename Number>
bool ParseNumber(std::string_view text, Number* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseOne(std::string_view name, const char* value, Arguments* out) {
  if (name == "--runs") return ParseNumber(value, &out->runs);
  if (name == "--seed") return ParseNumber(value, &out->seed);
  if (name == "--sweep") return ParseNumber(value, &out->sweep);
  if (name == "--only") return ParseNumber(value, &out->only.emplace());
  if (name == "--jobs") return ParseNumber(value, &out->jobs);
  if (name == "--failures") return ParseNumber(value, &out->failures);
  if (name != "--write" && name != "--from") return false;
  (name == "--write" ? out->write : out->from) = value;
  return true;
}

bool Parse(int argc, char** argv, Arguments* out) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc || !ParseOne(argv[i], argv[i + 1], out)) return false;
  }
  return true;
}

int RunOnly(const Seeds& seeds, const Arguments& arguments) {
  Random random(arguments.seed, *arguments.only);
  std::string name;
  const std::vector<uint8_t> model = seeds.Mutant(&random, &name);
  printf("seed %" PRIu64 " mutant %" PRIu64 ": %zu bytes, made from '%s'\n", arguments.seed,
         *arguments.only, model.size(), name.c_str());
  fflush(stdout);
  if (!arguments.write.empty()) {
    std::ofstream(arguments.write, std::ios::binary)
        .write(reinterpret_cast<const char*>(model.data()),
               static_cast<std::streamsize>(model.size()));
  }
  const Stage stage = RunLifeCycle(model, random);
  printf("lived to stage %d\n", static_cast<int>(stage));
  return 0;
}

int Processes(const Arguments& arguments) {
  if (arguments.jobs > 0) return arguments.jobs;
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

int RunMany(const Seeds& seeds, const Arguments& arguments) {
  Jobs jobs;
  jobs.last = arguments.runs;
  jobs.processes = Processes(arguments);
  jobs.max_failures = arguments.failures;
  jobs.outcomes = kStages;
  jobs.run = [&](uint64_t number) {
    Random random(arguments.seed, number);
    std::string name;
    const std::vector<uint8_t> model = seeds.Mutant(&random, &name);
    return static_cast<int>(RunLifeCycle(model, random));
  };
  const Report report = RunJobs(jobs);
  printf("%zu models, seed %" PRIu64 ", mutants: %" PRIu64 " refused as files, %" PRIu64
         " at creation, %" PRIu64 " at allocation, %" PRIu64 " failed to run, %" PRIu64 " ran\n",
         seeds.size(), arguments.seed, report.outcomes[0], report.outcomes[1], report.outcomes[2],
         report.outcomes[3], report.outcomes[4]);
  printf("slowest: mutant %" PRIu64 ", %.2f s of processor time\n", report.slowest_job,
         report.slowest_seconds);
  for (const Failure& failure : report.failures) {
    printf("FAILED: mutants %" PRIu64 " to %" PRIu64 ": %s; again with --seed %" PRIu64
           " --only %" PRIu64 "\n",
           failure.first, failure.last - 1, failure.what.c_str(), arguments.seed, failure.first);
  }
  return report.failures.empty() ? 0 : 1;
}

// Returns exit code 1 if a variant crashed, or was refused without a sufficient message.
int RunSweep(const Arguments& arguments) {
  const Sweep sweep(arguments.from, arguments.sweep);
  for (const std::string& name : sweep.missing()) {
    printf("FAILED: %s has no case small enough for hostile variants\n", name.c_str());
  }
  if (!sweep.missing().empty() || sweep.size() == 0) return 1;
  if (arguments.only)
    return *arguments.only < sweep.size() && sweep.Run(*arguments.only, true) ? 0 : 1;
  Jobs jobs;
  jobs.last = sweep.size();
  jobs.batch = 4;
  jobs.processes = Processes(arguments);
  jobs.cpu_seconds = 120;
  jobs.wall_seconds = 600;
  jobs.max_failures = arguments.failures;
  jobs.outcomes = 2;
  jobs.run = [&](uint64_t number) { return sweep.Run(number, false) ? 1 : 0; };
  const Report report = RunJobs(jobs);
  printf("%zu cases: of %" PRIu64 " every hostile variant is computed or refused in words\n",
         sweep.size(), report.outcomes[1]);
  printf("slowest: case %" PRIu64 ", %.2f s of processor time\n", report.slowest_job,
         report.slowest_seconds);
  for (const Failure& failure : report.failures) {
    printf("FAILED: '%s': %s; again with --sweep %" PRIu64 " --only %" PRIu64 "\n",
           sweep.name(failure.first).c_str(), failure.what.c_str(), arguments.sweep, failure.first);
  }
  return report.outcomes[1] == sweep.size() ? 0 : 1;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) {
    fprintf(stderr,
            "usage: %s [--runs N] [--seed S] [--only N [--write FILE]] [--from TEXT] [--jobs N] "
            "[--failures N] [--sweep N]\n",
            argv[0]);
    return 2;
  }
  if (arguments.sweep > 0) return RunSweep(arguments);
  const Seeds seeds(arguments.from);
  if (seeds.size() == 0) {
    fprintf(stderr, "no model has '%s' in its name\n", arguments.from.c_str());
    return 2;
  }
  const auto missing =
      arguments.from.empty() ? seeds.MissingOperators() : std::vector<std::string>();
  for (const std::string& name : missing) {
    printf("FAILED: %s is in no model that mutants are made from\n", name.c_str());
  }
  if (!missing.empty()) return 1;
  return arguments.only ? RunOnly(seeds, arguments) : RunMany(seeds, arguments);
}

}  // namespace
}  // namespace deputy::fuzz

int main(int argc, char** argv) { return deputy::fuzz::Main(argc, argv); }
