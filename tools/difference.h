// SPDX-License-Identifier: Apache-2.0
//
// The difference between two engines on the elements of one tensor.
#ifndef DEPUTY_TOOLS_DIFFERENCE_H_
#define DEPUTY_TOOLS_DIFFERENCE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace deputy::tools {

// The difference between tensors a and b, by element. An element that is NaN on either side counts
// only as NaN.
struct Difference {
  double largest = 0;           // maximum of |a - b|
  double scale = 0;             // maximum of |b| over finite elements
  size_t at = 0;                // index of the element with the largest difference
  double ours = 0, theirs = 0;  // values at index `at`
  size_t nans = 0, their_nans = 0;
  size_t lone_nans = 0;  // NaN on one side only
  size_t count = 0;

  // Returns the largest difference relative to the largest magnitude of b; absolute if b has no
  // finite element other than zero.
  double relative() const { return scale > 0 ? largest / scale : largest; }
  bool Exceeds(double tolerance) const { return lone_nans > 0 || relative() > tolerance; }
};

// Compares the elements of two tensors, of which `b` is the reference. Returns nullopt if the
// lengths differ.
std::optional<Difference> Compare(std::span<const double> a, std::span<const double> b);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DIFFERENCE_H_
