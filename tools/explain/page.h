// SPDX-License-Identifier: Apache-2.0
//
// The style sheet and script of every page of `deputy explain --html`.
#ifndef DEPUTY_TOOLS_EXPLAIN_PAGE_H_
#define DEPUTY_TOOLS_EXPLAIN_PAGE_H_

namespace deputy::tools {

// Style sheet that follows that of the drawing; for light and dark mode, wide and narrow windows.
extern const char* const kPageStyle;
// Panning and zooming, search, the overview, and selection of nodes. Independent of the model.
extern const char* const kPageScript;

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_PAGE_H_
