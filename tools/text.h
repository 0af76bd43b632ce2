// SPDX-License-Identifier: Apache-2.0
//
// Words for people: the one exception type of the `deputy` command, formatting, tables, the
// progress bar. The command may throw (CLI11 does anyway); the library it calls never does.
#ifndef DEPUTY_TOOLS_TEXT_H_
#define DEPUTY_TOOLS_TEXT_H_

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace deputy::tools {

// Exit codes of the command.
inline constexpr int kExitFailed = 1;  // model refused or work failed
inline constexpr int kExitUsage = 2;   // bad option or unreadable file

// Ends the command: `text` goes to standard error as one line, `exit_code` to the caller.
class ToolError : public std::runtime_error {
 public:
  ToolError(int code, const std::string& text) : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

// Throw a ToolError with a printf-formatted text.
[[noreturn]] void FailUsage(const char* format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void FailWork(const char* format, ...) __attribute__((format(printf, 1, 2)));

std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));

// `text` without line breaks, control characters and marks that turn the direction of writing:
// names come out of files nobody vouches for, and must not steer a terminal or look like other
// names. What is no UTF-8 stays, but for bytes that are control characters in older encodings.
std::string OneLine(const std::string& text);

std::string ShapeText(const std::vector<int>& shape);  // "[1, 28, 28, 1]"
std::string BytesText(size_t bytes);                   // "712 B", "1.4 KiB", "3.0 MiB", "2.0 GiB"
// Milliseconds in the unit that suits `largest` of those shown together: "3.214 ms", "87.5 us".
std::string MillisecondsText(double milliseconds, double largest);
std::string PluralText(size_t count, const char* singular, const char* plural);

// Ends the command with kExitUsage unless the file can be written; it is made if it is not there.
// Before work whose result would be lost.
void CheckWritable(const std::string& path);

// Whether the whole of `text` is a number in [0, INT_MAX].
bool ParseNumber(const std::string& text, int* out_number);

// The parts of `text` between separators; an empty text has none. A backslash before a separator,
// or before another backslash, takes it literally.
std::vector<std::string> SplitText(const std::string& text, char separator);

// Shortens to `width` characters, the middle replaced by "..".
std::string Shorten(const std::string& text, size_t width);

// Prints `text` in lines of 80 columns, broken at spaces; the first line goes on behind `head`.
void PrintWrapped(const std::string& head, const std::string& text);

// Columns that line up. Cells of a column marked '>' stand to the right.
class Table {
 public:
  // One character per column, '<' or '>', and the headings.
  Table(const std::string& alignment, std::vector<std::string> headings);
  void Add(std::vector<std::string> cells);
  void Print() const;  // to standard output

 private:
  std::string alignment_;
  std::vector<std::vector<std::string>> rows_;
};

// "[####......] 120/400" on standard error, redrawn in place and wiped at the end.
class ProgressBar {
 public:
  ProgressBar(size_t total, bool visible) : total_(total), visible_(visible) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void Show(size_t done);

 private:
  size_t total_;
  bool visible_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_TEXT_H_
