// SPDX-License-Identifier: Apache-2.0
//
// Compares strided shapes with tables of each element's position.
#include "core/kernel_api/strided_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace deputy::strided_shape_test {
namespace {

using Dims = std::vector<int>;
using Positions = std::vector<int64_t>;  // position of each element, in the order of the shape

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

Dims DimsOf(const StridedShape& shape) { return {shape.dims, shape.dims + shape.rank}; }

Positions PositionsOf(const StridedShape& shape) {
  Positions positions;
  for (int64_t i = 0; i < Count(DimsOf(shape)); ++i) positions.push_back(shape.OffsetOf(i));
  return positions;
}

Positions Ascending(int64_t count) {
  Positions positions(static_cast<size_t>(count));
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

// The reference implementation of a transpose, element by element.
Positions Transpose(const Positions& positions, const Dims& dims, const std::vector<int8_t>& axes) {
  Positions moved;
  Dims at(dims.size()), to;
  for (int8_t axis : axes) to.push_back(dims[static_cast<size_t>(axis)]);
  for (int64_t i = 0; i < Count(dims); ++i) {
    int64_t left = i;
    for (size_t axis = to.size(); axis-- > 0; left /= to[axis]) {
      at[static_cast<size_t>(axes[axis])] = static_cast<int>(left % to[axis]);
    }
    int64_t from = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) from = from * dims[axis] + at[axis];
    moved.push_back(positions[static_cast<size_t>(from)]);
  }
  return moved;
}

// Returns true if the elements at these positions have a constant stride along each axis.
bool HasSteps(const Positions& positions, const Dims& dims) {
  int64_t inner = 1;
  Positions steps(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; inner *= dims[axis]) {
    steps[axis] = dims[axis] == 1 ? 0 : positions[static_cast<size_t>(inner)] - positions[0];
  }
  for (int64_t i = 0; i < Count(dims); ++i) {
    int64_t left = i, position = positions[0];
    for (size_t axis = dims.size(); axis-- > 0; left /= dims[axis]) {
      position += left % dims[axis] * steps[axis];
    }
    if (position != positions[static_cast<size_t>(i)]) return false;
  }
  return true;
}

class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  // Returns random extents whose product is `count`.
  Dims Factors(int64_t count) {
    Dims dims;
    while (count > 1) {
      int64_t factor = Pick(2, 12);
      if (count % factor != 0) factor = Pick(0, 3) == 0 || dims.size() == 6 ? count : 1;
      count /= factor;
      if (factor > 1 || (Pick(0, 9) == 0 && dims.size() < 6)) {
        dims.push_back(static_cast<int>(factor));
      }
    }
    return dims;
  }
  std::vector<int8_t> Axes(int rank) {
    std::vector<int8_t> axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), int8_t{0});
    std::shuffle(axes.begin(), axes.end(), random_);
    return axes;
  }

 private:
  std::mt19937 random_;
};

TEST(StridedShape, chains_equal_tables) {
  int reshaped = 0, refused = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Dims dims = random.Factors(std::vector<int>{1, 12, 24, 36, 60, 120}[seed % 6]);
    std::optional<StridedShape> shape = StridedShape::Dense(dims);
    ASSERT_TRUE(shape);
    Positions positions = Ascending(Count(dims));
    ASSERT_EQ(PositionsOf(*shape), positions);
    for (int n = random.Pick(1, 4); n > 0; --n) {
      if (random.Pick(0, 1) == 0) {
        const std::vector<int8_t> axes = random.Axes(shape->rank);
        positions = Transpose(positions, DimsOf(*shape), axes);
        shape = shape->Transposed(axes.data());
      } else {
        const Dims to = random.Factors(Count(dims));
        const std::optional<StridedShape> next = shape->Reshaped(to);
        ASSERT_EQ(next.has_value(), HasSteps(positions, to)) << seed;
        if (!next) {
          ++refused;
          continue;
        }
        ++reshaped;
        ASSERT_EQ(DimsOf(*next), to);
        shape = next;
      }
      ASSERT_EQ(PositionsOf(*shape), positions) << seed;
      ASSERT_EQ(shape->IsDense(), positions == Ascending(Count(dims))) << seed;
    }
  }
  EXPECT_GT(reshaped, 500);
  EXPECT_GT(refused, 500);
}

TEST(StridedShape, reshapes_require_equal_element_counts) {
  const StridedShape shape = *StridedShape::Dense(Dims{4, 6});
  for (const Dims& to : {Dims{4}, Dims{6}, Dims{5, 5}, Dims{48}, Dims{}, Dims{4, 6, 2}}) {
    EXPECT_FALSE(shape.Reshaped(to));
  }
  EXPECT_TRUE(shape.Reshaped(Dims{2, 1, 12}));
}

TEST(StridedShape, unsupported_layouts_have_none) {
  EXPECT_FALSE(StridedShape::Dense(Dims(kMaxStridedRank + 1, 1)));
  EXPECT_FALSE(StridedShape::Dense(Dims{3, 0}));
  EXPECT_FALSE(StridedShape::Dense(Dims(8, 1 << 30)));
}

// A slice of 3 of the 8 elements of each row is dense like a shape with rows of 3.
TEST(StridedShape, parts_of_rows_have_smaller_strides) {
  const std::vector<int8_t> axes = {0, 2, 1};
  const StridedShape shape = StridedShape::Dense(Dims{2, 5, 8})->Transposed(axes.data());
  const std::optional<StridedShape> part = shape.WithRowSlice(1, 3);
  ASSERT_TRUE(part);
  EXPECT_EQ(*part, StridedShape::Dense(Dims{2, 5, 3})->Transposed(axes.data()));
  EXPECT_FALSE(shape.WithRowSlice(2, 3));
  EXPECT_FALSE(StridedShape::Dense(Dims{5, 2, 4})->WithRowSlice(1, 1));
}

TEST(StridedShape, rows_are_whole_axes) {
  const StridedShape shape = *StridedShape::Dense(Dims{2, 5, 1, 4});
  EXPECT_EQ(shape.AxesBeforeRows(1), 4);
  EXPECT_EQ(shape.AxesBeforeRows(4), 3);
  EXPECT_EQ(shape.AxesBeforeRows(20), 1);
  EXPECT_EQ(shape.AxesBeforeRows(40), 0);
  for (int columns : {2, 8, 10, 80}) EXPECT_EQ(shape.AxesBeforeRows(columns), -1) << columns;
}

}  // namespace
}  // namespace deputy::strided_shape_test
