// SPDX-License-Identifier: Apache-2.0
//
// Estimates of magnitudes, to decide which results float16 can store. Results of convolutions and
// matrix products, and the inputs of the graph, count as ordinary values, which the model's author
// accepts as float16; the magnitudes of most other values are derived from these and from the
// constants.
#ifndef DEPUTY_COMPILER_HALF_RANGES_H_
#define DEPUTY_COMPILER_HALF_RANGES_H_

#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// Largest finite and smallest normal float16. Numbers below the latter lose precision.
inline constexpr double kLargestHalf = 65504;
inline constexpr double kSmallestNormalHalf = 0x1p-14;

// Returns true if float16 can store a constant: each element is finite there, and the largest one
// is normal, or all are 0. The rounding errors of smaller elements then do not exceed that of the
// largest one.
bool HoldsInHalf(const Value& constant);

// Returns for each value whether it has to stay float32, because as float16 it might overflow,
// underflow, or lose digits of an integer. Such values are
// - sums, means and products along axes, and running sums,
// - products of two values, powers with exponents outside 0 to 1, exponentials, reciprocals,
//   integers converted to reals, and values scaled by more than 2^10 in either direction, unless
//   bounds are known within which float16 is exact enough,
// - stored values that a later operation scales by such a factor, and inputs of operations whose
//   filters float16 cannot store: such factors compensate for unusual magnitudes.
std::vector<bool> FindWideValues(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_HALF_RANGES_H_
