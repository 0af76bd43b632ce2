// SPDX-License-Identifier: Apache-2.0
//
// The sentence in which a builtin kernel says why it failed, until the report about its node takes
// it. Setting it needs no memory: the reason may be that there is none.
#ifndef DEPUTY_CORE_BASE_FAILURE_NOTE_H_
#define DEPUTY_CORE_BASE_FAILURE_NOTE_H_

#include <cstdio>
#include <string>

namespace deputy {

class FailureNote {
 public:
  void Clear() { text_[0] = '\0'; }
  // What does not fit is cut off.
  void Set(const char* text) { snprintf(text_, sizeof text_, "%s", text); }
  // Clears it as well. Empty when nothing was said.
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
