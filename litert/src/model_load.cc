// SPDX-License-Identifier: Apache-2.0
//
// Creates the objects of a model from its file. TfLiteModelCreate has verified the file, so that
// its tables can be read without checks; indices are checked here.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "core/support/compiled_model.h"
#include "deputy/c_api.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/log.h"
#include "litert/src/model.h"
#include "schema_generated.h"

namespace deputy::litert {
namespace {

// Element types by their number in the file.
LiteRtElementType ElementTypeOf(schema::TensorType type) {
  switch (type) {
    case schema::TensorType::FLOAT32:
      return kLiteRtElementTypeFloat32;
    case schema::TensorType::FLOAT16:
      return kLiteRtElementTypeFloat16;
    case schema::TensorType::INT32:
      return kLiteRtElementTypeInt32;
    case schema::TensorType::UINT8:
      return kLiteRtElementTypeUInt8;
    case schema::TensorType::INT64:
      return kLiteRtElementTypeInt64;
    case schema::TensorType::STRING:
      return kLiteRtElementTypeTfString;
    case schema::TensorType::BOOL:
      return kLiteRtElementTypeBool;
    case schema::TensorType::INT16:
      return kLiteRtElementTypeInt16;
    case schema::TensorType::COMPLEX64:
      return kLiteRtElementTypeComplex64;
    case schema::TensorType::INT8:
      return kLiteRtElementTypeInt8;
    case schema::TensorType::FLOAT64:
      return kLiteRtElementTypeFloat64;
    case schema::TensorType::COMPLEX128:
      return kLiteRtElementTypeComplex128;
    case schema::TensorType::UINT64:
      return kLiteRtElementTypeUInt64;
    case schema::TensorType::RESOURCE:
      return kLiteRtElementTypeTfResource;
    case schema::TensorType::VARIANT:
      return kLiteRtElementTypeTfVariant;
    case schema::TensorType::UINT32:
      return kLiteRtElementTypeUInt32;
    case schema::TensorType::UINT16:
      return kLiteRtElementTypeUInt16;
    case schema::TensorType::INT4:
      return kLiteRtElementTypeInt4;
    case schema::TensorType::BFLOAT16:
      return kLiteRtElementTypeBFloat16;
    case schema::TensorType::INT2:
      return kLiteRtElementTypeInt2;
    case schema::TensorType::UINT4:
      return kLiteRtElementTypeUInt4;
    case schema::TensorType::FLOAT8_E4M3FN:
      return kLiteRtElementTypeFloat8E4M3FN;
    case schema::TensorType::FLOAT8_E5M2:
      return kLiteRtElementTypeFloat8E5M2;
  }
  return kLiteRtElementTypeNone;
}

size_t SizeOf(const auto* vector) { return vector == nullptr ? 0 : vector->size(); }

// Fills one model from its file.
class Loader {
 public:
  Loader(Bytes bytes, LiteRtModelT* model)
      : bytes_(bytes), file_(schema::GetModel(bytes.data())), model_(model) {}

  LiteRtStatus Run() {
    model_->next_buffer = static_cast<int32_t>(std::max<size_t>(SizeOf(file_->buffers()), 1));
    for (size_t i = 0; i < SizeOf(file_->subgraphs()); ++i) {
      model_->subgraphs.push_back(std::make_unique<LiteRtSubgraphT>());
      LITERT_TRY(LoadSubgraph(*file_->subgraphs()->Get(static_cast<uint32_t>(i)),
                              model_->subgraphs.back().get()));
    }
    if (model_->subgraphs.empty()) {
      return Fail(kLiteRtStatusErrorInvalidFlatbuffer, "model: it has no subgraph");
    }
    LITERT_TRY(LoadSignatures());
    LITERT_TRY(LoadMetadata());
    return has_byte_code_ ? CheckByteCode() : kLiteRtStatusOk;
  }

 private:
  // Counts bytes that are copied from the file. Objects of a hostile file may share them, so that
  // the copies are many times larger than the file.
  LiteRtStatus Count(size_t bytes) {
    copied_ += bytes;
    if (copied_ / 2 <= bytes_.size() + (32 << 10)) return kLiteRtStatusOk;
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "model: expected names and metadata of at most twice the %zu bytes of the file",
                bytes_.size());
  }

  LiteRtStatus CopyText(const flatbuffers::String* text, std::string* out_text) {
    if (text == nullptr) return kLiteRtStatusOk;
    LITERT_TRY(Count(text->size()));
    *out_text = text->str();
    return kLiteRtStatusOk;
  }

  // Stores the bytes of a buffer, which are in the table or after it.
  LiteRtStatus LoadBuffer(uint32_t index, Bytes* out_bytes) const {
    *out_bytes = {};
    if (index == 0) return kLiteRtStatusOk;
    if (index >= SizeOf(file_->buffers())) {
      return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                  "model: expected a buffer index below %zu, found %u", SizeOf(file_->buffers()),
                  index);
    }
    const schema::Buffer& buffer = *file_->buffers()->Get(index);
    if (buffer.offset() > 1) {
      if (buffer.offset() > bytes_.size() || buffer.size() > bytes_.size() - buffer.offset()) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer, "model: buffer %u is not inside the file",
                    index);
      }
      *out_bytes = bytes_.subspan(buffer.offset(), buffer.size());
    } else if (buffer.data() != nullptr) {
      *out_bytes = {buffer.data()->data(), buffer.data()->size()};
    }
    return kLiteRtStatusOk;
  }

  LiteRtStatus LoadTensor(const schema::Tensor& from, LiteRtSubgraphT* subgraph,
                          LiteRtTensorT* to) {
    to->source = &from;
    to->is_variable = from.is_variable();
    LITERT_TRY(CopyText(from.name(), &to->name));
    const auto* const shape =
        SizeOf(from.shape_signature()) > 0 ? from.shape_signature() : from.shape();
    if (SizeOf(shape) > LITERT_TENSOR_MAX_RANK) {
      return Fail(kLiteRtStatusErrorUnsupported,
                  "model: tensor '%s': expected a rank of at most %d, found %zu", to->name.c_str(),
                  LITERT_TENSOR_MAX_RANK, SizeOf(shape));
    }
    to->type.element_type = ElementTypeOf(from.type());
    to->type.layout.rank = static_cast<unsigned>(SizeOf(shape)) & 0x7f;
    for (unsigned axis = 0; axis < to->type.layout.rank; ++axis) {
      to->type.layout.dimensions[axis] = shape->Get(axis);
    }
    LITERT_TRY(LoadBuffer(from.buffer(), &to->weights.bytes));
    to->weights.buffer = static_cast<int32_t>(from.buffer());
    return LoadQuantization(from.quantization(), subgraph, to);
  }

  static LiteRtStatus LoadQuantization(const schema::QuantizationParameters* from,
                                       LiteRtSubgraphT* subgraph, LiteRtTensorT* to) {
    if (from == nullptr) return kLiteRtStatusOk;
    if (const auto* const blocks = from->details_as_BlockwiseQuantization()) {
      const auto find = [&](int32_t index) -> LiteRtTensor {
        const bool is_valid = index >= 0 && static_cast<size_t>(index) < subgraph->tensors.size();
        return is_valid ? subgraph->tensors[static_cast<size_t>(index)].get() : nullptr;
      };
      to->quantization = kLiteRtQuantizationBlockWise;
      to->block_wise = {.scales = find(blocks->scales()),
                        .zero_points = find(blocks->zero_points()),
                        .block_size = blocks->block_size()};
      if (to->block_wise.scales == nullptr) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: tensor '%s': its scales are not a tensor", to->name.c_str());
      }
      return kLiteRtStatusOk;
    }
    const size_t count = SizeOf(from->scale());
    if (count == 0) return kLiteRtStatusOk;
    // Zero points may be absent, or one for all channels.
    const auto zero_point = [&](size_t channel) -> int64_t {
      const size_t points = SizeOf(from->zero_point());
      if (points == 0) return 0;
      int64_t found = 0;  // FlatBuffers' verifier accepts elements that are not aligned
      std::memcpy(&found, from->zero_point()->Data() + sizeof(found) * (points == 1 ? 0 : channel),
                  sizeof(found));
      return found;
    };
    if (SizeOf(from->zero_point()) > 1 && SizeOf(from->zero_point()) != count) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "model: tensor '%s': expected %zu zero points, found %zu", to->name.c_str(),
                  count, SizeOf(from->zero_point()));
    }
    if (count == 1) {
      to->quantization = kLiteRtQuantizationPerTensor;
      to->per_tensor = {.scale = from->scale()->Get(0), .zero_point = zero_point(0)};
      return kLiteRtStatusOk;
    }
    to->quantization = kLiteRtQuantizationPerChannel;
    to->scales.assign(from->scale()->begin(), from->scale()->end());
    for (size_t channel = 0; channel < count; ++channel) {
      to->zero_points.push_back(zero_point(channel));
    }
    to->per_channel = {.quantized_dimension = from->quantized_dimension(),
                       .num_channels = count,
                       .scales = to->scales.data(),
                       .zero_points = to->zero_points.data()};
    return kLiteRtStatusOk;
  }

  // Stores the tensors with the indices of a list; absent optional tensors (-1) are left out.
  static LiteRtStatus FindTensors(const flatbuffers::Vector<int32_t>* indices,
                                  const LiteRtSubgraphT& subgraph,
                                  std::vector<LiteRtTensor>* out_tensors) {
    for (uint32_t i = 0; i < SizeOf(indices); ++i) {
      const int32_t index = indices->Get(i);
      if (index == -1) continue;
      if (index < 0 || static_cast<size_t>(index) >= subgraph.tensors.size()) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: expected a tensor index below %zu, found %d", subgraph.tensors.size(),
                    index);
      }
      out_tensors->push_back(subgraph.tensors[static_cast<size_t>(index)].get());
    }
    return kLiteRtStatusOk;
  }

  // Finds the byte code of a compiled operator. An operator whose options have no location is kept.
  LiteRtStatus LoadByteCode(LiteRtOpT* op) {
    if (op->code != kLiteRtOpCodeTflCustom || op->custom_code != kDispatchOpCode ||
        op->custom_options.empty()) {
      return kLiteRtStatusOk;
    }
    DispatchOptions options;
    if (ReadDispatchOptions(op->custom_options, &options) != kLiteRtStatusOk ||
        options.offset == 0) {
      return kLiteRtStatusOk;
    }
    op->entry_point = options.name;
    has_byte_code_ = true;
    return FindByteCode(options, bytes_, &op->byte_code);
  }

  // Compares a file of `deputy compile` with its checksum: FlatBuffers' verifier does not know byte
  // code.
  LiteRtStatus CheckByteCode() const {
    const std::span<const char> file(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    CompiledModel description;
    const CompiledModelState state = ParseCompiledModel(file, &description);
    if (state == CompiledModelState::kPlain ||
        (state == CompiledModelState::kCompiled && IsModelIntact(file, description))) {
      return kLiteRtStatusOk;
    }
    return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                "model: it was changed after its byte code was compiled; compile it again");
  }

  LiteRtStatus LoadOp(const schema::Operator& from, const LiteRtSubgraphT& subgraph,
                      LiteRtOpT* to) {
    if (from.opcode_index() >= SizeOf(file_->operator_codes())) {
      return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                  "model: expected an operator code below %zu, found %u",
                  SizeOf(file_->operator_codes()), from.opcode_index());
    }
    const schema::OperatorCode& code = *file_->operator_codes()->Get(from.opcode_index());
    const int number = std::max(static_cast<int>(code.deprecated_builtin_code()),
                                static_cast<int>(code.builtin_code()));
    constexpr int kMaxNumber = 255;  // of LiteRtOpCode's values
    if (number < 0 || number > kMaxNumber) {
      return Fail(kLiteRtStatusErrorUnsupported,
                  "model: expected an operator number from 0 to %d, found %d", kMaxNumber, number);
    }
    to->code = static_cast<LiteRtOpCode>(number);
    LITERT_TRY(CopyText(code.custom_code(), &to->custom_code));
    to->options = &from;
    to->version = code.version();
    if (from.custom_options() != nullptr) {
      to->custom_options = {from.custom_options()->data(), from.custom_options()->size()};
    } else if (from.large_custom_options_offset() > 1) {
      if (from.large_custom_options_offset() > bytes_.size() ||
          from.large_custom_options_size() > bytes_.size() - from.large_custom_options_offset()) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: the options of operator '%s' are not inside the file",
                    to->custom_code.c_str());
      }
      to->custom_options =
          bytes_.subspan(from.large_custom_options_offset(), from.large_custom_options_size());
    }
    LITERT_TRY(LoadByteCode(to));
    LITERT_TRY(FindTensors(from.inputs(), subgraph, &to->inputs));
    LITERT_TRY(FindTensors(from.outputs(), subgraph, &to->outputs));
    for (size_t i = 0; i < to->inputs.size(); ++i) to->inputs[i]->uses.push_back({to, i});
    for (size_t i = 0; i < to->outputs.size(); ++i) {
      to->outputs[i]->producer = to;
      to->outputs[i]->producer_output = i;
    }
    return kLiteRtStatusOk;
  }

  LiteRtStatus LoadSubgraph(const schema::SubGraph& from, LiteRtSubgraphT* to) {
    LITERT_TRY(CopyText(from.name(), &to->name));
    for (size_t i = 0; i < SizeOf(from.tensors()); ++i) {
      to->tensors.push_back(std::make_unique<LiteRtTensorT>());
      to->tensors.back()->index = static_cast<uint32_t>(i);
    }
    for (const auto& tensor : to->tensors) {
      LITERT_TRY(LoadTensor(*from.tensors()->Get(tensor->index), to, tensor.get()));
    }
    for (uint32_t i = 0; i < SizeOf(from.operators()); ++i) {
      to->ops.push_back(std::make_unique<LiteRtOpT>());
      LITERT_TRY(LoadOp(*from.operators()->Get(i), *to, to->ops.back().get()));
    }
    LITERT_TRY(FindTensors(from.inputs(), *to, &to->inputs));
    return FindTensors(from.outputs(), *to, &to->outputs);
  }

  // Stores the names of tensors: those of the signature, or their own.
  LiteRtStatus NameTensors(const flatbuffers::Vector<flatbuffers::Offset<schema::TensorMap>>* names,
                           const std::vector<LiteRtTensor>& tensors,
                           std::vector<std::string>* out_names) {
    std::map<uint32_t, std::string> by_index;
    for (uint32_t i = 0; i < SizeOf(names); ++i) {
      LITERT_TRY(CopyText(names->Get(i)->name(), &by_index[names->Get(i)->tensor_index()]));
    }
    if (SizeOf(names) != tensors.size()) {
      return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                  "model: expected a signature with %zu tensors, found %zu", tensors.size(),
                  SizeOf(names));
    }
    for (LiteRtTensor tensor : tensors) {
      const auto found = by_index.find(tensor->index);
      const bool has_name = found != by_index.end() && !found->second.empty();
      out_names->push_back(has_name ? found->second : tensor->name);
      LITERT_TRY(Count(out_names->back().size()));
    }
    return kLiteRtStatusOk;
  }

  LiteRtStatus LoadSignatures() {
    for (uint32_t i = 0; i < SizeOf(file_->signature_defs()); ++i) {
      const schema::SignatureDef& from = *file_->signature_defs()->Get(i);
      if (from.subgraph_index() >= model_->subgraphs.size()) {
        return Fail(kLiteRtStatusErrorInvalidFlatbuffer,
                    "model: expected a signature of a subgraph below %zu, found %u",
                    model_->subgraphs.size(), from.subgraph_index());
      }
      auto signature = std::make_unique<LiteRtSignatureT>();
      LITERT_TRY(CopyText(from.signature_key(), &signature->key));
      signature->subgraph = model_->subgraphs[from.subgraph_index()].get();
      LITERT_TRY(NameTensors(from.inputs(), signature->subgraph->inputs, &signature->input_names));
      LITERT_TRY(
          NameTensors(from.outputs(), signature->subgraph->outputs, &signature->output_names));
      model_->signatures.push_back(std::move(signature));
    }
    if (!model_->signatures.empty()) return kLiteRtStatusOk;
    auto signature = std::make_unique<LiteRtSignatureT>();
    signature->key = kDefaultSignatureKey;
    signature->subgraph = model_->subgraphs.front().get();
    for (LiteRtTensor input : signature->subgraph->inputs) {
      signature->input_names.push_back(input->name);
    }
    for (LiteRtTensor output : signature->subgraph->outputs) {
      signature->output_names.push_back(output->name);
    }
    model_->signatures.push_back(std::move(signature));
    return kLiteRtStatusOk;
  }

  LiteRtStatus LoadMetadata() {
    for (uint32_t i = 0; i < SizeOf(file_->metadata()); ++i) {
      const schema::Metadata& from = *file_->metadata()->Get(i);
      Bytes bytes;
      LITERT_TRY(LoadBuffer(from.buffer(), &bytes));
      std::string name;
      LITERT_TRY(CopyText(from.name(), &name));
      LITERT_TRY(Count(bytes.size()));
      model_->metadata[name].assign(bytes.begin(), bytes.end());
    }
    return kLiteRtStatusOk;
  }

  const Bytes bytes_;
  const schema::Model* const file_;
  LiteRtModelT* const model_;
  size_t copied_ = 0;  // bytes of the file that the objects copy
  bool has_byte_code_ = false;
};

// Reads a part of a file; returns what prevents it, or an empty text.
std::string ReadFile(int fd, off_t offset, size_t size, std::vector<uint8_t>* out_bytes) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return strerror(errno);
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  if (size == 0) return "the file is empty";
  if (offset > status.st_size || size > static_cast<size_t>(status.st_size - offset)) {
    return "the file has " + std::to_string(status.st_size) + " bytes";
  }
  out_bytes->resize(size);
  for (size_t done = 0; done < size;) {
    const ssize_t got =
        pread(fd, out_bytes->data() + done, size - done, offset + static_cast<off_t>(done));
    if (got < 0) return strerror(errno);
    if (got == 0) return "the file was truncated";
    done += static_cast<size_t>(got);
  }
  return "";
}

// Loads a model whose bytes belong to it or to the client.
LiteRtStatus Finish(std::unique_ptr<LiteRtModelT> model, Bytes bytes, LiteRtModel* out_model) {
  LITERT_TRY(model->Load(bytes));
  *out_model = model.release();
  return kLiteRtStatusOk;
}

}  // namespace
}  // namespace deputy::litert

using deputy::litert::Bytes;
using deputy::litert::Fail;
using deputy::litert::Finish;
using deputy::litert::Guard;
using deputy::litert::ReadFile;

LiteRtModelT::~LiteRtModelT() { TfLiteModelDelete(model); }

LiteRtStatus LiteRtModelT::Load(Bytes file) {
  constexpr size_t kAlignment = 16;
  bytes = file;
  if (reinterpret_cast<uintptr_t>(file.data()) % kAlignment != 0) {
    owned_block.reset(static_cast<uint8_t*>(std::malloc(file.size())));
    if (owned_block == nullptr) return kLiteRtStatusErrorMemoryAllocationFailure;
    std::memcpy(owned_block.get(), file.data(), file.size());
    bytes = {owned_block.get(), file.size()};
  }
  model = TfLiteModelCreate(bytes.data(), bytes.size());
  if (model == nullptr) return kLiteRtStatusErrorInvalidFlatbuffer;
  return deputy::litert::Loader(bytes, this).Run();
}

LiteRtStatus LiteRtCreateModelFromFile(LiteRtEnvironment, const char* filename,
                                       LiteRtModel* model) {
  if (filename == nullptr || model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    auto created = std::make_unique<LiteRtModelT>();
    created->name = std::filesystem::path(filename).stem().string();
    const int fd = open(filename, O_RDONLY | O_CLOEXEC);
    struct stat file = {};
    std::string reason;
    if (fd < 0 || fstat(fd, &file) != 0) {
      reason = strerror(errno);
    } else {
      reason = ReadFile(fd, 0, static_cast<size_t>(file.st_size), &created->owned);
    }
    if (fd >= 0) close(fd);
    if (!reason.empty()) {
      return Fail(kLiteRtStatusErrorFileIO, "model: %s cannot be read: %s", filename,
                  reason.c_str());
    }
    const LiteRtStatus status = created->Load(created->owned);
    if (created->model == nullptr) return kLiteRtStatusErrorFileIO;
    LITERT_TRY(status);
    *model = created.release();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCreateModelFromBuffer(LiteRtEnvironment, const void* buffer_addr,
                                         size_t buffer_size, LiteRtModel* model) {
  if (buffer_addr == nullptr || buffer_size == 0 || model == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    return Finish(std::make_unique<LiteRtModelT>(),
                  {static_cast<const uint8_t*>(buffer_addr), buffer_size}, model);
  });
}

LiteRtStatus LiteRtCreateModelFromFd(LiteRtEnvironment, int fd, size_t offset, size_t size,
                                     LiteRtModel* model) {
  if (fd < 0 || size == 0 || model == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    auto created = std::make_unique<LiteRtModelT>();
    const std::string reason =
        offset > INT64_MAX ? "the offset is too large"
                           : ReadFile(fd, static_cast<off_t>(offset), size, &created->owned);
    if (!reason.empty()) {
      return Fail(kLiteRtStatusErrorFileIO,
                  "model: expected %zu bytes at offset %zu of descriptor %d: %s", size, offset, fd,
                  reason.c_str());
    }
    const Bytes bytes = created->owned;
    return Finish(std::move(created), bytes, model);
  });
}

void LiteRtDestroyModel(LiteRtModel model) { deputy::litert::Release(model); }
