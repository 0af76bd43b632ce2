// SPDX-License-Identifier: Apache-2.0
//
// Operator cases: single-operator models that every executor must run alike, or refuse alike. The
// same rows are run on the reference code, on each CPU table, and on delegates.
//
// A family file (cases/<family>.cc, mirroring kernels/<family>.cc) holds tables of plain rows
// (shapes and options, nothing else) and one function that turns its rows into cases, each for
// every element type it makes sense for. Weights and inputs are pseudo-random and the same in every
// run.
#ifndef DEPUTY_TESTS_CASES_CASE_H_
#define DEPUTY_TESTS_CASES_CASE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "tests/conformance/agreement.h"
#include "tests/model_builder.h"

namespace deputy {

// How far two executors may lie apart in float32; quantised results are compared by step.
using conformance::Rule;

struct OpCase {
  std::string name;  // "CONV_2D int8 [1,5,5,3] 3x3 stride 2": unique, readable in a failure
  Rule rule = Rule::kSum;
  std::vector<uint8_t> model;
  // Non-empty: AllocateTensors refuses the model, and this is part of the message. With numbers
  // that are fed, and where `late` says so, it may be Invoke that refuses.
  std::string refusal;
  // Contents of inputs that must not be random, by their number; empty where they may.
  std::vector<std::vector<uint8_t>> feeds = {};
  bool late = false;
};

using Shape = std::vector<int32_t>;

constexpr auto kSame = schema::Padding::SAME;
constexpr auto kValid = schema::Padding::VALID;

// The cases of one family, in the order of its rows.
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

// ---- For the family files ---------------------------------------------------------------------

// Deterministic contents of tensors. int8 contents include the extremes.
std::vector<float> RandomFloats(size_t count, uint32_t seed);
std::vector<int8_t> RandomInt8(size_t count, uint32_t seed);

size_t CountOf(const Shape& shape);
// "[1,2,3]".
std::string Text(const Shape& shape);

// One scale and one zero point.
TensorExtras PerTensor(float scale, int zero_point);
// `count` different scales around `scale` along `dimension`, all zero points 0.
TensorExtras PerChannel(float scale, int count, int dimension);

// Whether axes, shapes and indices are constants of the model or only known when it runs.
enum class Known { kBefore, kAtRunTime };

// The inputs of a case in the making.
class CaseInputs {
 public:
  CaseInputs(ModelBuilder* builder, Known known) : builder_(builder), known_(known) {}

  // An input of the graph with random contents. Answers the tensor, as does AddNumbers.
  int Add(int tensor) {
    inputs_.push_back(tensor);
    feeds_.emplace_back();
    return tensor;
  }

  // Numbers that mean something: a constant, or an input that is fed with them.
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

  // Names the graph's inputs, and answers what is fed to them.
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

// What a constant of two dimensions says whose rows are sparse: blocks of 1 by `block`, of which
// row r has those at indices[segments[r]] and so on. A block of 1 is none.
flatbuffers::Offset<schema::SparsityParameters> SparseRows(ModelBuilder* builder,
                                                           const Shape& shape, int block,
                                                           const std::vector<int32_t>& segments,
                                                           const std::vector<int32_t>& indices);
// A random constant of the type (float32, integers of 8, 4 or 2 bits).
int AddRandomConstant(ModelBuilder* builder, TfLiteType type, const Shape& shape, uint32_t seed,
                      const TensorExtras& extras = {});
// A bias: float32, or int32 with the quantisation given.
int AddRandomBias(ModelBuilder* builder, TfLiteType type, int count, uint32_t seed,
                  const TensorExtras& extras = {});

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_CASE_H_
