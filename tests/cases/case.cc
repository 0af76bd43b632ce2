// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/case.h"

namespace deputy {

std::vector<OpCase> AllCases() {
  std::vector<OpCase> all;
  for (auto* family :
       {&ActivationCases, &ArithmeticCases, &AudioCases,     &BinaryCases,    &CompareCases,
        &ConcatCases,     &ControlCases,    &Conv3dCases,    &ConvCases,      &ConvTransposeCases,
        &CustomCases,     &DetectionCases,  &FillCases,      &GatherCases,    &LstmCases,
        &MatmulCases,     &MediapipeCases,  &NormalizeCases, &PadCases,       &PoolCases,
        &QuantizeCases,   &RandomCases,     &RearrangeCases, &ReduceCases,    &ResizeCases,
        &ResourceCases,   &RnnCases,        &SearchCases,    &SegmentCases,   &ShapeCases,
        &SignalCases,     &SliceCases,      &SoftmaxCases,   &StablehloCases, &TextCases,
        &UnaryCases,      &WindowCases}) {
    for (OpCase& op_case : (*family)()) all.push_back(std::move(op_case));
  }
  return all;
}

std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  // C++ specifies the numbers of its engines but not of its distributions, so only the engine is
  // used: the values are the same with every standard library.
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(static_cast<int32_t>(engine())) * 0x1p-30f;
  }
  return values;
}

std::vector<int8_t> RandomInt8(size_t count, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<int8_t> values(count);
  for (int8_t& value : values) {
    const uint32_t random = engine();
    value = random % 16 == 0 ? (random & 16 ? 127 : -128) : static_cast<int8_t>(random >> 8);
  }
  return values;
}

size_t CountOf(const Shape& shape) {
  size_t count = 1;
  for (int32_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

std::string Text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  return text + "]";
}

TensorExtras PerTensor(float scale, int zero_point) {
  TensorExtras extras;
  extras.scale = {scale};
  extras.zero_point = {zero_point};
  return extras;
}

TensorExtras PerChannel(float scale, int count, int dimension) {
  TensorExtras extras;
  extras.quantized_dimension = dimension;
  for (int c = 0; c < count; ++c) {
    extras.scale.push_back(scale * (1.0f + 0.25f * static_cast<float>(c % 5)));
    extras.zero_point.push_back(0);
  }
  return extras;
}

flatbuffers::Offset<schema::SparsityParameters> SparseRows(ModelBuilder* builder,
                                                           const Shape& shape, int block,
                                                           const std::vector<int32_t>& segments,
                                                           const std::vector<int32_t>& indices) {
  auto& fbb = builder->fbb();
  const auto dense = [&](int32_t size) {
    return schema::CreateDimensionMetadata(fbb, schema::DimensionType::DENSE, size);
  };
  std::vector<int32_t> order = {0, 1}, blocks;
  std::vector<flatbuffers::Offset<schema::DimensionMetadata>> levels = {
      dense(shape[0]),
      schema::CreateDimensionMetadata(fbb, schema::DimensionType::SPARSE_CSR, 0,
                                      schema::SparseIndexVector::Int32Vector,
                                      schema::CreateInt32VectorDirect(fbb, &segments).Union(),
                                      schema::SparseIndexVector::Int32Vector,
                                      schema::CreateInt32VectorDirect(fbb, &indices).Union())};
  if (block > 1) {
    order.push_back(2);
    blocks.push_back(1);
    levels.push_back(dense(block));
  }
  return schema::CreateSparsityParametersDirect(fbb, &order, &blocks, &levels);
}

int AddRandomConstant(ModelBuilder* builder, TfLiteType type, const Shape& shape, uint32_t seed,
                      const TensorExtras& extras) {
  if (type == kTfLiteFloat32) {
    return builder->AddConstant<float>(type, shape, RandomFloats(CountOf(shape), seed), "c",
                                       extras);
  }
  const size_t bits = type == kTfLiteInt2 ? 2 : type == kTfLiteInt4 ? 4 : 8;
  const size_t bytes = (CountOf(shape) * bits + 7) / 8;
  return builder->AddConstant<int8_t>(type, shape, RandomInt8(bytes, seed), "c", extras);
}

int AddRandomBias(ModelBuilder* builder, TfLiteType type, int count, uint32_t seed,
                  const TensorExtras& extras) {
  const std::vector<float> values = RandomFloats(static_cast<size_t>(count), seed);
  if (type == kTfLiteFloat32) {
    return builder->AddConstant<float>(type, {count}, values, "bias");
  }
  std::vector<int32_t> steps;
  for (float value : values) steps.push_back(static_cast<int32_t>(value * 1000.0f));
  return builder->AddConstant<int32_t>(kTfLiteInt32, {count}, steps, "bias", extras);
}

}  // namespace deputy
