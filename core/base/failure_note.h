// SPDX-License-Identifier: Apache-2.0
//
// The reason for a kernel's failure, until the report about its node includes it. Storing it
// allocates nothing, since the reason may be that memory is exhausted.
#ifndef DEPUTY_CORE_BASE_FAILURE_NOTE_H_
#define DEPUTY_CORE_BASE_FAILURE_NOTE_H_

#include <cstdio>
#include <string>

namespace deputy {

class FailureNote {
 public:
  void Clear() { text_[0] = '\0'; }
  // Stores the text, truncated to 511 bytes.
  void Set(const char* text) { snprintf(text_, sizeof text_, "%s", text); }
  // Returns and clears the text; empty if there is none.
  std::string Take() {
    std::string text = text_;
    Clear();
    return text;
  }

 private:
  char text_[512] = "";
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_FAILURE_NOTE_H_
