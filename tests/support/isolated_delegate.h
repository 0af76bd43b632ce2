// SPDX-License-Identifier: Apache-2.0
//
// Creates a delegate in a process of its own from C, which includes delegate_isolation.h.
#ifndef DEPUTY_TESTS_SUPPORT_ISOLATED_DELEGATE_H_
#define DEPUTY_TESTS_SUPPORT_ISOLATED_DELEGATE_H_

#include <stdint.h>

#include "c_api/include/common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates a delegate of the library at `path` with one option, in a process with the profile
// "strict" and this deadline of a call. NULL on failure.
TfLiteDelegate* CreateIsolatedDelegate(const char* path, const char* key, const char* value,
                                       int64_t invoke_ms);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_TESTS_SUPPORT_ISOLATED_DELEGATE_H_
