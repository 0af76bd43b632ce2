// SPDX-License-Identifier: Apache-2.0
#include "difference.h"

#include <algorithm>
#include <cmath>

namespace deputy::tools {

std::optional<Difference> Compare(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::nullopt;
  Difference difference;
  difference.count = a.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const bool nan = std::isnan(a[i]), their_nan = std::isnan(b[i]);
    difference.nans += nan ? 1 : 0;
    difference.lone_nans += nan != their_nan ? 1 : 0;
    difference.their_nans += their_nan ? 1 : 0;
    if (nan || their_nan) continue;
    if (std::isfinite(b[i])) difference.scale = std::max(difference.scale, std::abs(b[i]));
    const double distance = a[i] == b[i] ? 0 : std::abs(a[i] - b[i]);
    if (distance <= difference.largest) continue;
    difference.largest = distance;
    difference.at = i;
    difference.ours = a[i];
    difference.theirs = b[i];
  }
  return difference;
}

}  // namespace deputy::tools
