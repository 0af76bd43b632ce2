// SPDX-License-Identifier: Apache-2.0
//
// Formats error messages. Names come from files and may contain any bytes; they are truncated.
#ifndef DEPUTY_MINDSPORE_MS_TEXT_H_
#define DEPUTY_MINDSPORE_MS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deputy::ms {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// Returns 'name' in quotes, truncated to 80 bytes, with control characters replaced.
std::string Quoted(std::string_view name);

// Returns a shape such as [1,2,3].
std::string DimsText(const std::vector<int32_t>& dims);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_TEXT_H_
