// SPDX-License-Identifier: Apache-2.0
//
// Format of string tensors (abi.md, appendix A): the number of strings, the offset of each string
// and the end, all int32, then the characters.
#include "kernels/common/elements.h"
#include "kernels/common/rescale.h"

namespace deputy {
namespace {

int32_t NumberAt(const char* bytes, size_t index) {
  int32_t value;
  std::memcpy(&value, bytes + index * sizeof(value), sizeof(value));
  return value;
}

}  // namespace

TfLiteStatus ReserveStrings(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                            std::vector<std::string_view>* out) {
  DEPUTY_TRY(CheckContainerSize(context, tensor, count, sizeof(std::string_view), "strings"));
  if (count >= INT32_MAX / 4) {
    return TensorError(context, tensor, "out of memory for %lld strings",
                       static_cast<long long>(count));
  }
  out->resize(static_cast<size_t>(count));
  return kTfLiteOk;
}

TfLiteStatus ReadStrings(TfLiteContext* context, const TfLiteTensor* tensor,
                         std::vector<std::string_view>* out) {
  const int64_t count = ElementCount(tensor);
  out->clear();
  if (count == 0) return kTfLiteOk;
  const char* bytes = tensor->data.raw;
  const size_t size = bytes == nullptr ? 0 : tensor->bytes;
  const auto header = static_cast<uint64_t>(count + 2) * sizeof(int32_t);
  if (bytes == nullptr || size < header || NumberAt(bytes, 0) != count) {
    return TensorError(context, tensor, "expected %lld strings, found %lld in %zu bytes",
                       static_cast<long long>(count),
                       static_cast<long long>(size < sizeof(int32_t) ? 0 : NumberAt(bytes, 0)),
                       size);
  }
  DEPUTY_TRY(ReserveStrings(context, tensor, count, out));
  for (size_t i = 0; i < out->size(); ++i) {
    const int64_t begin = NumberAt(bytes, i + 1);
    const int64_t end = NumberAt(bytes, i + 2);
    if (begin < 0 || begin > end || end > static_cast<int64_t>(size)) {
      return TensorError(context, tensor, "string %zu lies outside of its %zu bytes", i, size);
    }
    (*out)[i] = std::string_view(bytes + begin, static_cast<size_t>(end - begin));
  }
  return kTfLiteOk;
}

TfLiteStatus WriteStrings(TfLiteContext* context, TfLiteTensor* tensor,
                          const std::vector<std::string_view>& strings) {
  size_t size = (strings.size() + 2) * sizeof(int32_t);
  for (std::string_view text : strings) size += text.size();
  if (size > INT32_MAX || size > LimitsOf(context).max_block_bytes ||
      TfLiteTensorRealloc(size, tensor) != kTfLiteOk) {
    return TensorError(context, tensor, "out of memory for %zu bytes of strings", size);
  }
  char* bytes = tensor->data.raw;
  const auto put = [bytes](size_t index, size_t value) {
    const auto number = static_cast<int32_t>(value);
    std::memcpy(bytes + index * sizeof(number), &number, sizeof(number));
  };
  size_t at = (strings.size() + 2) * sizeof(int32_t);
  put(0, strings.size());
  put(1, at);
  for (size_t i = 0; i < strings.size(); ++i) {
    if (!strings[i].empty()) std::memcpy(bytes + at, strings[i].data(), strings[i].size());
    at += strings[i].size();
    put(i + 2, at);
  }
  return kTfLiteOk;
}

ElementArrays::~ElementArrays() = default;

TfLiteStatus ElementArrays::Read(const TfLiteTensor* tensor, const void** out) {
  *out = tensor->data.data;
  if (tensor->type == kTfLiteString) {
    std::vector<std::string_view>& strings = held_.emplace_back().strings;
    DEPUTY_TRY(ReadStrings(context_, tensor, &strings));
    *out = strings.data();
  } else if (PackedBits(tensor->type) != 0) {
    const int64_t count = ElementCount(tensor);
    DEPUTY_TRY(CheckContainerSize(context_, tensor, count, sizeof(int8_t), "unpacked elements"));
    std::vector<int8_t>& values = held_.emplace_back().unpacked;
    values.resize(static_cast<size_t>(count));
    Unpack(tensor->type, Data<uint8_t>(tensor), count, values.data());
    *out = values.data();
  }
  return kTfLiteOk;
}

TfLiteStatus ElementArrays::Write(TfLiteTensor* tensor, void** out) {
  if (tensor->type == kTfLiteString) {
    Held& held = held_.emplace_back();
    held.written = tensor;
    DEPUTY_TRY(ReserveStrings(context_, tensor, ElementCount(tensor), &held.strings));
    *out = held.strings.data();
    return kTfLiteOk;
  }
  const void* elements = nullptr;
  DEPUTY_TRY(Read(tensor, &elements));
  if (PackedBits(tensor->type) != 0) held_.back().written = tensor;
  *out = const_cast<void*>(elements);
  return kTfLiteOk;
}

TfLiteStatus ElementArrays::Finish() {
  for (const Held& held : held_) {
    TfLiteTensor* tensor = held.written;
    if (tensor == nullptr) continue;
    if (tensor->type == kTfLiteString) {
      DEPUTY_TRY(WriteStrings(context_, tensor, held.strings));
    } else {
      Pack(tensor->type, held.unpacked.data(), ElementCount(tensor), Data<uint8_t>(tensor));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus CheckExactQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                    const TfLiteTensor* like) {
  if (tensor->params.scale == like->params.scale &&
      tensor->params.zero_point == like->params.zero_point) {
    return kTfLiteOk;
  }
  if (NeedsRescaling(context, tensor, like)) return kTfLiteOk;
  return TensorError(context, tensor,
                     "expected exactly scale %.9g and zero point %d like tensor %d, found %.9g and "
                     "%d",
                     static_cast<double>(like->params.scale), like->params.zero_point,
                     static_cast<int>(like - context->tensors),
                     static_cast<double>(tensor->params.scale), tensor->params.zero_point);
}

TfLiteStatus CopyTensor(TfLiteContext* context, const TfLiteTensor* from, TfLiteTensor* to) {
  if (to->type == kTfLiteString && (from->bytes > LimitsOf(context).max_block_bytes ||
                                    TfLiteTensorRealloc(from->bytes, to) != kTfLiteOk)) {
    return TensorError(context, to, "out of memory for %zu bytes", from->bytes);
  }
  if (to->bytes != from->bytes) {
    return TensorError(context, to, "expected %zu bytes, found %zu", from->bytes, to->bytes);
  }
  // `from` and `to` may be the same memory, for which memcpy is undefined.
  if (from->bytes > 0 && to->data.data != from->data.data) {
    constexpr int64_t kBytesPerTask = 32 * 1024;
    ParallelRanges(context, static_cast<int64_t>(from->bytes), kBytesPerTask,
                   [&](int64_t first, int64_t last) {
                     std::memcpy(to->data.raw + first, from->data.raw + first,
                                 static_cast<size_t>(last - first));
                   });
  }
  return kTfLiteOk;
}

}  // namespace deputy
