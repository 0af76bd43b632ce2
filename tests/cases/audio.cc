// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of AudioSpectrogram and Mfcc: valid and invalid options, and inputs shorter than a
// window.
#include <flatbuffers/flexbuffers.h>

#include <cstdint>

#include "tests/cases/case.h"

namespace deputy {
namespace {

// Returns the first `size` bytes of the builder's result.
std::vector<uint8_t> Cut(flexbuffers::Builder* builder, size_t size) {
  builder->Finish();
  std::vector<uint8_t> bytes = builder->GetBuffer();
  if (bytes.size() > size) bytes.resize(size);
  return bytes;
}

struct Spectrogram {
  Shape shape;
  int64_t window = 16, stride = 8;
  bool squared = true;
  const char* refusal = "";
  size_t options_size = 1000;
  TfLiteType type = kTfLiteFloat32;
};

const Spectrogram kSpectrograms[] = {
    {{40, 1}},
    {{400, 3}, 33, 40, false},
    {{7, 2}, 8},
    {{0, 2}},
    {{40, 0}},
    {{40, 1}, 16, INT32_MAX},
#if SIZE_MAX > UINT32_MAX  // else the size of a tensor overflows
    {{40, 1}, 1 << 30, 1},
#endif
    {{40, 1},
     1,
     8,
     true,
     "expected a window of 2 to 2^30 and a stride of 1 or more, found 1 and 8"},
    {{40, 1}, -1, 8, true, "found -1 and 8"},
    {{40, 1}, INT32_MIN, 8, true, "expected a window of 2 to 2^30"},
    {{40, 1}, INT32_MAX, 8, true, "expected a window of 2 to 2^30"},
    {{40, 1}, 16, 0, true, "found 16 and 0"},
    {{40, 1}, 16, INT32_MIN, true, "expected a window of 2 to 2^30"},
    {{40, 1}, int64_t{1} << 40, 8, true, "expected a window of 2 to 2^30"},
    {{40}, 16, 8, true, "expected 2 dimensions, found 1"},
    {{40, 1}, 16, 8, true, "options: expected a FlexBuffers map", 0},
    {{40, 1}, 16, 8, true, "options: expected a FlexBuffers map", 2},
    {{40, 1}, 16, 8, true, "expected type FLOAT32", 1000, kTfLiteInt16},
};

OpCase MakeSpectrogram(const Spectrogram& row) {
  ModelBuilder m;
  const int input = m.AddTensor(row.type, row.shape, "input");
  const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
  flexbuffers::Builder options;
  options.Map([&] {
    options.Int("window_size", row.window);
    options.Int("stride", row.stride);
    options.Bool("magnitude_squared", row.squared);
  });
  m.AddCustomOp("AudioSpectrogram", {input}, {output}, Cut(&options, row.options_size));
  m.SetInputs({input});
  m.SetOutputs({output});
  return {"AudioSpectrogram " + Text(row.shape) + " window " + std::to_string(row.window) +
              " stride " + std::to_string(row.stride) + (row.squared ? " squared" : "") +
              " options " + std::to_string(row.options_size) + " " + TfLiteTypeGetName(row.type),
          Rule::kSum, m.Finish(), row.refusal};
}

struct Mfcc {
  Shape shape;
  int32_t rate = 16000;
  int upper = 4000, lower = 20, bands = 40, coefficients = 13;
  const char* refusal = "";
  bool late = false;
  size_t options_size = 1000;
  Shape rate_shape = {};
};

const Mfcc kMfccs[] = {
    {{1, 3, 129}},
    {{2, 5, 65}, 8000, 3999, 0, 20, 20},
    {{1, 3, 129}, 16000, 9000},
    {{1, 3, 129}, INT32_MAX},
    {{1, 3, 129}, 1},
    {{1, 3, 2}, 16000, INT32_MAX, 0, 1, 1},
    {{1, 0, 129}, 0},
    {{1, 3, 129}, 16000, 4000, 20, 40, 0},
    {{1, 3, 129}, 0, 4000, 20, 40, 13, "expected a positive rate, found 0", true},
    {{1, 3, 129}, INT32_MIN, 4000, 20, 40, 13, "expected a positive rate", true},
    {{1, 3, 1}, 16000, 4000, 20, 40, 13, "expected 2 frequencies or more, found 1", true},
    {{1, 3, 129}, 16000, 4000, -1, 40, 13, "expected limits of 0 or more, in order", true},
    {{1, 3, 129}, 16000, 20, 20, 40, 13, "expected limits of 0 or more, in order", true},
    {{1, 3, 129}, 16000, INT32_MIN, 20, 40, 13, "expected limits of 0 or more, in order", true},
    {{1, 3, 129}, 16000, 4000, 20, 12, 13, "expected 13 bands or more, found 12", true},
    {{1, 3, 129}, 16000, 4000, 20, INT32_MIN, 13, "expected 13 bands or more", true},
    {{1, 1, 129}, 16000, 4000, 20, 1 << 30, 1 << 20, "out of memory for", true},
    {{1, 3, 129}, 16000, 4000, 20, 40, -1, "its dimension 2 would be -1"},
    {{1, 3, 129}, 16000, 4000, 20, 40, 13, "options: expected a FlexBuffers map", false, 0},
    {{1, 3, 129}, 16000, 4000, 20, 40, 13, "options: expected a FlexBuffers map", false, 3},
    {{1, 3, 129}, 16000, 4000, 20, 40, 13, "expected 1 elements, found 2", false, 1000, {2}},
    {{3, 129}, 16000, 4000, 20, 40, 13, "expected 3 dimensions, found 2"},
};

OpCase MakeMfcc(const Mfcc& row, Known known) {
  ModelBuilder m;
  CaseInputs graph(&m, known);
  const int input = graph.Add(m.AddTensor(kTfLiteFloat32, row.shape, "input"));
  const std::vector<int32_t> rates(CountOf(row.rate_shape), row.rate);
  const int rate = graph.AddNumbers(kTfLiteInt32, row.rate_shape, rates, "rate");
  const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
  flexbuffers::Builder options;
  options.Map([&] {
    options.Int("upper_frequency_limit", row.upper);
    options.Int("lower_frequency_limit", row.lower);
    options.Int("filterbank_channel_count", row.bands);
    options.Int("dct_coefficient_count", row.coefficients);
  });
  m.AddCustomOp("Mfcc", {input, rate}, {output}, Cut(&options, row.options_size));
  const auto feeds = graph.Finish();
  m.SetOutputs({output});
  return {"Mfcc " + Text(row.shape) + " rate " + std::to_string(row.rate) + Text(row.rate_shape) +
              " numbers " + Text({row.upper, row.lower, row.bands, row.coefficients}) +
              " options " + std::to_string(row.options_size) + graph.suffix(),
          Rule::kSum,
          m.Finish(),
          row.refusal,
          feeds,
          row.late};
}

}  // namespace

std::vector<OpCase> AudioCases() {
  std::vector<OpCase> cases;
  for (const Spectrogram& row : kSpectrograms) cases.push_back(MakeSpectrogram(row));
  for (const Mfcc& row : kMfccs) {
    cases.push_back(MakeMfcc(row, Known::kBefore));
    cases.push_back(MakeMfcc(row, Known::kAtRunTime));
  }
  return cases;
}

}  // namespace deputy
