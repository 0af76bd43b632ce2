// SPDX-License-Identifier: Apache-2.0
//
// Attribute maps: what a buffer or a synchronisation object is like, as keys and values. Their type
// and the keys are in interop_types.h.
//
// A map is used by one thread at a time. NULL is accepted for every map, and for a value that is to
// be filled: a getter then returns false, a setter does nothing. Strings are borrowed: they must
// live as long as a map that holds them, or a copy of it. A getter returns false, and leaves `*val`
// as it was, if the key is not there or has a value of another type.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// An empty map that describes what `type` says; the caller owns it. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteAttributeMap* TfLiteAttributeMapCreate(TfLiteAttrMapType type);

// Frees a map.
TFL_CAPI_EXPORT void TfLiteAttributeMapDelete(TfLiteAttributeMap* attrs);

// Whether the map describes a buffer.
TFL_CAPI_EXPORT bool TfLiteAttributeMapIsBufferAttributeMap(const TfLiteAttributeMap* attrs);

// Whether the map describes a synchronisation object.
TFL_CAPI_EXPORT bool TfLiteAttributeMapIsSyncAttributeMap(const TfLiteAttributeMap* attrs);

// Makes `dst` describe what `src` does, with the same attributes.
TFL_CAPI_EXPORT void TfLiteAttributeMapCopy(const TfLiteAttributeMap* src, TfLiteAttributeMap* dst);

// Attributes of a buffer. All of them return false for a map that describes none; setters replace
// an older value and return false, too, if memory is short.
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetSizeTBufferAttr(const TfLiteAttributeMap* attrs,
                                                          TfLiteBufferAttrKey key, size_t* val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapSetSizeTBufferAttr(TfLiteAttributeMap* attrs,
                                                          TfLiteBufferAttrKey key, size_t val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetStringBufferAttr(const TfLiteAttributeMap* attrs,
                                                           TfLiteBufferAttrKey key,
                                                           const char** val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapSetStringBufferAttr(TfLiteAttributeMap* attrs,
                                                           TfLiteBufferAttrKey key,
                                                           const char* val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetBoolBufferAttr(const TfLiteAttributeMap* attrs,
                                                         TfLiteBufferAttrKey key, bool* val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapSetBoolBufferAttr(TfLiteAttributeMap* attrs,
                                                         TfLiteBufferAttrKey key, bool val);

// Attributes of a synchronisation object, likewise.
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetStringSyncAttr(const TfLiteAttributeMap* attrs,
                                                         TfLiteSynchronizationAttrKey key,
                                                         const char** val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapSetStringSyncAttr(TfLiteAttributeMap* attrs,
                                                         TfLiteSynchronizationAttrKey key,
                                                         const char* val);

// Attributes of any map by number, without a look at what it describes, and by name. Names are
// copied; a NULL name is no key.
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetIntAttr(const TfLiteAttributeMap* attrs, uint32_t key,
                                                  int* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetIntAttr(TfLiteAttributeMap* attrs, uint32_t key, int val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetCustomIntAttr(const TfLiteAttributeMap* attrs,
                                                        const char* key, int* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetCustomIntAttr(TfLiteAttributeMap* attrs, const char* key,
                                                        int val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetSizeTAttr(const TfLiteAttributeMap* attrs, uint32_t key,
                                                    size_t* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetSizeTAttr(TfLiteAttributeMap* attrs, uint32_t key,
                                                    size_t val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetCustomSizeTAttr(const TfLiteAttributeMap* attrs,
                                                          const char* key, size_t* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetCustomSizeTAttr(TfLiteAttributeMap* attrs,
                                                          const char* key, size_t val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetStringAttr(const TfLiteAttributeMap* attrs, uint32_t key,
                                                     const char** val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetStringAttr(TfLiteAttributeMap* attrs, uint32_t key,
                                                     const char* val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetCustomStringAttr(const TfLiteAttributeMap* attrs,
                                                           const char* key, const char** val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetCustomStringAttr(TfLiteAttributeMap* attrs,
                                                           const char* key, const char* val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetBoolAttr(const TfLiteAttributeMap* attrs, uint32_t key,
                                                   bool* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetBoolAttr(TfLiteAttributeMap* attrs, uint32_t key,
                                                   bool val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetCustomBoolAttr(const TfLiteAttributeMap* attrs,
                                                         const char* key, bool* val);
TFL_CAPI_EXPORT void TfLiteAttributeMapSetCustomBoolAttr(TfLiteAttributeMap* attrs, const char* key,
                                                         bool val);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_
