// SPDX-License-Identifier: Apache-2.0
//
// Estimates times. The rates of the CPU are fitted to the models of gpu.md on an AVX-512 machine.
#include "core/support/cost.h"

#include <algorithm>

namespace deputy {
namespace {

// Vector width, in floats, assumed for an unknown CPU.
constexpr double kUnknownWidth = 8;

// Throughput of one core per nanosecond: vectors of multiply-adds, vectors of other operations, and
// bytes; then the speed-up of int8.
constexpr double kCpuMacVectors = 3;
constexpr double kCpuStepVectors = 1;
constexpr double kCpuBytes = 16;
constexpr double kCpuBytewise = 4;

}  // namespace

Rates CpuRates(int threads, double vector_width) {
  const double width = vector_width > 0 ? vector_width : kUnknownWidth;
  const double cores = std::max(threads, 1);
  return {cores * width * kCpuMacVectors, cores * width * kCpuStepVectors, cores * kCpuBytes, 500,
          kCpuBytewise};
}

double TimeNs(const Rates& rates, const Work& work) {
  double arithmetic = work.macs / rates.macs + work.steps / rates.steps;
  if (work.bytewise) arithmetic /= rates.bytewise;
  return std::max(arithmetic, work.bytes / rates.bytes) + work.operations * rates.launch_ns;
}

}  // namespace deputy
