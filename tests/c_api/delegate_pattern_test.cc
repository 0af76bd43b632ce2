// SPDX-License-Identifier: Apache-2.0
//
// Tests deputy/delegate_pattern.h: chains that it finds in small graphs, against literal node
// indices, and in random graphs, against a search by brute force.
#include "c_api/include/delegate_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_pattern_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Matches = std::vector<std::vector<int>>;  // pattern, then the nodes

DeputyPatternNode Node(int32_t code, int32_t input = kDeputyPatternAnyInput) {
  DeputyPatternNode node{};
  node.builtin_code = code;
  node.input = input;
  return node;
}

DeputyPatternNode Optional(int32_t code) {
  DeputyPatternNode node = Node(code);
  node.is_optional = true;
  return node;
}

// Searches a model for patterns in a delegate's Prepare.
Matches Find(const std::vector<uint8_t>& model,
             const std::vector<std::vector<DeputyPatternNode>>& chains,
             TfLiteStatus expected = kTfLiteOk) {
  std::vector<DeputyPattern> patterns;
  for (const auto& chain : chains) patterns.push_back({chain.data(), chain.size()});
  Matches found;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    DeputyPatternSearch search;
    DeputyPatternSearchInit(&search, context);
    EXPECT_EQ(DeputyPatternSearchRun(&search, patterns.data(), static_cast<int>(patterns.size())),
              expected);
    for (int i = 0; i < search.match_count; ++i) {
      const DeputyPatternMatch& match = search.matches[i];
      const size_t count = patterns[static_cast<size_t>(match.pattern)].node_count;
      found.push_back({match.pattern});
      found.back().insert(found.back().end(), match.nodes, match.nodes + count);
      for (size_t k = count; k < kDeputyPatternMaxNodes; ++k) EXPECT_EQ(match.nodes[k], -1);
    }
    DeputyPatternSearchFree(&search);
    return kTfLiteOk;
  });
  TestInterpreter t(model);
  EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  const bool has_report = t.log().find("Pattern search: expected 1 to 16") != std::string::npos;
  EXPECT_EQ(has_report, expected != kTfLiteOk) << t.log();
  return found;
}

// Nodes: 0 CONV_2D, 1 ADD of a constant, 2 RELU, 3 CONV_2D with stride 2, 4 MUL by a constant.
std::vector<uint8_t> Network(bool second_is_an_output = false) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 2}, "x");
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {2, 1, 1, 2}, {1, 2, 3, 4});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0, 1});
  std::vector<int> y;
  for (int i = 0; i < 5; ++i) {
    const int size = i < 3 ? 4 : 2;
    y.push_back(m.AddTensor(kTfLiteFloat32, {1, size, size, 2}));
  }
  const auto conv = [&](int stride) {
    return schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, stride, stride);
  };
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {y[0]}, conv(1));
  m.AddOp(kTfLiteBuiltinAdd, {bias, y[0]}, {y[1]}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinRelu, {y[1]}, {y[2]});
  m.AddOp(kTfLiteBuiltinConv2d, {y[2], filter, bias}, {y[3]}, conv(2));
  m.AddOp(kTfLiteBuiltinMul, {y[3], bias}, {y[4]}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs(second_is_an_output ? std::vector<int>{y[4], y[1]} : std::vector<int>{y[4]});
  return m.Finish();
}

constexpr TfLiteBuiltinOperator kConv = kTfLiteBuiltinConv2d, kAdd = kTfLiteBuiltinAdd,
                                kMul = kTfLiteBuiltinMul, kRelu = kTfLiteBuiltinRelu;

TEST(DelegatePattern, finds_chains_in_the_order_of_the_plan) {
  EXPECT_THAT(Find(Network(), {{Node(kConv), Node(kAdd), Node(kRelu)}}),
              ElementsAre(ElementsAre(0, 0, 1, 2)));
  EXPECT_THAT(Find(Network(), {{Node(kConv), Node(kDeputyPatternAnyOperator)}}),
              ElementsAre(ElementsAre(0, 0, 1), ElementsAre(0, 3, 4)));
  EXPECT_THAT(Find(Network(), {{Node(kMul), Node(kAdd)}}), IsEmpty());
  EXPECT_THAT(Find(Network(), {}), IsEmpty());
}

TEST(DelegatePattern, optional_nodes_may_be_missing) {
  const std::vector<DeputyPatternNode> chain = {Node(kConv), Optional(kAdd), Optional(kRelu),
                                                Optional(kMul)};
  EXPECT_THAT(Find(Network(), {chain}),
              ElementsAre(ElementsAre(0, 0, 1, 2, -1), ElementsAre(0, 3, -1, -1, 4)));
}

TEST(DelegatePattern, the_first_pattern_counts_and_nodes_are_used_once) {
  const std::vector<DeputyPatternNode> pair = {Node(kAdd), Node(kRelu)}, conv = {Node(kConv)},
                                       longer = {Node(kConv), Node(kAdd)};
  EXPECT_THAT(Find(Network(), {conv, longer, pair}),
              ElementsAre(ElementsAre(0, 0), ElementsAre(2, 1, 2), ElementsAre(0, 3)));
  EXPECT_THAT(Find(Network(), {longer, pair, conv}),
              ElementsAre(ElementsAre(0, 0, 1), ElementsAre(2, 3)));
}

TEST(DelegatePattern, outputs_of_the_graph_end_a_chain) {
  const std::vector<DeputyPatternNode> chain = {Node(kAdd), Optional(kRelu)};
  EXPECT_THAT(Find(Network(false), {chain}), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(Find(Network(true), {chain}), ElementsAre(ElementsAre(0, 1, -1)));
}

TEST(DelegatePattern, conditions_on_options_inputs_constants_and_types) {
  static const DeputyPatternAttribute kStride2[] = {
      DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, stride_width, 2, 3),
      DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, padding, kTfLitePaddingSame, kTfLitePaddingSame)};
  DeputyPatternNode conv = Node(kConv);
  conv.attributes = kStride2;
  conv.attribute_count = 2;
  EXPECT_THAT(Find(Network(), {{conv}}), ElementsAre(ElementsAre(0, 3)));
  const DeputyPatternAttribute none[] = {
      DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, stride_width, 3, 9)};
  conv.attributes = none;
  conv.attribute_count = 1;
  EXPECT_THAT(Find(Network(), {{conv}}), IsEmpty());
  const DeputyPatternAttribute low[] = {
      DEPUTY_PATTERN_ATTRIBUTE(TfLiteConvParams, stride_width, 0, 1)};
  conv.attributes = low;
  EXPECT_THAT(Find(Network(), {{conv}}), ElementsAre(ElementsAre(0, 0)));
  DeputyPatternNode relu = Node(kRelu);  // has no options
  relu.attributes = none;
  relu.attribute_count = 1;
  EXPECT_THAT(Find(Network(), {{relu}}), IsEmpty());

  EXPECT_THAT(Find(Network(), {{Node(kConv), Node(kAdd, 1)}}), ElementsAre(ElementsAre(0, 0, 1)));
  EXPECT_THAT(Find(Network(), {{Node(kConv), Node(kAdd, 0)}}), IsEmpty());
  EXPECT_THAT(Find(Network(), {{Node(kConv), Node(kAdd, 7)}}), IsEmpty());

  DeputyPatternNode constant = Node(kDeputyPatternAnyOperator);
  constant.constant_inputs = 1u << 0;
  EXPECT_THAT(Find(Network(), {{constant}}), ElementsAre(ElementsAre(0, 1)));
  constant.constant_inputs = 1u << 1 | 1u << 2;
  EXPECT_THAT(Find(Network(), {{constant}}), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 3)));

  DeputyPatternNode typed = Node(kMul);
  typed.output_type = kTfLiteInt8;
  EXPECT_THAT(Find(Network(), {{typed}}), IsEmpty());
  typed.output_type = kTfLiteFloat32;
  EXPECT_THAT(Find(Network(), {{typed}}), ElementsAre(ElementsAre(0, 4)));

  DeputyPatternNode own = Node(kConv);
  own.is_accepted = [](TfLiteContext* context, const TfLiteNode* node) {
    return context->tensors[node->outputs->data[0]].dims->data[1] == 2;
  };
  EXPECT_THAT(Find(Network(), {{own}}), ElementsAre(ElementsAre(0, 3)));
}

TEST(DelegatePattern, fields_of_all_sizes_are_compared_with_their_sign) {
  struct Options {
    int8_t one;
    int16_t two;
    int32_t four;
    int64_t eight;
    char others[3];
  };
  const Options options = {-1, -300, -70000, -5000000000, ""};
  const DeputyPatternAttribute exact[] = {
      DEPUTY_PATTERN_ATTRIBUTE(Options, one, -1, -1),
      DEPUTY_PATTERN_ATTRIBUTE(Options, two, -300, -300),
      DEPUTY_PATTERN_ATTRIBUTE(Options, four, -70000, -70000),
      DEPUTY_PATTERN_ATTRIBUTE(Options, eight, -5000000000, -5000000000)};
  for (DeputyPatternAttribute attribute : exact) {
    EXPECT_TRUE(DeputyPatternAttributeHolds(&attribute, &options)) << attribute.size;
    ++attribute.low, ++attribute.high;
    EXPECT_FALSE(DeputyPatternAttributeHolds(&attribute, &options)) << attribute.size;
  }
  const DeputyPatternAttribute odd =
      DEPUTY_PATTERN_ATTRIBUTE(Options, others, INT64_MIN, INT64_MAX);
  EXPECT_FALSE(DeputyPatternAttributeHolds(&odd, &options));
}

TEST(DelegatePattern, nodes_with_several_outputs_end_a_chain) {
  ModelBuilder m;
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0});
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {2}), b = m.AddTensor(kTfLiteFloat32, {2}),
            y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinSplit, {axis, x}, {a, b}, schema::CreateSplitOptions(m.fbb(), 2));
  m.AddOp(kRelu, {a}, {y});
  m.SetInputs({x});
  m.SetOutputs({b, y});
  const std::vector<uint8_t> model = m.Finish();
  EXPECT_THAT(Find(model, {{Node(kTfLiteBuiltinSplit), Node(kRelu)}}), IsEmpty());
  EXPECT_THAT(Find(model, {{Node(kTfLiteBuiltinSplit), Optional(kRelu)}}),
              ElementsAre(ElementsAre(0, 0, -1)));
}

TEST(DelegatePattern, custom_operators_have_names) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x"), y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddCustomOp("Backwards", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  DeputyPatternNode named = Node(kTfLiteBuiltinCustom);
  named.custom_name = "Backwards";
  EXPECT_THAT(Find(model, {{named}}), ElementsAre(ElementsAre(0, 0)));
  named.custom_name = "Forwards";
  EXPECT_THAT(Find(model, {{named}}), IsEmpty());
  DeputyPatternNode builtin = Node(kAdd);
  builtin.custom_name = "Backwards";
  EXPECT_THAT(Find(Network(), {{builtin}}), IsEmpty());
}

TEST(DelegatePattern, wrong_patterns_are_refused) {
  EXPECT_THAT(Find(Network(), {{}}, kTfLiteError), IsEmpty());
  const std::vector<DeputyPatternNode> longer(17, Node(kConv));
  EXPECT_THAT(Find(Network(), {{Node(kConv)}, longer}, kTfLiteError), IsEmpty());
}

// ---- Random graphs ------------------------------------------------------------------------------

struct RandomGraph {
  std::vector<uint8_t> model;
  std::vector<int> codes;
  std::vector<std::vector<int>> inputs;  // of node n, whose output is tensor n + 1
};

RandomGraph Random(std::mt19937* random) {
  RandomGraph graph;
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int nodes = 2 + static_cast<int>((*random)() % 12);
  for (int n = 0; n < nodes; ++n) {
    // Mostly the newest tensor, so that chains are frequent.
    const auto earlier = [&] {
      return (*random)() % 3 > 0 ? n : static_cast<int>((*random)() % static_cast<unsigned>(n + 1));
    };
    const int y = m.AddTensor(kTfLiteFloat32, {1, 4});
    const TfLiteBuiltinOperator code = (*random)() % 2 == 0 ? kAdd : kMul;
    graph.inputs.push_back({earlier(), earlier()});
    graph.codes.push_back(code);
    if (code == kAdd) {
      m.AddOp(code, graph.inputs.back(), {y}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(code, graph.inputs.back(), {y}, schema::CreateMulOptions(m.fbb()));
    }
  }
  m.SetInputs({0});
  m.SetOutputs({nodes});
  graph.model = m.Finish();
  return graph;
}

// Tries all sequences of nodes for the chain ADD, MUL, ADD.
Matches BruteForce(const RandomGraph& graph) {
  const int nodes = static_cast<int>(graph.codes.size());
  const auto reads = [&](int node, int of) {
    const std::vector<int>& inputs = graph.inputs[static_cast<size_t>(node)];
    return std::count(inputs.begin(), inputs.end(), of + 1);
  };
  const auto is_only_reader = [&](int node, int of) {
    int64_t all = of + 1 == nodes ? 1 : 0;  // the graph's output
    for (int n = 0; n < nodes; ++n) all += reads(n, of);
    return all == 1 && reads(node, of) == 1;
  };
  const auto code = [&](int node) { return graph.codes[static_cast<size_t>(node)]; };
  Matches found;
  std::set<int> used;
  for (int a = 0; a < nodes; ++a) {
    for (int b = 0; b < nodes; ++b) {
      for (int c = 0; c < nodes; ++c) {
        if (used.contains(a) || used.contains(b) || used.contains(c)) continue;
        if (code(a) != kAdd || code(b) != kMul || code(c) != kAdd) continue;
        if (!is_only_reader(b, a) || !is_only_reader(c, b)) continue;
        used.insert({a, b, c});
        found.push_back({0, a, b, c});
      }
    }
  }
  return found;
}

TEST(DelegatePattern, finds_what_brute_force_finds) {
  std::mt19937 random(11);
  size_t all = 0;
  for (int round = 0; round < 1000; ++round) {
    const RandomGraph graph = Random(&random);
    const Matches expected = BruteForce(graph);
    EXPECT_EQ(Find(graph.model, {{Node(kAdd), Node(kMul), Node(kAdd)}}), expected) << round;
    all += expected.size();
  }
  EXPECT_GT(all, 40u);
}

}  // namespace
}  // namespace deputy::delegate_pattern_test
