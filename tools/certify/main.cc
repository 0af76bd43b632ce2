// SPDX-License-Identifier: Apache-2.0
//
// deputy-certify: the implementation of `deputy certify`. It is a separate program because its
// operator cases take longer to compile than the whole command. The command checks the user's
// options and passes them on as --NAME=VALUE, one argument each:
//
//     deputy-certify --library=PATH [--option=KEY=VALUE]… [--model=FILE]… [--only=TEXT] [--jobs=N]
//                    [--timeout=SECONDS] [--max-slowdown=FACTOR] [--all] [--list]
//                    [--progress] [--json] [--html=FILE] [--junit=FILE] [--badge=FILE]
//
// Exit codes are the command's: 0 certified, 1 not certified, 2 invalid option or unreadable file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/certify/report.h"
#include "tools/certify/rows.h"
#include "tools/certify/watch.h"
#include "tools/text.h"

namespace deputy::certify {
namespace {

struct Words {
  Settings settings;
  bool all = false, list = false, json = false, progress = false;
  std::string html, junit, badge;
};

void ReadWord(const std::string& name, const std::string& value, Words* words) {
  Settings& settings = words->settings;
  if (name == "library") {
    settings.library = value;
  } else if (name == "option") {
    const size_t equals = value.find('=');
    if (equals == std::string::npos) tools::FailUsage("option %s has no value", value.c_str());
    settings.options.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  } else if (name == "model") {
    settings.models.push_back(value);
  } else if (name == "only") {
    settings.only = value;
  } else if (name == "jobs") {
    settings.jobs = std::atoi(value.c_str());
  } else if (name == "timeout") {
    settings.seconds = std::atoi(value.c_str());
  } else if (name == "max-slowdown") {
    settings.max_slowdown = std::atof(value.c_str());
  } else if (name == "all") {
    words->all = true;
  } else if (name == "list") {
    words->list = true;
  } else if (name == "progress") {
    words->progress = true;
  } else if (name == "json") {
    words->json = true;
  } else if (name == "html") {
    words->html = value;
  } else if (name == "junit") {
    words->junit = value;
  } else if (name == "badge") {
    words->badge = value;
  } else {
    tools::FailUsage("unknown option --%s: use 'deputy certify'", name.c_str());
  }
}

Words ReadWords(int argc, char** argv) {
  Words words;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) tools::FailUsage("expected --NAME=VALUE, found %s", argv[i]);
    const size_t equals = std::min(word.find('='), word.size());
    ReadWord(word.substr(2, equals - 2), equals < word.size() ? word.substr(equals + 1) : "",
             &words);
  }
  if (words.settings.library.empty()) tools::FailUsage("expected --library: use 'deputy certify'");
  return words;
}

void WriteFile(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) tools::FailUsage("%s cannot be written", path.c_str());
}

void RunRows(const Settings& settings, std::vector<Row>* rows, Watch* watch) {
  std::vector<Work> works;
  std::vector<Row*> worked;
  for (Row& row : *rows) {
    if (row.work.run == nullptr) {
      watch->Done(row);
      continue;
    }
    works.push_back(row.work);
    worked.push_back(&row);
  }
  RunAll(works, settings.jobs,
         {[&](size_t number, const std::string& note) { watch->Doing(worked[number]->name, note); },
          [&](size_t number, const Outcome& outcome) {
            worked[number]->outcome = outcome;
            watch->Done(*worked[number]);
          }});
}

int Certify(const Words& words) {
  StopOnSignals();
  Watch watch({!words.json, words.all, words.progress});
  std::vector<Row> rows = MakeRows(
      words.settings,
      [&watch](const std::string& name, const std::string& note) { watch.Doing(name, note); });
  watch.Wipe();
  if (words.list) {
    if (WasInterrupted()) tools::FailWork("interrupted");
    for (const Row& row : rows) std::printf("%s\n  %s\n", row.name.c_str(), row.expects.c_str());
    return 0;
  }
  if (rows.empty()) tools::FailUsage("no case name contains '%s'", words.settings.only.c_str());
  watch.Expect(rows.size());
  RunRows(words.settings, &rows, &watch);
  watch.Wipe();
  const tools::Json report = MakeReport(words.settings, rows);
  std::fputs((words.json ? JsonText(report, 2) + "\n" : ReportText(report)).c_str(), stdout);
  WriteFile(words.html, ReportHtml(report));
  WriteFile(words.junit, ReportJunit(report));
  WriteFile(words.badge, ReportBadge(report) + "\n");
  return IsCertified(report) ? 0 : tools::kExitFailed;
}

int Fail(int code, const char* text) {
  std::fprintf(stderr, "deputy: %s\n", tools::OneLine(text).c_str());
  return code;
}

}  // namespace
}  // namespace deputy::certify

int main(int argc, char** argv) {
  using deputy::certify::Fail;
  try {
    return deputy::certify::Certify(deputy::certify::ReadWords(argc, argv));
  } catch (const deputy::tools::ToolError& error) {
    return Fail(error.exit_code, error.what());
  } catch (const std::runtime_error& error) {
    return Fail(deputy::tools::kExitUsage, error.what());
  } catch (const std::exception& error) {
    return Fail(deputy::tools::kExitFailed, error.what());
  }
}
