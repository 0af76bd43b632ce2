// SPDX-License-Identifier: Apache-2.0
//
// Tests placement plans with simulated devices: the operators of the model and the kernels of the
// delegates advance the clock by which the plan measures, so that the times of all assignments are
// known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy_placement.h"
#include "c_api/src/placement_file.h"
#include "c_api/src/placement_objects.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::placement_plan_test {
namespace {

using testing::HasSubstr;

constexpr int kOnCpu = -1;

// A delegate with a cost for each node in nanoseconds; negative: it cannot run the node.
struct Device {
  std::vector<int64_t> node_ns;
  int64_t launch_ns = 0;
  int64_t copy_ns = 0;  // time of a copy of outputs to the CPU; 0: they are on the CPU
};

// A chain of custom nodes y = x + 1, and two devices.
class Simulation {
 public:
  Simulation(std::vector<int64_t> cpu_ns, std::vector<Device> devices)
      : cpu_ns_(std::move(cpu_ns)), devices_(std::move(devices)), step_("Step") {
    ModelBuilder m;
    int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
    m.SetInputs({x});
    for (size_t i = 0; i < cpu_ns_.size(); ++i) {
      const int y = m.AddTensor(kTfLiteFloat32, {4}, "y" + std::to_string(i));
      m.AddCustomOp("Step", {x}, {y});
      x = y;
    }
    m.SetOutputs({x});
    bytes_ = m.Finish();
    model_ = TfLiteModelCreate(bytes_.data(), bytes_.size());
    step_.prepare = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
    step_.invoke = [this](TfLiteContext* context, TfLiteNode* node) {
      // The output of node i is tensor i + 1.
      now_ += cpu_ns_[static_cast<size_t>(node->outputs->data[0]) - 1];
      return AddTo(context, node, 1);
    };
    options_ = TfLiteInterpreterOptionsCreate();
    step_.Configure()(options_);
    for (Device& device : devices_) {
      std::vector<int> nodes;
      for (size_t i = 0; i < device.node_ns.size(); ++i) {
        if (device.node_ns[i] >= 0) nodes.push_back(static_cast<int>(i));
      }
      auto delegate = std::make_unique<ProgrammedDelegate>(ClaimingBody(nodes));
      delegate->invoke = [this, &device](TfLiteContext* context, TfLiteNode* node) {
        const auto* params = static_cast<const TfLiteDelegateParams*>(node->builtin_data);
        const std::vector<int> taken = ToVector(params->nodes_to_replace);
        now_ += device.launch_ns;
        for (const int each : taken) now_ += device.node_ns[static_cast<size_t>(each)];
        ++device_runs_[static_cast<size_t>(&device - devices_.data())];
        if (device.copy_ns > 0) {
          TfLiteTensor& output = context->tensors[node->outputs->data[0]];
          output.buffer_handle = 1;
          output.data_is_stale = true;
        }
        return AddTo(context, node, static_cast<float>(taken.size()));
      };
      copying_ = this;
      delegate->base.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle,
                                               TfLiteTensor*) {
        copying_->now_ += copying_->devices_[0].copy_ns;
        return kTfLiteOk;
      };
      TfLiteInterpreterOptionsAddDelegate(options_,
                                          reinterpret_cast<TfLiteOpaqueDelegate*>(&delegate->base));
      delegates_.push_back(std::move(delegate));
    }
    device_runs_.assign(devices_.size(), 0);
    settings_.struct_size = sizeof settings_;
    settings_.user_data = this;
    settings_.clock = [](void* self) { return static_cast<Simulation*>(self)->now_; };
  }
  ~Simulation() {
    DeputyPlacementPlanDelete(plan_);
    TfLiteInterpreterOptionsDelete(options_);
    TfLiteModelDelete(model_);
  }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  DeputyPlacementSettings& settings() { return settings_; }
  TfLiteInterpreterOptions* options() { return options_; }
  ProgrammedDelegate& delegate(size_t d) { return *delegates_[d]; }
  int runs_of_device(size_t d) const { return device_runs_[d]; }
  TfLiteModel* model() { return model_; }

  DeputyPlacementPlan* Plan() {
    DeputyPlacementPlanDelete(plan_);
    plan_ = DeputyPlacementPlanCreate(model_, options_, &settings_);
    return plan_;
  }
  const DeputyPlacementPlan* Current() const { return plan_; }
  std::vector<int> Owners() const {
    std::vector<int> owners;
    for (size_t i = 0; i < cpu_ns_.size(); ++i) {
      owners.push_back(DeputyPlacementPlanGetOwner(plan_, static_cast<int32_t>(i)));
    }
    return owners;
  }
  DeputyPlacementAlternative Alternative(size_t index) const {
    DeputyPlacementAlternative alternative{};
    alternative.struct_size = sizeof alternative;
    EXPECT_EQ(DeputyPlacementPlanGetAlternative(plan_, index, &alternative), kTfLiteOk);
    return alternative;
  }
  DeputyPlacementStatus Status() const {
    DeputyPlacementStatus status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyPlacementPlanGetStatus(plan_, &status), kTfLiteOk);
    return status;
  }
  // Returns the time of an inference: nodes, and a launch where a device follows another owner.
  int64_t TrueNs(const std::vector<int>& owners) const {
    int64_t ns = 0;
    for (size_t i = 0; i < owners.size(); ++i) {
      if (owners[i] == kOnCpu) {
        ns += cpu_ns_[i];
        continue;
      }
      const Device& device = devices_[static_cast<size_t>(owners[i])];
      if (device.node_ns[i] < 0) return INT64_MAX;
      ns += device.node_ns[i];
      if (i == 0 || owners[i - 1] != owners[i]) ns += device.launch_ns;
    }
    return ns;
  }
  // Returns the time if one owner runs all nodes that it can run, and the CPU the others.
  int64_t AloneNs(int owner) const {
    std::vector<int> owners(cpu_ns_.size(), kOnCpu);
    for (size_t i = 0; owner != kOnCpu && i < owners.size(); ++i) {
      if (devices_[static_cast<size_t>(owner)].node_ns[i] >= 0) owners[i] = owner;
    }
    return TrueNs(owners);
  }
  int64_t BestNs() const {
    const int delegates = static_cast<int>(devices_.size());
    std::vector<int> owners(cpu_ns_.size(), kOnCpu);
    int64_t best = TrueNs(owners);
    for (size_t i = 0; i < owners.size();) {
      if (++owners[i] < delegates) {
        best = std::min(best, TrueNs(owners));
        i = 0;
      } else {
        owners[i++] = kOnCpu;
      }
    }
    return best;
  }

 private:
  static TfLiteStatus AddTo(TfLiteContext* context, TfLiteNode* node, float value) {
    const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
    TfLiteTensor& y = context->tensors[node->outputs->data[0]];
    for (int i = 0; i < 4; ++i) y.data.f[i] = x.data.f[i] + value;
    return kTfLiteOk;
  }

  const std::vector<int64_t> cpu_ns_;
  std::vector<Device> devices_;
  ProgrammedOperator step_;
  std::vector<uint8_t> bytes_;
  TfLiteModel* model_ = nullptr;
  TfLiteInterpreterOptions* options_ = nullptr;
  std::vector<std::unique_ptr<ProgrammedDelegate>> delegates_;
  std::vector<int> device_runs_;
  DeputyPlacementSettings settings_{};
  DeputyPlacementPlan* plan_ = nullptr;
  int64_t now_ = 0;
  static inline Simulation* copying_ = nullptr;  // the simulation whose first device copies
};

constexpr int64_t kMs = 1000000;

// The first device is fast at nodes 0 to 2, the second one at nodes 5 and 6.
struct TwoDevices : Simulation {
  TwoDevices()
      : Simulation({1000, 1000, 1000, 1000, 1000, 1000, 1000},
                   {{{100, 100, 100, 3000, -1, 2500, 2500}, 300},
                    {{-1, 900, 900, 2000, 2000, 50, 50}, 400}}) {}
};

TEST(PlacementPlan, combines_delegates_by_measured_times) {
  TwoDevices simulation;
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, 0, 0, -1, -1, 1, 1}));
  const DeputyPlacementAlternative chosen = simulation.Alternative(0);
  EXPECT_STREQ(chosen.name, "combination");
  EXPECT_EQ(chosen.measured_ns, 300 + 300 + 2000 + 400 + 100);
  EXPECT_EQ(chosen.predicted_ns, chosen.measured_ns);
  EXPECT_EQ(chosen.estimated_ns, 0);
  EXPECT_EQ(chosen.partition_count, 2);
  EXPECT_EQ(chosen.delegated_count, 5);
  EXPECT_GT(simulation.Status().measurements, 4);
  EXPECT_GT(simulation.Status().spent_ns, 7000 * 6);
  EXPECT_EQ(simulation.Status().from_cache, 0);
}

TEST(PlacementPlan, lists_what_it_considered_by_time) {
  TwoDevices simulation;
  ASSERT_NE(simulation.Plan(), nullptr);
  std::vector<std::string> names;
  double before = 0;
  for (size_t i = 0; i < DeputyPlacementPlanGetAlternativeCount(simulation.Current()); ++i) {
    const DeputyPlacementAlternative each = simulation.Alternative(i);
    names.emplace_back(each.name);
    EXPECT_GE(each.measured_ns, before);
    before = each.measured_ns;
    if (names.back() == "CPU") {
      EXPECT_EQ(each.measured_ns, 7000);
      EXPECT_EQ(each.delegated_count, 0);
    }
    if (names.back() == "delegate 0") {
      EXPECT_EQ(each.measured_ns, 300 + 3300 + 1000 + 300 + 5000);
    }
    if (names.back() == "delegate 1") {
      EXPECT_EQ(each.measured_ns, 1000 + 400 + 5900);
    }
  }
  for (const char* name : {"CPU", "delegate 0", "delegate 1", "in order", "combination"}) {
    EXPECT_EQ(std::count(names.begin(), names.end(), name) > 0, true) << name;
  }
}

TEST(PlacementPlan, nodes_run_where_it_places_them) {
  TwoDevices simulation;
  const DeputyPlacementPlan* const plan = simulation.Plan();
  ASSERT_EQ(DeputyInterpreterOptionsSetPlacementPlan(simulation.options(), plan), kTfLiteOk);
  TfLiteInterpreter* const interpreter =
      TfLiteInterpreterCreate(simulation.model(), simulation.options());
  ASSERT_NE(interpreter, nullptr);
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
  const int before[] = {simulation.runs_of_device(0), simulation.runs_of_device(1)};
  const float x[] = {1, 2, 3, 4};
  float y[4];
  TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x, sizeof x);
  ASSERT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
  TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), y, sizeof y);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{8, 9, 10, 11}));
  EXPECT_EQ(simulation.runs_of_device(0) - before[0], 1);
  EXPECT_EQ(simulation.runs_of_device(1) - before[1], 1);
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(interpreter, 0), 2);
  TfLiteInterpreterDelete(interpreter);
  // The options have placements now.
  EXPECT_EQ(DeputyInterpreterOptionsSetPlacementPlan(simulation.options(), plan), kTfLiteError);
  EXPECT_EQ(DeputyPlacementPlanCreate(simulation.model(), simulation.options(), nullptr), nullptr);
}

TEST(PlacementPlan, copies_count_as_costs_of_the_delegate) {
  Simulation simulation({1000, 1000, 1000}, {{{100, 100, -1}, 0, 5000}});
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_STREQ(simulation.Alternative(0).name, "CPU");
  for (size_t i = 1; i < DeputyPlacementPlanGetAlternativeCount(simulation.Current()); ++i) {
    const DeputyPlacementAlternative alone = simulation.Alternative(i);
    if (std::string(alone.name) != "delegate 0") continue;
    EXPECT_EQ(alone.measured_ns, 100 + 100 + 5000 + 1000);
    EXPECT_EQ(alone.predicted_ns, alone.measured_ns);
    EXPECT_EQ(alone.estimated_ns, 0);
  }
}

TEST(PlacementPlan, unused_delegates_are_not_applied) {
  Simulation simulation({100, 100}, {{{500, 500}, 0}, {{10, 10}, 10}});
  const DeputyPlacementPlan* const plan = simulation.Plan();
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{1, 1}));
  ASSERT_EQ(DeputyInterpreterOptionsSetPlacementPlan(simulation.options(), plan), kTfLiteOk);
  TfLiteInterpreter* const interpreter =
      TfLiteInterpreterCreate(simulation.model(), simulation.options());
  EXPECT_EQ(DeputyInterpreterGetDelegateCount(interpreter), 1);
  TfLiteInterpreterDelete(interpreter);
}

TEST(PlacementPlan, random_devices_are_within_five_percent_of_the_best_assignment) {
  std::mt19937 random(7);
  const auto below = [&random](int limit) { return static_cast<int64_t>(random() % limit); };
  for (int round = 0; round < 12; ++round) {
    std::vector<int64_t> cpu;
    std::vector<Device> devices(2);
    const int nodes = 6 + static_cast<int>(below(3));
    for (Device& device : devices) device.launch_ns = below(1500);
    for (int i = 0; i < nodes; ++i) {
      cpu.push_back(200 + below(2000));
      for (Device& device : devices) {
        device.node_ns.push_back(below(6) == 0 ? -1 : 50 + below(2500));
      }
    }
    Simulation simulation(std::move(cpu), std::move(devices));
    ASSERT_NE(simulation.Plan(), nullptr);
    const auto chosen = static_cast<double>(simulation.TrueNs(simulation.Owners()));
    EXPECT_EQ(simulation.Alternative(0).measured_ns, chosen) << round;
    EXPECT_LE(chosen, 1.05 * static_cast<double>(simulation.BestNs())) << round;
    for (int owner = kOnCpu; owner < 2; ++owner) {
      EXPECT_LE(chosen, simulation.AloneNs(owner)) << round;
    }
  }
}

TEST(PlacementPlan, measures_the_cpu_only_if_the_budget_ends_with_it) {
  Simulation simulation({kMs, kMs}, {{{1, 1}, 0}});
  simulation.settings().budget_ms = 12;  // six inferences of two nodes
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Status().measurements, 1);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{-1, -1}));
  simulation.settings().budget_ms = 13;
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, 0}));
  // With three inferences the delegate is measured within the budget.
  simulation.settings().budget_ms = 12;
  simulation.settings().runs = 2;
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, 0}));
}

TEST(PlacementPlan, known_partitions_are_combined_after_the_budget) {
  Simulation simulation({kMs, kMs, kMs}, {{{1, -1, -1}, 0}, {{-1, -1, 1}, 0}});
  simulation.settings().budget_ms = 31;  // the second delegate begins after 30 ms
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Status().measurements, 3);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, -1, 1}));
  EXPECT_LT(simulation.Alternative(0).measured_ns, 0);
  EXPECT_EQ(simulation.Alternative(0).predicted_ns, kMs + 2);
  EXPECT_EQ(simulation.Alternative(0).estimated_ns, 0);
}

TEST(PlacementPlan, small_gains_are_not_chosen_without_a_measurement) {
  constexpr int64_t kSlightlyLess = kMs * 97 / 100;
  Simulation simulation({kMs, kMs, kMs},
                        {{{kSlightlyLess, -1, -1}, 0}, {{-1, -1, kSlightlyLess}, 0}});
  simulation.settings().budget_ms = 36;  // ends with the measurement of the second delegate
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Status().measurements, 3);
  EXPECT_STREQ(simulation.Alternative(0).name, "delegate 0");
  EXPECT_STREQ(simulation.Alternative(3).name, "combination");
  EXPECT_EQ(simulation.Alternative(3).predicted_ns, kMs + 2 * kSlightlyLess);
}

TEST(PlacementPlan, estimates_are_not_chosen) {
  // Without the first node the first delegate would have a partition that was not measured.
  Simulation simulation({kMs, kMs, 4 * kMs}, {{{kMs, kMs, kMs}, 0}, {{1000, -1, -1}, 0}});
  simulation.settings().budget_ms = 55;  // the second delegate begins after 54 ms
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Status().measurements, 3);
  EXPECT_STREQ(simulation.Alternative(0).name, "delegate 0");
  const size_t count = DeputyPlacementPlanGetAlternativeCount(simulation.Current());
  const DeputyPlacementAlternative last = simulation.Alternative(count - 1);
  EXPECT_STREQ(last.name, "combination");
  EXPECT_LT(last.measured_ns, 0);
  EXPECT_LT(last.predicted_ns, simulation.Alternative(0).predicted_ns);
  EXPECT_GT(last.estimated_ns, last.predicted_ns / 2);
}

TEST(PlacementPlan, delegates_that_fail_are_not_used) {
  for (const bool in_kernel : {false, true}) {
    Simulation simulation({100, 100}, {{{1, 1}, 0}, {{10, 10}, 10}});
    if (in_kernel) {
      simulation.delegate(0).invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
    } else {
      simulation.delegate(0).body = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteError; };
    }
    // Under Hot the CPU would compute the nodes of the failing delegate.
    DeputyInterpreterOptionsSetDelegatePolicy(simulation.options(), kDeputyPolicyHot);
    ASSERT_NE(simulation.Plan(), nullptr);
    EXPECT_EQ(simulation.Owners(), (std::vector<int>{1, 1}));
    for (size_t i = 0; i < DeputyPlacementPlanGetAlternativeCount(simulation.Current()); ++i) {
      EXPECT_STRNE(simulation.Alternative(i).name, "delegate 0");
    }
  }
}

TEST(PlacementPlan, clocks_may_stand_still_go_back_and_overflow) {
  static int64_t step, now;
  for (const int64_t each : {int64_t{0}, int64_t{-1000}, INT64_MAX / 3}) {
    Simulation simulation(std::vector<int64_t>(20, 100),
                          {{std::vector<int64_t>(20, 10), 10}, {std::vector<int64_t>(20, 5), 50}});
    step = each;
    now = 0;
    simulation.settings().clock = [](void*) {
      now = static_cast<int64_t>(static_cast<uint64_t>(now) + static_cast<uint64_t>(step));
      return now;
    };
    ASSERT_NE(simulation.Plan(), nullptr);
    for (const int owner : simulation.Owners()) EXPECT_TRUE(owner >= -1 && owner < 2);
  }
}

TEST(PlacementPlan, a_delegate_that_is_null_is_not_used) {
  Simulation simulation({100, 100}, {{{10, 10}, 10}});
  TfLiteInterpreterOptionsAddDelegate(simulation.options(), nullptr);
  simulation.settings().cache_directory = "/nonexistent";
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, 0}));
}

TEST(PlacementPlan, delegates_may_claim_nodes_of_earlier_ones) {
  Simulation simulation({100, 100, 100}, {{{10, 10, -1}, 10}, {{50, 50, 50}, 10}});
  simulation.delegate(1).body = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    return ClaimNodes(context, delegate, PlanOf(context));
  };
  // Its kernel computes the nodes of the plan, of which one may be the other delegate's.
  simulation.delegate(1).invoke = [](TfLiteContext* context, TfLiteNode* node) {
    context->tensors[node->outputs->data[0]].data.f[0] = 0;
    return kTfLiteOk;
  };
  ASSERT_NE(simulation.Plan(), nullptr);
  for (const int owner : simulation.Owners()) EXPECT_TRUE(owner >= -1 && owner < 2);
}

TEST(PlacementPlan, delegates_may_claim_other_nodes_each_time) {
  Simulation simulation(std::vector<int64_t>(8, 100), {{std::vector<int64_t>(8, 10), 10}});
  int call = 0;
  simulation.delegate(0).body = [&call](TfLiteContext* context, TfLiteDelegate* delegate) {
    ++call;
    return ClaimNodes(context, delegate, {call % 8, (call + 3) % 8});
  };
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_GE(call, 3);
  for (const int owner : simulation.Owners()) EXPECT_TRUE(owner == -1 || owner == 0);
}

TEST(PlacementPlan, the_client_prepares_interpreters) {
  Simulation simulation({100, 100}, {{{10, 10}, 10}});
  simulation.settings().prepare = [](void* self, TfLiteInterpreter* interpreter) {
    EXPECT_NE(self, nullptr);
    return TfLiteInterpreterAllocateTensors(interpreter);
  };
  ASSERT_NE(simulation.Plan(), nullptr);
  EXPECT_EQ(simulation.Owners(), (std::vector<int>{0, 0}));
  simulation.settings().prepare = [](void*, TfLiteInterpreter*) { return kTfLiteError; };
  EXPECT_EQ(simulation.Plan(), nullptr);
}

TEST(PlacementPlan, wrong_arguments_are_refused) {
  Simulation simulation({100}, {{{10}, 0}});
  EXPECT_EQ(DeputyPlacementPlanCreate(nullptr, simulation.options(), nullptr), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected a model and options, found NULL"));
  EXPECT_EQ(DeputyPlacementPlanCreate(simulation.model(), nullptr, nullptr), nullptr);
  for (const int wrong : {0, 1, 2}) {
    DeputyPlacementSettings settings = simulation.settings();
    if (wrong == 0) settings.struct_size = 8;
    if (wrong == 1) settings.budget_ms = -1;
    if (wrong == 2) settings.runs = -1;
    EXPECT_EQ(DeputyPlacementPlanCreate(simulation.model(), simulation.options(), &settings),
              nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr("expected settings"));
  }
  const DeputyPlacementPlan* const plan = simulation.Plan();
  EXPECT_EQ(DeputyPlacementPlanGetOwner(plan, -1), -2);
  EXPECT_EQ(DeputyPlacementPlanGetOwner(plan, 1), -2);
  EXPECT_EQ(DeputyPlacementPlanGetOwner(nullptr, 0), -2);
  EXPECT_EQ(DeputyPlacementPlanGetAlternativeCount(nullptr), 0u);
  DeputyPlacementAlternative alternative{};
  EXPECT_EQ(DeputyPlacementPlanGetAlternative(plan, 0, &alternative), kTfLiteError);
  alternative.struct_size = sizeof alternative;
  EXPECT_EQ(DeputyPlacementPlanGetAlternative(plan, 99, &alternative), kTfLiteError);
  EXPECT_EQ(DeputyPlacementPlanGetStatus(plan, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPlacementPlan(nullptr, plan), kTfLiteError);
  TfLiteInterpreterOptions* const others = TfLiteInterpreterOptionsCreate();
  EXPECT_EQ(DeputyInterpreterOptionsSetPlacementPlan(others, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPlacementPlan(others, plan), kTfLiteError);
  TfLiteInterpreterOptionsDelete(others);
  DeputyPlacementPlanDelete(nullptr);
}

// ---- Files --------------------------------------------------------------------------------------

TEST(PlacementPlan, is_the_same_after_writing_and_reading) {
  TwoDevices simulation;
  const DeputyPlacementPlan& plan = *simulation.Plan();
  DeputyPlacementPlan read;
  read.delegates = plan.delegates;
  const std::string bytes = WritePlan(plan);
  EXPECT_FALSE(ReadPlan(bytes, 8, &read));
  EXPECT_FALSE(ReadPlan(bytes + '\0', 7, &read));
  ASSERT_TRUE(ReadPlan(bytes, 7, &read));
  EXPECT_EQ(read.owners, plan.owners);
  ASSERT_EQ(read.alternatives.size(), plan.alternatives.size());
  for (size_t i = 0; i < read.alternatives.size(); ++i) {
    EXPECT_EQ(read.alternatives[i].name, plan.alternatives[i].name);
    EXPECT_EQ(read.alternatives[i].measured_ns, plan.alternatives[i].measured_ns);
    EXPECT_EQ(read.alternatives[i].delegated, plan.alternatives[i].delegated);
  }
  EXPECT_EQ(read.status.from_cache, 1);
}

TEST(PlacementPlan, damaged_files_are_refused_or_valid) {
  TwoDevices simulation;
  const DeputyPlacementPlan& plan = *simulation.Plan();
  const std::string bytes = WritePlan(plan);
  for (size_t size = 0; size < bytes.size(); ++size) {
    DeputyPlacementPlan read;
    read.delegates = plan.delegates;
    ASSERT_FALSE(ReadPlan({bytes.data(), size}, 7, &read)) << size;
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
    DeputyPlacementPlan read;
    read.delegates = plan.delegates;
    if (!ReadPlan(changed, 7, &read)) {
      ++refused;
      ASSERT_TRUE(read.owners.empty());
      continue;
    }
    ASSERT_EQ(read.owners.size(), 7u);
    for (const int owner : read.owners) ASSERT_TRUE(owner >= -1 && owner < 2);
    ASSERT_FALSE(read.alternatives.empty());
  }
  EXPECT_GT(refused, kChanges / 2);
}

}  // namespace
}  // namespace deputy::placement_plan_test
