// SPDX-License-Identifier: Apache-2.0
//
// Runs the operator cases on the delegate of a library and prints the reasons that it reports for
// nodes left to the CPU. As a test, it shows that the conformance kit works in a program that links
// libdeputy.so and uses only the public API.
//
//   conformance_client PLUGIN [KEY=VALUE]…
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "tests/conformance/check.h"
#include "tests/conformance/plugin_target.h"

namespace {

using namespace deputy::conformance;

std::string AnyReason(const NodeLeft& node) {
  return node.delegate_reason.empty() ? "unknown" : node.delegate_reason;
}

PluginOptions ReadOptions(int argc, char** argv) {
  PluginOptions options;
  for (int i = 2; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals != nullptr)
      options.emplace_back(std::string(argv[i], static_cast<size_t>(equals - argv[i])), equals + 1);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const Target target = PluginTarget("plug-in", argv[1], ReadOptions(argc, argv), AnyReason);
  Target cpu;
  cpu.name = kReferenceTarget;
  CaseChecker checker(deputy::AllCases(), {{kReferenceTarget, cpu}});
  std::map<Kind, int> counts;
  for (size_t i = 0; i < checker.cases().size(); ++i) {
    const Verdict verdict = checker.Check(i, target, kDeputyArithmeticDefault);
    ++counts[verdict.kind];
    if (verdict.kind == Kind::kDiffers) std::printf("%s\n", verdict.message.c_str());
  }
  std::printf("%d cases ran in the delegate, %d were left to the CPU, %d differ\n",
              counts[Kind::kAgrees], counts[Kind::kLeft], counts[Kind::kDiffers]);
  return counts[Kind::kAgrees] > 0 && counts[Kind::kDiffers] == 0 ? 0 : 1;
}
