// SPDX-License-Identifier: Apache-2.0
//
// Resizing of images. The height and width of the output come from attributes, or from input 1,
// which has sizes, scales or one factor. Those that depend on the size of the image are computed by
// the graph, because callers may resize it.
#include <algorithm>
#include <cmath>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/shapes.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

// Upper bounds on numerator and denominator of a scale that integers compute as float32 does.
constexpr int32_t kMaxDivisor = 1 << 10;
constexpr float kMaxNumerator = 1 << 10, kMaxScale = 1 << 20;
constexpr int32_t kTableSize = 256;  // int32 values that core folds

// Returns the two values that apply to height and width: one value applies to both, and of four
// values the middle two.
template <typename T>
bool MiddleTwo(Mapping& m, const std::vector<T>& values, T min, T max, std::vector<T>* out) {
  if (values.size() != 1 && values.size() != 2 && values.size() != 4) {
    return m.FailInput(1, Format("expected 1, 2 or 4 sizes or scales, found %zu", values.size()));
  }
  const size_t first = values.size() == 4 ? 1 : 0;
  *out = {values[first], values[values.size() == 1 ? 0 : first + 1]};
  for (const T value : *out) {
    if (!(value >= min && value <= max)) {
      return m.FailInput(1, "size or scale " + std::to_string(value) + " is out of range");
    }
  }
  return true;
}

int ImageSize(Mapping& m) { return DimsOf(m, ShapeOf(m, m.In(0)), 1, 2); }

// Returns the smallest power of two whose product with both scales is a small integer; 0 if there
// is none.
int32_t DivisorOf(const std::vector<float>& scales) {
  for (int32_t divisor = 1; divisor <= kMaxDivisor; divisor *= 2) {
    const auto fits = [divisor](float scale) {
      const float numerator = scale * static_cast<float>(divisor);
      return numerator == std::floor(numerator) && numerator <= kMaxNumerator;
    };
    if (std::all_of(scales.begin(), scales.end(), fits)) return divisor;
  }
  return 0;
}

// Returns a dimension of the image's size after the resize by `scale`, which has no small fraction.
// float32 rounds its products, and integers do not: a table has the results for the sizes near the
// file's. An inference with another size fails.
int LookedUpSize(Mapping& m, int image_size, int axis, float scale) {
  const std::vector<int32_t>& dims = m.in(0).dims;
  const int32_t size = dims.size() == 4 ? std::max(dims[1 + axis], 0) : 0;
  const int32_t first = std::max(size - kTableSize / 2, 0);
  std::vector<int32_t> table;
  table.reserve(kTableSize);
  for (int32_t i = 0; i < kTableSize; ++i) {
    table.push_back(static_cast<int32_t>(std::lround(scale * static_cast<float>(first + i))));
  }
  const int index = ScaledShape(m, DimsOf(m, image_size, axis, 1), {1}, {-first});
  const int result = m.Temp({.type = Type::kInt32});
  m.Op(Builtin::GATHER, {m.ConstInts(table), index}, {result},
       schema::CreateGatherOptions(m.fbb(), 0));
  return result;
}

// Computes round(size * scale) in float32, as MindSpore Lite 2.x does; halves are rounded up.
bool ResizedByScales(Mapping& m, int* out) {
  std::vector<float> values, scales;
  if (!m.Floats(1, &values)) return false;
  if (values.size() == 1) return m.FailInput(1, "expected 2 or 4 scales, found 1");
  if (!MiddleTwo(m, values, 0.0F, kMaxScale, &scales)) return false;
  for (size_t d = 0; d < 2; ++d) {
    const int32_t size = m.in(0).dims.size() == 4 ? m.in(0).dims[1 + d] : -1;
    const float scaled = std::round(scales[d] * static_cast<float>(size));
    if (size >= 0 && !(scaled >= 1 && scaled < 1 << 24)) {
      return m.FailInput(1, Format("scale %g", scales[d]));
    }
  }
  const int size = ImageSize(m);
  const int32_t divisor = DivisorOf(scales);
  if (divisor == 0) {
    *out =
        JoinShapes(m, {LookedUpSize(m, size, 0, scales[0]), LookedUpSize(m, size, 1, scales[1])});
    return true;
  }
  std::vector<int32_t> numerators;
  numerators.reserve(scales.size());
  for (const float scale : scales) {
    numerators.push_back(static_cast<int32_t>(scale * static_cast<float>(divisor)));
  }
  const int32_t half = divisor / 2;
  *out = ScaledShape(m, size, numerators, {half, half});
  if (divisor > 1) *out = DividedShape(m, *out, divisor);
  return true;
}

bool ResizedBySizes(Mapping& m, int* out) {
  const Tensor& sizes = m.in(1);
  if (!sizes.constant && sizes.type == Type::kInt32 && sizes.dims.size() == 1 &&
      (sizes.dims[0] == 2 || sizes.dims[0] == 4)) {
    *out = sizes.dims[0] == 4 ? DimsOf(m, m.In(1), 1, 2) : m.In(1);
    return true;
  }
  std::vector<int64_t> values, two;
  if (!m.Ints(1, 4, &values)) return false;
  const bool is_factor = values.size() == 1;
  if (!MiddleTwo<int64_t>(m, values, 1, is_factor ? 1 << 10 : kMaxInt32, &two)) return false;
  const auto first = static_cast<int32_t>(two[0]), second = static_cast<int32_t>(two[1]);
  if (is_factor) {  // (size - 1) * factor + 1
    *out = ScaledShape(m, ImageSize(m), {first, first}, {1 - first, 1 - first});
  } else {
    *out = m.ConstInts({first, second});
  }
  return true;
}

// Returns a tensor with the output height and width.
bool ResizedTo(Mapping& m, const file::Resize& attributes, int* out) {
  if (m.inputs() > 1) {
    const bool scales = m.in(1).type == Type::kFloat32 || m.in(1).type == Type::kFloat16;
    return scales ? ResizedByScales(m, out) : ResizedBySizes(m, out);
  }
  if (!m.Within(attributes.new_height(), "new_height", 1, kMaxInt32) ||
      !m.Within(attributes.new_width(), "new_width", 1, kMaxInt32)) {
    return false;
  }
  *out = m.ConstInts({static_cast<int32_t>(attributes.new_height()),
                      static_cast<int32_t>(attributes.new_width())});
  return true;
}

bool MapResize(Mapping& m, Builtin) {
  const file::Resize* attributes = nullptr;
  int target = 0;
  if (!m.Read(&attributes) || !ResizedTo(m, *attributes, &target) ||
      !m.Within(static_cast<int>(attributes->method()), "method", 0, 1) ||
      !m.Within(static_cast<int>(attributes->coordinate_transform_mode()),
                "coordinate_transform_mode", 0, 2)) {
    return false;
  }
  const file::CoordinateTransformMode mode = attributes->coordinate_transform_mode();
  const bool nearest = attributes->method() == file::ResizeMethod_NEAREST;
  const bool floors = mode == file::CoordinateTransformMode_ASYMMETRIC;
  if (attributes->preserve_aspect_ratio()) return m.Fail("preserve_aspect_ratio is not supported");
  if (nearest && attributes->nearest_mode() != file::NearestMode_NORMAL &&
      !(floors && attributes->nearest_mode() == file::NearestMode_FLOOR)) {
    return m.Fail(Format("nearest_mode %d is not supported", attributes->nearest_mode()));
  }
  const bool corners = mode == file::CoordinateTransformMode_ALIGN_CORNERS;
  const bool centers = mode == file::CoordinateTransformMode_HALF_PIXEL;
  if (nearest) {
    m.Op(Builtin::RESIZE_NEAREST_NEIGHBOR, {m.In(0), target}, {m.Out()},
         schema::CreateResizeNearestNeighborOptions(m.fbb(), corners, centers));
  } else {
    m.Op(Builtin::RESIZE_BILINEAR, {m.In(0), target}, {m.Out()},
         schema::CreateResizeBilinearOptions(m.fbb(), corners, centers));
  }
  return true;
}

}  // namespace

std::span<const Row> ResizeRows() {
  static constexpr Row kRows[] = {{file::PrimitiveType_Resize, 1, 2, 1, &MapResize}};
  return kRows;
}

}  // namespace deputy::ms
