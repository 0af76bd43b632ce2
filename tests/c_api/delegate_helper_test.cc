// SPDX-License-Identifier: Apache-2.0
//
// Tests deputy/delegate_helper.h: the nodes it finds and claims, compared with brute force on
// random graphs; its float16 variant; and that delegates built on it
// (tests/support/element_delegate.c) compute the CPU's results, before and after they are undone.
#include "c_api/include/delegate_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "c_api/include/deputy.h"
#include "core/base/partition.h"
#include "kernels/common/half.h"
#include "tests/support/element_delegate.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_helper_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A delegate whose Prepare is a function of the test.
struct Probe {
  explicit Probe(std::function<TfLiteStatus(TfLiteContext*)> code) : body(std::move(code)) {
    base.data_ = this;
    base.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
      return static_cast<Probe*>(delegate->data_)->body(context);
    };
  }
  TfLiteDelegate base{};
  std::function<TfLiteStatus(TfLiteContext*)> body;
};

TfLiteStatus Modify(TestInterpreter* t, TfLiteDelegate* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate);
}

std::vector<int> ToVector(const TfLiteIntArray* array) {
  return {array->data, array->data + array->size};
}

const std::vector<float> kInput = {1, -2, 3, 4};

std::vector<float> RunOnce(TestInterpreter* t, const std::vector<float>& x = kInput) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

// ADD and MUL nodes over earlier tensors, one output each: tensor 2 + n belongs to node n.
struct RandomGraph {
  explicit RandomGraph(std::mt19937* random) {
    ModelBuilder m;
    const auto up_to = [&](size_t n) { return static_cast<int>((*random)() % n); };
    m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
    m.AddConstant<float>(kTfLiteFloat32, {1, 4}, {0.5f, -1, 0.25f, 1});
    const int nodes = 1 + up_to(30);
    for (int n = 0; n < nodes; ++n) {
      const int a = up_to(static_cast<size_t>(2 + n)), b = up_to(static_cast<size_t>(2 + n));
      const int out = m.AddTensor(kTfLiteFloat32, {1, 4});
      if (up_to(2) == 0) {
        m.AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m.fbb()));
      } else {
        m.AddOp(kTfLiteBuiltinMul, {a, b}, {out}, schema::CreateMulOptions(m.fbb()));
      }
      inputs.push_back({a, b});
      outputs.push_back({out});
    }
    graph_outputs = {1 + nodes, 2 + up_to(static_cast<size_t>(nodes))};
    m.SetInputs({0});
    m.SetOutputs(graph_outputs);
    model = m.Finish();
  }
  int node_count() const { return static_cast<int>(inputs.size()); }

  // Returns the claimed ones of the subsets into which the runtime must divide the plan if `nodes`
  // are claimed.
  std::vector<NodeSubset> ClaimedSubsets(const std::vector<int>& nodes) const {
    PartitionGraph graph;
    graph.tensor_count = 2 + node_count();
    for (int n = 0; n < node_count(); ++n) {
      graph.nodes.push_back({inputs[n], outputs[n]});
      graph.plan.push_back(n);
    }
    graph.outputs = graph_outputs;
    std::vector<NodeSubset> subsets;
    std::string error;
    EXPECT_TRUE(Partition(graph, nodes, {}, &subsets, &error)) << error;
    std::erase_if(subsets, [](const NodeSubset& subset) { return !subset.claimed; });
    return subsets;
  }

  std::vector<std::vector<int>> inputs, outputs;
  std::vector<int> graph_outputs;
  std::vector<uint8_t> model;
};

// A predicate's refusals, by output tensor of the node.
struct Mask {
  Mask(std::mt19937* random, const RandomGraph& graph) {
    const unsigned density = 1 + (*random)() % 4;
    for (int n = 0; n < graph.node_count(); ++n) {
      refused[2 + n] = (*random)() % 4 >= density;
    }
  }
  bool supported(int node) const { return !refused[2 + node]; }
  bool refused[64] = {};
};

bool QueryMask(TfLiteContext*, TfLiteNode* node, const TfLiteRegistration*, void* mask,
               char* reason, size_t reason_size) {
  const int out = node->outputs->data[0];
  if (!static_cast<const Mask*>(mask)->refused[out]) return true;
  std::snprintf(reason, reason_size, "tensor %d is refused", out);
  return false;
}

// ---- The helper ---------------------------------------------------------------------------------

// Checks that `found` holds the nodes of the largest partitions. Partitions of equal size may be in
// any order, so the result is checked against the definition.
void CheckLargest(const std::vector<NodeSubset>& partitions, int max_partitions, int min_nodes,
                  const std::vector<int>& found) {
  std::vector<size_t> sizes, expected;
  for (const NodeSubset& subset : partitions) sizes.push_back(subset.nodes.size());
  std::sort(sizes.rbegin(), sizes.rend());
  for (size_t size : sizes) {
    if (static_cast<int>(expected.size()) >= max_partitions) break;
    if (static_cast<int>(size) < min_nodes) break;
    expected.push_back(size);
  }
  std::set<std::vector<int>> left;
  for (const NodeSubset& subset : partitions) left.insert(subset.nodes);
  auto at = found.begin();
  for (size_t size : expected) {
    ASSERT_LE(size, static_cast<size_t>(found.end() - at));
    const std::vector<int> partition(at, at + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(left.erase(partition), 1u) << "no partition, or one twice";
    at += static_cast<std::ptrdiff_t>(size);
  }
  ASSERT_EQ(at, found.end());
}

void CheckPartitions(const DeputyPartitionHelper& helper, const std::vector<NodeSubset>& expected) {
  ASSERT_EQ(helper.partition_count, static_cast<int>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(ToVector(helper.partitions[i].nodes_to_replace), expected[i].nodes);
    EXPECT_EQ(ToVector(helper.partitions[i].input_tensors), expected[i].inputs);
    EXPECT_EQ(ToVector(helper.partitions[i].output_tensors), expected[i].outputs);
  }
}

TEST(PartitionHelper, equals_brute_force_on_random_graphs_and_masks) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const RandomGraph graph(&random);
    const Mask mask(&random, graph);
    const int first = random() % 3 == 0 ? static_cast<int>(random() % 5) : 0;
    const int last = random() % 3 == 0 ? static_cast<int>(random() % 25) : INT_MAX;
    std::vector<int> supported, unsupported;
    for (int n = 0; n < graph.node_count(); ++n) {
      if (mask.supported(n) && n > last) break;
      if (!mask.supported(n)) unsupported.push_back(n);
      if (mask.supported(n) && n >= first) supported.push_back(n);
    }
    const std::vector<NodeSubset> expected = graph.ClaimedSubsets(supported);
    bool was_called = false;
    Probe probe([&](TfLiteContext* context) {
      was_called = true;
      DeputyPartitionHelper helper;
      DeputyPartitionHelperInit(&helper, context);
      EXPECT_EQ(DeputyPartitionHelperPartition(&helper, &QueryMask, const_cast<Mask*>(&mask), first,
                                               last),
                kTfLiteOk);
      EXPECT_EQ(helper.plan->size, graph.node_count());
      EXPECT_EQ(ToVector(helper.supported), supported);
      EXPECT_EQ(helper.unsupported_count, static_cast<int>(unsupported.size()));
      for (size_t i = 0; i < unsupported.size(); ++i) {
        EXPECT_EQ(helper.unsupported[i].node, unsupported[i]);
        EXPECT_EQ(helper.unsupported[i].reason,
                  "tensor " + std::to_string(2 + unsupported[i]) + " is refused");
      }
      CheckPartitions(helper, expected);
      for (const auto& [max_partitions, min_nodes] : std::vector<std::pair<int, int>>{
               {INT_MAX, 0}, {1, 0}, {2, 2}, {3, 1}, {INT_MAX, 3}, {0, 0}, {-1, 0}, {1, 99}}) {
        TfLiteIntArray* nodes = DeputyPartitionHelperLargest(&helper, max_partitions, min_nodes);
        CheckLargest(expected, max_partitions, min_nodes, ToVector(nodes));
        DeputyIntArrayFree(nodes);
      }
      DeputyPartitionHelperFree(&helper);
      return kTfLiteOk;
    });
    TestInterpreter t(graph.model);
    ASSERT_EQ(Modify(&t, &probe.base), kTfLiteOk) << t.log();
    ASSERT_TRUE(was_called);
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
}

TEST(PartitionHelper, partitions_are_sorted_by_size_and_small_ones_omitted) {
  // Partitions of 1, 3 and 2 nodes, separated by nodes 1 and 5.
  ModelBuilder m;
  int last = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.SetInputs({last});
  for (int n = 0; n < 8; ++n) {
    const int next = m.AddTensor(kTfLiteFloat32, {1, 4});
    m.AddOp(kTfLiteBuiltinAdd, {last, last}, {next}, schema::CreateAddOptions(m.fbb()));
    last = next;
  }
  m.SetOutputs({last});
  Probe probe([&](TfLiteContext* context) {
    const int chosen[] = {0, 2, 3, 4, 6, 7};
    TfLiteIntArray* list = DeputyIntArrayCreate(6);
    std::copy(std::begin(chosen), std::end(chosen), list->data);
    DeputyPartitionHelper helper;
    DeputyPartitionHelperInit(&helper, context);
    EXPECT_EQ(DeputyPartitionHelperPartitionNodes(&helper, list), kTfLiteOk);
    const auto largest = [&](int max_partitions, int min_nodes) {
      TfLiteIntArray* nodes = DeputyPartitionHelperLargest(&helper, max_partitions, min_nodes);
      const std::vector<int> found = ToVector(nodes);
      DeputyIntArrayFree(nodes);
      return found;
    };
    EXPECT_EQ(helper.partition_count, 3);
    EXPECT_THAT(largest(INT_MAX, 0), ElementsAre(2, 3, 4, 6, 7, 0));
    EXPECT_THAT(largest(2, 0), ElementsAre(2, 3, 4, 6, 7));
    EXPECT_THAT(largest(INT_MAX, 3), ElementsAre(2, 3, 4));
    EXPECT_THAT(largest(INT_MAX, 4), IsEmpty());
    DeputyPartitionHelperFree(&helper);
    DeputyIntArrayFree(list);
    return kTfLiteOk;
  });
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Modify(&t, &probe.base), kTfLiteOk) << t.log();
}

TEST(PartitionHelper, bounds_are_node_indices_and_the_order_is_that_of_the_plan) {
  // Nodes: 0: x -> a, 1: a -> b, 2: b -> c, 3: a -> d. After node 1 is claimed the plan is 0 3 4 2.
  ModelBuilder m;
  std::vector<int> tensors;
  for (int i = 0; i < 5; ++i) tensors.push_back(m.AddTensor(kTfLiteFloat32, {1, 4}));
  const int pairs[][2] = {{0, 1}, {1, 2}, {2, 3}, {1, 4}};
  for (const auto& [in, out] : pairs) {
    m.AddOp(kTfLiteBuiltinAdd, {in, in}, {out}, schema::CreateAddOptions(m.fbb()));
  }
  m.SetInputs({0});
  m.SetOutputs({3, 4});
  const bool refused[] = {false, true, false, true, true};
  ElementDelegate first;
  ElementDelegateInit(&first, kTfLiteDelegateFlagsAllowDynamicTensors);
  first.refused_outputs = refused;
  first.refused_output_count = 5;
  Probe probe([&](TfLiteContext* context) {
    const auto all = [](TfLiteContext*, TfLiteNode*, const TfLiteRegistration* registration, void*,
                        char*,
                        size_t) { return registration->builtin_code != kTfLiteBuiltinDelegate; };
    DeputyPartitionHelper helper;
    DeputyPartitionHelperInit(&helper, context);
    EXPECT_EQ(DeputyPartitionHelperPartition(&helper, all, nullptr, 0, INT_MAX), kTfLiteOk);
    EXPECT_THAT(ToVector(helper.plan), ElementsAre(0, 3, 4, 2));
    EXPECT_THAT(ToVector(helper.supported), ElementsAre(0, 3, 2));
    EXPECT_EQ(helper.unsupported_count, 1);
    EXPECT_EQ(helper.unsupported[0].node, 4);
    EXPECT_STREQ(helper.unsupported[0].custom_name, "Element");
    EXPECT_STREQ(helper.unsupported[0].reason, "not supported by the delegate");
    EXPECT_EQ(DeputyPartitionHelperPartition(&helper, all, nullptr, 1, INT_MAX), kTfLiteOk);
    EXPECT_THAT(ToVector(helper.supported), ElementsAre(3, 2));
    // Node 3 is beyond the bound, so the traversal ends there: neither 4 nor 2 is passed to the
    // predicate.
    EXPECT_EQ(DeputyPartitionHelperPartition(&helper, all, nullptr, 0, 2), kTfLiteOk);
    EXPECT_THAT(ToVector(helper.supported), ElementsAre(0));
    EXPECT_EQ(helper.unsupported_count, 0);
    DeputyPartitionHelperFree(&helper);
    return kTfLiteOk;
  });
  probe.base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  TestInterpreter t(m.Finish());
  ASSERT_EQ(Modify(&t, &first.base), kTfLiteOk) << t.log();
  ASSERT_EQ(Modify(&t, &probe.base), kTfLiteOk) << t.log();
}

// A context whose functions fail; GetExecutionPlan fails as long as `plan` is null.
struct BrokenContext {
  BrokenContext() {
    context.impl_ = this;
    context.ReportError = &Report;
    context.GetExecutionPlan = [](TfLiteContext* c, TfLiteIntArray** out_plan) {
      *out_plan = static_cast<BrokenContext*>(c->impl_)->plan;
      return *out_plan == nullptr ? kTfLiteError : kTfLiteOk;
    };
    context.GetNodeAndRegistration = [](TfLiteContext*, int, TfLiteNode**, TfLiteRegistration**) {
      return kTfLiteError;
    };
    context.PreviewDelegatePartitioning = [](TfLiteContext*, const TfLiteIntArray*,
                                             TfLiteDelegateParams**, int*) { return kTfLiteError; };
  }
  ~BrokenContext() { DeputyIntArrayFree(plan); }
  static void Report(TfLiteContext* c, const char* format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    static_cast<BrokenContext*>(c->impl_)->log += text;
  }
  TfLiteContext context{};
  TfLiteIntArray* plan = nullptr;
  std::string log;
};

TEST(PartitionHelper, context_failures_are_reported) {
  BrokenContext broken;
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, &broken.context);
  EXPECT_EQ(DeputyPartitionHelperPartition(&helper, &QueryMask, nullptr, 0, INT_MAX), kTfLiteError);
  EXPECT_THAT(broken.log, HasSubstr("execution plan"));
  broken.plan = DeputyIntArrayCreate(1);
  broken.plan->data[0] = 7;
  EXPECT_EQ(DeputyPartitionHelperPartition(&helper, &QueryMask, nullptr, 0, INT_MAX), kTfLiteError);
  EXPECT_THAT(broken.log, HasSubstr("not available (node 7)"));
  EXPECT_EQ(DeputyPartitionHelperPartitionNodes(&helper, broken.plan), kTfLiteError);
  EXPECT_THAT(broken.log, HasSubstr("preview"));
  EXPECT_EQ(helper.partition_count, 0);
  EXPECT_EQ(DeputyPartitionHelperPartitionNodes(&helper, nullptr), kTfLiteError);
  DeputyPartitionHelperFree(&helper);
  EXPECT_EQ(helper.plan, nullptr);
}

TEST(PartitionHelper, int_arrays_are_allocated_like_the_runtimes) {
  EXPECT_EQ(DeputyIntArrayCreate(-1), nullptr);
  EXPECT_EQ(DeputyIntArrayCopy(nullptr), nullptr);
  DeputyIntArrayFree(nullptr);
  TfLiteIntArray* ours = DeputyIntArrayCreate(2);
  ours->data[0] = 3;
  ours->data[1] = 4;
  TfLiteIntArray* copy = DeputyIntArrayCopy(ours);
  EXPECT_TRUE(TfLiteIntArrayEqual(ours, copy));
  TfLiteIntArrayFree(ours);  // allocated by the helper, freed by the library
  DeputyIntArrayFree(copy);
  TfLiteIntArray* empty = DeputyIntArrayCreate(0);
  copy = DeputyIntArrayCopy(empty);
  EXPECT_EQ(copy->size, 0);
  DeputyIntArrayFree(copy);
  DeputyIntArrayFree(empty);
}

// ---- A delegate built on it ---------------------------------------------------------------------

TEST(PartitionHelper, claimed_nodes_run_in_the_delegate_and_equal_the_cpu) {
  std::mt19937 random(6);
  for (int round = 0; round < 500; ++round) {
    const RandomGraph graph(&random);
    const Mask mask(&random, graph);
    ElementDelegate delegate;
    ElementDelegateInit(&delegate, kTfLiteDelegateFlagsNone);
    delegate.refused_outputs = mask.refused;
    delegate.refused_output_count = 64;
    delegate.max_partitions = 1 + static_cast<int>(random() % 3);
    delegate.min_nodes = static_cast<int>(random() % 4);
    delegate.added_tensors = round % 2 == 0;
    TestInterpreter cpu(graph.model);
    const std::vector<float> expected = RunOnce(&cpu), second = cpu.Get<float>(1);
    {
      TestInterpreter t(graph.model);
      ASSERT_EQ(Modify(&t, &delegate.base), kTfLiteOk) << t.log();
      ASSERT_EQ(RunOnce(&t), expected) << "round " << round;
      ASSERT_EQ(t.Get<float>(1), second) << "round " << round;
    }
    ASSERT_EQ(delegate.nodes_computed, delegate.taken_nodes) << "round " << round;
    ASSERT_LE(delegate.taken_nodes, delegate.supported_nodes);
    ASSERT_EQ(delegate.kernels_freed, delegate.kernels_made);
  }
}

// ---- float16 ------------------------------------------------------------------------------------

// x + a -> [TANH ->] * b -> y, where a and b are float16 constants, each widened by a DEQUANTIZE.
std::vector<uint8_t> HalfModel(bool with_tanh) {
  ModelBuilder m;
  const auto constant = [&](const std::vector<float>& values, const char* name) {
    std::vector<uint16_t> halves;
    for (float value : values) halves.push_back(FloatToHalf(value));
    return m.AddConstant<uint16_t>(kTfLiteFloat16, {4}, halves, name);
  };
  const int a16 = constant({1, 0.5f, -0.25f, 2}, "a16");                         // tensor 0
  const int b16 = constant({-1, 1.5f, 3, 0.125f}, "b16");                        // tensor 1
  const int a = m.AddTensor(kTfLiteFloat32, {4}, "a");                           // tensor 2
  const int b = m.AddTensor(kTfLiteFloat32, {4}, "b");                           // tensor 3
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");                        // tensor 4
  const int sum = m.AddTensor(kTfLiteFloat32, {1, 4}, "sum");                    // tensor 5
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");                        // tensor 6
  m.AddOp(kTfLiteBuiltinDequantize, {a16}, {a}, 3);                              // node 0
  m.AddOp(kTfLiteBuiltinDequantize, {b16}, {b}, 3);                              // node 1
  m.AddOp(kTfLiteBuiltinAdd, {x, a}, {sum}, schema::CreateAddOptions(m.fbb()));  // node 2
  int middle = sum;
  if (with_tanh) {
    middle = m.AddTensor(kTfLiteFloat32, {1, 4}, "tanh");
    m.AddOp(kTfLiteBuiltinTanh, {sum}, {middle});
  }
  m.AddOp(kTfLiteBuiltinMul, {middle, b}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Returns the names of the operators in the order of execution.
std::vector<std::string> PlanOf(TestInterpreter* t) {
  std::vector<std::string> names(static_cast<size_t>(DeputyInterpreterGetNodeCount(t->get(), 0)));
  for (int n = 0; n < static_cast<int>(names.size()); ++n) {
    const DeputyNodeInfo info = NodeInfoOf(t->get(), n);
    if (info.plan_position >= 0) names[info.plan_position] = info.operator_name;
  }
  std::erase(names, "");
  return names;
}

struct Half : ElementDelegate {
  explicit Half(int64_t flags = kTfLiteDelegateFlagsNone) {
    ElementDelegateInit(this, flags);
    half_weights = true;
  }
};

TEST(HalfHelper, claims_the_whole_graph_if_only_dequantize_nodes_remain) {
  Half half;
  TestInterpreter cpu(HalfModel(false)), t(HalfModel(false));
  ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
  EXPECT_THAT(PlanOf(&t), ElementsAre("Element"));
  EXPECT_EQ(half.supported_nodes, 2);
  EXPECT_EQ(half.unsupported_nodes, 2);
  EXPECT_EQ(half.taken_nodes, 4);
  EXPECT_EQ(RunOnce(&t), RunOnce(&cpu));
  EXPECT_EQ(half.nodes_computed, 2);
  EXPECT_EQ(half.constants_read, 2);
}

TEST(HalfHelper, limits_apply_to_the_whole_graph) {
  for (const auto& [min_nodes, max_partitions, plan] :
       {std::tuple(4, 1, 1), std::tuple(5, 1, 4), std::tuple(0, 0, 4)}) {
    Half half;
    half.min_nodes = min_nodes;
    half.max_partitions = max_partitions;
    TestInterpreter t(HalfModel(false));
    ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
    EXPECT_EQ(PlanOf(&t).size(), static_cast<size_t>(plan)) << min_nodes;
  }
}

TEST(HalfHelper, leaves_dequantize_nodes_on_the_cpu_if_it_claims_a_part) {
  Half half;
  TestInterpreter cpu(HalfModel(true)), t(HalfModel(true));
  ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
  EXPECT_THAT(PlanOf(&t), testing::UnorderedElementsAre("DEQUANTIZE", "DEQUANTIZE", "Element",
                                                        "TANH", "Element"));
  EXPECT_EQ(half.taken_nodes, 2);
  EXPECT_EQ(RunOnce(&t), RunOnce(&cpu));
  EXPECT_EQ(half.nodes_computed, 2);
  EXPECT_EQ(half.constants_read, 2);
}

TEST(HalfHelper, unclaimed_nodes_keep_their_float32_inputs) {
  Half half;
  half.max_partitions = 1;
  TestInterpreter cpu(HalfModel(true)), t(HalfModel(true));
  ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
  EXPECT_EQ(half.taken_nodes, 1);
  EXPECT_EQ(RunOnce(&t), RunOnce(&cpu));
  EXPECT_EQ(half.constants_read, 1);
  const int mul = 4, b = 3;
  EXPECT_EQ(NodeInfoOf(t.get(), mul).inputs[1], b);
}

TEST(HalfHelper, predicates_receive_the_constants_and_inputs_change_only_on_a_claim) {
  Probe probe([](TfLiteContext* context) {
    static int halves;
    halves = 0;
    DeputyHalfPartitionHelper helper;
    DeputyHalfPartitionHelperInit(&helper, context);
    const auto count = [](TfLiteContext* c, TfLiteNode* node, const TfLiteRegistration*, void*,
                          char*, size_t) {
      for (int i = 0; i < node->inputs->size; ++i) {
        halves += c->tensors[node->inputs->data[i]].type == kTfLiteFloat16;
      }
      return false;
    };
    EXPECT_EQ(DeputyHalfPartitionHelperPartition(&helper, count, nullptr, 0, INT_MAX), kTfLiteOk);
    EXPECT_EQ(halves, 2);
    EXPECT_EQ(helper.dequantize_count, 2);
    EXPECT_EQ(helper.base.unsupported_count, 5);
    EXPECT_THAT(helper.base.unsupported[0].reason, HasSubstr("float16"));
    EXPECT_EQ(DeputyHalfConstantOf(&helper, 2), 0);
    EXPECT_EQ(DeputyHalfConstantOf(&helper, 4), -1);
    EXPECT_EQ(DeputyHalfConstantOf(&helper, -1), -1);
    TfLiteIntArray* nodes = DeputyHalfPartitionHelperTake(&helper, INT_MAX, 0);
    EXPECT_EQ(nodes->size, 0);
    DeputyIntArrayFree(nodes);
    DeputyHalfPartitionHelperFree(&helper);
    return kTfLiteOk;
  });
  TestInterpreter cpu(HalfModel(true)), t(HalfModel(true));
  ASSERT_EQ(Modify(&t, &probe.base), kTfLiteOk) << t.log();
  EXPECT_EQ(NodeInfoOf(t.get(), 2).inputs[1], 2);
  EXPECT_EQ(RunOnce(&t), RunOnce(&cpu));
}

TEST(HalfHelper, resize_restores_the_inputs_and_reallocation_redoes_them) {
  for (const bool with_tanh : {false, true}) {
    Half half;
    TestInterpreter cpu(HalfModel(with_tanh)), t(HalfModel(with_tanh));
    ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
    EXPECT_EQ(NodeInfoOf(t.get(), 2).inputs[1], 0);  // node 2, the ADD, reads tensor a16
    const std::vector<float> two_rows = {1, -2, 3, 4, 0.5f, 0.25f, -1, 2};
    ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
    EXPECT_EQ(NodeInfoOf(t.get(), 2).inputs[1], 2);  // node 2 reads tensor a again
    ASSERT_EQ(cpu.Resize(0, {2, 4}), kTfLiteOk);
    EXPECT_EQ(RunOnce(&t, two_rows), RunOnce(&cpu, two_rows));
    EXPECT_EQ(NodeInfoOf(t.get(), 2).inputs[1], 0);
    EXPECT_EQ(half.prepares, 2);
    EXPECT_EQ(half.constants_read, 2);
  }
}

TEST(HalfHelper, cpu_fallback_reads_the_widened_constants) {
  for (const bool with_tanh : {false, true}) {
    Half half;
    TestInterpreter cpu(HalfModel(with_tanh));
    TestInterpreter t(HalfModel(with_tanh), [](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
    });
    ASSERT_EQ(Modify(&t, &half.base), kTfLiteOk) << t.log();
    half.fails_invoke = true;
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, kInput);
    EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
    EXPECT_EQ(t.Get<float>(0), RunOnce(&cpu));
    EXPECT_THAT(PlanOf(&t), Each(testing::Ne("Element")));
    EXPECT_EQ(NodeInfoOf(t.get(), 2).inputs[1], 2);
    EXPECT_EQ(RunOnce(&t), RunOnce(&cpu));
  }
}

}  // namespace
}  // namespace deputy::delegate_helper_test
