// SPDX-License-Identifier: Apache-2.0
//
// Text output for users: the only exception type of the `deputy` command, formatting, tables, the
// progress bar. The command may throw (CLI11 does anyway); the library never throws.
#ifndef DEPUTY_TOOLS_TEXT_H_
#define DEPUTY_TOOLS_TEXT_H_

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace deputy::tools {

// Exit codes of the command.
inline constexpr int kExitFailed = 1;  // model rejected or work failed
inline constexpr int kExitUsage = 2;   // bad option or unreadable file

// Ends the command: prints `text` to standard error as one line and exits with `exit_code`.
class ToolError : public std::runtime_error {
 public:
  ToolError(int code, const std::string& text) : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

// Throws a ToolError with a printf-formatted text.
[[noreturn]] void FailUsage(const char* format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void FailWork(const char* format, ...) __attribute__((format(printf, 1, 2)));

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Returns `text` without line breaks, control characters and bidirectional control marks: names
// come from untrusted files and must neither control a terminal nor look like other names. Invalid
// UTF-8 is kept, except for bytes that are control characters in older encodings.
std::string OneLine(const std::string& text);

std::string ShapeText(
    const std::vector<int>& shape);   // "[1, 28, 28, 1]" for a tensor of this shape
std::string BytesText(size_t bytes);  // "712 B", "1.4 KiB", "3.0 MiB", "2.0 GiB"
// Formats milliseconds in the unit that suits `largest`, the largest value shown together: "3.214
// ms", "87.500 us".
std::string MillisecondsText(double milliseconds, double largest);
std::string PluralText(size_t count, const char* singular, const char* plural);

// Ends the command with kExitUsage unless the file can be written; creates it if it does not exist.
// Call it before work whose result would be lost.
void CheckWritable(const std::string& path);

// Parses the whole of `text` as a number in [0, INT_MAX]; returns false if it is not one.
bool ParseNumber(const std::string& text, int* out_number);

// Splits `text` at separators; an empty text has no parts. A backslash escapes a separator or
// another backslash.
std::vector<std::string> SplitText(const std::string& text, char separator);

// Shortens to `width` bytes by replacing the middle with "..".
std::string Shorten(const std::string& text, size_t width);

// Prints `text` in lines of at most 80 bytes, broken at spaces; the first line continues after
// `head`.
void PrintWrapped(const std::string& head, const std::string& text);

// A table with aligned columns. Columns marked '>' are right-aligned.
class Table {
 public:
  // Creates an empty table. `alignment` has one character per column, '<' or '>'.
  Table(const std::string& alignment, std::vector<std::string> headings);
  void Add(std::vector<std::string> cells);
  void Print() const;  // prints to standard output

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

// Draws "[####......] 120/400, 310/s, 0:12 left" on standard error, redrawn in place and erased at
// the end.
class ProgressBar {
 public:
  // Creates the bar of `total` items, of which `begin` are done already and do not count for the
  // rate.
  ProgressBar(size_t total, bool visible, size_t begin = 0)
      : total_(total), begin_(begin), visible_(visible) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void Show(size_t done);

 private:
  std::string RateText(size_t done) const;

  size_t total_, begin_;
  bool visible_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), last_{};
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TEXT_H_
