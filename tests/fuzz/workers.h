// SPDX-License-Identifier: Apache-2.0
//
// Runs numbered jobs in child processes, in batches. A job that crashes or hangs is reported with
// its number and the others continue.
#ifndef DEPUTY_TESTS_FUZZ_WORKERS_H_
#define DEPUTY_TESTS_FUZZ_WORKERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace deputy::fuzz {

struct Jobs {
  uint64_t first = 0, last = 0;  // range of jobs, [first, last)
  uint64_t batch = 250;
  int processes = 1;
  int cpu_seconds = 5;    // limit of processor time per job
  int wall_seconds = 60;  // limit of elapsed time per job that waits forever
  int max_failures = 20;  // no new batches after this number of failures
  // Runs a job; returns a number below `outcomes`.
  std::function<int(uint64_t)> run;
  int outcomes = 1;
};

struct Failure {
  // Range of jobs that may have caused the failure, [first, last); more than one job for leaks.
  uint64_t first, last;
  std::string what;
};

struct Report {
  std::vector<Failure> failures;
  std::vector<uint64_t> outcomes;  // number of jobs by result
  uint64_t slowest_job = 0;
  double slowest_seconds = 0;  // processor time of the slowest job
};

// Runs all jobs. The calling process must be single-threaded.
Report RunJobs(const Jobs& jobs);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_WORKERS_H_
