// SPDX-License-Identifier: Apache-2.0
//
// Holders of one pointer: buffers and synchronisation objects of the asynchronous API.
#include <new>

#include "c_api/include/interop_types.h"

struct TfLiteBackendBuffer {
  void* pointer = nullptr;
};

struct TfLiteSynchronization {
  void* pointer = nullptr;
};

extern "C" {

TfLiteBackendBuffer* TfLiteBackendBufferCreate(void) {
  return new (std::nothrow) TfLiteBackendBuffer();
}

void TfLiteBackendBufferDelete(TfLiteBackendBuffer* buf) { delete buf; }

void TfLiteBackendBufferSetPtr(TfLiteBackendBuffer* buf, void* ptr) {
  if (buf != nullptr) buf->pointer = ptr;
}

void* TfLiteBackendBufferGetPtr(const TfLiteBackendBuffer* buf) {
  return buf == nullptr ? nullptr : buf->pointer;
}

TfLiteSynchronization* TfLiteSynchronizationCreate(void) {
  return new (std::nothrow) TfLiteSynchronization();
}

void TfLiteSynchronizationDelete(TfLiteSynchronization* sync) { delete sync; }

void TfLiteSynchronizationSetPtr(TfLiteSynchronization* sync, void* ptr) {
  if (sync != nullptr) sync->pointer = ptr;
}

void* TfLiteSynchronizationGetPtr(const TfLiteSynchronization* sync) {
  return sync == nullptr ? nullptr : sync->pointer;
}

}  // extern "C"
