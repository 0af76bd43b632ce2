// SPDX-License-Identifier: Apache-2.0
//
// Tests the layout passes of the NPU stub: the number of transposes after each pass, compared with
// literals; that results do not change; and that a graph's inputs and outputs never change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "npu_stub/layout.h"
#include "tests/npu_stub/npu_support.h"

namespace deputy::npu_layout_test {
namespace {

// Number of channels of the images, which are NHWC before the first pass.
constexpr int32_t kChannels = 2;
const std::vector<int32_t> kImage = {1, 4, 4, kChannels};

int32_t Conv(NpuGraphBuilder* graph, int32_t x) {
  std::vector<float> weights;
  for (int i = 0; i < kChannels * kChannels * 9; ++i) {
    weights.push_back(static_cast<float>(i % 7) / 8.0f - 0.3f);
  }
  const int32_t w = graph->Constant({kChannels, kChannels, 3, 3}, weights);
  return graph->Op(kNpuConv, 0, {x, w}, kImage, {1, 1, 1, 1, 1, 1, 1});
}

int32_t Relu(NpuGraphBuilder* graph, int32_t x) {
  return graph->Op(kNpuUnary, kNpuRelu, {x}, graph->Dims(x));
}

int32_t Add(NpuGraphBuilder* graph, int32_t a, int32_t b) {
  return graph->Op(kNpuBinary, kNpuAdd, {a, b}, graph->Dims(a));
}

// Numbers of transposes after the transform pass, both rounds of the insert pass, and the fusion.
struct Counts {
  int32_t transformed, inserted, fused;
  bool operator==(const Counts&) const = default;
};

void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.transformed << ", " << counts.inserted << ", " << counts.fused;
}

Counts RunPasses(NpuBuilder* builder) {
  Counts counts = {};
  NpuLayoutTransform(builder);
  EXPECT_TRUE(NpuSortOps(builder));
  counts.transformed = NpuCountTransposes(builder);
  for (int round = 0; round < 2; ++round) {
    NpuLayoutInsert(builder);
    EXPECT_TRUE(NpuSortOps(builder));
  }
  counts.inserted = NpuCountTransposes(builder);
  NpuLayoutFuse(builder);
  EXPECT_TRUE(NpuSortOps(builder));
  counts.fused = NpuCountTransposes(builder);
  return counts;
}

Counts CountsOf(const std::function<void(NpuGraphBuilder*)>& make) {
  NpuGraphBuilder graph;
  make(&graph);
  return RunPasses(graph.builder());
}

// ---- Number of transposes -----------------------------------------------------------------------

TEST(Layout, one_convolution_has_a_transpose_on_each_side) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) { g->Output(Conv(g, g->Input(kImage))); }),
            (Counts{2, 2, 2}));
}

TEST(Layout, no_transpose_between_two_nchw_operations) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) { g->Output(Conv(g, Conv(g, g->Input(kImage)))); }),
            (Counts{2, 2, 2}));
}

// With a transpose on each side, the three operations would have six transposes.
TEST(Layout, conv_relu_conv_ends_with_two) {
  EXPECT_EQ(
      CountsOf([](NpuGraphBuilder* g) { g->Output(Conv(g, Relu(g, Conv(g, g->Input(kImage))))); }),
      (Counts{4, 4, 2}));
}

// Both convolutions transpose the input. Of the sum's three edges two are transposes and the third
// is the output: with two of three, a pair of transposes is inserted before the output, and the sum
// is converted to NCHW.
TEST(Layout, a_sum_of_two_convolutions_becomes_nchw) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) {
              const int32_t x = g->Input(kImage);
              g->Output(Add(g, Conv(g, x), Conv(g, x)));
            }),
            (Counts{4, 6, 3}));
}

// A residual connection: a convolution, and the sum of its result and the input. Only one of the
// sum's three edges is a transpose, which is not sufficient.
TEST(Layout, a_sum_with_one_transposed_edge_of_three_stays_nhwc) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) {
              const int32_t x = g->Input(kImage);
              g->Output(Add(g, Conv(g, x), x));
            }),
            (Counts{2, 2, 2}));
}

// A convolution, three operations without a required layout, and a convolution: the first of the
// three gets a pair of transposes after it, which allows the next one to get a pair, and so on to
// the last one, both of whose edges are transposes by then.
TEST(Layout, a_chain_between_convolutions_becomes_nchw) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) {
              int32_t x = Conv(g, g->Input(kImage));
              for (int i = 0; i < 3; ++i) x = Relu(g, x);
              g->Output(Conv(g, x));
            }),
            (Counts{4, 8, 2}));
}

// After the convolution there is one transpose for each of the two consumers with a fixed layout.
TEST(Layout, every_nhwc_consumer_has_a_transpose) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) {
              const int32_t y = Conv(g, g->Input(kImage));
              g->Output(g->Op(kNpuReshape, 0, {y}, {1, 32}));
              g->Output(g->Op(kNpuReshape, 0, {y}, {4, 8}));
              g->Output(Conv(g, y));
            }),
            (Counts{4, 4, 4}));
}

// A graph output between two convolutions stays in NHWC: its transpose is not removed.
TEST(Layout, a_graph_output_between_convolutions_stays_nhwc) {
  EXPECT_EQ(CountsOf([](NpuGraphBuilder* g) {
              const int32_t y = Relu(g, Conv(g, g->Input(kImage)));
              g->Output(y);
              g->Output(Conv(g, y));
            }),
            (Counts{4, 6, 3}));
}

TEST(Layout, a_transpose_of_the_models_own_cancels) {
  EXPECT_EQ(
      CountsOf([](NpuGraphBuilder* g) {
        const int32_t y = Conv(g, g->Input(kImage));
        const int32_t turned = g->Op(kNpuTranspose, 0, {y}, {1, kChannels, 4, 4}, {0, 3, 1, 2});
        g->Output(g->Op(kNpuReshape, 0, {turned}, {1, 32}));
      }),
      (Counts{3, 3, 1}));
}

// ---- Axes and constants of converted operations -------------------------------------------------

std::vector<std::vector<float>> InputsOf(const NpuGraph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<float>> inputs;
  for (int32_t i = 0; i < graph.input_count; ++i) {
    std::vector<float> values(NpuElementCount(&graph.tensors[graph.inputs[i]]));
    for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    inputs.push_back(values);
  }
  return inputs;
}

// Computes the graph with the transform pass alone, as the reference, and with all passes.
void ExpectSameResults(const std::function<void(NpuGraphBuilder*)>& make, int32_t expected_fused,
                       const std::string& what) {
  NpuGraphBuilder plain, passed;
  make(&plain);
  make(&passed);
  NpuLayoutTransform(plain.builder());
  ASSERT_TRUE(NpuSortOps(plain.builder()));
  const Counts counts = RunPasses(passed.builder());
  if (expected_fused >= 0) {
    EXPECT_EQ(counts.fused, expected_fused) << what;
  }
  NpuDeviceUser user;
  const auto inputs = InputsOf(plain.graph(), 3);
  const auto expected = user.Compute(plain.graph(), inputs);
  const auto found = user.Compute(passed.graph(), inputs);
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size()) << what;
    for (size_t j = 0; j < found[i].size(); ++j) {
      ASSERT_NEAR(found[i][j], expected[i][j], 1e-5 * (1 + std::fabs(expected[i][j])))
          << what << ", output " << i << ", element " << j;
    }
  }
}

// An operation between two convolutions ends in NCHW, with unchanged results. Its result is again
// an image of the shape kImage.
TEST(Layout, axes_of_nchw_operations_are_permuted) {
  using Make = std::function<int32_t(NpuGraphBuilder*, int32_t)>;
  const std::vector<std::pair<std::string, Make>> kOperations = {
      {"constant of one channel each",
       [](NpuGraphBuilder* g, int32_t x) {
         return Add(g, x, g->Constant({kChannels}, std::vector<float>{1, 2}));
       }},
      {"constant of the whole image",
       [](NpuGraphBuilder* g, int32_t x) {
         std::vector<float> values(32);
         for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
         return Add(g, x, g->Constant(kImage, values));
       }},
      {"scalar constant",
       [](NpuGraphBuilder* g, int32_t x) {
         return Add(g, x, g->Constant({}, std::vector<float>{1.5}));
       }},
      {"softmax over channels",
       [](NpuGraphBuilder* g, int32_t x) { return g->Op(kNpuSoftmax, 0, {x}, kImage, {3}, 1.0f); }},
      {"softmax over columns",
       [](NpuGraphBuilder* g, int32_t x) { return g->Op(kNpuSoftmax, 0, {x}, kImage, {2}, 1.0f); }},
      {"mean over rows and channels, spread again",
       [](NpuGraphBuilder* g, int32_t x) {
         const int32_t mean = g->Op(kNpuReduce, kNpuReduceMean, {x}, {1, 1, 4, 1}, {2 + 8});
         return g->Op(kNpuTile, 0, {mean}, kImage);
       }},
      {"padding and a slice",
       [](NpuGraphBuilder* g, int32_t x) {
         const int32_t padded =
             g->Op(kNpuPad, 0, {x}, {1, 6, 5, kChannels + 1}, {0, 2, 0, 1}, 7.0f);
         return g->Op(kNpuSlice, 0, {padded}, kImage, {0, 1, 0, 1, 1, 1, 1, 1});
       }},
      {"concatenation of channels, every other one",
       [](NpuGraphBuilder* g, int32_t x) {
         const int32_t both = g->Op(kNpuConcat, 0, {x, x}, {1, 4, 4, 2 * kChannels}, {3});
         return g->Op(kNpuSlice, 0, {both}, kImage, {0, 0, 0, 1, 1, 1, 1, 2});
       }},
      {"concatenation of rows with a constant, backwards",
       [](NpuGraphBuilder* g, int32_t x) {
         const int32_t row = g->Constant({1, 1, 4, kChannels}, std::vector<float>(8, 9));
         const int32_t both = g->Op(kNpuConcat, 0, {x, row}, {1, 5, 4, kChannels}, {1});
         return g->Op(kNpuSlice, 0, {both}, kImage, {0, 4, 0, 0, 1, -1, 1, 1});
       }},
  };
  for (const auto& [name, make] : kOperations) {
    ExpectSameResults(
        [&make](NpuGraphBuilder* g) { g->Output(Conv(g, make(g, Conv(g, g->Input(kImage))))); }, 2,
        name);
  }
}

// ---- Random graphs ------------------------------------------------------------------------------

int32_t RandomOp(NpuGraphBuilder* g, std::mt19937* random, const std::vector<int32_t>& images) {
  const auto pick = [&] { return images[(*random)() % images.size()]; };
  switch ((*random)() % 8) {
    case 0:
    case 1:
      return Conv(g, pick());
    case 2:
      return Relu(g, pick());
    case 3:
    case 4:
      return Add(g, pick(), pick());
    case 5:
      return g->Op(kNpuSoftmax, 0, {pick()}, kImage, {static_cast<int32_t>((*random)() % 4)}, 1);
    case 6: {
      const auto axis = static_cast<int32_t>((*random)() % 4);
      std::vector<int32_t> dims = kImage, attributes = {0, 0, 0, 0, 1, 1, 1, 1};
      dims[static_cast<size_t>(axis)] *= 2;
      attributes[4 + static_cast<size_t>(axis)] = 2;
      const int32_t both = g->Op(kNpuConcat, 0, {pick(), pick()}, dims, {axis});
      return g->Op(kNpuSlice, 0, {both}, kImage, attributes);
    }
    default: {
      const int32_t flat = g->Op(kNpuReshape, 0, {pick()}, {32});
      return g->Op(kNpuReshape, 0, {flat}, kImage);
    }
  }
}

TEST(Layout, random_graphs_keep_their_results) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    ExpectSameResults(
        [seed](NpuGraphBuilder* g) {
          std::mt19937 random(seed);
          std::vector<int32_t> images = {g->Input(kImage), g->Input(kImage)};
          const size_t length = 2 + random() % 12;
          for (size_t i = 0; i < length; ++i) images.push_back(RandomOp(g, &random, images));
          g->Output(images.back());
          if (random() % 2 == 0) g->Output(images[2 + random() % (length - 1)]);
        },
        -1, "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

// A chain of 3001 operations: passes whose time grew with its square would take long.
TEST(Layout, long_chains_are_processed) {
  const Counts counts = CountsOf([](NpuGraphBuilder* g) {
    int32_t x = g->Input(kImage);
    for (int i = 0; i < 3000; ++i) x = i % 3 == 0 ? Conv(g, x) : Relu(g, x);
    g->Output(Conv(g, x));
  });
  EXPECT_EQ(counts.fused, 2);
}

}  // namespace
}  // namespace deputy::npu_layout_test
