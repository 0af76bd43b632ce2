// SPDX-License-Identifier: Apache-2.0
//
// Models whose bytes, or vectors of int64, are not aligned. Sanitizers report wrong accesses.
#include "litert/src/table_alignment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "litert/src/log.h"
#include "litert/src/model.h"

namespace deputy::litert::table_alignment_test {
namespace {

using File = std::vector<uint8_t>;
using flatbuffers::FlatBufferBuilder;
using Longs = flatbuffers::Vector<int64_t>;

// Writes {3, 4}, of which an int64 is at an address that is a multiple of 4 bytes.
flatbuffers::Offset<Longs> LongsOf(FlatBufferBuilder* builder) {
  const int32_t words[] = {3, 0, 4, 0};
  builder->StartVector(4, sizeof(int32_t));
  for (size_t i = 4; i-- > 0;) builder->PushElement(words[i]);
  return {builder->EndVector(2)};
}

// A model with a tensor of two channels and a transpose of StableHLO. Bytes between
// their vectors, and after both, change the alignment of these.
File FileOf(size_t between, size_t after) {
  FlatBufferBuilder b;
  const auto zero_points = LongsOf(&b);
  const std::vector<float> scales = {0.5F, 2.0F};
  const auto scale = b.CreateVector(scales);
  const auto quantization = schema::CreateQuantizationParameters(b, 0, 0, scale, zero_points);
  const std::vector<int32_t> dims = {2, 2};
  const auto shape = b.CreateVector(dims);
  const auto name = b.CreateString("weights");
  const auto x = schema::CreateTensor(b, shape, schema::TensorType::INT8, 0, name, quantization);
  const auto y = schema::CreateTensor(b, shape, schema::TensorType::INT8, 0, name);
  const std::vector<flatbuffers::Offset<schema::Tensor>> all = {x, y};
  const auto tensors = b.CreateVector(all);
  const std::vector<int32_t> zero = {0}, one = {1};
  const auto inputs = b.CreateVector(zero), outputs = b.CreateVector(one);
  b.CreateVector(File(between));
  const auto permutation = LongsOf(&b);
  const auto options = schema::CreateStablehloTransposeOptions(b, permutation);
  schema::OperatorBuilder op(b);
  op.add_inputs(inputs);
  op.add_outputs(outputs);
  op.add_builtin_options_2_type(schema::BuiltinOptions2::StablehloTransposeOptions);
  op.add_builtin_options_2(options.Union());
  const std::vector<flatbuffers::Offset<schema::Operator>> operators = {op.Finish()};
  const auto code =
      schema::CreateOperatorCode(b, 127, 0, 1, schema::BuiltinOperator::STABLEHLO_TRANSPOSE);
  const auto subgraph =
      schema::CreateSubGraph(b, tensors, inputs, outputs, b.CreateVector(operators));
  const auto subgraphs = b.CreateVector(&subgraph, 1);
  const auto buffer = schema::CreateBuffer(b);
  const auto codes = b.CreateVector(&code, 1);
  const auto buffers = b.CreateVector(&buffer, 1);
  b.CreateVector(File(after));
  schema::FinishModelBuffer(b, schema::CreateModel(b, 3, codes, subgraphs, 0, buffers));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

// Bytes of the file in a new block, `shift` bytes after an aligned address.
struct Shifted {
  Shifted(const File& file, size_t shift)
      : block(static_cast<uint8_t*>(std::aligned_alloc(64, (file.size() + shift + 63) / 64 * 64))),
        bytes(block + shift, file.size()) {
    std::memcpy(block + shift, file.data(), file.size());
  }
  ~Shifted() { std::free(block); }
  Shifted(const Shifted&) = delete;
  Shifted& operator=(const Shifted&) = delete;

  uint8_t* const block;
  const Bytes bytes;
};

bool IsAligned(const Longs& longs) {
  return reinterpret_cast<uintptr_t>(longs.Data()) % alignof(int64_t) == 0;
}

LiteRtStatus Serialize(LiteRtModel model) {
  uint8_t* bytes = nullptr;
  size_t size = 0, offset = 0;
  const LiteRtStatus status = LiteRtSerializeModel(model, &bytes, &size, &offset, false, {});
  if (status == kLiteRtStatusOk) std::free(bytes);
  return status;
}

TEST(LitertTableAlignment, VectorsOfAnyAlignmentAreReadAndOnlyAlignedOnesAreWritten) {
  SetMinSeverity(kLiteRtLogSeveritySilent);
  int aligned = 0, others = 0;
  for (size_t padding : {0x00, 0x04, 0x40, 0x44}) {
    for (size_t shift = 0; shift < 8; ++shift) {
      const Shifted file(FileOf(padding >> 4, padding & 15), shift);
      LiteRtModel model = nullptr;
      ASSERT_EQ(LiteRtCreateModelFromBuffer(nullptr, file.bytes.data(), file.bytes.size(), &model),
                kLiteRtStatusOk);
      const LiteRtTensorT& tensor = *model->subgraphs[0]->tensors[0];
      ASSERT_EQ(tensor.quantization, kLiteRtQuantizationPerChannel);
      EXPECT_EQ(tensor.zero_points, (std::vector<int64_t>{3, 4}));
      const LiteRtOpT& op = *model->subgraphs[0]->ops[0];
      const bool has_aligned_zeros = IsAligned(*tensor.source->quantization()->zero_point());
      const bool has_aligned_options =
          IsAligned(*op.options->builtin_options_2_as_StablehloTransposeOptions()->permutation());
      EXPECT_EQ(HasAlignedLongs(*tensor.source), has_aligned_zeros);
      EXPECT_EQ(HasAlignedLongs(*op.options), has_aligned_options);
      const bool is_aligned = has_aligned_zeros && has_aligned_options;
      EXPECT_EQ(Serialize(model),
                is_aligned ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidFlatbuffer);
      ++(is_aligned ? aligned : others);
      // The operator alone.
      model->subgraphs[0]->tensors[0]->source = nullptr;
      EXPECT_EQ(Serialize(model),
                has_aligned_options ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidFlatbuffer);
      LiteRtDestroyModel(model);
    }
  }
  EXPECT_GT(aligned, 0);
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace deputy::litert::table_alignment_test
