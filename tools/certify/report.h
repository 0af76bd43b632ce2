// SPDX-License-Identifier: Apache-2.0
//
// What came of the rows, for people and for programs. All forms are written from one JSON document,
// so that they agree.
#ifndef DEPUTY_TOOLS_CERTIFY_REPORT_H_
#define DEPUTY_TOOLS_CERTIFY_REPORT_H_

#include <string>
#include <vector>

#include "tools/certify/rows.h"
#include "tools/json.h"

namespace deputy::certify {

// {"library", "options", "verdict", "summary", "counts": {status: number}, "operators": [names],
// "rows": [{"name", "group", "expects", "status", "text", "seconds"}, …]}.
tools::Json MakeRow(const Row& row);
tools::Json MakeReport(const Settings& settings, const std::vector<Row>& rows);

bool IsCertified(const tools::Json& report);

// A row in one line, or two.
std::string RowText(const tools::Json& row);
// What stands behind the rows: the operators and the summary.
std::string ReportText(const tools::Json& report);
std::string ReportHtml(const tools::Json& report);
std::string ReportJunit(const tools::Json& report);
// The summary as a picture of one line (SVG).
std::string ReportBadge(const tools::Json& report);

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_REPORT_H_
