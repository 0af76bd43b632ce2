// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and pooling. Channels are the last dimension regardless of the attribute `format`,
// as in MindSpore Lite's own kernels. The number of channels comes from the weights, because the
// attributes that repeat it are wrong in real files.
//
// Explicit padding becomes TensorFlow Lite's SAME only if the two are equal for every input size,
// since callers may resize the input; otherwise it becomes a PAD followed by a VALID window.
#include <algorithm>
#include <limits>
#include <optional>

#include "mindspore/ms/mapping.h"
#include "mindspore/ms/shapes.h"
#include "mindspore/ms/text.h"

namespace deputy::ms {
namespace {

using schema::Padding;

constexpr int64_t kMaxExtent = 1 << 20;

// Parameters of a window that slides over the image; index 0 is the height, 1 the width.
struct Window {
  int kernel[2], stride[2] = {1, 1}, dilation[2] = {1, 1};
  int before[2] = {0, 0}, after[2] = {0, 0};  // explicit padding
  file::PadMode mode = file::PadMode_PAD;
  bool ceil = false;

  int extent(int d) const { return (kernel[d] - 1) * dilation[d] + 1; }
  bool padded() const { return before[0] > 0 || after[0] > 0 || before[1] > 0 || after[1] > 0; }
  // Returns true if SAME padding is equal to this padding along axis `d` for every image size.
  bool is_same(int d) const {
    const int all = extent(d) - 1;
    if (ceil && before[d] == 0 && after[d] == 0) {
      return stride[d] == kernel[d] && stride[d] <= 2;
    }
    return stride[d] == 1 && before[d] == all / 2 && after[d] == all - all / 2;
  }
};

// Reads two numbers, or one that applies to both axes. An empty list keeps the default.
bool ReadPair(Mapping& m, const LongList* list, const char* name, int64_t min, int* out) {
  std::vector<int64_t> values;
  if (!m.List(list, name, 0, 2, &values)) return false;
  for (size_t d = 0; d < 2 && !values.empty(); ++d) {
    const int64_t value = values[std::min(d, values.size() - 1)];
    if (!m.Within(value, name, min, kMaxExtent)) return false;
    out[d] = static_cast<int>(value);
  }
  return true;
}

// Reads `pad_list`, in the order top, bottom, left, right.
bool ReadPads(Mapping& m, const LongList* list, Window* out) {
  std::vector<int64_t> values;
  if (!m.List(list, "pad_list", 0, 4, &values)) return false;
  if (values.empty()) return true;
  if (values.size() != 4) {
    return m.Fail(Format("attribute pad_list: expected 4 values, found %zu", values.size()));
  }
  for (const int64_t value : values) {
    if (!m.Within(value, "pad_list", 0, kMaxExtent)) return false;
  }
  out->before[0] = static_cast<int>(values[0]);
  out->after[0] = static_cast<int>(values[1]);
  out->before[1] = static_cast<int>(values[2]);
  out->after[1] = static_cast<int>(values[3]);
  return true;
}

bool ReadMode(Mapping& m, file::PadMode mode, Window* out) {
  out->mode = mode;
  if (!m.Within(static_cast<int>(mode), "pad_mode", 0, 2)) return false;
  if (mode == file::PadMode_PAD) return true;
  for (int d = 0; d < 2; ++d) out->before[d] = out->after[d] = 0;
  return true;
}

// Adds a PAD, or a PADV2 with the constant of index `pad_value`, and returns the padded image.
// `trailing` adds padding at the end of each axis.
int Pad(Mapping& m, int input, const Window& window, const int (&trailing)[2],
        std::optional<int> pad_value) {
  const int32_t pads[] = {0,
                          0,
                          window.before[0],
                          window.after[0] + trailing[0],
                          window.before[1],
                          window.after[1] + trailing[1],
                          0,
                          0};
  const auto* bytes = reinterpret_cast<const uint8_t*>(pads);
  const int paddings =
      m.writer().AddConstant({.type = Type::kInt32, .dims = {4, 2}}, {bytes, sizeof(pads)});
  const Tensor& image = m.in(0);
  const int padded = m.Temp({.type = image.type, .quantization = &image.quantization});
  if (!pad_value) {
    m.Op(Builtin::PAD, {input, paddings}, {padded}, schema::CreatePadOptions(m.fbb()));
  } else {
    m.Op(Builtin::PADV2, {input, paddings, *pad_value}, {padded},
         schema::CreatePadV2Options(m.fbb()));
  }
  return padded;
}

// Returns the padding of a convolution. If the padding requires a PAD, adds it and sets `input` to
// the padded image.
Padding PadConv(Mapping& m, const Window& window, int* input) {
  if (window.mode == file::PadMode_SAME) return Padding::SAME;
  if (window.mode == file::PadMode_VALID || !window.padded()) return Padding::VALID;
  if (window.is_same(0) && window.is_same(1)) return Padding::SAME;
  *input = Pad(m, *input, window, {0, 0}, std::nullopt);
  return Padding::VALID;
}

bool NeedsImage(Mapping& m) {
  int rank = 0;
  if (!m.KnownRank(0, &rank)) return false;
  return rank == 4 || m.FailInput(0, "expected rank 4, found " + DimsText(m.in(0).dims));
}

// ---- Convolutions -------------------------------------------------------------------------------

// Sets `out` to the bias tensor, or to a tensor of zeros if there is no bias. The scale of a
// quantised bias is the product of the scales of input and weights.
bool Bias(Mapping& m, const Constant& filter, int channels, int* out) {
  const bool integer = Mapping::IsQuantized(m.in(0)) && filter.has_scales();
  if (!integer) {
    if (m.inputs() > 2) {
      *out = m.In(2);
      return true;
    }
    if (!m.writer().Reserve(static_cast<size_t>(channels) * sizeof(float))) return true;
    *out = m.ConstFloats({channels}, std::vector<float>(static_cast<size_t>(channels)));
    return true;
  }
  Quantization scales = *filter.form.quantization;
  for (float& scale : scales.scale) scale *= m.in(0).quantization.scale[0];
  std::fill(scales.zero_point.begin(), scales.zero_point.end(), 0);
  Constant bias;
  if (m.inputs() > 2) {
    if (!m.Weight(2, 0, &bias)) return false;
  } else {
    if (!m.writer().Reserve(static_cast<size_t>(channels) * sizeof(int32_t))) return true;
    bias.form = {.type = Type::kInt32, .dims = {channels}};
    bias.storage.resize(static_cast<size_t>(channels) * sizeof(int32_t));
    bias.bytes = bias.storage;
  }
  bias.form.quantization = &scales;
  bias.form.channel_axis = 0;
  *out = m.Add(bias);
  return true;
}

// Reads the weights, which have rank 4, and the kernel height and width from dimensions 1 and 2 of
// their shape. `channel_axis` has the scales.
bool ReadFilter(Mapping& m, int channel_axis, Constant* filter, Window* window) {
  if (!m.Weight(1, channel_axis, filter)) return false;
  const std::vector<int32_t>& dims = filter->form.dims;
  if (dims.size() != 4 || std::count(dims.begin(), dims.end(), 0) > 0) {
    return m.FailInput(1, "expected weights of rank 4, found " + DimsText(dims));
  }
  for (int d = 0; d < 2; ++d) {
    if (!m.Within(dims[1 + d], "kernel_size", 1, kMaxExtent)) return false;
    window->kernel[d] = dims[1 + d];
  }
  return true;
}

bool EmitConv(Mapping& m, const file::Conv2DFusion& attributes, const Window& window,
              const Constant& filter, int bias) {
  int input = m.In(0);
  const Padding padding = PadConv(m, window, &input);
  const int weights = m.Add(filter);
  return m.WithActivation(attributes.activation_type(), [&](Fused fused, int output) {
    m.Op(Builtin::CONV_2D, {input, weights, bias}, {output},
         schema::CreateConv2DOptions(m.fbb(), padding, window.stride[1], window.stride[0], fused,
                                     window.dilation[1], window.dilation[0]));
  });
}

bool EmitDepthwise(Mapping& m, const file::Conv2DFusion& attributes, const Window& window,
                   Constant* filter, int bias) {
  const int multiplier = filter->form.dims[0] / static_cast<int>(attributes.group());
  if (!m.Permute({3, 1, 2, 0}, filter)) return false;
  int input = m.In(0);
  const Padding padding = PadConv(m, window, &input);
  const int weights = m.Add(*filter);
  return m.WithActivation(attributes.activation_type(), [&](Fused fused, int output) {
    m.Op(Builtin::DEPTHWISE_CONV_2D, {input, weights, bias}, {output},
         schema::CreateDepthwiseConv2DOptions(m.fbb(), padding, window.stride[1], window.stride[0],
                                              multiplier, fused, window.dilation[1],
                                              window.dilation[0]));
  });
}

bool MapConv(Mapping& m, Builtin) {
  const file::Conv2DFusion* attributes = nullptr;
  Window window;
  Constant filter;
  if (!m.Read(&attributes) || !ReadFilter(m, 0, &filter, &window) ||
      !ReadPair(m, attributes->stride(), "stride", 1, window.stride) ||
      !ReadPair(m, attributes->dilation(), "dilation", 1, window.dilation) ||
      !ReadPads(m, attributes->pad_list(), &window) ||
      !ReadMode(m, attributes->pad_mode(), &window) ||
      !m.Within(attributes->group(), "group", 0, std::numeric_limits<int32_t>::max())) {
    return false;
  }
  const int channels = filter.form.dims[0];
  const auto groups = static_cast<int>(std::max<int64_t>(attributes->group(), 1));
  if (channels % groups != 0) {
    return m.FailInput(
        1, Format("expected output channels for %d groups, found %d", groups, channels));
  }
  int bias = 0;
  if (!Bias(m, filter, channels, &bias)) return false;
  // CONV_2D derives its number of groups from the shapes.
  if (groups > 1 && filter.form.dims[3] == 1) {
    return EmitDepthwise(m, *attributes, window, &filter, bias);
  }
  return EmitConv(m, *attributes, window, filter, bias);
}

// Checks the size of the output that a transposed convolution has for the image in the file.
bool CheckTransposedSize(Mapping& m, const Window& window, const int (&extra)[2]) {
  const bool same = window.mode == file::PadMode_SAME;
  for (int d = 0; d < 2; ++d) {
    if (!m.Within(extra[d], "output_paddings", 0, window.after[d])) return false;
    const int64_t size = m.in(0).dims[1 + d];
    if (size < 0) continue;
    const int64_t full_size =
        same ? size * window.stride[d] : (size - 1) * window.stride[d] + window.kernel[d];
    const int64_t cut_size = full_size - window.before[d] - window.after[d] + extra[d];
    if (!m.Within(cut_size, "pad_list (its output)", 1, kMaxExtent) ||
        !m.Within(full_size, "stride (its output)", 1, kMaxExtent)) {
      return false;
    }
  }
  return true;
}

// Adds a STRIDED_SLICE that removes the padding of a transposed convolution. Its ends count from
// the end of the image, whose size may change.
void CutPadding(Mapping& m, const Window& window, const int (&extra)[2], int image, int output) {
  std::vector<int32_t> begin(4), end(4);
  int end_mask = 0b1001;
  for (int d = 0; d < 2; ++d) {
    begin[1 + d] = window.before[d];
    end[1 + d] = extra[d] - window.after[d];
    if (end[1 + d] == 0) end_mask |= 1 << (1 + d);
  }
  m.Op(Builtin::STRIDED_SLICE,
       {image, m.ConstInts(begin), m.ConstInts(end), m.ConstInts({1, 1, 1, 1})}, {output},
       schema::CreateStridedSliceOptions(m.fbb(), 0, end_mask));
}

// Adds a transposed convolution without padding, followed by a slice that removes the padding. The
// graph computes the shape of the output from that of the image.
bool EmitTransposed(Mapping& m, const Window& window, const Constant& filter, const int (&extra)[2],
                    const std::vector<int>& bias, int output) {
  if (!CheckTransposedSize(m, window, extra)) return false;
  const bool same = window.mode == file::PadMode_SAME;
  std::vector<int32_t> factors = {1, 0, 0, 0}, offsets = {0, 0, 0, filter.form.dims[0]};
  bool is_cut = false;
  for (int d = 0; d < 2; ++d) {
    factors[1 + d] = window.stride[d];
    offsets[1 + d] = same ? 0 : window.kernel[d] - window.stride[d];
    is_cut = is_cut || window.before[d] > 0 || window.after[d] > extra[d];
  }
  const int input = m.In(0);
  const int shape = ScaledShape(m, ShapeOf(m, input), factors, offsets);
  const int all =
      is_cut ? m.Temp({.type = m.out().type, .quantization = &m.out().quantization}) : output;
  std::vector<int> inputs = {shape, m.Add(filter), input};
  inputs.insert(inputs.end(), bias.begin(), bias.end());
  m.Op(Builtin::TRANSPOSE_CONV, inputs, {all},
       schema::CreateTransposeConvOptions(m.fbb(), same ? Padding::SAME : Padding::VALID,
                                          window.stride[1], window.stride[0]));
  if (is_cut) CutPadding(m, window, extra, all, output);
  return true;
}

bool ReadTransposed(Mapping& m, const file::Conv2dTransposeFusion& attributes, Window* window,
                    int* extra) {
  const LongList* pads =
      attributes.pad_list() != nullptr ? attributes.pad_list() : attributes.pad();
  if (!ReadPair(m, attributes.stride(), "stride", 1, window->stride) ||
      !ReadPair(m, attributes.dilation(), "dilation", 1, window->dilation) ||
      !ReadPair(m, attributes.output_paddings(), "output_paddings", 0, extra) ||
      !ReadPads(m, pads, window) || !ReadMode(m, attributes.pad_mode(), window)) {
    return false;
  }
  if (attributes.group() > 1) {
    return m.Fail("attribute group: expected 1, found " + std::to_string(attributes.group()));
  }
  if (window->dilation[0] != 1 || window->dilation[1] != 1) {
    return m.Fail(Format("attribute dilation: expected 1, found %d and %d", window->dilation[0],
                         window->dilation[1]));
  }
  return true;
}

// Maps a transposed convolution, whose weights have the shape [in, height, width, out].
bool MapConvTranspose(Mapping& m, Builtin) {
  const file::Conv2dTransposeFusion* attributes = nullptr;
  Window window;
  Constant filter;
  int extra[2] = {0, 0};
  const bool old = m.model().version_major == 1 && m.model().version_minor < 8;
  if (!m.Read(&attributes) || !ReadFilter(m, old ? 0 : 3, &filter, &window) ||
      !ReadTransposed(m, *attributes, &window, extra) || !NeedsImage(m)) {
    return false;
  }
  if (!m.Permute({3, 1, 2, 0}, &filter)) return false;
  std::vector<int> bias;
  if (m.inputs() > 2) {
    bias.push_back(0);
    if (!Bias(m, filter, filter.form.dims[0], bias.data())) return false;
  }
  const file::ActivationType activation = attributes->activation_type();
  // TRANSPOSE_CONV has a fused activation in later versions only.
  if (Mapping::IsNone(activation)) {
    return EmitTransposed(m, window, filter, extra, bias, m.Out());
  }
  const int before = m.TempLike(m.out());
  return EmitTransposed(m, window, filter, extra, bias, before) &&
         m.Activate(activation, before, m.Out());
}

// ---- Pooling ------------------------------------------------------------------------------------

bool EmitPool(Mapping& m, Builtin code, const Window& window, Padding padding, int input,
              file::ActivationType activation) {
  return m.WithActivation(activation, [&](Fused fused, int output) {
    m.Op(code, {input}, {output},
         schema::CreatePool2DOptions(m.fbb(), padding, window.stride[1], window.stride[0],
                                     window.kernel[1], window.kernel[0], fused));
  });
}

bool GlobalPool(Mapping& m, Builtin code, file::ActivationType activation) {
  if (!Mapping::IsNone(activation))
    return m.Fail("an activation of a global pool is not supported");
  const Builtin reduce = code == Builtin::MAX_POOL_2D ? Builtin::REDUCE_MAX : Builtin::MEAN;
  m.Op(reduce, {m.In(0), m.ConstInts({1, 2})}, {m.Out()},
       schema::CreateReducerOptions(m.fbb(), true));
  return true;
}

// Adds a constant with the lowest value of the input's type; nothing for types without padding.
std::optional<int> Lowest(Mapping& m) {
  const Tensor& image = m.in(0);
  uint8_t bytes[sizeof(float)] = {};
  const float infinity = -std::numeric_limits<float>::infinity();
  if (image.type == Type::kFloat32) {
    std::copy_n(reinterpret_cast<const uint8_t*>(&infinity), sizeof(float), bytes);
  } else if (image.type == Type::kInt8) {
    bytes[0] = 0x80;
  } else if (image.type != Type::kUInt8) {
    return std::nullopt;
  }
  return m.writer().AddConstant({.type = image.type, .quantization = &image.quantization},
                                {bytes, ElementSize(image.type)});
}

// Checks that each window of an average pooling covers an element of the image in the file.
bool CheckCovered(Mapping& m, const Window& window, const int (&trailing)[2]) {
  for (int d = 0; d < 2; ++d) {
    const int64_t size = m.in(0).dims[1 + d], first = window.before[d];
    if (first >= window.kernel[d]) return m.Fail("a window covers padding only");
    if (size < 0) continue;
    const int64_t range = size + first + window.after[d] + trailing[d] - window.kernel[d];
    if (range < 0) return m.Fail("the window is larger than the padded image");
    if (!m.Within(range, "kernel_size (its output)", 0, kMaxExtent)) return false;
    if (range / window.stride[d] * window.stride[d] - first >= size) {
      return m.Fail("a window covers padding only");
    }
  }
  return true;
}

// Adds an average pooling with padding. The average counts elements of the image only, whereas
// AVERAGE_POOL_2D on a padded image counts the padding as well: its result is divided by the
// average of an image of ones that has the same size and padding.
bool PaddedAverage(Mapping& m, const Window& window, const int (&trailing)[2],
                   file::ActivationType activation) {
  if (!m.NeedsFloat32() || !NeedsImage(m) || !CheckCovered(m, window, trailing)) return false;
  const auto average = [&](int image) {
    const int padded = Pad(m, image, window, trailing, std::nullopt);
    const int result = m.Temp({.type = Type::kFloat32});
    m.Op(Builtin::AVERAGE_POOL_2D, {padded}, {result},
         schema::CreatePool2DOptions(m.fbb(), Padding::VALID, window.stride[1], window.stride[0],
                                     window.kernel[1], window.kernel[0]));
    return result;
  };
  const int input = m.In(0), ones = m.Temp({.type = Type::kFloat32});
  const int shape = ScaledShape(m, ShapeOf(m, input), {0, 1, 1, 0}, {1, 0, 0, 1});
  m.Op(Builtin::FILL, {shape, m.ConstFloat(1)}, {ones}, schema::CreateFillOptions(m.fbb()));
  const int sum = average(input), covered = average(ones);
  return m.WithActivation(activation, [&](Fused fused, int output) {
    m.Apply(Builtin::DIV, {sum, covered}, output, fused);
  });
}

// Maps AvgPoolFusion and MaxPoolFusion.
template <typename Pool>
bool MapPool(Mapping& m, Builtin code) {
  const Pool* attributes = nullptr;
  if (!m.Read(&attributes)) return false;
  const file::ActivationType activation = attributes->activation_type();
  if (attributes->global()) return GlobalPool(m, code, activation);
  Window window;
  window.kernel[0] = window.kernel[1] = 0;
  if (!ReadPair(m, attributes->kernel_size(), "kernel_size", 1, window.kernel) ||
      !ReadPair(m, attributes->strides(), "strides", 1, window.stride) ||
      !ReadPads(m, attributes->pad(), &window) || !ReadMode(m, attributes->pad_mode(), &window) ||
      !m.Within(static_cast<int>(attributes->round_mode()), "round_mode", 0, 1)) {
    return false;
  }
  if (window.kernel[0] == 0) return m.Fail("attribute kernel_size: expected 2 values, found none");
  window.ceil = window.mode == file::PadMode_PAD &&
                attributes->round_mode() == file::RoundMode_CEIL &&
                (window.stride[0] > 1 || window.stride[1] > 1);
  if (window.mode == file::PadMode_SAME || (window.is_same(0) && window.is_same(1))) {
    return EmitPool(m, code, window, Padding::SAME, m.In(0), activation);
  }
  if (!window.padded() && !window.ceil) {
    return EmitPool(m, code, window, Padding::VALID, m.In(0), activation);
  }
  // Rounding up the output size equals rounding down with stride - 1 more padding at the end.
  const int trailing[2] = {window.ceil ? window.stride[0] - 1 : 0,
                           window.ceil ? window.stride[1] - 1 : 0};
  if (code == Builtin::AVERAGE_POOL_2D) return PaddedAverage(m, window, trailing, activation);
  const std::optional<int> lowest = Lowest(m);
  if (!lowest) {
    return m.FailInput(
        0, std::string("padding requires FLOAT32, INT8 or UINT8, found ") + TypeName(m.in(0).type));
  }
  const int padded = Pad(m, m.In(0), window, trailing, *lowest);
  return EmitPool(m, code, window, Padding::VALID, padded, activation);
}

}  // namespace

std::span<const Row> ConvRows() {
  static constexpr Row kRows[] = {
      {file::PrimitiveType_Conv2DFusion, 2, 3, 1, &MapConv},
      {file::PrimitiveType_Conv2dTransposeFusion, 2, 3, 1, &MapConvTranspose},
      {file::PrimitiveType_AvgPoolFusion, 1, 1, 1, &MapPool<file::AvgPoolFusion>,
       Builtin::AVERAGE_POOL_2D},
      {file::PrimitiveType_MaxPoolFusion, 1, 1, 1, &MapPool<file::MaxPoolFusion>,
       Builtin::MAX_POOL_2D},
  };
  return kRows;
}

}  // namespace deputy::ms
