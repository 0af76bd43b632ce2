// SPDX-License-Identifier: Apache-2.0
//
// Formats the results of the rows for users and for programs. Every form is written from one JSON
// document, so that all agree.
#ifndef DEPUTY_TOOLS_CERTIFY_REPORT_H_
#define DEPUTY_TOOLS_CERTIFY_REPORT_H_

#include <string>
#include <vector>

#include "tools/certify/rows.h"
#include "tools/json.h"

namespace deputy::certify {

// MakeReport returns the document {"library", "options", "deputy": version, "verdict", "summary",
// "counts": {status: number}, "operators": [names], "rows": [{"name", "group", "expects", "status",
// "text", "seconds"}, …]}. MakeRow returns one of its rows.
tools::Json MakeRow(const Row& row);
tools::Json MakeReport(const Settings& settings, const std::vector<Row>& rows);

bool IsCertified(const tools::Json& report);

// Returns a row as one line or two.
std::string RowText(const tools::Json& row);
// Returns the part of the report after the rows: the operators and the summary.
std::string ReportText(const tools::Json& report);
std::string ReportHtml(const tools::Json& report);
std::string ReportJunit(const tools::Json& report);
// Returns the summary as an SVG image of one line.
std::string ReportBadge(const tools::Json& report);

}  // namespace deputy::certify

#endif  // DEPUTY_TOOLS_CERTIFY_REPORT_H_
