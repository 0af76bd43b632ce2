// SPDX-License-Identifier: Apache-2.0
//
// The FlatBuffer is made of FlatBuffers' object API: tables of the original file are copied, so
// that properties without an object (sparsity, variables, intermediate tensors) are kept, and their
// indices are replaced. Byte code and large constants follow the FlatBuffer; their positions are
// stored once its size is known.
#include "litert/src/model_serialize.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "litert/src/dispatch_op.h"
#include "litert/src/log.h"
#include "litert/src/table_alignment.h"
#include "tables_generated.h"

namespace deputy::litert {
namespace {

// Constants are appended if together they have more bytes: a FlatBuffer has less than 2 GiB.
constexpr size_t kMaxBytesInTables = size_t{1} << 30;
constexpr size_t kMaxFlatBuffer = (size_t{1} << 31) - 1;
constexpr size_t kConstantAlignment = 16;

// Refuses to grow beyond the size of a FlatBuffer, where the builder would only assert.
class BoundedAllocator : public flatbuffers::Allocator {
 public:
  uint8_t* allocate(size_t size) override {
    if (size > kMaxFlatBuffer) throw std::bad_alloc();
    return new uint8_t[size];
  }
  void deallocate(uint8_t* block, size_t) override { delete[] block; }
};

// The element type of a file; false for types that files cannot contain.
bool FileTypeOf(LiteRtElementType type, tables::TensorType* out_type) {
  using enum tables::TensorType;
  static const std::map<LiteRtElementType, tables::TensorType> kTypes = {
      {kLiteRtElementTypeBool, BOOL},
      {kLiteRtElementTypeInt2, INT2},
      {kLiteRtElementTypeInt4, INT4},
      {kLiteRtElementTypeInt8, INT8},
      {kLiteRtElementTypeInt16, INT16},
      {kLiteRtElementTypeInt32, INT32},
      {kLiteRtElementTypeInt64, INT64},
      {kLiteRtElementTypeUInt4, UINT4},
      {kLiteRtElementTypeUInt8, UINT8},
      {kLiteRtElementTypeUInt16, UINT16},
      {kLiteRtElementTypeUInt32, UINT32},
      {kLiteRtElementTypeUInt64, UINT64},
      {kLiteRtElementTypeFloat8E4M3FN, FLOAT8_E4M3FN},
      {kLiteRtElementTypeFloat8E5M2, FLOAT8_E5M2},
      {kLiteRtElementTypeFloat16, FLOAT16},
      {kLiteRtElementTypeBFloat16, BFLOAT16},
      {kLiteRtElementTypeFloat32, FLOAT32},
      {kLiteRtElementTypeFloat64, FLOAT64},
      {kLiteRtElementTypeComplex64, COMPLEX64},
      {kLiteRtElementTypeComplex128, COMPLEX128},
      {kLiteRtElementTypeTfResource, RESOURCE},
      {kLiteRtElementTypeTfString, STRING},
      {kLiteRtElementTypeTfVariant, VARIANT},
  };
  const auto found = kTypes.find(type);
  if (found == kTypes.end()) return false;
  *out_type = found->second;
  return true;
}

template <typename Object, typename Table>
const Object* SameTable(const Table* table) {
  return reinterpret_cast<const Object*>(table);
}

class Serializer {
 public:
  explicit Serializer(const LiteRtModelT& model) : model_(model) {
    if (!model.bytes.empty()) file_ = tables::GetModel(model.bytes.data());
  }

  LiteRtStatus Run(const std::vector<std::unique_ptr<LiteRtSignatureT>>& signatures,
                   size_t alignment, SerializedModel* out_file) {
    AddBuffer({});  // buffer 0 is empty
    ChooseAppended();
    for (const auto& subgraph : model_.subgraphs) LITERT_TRY(AddSubgraph(*subgraph));
    for (const auto& signature : model_.signatures) {
      if (!IsUnnamedDefault(*signature)) LITERT_TRY(AddSignature(*signature));
    }
    for (const auto& signature : signatures) LITERT_TRY(AddSignature(*signature));
    for (const auto& [name, bytes] : model_.metadata) AddMetadata(name, bytes);
    WriteFlatBuffer();
    return Append(alignment, out_file);
  }

 private:
  // An operator with byte code: its position, and its options with a provisional location.
  struct CompiledOp {
    size_t subgraph = 0, op = 0;
    const LiteRtOpT* object = nullptr;
  };

  // Finds the constants that follow the FlatBuffer: those that do so in the original file, or all
  // if they are large.
  void ChooseAppended() {
    size_t total = 0;
    for (const auto& subgraph : model_.subgraphs) {
      for (const auto& tensor : subgraph->tensors) total += tensor->weights.bytes.size();
    }
    appends_all_ = total > kMaxBytesInTables;
    if (file_ == nullptr || file_->buffers() == nullptr) return;
    for (const tables::Buffer* buffer : *file_->buffers()) {
      if (buffer->offset() > 1) appended_in_file_.insert(model_.bytes.data() + buffer->offset());
    }
  }

  uint32_t AddBuffer(Bytes bytes) {
    buffers_.push_back(bytes);
    return static_cast<uint32_t>(buffers_.size() - 1);
  }

  // Returns the index of a constant's buffer. Tensors that share bytes share the buffer.
  uint32_t BufferOf(Bytes bytes) {
    if (bytes.data() == nullptr) return 0;
    const auto [entry, is_new] = buffer_of_bytes_.try_emplace({bytes.data(), bytes.size()}, 0);
    if (is_new) {
      entry->second = AddBuffer(bytes);
      if (appends_all_ || appended_in_file_.count(bytes.data()) > 0) {
        appended_.push_back(entry->second);
      }
    }
    return entry->second;
  }

  uint32_t CodeOf(const LiteRtOpT& op) {
    const auto key = std::make_tuple(op.code, op.custom_code, op.version);
    const auto [entry, is_new] =
        index_of_code_.try_emplace(key, static_cast<uint32_t>(codes_.size()));
    if (is_new) {
      codes_.push_back(std::make_unique<tables::OperatorCodeT>());
      codes_.back()->builtin_code = static_cast<tables::BuiltinOperator>(op.code);
      codes_.back()->deprecated_builtin_code =
          static_cast<int8_t>(std::min(static_cast<int>(op.code), 127));
      codes_.back()->custom_code = op.custom_code;
      codes_.back()->version = op.version;
    }
    return entry->second;
  }

  // Stores the index of a tensor of the current subgraph.
  LiteRtStatus IndexOf(const LiteRtTensorT* tensor, int32_t* out_index) const {
    const auto found = index_of_tensor_.find(tensor);
    if (found == index_of_tensor_.end()) {
      return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                  "model: tensor '%s' is not in the subgraph that uses it",
                  tensor == nullptr ? "" : tensor->name.c_str());
    }
    *out_index = found->second;
    return kLiteRtStatusOk;
  }

  LiteRtStatus IndicesOf(const std::vector<LiteRtTensor>& tensors,
                         std::vector<int32_t>* out_indices) const {
    out_indices->clear();
    for (const LiteRtTensor tensor : tensors) {
      LITERT_TRY(IndexOf(tensor, &out_indices->emplace_back()));
    }
    return kLiteRtStatusOk;
  }

  // Stores the indices of an operator's tensors. `in_file` has -1 where an optional tensor is
  // absent, which has no object.
  LiteRtStatus OptionalIndicesOf(const std::vector<LiteRtTensor>& tensors,
                                 std::vector<int32_t> in_file,
                                 std::vector<int32_t>* out_indices) const {
    LITERT_TRY(IndicesOf(tensors, out_indices));
    const auto absent = static_cast<size_t>(std::count(in_file.begin(), in_file.end(), -1));
    if (in_file.size() != tensors.size() + absent) return kLiteRtStatusOk;
    auto present = out_indices->begin();
    for (int32_t& index : in_file) {
      if (index != -1) index = *present++;
    }
    *out_indices = std::move(in_file);
    return kLiteRtStatusOk;
  }

  // Describes the type of a tensor that is not in the original file.
  static LiteRtStatus DescribeType(const LiteRtTensorT& from, tables::TensorT* to) {
    if (!FileTypeOf(from.type.element_type, &to->type)) {
      return Fail(kLiteRtStatusErrorUnsupported, "model: tensor '%s': no file can contain type %d",
                  from.name.c_str(), static_cast<int>(from.type.element_type));
    }
    const int32_t* const dimensions = from.type.layout.dimensions;
    to->shape.assign(dimensions, dimensions + from.type.layout.rank);
    to->has_rank = true;
    if (std::count(to->shape.begin(), to->shape.end(), -1) > 0) {
      to->shape_signature = to->shape;
      std::replace(to->shape.begin(), to->shape.end(), -1, 1);
    }
    return kLiteRtStatusOk;
  }

  LiteRtStatus DescribeQuantization(const LiteRtTensorT& from, tables::TensorT* to) const {
    if (from.quantization == kLiteRtQuantizationNone) return kLiteRtStatusOk;
    to->quantization = std::make_unique<tables::QuantizationParametersT>();
    tables::QuantizationParametersT& parameters = *to->quantization;
    switch (from.quantization) {
      case kLiteRtQuantizationPerTensor:
        parameters.scale = {from.per_tensor.scale};
        parameters.zero_point = {from.per_tensor.zero_point};
        return kLiteRtStatusOk;
      case kLiteRtQuantizationPerChannel:
        parameters.scale = from.scales;
        parameters.zero_point = from.zero_points;
        parameters.quantized_dimension = from.per_channel.quantized_dimension;
        return kLiteRtStatusOk;
      default: {
        tables::BlockwiseQuantizationT blocks;
        blocks.block_size = from.block_wise.block_size;
        parameters.details.Set(std::move(blocks));
        return RenumberBlocks(from, &parameters);
      }
    }
  }

  LiteRtStatus RenumberBlocks(const LiteRtTensorT& from,
                              tables::QuantizationParametersT* to) const {
    tables::BlockwiseQuantizationT& blocks = *to->details.AsBlockwiseQuantization();
    blocks.zero_points = -1;
    LITERT_TRY(IndexOf(from.block_wise.scales, &blocks.scales));
    if (from.block_wise.zero_points == nullptr) return kLiteRtStatusOk;
    return IndexOf(from.block_wise.zero_points, &blocks.zero_points);
  }

  LiteRtStatus DescribeTensor(const LiteRtTensorT& from, tables::TensorT* to) {
    if (from.source != nullptr) {
      if (!HasAlignedLongs(*from.source)) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: tensor '%s': its zero points are not aligned in the file",
                    from.name.c_str());
      }
      SameTable<tables::Tensor>(from.source)->UnPackTo(to);
      if (from.quantization == kLiteRtQuantizationBlockWise) {
        LITERT_TRY(RenumberBlocks(from, to->quantization.get()));
      }
    } else {
      to->name = from.name;
      LITERT_TRY(DescribeType(from, to));
      LITERT_TRY(DescribeQuantization(from, to));
    }
    to->buffer = BufferOf(from.weights.bytes);
    return kLiteRtStatusOk;
  }

  LiteRtStatus DescribeOp(const LiteRtOpT& from, tables::OperatorT* to) {
    if (from.options != nullptr) {
      if (!HasAlignedLongs(*from.options)) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: operator with code %d: its options are not aligned in the file",
                    static_cast<int>(from.code));
      }
      SameTable<tables::Operator>(from.options)->UnPackTo(to);
    }
    const bool is_unknown = (to->builtin_options.type != tables::BuiltinOptions::NONE &&
                             to->builtin_options.value == nullptr) ||
                            (to->builtin_options_2.type != tables::BuiltinOptions2::NONE &&
                             to->builtin_options_2.value == nullptr);
    if (is_unknown) {
      return Fail(kLiteRtStatusErrorUnsupported,
                  "model: operator with code %d: its options have an unknown type",
                  static_cast<int>(from.code));
    }
    to->opcode_index = CodeOf(from);
    LITERT_TRY(OptionalIndicesOf(from.inputs, std::move(to->inputs), &to->inputs));
    LITERT_TRY(OptionalIndicesOf(from.outputs, std::move(to->outputs), &to->outputs));
    for (int32_t& index : to->intermediates) {
      if (index == -1) continue;
      const auto found = index_of_source_.find(index);
      if (found == index_of_source_.end()) {
        return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                    "model: operator with code %d: intermediate tensor %d is not in the subgraph",
                    static_cast<int>(from.code), index);
      }
      index = found->second;
    }
    to->custom_options.assign(from.custom_options.begin(), from.custom_options.end());
    to->large_custom_options_offset = to->large_custom_options_size = 0;
    if (!from.byte_code.empty()) {
      to->custom_options = WriteDispatchOptions({.name = from.entry_point});
    }
    return kLiteRtStatusOk;
  }

  LiteRtStatus AddSubgraph(const LiteRtSubgraphT& from) {
    index_of_tensor_.clear();
    index_of_source_.clear();
    for (const auto& tensor : from.tensors) {
      const auto index = static_cast<int32_t>(index_of_tensor_.size());
      index_of_tensor_.emplace(tensor.get(), index);
      if (tensor->source != nullptr) {
        index_of_source_.emplace(static_cast<int32_t>(tensor->index), index);
      }
    }
    auto to = std::make_unique<tables::SubGraphT>();
    to->name = from.name;
    for (const auto& tensor : from.tensors) {
      to->tensors.push_back(std::make_unique<tables::TensorT>());
      LITERT_TRY(DescribeTensor(*tensor, to->tensors.back().get()));
    }
    for (const auto& op : from.ops) {
      if (!op->byte_code.empty()) {
        compiled_.push_back({subgraphs_.size(), to->operators.size(), op.get()});
      }
      to->operators.push_back(std::make_unique<tables::OperatorT>());
      LITERT_TRY(DescribeOp(*op, to->operators.back().get()));
    }
    LITERT_TRY(IndicesOf(from.inputs, &to->inputs));
    LITERT_TRY(IndicesOf(from.outputs, &to->outputs));
    subgraphs_.push_back(std::move(to));
    return kLiteRtStatusOk;
  }

  static void NameTensors(const std::vector<std::string>& names,
                          const std::vector<int32_t>& indices,
                          std::vector<std::unique_ptr<tables::TensorMapT>>* to) {
    for (size_t i = 0; i < names.size() && i < indices.size(); ++i) {
      to->push_back(std::make_unique<tables::TensorMapT>());
      to->back()->name = names[i];
      to->back()->tensor_index = static_cast<uint32_t>(indices[i]);
    }
  }

  // Returns true for the signature of a model without signatures if a tensor has no name; a file
  // needs names in signatures.
  static bool IsUnnamedDefault(const LiteRtSignatureT& signature) {
    const auto lacks_name = [](const std::vector<std::string>& names) {
      return std::any_of(names.begin(), names.end(),
                         [](const std::string& name) { return name.empty(); });
    };
    return signature.key == kDefaultSignatureKey &&
           (lacks_name(signature.input_names) || lacks_name(signature.output_names));
  }

  LiteRtStatus AddSignature(const LiteRtSignatureT& from) {
    const auto found =
        std::find_if(model_.subgraphs.begin(), model_.subgraphs.end(),
                     [&](const auto& subgraph) { return subgraph.get() == from.subgraph; });
    if (found == model_.subgraphs.end()) {
      return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                  "model: the subgraph of signature '%s' is not in the model", from.key.c_str());
    }
    auto to = std::make_unique<tables::SignatureDefT>();
    const auto position = static_cast<size_t>(found - model_.subgraphs.begin());
    to->signature_key = from.key;
    to->subgraph_index = static_cast<uint32_t>(position);
    NameTensors(from.input_names, subgraphs_[position]->inputs, &to->inputs);
    NameTensors(from.output_names, subgraphs_[position]->outputs, &to->outputs);
    signatures_.push_back(std::move(to));
    return kLiteRtStatusOk;
  }

  void AddMetadata(const std::string& name, Bytes bytes) {
    metadata_.push_back(std::make_unique<tables::MetadataT>());
    metadata_.back()->name = name;
    metadata_.back()->buffer = AddBuffer(bytes);
  }

  // Packs a list of objects.
  template <typename Object>
  auto Pack(const std::vector<std::unique_ptr<Object>>& list) {
    std::vector<flatbuffers::Offset<typename Object::TableType>> tables;
    tables.reserve(list.size());
    for (const auto& object : list) {
      tables.push_back(Object::TableType::Pack(builder_, object.get()));
    }
    return builder_.CreateVector(tables);
  }

  // Packs the subgraphs. Their lists are written even if they are empty: loaders require them.
  auto PackSubgraphs() {
    std::vector<flatbuffers::Offset<tables::SubGraph>> list;
    for (const auto& subgraph : subgraphs_) {
      const auto tensors = Pack(subgraph->tensors);
      const auto inputs = builder_.CreateVector(subgraph->inputs);
      const auto outputs = builder_.CreateVector(subgraph->outputs);
      const auto operators = Pack(subgraph->operators);
      const auto name = builder_.CreateString(subgraph->name);
      list.push_back(tables::CreateSubGraph(builder_, tensors, inputs, outputs, operators, name));
    }
    return builder_.CreateVector(list);
  }

  // Packs the external buffers, and groups of them, of the original file.
  template <typename Object, typename Tables>
  auto Copy(const Tables* tables) {
    std::vector<std::unique_ptr<Object>> list;
    for (uint32_t i = 0; tables != nullptr && i < tables->size(); ++i) {
      list.emplace_back(tables->Get(i)->UnPack());
    }
    return Pack(list);
  }

  flatbuffers::Offset<tables::Buffer> WriteBuffer(uint32_t index) {
    // The final numbers have the size of these.
    if (std::binary_search(appended_.begin(), appended_.end(), index)) {
      return tables::CreateBuffer(builder_, 0, 1, 1);
    }
    const Bytes bytes = buffers_[index];
    if (bytes.data() == nullptr) return tables::CreateBuffer(builder_);
    builder_.ForceVectorAlignment(bytes.size(), 1, kConstantAlignment);
    return tables::CreateBuffer(builder_, builder_.CreateVector(bytes.data(), bytes.size()));
  }

  void WriteFlatBuffer() {
    std::vector<flatbuffers::Offset<tables::Buffer>> buffers;
    for (uint32_t i = 0; i < buffers_.size(); ++i) buffers.push_back(WriteBuffer(i));
    std::vector<int32_t> metadata_buffers;
    for (const auto& metadata : metadata_) {
      metadata_buffers.push_back(static_cast<int32_t>(metadata->buffer));
    }
    const bool has_description = file_ != nullptr && file_->description() != nullptr;
    const auto description =
        builder_.CreateString(has_description ? file_->description()->str() : "");
    const auto codes = Pack(codes_);
    const auto subgraphs = PackSubgraphs();
    const auto buffer_list = builder_.CreateVector(buffers);
    const auto metadata_buffer = builder_.CreateVector(metadata_buffers);
    const auto metadata = Pack(metadata_);
    const auto signatures = Pack(signatures_);
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tables::ExternalBufferGroup>>>
        groups;
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tables::ExternalBuffer>>> external;
    if (file_ != nullptr && file_->external_buffers() != nullptr) {
      groups = Copy<tables::ExternalBufferGroupT>(file_->external_buffer_groups());
      external = Copy<tables::ExternalBufferT>(file_->external_buffers());
    }
    tables::FinishModelBuffer(
        builder_, tables::CreateModel(builder_, 3, codes, subgraphs, description, buffer_list,
                                      metadata_buffer, metadata, signatures, groups, external));
  }

  // Returns the end of the file after `size` more bytes at a multiple of `alignment`, and their
  // offset; false if the number is too large.
  static bool Place(size_t size, size_t alignment, size_t* end, size_t* out_offset) {
    const size_t remainder = alignment == 0 ? 0 : *end % alignment;
    const size_t padding = remainder == 0 ? 0 : alignment - remainder;
    constexpr size_t kMax = std::numeric_limits<ptrdiff_t>::max();
    if (padding > kMax - *end || size > kMax - *end - padding) return false;
    *out_offset = *end + padding;
    *end = *out_offset + size;
    return true;
  }

  bool IsInFile(Bytes part) const {
    const auto address = reinterpret_cast<uintptr_t>(part.data());
    const auto begin = reinterpret_cast<uintptr_t>(model_.bytes.data());
    return address >= begin && address - begin < model_.bytes.size();
  }

  // Chooses the position of a part after the FlatBuffer. Parts with the same bytes have one.
  LiteRtStatus PlacePart(Bytes bytes, size_t alignment, size_t* end, size_t* out_offset) {
    const auto [entry, is_new] = offset_of_part_.try_emplace({bytes.data(), bytes.size()}, 0);
    if (is_new && IsInFile(bytes)) bytes_in_file_ += bytes.size();
    if (bytes_in_file_ > model_.bytes.size()) {
      return Fail(kLiteRtStatusErrorInvalidGraphInvariant,
                  "model: byte code or constants after the FlatBuffer overlap");
    }
    if (is_new && !Place(bytes.size(), alignment, end, &entry->second)) {
      return Fail(kLiteRtStatusErrorInvalidArgument, "model: bytecode_alignment %zu is too large",
                  alignment);
    }
    *out_offset = entry->second;
    return kLiteRtStatusOk;
  }

  // Writes the file: the FlatBuffer, byte code and constants.
  LiteRtStatus Append(size_t alignment, SerializedModel* out_file) {
    size_t end = builder_.GetSize(), offset = 0;
    const auto* const model = tables::GetModel(builder_.GetBufferPointer());
    for (const CompiledOp& compiled : compiled_) {
      LITERT_TRY(PlacePart(compiled.object->byte_code, alignment, &end, &offset));
      StoreByteCode(*model, compiled, offset);
    }
    for (const uint32_t index : appended_) {
      LITERT_TRY(PlacePart(buffers_[index], kConstantAlignment, &end, &offset));
      auto* const buffer = const_cast<flatbuffers::Table*>(
          reinterpret_cast<const flatbuffers::Table*>(model->buffers()->Get(index)));
      buffer->SetField<uint64_t>(tables::Buffer::VT_OFFSET, offset, 0);
      buffer->SetField<uint64_t>(tables::Buffer::VT_SIZE, buffers_[index].size(), 0);
    }
    auto* const block = static_cast<uint8_t*>(std::calloc(end, 1));
    if (block == nullptr) throw std::bad_alloc();
    std::memcpy(block, builder_.GetBufferPointer(), builder_.GetSize());
    for (const auto& [part, position] : offset_of_part_) {
      if (part.second > 0) std::memcpy(block + position, part.first, part.second);
    }
    *out_file = {.block = block, .size = end};
    return kLiteRtStatusOk;
  }

  // Replaces the provisional options of an operator by those with its byte code's location.
  static void StoreByteCode(const tables::Model& model, const CompiledOp& compiled, size_t offset) {
    const std::vector<uint8_t> options =
        WriteDispatchOptions({.offset = offset,
                              .size = compiled.object->byte_code.size(),
                              .name = compiled.object->entry_point});
    const auto* const old = model.subgraphs()
                                ->Get(static_cast<uint32_t>(compiled.subgraph))
                                ->operators()
                                ->Get(static_cast<uint32_t>(compiled.op))
                                ->custom_options();
    std::memcpy(const_cast<uint8_t*>(old->data()), options.data(), options.size());
  }

  using Part = std::pair<const uint8_t*, size_t>;

  const LiteRtModelT& model_;
  const tables::Model* file_ = nullptr;  // the original file; null: there is none

  std::vector<Bytes> buffers_;
  std::map<Part, uint32_t> buffer_of_bytes_;
  std::set<const uint8_t*> appended_in_file_;  // addresses of constants after the FlatBuffer
  bool appends_all_ = false;
  std::vector<uint32_t> appended_;  // buffers after the FlatBuffer, ascending
  std::map<std::tuple<LiteRtOpCode, std::string, int32_t>, uint32_t> index_of_code_;
  std::unordered_map<const LiteRtTensorT*, int32_t> index_of_tensor_;  // of the current subgraph
  std::unordered_map<int32_t, int32_t> index_of_source_;  // by the index in the original file
  std::vector<CompiledOp> compiled_;

  std::vector<std::unique_ptr<tables::OperatorCodeT>> codes_;
  std::vector<std::unique_ptr<tables::SubGraphT>> subgraphs_;
  std::vector<std::unique_ptr<tables::SignatureDefT>> signatures_;
  std::vector<std::unique_ptr<tables::MetadataT>> metadata_;
  BoundedAllocator allocator_;
  flatbuffers::FlatBufferBuilder builder_{1024, &allocator_};
  size_t bytes_in_file_ = 0;  // sum of the parts from the original file; overlaps would multiply it
  std::map<Part, size_t> offset_of_part_;  // positions of byte code and appended constants
};

// Returns a signature with the names of a subgraph's tensors.
std::unique_ptr<LiteRtSignatureT> SignatureOf(LiteRtSubgraphT* subgraph, const char* key) {
  auto signature = std::make_unique<LiteRtSignatureT>();
  signature->key = key;
  signature->subgraph = subgraph;
  for (const LiteRtTensor input : subgraph->inputs) signature->input_names.push_back(input->name);
  for (const LiteRtTensor output : subgraph->outputs) {
    signature->output_names.push_back(output->name);
  }
  return signature;
}

}  // namespace

LiteRtStatus SerializeModel(const LiteRtModelT& model,
                            const std::vector<std::unique_ptr<LiteRtSignatureT>>& signatures,
                            size_t alignment, SerializedModel* out_file) {
  return Serializer(model).Run(signatures, alignment, out_file);
}

}  // namespace deputy::litert

using deputy::litert::Fail;
using deputy::litert::Guard;
using deputy::litert::SerializedModel;
using deputy::litert::SerializeModel;
using deputy::litert::SignatureOf;

LiteRtStatus LiteRtSerializeModelWithSignatures(LiteRtModel model, uint8_t** buf, size_t* size,
                                                size_t* offset, bool destroy_model,
                                                char** signatures, LiteRtParamIndex num_signatures,
                                                LiteRtModelSerializationOptions options) {
  if (model == nullptr || buf == nullptr || size == nullptr || offset == nullptr ||
      (num_signatures > 0 && signatures == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const LiteRtStatus status = Guard([&] {
    if (num_signatures != model->subgraphs.size()) {
      return Fail(kLiteRtStatusErrorInvalidArgument, "model: expected %zu signatures, found %zu",
                  model->subgraphs.size(), num_signatures);
    }
    std::vector<std::unique_ptr<LiteRtSignatureT>> added;
    for (size_t i = 0; i < num_signatures; ++i) {
      if (signatures[i] == nullptr) continue;
      added.push_back(SignatureOf(model->subgraphs[i].get(), signatures[i]));
    }
    SerializedModel file;
    LITERT_TRY(SerializeModel(*model, added, options.bytecode_alignment, &file));
    *buf = file.block;
    *size = file.size;
    *offset = 0;
    return kLiteRtStatusOk;
  });
  if (destroy_model) LiteRtDestroyModel(model);
  return status;
}

LiteRtStatus LiteRtSerializeModel(LiteRtModel model, uint8_t** buf, size_t* size, size_t* offset,
                                  bool destroy_model, LiteRtModelSerializationOptions options) {
  if (model == nullptr || buf == nullptr || size == nullptr || offset == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const LiteRtStatus status = Guard([&] {
    SerializedModel file;
    LITERT_TRY(SerializeModel(*model, {}, options.bytecode_alignment, &file));
    *buf = file.block;
    *size = file.size;
    *offset = 0;
    return kLiteRtStatusOk;
  });
  if (destroy_model) LiteRtDestroyModel(model);
  return status;
}
