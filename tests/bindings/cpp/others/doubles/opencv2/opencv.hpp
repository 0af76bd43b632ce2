// SPDX-License-Identifier: Apache-2.0
//
// The part of OpenCV that small hosts of TensorFlow Lite use: matrices of bytes, binary PGM and PPM
// images, and resizing to the nearest pixel.
#ifndef DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_OPENCV2_OPENCV_HPP_
#define DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_OPENCV2_OPENCV_HPP_

#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

using uchar = unsigned char;

namespace cv {

enum { INTER_NEAREST = 0, INTER_LINEAR = 1 };

struct Size {
  Size(int w, int h) : width(w), height(h) {}
  int width, height;
};

// Rows of `cols` pixels of `channels` bytes. Copies do not share memory, unlike OpenCV's.
class Mat {
 public:
  Mat() = default;
  Mat(int height, int width, int depth)
      : rows(height), cols(width), channels_(depth), pixels_(total() * elemSize()) {
    data = pixels_.data();
  }
  Mat(const Mat& other) { *this = other; }
  Mat& operator=(const Mat& other) {
    rows = other.rows;
    cols = other.cols;
    channels_ = other.channels_;
    pixels_ = other.pixels_;
    data = pixels_.data();
    return *this;
  }
  bool empty() const { return pixels_.empty(); }
  size_t total() const { return static_cast<size_t>(rows) * static_cast<size_t>(cols); }
  size_t elemSize() const { return static_cast<size_t>(channels_); }
  int channels() const { return channels_; }
  uchar* ptr(int row, int column) { return data + (row * cols + column) * channels_; }

  int rows = 0, cols = 0;
  uchar* data = nullptr;

 private:
  int channels_ = 1;
  std::vector<uchar> pixels_;
};

// Returns an empty matrix if the file does not exist or has another format. The order of the
// channels is the file's.
inline Mat imread(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string kind;
  int width = 0, height = 0, maximum = 0;
  if (!(file >> kind >> width >> height >> maximum) || maximum != 255) return Mat();
  Mat image(height, width, kind == "P5" ? 1 : 3);
  file.get();
  file.read(reinterpret_cast<char*>(image.data),
            static_cast<std::streamsize>(image.total() * image.elemSize()));
  return file ? image : Mat();
}

inline void resize(Mat source, Mat& target, Size size, double = 0, double = 0, int = 0) {
  target = Mat(size.height, size.width, source.channels());
  for (int row = 0; row < size.height; ++row) {
    for (int column = 0; column < size.width; ++column) {
      std::memcpy(target.ptr(row, column),
                  source.ptr(row * source.rows / size.height, column * source.cols / size.width),
                  source.elemSize());
    }
  }
}

}  // namespace cv

#endif  // DEPUTY_TESTS_BINDINGS_CPP_OTHERS_DOUBLES_OPENCV2_OPENCV_HPP_
