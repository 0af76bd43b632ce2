// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_LOAD_TEST_MODEL_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_LOAD_TEST_MODEL_H_

#include <string_view>

#include "litert/c/litert_model.h"
#include "litert/cc/internal/litert_extended_model.h"
#include "litert/test/common.h"

namespace litert::testing {

inline ExtendedModel LoadTestFileModel(std::string_view name) {
  LiteRtModel model = nullptr;
  if (LiteRtCreateModelFromFile(nullptr, GetTestFilePath(name).c_str(), &model) !=
      kLiteRtStatusOk) {
    std::abort();
  }
  return ExtendedModel::CreateFromOwnedHandle(model);
}

}  // namespace litert::testing

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_LITERT_TEST_LOAD_TEST_MODEL_H_
