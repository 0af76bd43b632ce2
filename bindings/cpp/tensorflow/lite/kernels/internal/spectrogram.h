// SPDX-License-Identifier: Apache-2.0
//
// Spectrograms of audio: Fourier transforms of windows at equal distances.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_SPECTROGRAM_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_SPECTROGRAM_H_

#include <cmath>
#include <complex>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace tflite {
namespace internal {

// Keeps samples between calls, so that audio may arrive in parts of any length.
class Spectrogram {
 public:
  // Sets the window and the distance of windows, in samples. Returns false, and leaves the object
  // unusable, for a window of less than two samples or a step of less than one.
  bool Initialize(const std::vector<double>& window, int step_length) {
    is_initialized_ = false;
    if (window.size() < 2 || step_length < 1) return false;
    window_ = window;
    step_length_ = static_cast<size_t>(step_length);
    samples_to_skip_ = 0;
    queue_.clear();
    fft_length_ = 1;
    while (fft_length_ < window_.size()) fft_length_ *= 2;
    is_initialized_ = true;
    return true;
  }

  // Uses a periodic Hann window.
  bool Initialize(int window_length, int step_length) {
    std::vector<double> window;
    for (int i = 0; i < window_length; ++i) {
      window.push_back(0.5 - 0.5 * std::cos(2 * 3.14159265358979323846 * i / window_length));
    }
    return Initialize(window, step_length);
  }

  // Replaces `output` by the spectra of the windows that `input` completes. Returns false if the
  // object is not initialised.
  template <class InputSample, class OutputSample>
  bool ComputeComplexSpectrogram(const std::vector<InputSample>& input,
                                 std::vector<std::vector<std::complex<OutputSample>>>* output) {
    return ForEachSpectrum(input, output, [](const std::complex<double>& value) {
      return std::complex<OutputSample>(static_cast<OutputSample>(value.real()),
                                        static_cast<OutputSample>(value.imag()));
    });
  }

  template <class InputSample, class OutputSample>
  bool ComputeSquaredMagnitudeSpectrogram(const std::vector<InputSample>& input,
                                          std::vector<std::vector<OutputSample>>* output) {
    return ForEachSpectrum(input, output, [](const std::complex<double>& value) {
      return static_cast<OutputSample>(std::norm(value));
    });
  }

  const std::vector<double>& GetWindow() const { return window_; }
  int output_frequency_channels() const { return static_cast<int>(fft_length_ / 2 + 1); }

 private:
  template <class InputSample, class Output, class Convert>
  bool ForEachSpectrum(const std::vector<InputSample>& input,
                       std::vector<std::vector<Output>>* output, const Convert& convert) {
    if (!is_initialized_) return false;
    output->clear();
    for (const InputSample sample : input) {
      if (samples_to_skip_ > 0) {
        --samples_to_skip_;
        continue;
      }
      queue_.push_back(static_cast<double>(sample));
      if (queue_.size() < window_.size()) continue;
      std::vector<Output> spectrum;
      const std::vector<std::complex<double>> values = Transform();
      for (size_t i = 0; i <= fft_length_ / 2; ++i) spectrum.push_back(convert(values[i]));
      output->push_back(std::move(spectrum));
      const size_t dropped = step_length_ < queue_.size() ? step_length_ : queue_.size();
      samples_to_skip_ = step_length_ - dropped;
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(dropped));
    }
    return true;
  }

  // Returns the Fourier transform of the windowed samples, padded with zeros: radix 2, in place
  // after a permutation of the indices by reversed bits.
  std::vector<std::complex<double>> Transform() const {
    std::vector<std::complex<double>> values(fft_length_);
    for (size_t i = 0; i < window_.size(); ++i) values[i] = queue_[i] * window_[i];
    for (size_t i = 1, reversed = 0; i < fft_length_; ++i) {
      size_t bit = fft_length_ / 2;
      for (; (reversed & bit) != 0; bit /= 2) reversed ^= bit;
      reversed ^= bit;
      if (i < reversed) std::swap(values[i], values[reversed]);
    }
    for (size_t size = 2; size <= fft_length_; size *= 2) {
      for (size_t k = 0; k < size / 2; ++k) {
        const double angle =
            -2 * 3.14159265358979323846 * static_cast<double>(k) / static_cast<double>(size);
        const std::complex<double> factor = std::polar(1.0, angle);
        for (size_t i = k; i < fft_length_; i += size) {
          const std::complex<double> odd = factor * values[i + size / 2];
          values[i + size / 2] = values[i] - odd;
          values[i] += odd;
        }
      }
    }
    return values;
  }

  bool is_initialized_ = false;
  size_t fft_length_ = 1;
  size_t step_length_ = 0;
  size_t samples_to_skip_ = 0;
  std::vector<double> window_;
  std::deque<double> queue_;
};

}  // namespace internal
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_SPECTROGRAM_H_
