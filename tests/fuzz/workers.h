// SPDX-License-Identifier: Apache-2.0
//
// Numbered jobs in child processes, in batches, so that a job that dies or hangs is reported with
// its number and the others go on.
#ifndef DEPUTY_TESTS_FUZZ_WORKERS_H_
#define DEPUTY_TESTS_FUZZ_WORKERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deputy::fuzz {

struct Jobs {
  uint64_t first = 0, last = 0;  // [first, last)
  uint64_t batch = 250;
  int processes = 1;
  int cpu_seconds = 5;    // what a job may take of processor time
  int wall_seconds = 60;  // and by the clock, for one that waits for ever
  int max_failures = 20;  // then no more batches are begun
  // Returns a number below `outcomes`.
  std::function<int(uint64_t)> run;
  int outcomes = 1;
};

struct Failure {
  uint64_t first, last;  // of the jobs it may be, [first, last): more than one for leaks
  std::string what;
};

struct Report {
  std::vector<Failure> failures;
  std::vector<uint64_t> outcomes;  // how many jobs returned each number
  uint64_t slowest_job = 0;
  double slowest_seconds = 0;  // of processor time
};

// The calling process must have no other threads.
Report RunJobs(const Jobs& jobs);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_WORKERS_H_
