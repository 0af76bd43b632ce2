// SPDX-License-Identifier: Apache-2.0
//
// Amounts of work, and the time that they take at given rates. Delegates compare the CPU with their
// devices in these units. Numbers are double, since they are only compared with each other.
#ifndef DEPUTY_CORE_SUPPORT_COST_H_
#define DEPUTY_CORE_SUPPORT_COST_H_

namespace deputy {

struct Work {
  double macs = 0;     // number of multiply-adds of products and convolutions
  double steps = 0;    // number of other scalar operations; a transcendental function counts as ten
  double bytes = 0;    // number of bytes read and written, each value once
  int operations = 0;  // number of operations that compute or move something; views do not count
  // True if the node reads int8 or uint8, with which a CPU computes directly. Set for nodes only.
  bool bytewise = false;

  friend bool operator==(const Work&, const Work&) = default;
};

// Throughput per nanosecond, and fixed time per operation.
struct Rates {
  double macs = 1;
  double steps = 1;
  double bytes = 1;
  double launch_ns = 0;
  double bytewise = 1;  // speed-up of int8 over float32
};

// Rates of the CPU kernels with `threads` threads (values below 1 count as 1). `vector_width` is
// the number of floats of a vector; 0 if unknown.
Rates CpuRates(int threads, double vector_width);

// Estimated time; arithmetic and memory access overlap, so the larger of the two counts.
double TimeNs(const Rates& rates, const Work& work);

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_COST_H_
