// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/tune.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "compiler/dump.h"
#include "compiler/lifetimes.h"
#include "compiler/work.h"
#include "gpu_cl/cost.h"
#include "gpu_cl/emit/common_epilogue.h"
#include "gpu_cl/emit/emit.h"
#include "gpu_cl/emit/make_plan.h"

namespace deputy::gpu_cl {
namespace {

using compiler::Graph;
using compiler::Operation;
using compiler::Value;
using compiler::ValueId;
using std::chrono::steady_clock;

// ---- One operation ------------------------------------------------------------------------------

// A graph of a single operation. A common epilogue is removed: vectorised kernels are the same with
// and without it, so layers that differ only in it are measured once.
class SingleOperation {
 public:
  SingleOperation(const Graph& from, int operation) : from_(from) {
    const Operation& original = from.operations[static_cast<size_t>(operation)];
    Operation copy = original;
    if (FindCommonEpilogue(from, original)) {
      copy.epilogue = {};
      copy.epilogue_inputs.clear();
    }
    for (std::vector<ValueId>* ids : {&copy.inputs, &copy.epilogue_inputs}) {
      for (ValueId& id : *ids) id = Take(id, true);
    }
    for (ValueId& id : copy.outputs) {
      id = Take(id, false);
      graph.outputs.push_back(id);
    }
    copy.node = 0;
    graph.operations.push_back(std::move(copy));
  }

  Graph graph;

 private:
  ValueId Take(ValueId id, bool is_input) {
    if (id == compiler::kNoValue) return id;
    const auto [entry, is_new] = taken_.emplace(id, static_cast<ValueId>(graph.values.size()));
    if (!is_new) return entry->second;
    Value value = from_.value(id);
    value.name.clear();
    value.tensor = -1;
    if (is_input && !value.constant()) graph.inputs.push_back(entry->second);
    graph.values.push_back(std::move(value));
    return entry->second;
  }

  const Graph& from_;
  std::map<ValueId, ValueId> taken_;
};

// Returns the graph as text, with the batch size of images rounded up.
std::string ShapeText(Graph single) {
  for (Value& value : single.values) {
    if (value.shape.size() != 4 || value.constant() || value.shape[0] < 1) continue;
    value.shape[0] = static_cast<int>(
        std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(value.shape[0])), 1u << 30));
  }
  return compiler::ToText(single);
}

bool IsProduct(const Operation& operation) {
  return std::holds_alternative<compiler::Conv2d>(operation.kind) ||
         std::holds_alternative<compiler::MatMul>(operation.kind);
}

// Work-items of a group that shares a filter through local memory: two waves of a GPU, or one.
constexpr int kSharingItems = 64;

// Returns work-group sizes for GPUs, within the device's limits.
std::vector<KernelChoice> GroupChoices(const DeviceProfile& profile) {
  constexpr std::array<size_t, 3> kGroups[] = {{8, 8, 1},  {16, 4, 1},  {64, 1, 1}, {1, 64, 1},
                                               {32, 1, 1}, {128, 1, 1}, {16, 16, 1}};
  std::vector<KernelChoice> choices;
  for (const auto& group : kGroups) {
    bool fits = group[0] * group[1] * group[2] <= profile.max_group_size;
    for (size_t d = 0; d < group.size(); ++d) fits = fits && group[d] <= profile.max_item_sizes[d];
    if (fits) choices.push_back({.local = group});
  }
  return choices;
}

Plan PlanOf(const Graph& single, PlanOptions options, const KernelChoice& choice) {
  options.choices = {{0, choice}};
  return MakePlan(single, compiler::FindLifetimes(single).storage, options);
}

// ---- Measuring ----------------------------------------------------------------------------------

// Returns the minimum time of several runs; infinite if the variant cannot be run.
double TimeOf(const std::shared_ptr<SharedContext>& context, const Graph& single,
              const ExecutorOptions& options) {
  constexpr int kMinRuns = 3, kMaxRuns = 30;
  constexpr double kEnoughNs = 30e6;
  ClStatus status;
  const auto executor = Executor::Create(context, single, options, &status);
  if (executor == nullptr) return HUGE_VAL;
  size_t max_bytes = 0;
  for (ValueId id : single.inputs) max_bytes = std::max(max_bytes, single.value(id).bytes());
  // The inputs are zeros, because NaN in uninitialised memory might take a different time.
  const std::vector<std::byte> zeros(max_bytes);
  const std::vector<InputLocation> inputs(single.inputs.size(),
                                          InputLocation{zeros.data(), nullptr});
  const std::vector<OutputLocation> outputs(single.outputs.size());
  if (!executor->Run(inputs, outputs).ok()) return HUGE_VAL;
  double min_ns = HUGE_VAL, all = 0;
  for (int run = 0; run < kMaxRuns && (run < kMinRuns || all < kEnoughNs); ++run) {
    double ns = 0;
    if (!executor->TimeSteps(&ns).ok()) return HUGE_VAL;
    min_ns = std::min(min_ns, ns);
    all += ns;
  }
  return min_ns;
}

// ---- All of them --------------------------------------------------------------------------------

std::chrono::milliseconds BudgetOf(const TuningOptions& options) {
  if (options.budget.count() > 0) return options.budget;
  return std::chrono::milliseconds(options.level == Tuning::kFull ? 60'000 : 200);
}

PlanOptions OptionsFor(const DeviceProfile& profile, const ExecutorOptions& executor) {
  PlanOptions options = PlanOptionsFor(profile, executor.device_class);
  options.storage = executor.storage;
  options.images = profile.image_limits;
  return options;
}

class Tuner {
 public:
  Tuner(const std::shared_ptr<SharedContext>& context, const ExecutorOptions& executor,
        const TuningOptions& options)
      : context_(context),
        executor_(executor),
        options_(options),
        profile_(context->device().profile),
        plan_options_(OptionsFor(profile_, executor)),
        end_(steady_clock::now() + BudgetOf(options)) {
    executor_.cache = nullptr;
    executor_.queue = nullptr;
    executor_.profiling = false;
    executor_.use_fallbacks = false;  // variants that fail are not chosen
  }

  // Returns the fastest variant, which may be the default. Once the budget is exhausted, returns
  // the fastest variant measured so far, the default if there is none.
  KernelChoice Find(const Graph& adapted, int operation) {
    const SingleOperation single(adapted, operation);
    const std::vector<KernelChoice> variants =
        VariantsOf(single.graph, 0, plan_options_, profile_, executor_.clblast != nullptr);
    const std::string text = ShapeText(single.graph);
    if (const auto known = FindResult(text, variants)) return *known;
    const std::lock_guard lock(context_->measuring_mutex());
    // Another instance of the model may have measured it meanwhile.
    if (const auto known = FindResult(text, variants)) return *known;
    return Measure(single.graph, variants, text);
  }

 private:
  Digest Key(const std::string& text, Tuning level) const {
    ProgramIdentity identity = DeviceIdentity(profile_);
    identity.source = "tuning 2, " + std::string(ClassName(executor_.device_class)) + ", " +
                      std::to_string(static_cast<int>(level)) + ", " +
                      std::to_string(plan_options_.vector_width) + ", " +
                      std::to_string(plan_options_.items) + ", " +
                      std::to_string(static_cast<int>(executor_.storage)) + ", " +
                      (executor_.optimize ? "" : "not ") + "optimised" +
                      (executor_.clblast == nullptr ? "\n" : ", CLBlast\n") + text;
    return ProgramKey(identity);
  }

  // Returns an earlier result of this or another process; ignores one that is not a variant of the
  // operation.
  std::optional<KernelChoice> FindResult(const std::string& text,
                                         const std::vector<KernelChoice>& variants) {
    for (const Tuning level : {Tuning::kFull, options_.level}) {
      const Digest key = Key(text, level);
      std::string record = context_->FindTuning(Hex(key));
      if (record.empty() && options_.cache != nullptr) {
        std::string problem;  // ignored: a damaged file is a miss
        if (const auto cached = options_.cache->Load(key, &problem)) record = cached->binary;
      }
      KernelChoice choice;
      if (!ParseChoice(record, &choice)) continue;
      if (choice != KernelChoice() &&
          std::find(variants.begin(), variants.end(), choice) == variants.end()) {
        continue;
      }
      context_->KeepTuning(Hex(key), record);
      return choice;
    }
    return std::nullopt;
  }

  // Measures the variants, with level kFast the first three. The result is stored only if all of
  // these were measured.
  KernelChoice Measure(const Graph& single, const std::vector<KernelChoice>& variants,
                       const std::string& text) {
    // Maximum time relative to the best variant so far; smaller gains do not justify another
    // kernel.
    constexpr double kFaster = 0.9;
    constexpr size_t kFewVariants = 3;
    KernelChoice best;
    double min_ns = HUGE_VAL;
    std::vector<Plan> tried;
    std::vector<KernelChoice> all = {best};
    all.insert(all.end(), variants.begin(), variants.end());
    for (const KernelChoice& variant : all) {
      if (options_.level == Tuning::kFast && tried.size() >= kFewVariants) break;
      if (context_->lost() || steady_clock::now() >= end_) return best;
      Plan plan = PlanOf(single, plan_options_, variant);
      if (std::find(tried.begin(), tried.end(), plan) != tried.end()) continue;
      executor_.choices = {{0, variant}};
      const double ns = TimeOf(context_, single, executor_);
      if (tried.empty() && !std::isfinite(ns)) return best;
      if (tried.empty() || ns < kFaster * min_ns) {
        best = variant;
        min_ns = ns;
      }
      tried.push_back(std::move(plan));
    }
    const std::string record = ChoiceText(best);
    const Digest key = Key(text, options_.level);
    context_->KeepTuning(Hex(key), record);
    // A result that cannot be stored is measured again later.
    if (options_.cache != nullptr) (void)options_.cache->Store(key, record, "");
    return best;
  }

  const std::shared_ptr<SharedContext>& context_;
  ExecutorOptions executor_;
  const TuningOptions& options_;
  const DeviceProfile& profile_;
  const PlanOptions plan_options_;
  const steady_clock::time_point end_;
};

// Returns the operations with the largest estimated times, in decreasing order.
std::vector<int> MostExpensiveOperations(const Graph& graph, const CostModel& model, Tuning level) {
  constexpr size_t kFewOperations = 5;
  constexpr double kMinShare = 0.01;
  std::vector<double> ns;
  for (const Operation& operation : graph.operations) {
    ns.push_back(TimeNs(model.device, compiler::WorkOf(graph, operation)));
  }
  const double all = std::accumulate(ns.begin(), ns.end(), 0.0);
  std::vector<int> order(ns.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return ns[static_cast<size_t>(a)] > ns[static_cast<size_t>(b)];
  });
  std::erase_if(order, [&](int i) {
    return level == Tuning::kFull && ns[static_cast<size_t>(i)] < kMinShare * all;
  });
  if (level == Tuning::kFast && order.size() > kFewOperations) order.resize(kFewOperations);
  return order;
}

}  // namespace

Tuning TuningLevel(const Options& options) {
  switch (options.preference) {
    case Preference::kSustainedSpeed:
      return Tuning::kFull;
    case Preference::kBalanced:
      return std::max(options.tuning, Tuning::kFast);
    default:
      return options.tuning;
  }
}

std::vector<KernelChoice> VariantsOf(const Graph& graph, int operation, const PlanOptions& options,
                                     const DeviceProfile& profile, bool has_clblast) {
  const Operation& of = graph.operations[static_cast<size_t>(operation)];
  std::vector<KernelChoice> variants;
  const std::vector<KernelChoice> groups =
      options.ranges ? std::vector<KernelChoice>() : GroupChoices(profile);
  variants.insert(variants.end(), groups.begin(), groups.end());
  if (IsProduct(of)) {
    const bool shares = !options.ranges && options.storage == Storage::kBuffer &&
                        profile.local_memory_is_dedicated &&
                        profile.max_group_size >= kSharingItems &&
                        profile.max_item_sizes[1] >= kSharingItems;
    for (const KernelChoice& tile : TileChoices(options)) {
      variants.push_back(tile);
      if (shares) {
        variants.push_back(tile);
        variants.back().sharing = kSharingItems;
      }
      for (KernelChoice both : groups) {
        both.rows = tile.rows;
        both.vectors = tile.vectors;
        variants.push_back(both);
      }
    }
  }
  // CLBlast comes first because it is worth trying if only few variants are tried.
  if (has_clblast && IsInClblastDatabase(profile) && FindClblastProduct(graph, of)) {
    variants.insert(variants.begin(), KernelChoice{.clblast = true});
  }
  return variants;
}

std::map<int, KernelChoice> Tune(const std::shared_ptr<SharedContext>& context,
                                 const Graph& adapted, const ExecutorOptions& executor,
                                 const TuningOptions& options) {
  std::map<int, KernelChoice> choices;
  if (options.level == Tuning::kNone) return choices;
  const CostModel model =
      CostModelOf(context->device().profile, executor.device_class, /*threads=*/1);
  Tuner tuner(context, executor, options);
  for (const int operation : MostExpensiveOperations(adapted, model, options.level)) {
    const KernelChoice choice = tuner.Find(adapted, operation);
    if (choice != KernelChoice()) choices[operation] = choice;
  }
  if (context->lost()) choices.clear();
  return choices;
}

std::string ChoiceText(const KernelChoice& choice) {
  char text[128];
  std::snprintf(text, sizeof text, "tile %dx%d group %zux%zux%zu sharing %d clblast %d",
                choice.rows, choice.vectors, choice.local[0], choice.local[1], choice.local[2],
                choice.sharing, choice.clblast ? 1 : 0);
  return text;
}

bool ParseChoice(const std::string& text, KernelChoice* out_choice) {
  KernelChoice choice;
  int clblast = 0;
  const int fields = std::sscanf(text.c_str(), "tile %dx%d group %zux%zux%zu sharing %d clblast %d",
                                 &choice.rows, &choice.vectors, &choice.local[0], &choice.local[1],
                                 &choice.local[2], &choice.sharing, &clblast);
  choice.clblast = clblast != 0;
  // The text must be in canonical form, so nothing may precede, separate or follow the numbers.
  if (fields != 7 || ChoiceText(choice) != text) return false;
  *out_choice = choice;
  return true;
}

}  // namespace deputy::gpu_cl
