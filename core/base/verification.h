// SPDX-License-Identifier: Apache-2.0
//
// Whether what a delegate has computed is what its nodes compute on the CPU: how often to look, how
// close is close enough, and the comparison, a pure function.
#ifndef DEPUTY_CORE_BASE_VERIFICATION_H_
#define DEPUTY_CORE_BASE_VERIFICATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "c_api/include/common.h"

namespace deputy {

struct Verification {
  enum class Mode { kNever, kFirst, kEveryNth, kAlways };
  Mode mode = Mode::kNever;
  int interval = 1;  // of kEveryNth
  // Of the greatest magnitude in the tensor.
  double float32_tolerance = 1e-4;
  double float16_tolerance = 1e-2;
  int quantized_steps = -1;  // -1: 3, and one for every two nodes

  bool enabled() const { return mode != Mode::kNever; }
  // Whether to look at the run of a partition that has had so many before.
  bool Wants(int64_t runs) const;
};

// What verification did so far on a subgraph, and the first wrong number that it found.
struct VerificationStatistics {
  int64_t verified = 0;  // runs of partitions that were compared
  int64_t wrong = 0;     // of those, with a wrong output
  int64_t skipped = 0;   // that cannot be compared
  int64_t spent_ns = 0;
  int node = -1, tensor = -1;
  int64_t element = -1;
  double expected = 0, found = 0;
};

struct WrongElement {
  int64_t element = 0;
  double expected = 0, found = 0;
};

// The first element of `found` that is too far from that of `expected`, a tensor with memory; both
// have expected.bytes bytes. NaN and infinities stand in the same places. What is neither float nor
// quantised is equal. `nodes` is the number of nodes that computed it; `spread`, of floats, what
// its numbers may differ by beyond the tolerance, up to a hundred times that.
std::optional<WrongElement> FindWrongElement(const TfLiteTensor& expected, const char* found,
                                             size_t nodes, double spread,
                                             const Verification& verification);

// Between the finite numbers of two tensors of float32, `other` with as many bytes; 0 of other
// types.
double GreatestDifference(const TfLiteTensor& tensor, const char* other);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_VERIFICATION_H_
