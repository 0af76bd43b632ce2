// SPDX-License-Identifier: Apache-2.0
//
// Persistent cache of a delegate's data, in files below a directory. The file format and its
// guarantees are those of deputy/delegate_serialization.h: entries are complete or absent, and
// damaged ones count as absent. TensorFlow Lite cannot read these files, and this header cannot
// read those of TensorFlow Lite.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_SERIALIZATION_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_SERIALIZATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "deputy/delegate_serialization.h"
#include "tensorflow/lite/array.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite {
namespace delegates {
namespace serialization_internal {

inline std::uint64_t Fold(const DeputyFingerprint& fingerprint) {
  return fingerprint.words[0] ^ (fingerprint.words[1] * 0x9e3779b97f4a7c15U);
}

// Adds the sizes of tensors; null counts as an empty list, and a tensor out of range as one of 0
// bytes.
inline void AddSizes(DeputyFingerprint* fingerprint, const TfLiteContext* context,
                     const TfLiteIntArray* tensors) {
  std::vector<std::uint64_t> sizes;
  for (int i = 0; tensors != nullptr && i < tensors->size; ++i) {
    const auto index = static_cast<std::size_t>(tensors->data[i]);
    const bool in_range = context != nullptr && index < context->tensors_size;
    sizes.push_back(in_range ? context->tensors[index].bytes : 0);
  }
  DeputyFingerprintAdd(fingerprint, sizes.data(), sizes.size() * sizeof(std::uint64_t));
}

}  // namespace serialization_internal

// Hash of bytes as a decimal number.
inline std::string StrFingerprint(const void* data, const std::size_t num_bytes) {
  DeputyFingerprint fingerprint;
  DeputyFingerprintInit(&fingerprint);
  DeputyFingerprintAdd(&fingerprint, data, num_bytes);
  return std::to_string(serialization_internal::Fold(fingerprint));
}

// Location of one block of data.
class SerializationEntry {
 public:
  SerializationEntry(const SerializationEntry&) = delete;
  SerializationEntry& operator=(const SerializationEntry&) = delete;
  SerializationEntry(SerializationEntry&&) = default;

  std::uint64_t GetFingerprint() const { return fingerprint_; }

  // Replaces the entry. kTfLiteDelegateDataWriteError after a report, with the old entry kept.
  TfLiteStatus SetData(TfLiteContext* context, const char* data, const std::size_t size) const {
    const DeputyFingerprint key = Key();
    const DeputySerialization store = {cache_dir_.c_str(), model_token_.c_str()};
    if (DeputySerializationWrite(&store, &key, data, size) == kTfLiteOk) return kTfLiteOk;
    TF_LITE_KERNEL_LOG(context, "Failed to write data of model %s below %s", model_token_.c_str(),
                       cache_dir_.c_str());
    return kTfLiteDelegateDataWriteError;
  }

  // Stores the contents of the entry in `data`, which is empty on failure:
  // kTfLiteDelegateDataNotFound without a valid entry and for an empty one,
  // kTfLiteDelegateDataReadError if it cannot be read.
  TfLiteStatus GetData(TfLiteContext* context, std::string* data) const {
    if (data == nullptr) return kTfLiteError;
    data->clear();
    const DeputyFingerprint key = Key();
    const DeputySerialization store = {cache_dir_.c_str(), model_token_.c_str()};
    void* contents = nullptr;
    std::size_t size = 0;
    const TfLiteStatus status = DeputySerializationRead(&store, &key, &contents, &size);
    if (status == kTfLiteOk) data->assign(static_cast<const char*>(contents), size);
    std::free(contents);
    if (status == kTfLiteOk && size > 0) return kTfLiteOk;
    TF_LITE_KERNEL_LOG(context, "No serialized data of model %s found below %s",
                       model_token_.c_str(), cache_dir_.c_str());
    return status == kTfLiteOk ? kTfLiteDelegateDataNotFound : status;
  }

 protected:
  friend class Serialization;
  SerializationEntry(const std::string& cache_dir, const std::string& model_token,
                     const std::uint64_t fingerprint)
      : cache_dir_(cache_dir), model_token_(model_token), fingerprint_(fingerprint) {}

  const std::string cache_dir_;
  const std::string model_token_;
  const std::uint64_t fingerprint_ = 0;

 private:
  DeputyFingerprint Key() const {
    DeputyFingerprint key;
    DeputyFingerprintInit(&key);
    DeputyFingerprintAdd(&key, &fingerprint_, sizeof fingerprint_);
    return key;
  }
};

// Both texts are copied. `model_token` identifies the model, `cache_dir` exists or is created.
struct SerializationParams {
  const char* model_token;
  const char* cache_dir;
};

// Creates entries. Threads and processes may share a directory.
class Serialization {
 public:
  explicit Serialization(const SerializationParams& params)
      : cache_dir_(params.cache_dir == nullptr ? "" : params.cache_dir),
        model_token_(params.model_token == nullptr ? "" : params.model_token) {}
  Serialization(const Serialization&) = delete;
  Serialization& operator=(const Serialization&) = delete;

  // Entry of a delegate as a whole. `custom_key` has the options of the delegate.
  SerializationEntry GetEntryForDelegate(const std::string& custom_key, TfLiteContext* context) {
    return GetEntryImpl(custom_key, context);
  }

  // Entry of a partition.
  SerializationEntry GetEntryForKernel(const std::string& custom_key, TfLiteContext* context,
                                       const TfLiteDelegateParams* partition_params) {
    return GetEntryImpl(custom_key, context, partition_params);
  }

  // Hash of the token, the key, the number of tensors, the sizes of the first 100, and the nodes
  // and sizes of inputs and outputs of the partition.
  static std::uint64_t GetFingerprint(const std::string& model_token, const std::string& custom_key,
                                      TfLiteContext* context = nullptr,
                                      const TfLiteDelegateParams* delegate_params = nullptr) {
    DeputyFingerprint fingerprint;
    DeputyFingerprintInit(&fingerprint);
    DeputyFingerprintAdd(&fingerprint, model_token.data(), model_token.size());
    DeputyFingerprintAdd(&fingerprint, custom_key.data(), custom_key.size());
    if (context != nullptr) {
      std::vector<std::uint64_t> sizes = {context->tensors_size};
      for (std::size_t i = 0; i < std::min<std::size_t>(context->tensors_size, 100); ++i) {
        sizes.push_back(context->tensors[i].bytes);
      }
      DeputyFingerprintAdd(&fingerprint, sizes.data(), sizes.size() * sizeof(std::uint64_t));
    }
    if (delegate_params != nullptr) {
      DeputyFingerprintAddInts(&fingerprint, delegate_params->nodes_to_replace);
      serialization_internal::AddSizes(&fingerprint, context, delegate_params->input_tensors);
      serialization_internal::AddSizes(&fingerprint, context, delegate_params->output_tensors);
    }
    return serialization_internal::Fold(fingerprint);
  }

 protected:
  SerializationEntry GetEntryImpl(const std::string& custom_key, TfLiteContext* context = nullptr,
                                  const TfLiteDelegateParams* delegate_params = nullptr) {
    return SerializationEntry(cache_dir_, model_token_,
                              GetFingerprint(model_token_, custom_key, context, delegate_params));
  }

  const std::string cache_dir_;
  const std::string model_token_;
};

// Saves the nodes that a delegate supports. kTfLiteError for null.
inline TfLiteStatus SaveDelegatedNodes(TfLiteContext* context, Serialization* serialization,
                                       const std::string& delegate_id,
                                       const TfLiteIntArray* node_ids) {
  if (node_ids == nullptr) return kTfLiteError;
  const std::size_t size = (static_cast<std::size_t>(node_ids->size) + 1) * sizeof(int);
  return serialization->GetEntryForDelegate(delegate_id + "_dnodes", context)
      .SetData(context, reinterpret_cast<const char*>(node_ids), size);
}

// Stores the saved nodes in a new array, which the caller owns. kTfLiteDelegateDataNotFound if
// there are none; kTfLiteError for null.
inline TfLiteStatus GetDelegatedNodes(TfLiteContext* context, Serialization* serialization,
                                      const std::string& delegate_id, TfLiteIntArray** node_ids) {
  if (node_ids == nullptr) return kTfLiteError;
  std::string contents;
  TF_LITE_ENSURE_STATUS(serialization->GetEntryForDelegate(delegate_id + "_dnodes", context)
                            .GetData(context, &contents));
  std::vector<int> ints(contents.size() / sizeof(int));
  if (!ints.empty()) std::memcpy(ints.data(), contents.data(), ints.size() * sizeof(int));
  if (ints.empty() || ints[0] < 0 || static_cast<std::size_t>(ints[0]) != ints.size() - 1) {
    return kTfLiteDelegateDataNotFound;
  }
  *node_ids = BuildTfLiteArray(ints[0], ints.data() + 1).release();
  return *node_ids == nullptr ? kTfLiteError : kTfLiteOk;
}

}  // namespace delegates
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_SERIALIZATION_H_
