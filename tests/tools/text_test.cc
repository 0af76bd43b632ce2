// SPDX-License-Identifier: Apache-2.0
//
// Tests how the `deputy` command prints names that come from files.
#include "tools/text.h"

#include <gtest/gtest.h>

#include <string>

namespace deputy::tools {
namespace {

TEST(OneLine, joins_lines_and_drops_trailing_blanks) {
  EXPECT_EQ(OneLine("a\nb\r\n\tc  d \n"), "a b c  d");
  EXPECT_EQ(OneLine(""), "");
}

TEST(OneLine, replaces_terminal_controls_and_direction_changes) {
  const char* const kControls[] = {
      "\x01",         "\x1b",         "\x7f",          // C0 and DEL
      "\xc2\x80",     "\xc2\x9b",     "\xc2\x9f",      // U+0080, U+009B (CSI), U+009F
      "\xd8\x9c",                                      // U+061C
      "\xe2\x80\x8e", "\xe2\x80\x8f",                  // U+200E, U+200F
      "\xe2\x80\xa8", "\xe2\x80\xa9",                  // U+2028, U+2029
      "\xe2\x80\xaa", "\xe2\x80\xac", "\xe2\x80\xae",  // U+202A, U+202C, U+202E
      "\xe2\x81\xa6", "\xe2\x81\xa9",                  // U+2066, U+2069
  };
  for (const std::string control : kControls) {
    EXPECT_EQ(OneLine("a" + control + "b"), "a?b") << testing::PrintToString(control);
    EXPECT_EQ(OneLine(control), "?") << testing::PrintToString(control);
  }
  EXPECT_EQ(OneLine(std::string("a\0b", 3)), "a?b");
}

TEST(OneLine, keeps_printable_text) {
  const char* const kTexts[] = {
      "conv2d/kernel:0",  "\xc2\xa0",      // U+00A0, no-break space
      "\xc3\xb6l",        "\xd8\x9b",      // U+00F6, U+061B
      "\xe2\x80\x8d",     "\xe2\x80\xa6",  // U+200D, which joins emoji, and U+2026
      "\xe2\x81\xaa",     "\xe5\xb1\x82",  // U+206A, U+5C42
      "\xf0\x9f\x98\x80",                  // U+1F600
  };
  for (const std::string text : kTexts) EXPECT_EQ(OneLine(text), text);
}

// A lenient decoder may decode an overlong encoding to a control character; a terminal without
// UTF-8 interprets single bytes as one.
TEST(OneLine, replaces_control_bytes_outside_utf8) {
  EXPECT_EQ(OneLine("a\x9b"
                    "31m"),
            "a?31m");
  EXPECT_EQ(OneLine("\xc0\x9b"), "\xc0?");
  EXPECT_EQ(OneLine("\xe0\x80\x9b"), "\xe0??");
  EXPECT_EQ(OneLine("\xe2\x80"), "\xe2?");
  EXPECT_EQ(OneLine("caf\xe9"), "caf\xe9");  // Latin-1
}

}  // namespace
}  // namespace deputy::tools
