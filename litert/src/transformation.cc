// SPDX-License-Identifier: Apache-2.0
#include "litert/src/transformation.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/src/builder.h"
#include "litert/src/plugin_files.h"

namespace deputy::litert {
namespace {

struct Transformation {
  decltype(LiteRtTransformation::pattern) pattern = nullptr;
  std::string name;
  int benefit = 0;
};
using Transformations = std::vector<Transformation>;

constexpr int kMaxChanges = 100;  // per subgraph, as in LiteRT
constexpr LiteRtParamIndex kMaxTransformations = 65536;

// Stores the plug-in's transformations, those with the largest benefit first.
LiteRtStatus Register(const CompilerPlugin& plugin, Transformations* out_transformations) {
  constexpr const char* kFunction = "LiteRtCompilerPluginRegisterAllTransformations";
  LiteRtTransformation* list = nullptr;
  LiteRtParamIndex count = 0;
  LITERT_TRY(plugin.Call(kFunction, plugin.api().register_all_transformations, plugin.handle(),
                         &list, &count));
  std::vector<uint8_t> bytes;
  if (count > kMaxTransformations || !CopyReadable(list, count * sizeof(*list), &bytes)) {
    return plugin.Refuse(kLiteRtStatusInvalidTransformation,
                         std::string(kFunction) + " returned " + std::to_string(count) +
                             " transformations that cannot be read");
  }
  const CodeRanges code;
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    LiteRtTransformation from;
    std::memcpy(&from, bytes.data() + i * sizeof(from), sizeof(from));
    Transformation& to = out_transformations->emplace_back();
    to.pattern = from.pattern;
    to.benefit = from.benefit;
    const bool has_function = to.pattern != nullptr && code.Contains(to.pattern);
    if (!has_function || !CopyText(from.name, &to.name)) {
      return plugin.Refuse(kLiteRtStatusInvalidTransformation,
                           std::string(kFunction) + ": a transformation has no " +
                               (has_function ? "name" : "function"));
    }
  }
  std::stable_sort(out_transformations->begin(), out_transformations->end(),
                   [](const auto& a, const auto& b) { return a.benefit > b.benefit; });
  return kLiteRtStatusOk;
}

// Applies the first transformation that matches an operator of the subgraph. Returns false if none
// does.
bool ApplyOne(const CompilerPlugin& plugin, const Transformations& transformations,
              LiteRtModelT* model, LiteRtSubgraphT* subgraph) {
  for (const auto& op : subgraph->ops) {
    for (const Transformation& each : transformations) {
      LiteRtBuilderT builder(model, subgraph);
      const LiteRtStatus status =
          Guard([&] { return each.pattern(LrtGetCompilerContext(), &builder, op.get()); });
      if (status == kLiteRtStatusOk) {
        if (builder.Apply() == kLiteRtStatusOk) return true;
        Log(kLiteRtLogSeverityWarning, "compiler plug-in '%s': transformation '%s' is discarded",
            plugin.manufacturer().c_str(), each.name.c_str());
      } else if (status != kLiteRtStatusPatternNoMatch) {
        Log(kLiteRtLogSeverityWarning, "compiler plug-in '%s': transformation '%s' failed: %s",
            plugin.manufacturer().c_str(), each.name.c_str(), LiteRtGetStatusString(status));
      }
    }
  }
  return false;
}

}  // namespace

LiteRtStatus ApplyTransformations(const CompilerPlugin& plugin, LiteRtModelT* model) {
  Transformations transformations;
  LITERT_TRY(Register(plugin, &transformations));
  if (transformations.empty()) return kLiteRtStatusOk;
  for (const auto& subgraph : model->subgraphs) {
    int changes = 0;
    while (changes < kMaxChanges && ApplyOne(plugin, transformations, model, subgraph.get())) {
      ++changes;
    }
    if (changes == kMaxChanges) {
      Log(kLiteRtLogSeverityWarning,
          "compiler plug-in '%s': transformations of subgraph '%s' stop after %d changes",
          plugin.manufacturer().c_str(), subgraph->name.c_str(), changes);
    }
  }
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
