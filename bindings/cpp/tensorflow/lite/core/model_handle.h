// SPDX-License-Identifier: Apache-2.0
//
// The model of the C API that belongs to a FlatBufferModel or InterpreterBuilder.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_HANDLE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_HANDLE_H_

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "tensorflow/lite/core/api/error_reporter.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite {
namespace model_internal {

// Copies a list of tables. Lists that are absent stay absent, empty ones stay empty.
template <class Table>
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<Table>>> CopyTables(
    flatbuffers::FlatBufferBuilder& out,
    const flatbuffers::Vector<flatbuffers::Offset<Table>>* source) {
  if (source == nullptr) return 0;
  std::vector<flatbuffers::Offset<Table>> copies;
  for (const Table* table : *source) {
    const std::unique_ptr<typename Table::NativeTableType> unpacked(table->UnPack());
    copies.push_back(Table::Pack(out, unpacked.get()));
  }
  return out.CreateVector(copies);
}

inline flatbuffers::Offset<flatbuffers::Vector<int32_t>> CopyNumbers(
    flatbuffers::FlatBufferBuilder& out, const flatbuffers::Vector<int32_t>* source) {
  if (source == nullptr) return 0;
  return out.CreateVector(source->data(), source->size());
}

// Copies a buffer. A buffer with an empty data vector is a constant without elements; one without a
// data vector is no constant. Pack() does not distinguish them.
inline flatbuffers::Offset<Buffer> CopyBuffer(flatbuffers::FlatBufferBuilder& out,
                                              const Buffer* source) {
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data = 0;
  if (source->data() != nullptr) {
    out.ForceVectorAlignment(source->data()->size(), sizeof(uint8_t), 16);
    data = out.CreateVector(source->data()->data(), source->data()->size());
  }
  return CreateBuffer(out, data, source->offset(), source->size());
}

inline flatbuffers::Offset<SubGraph> CopySubgraph(flatbuffers::FlatBufferBuilder& out,
                                                  const SubGraph* source) {
  const auto tensors = CopyTables(out, source->tensors());
  const auto inputs = CopyNumbers(out, source->inputs());
  const auto outputs = CopyNumbers(out, source->outputs());
  const auto operators = CopyTables(out, source->operators());
  flatbuffers::Offset<flatbuffers::String> name = 0;
  if (source->name() != nullptr) name = out.CreateString(source->name());
  return CreateSubGraph(out, tensors, inputs, outputs, operators, name);
}

inline void CopyModel(flatbuffers::FlatBufferBuilder& out, const Model* source) {
  std::vector<flatbuffers::Offset<Buffer>> buffers;
  if (source->buffers() != nullptr) {
    for (const Buffer* buffer : *source->buffers()) buffers.push_back(CopyBuffer(out, buffer));
  }
  std::vector<flatbuffers::Offset<SubGraph>> subgraphs;
  if (source->subgraphs() != nullptr) {
    for (const SubGraph* subgraph : *source->subgraphs()) {
      subgraphs.push_back(CopySubgraph(out, subgraph));
    }
  }
  const auto copied_subgraphs = out.CreateVector(subgraphs);
  const auto copied_buffers = out.CreateVector(buffers);
  const auto codes = CopyTables(out, source->operator_codes());
  const auto metadata_buffer = CopyNumbers(out, source->metadata_buffer());
  const auto metadata = CopyTables(out, source->metadata());
  const auto signatures = CopyTables(out, source->signature_defs());
  FinishModelBuffer(out, CreateModel(out, source->version(), codes, copied_subgraphs, 0,
                                     copied_buffers, metadata_buffer, metadata, signatures));
}

// A model that interpreters share, and its bytes if they are a copy.
class Handle {
 public:
  // Uses the bytes, which must stay valid and unchanged. Null if the library rejects the model,
  // which is reported.
  static std::shared_ptr<Handle> Create(const void* bytes, size_t size, ErrorReporter* reporter) {
    TfLiteModel* const model = TfLiteModelCreateWithErrorReporter(bytes, size, &Report, reporter);
    return model == nullptr ? nullptr : std::shared_ptr<Handle>(new Handle(model));
  }

  // Copies a model whose end is not known, because a flatbuffer does not contain its size.
  static std::shared_ptr<Handle> Create(const Model* source, ErrorReporter* reporter) {
    auto copy = std::make_unique<flatbuffers::FlatBufferBuilder>();
    CopyModel(*copy, source);
    auto handle = Create(copy->GetBufferPointer(), copy->GetSize(), reporter);
    if (handle != nullptr) handle->copy_ = std::move(copy);
    return handle;
  }

  ~Handle() { TfLiteModelDelete(model_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  TfLiteModel* get() const { return model_; }

 private:
  explicit Handle(TfLiteModel* model) : model_(model) {}

  static void Report(void* reporter, const char* format, va_list args) {
    static_cast<ErrorReporter*>(reporter)->Report(format, args);
  }

  TfLiteModel* model_;
  std::unique_ptr<flatbuffers::FlatBufferBuilder> copy_;
};

// Returns true if the bytes contain the root table and its vtable. The library verifies the other
// tables when an interpreter is built.
inline bool HasRootTable(const void* data, size_t size) {
  const auto* const bytes = static_cast<const uint8_t*>(data);
  const auto fits = [&](int64_t position, size_t length) {
    return position >= 0 && length <= size && static_cast<uint64_t>(position) <= size - length;
  };
  if (!fits(0, sizeof(flatbuffers::uoffset_t))) return false;
  const int64_t root = flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes);
  if (root < 4 || !fits(root, sizeof(flatbuffers::soffset_t))) return false;
  const int64_t vtable = root - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes + root);
  if (!fits(vtable, sizeof(flatbuffers::voffset_t))) return false;
  return fits(vtable, flatbuffers::ReadScalar<flatbuffers::voffset_t>(bytes + vtable));
}

}  // namespace model_internal
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_MODEL_HANDLE_H_
