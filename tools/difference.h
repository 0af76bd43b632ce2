// SPDX-License-Identifier: Apache-2.0
//
// How far two engines are apart on the elements of one tensor.
#ifndef DEPUTY_TOOLS_DIFFERENCE_H_
#define DEPUTY_TOOLS_DIFFERENCE_H_

#include <cstddef>
#include <optional>
#include <span>

namespace deputy::tools {

// Two tensors, element by element. Elements that are NaN on either side count as NaN alone.
struct Difference {
  double largest = 0;           // of |a - b|
  double scale = 0;             // the largest |b|
  size_t at = 0;                // where
  double ours = 0, theirs = 0;  // there
  size_t nans = 0, their_nans = 0;
  size_t lone_nans = 0;  // on one side only
  size_t count = 0;

  // As a part of the largest value; of zeros, the difference itself.
  double relative() const { return scale > 0 ? largest / scale : largest; }
  bool Exceeds(double tolerance) const { return lone_nans > 0 || relative() > tolerance; }
};

// `b` is the measure. Nothing where the two are not of the same length.
std::optional<Difference> Compare(std::span<const double> a, std::span<const double> b);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_DIFFERENCE_H_
