// SPDX-License-Identifier: Apache-2.0
//
// AudioSpectrogram and Mfcc, custom operators that TensorFlow Lite provides for audio models. Both
// compute in double precision.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/common/custom_op.h"
#include "kernels/common/families.h"
#include "kernels/common/flex_map.h"
#include "kernels/common/fourier.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// ---- AudioSpectrogram -------------------------------------------------------------------------

struct SpectrogramData {
  bool is_map = false;
  int window_size = 0, stride = 0;
  bool is_squared = false;
};

void* InitSpectrogram(TfLiteContext*, const char* options, size_t length) {
  auto* data = new SpectrogramData();
  const FlexMap map(OptionBytes(options, length));
  data->is_map = map.is_map();
  data->window_size = map.Int("window_size");
  data->stride = map.Int("stride");
  data->is_squared = map.Bool("magnitude_squared");
  return data;
}

// Number of samples of a transform: the window padded with zeros to a power of two.
int64_t TransformLength(const SpectrogramData& data) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint32_t>(data.window_size)));
}

// Resizes the output for input [samples, channels] to [channels, windows, frequencies].
TfLiteStatus PrepareSpectrogram(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const SpectrogramData& data = DataOf<SpectrogramData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, input, 2));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kFloat32Bit));
  if (!data.is_map) return KernelError(context, "options: expected a FlexBuffers map");
  if (data.window_size < 2 || data.window_size > (1 << 30) || data.stride < 1) {
    return KernelError(context,
                       "options: expected a window of 2 to 2^30 and a stride of 1 or more, found "
                       "%d and %d",
                       data.window_size, data.stride);
  }
  const int room = Dim(input, 0) - data.window_size;
  const int dims[] = {Dim(input, 1), room < 0 ? 0 : 1 + room / data.stride,
                      static_cast<int>(1 + TransformLength(data) / 2)};
  return ResizeTo(context, Output(context, node, 0), dims);
}

std::vector<double> HannWindow(int size) {
  std::vector<double> window(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    window[static_cast<size_t>(i)] = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * i / size);
  }
  return window;
}

TfLiteStatus EvalSpectrogram(TfLiteContext* context, TfLiteNode* node) {
  const SpectrogramData& data = DataOf<SpectrogramData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  const int64_t length = TransformLength(data), channels = Dim(input, 1);
  DEPUTY_TRY(
      CheckContainerSize(context, output, length, 2 * sizeof(Complex), "values of a transform"));
  const Fourier fourier(length);
  const std::vector<double> window = HannWindow(data.window_size);
  std::vector<Complex> values(static_cast<size_t>(length));
  float* out = Data<float>(output);
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t row = 0; row < Dim(output, 1); ++row, out += Dim(output, 2)) {
      const float* in = Data<float>(input) + row * data.stride * channels + channel;
      std::fill(values.begin(), values.end(), Complex());
      for (size_t i = 0; i < window.size(); ++i, in += channels) {
        values[i] = static_cast<double>(*in) * window[i];
      }
      fourier.Transform(values.data());
      for (int i = 0; i < Dim(output, 2); ++i) {
        const Complex& value = values[static_cast<size_t>(i)];
        const auto power =
            static_cast<float>(value.real() * value.real() + value.imag() * value.imag());
        out[i] = data.is_squared ? power : std::sqrt(power);
      }
    }
  }
  return kTfLiteOk;
}

// ---- Mfcc -------------------------------------------------------------------------------------

struct MfccData {
  bool is_map = false;
  float upper_limit = 0, lower_limit = 0;  // frequency range of the bands, in hertz
  int bands = 0, coefficients = 0;
};

// Reads the options. Frequency limits are truncated to integers, as upstream does.
void* InitMfcc(TfLiteContext*, const char* options, size_t length) {
  auto* data = new MfccData();
  const FlexMap map(OptionBytes(options, length));
  data->is_map = map.is_map();
  data->upper_limit = static_cast<float>(map.Int("upper_frequency_limit"));
  data->lower_limit = static_cast<float>(map.Int("lower_frequency_limit"));
  data->bands = map.Int("filterbank_channel_count");
  data->coefficients = map.Int("dct_coefficient_count");
  return data;
}

TfLiteStatus PrepareMfcc(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const MfccData& data = DataOf<MfccData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* rate = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, input, 3));
  DEPUTY_TRY(CheckType(context, rate, kInt32Bit));
  DEPUTY_TRY(CheckElementCount(context, rate, 1));
  DEPUTY_TRY(CheckType(context, output, kFloat32Bit));
  if (!data.is_map) return KernelError(context, "options: expected a FlexBuffers map");
  int dims[] = {Dim(input, 0), Dim(input, 1), 0};
  DEPUTY_TRY(SetExtent(context, output, 2, data.coefficients, &dims[2]));
  return ResizeTo(context, output, dims);
}

// Checks the inputs' values and the parameters, as upstream does: at run time, and only if the
// output is not empty.
TfLiteStatus CheckMfcc(TfLiteContext* context, const TfLiteNode* node) {
  const MfccData& data = DataOf<MfccData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const int32_t rate = *Data<int32_t>(Input(context, node, 1));
  if (rate < 1) {
    return TensorError(context, Input(context, node, 1), "expected a positive rate, found %d",
                       rate);
  }
  if (Dim(input, 2) < 2) {
    return TensorError(context, input, "expected 2 frequencies or more, found %d", Dim(input, 2));
  }
  if (data.lower_limit < 0 || data.upper_limit <= data.lower_limit) {
    return KernelError(context, "options: expected limits of 0 or more, in order, found %g and %g",
                       static_cast<double>(data.lower_limit),
                       static_cast<double>(data.upper_limit));
  }
  if (data.bands < 1 || data.coefficients > data.bands) {
    return KernelError(context, "options: expected %d bands or more, found %d",
                       std::max(1, data.coefficients), data.bands);
  }
  const int64_t numbers = int64_t{data.coefficients} * data.bands + 2 * int64_t{data.bands} +
                          2 * int64_t{Dim(input, 2)};
  return CheckContainerSize(context, input, numbers, sizeof(double), "values of a filter bank");
}

// Bands of equal width on the mel scale. Each is a triangle that overlaps half of each neighbour: a
// frequency between the centres of two bands contributes to both with weights that add up to 1.
class MelBands {
 public:
  MelBands(const MfccData& data, int frequencies, int rate)
      : sums_(static_cast<size_t>(data.bands)), parts_(static_cast<size_t>(frequencies)) {
    const double hertz = 0.5 * rate / (frequencies - 1);
    const double low = MelOf(static_cast<double>(data.lower_limit));
    const double width = (MelOf(static_cast<double>(data.upper_limit)) - low) / (data.bands + 1);
    // Frequency bin 0 and bins outside the limits are ignored.
    const double first = 1.5 + static_cast<double>(data.lower_limit) / hertz;
    const double last = static_cast<double>(data.upper_limit) / hertz;
    is_within_ = last < frequencies;
    if (!is_within_ || first >= frequencies) return;
    first_ = static_cast<int>(first);
    last_ = static_cast<int>(last);
    const auto center = [&](int band) { return low + width * (band + 1); };
    int band = 0;
    for (int i = first_; i <= last_; ++i) {
      const double mel = MelOf(i * hertz);
      while (band < data.bands && center(band) < mel) ++band;
      // Centre of the band below; the lower limit of the first band.
      const double before = band == 0 ? low : center(band - 1);
      parts_[static_cast<size_t>(i)] = {band - 1, (center(band) - mel) / (center(band) - before)};
    }
  }

  // Returns false if the upper limit exceeds the spectrogram's frequencies.
  bool is_within() const { return is_within_; }

  // Sums the magnitudes of a row by bands; `powers` are squared magnitudes.
  const std::vector<double>& Sum(const float* powers) {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (int i = first_; i <= last_; ++i) {
      const Part& part = parts_[static_cast<size_t>(i)];
      const double magnitude = std::sqrt(static_cast<double>(powers[i]));
      const double lower = magnitude * part.of_lower;
      const size_t band = static_cast<size_t>(part.lower_band) + 1;
      if (band > 0) sums_[band - 1] += lower;
      if (band < sums_.size()) sums_[band] += magnitude - lower;
    }
    return sums_;
  }

 private:
  struct Part {
    int lower_band = -1;  // band whose centre is below the frequency; -1 if there is none
    double of_lower = 0;
  };

  static double MelOf(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

  std::vector<double> sums_;
  std::vector<Part> parts_;
  int first_ = 0, last_ = -1;
  bool is_within_ = false;
};

// Cosines of a discrete cosine transform, one row per coefficient.
std::vector<double> CosinesOf(const MfccData& data) {
  std::vector<double> cosines;
  cosines.reserve(static_cast<size_t>(data.coefficients) * static_cast<size_t>(data.bands));
  const double norm = std::sqrt(2.0 / data.bands), step = std::numbers::pi / data.bands;
  for (int i = 0; i < data.coefficients; ++i) {
    for (int k = 0; k < data.bands; ++k) cosines.push_back(norm * std::cos(i * step * (k + 0.5)));
  }
  return cosines;
}

TfLiteStatus EvalMfcc(TfLiteContext* context, TfLiteNode* node) {
  const MfccData& data = DataOf<MfccData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  DEPUTY_TRY(CheckMfcc(context, node));
  const int frequencies = Dim(input, 2);
  const float* in = Data<float>(input);
  float* out = Data<float>(output);
  MelBands bands(data, frequencies, *Data<int32_t>(Input(context, node, 1)));
  if (!bands.is_within()) {
    std::fill_n(out, ElementCount(output), 0.0f);
    return kTfLiteOk;
  }
  const std::vector<double> cosines = CosinesOf(data);
  std::vector<double> logarithms(static_cast<size_t>(data.bands));
  const int64_t rows = int64_t{Dim(input, 0)} * Dim(input, 1);
  for (int64_t row = 0; row < rows; ++row, in += frequencies) {
    // The lower limit gives silence a finite logarithm; NaN passes through.
    std::ranges::transform(bands.Sum(in), logarithms.begin(),
                           [](double sum) { return std::log(sum < 1e-12 ? 1e-12 : sum); });
    const double* cosine = cosines.data();
    for (int i = 0; i < data.coefficients; ++i) {
      double sum = 0.0;
      for (const double logarithm : logarithms) sum += *cosine++ * logarithm;
      *out++ = static_cast<float>(sum);
    }
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    CustomRow<&PrepareSpectrogram, &EvalSpectrogram>("AudioSpectrogram", kFloat32Bit,
                                                     &GuardedInit<&InitSpectrogram>,
                                                     &DeleteData<SpectrogramData>),
    CustomRow<&PrepareMfcc, &EvalMfcc>("Mfcc", kFloat32Bit, &GuardedInit<&InitMfcc>,
                                       &DeleteData<MfccData>),
};

}  // namespace

constexpr std::span<const OpDef> kAudioOps = kTable;

}  // namespace deputy
