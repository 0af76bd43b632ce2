// SPDX-License-Identifier: Apache-2.0
//
// Holders for a hardware buffer and for a synchronisation object of somebody else. Each carries one
// pointer and gives it back; the pointer is never followed or freed here. Also the keys of
// attribute maps, which describe such objects.
//
// A holder is used by one thread at a time. NULL is accepted everywhere.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_

#include <stdint.h>

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Carries a pointer to a hardware buffer.
typedef struct TfLiteBackendBuffer TfLiteBackendBuffer;

// Carries a pointer to a synchronisation object.
typedef struct TfLiteSynchronization TfLiteSynchronization;

// A set of attributes of buffers or synchronisation objects.
typedef struct TfLiteAttributeMap TfLiteAttributeMap;

// What a map describes.
typedef enum TfLiteAttrMapType {
  // Not a valid choice.
  kTfLiteAttrMapTypeUnknown = 0,
  // A buffer.
  kTfLiteAttrMapTypeBuffer = 1,
  // A synchronisation object.
  kTfLiteAttrMapTypeSync = 2,
} TfLiteAttrMapType;

// Attributes of a buffer.
typedef enum TfLiteBufferAttrKey {
  // Not a valid choice.
  kTfLiteBufferAttrKeyUnknown = 0,
  // Name of the kind of buffer, a string.
  kTfLiteBufferAttrKeyResourceTypeName = 1,
  // Alignment of its address in bytes, a size.
  kTfLiteBufferAttrKeyAlignment = 2,
  // Its size must be a multiple of this, a size.
  kTfLiteBufferAttrKeyPadding = 3,
  // Where the data starts, a size.
  kTfLiteBufferAttrKeyOffset = 4,
  // Size of the data in bytes, a size.
  kTfLiteBufferAttrKeySize = 5,
  // Whether host and device see the same bytes now, a truth value.
  kTfLiteBufferAttrKeyCurrentHostCoherencyState = 6,
  // Whether they should, a truth value.
  kTfLiteBufferAttrKeyPreferredHostCoherencyState = 7,
  // Whether the host's cache holds current bytes now, a truth value.
  kTfLiteBufferAttrKeyCurrentHostCacheState = 8,
  // Whether it should, a truth value.
  kTfLiteBufferAttrKeyPreferredHostCacheState = 9,
} TfLiteBufferAttrKey;

// Attributes of a synchronisation object.
typedef enum TfLiteSynchronizationAttrKey {
  // Not a valid choice.
  kTfLiteSynchronizationAttrKeyUnknown = 0,
  // Name of the kind of object, a string.
  kTfLiteSynchronizationAttrKeyObjectTypeName = 1,
} TfLiteSynchronizationAttrKey;

// An empty holder; the caller owns it. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteBackendBuffer* TfLiteBackendBufferCreate(void);

// Frees the holder, not what its pointer points to.
TFL_CAPI_EXPORT void TfLiteBackendBufferDelete(TfLiteBackendBuffer* buf);

// Stores a pointer, borrowed.
TFL_CAPI_EXPORT void TfLiteBackendBufferSetPtr(TfLiteBackendBuffer* buf, void* ptr);

// The stored pointer; NULL if there is none.
TFL_CAPI_EXPORT void* TfLiteBackendBufferGetPtr(const TfLiteBackendBuffer* buf);

// An empty holder; the caller owns it. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteSynchronization* TfLiteSynchronizationCreate(void);

// Frees the holder, not what its pointer points to.
TFL_CAPI_EXPORT void TfLiteSynchronizationDelete(TfLiteSynchronization* sync);

// Stores a pointer, borrowed.
TFL_CAPI_EXPORT void TfLiteSynchronizationSetPtr(TfLiteSynchronization* sync, void* ptr);

// The stored pointer; NULL if there is none.
TFL_CAPI_EXPORT void* TfLiteSynchronizationGetPtr(const TfLiteSynchronization* sync);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_
