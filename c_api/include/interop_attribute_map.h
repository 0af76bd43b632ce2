// SPDX-License-Identifier: Apache-2.0
//
// Attribute maps: properties of a buffer or a synchronisation object, as keys and values. The type
// and the keys are in interop_types.h.
//
// A map must not be used by several threads at the same time. NULL is accepted for every map: a
// getter then returns false, a setter has no effect. A getter also returns false if `val` is NULL.
// Strings are borrowed: they must be valid as long as a map that contains them, or a copy of it. A
// getter returns false, with `*val` unchanged, if the key does not exist or has a value of another
// type.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_ATTRIBUTE_MAP_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interop_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Creates an empty map for an object of kind `type`; the caller owns it. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteAttributeMap* TfLiteAttributeMapCreate(TfLiteAttrMapType type);

// Deletes a map.
TFL_CAPI_EXPORT void TfLiteAttributeMapDelete(TfLiteAttributeMap* attrs);

// Returns true if the map describes a buffer.
TFL_CAPI_EXPORT bool TfLiteAttributeMapIsBufferAttributeMap(const TfLiteAttributeMap* attrs);

// Returns true if the map describes a synchronisation object.
TFL_CAPI_EXPORT bool TfLiteAttributeMapIsSyncAttributeMap(const TfLiteAttributeMap* attrs);

// Replaces the kind and the attributes of `dst` by those of `src`.
TFL_CAPI_EXPORT void TfLiteAttributeMapCopy(const TfLiteAttributeMap* src, TfLiteAttributeMap* dst);

// Attributes of a buffer. All functions return false if the map does not describe a buffer; setters
// replace an older value and also return false if out of memory.
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

// Attributes of a synchronisation object. All functions return false if the map does not describe
// one; setters replace an older value and also return false if out of memory.
TFL_CAPI_EXPORT bool TfLiteAttributeMapGetStringSyncAttr(const TfLiteAttributeMap* attrs,
                                                         TfLiteSynchronizationAttrKey key,
                                                         const char** val);
TFL_CAPI_EXPORT bool TfLiteAttributeMapSetStringSyncAttr(TfLiteAttributeMap* attrs,
                                                         TfLiteSynchronizationAttrKey key,
                                                         const char* val);

// Attributes of any map, whatever the map describes, with a number or with a name as the key. Names
// are copied; a NULL name is not a key.
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
