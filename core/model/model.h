// SPDX-License-Identifier: Apache-2.0
//
// A loaded model: bytes, verified as a FlatBuffer, decoded into the structs of model_desc.h and
// checked by model_check. Everything behind a Model may be read without further checks.
//
// The generated schema is included in model.cc, and for its names in op_names.cc.
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

// Immutable after loading, but for what kernels pack, and shared by any number of interpreters on
// any threads.
class Model {
 public:
  ~Model();

  // Each returns null after one report, also for a model beyond `limits`. FromBuffer borrows `data`
  // for the model's life, unless it is not 16-byte aligned: then it is copied once. FromFile maps
  // the file and keeps its descriptor; FromFileByCopy reads it into memory, safe against a file
  // that later shrinks.
  static std::shared_ptr<const Model> FromBuffer(const void* data, size_t size,
                                                 ErrorReporter* reporter,
                                                 const Limits& limits = Limits());
  static std::shared_ptr<const Model> FromFile(const char* path, ErrorReporter* reporter,
                                               const Limits& limits = Limits());
  static std::shared_ptr<const Model> FromFileByCopy(const char* path, ErrorReporter* reporter,
                                                     const Limits& limits = Limits());
  // A model of nothing, for graphs that come from no file.
  static std::shared_ptr<const Model> Empty();

  const ModelDesc& desc() const { return desc_; }
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Descriptor of the mapped file, -1 when the model does not come from a map.
  int file_descriptor() const { return file_descriptor_; }
  // See ModelBytes; the second is for constants that have been packed.
  bool CopyBytes(const void* from, size_t bytes, void* to) const;
  void ReleasePages(const void* from, size_t bytes) const;
  // Returns the store of values that kernels compute from constants of this model: one object for
  // all interpreters that hold it at the same time, released with the last of them.
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
  std::span<const uint8_t> bytes_;
  int file_descriptor_ = -1;
  ModelDesc desc_;
  mutable std::mutex packed_constants_mutex_;
  mutable std::weak_ptr<PackedConstants> packed_constants_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_H_
