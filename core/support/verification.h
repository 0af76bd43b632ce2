// SPDX-License-Identifier: Apache-2.0
//
// Verification of a delegate's results against those of the CPU: how often to compare, tolerances,
// and the comparison, a pure function.
#ifndef DEPUTY_CORE_SUPPORT_VERIFICATION_H_
#define DEPUTY_CORE_SUPPORT_VERIFICATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "c_api/include/common.h"

namespace deputy {

struct Verification {
  enum class Mode { kNever, kFirst, kEveryNth, kAlways };
  Mode mode = Mode::kNever;
  int interval = 1;  // for kEveryNth: one run in this number is verified
  // Tolerance of float tensors, relative to the largest finite magnitude in the tensor; 1e-5 is
  // added.
  double float32_tolerance = 1e-4;
  double float16_tolerance = 1e-2;
  int quantized_steps = -1;  // tolerance in quantisation steps; -1: 3 plus one for every two nodes

  bool enabled() const { return mode != Mode::kNever; }
  // Returns true if a partition's run must be verified, given the number of its previous runs.
  bool IsDue(int64_t runs) const;
};

// Verification counters of a subgraph, and the first wrong element found.
struct VerificationStatistics {
  int64_t verified = 0;  // number of runs of partitions that were compared
  int64_t wrong = 0;     // number of compared runs with a wrong output
  int64_t skipped = 0;   // number of runs that could not be compared
  int64_t spent_ns = 0;
  int node = -1, tensor = -1;
  int64_t element = -1;
  double expected = 0, found = 0;
};

struct WrongElement {
  int64_t element = 0;
  double expected = 0, found = 0;
};

// Returns the first element of `found` that differs from `expected`, a tensor with memory, by more
// than the tolerance. Both have expected.bytes bytes. NaN and infinities must match by index. Other
// values than floats and quantised int8, uint8 and int16 must be equal; other types than these and
// int32 are compared by byte, and `element` is then the index of a byte. `nodes` is the number of
// nodes that computed the tensor. `spread`, for floats, is an additional tolerance, limited to a
// hundred times the tolerance.
std::optional<WrongElement> FindWrongElement(const TfLiteTensor& expected, const char* found,
                                             size_t nodes, double spread,
                                             const Verification& verification);

// Returns the largest difference between finite elements of two float32 tensors of the same size; 0
// for other types.
double MaxDifference(const TfLiteTensor& tensor, const char* other);

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_VERIFICATION_H_
