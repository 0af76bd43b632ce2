// SPDX-License-Identifier: Apache-2.0
//
// Loads models in tests and keeps the reported messages.
#ifndef DEPUTY_TESTS_SUPPORT_LOAD_RESULT_H_
#define DEPUTY_TESTS_SUPPORT_LOAD_RESULT_H_

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/model/model.h"

namespace deputy {

// A reporter that stores the texts it receives.
class ReportLog {
 public:
  ErrorReporter* reporter() { return &reporter_; }
  const std::vector<std::string>& texts() const { return texts_; }
  // Returns all stored texts, for messages and searches.
  std::string all() const {
    std::string all;
    for (const std::string& text : texts_) all += text + "\n";
    return all;
  }

 private:
  static void Keep(void* user_data, const char* format, va_list args) {
    char text[2048];
    std::vsnprintf(text, sizeof(text), format, args);
    static_cast<ReportLog*>(user_data)->texts_.emplace_back(text);
  }

  std::vector<std::string> texts_;
  ErrorReporter reporter_{&ReportLog::Keep, this};
};

struct LoadResult {
  std::shared_ptr<const Model> model;
  std::vector<std::string> reports;
};

// Loads a model from memory. The bytes must outlive the model.
inline LoadResult LoadBytes(const std::vector<uint8_t>& bytes) {
  ReportLog log;
  LoadResult result;
  result.model = Model::FromBuffer(bytes.data(), bytes.size(), log.reporter());
  result.reports = log.texts();
  return result;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_LOAD_RESULT_H_
