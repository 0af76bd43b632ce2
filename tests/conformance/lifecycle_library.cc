// SPDX-License-Identifier: Apache-2.0
//
// Life cycle cases that need the library only: creation and deletion of delegates, valid and
// invalid options.
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "c_api/include/deputy_plugin.h"
#include "tests/conformance/lifecycle.h"

namespace deputy::conformance {
namespace {

using Kind = Judgement::Kind;

const Judgement kFine = {};

Judgement Loads(CaseContext* context) {
  std::string error;
  Demand(context->library().Load(&error) != nullptr, error);
  const DeputyPluginInfo info = context->library().Describe();
  std::string text = info.name;
  for (const char* more : {info.version, info.vendor}) {
    if (more != nullptr && more[0] != '\0') text.append(", ").append(more);
  }
  return {Kind::kPasses, text};
}

Judgement Creates(CaseContext* context) {
  const auto first = context->CreateDelegate();
  const auto second = context->CreateDelegate();
  Demand(first.get() != second.get(), "it returns the same delegate twice");
  return kFine;
}

Judgement CreatesWithoutOptions(CaseContext* context) {
  std::string error;
  if (context->library().Create({}, &error) != nullptr) return kFine;
  Demand(!error.empty(), "without options it returns no delegate, and reports no reason");
  return {Kind::kRemark, "without options it returns no delegate: " + error};
}

Judgement AcceptsItsDefaults(CaseContext* context) {
  const DeputyPluginInfo info = context->library().Describe();
  PluginOptions options = context->library().options();
  int defaults = 0;
  for (size_t i = 0; i < info.option_count; ++i) {
    const DeputyPluginOption& option = info.options[i];
    const bool is_text = option.type == kDeputyOptionString;
    if (option.default_value == nullptr || (is_text && option.default_value[0] == '\0')) continue;
    options.emplace_back(option.name, option.default_value);
    ++defaults;
  }
  if (defaults == 0) return {Kind::kSkipped, "it declares no option with a default"};
  std::string error;
  Demand(context->library().Create(options, &error) != nullptr,
         "it refuses the defaults that it declares: " + error);
  return {Kind::kPasses, std::to_string(defaults) + " options"};
}

// Creates a delegate with one option. The library must return a delegate or an error message, and
// must not crash.
Judgement AcceptsOrRefuses(CaseContext* context, const std::string& key, const std::string& value,
                           const char* ignored) {
  if (context->library().Describe().kind == kDeputyPluginStable) {
    return {Kind::kSkipped, "a stable delegate has no options"};
  }
  PluginOptions options = context->library().options();
  options.emplace_back(key, value);
  std::string error;
  if (context->library().Create(options, &error) != nullptr) return {Kind::kRemark, ignored};
  Demand(!error.empty(), "it returns no delegate, and reports no reason");
  return {Kind::kPasses, error};
}

Judgement RefusesUnknownOptions(CaseContext* context) {
  return AcceptsOrRefuses(context, "no_such_option", "1", "it ignores unknown options");
}

Judgement RefusesEmptyKeys(CaseContext* context) {
  return AcceptsOrRefuses(context, "", "", "it ignores an option without a name");
}

Judgement RefusesLongValues(CaseContext* context) {
  return AcceptsOrRefuses(context, "no_such_option", std::string(100000, '%'),
                          "it ignores unknown options");
}

Judgement RefusesWrongValues(CaseContext* context) {
  const DeputyPluginInfo info = context->library().Describe();
  int tried = 0;
  for (size_t i = 0; i < info.option_count; ++i) {
    if (info.options[i].type == kDeputyOptionString) continue;
    PluginOptions options = context->library().options();
    options.emplace_back(info.options[i].name, "not a number");
    std::string error;
    context->Note(std::string("option ") + info.options[i].name);
    Demand(context->library().Create(options, &error) == nullptr,
           std::string("it accepts text for the number ") + info.options[i].name);
    ++tried;
  }
  if (tried == 0) return {Kind::kSkipped, "it declares no numeric option"};
  return {Kind::kPasses, std::to_string(tried) + " options"};
}

Judgement CreatesOnThreads(CaseContext* context) {
  std::string error;
  Demand(context->library().Load(&error) != nullptr, error);
  std::vector<std::thread> threads;
  std::vector<std::string> problems(4);
  threads.reserve(problems.size());
  for (std::string& problem : problems) {
    threads.emplace_back([context, &problem] {
      for (int i = 0; i < 5; ++i) context->library().Create(&problem);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) Demand(problem.empty(), problem);
  return kFine;
}

Judgement CreatesWithoutGrowth(CaseContext* context) {
  const auto kept = context->CreateDelegate();
  DemandNoGrowth(context, 20, "a delegate", [context] { context->CreateDelegate(); });
  return kFine;
}

// State of the process that a plug-in must not change.
struct ProcessState {
  std::string folder, locale;
  int rounding = 0;
  std::vector<void (*)(int)> handlers;
  bool operator==(const ProcessState&) const = default;
};

ProcessState ReadProcessState() {
  ProcessState state;
  std::error_code error;
  state.folder = std::filesystem::current_path(error).string();
  state.locale = std::setlocale(LC_ALL, nullptr);
  state.rounding = std::fegetround();
  for (const int number : {SIGSEGV, SIGINT, SIGTERM, SIGPIPE, SIGABRT, SIGFPE, SIGCHLD}) {
    struct sigaction action = {};
    sigaction(number, nullptr, &action);
    state.handlers.push_back(action.sa_handler);
  }
  return state;
}

Judgement LeavesTheProcessUnchanged(CaseContext* context) {
  const ProcessState before = ReadProcessState();
  context->CreateDelegate();
  const ProcessState after = ReadProcessState();
  Demand(after.folder == before.folder, "it changes the working folder");
  Demand(after.locale == before.locale, "it changes the locale");
  Demand(after.rounding == before.rounding, "it changes the rounding mode of floats");
  if (after.handlers != before.handlers) return {Kind::kRemark, "it installs signal handlers"};
  return kFine;
}

}  // namespace

const std::vector<LifecycleCase>& LibraryCases() {
  static const std::vector<LifecycleCase> kCases = {
      {"loads", "The file is a delegate's library and can be loaded.", Loads},
      {"creates", "It creates two delegates.", Creates},
      {"no-options", "It creates a delegate without options.", CreatesWithoutOptions},
      {"defaults", "It accepts the defaults that it declares.", AcceptsItsDefaults},
      {"unknown-option", "An option that does not exist is refused with a reason.",
       RefusesUnknownOptions},
      {"empty-option", "An option without a name is refused.", RefusesEmptyKeys},
      {"long-option", "A value of 100000 characters is refused.", RefusesLongValues},
      {"wrong-values", "Text as the value of a numeric option is refused.", RefusesWrongValues},
      {"create-threads", "Four threads create delegates at the same time.", CreatesOnThreads},
      {"growth-delegates", "100 delegates leak no resources.", CreatesWithoutGrowth},
      {"process", "Working folder, locale, rounding mode and signal handlers are unchanged.",
       LeavesTheProcessUnchanged},
  };
  return kCases;
}

}  // namespace deputy::conformance
