// SPDX-License-Identifier: Apache-2.0
//
// Compares chains of element-wise operations, and the clamped sums, differences and products that
// they consist of, with plain loops: bits are equal, also those of infinities and zeros.
#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "kernels/common/float_math.h"
#include "tests/kernels/vector/vector_counts.h"

namespace deputy::vector_chain_test {
namespace {

using Floats = std::vector<float>;

// Returns true if both are NaN or have the same bits.
bool Same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

float Clamped(float x, float low, float high) {
  const float raised = x < low ? low : x;
  return high < raised ? high : raised;
}

float ByFormula(const ElementOp& op, float first, float x) {
  const float other = op.uses_first ? first : op.other;
  switch (op.kind) {
    case ElementOpKind::kAdd:
      return Clamped(x + other, op.low, op.high);
    case ElementOpKind::kSub:
      return Clamped(x - other, op.low, op.high);
    case ElementOpKind::kReverseSub:
      return Clamped(other - x, op.low, op.high);
    case ElementOpKind::kMul:
      return Clamped(x * other, op.low, op.high);
    case ElementOpKind::kTanh:
      return FastTanh(x);
    default:
      return FastLogistic(x);
  }
}

// Returns moderate values; with `wild`, one of 97 elements is special.
Floats Elements(int count, bool wild) {
  static constexpr float kSpecial[] = {INFINITY, NAN, 3e38f, -0.0f, -INFINITY, 1e-40f, -3e38f};
  Floats values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(static_cast<int>(i) * 37 % 251 - 125) * 0.0625f;
    if (wild && i % 97 == 5) values[i] = kSpecial[i / 97 % std::size(kSpecial)];
  }
  return values;
}

void CheckChain(const CpuKernels* cpu, const std::vector<ElementOp>& ops, const Floats& in,
                bool in_place) {
  Floats values = in, apart(in.size() + 1, 77.0f);
  values.push_back(77.0f);
  float* const out = in_place ? values.data() : apart.data();
  cpu->vector.chain(values.data(), static_cast<int64_t>(in.size()), ops.data(),
                    static_cast<int>(ops.size()), out);
  for (size_t i = 0; i < in.size(); ++i) {
    float expected = in[i];
    for (const ElementOp& op : ops) expected = ByFormula(op, in[i], expected);
    ASSERT_TRUE(Same(out[i], expected)) << cpu->name << ": " << out[i] << ", expected " << expected
                                        << ", element " << i << " of " << in.size();
  }
  EXPECT_EQ(out[in.size()], 77.0f) << cpu->name;
}

void CheckChains(const std::vector<ElementOp>& ops) {
  std::vector<int> counts(std::begin(kVectorCounts), std::end(kVectorCounts));
  counts.insert(counts.end(), {2048, 2085});
  for (const CpuKernels* cpu : CpuTables()) {
    for (const int count : counts) {
      for (const bool wild : {false, true}) {
        const Floats in = Elements(count, wild);
        CheckChain(cpu, ops, in, false);
        CheckChain(cpu, ops, in, true);
      }
    }
  }
}

constexpr float kLow = -FLT_MAX, kHigh = FLT_MAX;

// The chain of GELU by tanh. Elements of 3e38 overflow.
TEST(VectorChain, unbounded_operations_equal_their_formulas) {
  CheckChains({{ElementOpKind::kMul, true, 0.0f, kLow, kHigh},
               {ElementOpKind::kMul, true, 0.0f, kLow, kHigh},
               {ElementOpKind::kMul, false, 0.044715f, kLow, kHigh},
               {ElementOpKind::kAdd, true, 0.0f, kLow, kHigh},
               {ElementOpKind::kTanh},
               {ElementOpKind::kAdd, false, 1.0f, kLow, kHigh},
               {ElementOpKind::kMul, true, 0.0f, kLow, kHigh}});
}

// A clamped infinity that later operations would turn into NaN, or into a small number.
TEST(VectorChain, infinities_are_clamped_after_each_operation) {
  CheckChains({{ElementOpKind::kMul, false, 1e30f, kLow, kHigh},
               {ElementOpKind::kMul, false, 0.0f, kLow, kHigh}});
  CheckChains({{ElementOpKind::kMul, false, 1e38f, kLow, kHigh},
               {ElementOpKind::kSub, true, 0.0f, kLow, kHigh},
               {ElementOpKind::kReverseSub, false, 2.0f, kLow, kHigh},
               {ElementOpKind::kMul, false, 1e-38f, kLow, kHigh},
               {ElementOpKind::kLogistic}});
}

TEST(VectorChain, bounds_apply_to_each_operation) {
  CheckChains({{ElementOpKind::kMul, false, 0.5f, -3.0f, kHigh}});
  CheckChains({{ElementOpKind::kAdd, false, 1.0f, 0.0f, kHigh},
               {ElementOpKind::kReverseSub, true, 0.0f, -1.0f, 0.0f},
               {ElementOpKind::kMul, false, -2.0f, kLow, 1.5f}});
  CheckChains({{ElementOpKind::kSub, false, 3.0f, kLow, kHigh},
               {ElementOpKind::kMul, true, 0.0f, kLow, 6.0f}});
}

// Compares a loop with its formula for all combinations of moving inputs.
template <typename Function>
void CheckBounded(const char* name, BoundedLoop<float> loop, const FloatBounds& bounds,
                  const Function& function) {
  Floats a = Elements(1000, true), b = Elements(1000, true), out(1000);
  for (size_t i = 0; i < b.size(); ++i) b[i] = a[i * 7 % 1000];
  for (const int count : kVectorCounts) {
    for (const auto& [a_moves, b_moves] : {std::pair(true, true), {false, true}, {true, false}}) {
      loop({a.data(), b.data(), out.data(), count, a_moves, b_moves}, bounds);
      for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        const float x = function(a[a_moves ? i : 0], b[b_moves ? i : 0]);
        ASSERT_TRUE(Same(out[i], Clamped(x, bounds.low, bounds.high)))
            << name << ": " << out[i] << " from " << x << ", element " << i << " of " << count;
      }
    }
  }
}

TEST(VectorChain, bounded_loops_keep_the_signs_of_zeros) {
  for (const FloatBounds& bounds :
       {FloatBounds{kLow, kHigh}, {0.0f, kHigh}, {0.0f, 6.0f}, {-1.0f, 0.0f}, {-0.0f, 1.0f}}) {
    for (const CpuKernels* cpu : CpuTables()) {
      const VectorKernels& vector = cpu->vector;
      CheckBounded(cpu->name, vector.plain_sum.of<float>(), bounds, std::plus<float>());
      CheckBounded(cpu->name, vector.plain_difference.of<float>(), bounds, std::minus<float>());
      CheckBounded(cpu->name, vector.plain_product.of<float>(), bounds, std::multiplies<float>());
    }
  }
}

}  // namespace
}  // namespace deputy::vector_chain_test
