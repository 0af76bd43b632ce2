// SPDX-License-Identifier: Apache-2.0
#include "core/base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "core/base/error.h"

namespace deputy {
namespace {

constexpr std::string_view kPrefix = "DEPUTY_";

// Names of the variables that Deputy and its delegates read, without the prefix.
constexpr const char* kKnown[] = {
    "ARITHMETIC",
    "CLBLAST_LIBRARY",
    "CPU",
    "DELEGATE_POLICY",
    "LIBRARY",
    "GPU_FAULTS",
    "ISOLATE",
    "LAYERS",
    "LOG",
    "NNAPI_LIBRARY",
    "NPU",
    "NPU_FAULTS",
    "ONNXRUNTIME_LIBRARY",
    "OPENCL_DEVICE",
    "OPENCL_LIBRARY",
    "PLAN",
    "PLUGIN_PATH",
    "PLUGIN_PROBE",
    "PRECISION",
    "VALIDATION",
    "XNNPACK",
};

// Returns the number of letters to change, add or remove to make the texts equal.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t changed = corner + (a[i] == b[k] ? 0 : 1);
      corner = row[k + 1];
      row[k + 1] = std::min({changed, corner + 1, row[k] + 1});
    }
  }
  return row.back();
}

}  // namespace

// Accepts up to a third of wrong letters: VALIDATE is recognized as VALIDATION.
std::string LikelyVariable(const std::string& name) {
  constexpr size_t kMaxLength = 64;
  if (!name.starts_with(kPrefix) || name.size() > kMaxLength) return "";
  const std::string_view name_part = std::string_view(name).substr(kPrefix.size());
  std::string likely;
  size_t minimum = kMaxLength;
  for (const std::string_view known : kKnown) {
    const size_t distance = EditDistance(name_part, known);
    if (distance == 0) return "";
    if (3 * distance > known.size() || distance >= minimum) continue;
    minimum = distance;
    likely = std::string(kPrefix) + std::string(known);
  }
  return likely;
}

void ReportMisspeltVariables() {
  static std::atomic_flag reported;
  if (environ == nullptr || reported.test_and_set()) return;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kPrefix)) continue;
    const std::string name(text.substr(0, text.find('=')));
    const std::string likely = LikelyVariable(name);
    if (likely.empty()) continue;
    ReportWarning("unknown variable %s; did you mean %s?", name.c_str(), likely.c_str());
  }
}

std::string EnvironmentChoice(const char* name, const std::vector<std::string>& allowed) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return "";
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return value;
  std::string expected;
  for (size_t i = 0; i < allowed.size(); ++i) {
    const bool last = i > 0 && i + 1 == allowed.size();
    expected += (i == 0 ? "" : last ? " or " : ", ") + allowed[i];
  }
  ReportWarning("%s: expected %s, found '%s'; it is ignored", name, expected.c_str(), value);
  return "";
}

}  // namespace deputy
