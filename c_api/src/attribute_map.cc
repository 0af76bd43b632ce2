// SPDX-License-Identifier: Apache-2.0
//
// Attribute maps. Upstream has them in a separate library for asynchronous delegates; here they are
// part of libdeputy.
#include "c_api/include/interop_attribute_map.h"

#include <map>
#include <string>
#include <variant>

#include "core/base/guard.h"

struct TfLiteAttributeMap {
  using Value = std::variant<int, size_t, const char*, bool>;
  TfLiteAttrMapType type;
  std::map<uint32_t, Value> by_number;
  std::map<std::string, Value> by_name;
};

namespace {

using deputy::Guard;

template <typename Map, typename Key, typename T>
bool Get(const Map& map, const Key& key, T* value) {
  const auto found = map.find(key);
  if (found == map.end() || value == nullptr) return false;
  const T* known = std::get_if<T>(&found->second);
  if (known != nullptr) *value = *known;
  return known != nullptr;
}

template <typename T>
bool GetNumbered(const TfLiteAttributeMap* attrs, uint32_t key, T* value) {
  return attrs != nullptr && Get(attrs->by_number, key, value);
}

template <typename T>
bool SetNumbered(TfLiteAttributeMap* attrs, uint32_t key, T value) {
  if (attrs == nullptr) return false;
  return Guard(false, [&] {
    attrs->by_number.insert_or_assign(key, value);
    return true;
  });
}

template <typename T>
bool GetNamed(const TfLiteAttributeMap* attrs, const char* key, T* value) {
  if (attrs == nullptr || key == nullptr) return false;
  return Guard(false, [&] { return Get(attrs->by_name, std::string(key), value); });
}

template <typename T>
void SetNamed(TfLiteAttributeMap* attrs, const char* key, T value) {
  if (attrs == nullptr || key == nullptr) return;
  Guard(deputy::Ignore, [&] { attrs->by_name.insert_or_assign(key, value); });
}

}  // namespace

TfLiteAttributeMap* TfLiteAttributeMapCreate(TfLiteAttrMapType type) {
  return Guard(nullptr, [&]() -> TfLiteAttributeMap* {
    return new TfLiteAttributeMap{type, {}, {}};
  });
}

void TfLiteAttributeMapDelete(TfLiteAttributeMap* attrs) { delete attrs; }

bool TfLiteAttributeMapIsBufferAttributeMap(const TfLiteAttributeMap* attrs) {
  return attrs != nullptr && attrs->type == kTfLiteAttrMapTypeBuffer;
}

bool TfLiteAttributeMapIsSyncAttributeMap(const TfLiteAttributeMap* attrs) {
  return attrs != nullptr && attrs->type == kTfLiteAttrMapTypeSync;
}

void TfLiteAttributeMapCopy(const TfLiteAttributeMap* src, TfLiteAttributeMap* dst) {
  if (src == nullptr || dst == nullptr) return;
  Guard(deputy::Ignore, [&] { *dst = *src; });
}

bool TfLiteAttributeMapGetSizeTBufferAttr(const TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                          size_t* val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && GetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapSetSizeTBufferAttr(TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                          size_t val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetStringBufferAttr(const TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                           const char** val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && GetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapSetStringBufferAttr(TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                           const char* val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetBoolBufferAttr(const TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                         bool* val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && GetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapSetBoolBufferAttr(TfLiteAttributeMap* attrs, TfLiteBufferAttrKey key,
                                         bool val) {
  return TfLiteAttributeMapIsBufferAttributeMap(attrs) && SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetStringSyncAttr(const TfLiteAttributeMap* attrs,
                                         TfLiteSynchronizationAttrKey key, const char** val) {
  return TfLiteAttributeMapIsSyncAttributeMap(attrs) && GetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapSetStringSyncAttr(TfLiteAttributeMap* attrs,
                                         TfLiteSynchronizationAttrKey key, const char* val) {
  return TfLiteAttributeMapIsSyncAttributeMap(attrs) && SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetIntAttr(const TfLiteAttributeMap* attrs, uint32_t key, int* val) {
  return GetNumbered(attrs, key, val);
}

void TfLiteAttributeMapSetIntAttr(TfLiteAttributeMap* attrs, uint32_t key, int val) {
  SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetCustomIntAttr(const TfLiteAttributeMap* attrs, const char* key,
                                        int* val) {
  return GetNamed(attrs, key, val);
}

void TfLiteAttributeMapSetCustomIntAttr(TfLiteAttributeMap* attrs, const char* key, int val) {
  SetNamed(attrs, key, val);
}

bool TfLiteAttributeMapGetSizeTAttr(const TfLiteAttributeMap* attrs, uint32_t key, size_t* val) {
  return GetNumbered(attrs, key, val);
}

void TfLiteAttributeMapSetSizeTAttr(TfLiteAttributeMap* attrs, uint32_t key, size_t val) {
  SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetCustomSizeTAttr(const TfLiteAttributeMap* attrs, const char* key,
                                          size_t* val) {
  return GetNamed(attrs, key, val);
}

void TfLiteAttributeMapSetCustomSizeTAttr(TfLiteAttributeMap* attrs, const char* key, size_t val) {
  SetNamed(attrs, key, val);
}

bool TfLiteAttributeMapGetStringAttr(const TfLiteAttributeMap* attrs, uint32_t key,
                                     const char** val) {
  return GetNumbered(attrs, key, val);
}

void TfLiteAttributeMapSetStringAttr(TfLiteAttributeMap* attrs, uint32_t key, const char* val) {
  SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetCustomStringAttr(const TfLiteAttributeMap* attrs, const char* key,
                                           const char** val) {
  return GetNamed(attrs, key, val);
}

void TfLiteAttributeMapSetCustomStringAttr(TfLiteAttributeMap* attrs, const char* key,
                                           const char* val) {
  SetNamed(attrs, key, val);
}

bool TfLiteAttributeMapGetBoolAttr(const TfLiteAttributeMap* attrs, uint32_t key, bool* val) {
  return GetNumbered(attrs, key, val);
}

void TfLiteAttributeMapSetBoolAttr(TfLiteAttributeMap* attrs, uint32_t key, bool val) {
  SetNumbered(attrs, key, val);
}

bool TfLiteAttributeMapGetCustomBoolAttr(const TfLiteAttributeMap* attrs, const char* key,
                                         bool* val) {
  return GetNamed(attrs, key, val);
}

void TfLiteAttributeMapSetCustomBoolAttr(TfLiteAttributeMap* attrs, const char* key, bool val) {
  SetNamed(attrs, key, val);
}
