// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates/utils.h with every set of supported nodes of small graphs: the partitions against
// the smallest number that brute force finds, and the nodes of float16 models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/delegates/utils.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"

namespace deputy::partition_helper_test {
namespace {

using testing::ElementsAreArray;
using tflite::Interpreter;
using tflite::TfLiteIntArrayView;
using tflite::delegates::FP16GraphPartitionHelper;
using tflite::delegates::GraphPartitionHelper;

struct Node {
  std::vector<int> inputs;
  int output;
  TfLiteRegistration* registration;
};

// A graph of floats. Tensor 0 is the input; the last node computes the output.
class Graph {
 public:
  explicit Graph(std::vector<Node> nodes, int constants = 0) : nodes_(std::move(nodes)) {
    int tensors = 1;
    for (const Node& node : nodes_) tensors = std::max(tensors, node.output + 1);
    interpreter_.AddTensors(tensors + constants);
    for (int i = 0; i < tensors; ++i) {
      interpreter_.SetTensorParametersReadWrite(i, kTfLiteFloat32, "t", {1},
                                                TfLiteQuantizationParams{});
    }
    for (int i = tensors; i < tensors + constants; ++i) {
      interpreter_.SetTensorParametersReadOnly(i, kTfLiteFloat16, "c", {1},
                                               TfLiteQuantizationParams{},
                                               reinterpret_cast<const char*>(&kOne), sizeof kOne);
    }
    interpreter_.SetInputs({0});
    interpreter_.SetOutputs({nodes_.back().output});
    for (const Node& node : nodes_) {
      interpreter_.AddNodeWithParameters(node.inputs, {node.output}, nullptr, 0, nullptr,
                                         node.registration);
    }
  }

  int size() const { return static_cast<int>(nodes_.size()); }

  // Calls a function as a delegate's Prepare. Returns the status of the application.
  TfLiteStatus Inspect(const std::function<void(TfLiteContext*)>& function) {
    TfLiteDelegate delegate = TfLiteDelegateCreate();
    delegate.data_ = const_cast<std::function<void(TfLiteContext*)>*>(&function);
    delegate.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
      (*static_cast<const std::function<void(TfLiteContext*)>*>(self->data_))(context);
      return kTfLiteOk;
    };
    return interpreter_.ModifyGraphWithDelegate(&delegate);
  }

  // True if the graph can run with each group as one node. `group[i]` is the group of node i, or
  // -1.
  bool CanRun(const std::vector<int>& group) const {
    std::vector<bool> done(nodes_.size());
    std::vector<bool> available(nodes_.size());  // of the outputs
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < nodes_.size(); ++i) {
        if (done[i]) continue;
        std::vector<size_t> members;
        for (size_t k = 0; k < nodes_.size(); ++k) {
          if (k == i || (group[i] >= 0 && group[k] == group[i])) members.push_back(k);
        }
        if (!InputsAvailable(members, available)) continue;
        for (const size_t k : members) done[k] = available[k] = true;
        progress = true;
      }
    }
    return std::all_of(done.begin(), done.end(), [](bool value) { return value; });
  }

  // The smallest number of partitions of the supported nodes with which the graph can run.
  int FewestPartitions(unsigned mask) const {
    std::vector<int> group(nodes_.size(), -1);
    int fewest = INT_MAX;
    TryGroups(mask, 0, 0, &group, &fewest);
    return fewest;
  }

 private:
  // True if each input of the members is computed by another member, or is available.
  bool InputsAvailable(const std::vector<size_t>& members,
                       const std::vector<bool>& available) const {
    for (const size_t k : members) {
      for (const int input : nodes_[k].inputs) {
        for (size_t producer = 0; producer < nodes_.size(); ++producer) {
          if (nodes_[producer].output == input && !available[producer] &&
              std::find(members.begin(), members.end(), producer) == members.end()) {
            return false;
          }
        }
      }
    }
    return true;
  }

  void TryGroups(unsigned mask, size_t node, int groups, std::vector<int>* group,
                 int* fewest) const {
    if (node == nodes_.size()) {
      if (groups < *fewest && CanRun(*group)) *fewest = groups;
      return;
    }
    if ((mask >> node & 1) == 0) {
      TryGroups(mask, node + 1, groups, group, fewest);
      return;
    }
    for (int choice = 0; choice <= groups; ++choice) {
      (*group)[node] = choice;
      TryGroups(mask, node + 1, std::max(groups, choice + 1), group, fewest);
    }
    (*group)[node] = -1;
  }

  static constexpr uint16_t kOne = 0x3c00;
  const std::vector<Node> nodes_;
  Interpreter interpreter_;
};

constexpr auto kNeg = &tflite::ops::builtin::Register_NEG;
constexpr auto kAdd = &tflite::ops::builtin::Register_ADD;

struct NamedGraph {
  const char* name;
  std::vector<Node> nodes;
  // False if TensorFlow Lite's algorithm, which extends a partition as far as possible before it
  // begins another, does not always find the smallest number of partitions.
  bool is_minimal = true;
};

NamedGraph ChainOfSix() {
  std::vector<Node> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back({{i}, i + 1, kNeg()});
  return {"chain", nodes};
}

// Node 0 is read by two branches, of one node and of two, which node 4 joins.
NamedGraph Diamond() {
  return {"diamond",
          {{{0}, 1, kNeg()},
           {{1}, 2, kNeg()},
           {{1}, 3, kNeg()},
           {{3}, 4, kNeg()},
           {{2, 4}, 5, kAdd()},
           {{5}, 6, kNeg()}}};
}

// Two chains from the input that only the last node joins.
NamedGraph TwoChains() {
  return {
      "two_chains",
      {{{0}, 1, kNeg()}, {{0}, 2, kNeg()}, {{1}, 3, kNeg()}, {{2}, 4, kNeg()}, {{3, 4}, 5, kAdd()}},
      false};
}

std::vector<int> NodesIn(unsigned mask, int count, int first = 0, int last = INT_MAX) {
  std::vector<int> nodes;
  for (int i = 0; i < count; ++i) {
    if ((mask >> i & 1) != 0 && i >= first && i <= last) nodes.push_back(i);
  }
  return nodes;
}

// Supports the nodes of the mask, in the order in which they are queried.
tflite::delegates::IsNodeSupportedFn Supports(unsigned mask, int* queried) {
  return [mask, queried](TfLiteContext*, TfLiteNode*, TfLiteRegistration*, std::string* details) {
    const bool supported = (mask >> (*queried)++ & 1) != 0;
    if (!supported) *details = "not in the mask";
    return supported;
  };
}

std::vector<std::vector<int>> PartitionsOf(const GraphPartitionHelper& helper, int n = INT_MAX,
                                           int min_nodes = 0) {
  std::vector<std::vector<int>> partitions;
  for (const TfLiteDelegateParams* params : helper.GetFirstNLargestPartitions(n, min_nodes)) {
    const TfLiteIntArrayView nodes(params->nodes_to_replace);
    partitions.emplace_back(nodes.begin(), nodes.end());
  }
  return partitions;
}

// Checks the partitions of the nodes in `mask`.
void CheckPartitions(const Graph& graph, unsigned mask, bool is_minimal,
                     GraphPartitionHelper* helper) {
  const auto partitions = PartitionsOf(*helper);
  EXPECT_EQ(helper->num_partitions(), static_cast<int>(partitions.size()));
  std::vector<int> group(static_cast<size_t>(graph.size()), -1);
  std::vector<int> all;
  for (size_t p = 0; p < partitions.size(); ++p) {
    EXPECT_GE(partitions[p == 0 ? 0 : p - 1].size(), partitions[p].size());
    for (const int node : partitions[p]) group[static_cast<size_t>(node)] = static_cast<int>(p);
    all.insert(all.end(), partitions[p].begin(), partitions[p].end());
  }
  EXPECT_THAT(helper->GetNodesOfFirstNLargestPartitions(), ElementsAreArray(all));
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAreArray(NodesIn(mask, graph.size())));
  EXPECT_TRUE(graph.CanRun(group));
  EXPECT_GE(helper->num_partitions(), graph.FewestPartitions(mask));
  if (is_minimal) {
    EXPECT_EQ(helper->num_partitions(), graph.FewestPartitions(mask));
  }
  for (int n = 0; n <= graph.size(); ++n) {
    for (int min_nodes = 0; min_nodes <= graph.size(); ++min_nodes) {
      std::vector<std::vector<int>> expected;
      for (const auto& partition : partitions) {
        if (static_cast<int>(expected.size()) < n &&
            static_cast<int>(partition.size()) >= min_nodes) {
          expected.push_back(partition);
        }
      }
      EXPECT_EQ(PartitionsOf(*helper, n, min_nodes), expected) << n << " " << min_nodes;
    }
  }
}

class PartitionTest : public testing::TestWithParam<NamedGraph> {};

TEST_P(PartitionTest, every_set_of_nodes_has_as_few_partitions_as_possible) {
  for (unsigned mask = 0; mask < 1U << GetParam().nodes.size(); ++mask) {
    SCOPED_TRACE(mask);
    Graph graph(GetParam().nodes);
    const TfLiteStatus status = graph.Inspect([&](TfLiteContext* context) {
      int queried = 0;
      GraphPartitionHelper helper(context, Supports(mask, &queried));
      std::set<std::string> unsupported;
      ASSERT_EQ(helper.Partition(&unsupported), kTfLiteOk);
      const std::vector<int> supported = NodesIn(mask, graph.size());
      EXPECT_EQ(queried, graph.size());
      EXPECT_EQ(helper.num_total_nodes(), graph.size());
      EXPECT_EQ(helper.num_supported_nodes(), static_cast<int>(supported.size()));
      EXPECT_EQ(unsupported.empty(), static_cast<int>(supported.size()) == graph.size());
      for (const std::string& text : unsupported) {
        EXPECT_TRUE(text == "NEG: not in the mask" || text == "ADD: not in the mask") << text;
      }
      CheckPartitions(graph, mask, GetParam().is_minimal, &helper);

      GraphPartitionHelper listed(context, supported);
      ASSERT_EQ(listed.Partition(nullptr), kTfLiteOk);
      CheckPartitions(graph, mask, GetParam().is_minimal, &listed);
    });
    EXPECT_EQ(status, kTfLiteOk);
  }
}

TEST_P(PartitionTest, nodes_outside_the_range_are_left_out) {
  Graph graph(GetParam().nodes);
  const unsigned mask = (1U << graph.size()) - 3;  // all but node 1
  for (int first = 0; first < graph.size(); ++first) {
    for (int last = first; last < graph.size(); ++last) {
      const TfLiteStatus status = graph.Inspect([&](TfLiteContext* context) {
        int queried = 0;
        GraphPartitionHelper helper(context, Supports(mask, &queried));
        ASSERT_EQ(helper.Partition(nullptr, first, last), kTfLiteOk);
        std::vector<int> nodes = helper.GetNodesOfFirstNLargestPartitions();
        std::sort(nodes.begin(), nodes.end());
        EXPECT_THAT(nodes, ElementsAreArray(NodesIn(mask, graph.size(), first, last)));
      });
      EXPECT_EQ(status, kTfLiteOk);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, PartitionTest,
                         testing::Values(ChainOfSix(), Diamond(), TwoChains()),
                         [](const auto& graph) { return graph.param.name; });

// Nodes 0 and 2 dequantise the constants 6 and 7 into the tensors 1 and 3.
std::vector<Node> Float16Model() {
  const auto dequantize = &tflite::ops::builtin::Register_DEQUANTIZE;
  return {{{6}, 1, dequantize()},
          {{0, 1}, 2, kAdd()},
          {{7}, 3, dequantize()},
          {{2, 3}, 4, kAdd()},
          {{4}, 5, kNeg()}};
}

std::vector<int> InputsOf(TfLiteContext* context, int node_index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  EXPECT_EQ(context->GetNodeAndRegistration(context, node_index, &node, &registration), kTfLiteOk);
  const TfLiteIntArrayView inputs(node->inputs);
  return {inputs.begin(), inputs.end()};
}

// Bits of the mask are the nodes 1, 3 and 4. The helper leaves the constants in the inputs of the
// selected nodes, which the library cannot prepare then.
TEST(Float16Test, nodes_receive_the_constants) {
  const int nodes[] = {1, 3, 4};
  const std::vector<std::vector<int>> original = {{0, 1}, {2, 3}, {4}};
  const std::vector<std::vector<int>> replaced = {{0, 6}, {2, 7}, {4}};
  for (unsigned mask = 0; mask < 8; ++mask) {
    SCOPED_TRACE(mask);
    Graph graph(Float16Model(), 2);
    const TfLiteStatus status = graph.Inspect([&](TfLiteContext* context) {
      std::vector<std::vector<int>> seen;
      FP16GraphPartitionHelper helper(
          context, [&](TfLiteContext*, TfLiteNode* node, TfLiteRegistration*, std::string*) {
            const TfLiteIntArrayView inputs(node->inputs);
            seen.emplace_back(inputs.begin(), inputs.end());
            return (mask >> (seen.size() - 1) & 1) != 0;
          });
      ASSERT_EQ(helper.Partition(nullptr), kTfLiteOk);
      EXPECT_EQ(seen, replaced);
      for (size_t i = 0; i < 3; ++i) EXPECT_EQ(InputsOf(context, nodes[i]), original[i]);
      std::vector<int> selected = helper.GetNodesOfFirstNLargestPartitions();
      std::sort(selected.begin(), selected.end());
      std::vector<int> expected;
      for (size_t i = 0; i < 3; ++i) {
        if ((mask >> i & 1) != 0) expected.push_back(nodes[i]);
      }
      if (mask == 7) expected = {0, 1, 2, 3, 4};
      EXPECT_EQ(selected, expected);
      for (size_t i = 0; i < 3; ++i) {
        const bool supported = (mask >> i & 1) != 0;
        EXPECT_EQ(InputsOf(context, nodes[i]), supported ? replaced[i] : original[i]);
      }
    });
    EXPECT_EQ(status == kTfLiteOk, (mask & 3) == 0);
  }
}

}  // namespace
}  // namespace deputy::partition_helper_test
