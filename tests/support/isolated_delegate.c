// SPDX-License-Identifier: Apache-2.0
#include "tests/support/isolated_delegate.h"

#include "c_api/include/delegate_isolation.h"

TfLiteDelegate* CreateIsolatedDelegate(const char* path, const char* key, const char* value,
                                       int64_t invoke_ms) {
  DeputyDelegateIsolation isolation = {0};
  isolation.struct_size = sizeof isolation;
  isolation.profile = "strict";
  isolation.invoke_ms = invoke_ms;
  return DeputyIsolatedDelegateCreate(path, &key, &value, 1, &isolation);
}
