// SPDX-License-Identifier: Apache-2.0
//
// Text for HTML and XML.
#ifndef DEPUTY_TOOLS_ESCAPE_H_
#define DEPUTY_TOOLS_ESCAPE_H_

#include <string>

#include "json.h"

namespace deputy::tools {

// One line of valid UTF-8, for text and for attributes in quotes of either kind. Names come out of
// models and libraries.
std::string Escape(const std::string& text);
std::string Escape(const Json& text);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_ESCAPE_H_
