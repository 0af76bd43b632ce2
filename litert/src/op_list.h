// SPDX-License-Identifier: Apache-2.0
//
// The operators that a compiler plug-in selects.
#ifndef DEPUTY_LITERT_SRC_OP_LIST_H_
#define DEPUTY_LITERT_SRC_OP_LIST_H_

#include <vector>

#include "litert/c/litert_model.h"

class LiteRtOpListT {
 public:
  // An operator of the plug-in; the pointer is not checked yet.
  struct Entry {
    LiteRtOp op = nullptr;
    LiteRtParamIndex partition = 0;
  };
  std::vector<Entry> entries;
};

#endif  // DEPUTY_LITERT_SRC_OP_LIST_H_
