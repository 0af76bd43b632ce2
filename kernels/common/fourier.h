// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms in double precision, of lengths that are powers of two.
#ifndef DEPUTY_KERNELS_COMMON_FOURIER_H_
#define DEPUTY_KERNELS_COMMON_FOURIER_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace deputy {

using Complex = std::complex<double>;

// Complex product without the standard operator's handling of infinities.
inline Complex Product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Transforms of one length, a power of two.
class Fourier {
 public:
  explicit Fourier(int64_t length) : length_(static_cast<size_t>(length)), roots_(length_ / 2) {
    for (size_t i = 0; i < roots_.size(); ++i) {
      const double angle =
          -2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length_);
      roots_[i] = {std::cos(angle), std::sin(angle)};
    }
  }

  void Transform(Complex* values) const {
    for (size_t i = 1, mirrored = 0; i < length_; ++i) {
      size_t bit = length_ / 2;
      for (; (mirrored & bit) != 0; bit /= 2) mirrored ^= bit;
      mirrored |= bit;
      if (i < mirrored) std::swap(values[i], values[mirrored]);
    }
    for (size_t half = 1; half < length_; half *= 2) {
      for (size_t block = 0; block < length_; block += 2 * half) Butterflies(values + block, half);
    }
  }

 private:
  void Butterflies(Complex* values, size_t half) const {
    const size_t step = length_ / 2 / half;
    for (size_t i = 0; i < half; ++i) {
      const Complex odd = Product(values[i + half], roots_[i * step]);
      values[i + half] = values[i] - odd;
      values[i] += odd;
    }
  }

  size_t length_;
  std::vector<Complex> roots_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_FOURIER_H_
