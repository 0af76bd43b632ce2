// SPDX-License-Identifier: Apache-2.0
//
// Registrations of this library's kernels for clients, which keep pointers to them.
#include <map>
#include <mutex>
#include <utility>

#include "c_api/include/deputy_graph.h"
#include "c_api/src/graph_access.h"
#include "c_api/src/resolver.h"
#include "core/base/guard.h"
#include "kernels/registry.h"

namespace {

// Returns the registration of a kernel for one of its versions. It is created once and never freed.
const TfLiteRegistration* RegistrationOf(const deputy::OpDef* kernel, int version) {
  if (kernel == nullptr || kernel->invoke == nullptr) return nullptr;
  static std::mutex mutex;
  static auto* const registrations =
      new std::map<std::pair<const deputy::OpDef*, int>, TfLiteRegistration>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, is_new] = registrations->try_emplace({kernel, version});
  if (is_new) entry->second = deputy::FromOpDef(*kernel, version);
  return &entry->second;
}

}  // namespace

const TfLiteRegistration* DeputyFindBuiltinKernel(TfLiteBuiltinOperator op, int32_t version) {
  return deputy::Guard(nullptr, [&]() -> const TfLiteRegistration* {
    const auto code = deputy::EnumeratorOf(op, 256, kTfLiteBuiltinPlaceholderForGreaterOpCodes);
    return RegistrationOf(deputy::FindBuiltin(code, version), version);
  });
}

const TfLiteRegistration* DeputyFindCustomKernel(const char* name, int32_t version) {
  if (name == nullptr) return nullptr;
  return deputy::Guard(nullptr, [&]() -> const TfLiteRegistration* {
    return RegistrationOf(deputy::FindCustomOp(name, version), version);
  });
}
