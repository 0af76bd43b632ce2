// SPDX-License-Identifier: Apache-2.0
#include "delegate_facts.h"

#include <string>
#include <utility>

#include "delegate_option.h"
#include "deputy/deputy.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr const char* kIndent = "           ";

const char* StateName(int state) {
  switch (state) {
    case kDeputyOptionGiven:
      return "given";
    case kDeputyOptionIgnored:
      return "ignored";
    default:
      return "default";
  }
}

Json Milliseconds(int64_t nanoseconds) {
  return nanoseconds < 0 ? Json() : Json(static_cast<double>(nanoseconds) / 1e6);
}

// Converts a text to JSON: an empty text stands for an unknown value and becomes null.
Json TextOrNull(const char* text) { return *text == '\0' ? Json() : Json(text); }

// Appends an option. Settings of the command that a delegate does not declare are not shown.
void AddOption(void* options, const DeputyOptionUse* use) {
  const bool is_conditional = use->name[0] == kIfDeclared;
  if (is_conditional && use->state == kDeputyOptionIgnored) return;
  static_cast<Json*>(options)->push_back({{"name", use->name + (is_conditional ? 1 : 0)},
                                          {"value", use->value},
                                          {"state", StateName(use->state)},
                                          {"text", use->text}});
}

std::string CostsText(const Json& facts) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const char* name : {"device", "precision"}) {
    if (facts[name].is_string()) add(std::string(name) + " " + facts[name].get<std::string>());
  }
  for (const auto& [name, key] : {std::pair("compile ", "compile_ms"), {"tune ", "tune_ms"}}) {
    const Json& ms = facts[key];
    if (ms.is_number()) add(name + MillisecondsText(ms, ms));
  }
  const Json& cache = facts["cache"];
  if (cache.is_object()) {
    add("cache " + PluralText(cache["hits"], "hit", "hits") + ", " +
        PluralText(cache["misses"], "miss", "misses"));
  }
  return text;
}

std::string OptionsText(const Json& facts, const char* state) {
  std::string text;
  for (const Json& option : facts["options"]) {
    if (option["state"] != state) continue;
    text += (text.empty() ? "" : ", ") + option["name"].get<std::string>() + "=" +
            option["value"].get<std::string>();
    const auto remark = option["text"].get<std::string>();
    if (!remark.empty()) text += " (" + remark + ")";
  }
  return text;
}

}  // namespace

Json DelegateFacts(TfLiteDelegate* delegate, const DelegateSettings& ignored) {
  const QuietReports quiet;
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  Json options = Json::array();
  if (DeputyPluginReportDelegate(delegate, &report, &AddOption, &options) != kTfLiteOk) return {};
  for (const auto& [name, value] : ignored) {
    options.push_back({{"name", name},
                       {"value", value},
                       {"state", StateName(kDeputyOptionIgnored)},
                       {"text", "unknown to the delegate"}});
  }
  Json facts = {{"device", TextOrNull(report.device)},
                {"precision", TextOrNull(report.precision)},
                {"compile_ms", Milliseconds(report.compile_ns)},
                {"tune_ms", Milliseconds(report.tune_ns)},
                {"cache", nullptr},
                {"options", options}};
  if (report.cache_hits >= 0) {
    facts["cache"] = {{"hits", report.cache_hits}, {"misses", report.cache_misses}};
  }
  return facts;
}

void PrintDelegateFacts(const Json& facts) {
  if (facts.is_null()) return;
  const std::string costs = CostsText(facts);
  if (!costs.empty()) PrintWrapped(kIndent, costs);
  for (const char* state : {"given", "ignored", "default"}) {
    const std::string options = OptionsText(facts, state);
    if (!options.empty()) PrintWrapped(std::string(kIndent) + state + ": ", options);
  }
}

}  // namespace deputy::tools
