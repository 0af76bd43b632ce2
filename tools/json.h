// SPDX-License-Identifier: Apache-2.0
//
// The JSON documents of the command. Writing and reading them takes long to compile, so it is done
// in json.cc: in other files, dump() and parse() cost about a second each. Headers that only name
// the type include <nlohmann/json_fwd.hpp>.
#ifndef DEPUTY_TOOLS_JSON_H_
#define DEPUTY_TOOLS_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

namespace deputy::tools {

// Members keep the order in which they were added.
using Json = nlohmann::ordered_json;

// On one line, or with each level indented by so many blanks. Names come out of models, drivers and
// files and may be no UTF-8: what is none is replaced.
std::string JsonText(const Json& json, int indent = -1);

// The document with such replacements.
Json ValidUtf8(const Json& json);

// `text` without what is no UTF-8 in it.
std::string WithoutInvalidUtf8(const std::string& text);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_JSON_H_
