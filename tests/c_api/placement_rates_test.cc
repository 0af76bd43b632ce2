// SPDX-License-Identifier: Apache-2.0
//
// Tests learned rates: the costs that earlier models predict for a delegate, their files, and the
// choice of a delegate that the budget does not permit to measure.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy_placement.h"
#include "c_api/src/placement_rates.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::placement_rates_test {
namespace {

const std::vector<std::string> kOperators = {"ADD", "MUL", "ADD", "SUB"};

PlacementProblem ProblemOf(std::vector<double> cpu_ns) {
  PlacementProblem problem;
  problem.cpu_ns = std::move(cpu_ns);
  return problem;
}

DelegateCosts CostsOf(std::vector<double> node_ns, double launch_ns) {
  DelegateCosts costs;
  costs.node_ns = std::move(node_ns);
  costs.launch_ns = launch_ns;
  return costs;
}

TEST(PlacementRates, predict_the_times_of_other_models) {
  DelegateRates rates;
  AddRates(ProblemOf({100, 100, 300, 100}), CostsOf({10, 200, 30, -1}, 50), kOperators, &rates);
  const std::vector<std::string> others = {"SUB", "MUL", "ADD"};
  const DelegateCosts costs = CostsByRates(ProblemOf({100, 1000, 2000}), others, rates);
  EXPECT_EQ(costs.node_ns, (std::vector<double>{-1, 2000, 200}));
  EXPECT_EQ(costs.launch_ns, 50);
}

TEST(PlacementRates, later_models_count_twice_as_much) {
  DelegateRates rates;
  AddRates(ProblemOf({100, 100, 100, 100}), CostsOf({10, -1, 10, -1}, 50), kOperators, &rates);
  AddRates(ProblemOf({100, 100, 100, 100}), CostsOf({40, -1, 40, -1}, 70), kOperators, &rates);
  const DelegateCosts costs = CostsByRates(ProblemOf({300}), {{"ADD"}}, rates);
  // (20 / 2 + 80) / (200 / 2 + 200)
  EXPECT_DOUBLE_EQ(costs.node_ns[0], 90);
  EXPECT_EQ(costs.launch_ns, 70);
}

TEST(PlacementRates, a_delegate_without_nodes_changes_nothing) {
  DelegateRates rates;
  AddRates(ProblemOf({100, 0, 0, 0}), CostsOf({-1, 5, -1, -1}, 50), kOperators, &rates);
  EXPECT_TRUE(rates.empty());
  EXPECT_EQ(rates.launch_ns, 0);
}

TEST(PlacementRates, are_the_same_after_writing_and_reading) {
  DelegateRates rates;
  AddRates(ProblemOf({100, 0.25, 300, 100}), CostsOf({10, 200, 30, 1e30}, 50), kOperators, &rates);
  const DelegateRates read = ReadRates(WriteRates(rates));
  EXPECT_EQ(read.launch_ns, 50);
  // MUL took less than a nanosecond on the CPU.
  ASSERT_EQ(read.operators.size(), 2u);
  EXPECT_EQ(read.operators.at("ADD").delegate_ns, 40);
  EXPECT_EQ(read.operators.at("ADD").cpu_ns, 400);
  EXPECT_EQ(read.operators.at("SUB").delegate_ns, 0x1p50);
}

TEST(PlacementRates, damaged_files_are_refused_or_valid) {
  DelegateRates rates;
  AddRates(ProblemOf({100, 200, 300, 100}), CostsOf({10, 200, 30, 7}, 50), kOperators, &rates);
  const std::string bytes = WriteRates(rates);
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_TRUE(ReadRates({bytes.data(), size}).empty()) << size;
  }
  std::mt19937 random(3);
  int refused = 0;
  constexpr int kChanges = 100000;
  for (int i = 0; i < kChanges; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 1 + i % 3; ++k) {
      const size_t at = random() % changed.size();
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, 1 + random() % 16);
          break;
        default:
          changed.insert(at, std::string(1 + random() % 16, static_cast<char>(random())));
          break;
      }
    }
    const DelegateRates read = ReadRates(changed);
    refused += read.empty() ? 1 : 0;
    for (const auto& [name, times] : read.operators) {
      ASSERT_GT(times.cpu_ns, 0);
      ASSERT_GE(times.delegate_ns, 0);
      ASSERT_LE(times.delegate_ns, 0x1p50);
    }
  }
  EXPECT_GT(refused, kChanges / 2);
}

// ---- Plans --------------------------------------------------------------------------------------

// Returns convolutions of one element with an activation, which the plug-in `nchw` claims; it
// computes only some activations.
std::vector<uint8_t> Convolutions(int nodes, schema::ActivationFunctionType activation) {
  ModelBuilder m;
  int x = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 1}, "x");
  m.SetInputs({x});
  for (int i = 0; i < nodes; ++i) {
    const int filter = m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, 1}, {2});
    const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {1});
    const int y = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 1}, "y" + std::to_string(i));
    m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {y},
            schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 1, 1, activation));
    x = y;
  }
  m.SetOutputs({x});
  return m.Finish();
}

std::vector<uint8_t> Chain(int nodes) {
  ModelBuilder m;
  int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  m.SetInputs({x});
  for (int i = 0; i < nodes; ++i) {
    const int y = m.AddTensor(kTfLiteFloat32, {4}, "y" + std::to_string(i));
    m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y});
    x = y;
  }
  m.SetOutputs({x});
  return m.Finish();
}

// Makes plans with a clock that counts its own calls: a partition takes as long as a node, because
// both are timed once.
class RatesOfPlans : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = ScratchFile("placement_rates");
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  struct Result {
    std::vector<int> owners;
    DeputyPlacementAlternative chosen = {};
    DeputyPlacementStatus status = {};
  };

  // `ns_per_call` is the time between two calls of the clock.
  Result Plan(int nodes, int64_t ns_per_call, const std::vector<TfLiteDelegate*>& delegates) {
    return PlanFor(Chain(nodes), nodes, ns_per_call, delegates);
  }
  Result PlanFor(const std::vector<uint8_t>& bytes, int nodes, int64_t ns_per_call,
                 const std::vector<TfLiteDelegate*>& delegates) {
    Result result;
    TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
    TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
    for (TfLiteDelegate* const delegate : delegates) {
      TfLiteInterpreterOptionsAddDelegate(options,
                                          reinterpret_cast<TfLiteOpaqueDelegate*>(delegate));
    }
    struct Clock {
      int64_t now, step;
    } clock = {0, ns_per_call};
    DeputyPlacementSettings settings = {};
    settings.struct_size = sizeof settings;
    settings.budget_ms = 1;
    settings.cache_directory = folder_.c_str();
    settings.user_data = &clock;
    settings.clock = [](void* data) {
      auto* const ticking = static_cast<Clock*>(data);
      return ticking->now += ticking->step;
    };
    DeputyPlacementPlan* const plan = DeputyPlacementPlanCreate(model, options, &settings);
    EXPECT_NE(plan, nullptr) << DeputyLastError();
    for (int i = 0; i < nodes; ++i) result.owners.push_back(DeputyPlacementPlanGetOwner(plan, i));
    result.chosen.struct_size = sizeof result.chosen;
    result.status.struct_size = sizeof result.status;
    EXPECT_EQ(DeputyPlacementPlanGetAlternative(plan, 0, &result.chosen), kTfLiteOk);
    EXPECT_EQ(DeputyPlacementPlanGetStatus(plan, &result.status), kTfLiteOk);
    DeputyPlacementPlanDelete(plan);
    TfLiteInterpreterOptionsDelete(options);
    TfLiteModelDelete(model);
    return result;
  }

  static constexpr int64_t kNoTime = 1000000;  // the budget ends with the first measurement
  std::string folder_;
  const Handle delegate_ = External("described0");
};

TEST_F(RatesOfPlans, choose_a_delegate_that_is_not_measured) {
  EXPECT_EQ(Plan(8, kNoTime, {delegate_.get()}).owners, std::vector<int>(8, -1));
  std::filesystem::remove_all(folder_);
  // A partition of 8 nodes takes as long as one node.
  EXPECT_EQ(Plan(8, 1, {delegate_.get()}).owners, std::vector<int>(8, 0));
  const Result known = Plan(16, kNoTime, {delegate_.get()});
  EXPECT_EQ(known.owners, std::vector<int>(16, 0));
  EXPECT_EQ(known.status.measurements, 1) << "the CPU only";
  EXPECT_LT(known.chosen.measured_ns, 0);
  EXPECT_GT(known.chosen.estimated_ns, 0);
  // The choice is not stored: with time, the delegate is measured.
  const Result measured = Plan(16, 1, {delegate_.get()});
  EXPECT_EQ(measured.status.from_cache, 0);
  EXPECT_GT(measured.chosen.measured_ns, 0);
}

TEST_F(RatesOfPlans, do_not_choose_a_delegate_that_fails) {
  using schema::ActivationFunctionType;
  const Handle nchw = External("nchw");
  const auto plan = [&](int nodes, int64_t ns_per_call, ActivationFunctionType activation) {
    return PlanFor(Convolutions(nodes, activation), nodes, ns_per_call, {nchw.get()});
  };
  EXPECT_EQ(plan(60, 1, ActivationFunctionType::NONE).owners, std::vector<int>(60, 0));
  const Result right = plan(70, kNoTime, ActivationFunctionType::NONE);
  EXPECT_EQ(right.owners, std::vector<int>(70, 0));
  EXPECT_LT(right.chosen.measured_ns, 0);
  EXPECT_EQ(plan(70, kNoTime, ActivationFunctionType::TANH).owners, std::vector<int>(70, -1));
}

TEST_F(RatesOfPlans, belong_to_one_delegate_and_its_options) {
  EXPECT_EQ(Plan(8, 1, {delegate_.get()}).owners, std::vector<int>(8, 0));
  const Handle other = External("described0", {{"ops", "0"}});
  EXPECT_EQ(Plan(16, kNoTime, {other.get()}).owners, std::vector<int>(16, -1));
  // The second delegate has rates. It is measured first, and then the budget ends.
  const int64_t calls = Plan(17, kNoTime, {}).status.spent_ns / kNoTime;
  const Result both = Plan(17, kNoTime / (calls + 1), {other.get(), delegate_.get()});
  EXPECT_EQ(both.owners, std::vector<int>(17, 1));
  EXPECT_EQ(both.status.measurements, 2);
  EXPECT_GT(both.chosen.measured_ns, 0);
}

}  // namespace
}  // namespace deputy::placement_rates_test
