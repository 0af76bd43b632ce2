// SPDX-License-Identifier: Apache-2.0
//
// The functions of extensions_c.h for tensors.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "deputy/deputy.h"
#include "mindspore/src/log.h"
#include "mindspore/src/tensor.h"

using namespace deputy::ms_api;  // NOLINT(google-build-using-namespace)

namespace {

// Texts are packed as in TensorFlow Lite and MindSpore Lite: the number of texts, their offsets
// and the size of the whole, all int32, and then the bytes.
constexpr size_t kWord = sizeof(int32_t);

// Reports that a function changes tensors of the caller only.
MSStatus FailForView(Tensor* tensor, const char* function) {
  return Fail(kMSStatusLiteNotSupport, "%s: tensor '%s' belongs to the runtime", function,
              tensor->name().c_str());
}

// Packs texts. Returns an empty vector if they are larger than an int32 can count.
std::vector<char> Pack(const char* const* texts, const size_t* sizes, size_t count) {
  const uint64_t header = (uint64_t{count} + 2) * kWord;
  uint64_t total = header;
  for (size_t i = 0; i < count && total <= INT32_MAX; ++i) {
    total += std::min<uint64_t>(sizes[i], INT32_MAX);
  }
  if (total > INT32_MAX) return {};
  std::vector<char> bytes(static_cast<size_t>(total));
  std::vector<int32_t> words = {static_cast<int32_t>(count)};
  auto end = static_cast<size_t>(header);
  for (size_t i = 0; i < count; ++i) {
    words.push_back(static_cast<int32_t>(end));
    if (sizes[i] > 0) std::memcpy(bytes.data() + end, texts[i], sizes[i]);
    end += sizes[i];
  }
  words.push_back(static_cast<int32_t>(end));
  std::memcpy(bytes.data(), words.data(), words.size() * kWord);
  return bytes;
}

int32_t WordAt(const char* bytes, size_t index) {
  int32_t word = 0;
  std::memcpy(&word, bytes + index * kWord, kWord);
  return word;
}

// Returns the number of packed texts; 0 if an offset is out of range.
size_t CountOfTexts(const char* bytes, size_t size) {
  if (bytes == nullptr || size < 2 * kWord) return 0;
  const int32_t count = WordAt(bytes, 0);
  if (count < 0 || (static_cast<uint64_t>(count) + 2) * kWord > size) return 0;
  int64_t last = (int64_t{count} + 2) * static_cast<int64_t>(kWord);
  for (size_t i = 1; i <= static_cast<size_t>(count) + 1; ++i) {
    const int32_t offset = WordAt(bytes, i);
    if (offset < last || static_cast<size_t>(offset) > size) return 0;
    last = offset;
  }
  return static_cast<size_t>(count);
}

}  // namespace

const char* DeputyMSVersion() {
  static const std::string version =
      std::string("Deputy ") + DeputyVersion() + ", API of MindSpore Lite 2.7";
  return version.c_str();
}

MSStatus DeputyMSTensorSetAllocator(MSTensorHandle tensor, const DeputyMSAllocator* allocator) {
  return Guard([&]() -> MSStatus {
    constexpr size_t kMinSize = offsetof(DeputyMSAllocator, release);
    DeputyMSAllocator functions = {};  // the heap
    if (allocator != nullptr) {
      if (allocator->struct_size < kMinSize) {
        return Fail(kMSStatusLiteParamInvalid,
                    "SetAllocator: expected a struct of at least %zu bytes, found %zu", kMinSize,
                    allocator->struct_size);
      }
      const bool has_release = allocator->struct_size >= sizeof functions;
      std::memcpy(&functions, allocator, has_release ? sizeof functions : kMinSize);
    }
    auto shared = std::make_shared<TensorAllocator>(functions);
    if (allocator != nullptr &&
        (functions.allocate == nullptr || functions.deallocate == nullptr)) {
      return Fail(kMSStatusLiteParamInvalid, "SetAllocator: a function is missing");
    }
    Tensor* const target = CheckedTensor(tensor, "SetAllocator");
    if (target == nullptr) return kMSStatusLiteNullptr;
    if (target->set_allocator(std::move(shared))) return kMSStatusSuccess;
    return FailForView(target, "SetAllocator");
  });
}

MSStatus DeputyMSTensorSetData(MSTensorHandle tensor, void* data, bool own_data) {
  Tensor* const target = CheckedTensor(tensor, "SetData");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return target->set_data(data, own_data) ? kMSStatusSuccess : FailForView(target, "SetData");
}

MSStatus DeputyMSTensorSetDeviceData(MSTensorHandle tensor, void* data) {
  Tensor* const target = CheckedTensor(tensor, "SetDeviceData");
  if (target == nullptr) return kMSStatusLiteNullptr;
  return Guard([&] {
    if (target->set_device_data(data)) return kMSStatusSuccess;
    return Fail(kMSStatusLiteUninitializedObj, "SetDeviceData: the model of tensor '%s' is gone",
                target->name().c_str());
  });
}

void* DeputyMSTensorGetDeviceData(MSTensorHandle tensor) {
  return tensor == nullptr ? nullptr : Tensor::Of(tensor)->device_data();
}

MSStatus DeputyMSTensorSetQuantParams(MSTensorHandle tensor, const DeputyMSQuantParam* params,
                                      size_t count) {
  Tensor* const target = CheckedTensor(tensor, "SetQuantParams");
  if (target == nullptr || (params == nullptr && count > 0)) return kMSStatusLiteNullptr;
  return Guard([&] {
    return target->set_quantization({params, count}) ? kMSStatusSuccess
                                                     : FailForView(target, "SetQuantParams");
  });
}

MSTensorHandle DeputyMSTensorCreateStrings(const char* name, const char* const* texts,
                                           const size_t* sizes, size_t count) {
  if (name == nullptr || (count > 0 && (texts == nullptr || sizes == nullptr))) {
    Fail(kMSStatusLiteNullptr, "StringsToTensor: name or texts are NULL");
    return nullptr;
  }
  MSTensorHandle handle = nullptr;
  Guard([&]() -> MSStatus {
    const std::vector<char> bytes = Pack(texts, sizes, count);
    if (bytes.empty()) {
      return Fail(kMSStatusLiteParamInvalid,
                  "StringsToTensor: tensor '%s': the texts have more than 2147483647 bytes", name);
    }
    auto tensor = std::make_unique<Tensor>(name, kMSDataTypeObjectTypeString,
                                           std::vector<int64_t>{static_cast<int64_t>(count)});
    if (!tensor->SetPackedTexts(bytes)) return Fail(kMSStatusLiteMemoryFailed, "out of memory");
    handle = tensor.release();
    return kMSStatusSuccess;
  });
  return handle;
}

size_t DeputyMSTensorGetString(MSTensorHandle tensor, size_t index, const char** text,
                               size_t* size) {
  Tensor* const source = CheckedTensor(tensor, "TensorToStrings");
  if (source == nullptr || source->type() != kMSDataTypeObjectTypeString) return 0;
  const auto* bytes = static_cast<const char*>(source->data());
  const size_t count = CountOfTexts(bytes, source->byte_size());
  if (index >= count) return count;
  const auto begin = static_cast<size_t>(WordAt(bytes, index + 1));
  if (text != nullptr) *text = bytes + begin;
  if (size != nullptr) *size = static_cast<size_t>(WordAt(bytes, index + 2)) - begin;
  return count;
}

void* DeputyMSTensorAttach(MSTensorHandle tensor, void* (*create)(),
                           void (*destroy)(void* object)) {
  if (tensor == nullptr || create == nullptr || destroy == nullptr) return nullptr;
  return Contain<void*>(nullptr, nullptr,
                        [&] { return Tensor::Of(tensor)->Attach(create, destroy); });
}
