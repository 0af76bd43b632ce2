// SPDX-License-Identifier: Apache-2.0
//
// The `deputy` command: options in, one of the subcommands, exit code out. Whatever goes wrong is
// exactly one line on standard error: 1 means that the model was refused or the work failed, 2 a
// bad option or an unreadable file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

#include "commands.h"
#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "text.h"

namespace {

using deputy::tools::kExitFailed;
using deputy::tools::kExitUsage;

// CLI11's own layout, with less around each option: no type suffixes, no "REQUIRED", no "...", and
// of several spellings only ours.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional) return option->get_name(true, false);
    std::string text;
    for (const std::string& name : option->get_snames())
      text += (text.empty() ? "-" : ", -") + name;
    for (const std::string& name : option->get_lnames()) {
      if (name.find('_') == std::string::npos) text += (text.empty() ? "--" : ", --") + name;
    }
    return text;
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    return make_option_name(option, true);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty()) {
      text += " " + option->get_type_name();
    }
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    return text;
  }
};

int Fail(int code, const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "deputy: %s\n", deputy::tools::OneLine(text).c_str());
  return code;
}

int Run(int argc, char** argv) {
  CLI::App app("Runs, measures and shows TensorFlow Lite models.", "deputy");
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(28);
  app.formatter(formatter);
  app.set_help_flag("-h,--help", "This text; also after a subcommand");
  app.set_version_flag(
      "--version",
      [] { return std::string("deputy ") + DeputyVersion() + " (TFLite " + TfLiteVersion() + ")"; },
      "Versions of Deputy and of the TFLite API");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 model refused or work failed, 2 bad option or\n"
      "unreadable file. 'deputy run --help' and so on tell the rest.");
  deputy::tools::AddRunCommand(&app);
  deputy::tools::AddBenchCommand(&app);
  deputy::tools::AddInspectCommand(&app);
  deputy::tools::AddExplainCommand(&app);
  deputy::tools::AddPluginsCommand(&app);
  deputy::tools::AddDevicesCommand(&app);
  deputy::tools::AddOpsCommand(&app);
  // CLI11 would only say that one is required.
  const std::string word = argc > 1 ? argv[1] : "-";
  const auto is_word = [&](const CLI::App* command) { return command->check_name(word); };
  if (word[0] != '-' && app.get_subcommands(is_word).empty()) {
    return Fail(kExitUsage, "no subcommand '" + word + "' (see 'deputy --help')");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    app.exit(asked);  // --help or --version
  } catch (const CLI::ParseError& error) {
    return Fail(kExitUsage, std::string(error.what()) + " (see 'deputy --help')");
  } catch (const deputy::tools::ToolError& error) {
    return Fail(error.exit_code, error.what());
  } catch (const std::bad_alloc&) {
    return Fail(kExitFailed, "out of memory");
  } catch (const std::exception& error) {
    return Fail(kExitFailed, error.what());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Fail(kExitFailed, "cannot write to standard output");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return Run(argc, argv); }
