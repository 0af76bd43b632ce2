// SPDX-License-Identifier: Apache-2.0
//
// `deputy certify`: executes deputy-certify from the directory of the command. That program
// contains the conformance kit with thousands of operator cases and takes minutes to compile; a
// separate program keeps the build of the command short.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "commands.h"
#include "delegate_option.h"
#include "text.h"

namespace deputy::tools {
namespace {

std::string BesideTheCommand(const char* name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / name).string();
}

}  // namespace

void CertifyLibrary(const CertifyOptions& options) {
  const DelegateOption delegate = ParseDelegateOption(options.library);
  const std::string why_not = WhyNotBuilt(delegate.library);
  if (!why_not.empty()) FailUsage("certify: %s", why_not.c_str());
  const std::string program = BesideTheCommand("deputy-certify");
  std::error_code error;
  if (!std::filesystem::exists(program, error)) {
    FailUsage("certify: %s does not exist: build the target deputy-certify (`make`)",
              program.c_str());
  }
  std::vector<std::string> words = {program, "--library=" + LibraryPath(delegate.library)};
  for (const auto& [key, value] : delegate.options) {
    words.push_back("--option=" + key + "=" + value);
  }
  for (const std::string& model : options.models) words.push_back("--model=" + model);
  const auto add = [&words](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string("--") + name + "=" + value);
  };
  add("only", options.only);
  add("jobs", std::to_string(options.jobs));
  add("timeout", std::to_string(options.timeout));
  add("max-slowdown", std::to_string(options.max_slowdown));
  add("html", options.html);
  add("junit", options.junit);
  add("badge", options.badge);
  if (options.all) words.emplace_back("--all");
  if (options.list) words.emplace_back("--list");
  if (options.progress) words.emplace_back("--progress");
  if (options.json) words.emplace_back("--json");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  FailWork("certify: %s cannot be run: %s", program.c_str(), std::strerror(errno));
}

}  // namespace deputy::tools
