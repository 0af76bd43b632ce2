// SPDX-License-Identifier: Apache-2.0
//
// Operator cases: single-operator models on which all executors must agree, in the result or in the
// refusal. The same rows run on the reference code, on each CPU table, and on delegates.
//
// A family file (cases/<family>.cc, mirroring the kernels' file of that name) holds tables of plain
// rows (shapes and options) and one function that turns its rows into cases, for every element type
// that applies. Weights and inputs are pseudo-random and the same in every run.
#ifndef DEPUTY_TESTS_CASES_CASE_H_
#define DEPUTY_TESTS_CASES_CASE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "tests/conformance/agreement.h"
#include "tests/support/model_builder.h"

namespace deputy {

using conformance::Rule;

struct OpCase {
  std::string name;  // "CONV_2D int8 [1,5,5,3] 3x3 stride 2": unique, readable in a failure
  Rule rule = Rule::kSum;
  std::vector<uint8_t> model;
  // If not empty, the model must be refused with a message that contains this text: by
  // AllocateTensors, or, if values are fed or `late` is set, by AllocateTensors or Invoke.
  std::string refusal;
  // Contents of inputs that must not be random, by index of the input; empty for random contents.
  std::vector<std::vector<uint8_t>> feeds = {};
  bool late = false;
};

using Shape = std::vector<int32_t>;

constexpr auto kSame = schema::Padding::SAME;
constexpr auto kValid = schema::Padding::VALID;

// Each of these functions returns the cases of one family, in the order of its rows.
std::vector<OpCase> ActivationCases();
std::vector<OpCase> ArithmeticCases();
std::vector<OpCase> AudioCases();
std::vector<OpCase> BinaryCases();
std::vector<OpCase> CompareCases();
std::vector<OpCase> ConcatCases();
std::vector<OpCase> ControlCases();
std::vector<OpCase> Conv3dCases();
std::vector<OpCase> ConvCases();
std::vector<OpCase> ConvTransposeCases();
std::vector<OpCase> CustomCases();
std::vector<OpCase> DetectionCases();
std::vector<OpCase> FillCases();
std::vector<OpCase> GatherCases();
std::vector<OpCase> LstmCases();
std::vector<OpCase> MatmulCases();
std::vector<OpCase> MediapipeCases();
std::vector<OpCase> NormalizeCases();
std::vector<OpCase> PadCases();
std::vector<OpCase> PoolCases();
std::vector<OpCase> QuantizeCases();
std::vector<OpCase> RandomCases();
std::vector<OpCase> RearrangeCases();
std::vector<OpCase> ReduceCases();
std::vector<OpCase> ResizeCases();
std::vector<OpCase> ResourceCases();
std::vector<OpCase> RnnCases();
std::vector<OpCase> SearchCases();
std::vector<OpCase> SegmentCases();
std::vector<OpCase> ShapeCases();
std::vector<OpCase> SignalCases();
std::vector<OpCase> SliceCases();
std::vector<OpCase> SoftmaxCases();
std::vector<OpCase> StablehloCases();
std::vector<OpCase> TextCases();
std::vector<OpCase> UnaryCases();
std::vector<OpCase> WindowCases();
std::vector<OpCase> AllCases();

// ---- Helpers for the family files -------------------------------------------------------------

// Returns pseudo-random contents of tensors, the same in every run. One in 16 int8 values, on
// average, is the minimum or the maximum.
std::vector<float> RandomFloats(size_t count, uint32_t seed);
std::vector<int8_t> RandomInt8(size_t count, uint32_t seed);

size_t CountOf(const Shape& shape);
// Formats a shape as "[1,2,3]".
std::string Text(const Shape& shape);

// Quantisation with one scale and one zero point.
TensorExtras PerTensor(float scale, int zero_point);
// Quantisation with `count` different scales around `scale` along `dimension`; all zero points are
// 0.
TensorExtras PerChannel(float scale, int count, int dimension);

// Time at which axes, shapes and indices are known: they are constants of the model (kBefore) or
// inputs (kAtRunTime).
enum class Known { kBefore, kAtRunTime };

// Collects the graph inputs of a case and their contents.
class CaseInputs {
 public:
  CaseInputs(ModelBuilder* builder, Known known) : builder_(builder), known_(known) {}

  // Adds a graph input with random contents. Returns its tensor.
  int Add(int tensor) {
    inputs_.push_back(tensor);
    feeds_.emplace_back();
    return tensor;
  }

  // Adds values that the operator interprets (axes, indices, ...): a constant, or an input that is
  // fed with them.
  template <typename T>
  int AddNumbers(TfLiteType type, const Shape& shape, const std::vector<T>& values,
                 const std::string& name, const TensorExtras& extras = {}) {
    if (known_ == Known::kBefore) {
      return builder_->AddConstant<T>(type, shape, values, name, extras);
    }
    const int tensor = Add(builder_->AddTensor(type, shape, name, extras));
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    feeds_.back().assign(bytes, bytes + values.size() * sizeof(T));
    return tensor;
  }

  // Sets the graph's inputs and returns the contents to feed.
  std::vector<std::vector<uint8_t>> Finish() {
    builder_->SetInputs(inputs_);
    return known_ == Known::kBefore ? std::vector<std::vector<uint8_t>>() : feeds_;
  }

  const char* suffix() const { return known_ == Known::kBefore ? "" : " at run time"; }

 private:
  ModelBuilder* builder_;
  Known known_;
  std::vector<int32_t> inputs_;
  std::vector<std::vector<uint8_t>> feeds_;
};

// Sparsity parameters of a constant with two dimensions and sparse rows: row r has the blocks of 1
// x `block` elements at indices[segments[r]] to indices[segments[r + 1] - 1]. A block of one
// element is stored without a block map.
flatbuffers::Offset<schema::SparsityParameters> SparseRows(ModelBuilder* builder,
                                                           const Shape& shape, int block,
                                                           const std::vector<int32_t>& segments,
                                                           const std::vector<int32_t>& indices);
// Adds a random constant of the type (float32, integers of 8, 4 or 2 bits).
int AddRandomConstant(ModelBuilder* builder, TfLiteType type, const Shape& shape, uint32_t seed,
                      const TensorExtras& extras = {});
// Adds a bias: float32, or int32 with the given quantisation.
int AddRandomBias(ModelBuilder* builder, TfLiteType type, int count, uint32_t seed,
                  const TensorExtras& extras = {});

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_CASE_H_
