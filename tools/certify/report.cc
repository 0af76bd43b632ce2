// SPDX-License-Identifier: Apache-2.0
#include "tools/certify/report.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "deputy/deputy.h"
#include "tools/escape.h"
#include "tools/text.h"

namespace deputy::certify {
namespace {

using tools::Escape;
using tools::Format;
using tools::Json;

// Colours of the page for light and dark screens. Words break only if they are wider than a column.
constexpr const char* kStyle = R"(:root { color-scheme: light dark; --paper: #fff; --ink: #1a1a1a;
  --rule: #d5d5d5; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ink: #e8e8e8; --rule: #3a3e46; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; background: var(--paper);
  color: var(--ink); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } td, th { padding: .15rem .6rem; text-align: left;
  border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: break-word; }
td:nth-child(3) { min-width: 9rem; } td:nth-child(4) { min-width: 14rem; overflow-wrap: anywhere; }
b { color: #fff; padding: .05rem .4rem; border-radius: .2rem; font-weight: 600;
  white-space: nowrap; }
)";

constexpr const char* kColours[] = {"#2e7d32", "#b26a00", "#777777", "#c62828"};

// Returns the colour of a verdict or a status.
const char* ColourOf(const std::string& word) {
  if (word == "pass" || word == "certified") return kColours[0];
  if (word == "remark" || word == "certified, but slow") return kColours[1];
  if (word == "skipped" || word == "not run") return kColours[2];
  return kColours[3];
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsSlow(const Row& row) {
  return row.group == "speed" && row.outcome.status == Status::kRemark;
}

// Returns the measured factor of the first speed row that did not fail: "0.84 times the CPU's
// time".
std::string SpeedText(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.group != "speed" || IsBad(row.outcome.status)) continue;
    const size_t begin = row.outcome.text.find_first_of("0123456789");
    const size_t end = row.outcome.text.find(" (");
    if (begin != std::string::npos && end != std::string::npos) {
      return ", " + row.outcome.text.substr(begin, end - begin);
    }
  }
  return "";
}

// Returns the value of DEPUTY_ISOLATE; "" if delegates run in the process that loads them.
std::string Isolation() {
  const char* const value = std::getenv("DEPUTY_ISOLATE");
  const std::string text = value == nullptr ? "" : value;
  if (text == "1") return "device";
  return text == "0" ? "" : text;
}

}  // namespace

Json MakeRow(const Row& row) {
  return {{"name", row.name},         {"group", row.group},
          {"expects", row.expects},   {"status", Name(row.outcome.status)},
          {"text", row.outcome.text}, {"seconds", row.outcome.seconds}};
}

Json MakeReport(const Settings& settings, const std::vector<Row>& rows) {
  std::map<std::string, int> by_status;
  std::vector<std::string> operators;
  Json list = Json::array();
  int bad = 0, done = 0, not_run = 0;
  bool is_slow = false;
  for (const Row& row : rows) {
    const Outcome& outcome = row.outcome;
    ++by_status[Name(outcome.status)];
    bad += IsBad(outcome.status) ? 1 : 0;
    not_run += outcome.status == Status::kNotRun ? 1 : 0;
    done += outcome.status != Status::kSkipped && outcome.status != Status::kNotRun ? 1 : 0;
    is_slow = is_slow || IsSlow(row);
    if (row.group == "operators" && !IsBad(outcome.status) && CountsOf(outcome).claimed > 0) {
      operators.push_back(row.name.substr(row.name.find('/') + 1));
    }
    list.push_back(MakeRow(row));
  }
  Json counts = Json::object();
  for (const auto& [status, count] : by_status) counts[status] = count;
  Json options = Json::object();
  for (const auto& [key, value] : settings.options) options[key] = value;
  const std::string verdict = bad > 0 || not_run > 0 || done == 0 ? "not certified"
                              : is_slow                           ? "certified, but slow"
                                                                  : "certified";
  const std::string interrupted =
      not_run > 0 ? Format(", interrupted: %d cases not run", not_run) : "";
  const std::string isolation = Isolation();
  const std::string isolated = isolation.empty() ? "" : ", isolated (" + isolation + ")";
  const std::string summary = Format("%s: %d of %d cases, %zu operators", verdict.c_str(),
                                     done - bad, done, operators.size()) +
                              SpeedText(rows) + isolated + interrupted;
  return {{"library", settings.library},
          {"options", options},
          {"isolation", isolation},
          {"deputy", DeputyVersion()},
          {"verdict", verdict},
          {"summary", summary},
          {"counts", counts},
          {"rows", list},
          {"operators", operators}};
}

bool IsCertified(const Json& report) {
  return report["verdict"].get<std::string>() != "not certified";
}

std::string RowText(const Json& row) {
  const std::string status = row["status"].get<std::string>();
  const std::string more = tools::OneLine(row["text"].get<std::string>());
  return Format("%-8s %s", status.c_str(), tools::OneLine(row["name"]).c_str()) +
         (more.empty() ? "\n" : "\n         " + more + "\n");
}

std::string ReportText(const Json& report) {
  std::string operators;
  for (const Json& name : report["operators"]) {
    operators += (operators.empty() ? "" : ", ") + name.get<std::string>();
  }
  return "operators: " + (operators.empty() ? "none" : operators) + "\n" +
         BaseName(report["library"]) + ": " + report["summary"].get<std::string>() + "\n";
}

// Returns the name of a case as HTML that may break after slashes and underscores.
static std::string BreakableName(const Json& name) {
  std::string html;
  for (const char c : Escape(name)) {
    html += c;
    if (c == '/' || c == '_') html += "<wbr>";
  }
  return html;
}

std::string ReportHtml(const Json& report) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>" +
      Escape(BaseName(report["library"])) + ": " + Escape(report["verdict"]) + "</title>\n<style>" +
      kStyle + "</style></head>\n<body>\n<h1>" + Escape(BaseName(report["library"])) +
      "</h1>\n<p>" + ReportBadge(report) + "</p>\n<p>" + Escape(report["library"]) + ", Deputy " +
      Escape(report["deputy"]) + "</p>\n<div class=\"wide\"><table>\n" +
      "<tr><th>case</th><th></th><th>expected</th><th>result</th><th>s</th></tr>\n";
  for (const Json& row : report["rows"]) {
    page += "<tr><td>" + BreakableName(row["name"]) +
            "</td><td><b style=\"background: " + ColourOf(row["status"].get<std::string>()) +
            "\">" + Escape(row["status"]) + "</b></td><td>" + Escape(row["expects"]) + "</td><td>" +
            Escape(row["text"]) + "</td><td>" + Format("%.1f", row["seconds"].get<double>()) +
            "</td></tr>\n";
  }
  return page + "</table></div>\n</body></html>\n";
}

std::string ReportJunit(const Json& report) {
  int failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (const Json& row : report["rows"]) {
    const std::string status = row["status"].get<std::string>();
    cases += "  <testcase classname=\"" + Escape(row["group"]) + "\" name=\"" +
             Escape(row["name"]) + "\" time=\"" + Format("%.3f", row["seconds"].get<double>()) +
             "\"";
    const std::string text = Escape(row["text"]);
    if (status == "fail") {
      ++failures;
      cases += "><failure message=\"" + text + "\"/></testcase>\n";
    } else if (status == "crash" || status == "timeout" || status == "not run") {
      ++errors;
      cases += "><error type=\"" + status + "\" message=\"" + text + "\"/></testcase>\n";
    } else if (status == "skipped") {
      ++skipped;
      cases += "><skipped message=\"" + text + "\"/></testcase>\n";
    } else {
      cases += text.empty() ? "/>\n" : "><system-out>" + text + "</system-out></testcase>\n";
    }
  }
  return Format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"%s\" tests=\"%zu\" "
             "failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
             Escape(BaseName(report["library"])).c_str(), report["rows"].size(), failures, errors,
             skipped) +
         cases + "</testsuite>\n";
}

std::string ReportBadge(const Json& report) {
  const std::string left = "Deputy", right = report["summary"].get<std::string>();
  const auto width = [](const std::string& text) { return 12 + 7 * static_cast<int>(text.size()); };
  const int at = width(left), whole = at + width(right);
  return Format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\">",
             whole) +
         Format("<rect width=\"%d\" height=\"20\" fill=\"#444444\"/>", at) +
         Format("<rect x=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"/>", at, whole - at,
                ColourOf(report["verdict"].get<std::string>())) +
         "<g fill=\"#ffffff\" font-family=\"monospace\" font-size=\"11\">" +
         Format("<text x=\"6\" y=\"14\">%s</text>", left.c_str()) +
         Format("<text x=\"%d\" y=\"14\">%s</text></g></svg>", at + 6, Escape(right).c_str());
}

}  // namespace deputy::certify
