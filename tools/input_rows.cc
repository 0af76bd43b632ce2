// SPDX-License-Identifier: Apache-2.0
//
// Reads the rows of --rows and writes them to a tensor.
#include "input_rows.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "tensor_data.h"
#include "tensor_file.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

std::vector<InputRow> FilesOf(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<InputRow> rows;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (extension != ".npy" && extension != ".raw" && extension != ".bin") continue;
    rows.push_back({it->path().filename().string(), it->path().string(), {}});
  }
  if (error) FailUsage("%s: %s", folder.c_str(), error.message().c_str());
  if (rows.empty()) FailUsage("%s: contains no .npy, .raw or .bin files", folder.c_str());
  std::sort(rows.begin(), rows.end(),
            [](const InputRow& a, const InputRow& b) { return a.name < b.name; });
  return rows;
}

std::optional<float> NumberOf(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\""), end = text.find_last_not_of(" \t\"");
  if (begin == std::string::npos) return std::nullopt;
  const std::string bare = text.substr(begin, end - begin + 1);
  char* rest = nullptr;
  const float value = std::strtof(bare.c_str(), &rest);
  return *rest == '\0' ? std::optional(value) : std::nullopt;
}

struct Fields {
  std::vector<float> numbers;
  size_t others = 0;  // number of fields that are not numbers
};

Fields FieldsOf(const std::string& line) {
  Fields fields;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find(',', at), line.size());
    if (const std::optional<float> value = NumberOf(line.substr(at, end - at))) {
      fields.numbers.push_back(*value);
    } else {
      ++fields.others;
    }
    at = end + 1;
  }
  return fields;
}

// Reads lines of a table. Bytes are counted, because a pipe has no known size.
class Lines {
 public:
  Lines(std::istream* stream, const std::string& name) : buffer_(stream->rdbuf()), name_(name) {}

  // Reads the next line. Returns false at the end.
  bool Next(std::string* out_line) {
    constexpr int kEnd = std::char_traits<char>::eof();
    out_line->clear();
    int c = buffer_->sbumpc();
    if (c == kEnd) return false;
    for (; c != kEnd && c != '\n'; c = buffer_->sbumpc()) {
      *out_line += static_cast<char>(c);
      if (out_line->size() > kMaxLineBytes || ++bytes_ > kMaxRowsBytes) Refuse();
    }
    return true;
  }

 private:
  static constexpr size_t kMaxLineBytes = size_t{1} << 26;

  [[noreturn]] void Refuse() const {
    FailUsage("%s: is too large: expected at most %s in a row and %s in all", name_.c_str(),
              BytesText(kMaxLineBytes).c_str(), BytesText(kMaxRowsBytes).c_str());
  }

  std::streambuf* buffer_;
  const std::string& name_;
  uint64_t bytes_ = 0;
};

std::vector<InputRow> TableOf(std::istream& stream, const std::string& name) {
  std::vector<InputRow> rows;
  Lines lines(&stream, name);
  std::string line;
  for (size_t number = 1; lines.Next(&line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    const std::string where = Format("%s:%zu", name.c_str(), number);
    Fields fields = FieldsOf(line);
    // A first line without any number is a header; a line with some invalid numbers is an error.
    const bool is_header = number == 1 && fields.numbers.empty();
    if (fields.others == 0) {
      rows.push_back({where, "", std::move(fields.numbers)});
    } else if (!is_header) {
      FailUsage("%s: expected numbers between commas, found '%s'", where.c_str(),
                Shorten(OneLine(line), 40).c_str());
    }
  }
  if (rows.empty()) FailUsage("%s: contains no rows of numbers", name.c_str());
  return rows;
}

}  // namespace

std::vector<InputRow> ReadRows(const std::string& path) {
  if (path == "-") return TableOf(std::cin, "standard input");
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return FilesOf(path);
  CheckReadable(path);
  std::ifstream file(path);
  if (!file) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  if (std::filesystem::file_size(path, error) > kMaxRowsBytes) {
    FailUsage("%s: is too large: expected at most %s", path.c_str(),
              BytesText(kMaxRowsBytes).c_str());
  }
  return TableOf(file, std::filesystem::path(path).filename().string());
}

void WriteRow(const InputRow& row, TfLiteTensor* tensor) {
  if (!row.file.empty()) return WriteFromFile(row.file, tensor);
  const size_t expected = ElementCount(ShapeOf(tensor));
  if (row.values.size() != expected) {
    FailUsage("%s: expected %zu values for input '%s', found %zu", row.name.c_str(), expected,
              NameOf(tensor).c_str(), row.values.size());
  }
  WriteReals(row.values, tensor);
}

}  // namespace deputy::tools
