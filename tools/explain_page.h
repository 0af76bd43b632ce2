// SPDX-License-Identifier: Apache-2.0
//
// What is the same on every page of `deputy explain --html`.
#ifndef DEPUTY_TOOLS_EXPLAIN_PAGE_H_
#define DEPUTY_TOOLS_EXPLAIN_PAGE_H_

namespace deputy::tools {

// Rules behind those of the drawing: light and dark, wide and narrow.
extern const char* const kPageStyle;
// Moving and zooming, search, the overview, and which node is chosen. It holds nothing of a model.
extern const char* const kPageScript;

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_PAGE_H_
