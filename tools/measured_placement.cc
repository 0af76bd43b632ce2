// SPDX-License-Identifier: Apache-2.0
#include "measured_placement.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "deputy/deputy.h"
#include "deputy/deputy_placement.h"
#include "text.h"

namespace deputy::tools {
namespace {

using Plan = std::unique_ptr<DeputyPlacementPlan, void (*)(DeputyPlacementPlan*)>;
using Settings = std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)>;

Plan MakePlan(const TfLiteModel* model, const std::vector<TfLiteDelegate*>& delegates,
              const PlaceOptions& options, const TfLiteInterpreterOptions* settings) {
  const Settings copy(TfLiteInterpreterOptionsCopy(settings), &TfLiteInterpreterOptionsDelete);
  for (TfLiteDelegate* const delegate : delegates) {
    TfLiteInterpreterOptionsAddDelegate(copy.get(),
                                        reinterpret_cast<TfLiteOpaqueDelegate*>(delegate));
  }
  DeputyPlacementSettings placement = {};
  placement.struct_size = sizeof placement;
  placement.budget_ms = options.budget_ms;
  if (!options.directory.empty()) placement.cache_directory = options.directory.c_str();
  return {DeputyPlacementPlanCreate(model, copy.get(), &placement), &DeputyPlacementPlanDelete};
}

Json AlternativesOf(const DeputyPlacementPlan* plan) {
  Json alternatives = Json::array();
  for (size_t i = 0; i < DeputyPlacementPlanGetAlternativeCount(plan); ++i) {
    DeputyPlacementAlternative each = {};
    each.struct_size = sizeof each;
    DeputyPlacementPlanGetAlternative(plan, i, &each);
    alternatives.push_back({{"name", each.name},
                            {"nodes", each.delegated_count},
                            {"partitions", each.partition_count},
                            {"predicted_ns", each.predicted_ns},
                            {"estimated_ns", each.estimated_ns},
                            {"measured_ns", each.measured_ns}});
  }
  return alternatives;
}

std::string Milliseconds(double ns) { return Format("%.3f ms", ns / 1e6); }

std::string TimesOf(const Json& alternative) {
  std::string text = alternative["name"].get<std::string>() + ": ";
  const double measured_ns = alternative["measured_ns"];
  if (measured_ns >= 0) text += Milliseconds(measured_ns) + " measured, ";
  return text + Milliseconds(alternative["predicted_ns"]) + " predicted";
}

}  // namespace

Json PlaceByTimes(const TfLiteModel* model, const std::vector<TfLiteDelegate*>& delegates,
                  const PlaceOptions& options, TfLiteInterpreterOptions* settings) {
  std::vector<TfLiteDelegate*> available;
  std::copy_if(delegates.begin(), delegates.end(), std::back_inserter(available),
               [](const TfLiteDelegate* delegate) { return delegate != nullptr; });
  const Plan plan = MakePlan(model, available, options, settings);
  if (plan == nullptr) return nullptr;
  std::vector<bool> used(delegates.size(), false);
  for (int32_t node = 0; DeputyPlacementPlanGetOwner(plan.get(), node) != -2; ++node) {
    const int32_t owner = DeputyPlacementPlanGetOwner(plan.get(), node);
    DeputyPlacement placement = {};
    placement.struct_size = sizeof placement;
    placement.selector = kDeputySelectIndex;
    placement.node_index = node;
    if (owner >= 0) {
      placement.delegate = available[static_cast<size_t>(owner)];
      const auto at = std::find(delegates.begin(), delegates.end(), placement.delegate);
      used[static_cast<size_t>(at - delegates.begin())] = true;
    }
    DeputyInterpreterOptionsAddPlacement(settings, &placement);
  }
  DeputyPlacementStatus status = {};
  status.struct_size = sizeof status;
  DeputyPlacementPlanGetStatus(plan.get(), &status);
  return {{"used", used},
          {"alternatives", AlternativesOf(plan.get())},
          {"measurements", status.measurements},
          {"spent_ns", status.spent_ns},
          {"from_cache", status.from_cache != 0}};
}

void PrintPlacement(const Json& placement) {
  if (placement.is_null()) return;
  const Json& alternatives = placement["alternatives"];
  const Json& chosen = alternatives.front();
  PrintWrapped("placement  ", TimesOf(chosen) + "; " +
                                  PluralText(chosen["nodes"], "delegated node", "delegated nodes") +
                                  " in " +
                                  PluralText(chosen["partitions"], "partition", "partitions"));
  for (size_t i = 1; i < std::min<size_t>(alternatives.size(), 5); ++i) {
    PrintWrapped("           ", TimesOf(alternatives[i]));
  }
  if (placement["from_cache"]) {
    PrintWrapped("           ", "read from a file");
  } else {
    PrintWrapped("           ",
                 PluralText(placement["measurements"], "measurement", "measurements") + " in " +
                     Milliseconds(placement["spent_ns"]));
  }
}

}  // namespace deputy::tools
