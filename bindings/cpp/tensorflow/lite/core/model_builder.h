// SPDX-License-Identifier: Apache-2.0
//
// FlatBufferModel: a model in memory. It must outlive the interpreters that are built from it, and
// can be used by several threads.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_BUILDER_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_BUILDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "flatbuffers/flatbuffers.h"
#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/api/verifier.h"
#include "tensorflow/lite/core/model_handle.h"
#include "tensorflow/lite/schema/schema_generated.h"
#include "tensorflow/lite/stderr_reporter.h"

// Names of entries of the model's metadata.
inline constexpr char tflite_metadata_buffer_location[] = "buffer_location";
inline constexpr char tflite_metadata_min_runtime_version[] = "min_runtime_version";

namespace tflite {

// Map a file, privately and writable with `allow_modifications`. The result is not valid() if that
// failed.
inline std::unique_ptr<Allocation> GetAllocationFromFile(const char* filename,
                                                         ErrorReporter* error_reporter,
                                                         bool allow_modifications = false) {
  return std::make_unique<MMAPAllocation>(filename, error_reporter, allow_modifications);
}

inline std::unique_ptr<Allocation> GetAllocationFromFile(int fd, ErrorReporter* error_reporter,
                                                         bool allow_modifications = false) {
  return std::make_unique<MMAPAllocation>(fd, error_reporter, allow_modifications);
}

namespace impl {

class InterpreterBuilder;

class FlatBufferModel {
 public:
  using Ptr = std::unique_ptr<FlatBufferModel>;

  // The factories return null after a report to `error_reporter`, which is borrowed; null stands
  // for DefaultErrorReporter(). Those that begin with Verify check the whole flatbuffer, and call
  // `extra_verifier` if there is one; the others check the header, and the rest is checked when an
  // interpreter is built.
  static Ptr BuildFromFile(const char* filename,
                           ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return BuildFromAllocation(GetAllocationFromFile(filename, error_reporter), error_reporter);
  }

  static Ptr VerifyAndBuildFromFile(const char* filename, TfLiteVerifier* extra_verifier = nullptr,
                                    ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return VerifyAndBuildFromAllocation(GetAllocationFromFile(filename, error_reporter),
                                        extra_verifier, error_reporter);
  }

  // The descriptor is duplicated.
  static Ptr BuildFromFileDescriptor(int fd,
                                     ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return BuildFromAllocation(GetAllocationFromFile(fd, error_reporter), error_reporter);
  }

  static Ptr VerifyAndBuildFromFileDescriptor(
      int fd, TfLiteVerifier* extra_verifier = nullptr,
      ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return VerifyAndBuildFromAllocation(GetAllocationFromFile(fd, error_reporter), extra_verifier,
                                        error_reporter);
  }

  // The buffer is borrowed: it must stay unchanged as long as the model and its interpreters.
  static Ptr BuildFromBuffer(const char* caller_owned_buffer, size_t buffer_size,
                             ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return BuildFromAllocation(
        std::make_unique<MemoryAllocation>(caller_owned_buffer, buffer_size, error_reporter),
        error_reporter);
  }

  static Ptr VerifyAndBuildFromBuffer(const char* caller_owned_buffer, size_t buffer_size,
                                      TfLiteVerifier* extra_verifier = nullptr,
                                      ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    return VerifyAndBuildFromAllocation(
        std::make_unique<MemoryAllocation>(caller_owned_buffer, buffer_size, error_reporter),
        extra_verifier, error_reporter);
  }

  static Ptr BuildFromAllocation(std::unique_ptr<Allocation> allocation,
                                 ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    if (allocation == nullptr || !allocation->valid()) {
      error_reporter->Report("The model allocation is null/empty");
      return nullptr;
    }
    Ptr model(new FlatBufferModel(std::move(allocation), error_reporter));
    if (!model->initialized()) return nullptr;
    model->ValidateModelBuffers(error_reporter);
    return model;
  }

  static Ptr VerifyAndBuildFromAllocation(std::unique_ptr<Allocation> allocation,
                                          TfLiteVerifier* extra_verifier = nullptr,
                                          ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    if (allocation == nullptr || !allocation->valid()) {
      error_reporter->Report("The model allocation is null/empty");
      return nullptr;
    }
    // Constants of large models follow the flatbuffer, which has less than 2 GiB.
    const size_t size =
        std::min(allocation->bytes(), static_cast<size_t>(FLATBUFFERS_MAX_BUFFER_SIZE - 1));
    flatbuffers::Verifier verifier(static_cast<const uint8_t*>(allocation->base()), size);
    if (!VerifyModelBuffer(verifier)) {
      error_reporter->Report("The model is not a valid Flatbuffer buffer");
      return nullptr;
    }
    if (extra_verifier != nullptr &&
        !extra_verifier->Verify(static_cast<const char*>(allocation->base()),
                                static_cast<int>(size), error_reporter)) {
      return nullptr;
    }
    return BuildFromAllocation(std::move(allocation), error_reporter);
  }

  // The model is borrowed; null is not reported. Interpreters use a copy of it, because its size is
  // not known; models with constants outside the flatbuffer are rejected.
  static Ptr BuildFromModel(const tflite::Model* caller_owned_model_spec,
                            ErrorReporter* error_reporter = DefaultErrorReporter()) {
    error_reporter = ReporterOrDefault(error_reporter);
    if (CheckBufferOutsideModel(caller_owned_model_spec)) {
      error_reporter->Report(
          "The model contains weights not accessible from tflite::Model *, please use other api");
      return nullptr;
    }
    if (caller_owned_model_spec == nullptr) return nullptr;
    Ptr model(new FlatBufferModel(caller_owned_model_spec, error_reporter));
    model->ValidateModelBuffers(error_reporter);
    return model;
  }

  FlatBufferModel(const FlatBufferModel&) = delete;
  FlatBufferModel& operator=(const FlatBufferModel&) = delete;
  ~FlatBufferModel() = default;

  static ErrorReporter* GetDefaultErrorReporter() { return DefaultErrorReporter(); }

  bool initialized() const { return model_ != nullptr; }
  const tflite::Model* operator->() const { return model_; }
  const tflite::Model* GetModel() const { return model_; }
  ErrorReporter* error_reporter() const { return error_reporter_; }
  // Returns the bytes of the model; null after BuildFromModel.
  const Allocation* allocation() const { return allocation_.get(); }

  // Returns the oldest version of TensorFlow Lite that can run the model, as far as the converter
  // knew it; "" if the model does not contain it.
  std::string GetMinimumRuntime() const {
    const flatbuffers::Vector<uint8_t>* const text =
        MetadataOf(model_, tflite_metadata_min_runtime_version);
    if (text == nullptr) return "";
    const void* const end = std::memchr(text->data(), '\0', text->size());
    if (end == nullptr) {
      error_reporter_->Report("Min_runtime_version in model metadata is malformed");
      return "";
    }
    return reinterpret_cast<const char*>(text->data());
  }

  // Returns the metadata by name, without empty entries.
  std::map<std::string, std::string> ReadAllMetadata() const { return ReadAllMetadata(model_); }

  static std::map<std::string, std::string> ReadAllMetadata(const tflite::Model* model) {
    std::map<std::string, std::string> entries;
    if (model == nullptr || model->metadata() == nullptr) return entries;
    for (const tflite::Metadata* entry : *model->metadata()) {
      const auto* const value = ContentsOf(model, entry);
      if (value == nullptr || value->size() == 0 || entry->name() == nullptr) continue;
      entries[entry->name()->str()] =
          std::string(reinterpret_cast<const char*>(value->data()), value->size());
    }
    return entries;
  }

  // Reports a model whose first buffer has contents outside the flatbuffer: tensors without
  // contents refer to it.
  void ValidateModelBuffers(ErrorReporter* error_reporter) {
    if (allocation_ != nullptr && !HasReadableBuffers()) return;
    const auto* const buffers = model_->buffers();
    if (buffers == nullptr || buffers->size() == 0) return;
    const tflite::Buffer* const first = buffers->Get(0);
    if (first != nullptr && first->size() != 0) {
      error_reporter->Report("The 0th entry of the model buffer must be an empty buffer.");
    }
  }

  // Returns true if the bytes have the identifier of the model format, else reports.
  bool CheckModelIdentifier() const {
    if (allocation_->bytes() < 8) {
      error_reporter_->Report("Model provided must have at least 7 bytes to hold identifier.\n");
      return false;
    }
    if (tflite::ModelBufferHasIdentifier(allocation_->base())) return true;
    const char* const found = flatbuffers::GetBufferIdentifier(allocation_->base());
    error_reporter_->Report("Model provided has model identifier '%c%c%c%c', should be '%s'\n",
                            found[0], found[1], found[2], found[3], tflite::ModelIdentifier());
    return false;
  }

  // Returns true if constants lie outside the flatbuffer.
  static bool CheckBufferOutsideModel(const tflite::Model* model) {
    return model != nullptr && HasMetadata(model, tflite_metadata_buffer_location);
  }

 private:
  friend class InterpreterBuilder;

  FlatBufferModel(std::unique_ptr<Allocation> allocation, ErrorReporter* error_reporter)
      : error_reporter_(error_reporter), allocation_(std::move(allocation)) {
    if (!CheckModelIdentifier()) return;
    if (!model_internal::HasRootTable(allocation_->base(), allocation_->bytes())) {
      error_reporter_->Report("The model is not a valid Flatbuffer buffer");
      return;
    }
    model_ = tflite::GetModel(allocation_->base());
  }

  FlatBufferModel(const tflite::Model* model, ErrorReporter* error_reporter)
      : model_(model), error_reporter_(error_reporter) {}

  static ErrorReporter* ReporterOrDefault(ErrorReporter* reporter) {
    return reporter != nullptr ? reporter : DefaultErrorReporter();
  }

  static const flatbuffers::Vector<uint8_t>* ContentsOf(const tflite::Model* model,
                                                        const tflite::Metadata* entry) {
    const auto* const buffers = model->buffers();
    if (entry == nullptr || buffers == nullptr || entry->buffer() >= buffers->size()) {
      return nullptr;
    }
    const tflite::Buffer* const buffer = buffers->Get(entry->buffer());
    return buffer == nullptr ? nullptr : buffer->data();
  }

  static const tflite::Metadata* FindMetadata(const tflite::Model* model, const char* name) {
    if (model == nullptr || model->metadata() == nullptr) return nullptr;
    for (const tflite::Metadata* entry : *model->metadata()) {
      if (entry != nullptr && entry->name() != nullptr && entry->name()->str() == name) {
        return entry;
      }
    }
    return nullptr;
  }

  static bool HasMetadata(const tflite::Model* model, const char* name) {
    return FindMetadata(model, name) != nullptr;
  }

  static const flatbuffers::Vector<uint8_t>* MetadataOf(const tflite::Model* model,
                                                        const char* name) {
    const tflite::Metadata* const entry = FindMetadata(model, name);
    return entry == nullptr ? nullptr : ContentsOf(model, entry);
  }

  // Returns true if the list of buffers and the first of them lie within the allocation.
  bool HasReadableBuffers() const {
    const auto* const begin = static_cast<const uint8_t*>(allocation_->base());
    const size_t size = allocation_->bytes();
    flatbuffers::Verifier verifier(begin, size);
    const auto* const table = reinterpret_cast<const flatbuffers::Table*>(model_);
    if (!table->VerifyTableStart(verifier)) return false;
    return table->VerifyOffset(verifier, Model::VT_BUFFERS) &&
           verifier.VerifyVector(model_->buffers()) &&
           (model_->buffers() == nullptr || model_->buffers()->size() == 0 ||
            HasReadableFirstBuffer(begin, size));
  }

  bool HasReadableFirstBuffer(const uint8_t* begin, size_t size) const {
    flatbuffers::Verifier verifier(begin, size);
    const auto* const offset = reinterpret_cast<const uint8_t*>(model_->buffers()->data());
    const size_t target = static_cast<size_t>(offset - begin) +
                          flatbuffers::ReadScalar<flatbuffers::uoffset_t>(offset);
    return target < size && verifier.VerifyTable(reinterpret_cast<const Buffer*>(begin + target));
  }

  // Returns the library's model; creates it at the first call. Null after a report.
  std::shared_ptr<model_internal::Handle> handle() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ == nullptr) {
      handle_ = allocation_ != nullptr
                    ? model_internal::Handle::Create(allocation_->base(), allocation_->bytes(),
                                                     error_reporter_)
                    : model_internal::Handle::Create(model_, error_reporter_);
    }
    return handle_;
  }

  const tflite::Model* model_ = nullptr;
  ErrorReporter* error_reporter_;
  std::unique_ptr<Allocation> allocation_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<model_internal::Handle> handle_;
};

}  // namespace impl

using FlatBufferModel = impl::FlatBufferModel;

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_BUILDER_H_
