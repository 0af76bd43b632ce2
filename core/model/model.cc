// SPDX-License-Identifier: Apache-2.0
//
// Decodes bytes to a ModelDesc: the FlatBuffers verifier runs first, then the decoder copies the
// verified tables to plain structs, then core/model/model_check.cc checks those. The decoder only
// checks what it needs itself, and what the structs no longer contain: offsets in the file, and
// enumerators without a counterpart in the ABI.
//
// Pitfalls:
// - A FlatBuffer may refer to one table or vector from many places, so a small file can describe
// terabytes. All bytes that are copied here, or later per tensor or node, are therefore counted
// against a budget of 64 MiB plus eight times the file's size (Decoder::Spend).
// - The verifier accepts union members that it does not know; their tables must not be read.
#include "core/base/flatbuffers_access.h"
// flatbuffers_access.h is included before all other headers: it disables FlatBuffers' asserts.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <string>
#include <utility>

#include "core/base/memory.h"
#include "core/base/type_size.h"
#include "core/model/external_files.h"
#include "core/model/file_kind.h"
#include "core/model/model.h"
#include "core/model/model_bytes.h"
#include "core/model/model_check.h"
#include "core/model/model_limits.h"
#include "core/model/model_position.h"
#include "core/model/verify_model.h"
#include "core/support/compiled_model.h"
#include "schema_generated.h"

namespace deputy {
namespace {

constexpr char kNotAFlatbuffer[] = "The model is not a valid Flatbuffer buffer";

// Maximum size of a FlatBuffer: flatbuffers::Verifier asserts at 2^31 - 1. Larger files have their
// data after the FlatBuffer.
constexpr size_t kMaxFlatbufferBytes = (size_t{1} << 31) - 2;

// Maximum number of tables in a file: enough for 10^6 tensors with quantisation and buffers and
// 10^6 nodes with options.
constexpr uint32_t kMaxTables = 16'000'000;

// Copies of data that is not aligned for kernels in the file.
struct AlignedCopies {
  std::map<std::pair<const uint8_t*, size_t>, Block> constants;
  std::deque<std::vector<int64_t>> longs;
};

template <typename T>
std::span<const T> SpanOf(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr || vector->size() == 0) return {};
  return {vector->data(), vector->size()};
}

template <typename T>
size_t CountOf(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

const char* TextOf(const flatbuffers::String* string) {
  return string == nullptr ? "" : string->c_str();
}

// Returns the alignment that kernels require of a pointer to elements of `type`.
size_t ElementAlignment(TfLiteType type) {
  switch (type) {
    case kTfLiteString:
      return alignof(int32_t);
    case kTfLiteComplex64:
      return alignof(float);
    case kTfLiteComplex128:
      return alignof(double);
    default:
      return std::max<size_t>(TypeBytes(type), 1);
  }
}

class Decoder {
 public:
  Decoder(std::span<const uint8_t> file, const Limits& limits, AlignedCopies* copies,
          ExternalFiles* external, ErrorReporter* reporter)
      : file_(file),
        limits_(limits),
        copies_(copies),
        external_(external),
        reporter_(reporter),
        budget_((size_t{64} << 20) + 8 * file.size()) {}

  TfLiteStatus Decode(const schema::Model& model, ModelDesc* out);

 private:
  TfLiteStatus CheckCounts(const schema::Model& model, ModelCounts* out);
  TfLiteStatus DecodeSubgraph(const schema::SubGraph& subgraph, SubgraphDesc* out);
  TfLiteStatus DecodeTensor(const schema::Tensor& tensor, TensorDesc* out);
  TfLiteStatus DecodeQuantization(const schema::QuantizationParameters& parameters,
                                  QuantizationDesc* out);
  TfLiteStatus DecodeSparsity(const schema::SparsityParameters& parameters, SparsityDesc* out);
  TfLiteStatus DecodeIndexVector(schema::SparseIndexVector type, const void* table,
                                 std::vector<int32_t>* out);
  TfLiteStatus DecodeOperator(const schema::Operator& op, OperatorDesc* out);
  TfLiteStatus DecodeSignature(const schema::SignatureDef& signature, SignatureDesc* out);
  TfLiteStatus DecodeSignatureTensors(
      const flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>* maps, const char* what,
      std::vector<SignatureTensorDesc>* out);
  TfLiteStatus DecodeMetadata(const schema::Metadata& metadata, ModelDesc* out);

  TfLiteStatus FindBuffer(uint32_t index, std::span<const uint8_t>* out);
  TfLiteStatus FindIn(std::span<const uint8_t> file, const char* what, uint64_t offset,
                      uint64_t size, std::span<const uint8_t>* out);
  TfLiteStatus FindInFile(const char* what, uint64_t offset, uint64_t size,
                          std::span<const uint8_t>* out) {
    return FindIn(file_, what, offset, size, out);
  }
  TfLiteStatus FindExternal(uint32_t id, std::span<const uint8_t>* out);
  TfLiteStatus Align(size_t alignment, std::span<const uint8_t>* data);
  TfLiteStatus AlignLongs(const flatbuffers::Vector<int64_t>* vector,
                          std::span<const int64_t>* out);
  TfLiteStatus Spend(size_t bytes);
  // Returns a vector that is used in place; counts its bytes, since every interpreter copies it.
  template <typename T>
  TfLiteStatus SpanWithin(const flatbuffers::Vector<T>* vector, std::span<const T>* out) {
    *out = SpanOf(vector);
    return Spend(out->size_bytes());
  }

  // Rejects the model; the message begins with the current position (position_).
  TfLiteStatus Refuse(const char* format, ...) __attribute__((format(printf, 2, 3)));

  const std::span<const uint8_t> file_;
  const Limits& limits_;
  AlignedCopies* const copies_;
  ExternalFiles* const external_;
  ErrorReporter* const reporter_;
  const schema::Model* model_ = nullptr;
  ModelDesc* desc_ = nullptr;
  std::map<uint32_t, const schema::ExternalBuffer*> external_buffers_;  // by id
  size_t spent_ = 0;
  const size_t budget_;
  ModelPosition position_;  // of the part that is being decoded
};

TfLiteStatus Decoder::Refuse(const char* format, ...) {
  char reason[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  return Fail(reporter_, kTfLiteError, "Invalid model; %s%s", position_.Text().c_str(), reason);
}

TfLiteStatus Decoder::Spend(size_t bytes) {
  spent_ += bytes;  // cannot overflow: decoding ends at the first sum above the budget
  if (spent_ <= budget_ + external_->bytes()) return kTfLiteOk;
  return Refuse(
      "the same data is referenced too often: expected at most %zu bytes of descriptions in a file "
      "of %zu, found more",
      budget_, file_.size());
}

TfLiteStatus Decoder::FindIn(std::span<const uint8_t> file, const char* what, uint64_t offset,
                             uint64_t size, std::span<const uint8_t>* out) {
  if (offset > file.size() || size > file.size() - offset) {
    return Refuse("%s: expected to end within the file's %zu bytes, found offset %llu size %llu",
                  what, file.size(), static_cast<unsigned long long>(offset),
                  static_cast<unsigned long long>(size));
  }
  *out = file.subspan(offset, size);
  return kTfLiteOk;
}

// Finds the bytes of an external buffer, which are part of another file.
TfLiteStatus Decoder::FindExternal(uint32_t id, std::span<const uint8_t>* out) {
  const auto found = external_buffers_.find(id);
  if (found == external_buffers_.end()) {
    return Refuse("external buffer: expected one of %zu buffers, found id %u",
                  external_buffers_.size(), id);
  }
  const schema::ExternalBuffer& buffer = *found->second;
  const std::string_view packing = TextOf(buffer.packing());
  if (!packing.empty() && packing != "unpacked") {
    return Refuse("external buffer %u: packing: expected 'unpacked', found '%.32s'", id,
                  TextOf(buffer.packing()));
  }
  const size_t groups = CountOf(model_->external_buffer_groups());
  if (buffer.group() >= groups) {
    return Refuse("external buffer %u: group: expected one of %zu, found %u", id, groups,
                  buffer.group());
  }
  const auto* const name = model_->external_buffer_groups()->Get(buffer.group())->name();
  const std::string_view path = name == nullptr ? std::string_view() : name->string_view();
  std::span<const uint8_t> file;
  const std::string problem = external_->Open(path, limits_, &file);
  if (!problem.empty()) return Refuse("external buffer %u: %s", id, problem.c_str());
  char what[40];
  std::snprintf(what, sizeof what, "external buffer %u", id);
  return FindIn(file, what, buffer.offset(), buffer.length(), out);
}

// Finds the bytes of a buffer. Buffer 0 is the conventional "no data". Offsets 0 and 1 mean that
// the data is inline: writers use 1 as a placeholder.
TfLiteStatus Decoder::FindBuffer(uint32_t index, std::span<const uint8_t>* out) {
  *out = {};
  if (index == 0) return kTfLiteOk;
  const size_t count = CountOf(model_->buffers());
  if (index >= count) {
    return Refuse("buffer index: expected one of %zu buffers, found %u", count, index);
  }
  const schema::Buffer& buffer = *model_->buffers()->Get(index);
  if (buffer.offset() > 1) return FindInFile("buffer", buffer.offset(), buffer.size(), out);
  // An empty buffer has an address, unlike an absent one.
  if (buffer.data() != nullptr) *out = {buffer.data()->data(), buffer.data()->size()};
  return kTfLiteOk;
}

TfLiteStatus Decoder::Align(size_t alignment, std::span<const uint8_t>* data) {
  if (reinterpret_cast<uintptr_t>(data->data()) % alignment == 0) return kTfLiteOk;
  const auto [entry, is_new] =
      copies_->constants.try_emplace(std::pair(data->data(), data->size()));
  Block& block = entry->second;
  if (is_new) {
    if (Spend(data->size()) != kTfLiteOk) return kTfLiteError;
    if (!block.Reserve(data->size(), 0, limits_)) {
      return Refuse("no memory for an aligned copy of %zu bytes", data->size());
    }
    std::memcpy(block.data(), data->data(), data->size());
  }
  *data = {reinterpret_cast<const uint8_t*>(block.data()), data->size()};
  return kTfLiteOk;
}

TfLiteStatus Decoder::AlignLongs(const flatbuffers::Vector<int64_t>* vector,
                                 std::span<const int64_t>* out) {
  *out = {};
  if (CountOf(vector) == 0) return kTfLiteOk;
  const uint8_t* data = vector->Data();
  if (Spend(size_t{vector->size()} * sizeof(int64_t)) != kTfLiteOk) return kTfLiteError;
  if (reinterpret_cast<uintptr_t>(data) % alignof(int64_t) == 0) {
    *out = SpanOf(vector);
    return kTfLiteOk;
  }
  std::vector<int64_t>& copy = copies_->longs.emplace_back(vector->size());
  std::memcpy(copy.data(), data, copy.size() * sizeof(int64_t));
  *out = copy;
  return kTfLiteOk;
}

TfLiteStatus Decoder::CheckCounts(const schema::Model& model, ModelCounts* out) {
  out->operator_codes = CountOf(model.operator_codes());
  out->subgraphs = CountOf(model.subgraphs());
  out->signatures = CountOf(model.signature_defs());
  out->metadata = CountOf(model.metadata());
  for (size_t i = 0; i < out->subgraphs; ++i) {
    const schema::SubGraph& subgraph = *model.subgraphs()->Get(static_cast<uint32_t>(i));
    out->tensors += CountOf(subgraph.tensors());
    out->operators += CountOf(subgraph.operators());
  }
  const std::string exceeded = FindExceededLimit(*out, limits_);
  return exceeded.empty() ? kTfLiteOk : Refuse("%s", exceeded.c_str());
}

TfLiteStatus Decoder::Decode(const schema::Model& model, ModelDesc* out) {
  model_ = &model;
  desc_ = out;
  TF_LITE_ENSURE_STATUS(CheckCounts(model, &out->counts));
  out->schema_version = model.version();
  out->description = TextOf(model.description());

  out->operator_codes.resize(CountOf(model.operator_codes()));
  for (uint32_t i = 0; i < out->operator_codes.size(); ++i) {
    const schema::OperatorCode& code = *model.operator_codes()->Get(i);
    // Old writers filled only the one-byte field; newer ones cap it at 127.
    const int number = std::max(static_cast<int>(code.builtin_code()),
                                static_cast<int>(code.deprecated_builtin_code()));
    OperatorCodeDesc& desc = out->operator_codes[i];
    // The enum has the range of one byte. Numbers out of this range are unknown operators, as 255
    // is.
    desc.code = static_cast<TfLiteBuiltinOperator>(number < 0 || number > 255 ? 255 : number);
    desc.version = code.version();
    if (desc.code == kTfLiteBuiltinCustom) desc.custom_name = TextOf(code.custom_code());
  }

  for (uint32_t i = 0; i < CountOf(model.external_buffers()); ++i) {
    const schema::ExternalBuffer* const buffer = model.external_buffers()->Get(i);
    external_buffers_.emplace(buffer->id(), buffer);
  }
  out->subgraphs.resize(CountOf(model.subgraphs()));
  for (uint32_t i = 0; i < out->subgraphs.size(); ++i) {
    position_.EnterSubgraph(i);
    TF_LITE_ENSURE_STATUS(DecodeSubgraph(*model.subgraphs()->Get(i), &out->subgraphs[i]));
  }
  position_ = {};

  out->signatures.resize(CountOf(model.signature_defs()));
  for (uint32_t i = 0; i < out->signatures.size(); ++i) {
    position_.item = {"signature", i};
    TF_LITE_ENSURE_STATUS(DecodeSignature(*model.signature_defs()->Get(i), &out->signatures[i]));
  }
  for (uint32_t i = 0; i < CountOf(model.metadata()); ++i) {
    position_.item = {"metadata", i};
    TF_LITE_ENSURE_STATUS(DecodeMetadata(*model.metadata()->Get(i), out));
  }
  return kTfLiteOk;
}

TfLiteStatus Decoder::DecodeSubgraph(const schema::SubGraph& subgraph, SubgraphDesc* out) {
  out->name = TextOf(subgraph.name());
  out->complete = subgraph.tensors() != nullptr && subgraph.operators() != nullptr &&
                  model_->buffers() != nullptr;
  TF_LITE_ENSURE_STATUS(SpanWithin(subgraph.inputs(), &out->inputs));
  TF_LITE_ENSURE_STATUS(SpanWithin(subgraph.outputs(), &out->outputs));
  out->tensors.resize(CountOf(subgraph.tensors()));
  for (uint32_t i = 0; i < out->tensors.size(); ++i) {
    const schema::Tensor& tensor = *subgraph.tensors()->Get(i);
    position_.item = {"tensor", i, TextOf(tensor.name())};
    TF_LITE_ENSURE_STATUS(DecodeTensor(tensor, &out->tensors[i]));
  }
  out->operators.resize(CountOf(subgraph.operators()));
  for (uint32_t i = 0; i < out->operators.size(); ++i) {
    position_.item = {"node", i};
    TF_LITE_ENSURE_STATUS(DecodeOperator(*subgraph.operators()->Get(i), &out->operators[i]));
  }
  position_.item = {};
  return kTfLiteOk;
}

TfLiteStatus Decoder::DecodeTensor(const schema::Tensor& tensor, TensorDesc* out) {
  out->name = TextOf(tensor.name());
  out->is_variable = tensor.is_variable();
  out->type = TypeFromSchema(static_cast<int8_t>(tensor.type()));
  if (out->type == kTfLiteNoType) {
    return Refuse("type: expected 0..%d, found %d", static_cast<int>(schema::TensorType::MAX),
                  static_cast<int>(tensor.type()));
  }
  TF_LITE_ENSURE_STATUS(SpanWithin(tensor.shape(), &out->shape));
  out->has_signature = tensor.shape_signature() != nullptr;
  TF_LITE_ENSURE_STATUS(SpanWithin(tensor.shape_signature(), &out->signature));

  std::span<const uint8_t> data;
  TF_LITE_ENSURE_STATUS(tensor.external_buffer() != 0
                            ? FindExternal(tensor.external_buffer(), &data)
                            : FindBuffer(tensor.buffer(), &data));
  // A constant without elements has an empty buffer; other tensors with an empty buffer are no
  // constants.
  const bool is_empty_constant =
      data.empty() && !out->is_variable &&
      std::find(out->shape.begin(), out->shape.end(), 0) != out->shape.end();
  if (data.data() != nullptr && (!data.empty() || is_empty_constant)) {
    if (!data.empty()) TF_LITE_ENSURE_STATUS(Align(ElementAlignment(out->type), &data));
    out->data = data.data();
    out->bytes = data.size();
    // Sparsity of a tensor without data has no meaning and is ignored.
    if (tensor.sparsity() != nullptr) {
      out->sparsity = std::make_unique<SparsityDesc>();
      TF_LITE_ENSURE_STATUS(DecodeSparsity(*tensor.sparsity(), out->sparsity.get()));
    }
  }
  return tensor.quantization() == nullptr
             ? kTfLiteOk
             : DecodeQuantization(*tensor.quantization(), &out->quantization);
}

TfLiteStatus Decoder::DecodeQuantization(const schema::QuantizationParameters& parameters,
                                         QuantizationDesc* out) {
  out->dimension = parameters.quantized_dimension();
  if (const auto* blockwise = parameters.details_as_BlockwiseQuantization()) {
    out->type = kTfLiteBlockwiseQuantization;
    out->scales_tensor = blockwise->scales();
    out->zero_points_tensor = blockwise->zero_points();
    out->block_size = blockwise->block_size();
    return kTfLiteOk;
  }
  if (const auto* multi_axis = parameters.details_as_MultiAxisQuantization()) {
    out->type = kTfLiteMultiAxisQuantization;
    out->scales_tensor = multi_axis->scales();
    out->zero_points_tensor = multi_axis->zero_points();
    out->block_size = multi_axis->block_size();
    return SpanWithin(multi_axis->quantized_dimensions(), &out->dimensions);
  }
  if (CountOf(parameters.scale()) == 0) return kTfLiteOk;
  out->type = kTfLiteAffineQuantization;
  TF_LITE_ENSURE_STATUS(SpanWithin(parameters.scale(), &out->scale));
  return AlignLongs(parameters.zero_point(), &out->zero_point);
}

TfLiteStatus Decoder::DecodeSparsity(const schema::SparsityParameters& parameters,
                                     SparsityDesc* out) {
  TF_LITE_ENSURE_STATUS(SpanWithin(parameters.traversal_order(), &out->traversal_order));
  TF_LITE_ENSURE_STATUS(SpanWithin(parameters.block_map(), &out->block_map));
  const size_t levels = CountOf(parameters.dim_metadata());
  TF_LITE_ENSURE_STATUS(Spend(levels * sizeof(DimensionDesc)));
  out->dimensions.resize(levels);
  for (uint32_t i = 0; i < levels; ++i) {
    const schema::DimensionMetadata& level = *parameters.dim_metadata()->Get(i);
    DimensionDesc& desc = out->dimensions[i];
    desc.dense_size = level.dense_size();
    if (level.format() == schema::DimensionType::DENSE) continue;
    if (level.format() != schema::DimensionType::SPARSE_CSR) {
      return Refuse("sparsity level %u: expected format 0 or 1, found %d", i,
                    static_cast<int>(level.format()));
    }
    desc.sparse_csr = true;
    TF_LITE_ENSURE_STATUS(
        DecodeIndexVector(level.array_segments_type(), level.array_segments(), &desc.segments));
    TF_LITE_ENSURE_STATUS(
        DecodeIndexVector(level.array_indices_type(), level.array_indices(), &desc.indices));
  }
  return kTfLiteOk;
}

// Decodes a vector of indices. An absent vector, or one of an unknown kind, stays empty;
// model_check then rejects it if the level needs elements of it.
TfLiteStatus Decoder::DecodeIndexVector(schema::SparseIndexVector type, const void* table,
                                        std::vector<int32_t>* out) {
  const auto widen = [this, out](const auto* values) {
    if (CountOf(values) == 0) return kTfLiteOk;
    TF_LITE_ENSURE_STATUS(Spend(size_t{values->size()} * sizeof(int32_t)));
    out->assign(values->begin(), values->end());
    return kTfLiteOk;
  };
  if (table == nullptr) return kTfLiteOk;
  switch (type) {
    case schema::SparseIndexVector::Int32Vector:
      return widen(static_cast<const schema::Int32Vector*>(table)->values());
    case schema::SparseIndexVector::Uint16Vector:
      return widen(static_cast<const schema::Uint16Vector*>(table)->values());
    case schema::SparseIndexVector::Uint8Vector:
      return widen(static_cast<const schema::Uint8Vector*>(table)->values());
    default:
      return kTfLiteOk;
  }
}

// Returns the options of an operator from either union.
OpOptions OptionsOf(const schema::Operator& op) {
  const auto first = op.builtin_options_type();
  if (first != schema::BuiltinOptions::NONE && first <= schema::BuiltinOptions::MAX &&
      op.builtin_options() != nullptr) {
    return OpOptions({1, static_cast<uint8_t>(first)}, op.builtin_options());
  }
  const auto second = op.builtin_options_2_type();
  if (second != schema::BuiltinOptions2::NONE && second <= schema::BuiltinOptions2::MAX &&
      op.builtin_options_2() != nullptr) {
    return OpOptions({2, static_cast<uint8_t>(second)}, op.builtin_options_2());
  }
  return OpOptions();
}

TfLiteStatus Decoder::DecodeOperator(const schema::Operator& op, OperatorDesc* out) {
  out->code_index = op.opcode_index();
  if (out->code_index >= desc_->operator_codes.size()) {
    return Refuse("operator code index: expected one of %zu codes, found %u",
                  desc_->operator_codes.size(), out->code_index);
  }
  TF_LITE_ENSURE_STATUS(SpanWithin(op.inputs(), &out->inputs));
  TF_LITE_ENSURE_STATUS(SpanWithin(op.outputs(), &out->outputs));
  TF_LITE_ENSURE_STATUS(SpanWithin(op.intermediates(), &out->intermediates));
  out->options = OptionsOf(op);
  if (desc_->operator_codes[out->code_index].code != kTfLiteBuiltinCustom) return kTfLiteOk;
  if (op.large_custom_options_offset() > 1) {
    return FindInFile("custom options", op.large_custom_options_offset(),
                      op.large_custom_options_size(), &out->custom_options);
  }
  out->custom_options = SpanOf(op.custom_options());
  return kTfLiteOk;
}

TfLiteStatus Decoder::DecodeSignature(const schema::SignatureDef& signature, SignatureDesc* out) {
  if (signature.signature_key() == nullptr) return Refuse("expected a key, found none");
  out->key = signature.signature_key()->c_str();
  out->subgraph_index = signature.subgraph_index();
  TF_LITE_ENSURE_STATUS(DecodeSignatureTensors(signature.inputs(), "input", &out->inputs));
  return DecodeSignatureTensors(signature.outputs(), "output", &out->outputs);
}

TfLiteStatus Decoder::DecodeSignatureTensors(
    const flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>* maps, const char* what,
    std::vector<SignatureTensorDesc>* out) {
  TF_LITE_ENSURE_STATUS(Spend(CountOf(maps) * sizeof(SignatureTensorDesc)));
  out->reserve(CountOf(maps));
  for (uint32_t i = 0; i < CountOf(maps); ++i) {
    const schema::TensorMap& map = *maps->Get(i);
    if (map.name() == nullptr) return Refuse("%s %u: expected a name, found none", what, i);
    // An index of 2^31 or more becomes negative, which model_check rejects as out of range.
    out->push_back({map.name()->c_str(), static_cast<int32_t>(map.tensor_index())});
  }
  return kTfLiteOk;
}

TfLiteStatus Decoder::DecodeMetadata(const schema::Metadata& metadata, ModelDesc* out) {
  std::span<const uint8_t> data;
  TF_LITE_ENSURE_STATUS(FindBuffer(metadata.buffer(), &data));
  // Metadata without a name cannot be queried.
  if (metadata.name() != nullptr) out->metadata.push_back({metadata.name()->c_str(), data});
  return kTfLiteOk;
}

TfLiteStatus Verify(std::span<const uint8_t> bytes, ErrorReporter* reporter) {
  const auto flatbuffer = bytes.first(std::min(bytes.size(), kMaxFlatbufferBytes));
  if (VerifyModel(flatbuffer, kMaxTables)) return kTfLiteOk;
  constexpr size_t kIdentifierEnd = 8;
  if (bytes.size() < kIdentifierEnd || std::memcmp(bytes.data() + 4, "TFL3", 4) != 0) {
    const std::string kind = FileKind(bytes);
    const std::string detail =
        "expected the identifier TFL3 at byte 4" + (kind.empty() ? "" : "; this is " + kind);
    reporter->ReportWithDetail(detail.c_str(), "%s", kNotAFlatbuffer);
    return kTfLiteError;
  }
  const std::string damaged =
      "its " + std::to_string(bytes.size()) + " bytes are damaged or truncated";
  reporter->ReportWithDetail(damaged.c_str(), "%s", kNotAFlatbuffer);
  return kTfLiteError;
}

}  // namespace

struct Model::Storage {
  ModelBytes file;
  ExternalFiles external;
  AlignedCopies copies;
};

Model::Model() = default;
Model::~Model() = default;

std::shared_ptr<PackedConstants> Model::SharePackedConstants() const {
  const std::lock_guard lock(packed_constants_mutex_);
  std::shared_ptr<PackedConstants> shared = packed_constants_.lock();
  if (shared == nullptr) packed_constants_ = shared = std::make_shared<PackedConstants>();
  return shared;
}

const void* Model::ReadPart(const void* from, size_t bytes, void* to) const {
  if (storage_ == nullptr) return nullptr;
  const void* const read = storage_->file.ReadPart(from, bytes, to);
  return read != nullptr ? read : storage_->external.ReadPart(from, bytes, to);
}
size_t Model::ReleasePages(const void* from, size_t bytes) const {
  return storage_ == nullptr ? 0
                             : storage_->file.ReleasePages(from, bytes) +
                                   storage_->external.ReleasePages(from, bytes);
}

std::shared_ptr<const Model> Model::Load(std::unique_ptr<Storage> storage, ErrorReporter* reporter,
                                         const Limits& limits) {
  const std::shared_ptr<Model> model(new Model);
  model->bytes_ = storage->file.bytes();
  model->file_descriptor_ = storage->file.file_descriptor();
  model->storage_ = std::move(storage);
  CompiledModel compiled;
  const std::span<const char> file(reinterpret_cast<const char*>(model->bytes_.data()),
                                   model->bytes_.size());
  if (ParseCompiledModel(file, &compiled) == CompiledModelState::kCompiled) {
    for (const CompiledSection& section : compiled.sections) {
      if (section.owner != kCpuOwner) continue;
      model->packed_weights_ = model->bytes_.subspan(section.offset, section.bytes);
    }
    model->bytes_ = model->bytes_.first(compiled.model_bytes);
  }
  if (Verify(model->bytes_, reporter) != kTfLiteOk) return nullptr;
  Decoder decoder(model->bytes_, limits, &model->storage_->copies, &model->storage_->external,
                  reporter);
  if (decoder.Decode(*schema::GetModel(model->bytes_.data()), &model->desc_) != kTfLiteOk ||
      CheckModel(&model->desc_, limits, reporter) != kTfLiteOk) {
    return nullptr;
  }
  return model;
}

template <typename Open>
std::shared_ptr<const Model> Model::LoadFrom(Open open, ErrorReporter* reporter,
                                             const Limits& limits) {
  try {
    auto storage = std::make_unique<Storage>();
    if (!open(storage.get())) return nullptr;
    return Load(std::move(storage), reporter, limits);
  } catch (const std::exception&) {
    reporter->Report("The model could not be loaded: no memory for its description");
    return nullptr;
  }
}

std::shared_ptr<const Model> Model::FromBuffer(const void* data, size_t size,
                                               ErrorReporter* reporter, const Limits& limits) {
  return LoadFrom(
      [&](Storage* storage) { return storage->file.Borrow(data, size, limits, reporter); },
      reporter, limits);
}

std::shared_ptr<const Model> Model::FromFile(const char* path, ErrorReporter* reporter,
                                             const Limits& limits) {
  return LoadFrom(
      [&](Storage* storage) {
        storage->external.SetModel(path, false);
        return storage->file.Map(path, reporter);
      },
      reporter, limits);
}

std::shared_ptr<const Model> Model::FromFileByCopy(const char* path, ErrorReporter* reporter,
                                                   const Limits& limits) {
  return LoadFrom(
      [&](Storage* storage) {
        storage->external.SetModel(path, true);
        return storage->file.Read(path, limits, reporter);
      },
      reporter, limits);
}

std::shared_ptr<const Model> Model::Empty() { return std::shared_ptr<const Model>(new Model); }

}  // namespace deputy
