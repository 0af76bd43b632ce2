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

#include "c_api/common.h"
#include "tests/model_builder.h"

namespace deputy {

// How far two executors may lie apart in float32 (architecture.md, Agreement). int8 answers are
// compared by step in any case.
enum class Closeness {
  kEqual,    // data movement, minimum and maximum
  kElement,  // 1e-5 of each value
  kSum,      // 1e-5 of the greatest value of the output: operators that sum
};

struct OpCase {
  std::string name;  // "CONV_2D int8 [1,5,5,3] 3x3 stride 2": unique, readable in a failure
  Closeness closeness = Closeness::kSum;
  std::vector<uint8_t> model;
  // Non-empty: AllocateTensors refuses the model, and this is part of the message.
  std::string refusal;
};

using Shape = std::vector<int32_t>;

// The cases of one family, in the order of its rows.
std::vector<OpCase> ActivationCases();
std::vector<OpCase> ArithmeticCases();
std::vector<OpCase> BinaryCases();
std::vector<OpCase> CompareCases();
std::vector<OpCase> ConcatCases();
std::vector<OpCase> ConvCases();
std::vector<OpCase> ConvTransposeCases();
std::vector<OpCase> CustomCases();
std::vector<OpCase> FillCases();
std::vector<OpCase> GatherCases();
std::vector<OpCase> MatmulCases();
std::vector<OpCase> NormalizeCases();
std::vector<OpCase> PadCases();
std::vector<OpCase> PoolCases();
std::vector<OpCase> QuantizeCases();
std::vector<OpCase> RearrangeCases();
std::vector<OpCase> ReduceCases();
std::vector<OpCase> ResizeCases();
std::vector<OpCase> SearchCases();
std::vector<OpCase> ShapeCases();
std::vector<OpCase> SliceCases();
std::vector<OpCase> SoftmaxCases();
std::vector<OpCase> UnaryCases();
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

// A random constant of the type (float32, int8 or uint8).
int AddRandomConstant(ModelBuilder* builder, TfLiteType type, const Shape& shape, uint32_t seed,
                      const TensorExtras& extras = {});
// A bias: float32, or int32 with the quantisation given.
int AddRandomBias(ModelBuilder* builder, TfLiteType type, int count, uint32_t seed,
                  const TensorExtras& extras = {});

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_CASE_H_
