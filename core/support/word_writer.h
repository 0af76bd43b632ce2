// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers and texts in the format of word_reader.h.
#ifndef DEPUTY_CORE_SUPPORT_WORD_WRITER_H_
#define DEPUTY_CORE_SUPPORT_WORD_WRITER_H_

#include <cstdint>
#include <string>

namespace deputy {

class WordWriter {
 public:
  void Add(int64_t number) {
    const auto* bytes = reinterpret_cast<const char*>(&number);
    bytes_.append(bytes, sizeof number);
  }
  void AddText(const std::string& text) {
    Add(static_cast<int64_t>(text.size()));
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_WORD_WRITER_H_
