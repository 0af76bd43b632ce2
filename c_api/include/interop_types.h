// SPDX-License-Identifier: Apache-2.0
//
// Holders for a hardware buffer and for a synchronisation object of another library. Each stores
// one pointer, which is neither dereferenced nor freed here. Also the keys of attribute maps, which
// describe such objects.
//
// A holder must not be used by several threads at the same time. All functions accept NULL.
#ifndef DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_
#define DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_

#include <stdint.h>

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// A holder that stores a pointer to a hardware buffer.
typedef struct TfLiteBackendBuffer TfLiteBackendBuffer;

// A holder that stores a pointer to a synchronisation object.
typedef struct TfLiteSynchronization TfLiteSynchronization;

// A set of attributes of a buffer or a synchronisation object.
typedef struct TfLiteAttributeMap TfLiteAttributeMap;

// Kind of object that a map describes.
typedef enum TfLiteAttrMapType {
  // Invalid value.
  kTfLiteAttrMapTypeUnknown = 0,
  // The map describes a buffer.
  kTfLiteAttrMapTypeBuffer = 1,
  // The map describes a synchronisation object.
  kTfLiteAttrMapTypeSync = 2,
} TfLiteAttrMapType;

// Attributes of a buffer.
typedef enum TfLiteBufferAttrKey {
  // Invalid value.
  kTfLiteBufferAttrKeyUnknown = 0,
  // Name of the type of buffer, a string.
  kTfLiteBufferAttrKeyResourceTypeName = 1,
  // Alignment of the buffer's address in bytes, a size.
  kTfLiteBufferAttrKeyAlignment = 2,
  // Divisor of the buffer's size in bytes, a size.
  kTfLiteBufferAttrKeyPadding = 3,
  // Offset of the data in bytes, a size.
  kTfLiteBufferAttrKeyOffset = 4,
  // Size of the data in bytes, a size.
  kTfLiteBufferAttrKeySize = 5,
  // True if the memory is coherent between host and device at present, a bool.
  kTfLiteBufferAttrKeyCurrentHostCoherencyState = 6,
  // True if the memory should be coherent between host and device, a bool.
  kTfLiteBufferAttrKeyPreferredHostCoherencyState = 7,
  // True if the host's cache is up to date at present, a bool.
  kTfLiteBufferAttrKeyCurrentHostCacheState = 8,
  // True if the host's cache should be up to date, a bool.
  kTfLiteBufferAttrKeyPreferredHostCacheState = 9,
} TfLiteBufferAttrKey;

// Attributes of a synchronisation object.
typedef enum TfLiteSynchronizationAttrKey {
  // Invalid value.
  kTfLiteSynchronizationAttrKeyUnknown = 0,
  // Name of the type of object, a string.
  kTfLiteSynchronizationAttrKeyObjectTypeName = 1,
} TfLiteSynchronizationAttrKey;

// Creates an empty holder; the caller owns it. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteBackendBuffer* TfLiteBackendBufferCreate(void);

// Deletes the holder, not the object that its pointer points to.
TFL_CAPI_EXPORT void TfLiteBackendBufferDelete(TfLiteBackendBuffer* buf);

// Stores a pointer, which is borrowed.
TFL_CAPI_EXPORT void TfLiteBackendBufferSetPtr(TfLiteBackendBuffer* buf, void* ptr);

// Returns the stored pointer; NULL if there is none.
TFL_CAPI_EXPORT void* TfLiteBackendBufferGetPtr(const TfLiteBackendBuffer* buf);

// Creates an empty holder; the caller owns it. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteSynchronization* TfLiteSynchronizationCreate(void);

// Deletes the holder, not the object that its pointer points to.
TFL_CAPI_EXPORT void TfLiteSynchronizationDelete(TfLiteSynchronization* sync);

// Stores a pointer, which is borrowed.
TFL_CAPI_EXPORT void TfLiteSynchronizationSetPtr(TfLiteSynchronization* sync, void* ptr);

// Returns the stored pointer; NULL if there is none.
TFL_CAPI_EXPORT void* TfLiteSynchronizationGetPtr(const TfLiteSynchronization* sync);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_INTEROP_TYPES_H_
