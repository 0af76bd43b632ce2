// SPDX-License-Identifier: Apache-2.0
//
// Formats text for the `deputy` command.
#include "text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace deputy::tools {
namespace {

std::string FormatV(const char* format, va_list args) {
  va_list copy;
  va_copy(copy, args);
  const int length = std::vsnprintf(nullptr, 0, format, copy);
  va_end(copy);
  if (length < 0) return format;
  std::string text(static_cast<size_t>(length), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, args);
  return text;
}

struct Character {
  uint32_t code;
  size_t bytes;
};

// Decodes the UTF-8 character at `at`; an invalid byte counts as one character.
Character CharacterAt(const std::string& text, size_t at) {
  // Smallest code of each encoded length; a smaller code in this length is invalid.
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const uint32_t first = byte(at);
  const size_t bytes = first < 0xc0 || first >= 0xf8 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (bytes == 1) return {first, 1};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {first, 1};
    code = code << 6 | (byte(at + i) & 0x3f);
  }
  return code < kSmallest[bytes] ? Character{first, 1} : Character{code, bytes};
}

// Returns true for control characters, line and paragraph separators, and bidirectional controls.
bool IsControl(uint32_t code) {
  constexpr struct {
    uint32_t first, last;
  } kControls[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                   {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
  return std::any_of(std::begin(kControls), std::end(kControls), [code](const auto& range) {
    return range.first <= code && code <= range.last;
  });
}

}  // namespace

void FailUsage(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = FormatV(format, args);
  va_end(args);
  throw ToolError(kExitUsage, text);
}

void FailWork(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = FormatV(format, args);
  va_end(args);
  throw ToolError(kExitFailed, text);
}

std::string Format(const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = FormatV(format, args);
  va_end(args);
  return text;
}

std::string OneLine(const std::string& text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const Character character = CharacterAt(text, at);
    if (character.code == '\n' || character.code == '\r' || character.code == '\t') {
      if (!line.empty() && line.back() != ' ') line += ' ';
    } else if (IsControl(character.code)) {
      line += '?';
    } else {
      line.append(text, at, character.bytes);
    }
    at += character.bytes;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string ShapeText(const std::vector<int>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

std::string BytesText(size_t bytes) {
  if (bytes < 1024) return Format("%zu B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1024) return Format("%.1f KiB", kib);
  if (kib < 1024 * 1024) return Format("%.1f MiB", kib / 1024);
  return Format("%.1f GiB", kib / 1024 / 1024);
}

std::string MillisecondsText(double milliseconds, double largest) {
  return largest < 1 ? Format("%.3f us", milliseconds * 1e3) : Format("%.3f ms", milliseconds);
}

std::string PluralText(size_t count, const char* singular, const char* plural) {
  return Format("%zu %s", count, count == 1 ? singular : plural);
}

std::vector<std::string> SplitText(const std::string& text, char separator) {
  if (text.empty()) return {};
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == separator || next == '\\')) {
      parts.back() += text[++i];
    } else if (text[i] == separator) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::string Shorten(const std::string& text, size_t width) {
  if (text.size() <= width) return text;
  const size_t head = (width - 2) / 2;
  return text.substr(0, head) + ".." + text.substr(text.size() - (width - 2 - head));
}

void PrintWrapped(const std::string& head, const std::string& text) {
  constexpr size_t kColumns = 80;
  std::string line = head;
  const std::string indent(head.size(), ' ');
  const std::string words = OneLine(text);
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    const std::string word = Shorten(words.substr(at, end - at), kColumns - indent.size() - 1);
    const bool starts = line.size() == indent.size();
    if (!starts && line.size() + 1 + word.size() > kColumns) {
      std::printf("%s\n", line.c_str());
      line = indent;
    }
    line += (line.size() == indent.size() ? "" : " ") + word;
    at = end + 1;
  }
  std::printf("%s\n", line.c_str());
}

Table::Table(const std::string& alignment, std::vector<std::string> headings)
    : alignment_(alignment) {
  Add(std::move(headings));
}

void Table::Add(std::vector<std::string> cells) {
  cells.resize(alignment_.size());
  for (std::string& cell : cells) cell = OneLine(cell);
  rows_.push_back(std::move(cells));
}

void Table::Print() const {
  std::vector<size_t> widths(alignment_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i != 0) line += "  ";
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += alignment_[i] == '>' ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

ProgressBar::~ProgressBar() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::Show(size_t done) {
  if (!visible_) return;
  const auto now = std::chrono::steady_clock::now();
  if (done != total_ && now - last_ < std::chrono::milliseconds(50)) return;
  last_ = now;
  constexpr size_t kWidth = 40;
  const size_t filled = total_ == 0 ? kWidth : done * kWidth / total_;
  const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
  std::fprintf(stderr, "\r[%s] %zu/%zu%s\033[K", bar.c_str(), done, total_, RateText(done).c_str());
  std::fflush(stderr);
}

// Returns ", 310/s, 0:12 left"; "" before the first item.
std::string ProgressBar::RateText(size_t done) const {
  const std::chrono::duration<double> passed = last_ - start_;
  if (done <= begin_ || passed.count() <= 0) return "";
  const double rate = static_cast<double>(done - begin_) / passed.count();
  const auto left = static_cast<unsigned long long>(static_cast<double>(total_ - done) / rate);
  const std::string clock =
      left < 3600 ? Format("%llu:%02llu", left / 60, left % 60)
                  : Format("%llu:%02llu:%02llu", left / 3600, left / 60 % 60, left % 60);
  return Format(rate < 10 ? ", %.1f/s, %s left" : ", %.0f/s, %s left", rate, clock.c_str());
}

void CheckWritable(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  std::fclose(file);
}

bool ParseNumber(const std::string& text, int* out_number) {
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  char* end = nullptr;
  errno = 0;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || errno != 0 || number > INT_MAX) return false;
  *out_number = static_cast<int>(number);
  return true;
}

}  // namespace deputy::tools
