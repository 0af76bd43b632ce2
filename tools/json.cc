// SPDX-License-Identifier: Apache-2.0
#include "json.h"

namespace deputy::tools {

std::string JsonText(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json ValidUtf8(const Json& json) { return Json::parse(JsonText(json)); }

std::string WithoutInvalidUtf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::ignore));
}

}  // namespace deputy::tools
