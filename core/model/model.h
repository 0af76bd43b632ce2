// SPDX-License-Identifier: Apache-2.0
//
// A loaded model: bytes that were verified as a FlatBuffer, decoded to the structs of model_desc.h,
// and checked by model_check. All data of a Model may be read without further checks. Of the code
// that reads models, only model.cc includes the generated schema.
#ifndef DEPUTY_CORE_MODEL_MODEL_H_
#define DEPUTY_CORE_MODEL_MODEL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/packed_constants.h"
#include "core/model/model_desc.h"

namespace deputy {

// Immutable after loading, except for packed constants. Any number of interpreters on any threads
// may share it.
class Model {
 public:
  ~Model();

  // On failure, and for a model beyond `limits`, the three functions return null after one report.
  // FromBuffer borrows `data` for the model's lifetime; data that is not 16-byte aligned is copied
  // once. FromFile maps the file and keeps its descriptor; FromFileByCopy reads it into memory,
  // which is safe if the file shrinks later.
  static std::shared_ptr<const Model> FromBuffer(const void* data, size_t size,
                                                 ErrorReporter* reporter,
                                                 const Limits& limits = Limits());
  static std::shared_ptr<const Model> FromFile(const char* path, ErrorReporter* reporter,
                                               const Limits& limits = Limits());
  static std::shared_ptr<const Model> FromFileByCopy(const char* path, ErrorReporter* reporter,
                                                     const Limits& limits = Limits());
  // Returns an empty model, for graphs that are not loaded from a file.
  static std::shared_ptr<const Model> Empty();

  const ModelDesc& desc() const { return desc_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Packed constants of a compiled model (core/support/compiled_model.h), which follow bytes();
  // empty for other files.
  std::span<const uint8_t> packed_weights() const { return packed_weights_; }
  // Descriptor of the mapped file; -1 if the model is not mapped.
  int file_descriptor() const { return file_descriptor_; }
  // Call ModelBytes and ExternalFiles. ReleasePages is for constants that have been packed or
  // copied.
  const void* ReadPart(const void* from, size_t bytes, void* to) const;
  size_t ReleasePages(const void* from, size_t bytes) const;
  // Returns the store of values that kernels compute from constants of this model: one object,
  // shared by the interpreters that hold it at the same time and released with the last of them.
  std::shared_ptr<PackedConstants> SharePackedConstants() const;

 private:
  struct Storage;
  Model();
  static std::shared_ptr<const Model> Load(std::unique_ptr<Storage> storage,
                                           ErrorReporter* reporter, const Limits& limits);
  template <typename Open>
  static std::shared_ptr<const Model> LoadFrom(Open open, ErrorReporter* reporter,
                                               const Limits& limits);

  std::unique_ptr<Storage> storage_;
  std::span<const uint8_t> bytes_, packed_weights_;
  int file_descriptor_ = -1;
  ModelDesc desc_;
  mutable std::mutex packed_constants_mutex_;
  mutable std::weak_ptr<PackedConstants> packed_constants_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_H_
