// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers and texts in sequence from bytes that may be damaged. Each number has 64 bits in
// the byte order of the machine; a text is its length and its bytes.
#ifndef DEPUTY_CORE_SUPPORT_WORD_READER_H_
#define DEPUTY_CORE_SUPPORT_WORD_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace deputy {

class WordReader {
 public:
  explicit WordReader(std::span<const char> bytes) : bytes_(bytes) {}

  // Returns the next number; 0 after a failure.
  uint64_t Word() {
    uint64_t number = 0;
    if (bytes_.size() < sizeof number) ok_ = false;
    if (!ok_) return 0;
    std::memcpy(&number, bytes_.data(), sizeof number);
    bytes_ = bytes_.subspan(sizeof number);
    return number;
  }
  // Returns the next number, which must be from `low` to `high`; `low` after a failure.
  int64_t Between(int64_t low, int64_t high) {
    const auto number = static_cast<int64_t>(Word());
    ok_ = ok_ && low <= number && number <= high;
    return ok_ ? number : low;
  }
  // Returns the number of elements of a list, each of which has at least `bytes` bytes.
  size_t Count(size_t bytes) {
    const uint64_t count = Word();
    ok_ = ok_ && count <= bytes_.size() / bytes;
    return ok_ ? static_cast<size_t>(count) : 0;
  }
  // Returns a text of at most `max_bytes` bytes; "" after a failure.
  std::string Text(size_t max_bytes) {
    const size_t size = Count(1);
    ok_ = ok_ && size <= max_bytes;
    if (!ok_) return "";
    std::string text(bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }
  bool ok() const { return ok_; }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  std::span<const char> bytes_;
  bool ok_ = true;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_WORD_READER_H_
