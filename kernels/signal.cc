// SPDX-License-Identifier: Apache-2.0
//
// RFFT2D, and REAL, IMAG and COMPLEX_ABS, the parts of complex numbers. RFFT2D transforms the last
// two dimensions, truncated or zero-padded to powers of two, in double precision: first rows, whose
// second half mirrors the first and is omitted, then columns.
#include <cmath>
#include <vector>

#include "kernels/common/families.h"
#include "kernels/common/fourier.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

constexpr uint32_t kComplexTypes = TypeBit(kTfLiteComplex64) | TypeBit(kTfLiteComplex128);

// ---- REAL, IMAG and COMPLEX_ABS ---------------------------------------------------------------

TfLiteStatus PreparePart(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kComplexTypes));
  const TfLiteType part = input->type == kTfLiteComplex64 ? kTfLiteFloat32 : kTfLiteFloat64;
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), TypeBit(part)));
  return ResizeLike(context, Output(context, node, 0), input);
}

struct Real {
  template <typename T>
  static T Of(T real, T) {
    return real;
  }
};
struct Imaginary {
  template <typename T>
  static T Of(T, T imaginary) {
    return imaginary;
  }
};
struct Magnitude {
  template <typename T>
  static T Of(T real, T imaginary) {
    return std::hypot(real, imaginary);
  }
};

template <typename Part, typename T>
void MapParts(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output) {
  const T* in = Data<T>(input);
  T* out = Data<T>(output);
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) out[i] = Part::Of(in[2 * i], in[2 * i + 1]);
  });
}

template <typename Part>
TfLiteStatus EvalPart(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  if (input->type == kTfLiteComplex64) {
    MapParts<Part, float>(context, input, Output(context, node, 0));
  } else {
    MapParts<Part, double>(context, input, Output(context, node, 0));
  }
  return kTfLiteOk;
}

// ---- RFFT2D -----------------------------------------------------------------------------------

TfLiteStatus ResizeTransform(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* lengths = Input(context, node, 1);
  int dims[kMaxRank];
  std::copy_n(Dims(input).data(), Rank(input), dims);
  for (int i = 0; i < 2; ++i) {
    const int64_t length = IntegerAt(lengths, i);
    if (length < 1 || (length & (length - 1)) != 0) {
      return TensorError(context, lengths, "expected powers of two, found %lld",
                         static_cast<long long>(length));
    }
    dims[Rank(input) - 2 + i] = static_cast<int>(i == 0 ? length : length / 2 + 1);
  }
  return ResizeTo(context, Output(context, node, 0), {dims, static_cast<size_t>(Rank(input))});
}

TfLiteStatus PrepareRfft(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* lengths = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, lengths, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, lengths, 1));
  DEPUTY_TRY(CheckDim(context, lengths, 0, 2));
  if (Rank(input) < 2) {
    return TensorError(context, input, "expected 2 dimensions or more, found %d", Rank(input));
  }
  output->type = kTfLiteComplex64;
  if (IsKnown(lengths)) return ResizeTransform(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Transforms slices one after the other, with working memory shared by all slices.
class RealTransform {
 public:
  RealTransform(int64_t height, int64_t width)
      : height_(height),
        width_(width),
        half_(width / 2 + 1),
        rows_(width),
        columns_(height),
        line_(static_cast<size_t>(std::max(height, width))),
        plane_(static_cast<size_t>(height * half_)) {}

  void Run(const float* in, int64_t in_height, int64_t in_width, float* out) {
    for (int64_t y = 0; y < height_; ++y) {
      std::fill(line_.begin(), line_.end(), Complex());
      for (int64_t x = 0; y < in_height && x < std::min(in_width, width_); ++x) {
        line_[static_cast<size_t>(x)] = static_cast<double>(in[y * in_width + x]);
      }
      rows_.Transform(line_.data());
      std::copy_n(line_.begin(), half_, plane_.begin() + y * half_);
    }
    for (int64_t x = 0; x < half_; ++x) {
      for (int64_t y = 0; y < height_; ++y) line_[static_cast<size_t>(y)] = At(y, x);
      columns_.Transform(line_.data());
      for (int64_t y = 0; y < height_; ++y) {
        out[2 * (y * half_ + x)] = static_cast<float>(line_[static_cast<size_t>(y)].real());
        out[2 * (y * half_ + x) + 1] = static_cast<float>(line_[static_cast<size_t>(y)].imag());
      }
    }
  }

 private:
  const Complex& At(int64_t y, int64_t x) const {
    return plane_[static_cast<size_t>(y * half_ + x)];
  }

  int64_t height_, width_, half_;
  Fourier rows_, columns_;
  std::vector<Complex> line_, plane_;
};

TfLiteStatus EvalRfft(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* lengths = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeTransform(context, node));
  if (ElementCount(output) == 0) return kTfLiteOk;
  const int64_t height = IntegerAt(lengths, 0), width = IntegerAt(lengths, 1);
  const int64_t half = width / 2 + 1;
  DEPUTY_TRY(CheckContainerSize(context, output, height * half + 2 * (height + width),
                                sizeof(Complex), "working values"));
  RealTransform transform(height, width);
  const auto outer = static_cast<size_t>(Rank(input) - 2);
  const int64_t in_height = Dim(input, Rank(input) - 2), in_width = LastDim(input);
  const int64_t slices = ElementCount(Dims(input).first(outer));
  for (int64_t i = 0; i < slices; ++i) {
    transform.Run(Data<float>(input) + i * in_height * in_width, in_height, in_width,
                  Data<float>(output) + i * 2 * height * half);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<void>("RFFT2D", kTfLiteBuiltinRfft2d, 1, kFloat32Bit, &Guarded<&PrepareRfft>,
                    &Guarded<&EvalRfft>),
    KernelRow<void>("REAL", kTfLiteBuiltinReal, 1, kComplexTypes, &Guarded<&PreparePart>,
                    &Guarded<&EvalPart<Real>>),
    KernelRow<void>("IMAG", kTfLiteBuiltinImag, 1, kComplexTypes, &Guarded<&PreparePart>,
                    &Guarded<&EvalPart<Imaginary>>),
    KernelRow<void>("COMPLEX_ABS", kTfLiteBuiltinComplexAbs, 1, kComplexTypes,
                    &Guarded<&PreparePart>, &Guarded<&EvalPart<Magnitude>>),
};

}  // namespace

constexpr std::span<const OpDef> kSignalOps = kTable;

}  // namespace deputy
