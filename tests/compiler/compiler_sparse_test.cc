// SPDX-License-Identifier: Apache-2.0
//
// Tests sparse constants: trees whose dense tensors are known, trees with one error each, and
// random trees, which may be invalid but must be harmless.
#include "compiler/sparse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/compiler/importer.h"
#include "tests/support/model_builder.h"

namespace deputy::compiler::compiler_sparse_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Level {
  int dense_size = -1;  // size of a dense dimension; -1: sparse
  std::vector<int> segments = {}, indices = {};
};

// A tree of sparse dimensions in the form of the C ABI.
class Tree {
 public:
  Tree(const std::vector<int>& order, const std::vector<int>& blocks,
       const std::vector<Level>& levels) {
    sparsity_.traversal_order = Copied(order);
    sparsity_.block_map = blocks.empty() ? nullptr : Copied(blocks);
    for (const Level& level : levels) {
      TfLiteDimensionMetadata& metadata = metadata_.emplace_back();
      metadata.format = level.dense_size < 0 ? kTfLiteDimSparseCSR : kTfLiteDimDense;
      metadata.dense_size = level.dense_size;
      metadata.array_segments = Copied(level.segments);
      metadata.array_indices = Copied(level.indices);
    }
    sparsity_.dim_metadata = metadata_.data();
    sparsity_.dim_metadata_size = static_cast<int>(metadata_.size());
  }
  ~Tree() {
    for (TfLiteIntArray* array : arrays_) free(array);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::string Find(const Shape& shape) { return FindSparsePositions(sparsity_, shape, &positions); }

  std::vector<int64_t> positions;

 private:
  TfLiteIntArray* Copied(const std::vector<int>& values) {
    auto* array = static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + 4 * values.size()));
    array->size = static_cast<int>(values.size());
    for (size_t i = 0; i < values.size(); ++i) array->data[i] = values[i];
    arrays_.push_back(array);
    return array;
  }

  TfLiteSparsity sparsity_{};
  std::vector<TfLiteDimensionMetadata> metadata_;
  std::vector<TfLiteIntArray*> arrays_;
};

TEST(Sparse, rows_with_some_columns) {
  Tree tree({0, 1}, {}, {{3}, {-1, {0, 2, 2, 3}, {0, 3, 1}}});
  EXPECT_EQ(tree.Find({3, 4}), "");
  EXPECT_THAT(tree.positions, ElementsAre(0, 3, 9));
}

TEST(Sparse, column_major) {
  Tree tree({1, 0}, {}, {{4}, {-1, {0, 1, 1, 2, 3}, {2, 0, 1}}});
  EXPECT_EQ(tree.Find({3, 4}), "");
  EXPECT_THAT(tree.positions, ElementsAre(8, 2, 7));
}

// A 4x4 matrix with 2x2 blocks, of which those at (0, 1) and (1, 0) are stored.
TEST(Sparse, blocks) {
  Tree tree({0, 1, 2, 3}, {0, 1}, {{2}, {-1, {0, 1, 2}, {1, 0}}, {2}, {2}});
  EXPECT_EQ(tree.Find({4, 4}), "");
  EXPECT_THAT(tree.positions, ElementsAre(2, 3, 6, 7, 8, 9, 12, 13));
}

TEST(Sparse, scalars_and_empty_tensors) {
  EXPECT_EQ(Tree({0}, {}, {{0}}).Find({3}), "");
  Tree none({0}, {}, {{-1, {0, 0}, {}}});
  EXPECT_EQ(none.Find({3}), "");
  EXPECT_THAT(none.positions, IsEmpty());
}

TEST(Sparse, faults_are_reported) {
  const auto problem = [](const std::vector<int>& order, const std::vector<int>& blocks,
                          const std::vector<Level>& levels) {
    Tree tree(order, blocks, levels);
    const std::string text = tree.Find({3, 4});
    EXPECT_THAT(tree.positions, IsEmpty());
    return text;
  };
  const Level rows = {3}, columns = {-1, {0, 2, 2, 3}, {0, 3, 1}};
  EXPECT_EQ(problem({0, 1}, {}, {rows}), "sparsity: expected 2 levels, found 1 and an order of 2");
  EXPECT_THAT(problem({0}, {}, {rows, columns}), HasSubstr("an order of 1"));
  for (const std::vector<int>& order : {std::vector{0, 0}, {0, 2}, {-1, 1}}) {
    EXPECT_THAT(problem(order, {}, {rows, columns}), HasSubstr("invalid traversal order"));
  }
  EXPECT_EQ(problem({0, 1}, {}, {{4}, columns}),
            "sparsity level 0: the size exceeds the dimension");
  EXPECT_THAT(problem({0, 1}, {}, {{2}, columns}), HasSubstr("the segments do not match"));
  EXPECT_THAT(problem({0, 1}, {}, {rows, {-1, {0, 2, 2, 4}, {0, 3, 1}}}),
              HasSubstr("the segments do not match"));
  EXPECT_THAT(problem({0, 1}, {}, {rows, {-1, {0, 9, 2, 3}, {0, 3, 1}}}),
              HasSubstr("the segments are not ascending"));
  EXPECT_THAT(problem({0, 1}, {}, {rows, {-1, {0, 2, 1, 3}, {0, 3, 1}}}),
              HasSubstr("the segments are not ascending"));
  for (const int index : {4, -1}) {
    EXPECT_THAT(problem({0, 1}, {}, {rows, {-1, {0, 2, 2, 3}, {0, index, 1}}}),
                HasSubstr("an index is out of range"));
  }
  EXPECT_THAT(problem({0, 1}, {}, {rows, {-1, {0, 13, 13, 13}, std::vector<int>(13, 0)}}),
              HasSubstr("more values than the tensor has elements"));
  for (const int size : {3, 0, -1}) {  // the matrix has four columns
    EXPECT_THAT(problem({0, 1, 2}, {1}, {rows, columns, {size}}), HasSubstr("does not divide"));
  }
  for (const int divided : {2, -1}) {
    EXPECT_THAT(problem({0, 1, 2}, {divided}, {rows, columns, {2}}), HasSubstr("does not divide"));
  }
  EXPECT_THAT(problem({0, 1, 2, 3}, {1, 1}, {rows, columns, {2}, {2}}),
              HasSubstr("does not divide"));
  TfLiteSparsity empty{};
  std::vector<int64_t> positions;
  EXPECT_EQ(FindSparsePositions(empty, {3}, &positions), "sparsity: no levels");
}

// Positions lie within the tensor, whatever numbers the tree contains.
TEST(Sparse, random_trees_stay_within_the_tensor) {
  std::mt19937 random(7);
  const auto upto = [&](int most) {
    return static_cast<int>(random() % (static_cast<unsigned>(most) + 3)) - 1;
  };
  int sound = 0;
  for (int round = 0; round < 100000; ++round) {
    Level columns = {-1, {0}, {}};
    for (int i = upto(2); i >= 0; --i) columns.indices.push_back(upto(2));
    for (int i = 0; i < 2; ++i) columns.segments.push_back(upto(2));
    // Three of four rounds use a valid order of dimensions.
    const int first = round % 4 == 0 ? upto(1) : round % 2;
    Tree tree({first, 1 - first, 2}, {upto(1)}, {{upto(2)}, columns, {upto(2)}});
    if (tree.Find({2, 4}) != "") continue;
    ++sound;
    for (const int64_t position : tree.positions) {
      EXPECT_GE(position, 0);
      EXPECT_LT(position, 8);
    }
  }
  EXPECT_GT(sound, 20);
}

// y = x + DENSIFY(w), w = [[0, 5, 0], [0, 0, 7]].
std::vector<uint8_t> DensifyModel(const std::vector<float>& values) {
  ModelBuilder m;
  auto& fbb = m.fbb();
  const std::vector<int32_t> segments = {0, 1, 2}, indices = {1, 2}, order = {0, 1};
  const std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels = {
      schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, 2),
      schema::CreateDimensionMetadata(fbb, schema::DimensionType::SPARSE_CSR, 0,
                                      schema::SparseIndexVector::Int32Vector,
                                      schema::CreateInt32VectorDirect(fbb, &segments).Union(),
                                      schema::SparseIndexVector::Int32Vector,
                                      schema::CreateInt32VectorDirect(fbb, &indices).Union())};
  TensorExtras extras;
  extras.sparsity = schema::CreateSparsityParametersDirect(fbb, &order, nullptr, &levels);
  const int w = m.AddConstant<float>(kTfLiteFloat32, {2, 3}, values, "w", extras);
  const int dense = m.AddTensor(kTfLiteFloat32, {2, 3}, "dense");
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2, 3}, "y");
  m.AddOp(kTfLiteBuiltinDensify, {w}, {dense});
  m.AddOp(kTfLiteBuiltinAdd, {x, dense}, {y}, schema::CreateAddOptions(fbb));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(Sparse, densify_becomes_a_constant) {
  const Importer import(DensifyModel({5, 7}));
  ASSERT_EQ(import.Refused(), "");
  ASSERT_EQ(import.graph.operations.size(), 1u);
  const Value& dense = import.graph.value(import.graph.operations[0].inputs[1]);
  ASSERT_TRUE(dense.constant());
  std::vector<double> numbers;
  for (int64_t i = 0; i < 6; ++i) numbers.push_back(dense.At(i).real);
  EXPECT_THAT(numbers, ElementsAre(0, 5, 0, 0, 0, 7));
  // The import folds the node, so nothing is computed at run time.
  EXPECT_EQ(import.works[0], Work());
}

}  // namespace
}  // namespace deputy::compiler::compiler_sparse_test
