// SPDX-License-Identifier: Apache-2.0
//
// The style sheet and script of every page of `deputy explain --html`.
#ifndef DEPUTY_TOOLS_EXPLAIN_PAGE_H_
#define DEPUTY_TOOLS_EXPLAIN_PAGE_H_

namespace deputy::tools {

// Style sheet of the page, for light and dark mode, wide and narrow windows. It must follow that of
// the drawing.
extern const char* const kPageStyle;
// Script of the page, for panning and zooming, search, the overview, and selection of nodes. It
// does not depend on the model.
extern const char* const kPageScript;

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_PAGE_H_
