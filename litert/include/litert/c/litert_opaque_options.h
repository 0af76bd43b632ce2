// SPDX-License-Identifier: Apache-2.0
//
// Option objects of accelerators and plug-ins. Each item of a list has an identifier and a payload
// whose form the identifier determines, usually a TOML text. A handle stands for an item and all
// that follow it.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPAQUE_OPTIONS_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPAQUE_OPTIONS_H_

#include <stdint.h>

#include "litert/c/litert_common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates an item, which owns `payload_data` and releases it with `payload_destructor`. No argument
// may be NULL. If the call fails, the caller keeps the payload.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateOpaqueOptions(
    const char* payload_identifier, void* payload_data,
    void (*payload_destructor)(void* payload_data), LiteRtOpaqueOptions* options);

// Destroys an item and all that follow it; NULL is allowed. Not for items that belong to another
// list or to LiteRtOptions.
LITERT_CAPI_EXPORT void LiteRtDestroyOpaqueOptions(LiteRtOpaqueOptions options);

// The following functions return the identifier and the payload of the first item, which belong to
// it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptionsIdentifier(LiteRtOpaqueOptions options,
                                                                 const char** payload_identifier);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptionsData(LiteRtOpaqueOptions options,
                                                           void** payload_data);

// Returns the payload of the first item with the identifier. kLiteRtStatusErrorNotFound if there is
// none.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtFindOpaqueOptionsData(LiteRtOpaqueOptions options,
                                                            const char* payload_identifier,
                                                            void** payload_data);

// Advances `*options` to the next item; to NULL after the last one.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetNextOpaqueOptions(LiteRtOpaqueOptions* options);

// Appends items to a list, which then owns them. `*options` may be NULL, an empty list.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtAppendOpaqueOptions(LiteRtOpaqueOptions* options,
                                                          LiteRtOpaqueOptions appended_options);

// Destroys the last item of a list.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtPopOpaqueOptions(LiteRtOpaqueOptions* options);

// Returns a hash of a payload. Equal payloads have equal hashes.
typedef uint64_t (*LiteRtOpaqueOptionsHashFunc)(const void* payload_data);

// Sets the hash function of the first item. Without one, the payload is hashed as a string.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetOpaqueOptionsHash(
    LiteRtOpaqueOptions options, LiteRtOpaqueOptionsHashFunc payload_hash_func);

// Computes the hash of the payload of the first item.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetOpaqueOptionsHash(LiteRtOpaqueOptions options,
                                                           uint64_t* hash);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_OPAQUE_OPTIONS_H_
