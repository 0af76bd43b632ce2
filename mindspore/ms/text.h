// SPDX-License-Identifier: Apache-2.0
//
// Texts of error messages. Names come from files: they are cut, and may hold any bytes.
#ifndef DEPUTY_MINDSPORE_MS_TEXT_H_
#define DEPUTY_MINDSPORE_MS_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deputy::ms {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);

// 'name', at most 80 bytes of it, without control characters.
std::string Quoted(std::string_view name);

// [1,2,3]
std::string DimsText(const std::vector<int32_t>& dims);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_TEXT_H_
