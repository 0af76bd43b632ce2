// SPDX-License-Identifier: Apache-2.0
//
// Escapes text for HTML and XML.
#ifndef DEPUTY_TOOLS_ESCAPE_H_
#define DEPUTY_TOOLS_ESCAPE_H_

#include <string>

#include "json.h"

namespace deputy::tools {

// Returns one line of valid UTF-8 that is safe as text and inside attributes with either kind of
// quotes. The input may be any bytes, because names come from models and libraries.
std::string Escape(const std::string& text);
std::string Escape(const Json& text);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_ESCAPE_H_
