// SPDX-License-Identifier: Apache-2.0
//
// Tests that models of .ms files infer their shapes and do not use those in the file: each model is
// built once and resized, on the CPU, on the NPU stub and on a GPU. The expected results are
// computed by plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "deputy/deputy.h"
#include "mindspore/context.h"
#include "mindspore/delegate.h"
#include "mindspore/model.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_shapes_test {
namespace {

using mindspore::Model;
using mindspore::MSTensor;
using ms::MsWriter;
using testing::HasSubstr;
using Floats = std::vector<float>;
using Dims = std::vector<int64_t>;

struct Result {
  Dims shape;
  Floats values;
};

// A model of one node with one input, and its result for an input of any shape.
struct Case {
  const char* name;
  std::vector<int32_t> file_dims;
  std::function<void(MsWriter& w, uint32_t x, uint32_t y)> build;
  std::function<Result(const Dims& dims, const Floats& x)> expected;
  std::vector<Dims> sizes;
};

// Returns the path of a file of the build; the program is in the folder tests.
std::string BuildPath(const std::string& path) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / ".." / path).string();
}

size_t Count(const Dims& dims) {
  return static_cast<size_t>(
      std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>()));
}

Floats Noise(size_t count) {
  Floats values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7 % 23) - 11;
  return values;
}

// ---- The cases ----------------------------------------------------------------------------------

Case Reshape(const char* name, std::vector<int32_t> file_dims, std::vector<int32_t> shape,
             std::vector<Dims> sizes) {
  const auto expected = [shape](const Dims& dims, const Floats& x) {
    Dims result(shape.begin(), shape.end());
    size_t known = 1, open = shape.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 0) result[d] = dims[d];
      if (shape[d] == -1) open = d;
      if (shape[d] != -1) known *= static_cast<size_t>(result[d]);
    }
    if (open < shape.size()) result[open] = static_cast<int64_t>(x.size() / known);
    return Result{result, x};
  };
  const auto build = [shape](MsWriter& w, uint32_t x, uint32_t y) {
    w.Node(ms::file::PrimitiveType_Reshape, {x, w.Ints(shape)}, {y});
  };
  return {name, std::move(file_dims), build, expected, std::move(sizes)};
}

Case Flatten(const char* name, int axis) {
  const auto expected = [axis](const Dims& dims, const Floats& x) {
    const int from = axis < 0 ? axis + static_cast<int>(dims.size()) : axis;
    const Dims outer(dims.begin(), dims.begin() + from), inner(dims.begin() + from, dims.end());
    return Result{{static_cast<int64_t>(Count(outer)), static_cast<int64_t>(Count(inner))}, x};
  };
  const auto build = [axis](MsWriter& w, uint32_t x, uint32_t y) {
    w.Node(ms::file::PrimitiveType_Flatten, {x}, {y}, ms::file::CreateFlatten(w.fbb(), axis));
  };
  return {name, {1, 4, 6}, build, expected, {{3, 4, 6}, {2, 5, 3}, {1, 4, 6}}};
}

// Resizes with the nearest neighbour. A factor of 0 selects `scales`; their products with the
// sizes are computed in float32 and rounded.
Case Resize(const char* name, std::vector<float> scales, int factor, std::vector<Dims> sizes) {
  const auto expected = [scales, factor](const Dims& dims, const Floats& x) {
    const size_t first = scales.size() == 4 ? 1 : 0;
    int64_t size[2];
    for (size_t d = 0; d < 2; ++d) {
      size[d] = factor > 0 ? (dims[1 + d] - 1) * factor + 1
                           : std::lround(scales[first + d] * static_cast<float>(dims[1 + d]));
    }
    Result result{{dims[0], size[0], size[1], dims[3]}, {}};
    for (int64_t n = 0; n < dims[0]; ++n) {
      for (int64_t i = 0; i < size[0] * size[1]; ++i) {
        const int64_t row = i / size[1] * dims[1] / size[0], at = i % size[1] * dims[2] / size[1];
        for (int64_t c = 0; c < dims[3]; ++c) {
          result.values.push_back(
              x[static_cast<size_t>(((n * dims[1] + row) * dims[2] + at) * dims[3] + c)]);
        }
      }
    }
    return result;
  };
  const auto build = [scales, factor](MsWriter& w, uint32_t x, uint32_t y) {
    const uint32_t by = factor > 0
                            ? w.Ints({factor})
                            : w.Constant<float>({static_cast<int32_t>(scales.size())}, scales);
    w.Node(ms::file::PrimitiveType_Resize, {x, by}, {y},
           ms::file::CreateResize(w.fbb(), ms::file::Format_NHWC, ms::file::ResizeMethod_NEAREST));
  };
  return {name, {1, 4, 6, 2}, build, expected, std::move(sizes)};
}

struct Transposed {
  int stride, before, after, extra;
  ms::file::PadMode mode;
};

constexpr int kKernel = 3, kIn = 2, kOut = 2;

// Computes a transposed convolution: adds each input element times the weights to the output.
Result PlainTransposed(const Transposed& t, const Floats& weights, const Dims& dims,
                       const Floats& x) {
  const bool same = t.mode == ms::file::PadMode_SAME;
  const auto size = [&](int64_t in) {
    return same ? in * t.stride : (in - 1) * t.stride + kKernel - t.before - t.after + t.extra;
  };
  const int64_t before = same ? (kKernel - t.stride) / 2 : t.before;
  const int64_t height = size(dims[1]), width = size(dims[2]);
  Result result{{dims[0], height, width, kOut}, Floats(Count({dims[0], height, width, kOut}))};
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t c = at % kIn, column = at / kIn % dims[2], row = at / kIn / dims[2] % dims[1];
    const int64_t n = at / kIn / dims[2] / dims[1];
    for (int k = 0; k < kKernel * kKernel * kOut; ++k) {
      const int64_t to_row = row * t.stride + k / kOut / kKernel - before;
      const int64_t to = column * t.stride + k / kOut % kKernel - before;
      if (to_row < 0 || to < 0 || to_row >= height || to >= width) continue;
      result.values[static_cast<size_t>(((n * height + to_row) * width + to) * kOut + k % kOut)] +=
          x[i] * weights[static_cast<size_t>(c * kKernel * kKernel * kOut + k)];
    }
  }
  return result;
}

Case ConvTranspose(const char* name, const Transposed& t) {
  const Floats weights = Noise(kIn * kKernel * kKernel * kOut);
  const auto build = [t, weights](MsWriter& w, uint32_t x, uint32_t y) {
    const uint32_t filter = w.Constant<float>({kIn, kKernel, kKernel, kOut}, weights);
    const auto stride = w.Longs({t.stride, t.stride}), dilation = w.Longs({1, 1});
    const auto pads = w.Longs({t.before, t.after, t.before, t.after});
    const auto extra = w.Longs({t.extra, t.extra});
    ms::file::Conv2dTransposeFusionBuilder attributes(w.fbb());
    attributes.add_stride(stride);
    attributes.add_dilation(dilation);
    attributes.add_pad_mode(t.mode);
    attributes.add_pad_list(pads);
    attributes.add_output_paddings(extra);
    w.Node(ms::file::PrimitiveType_Conv2dTransposeFusion, {x, filter}, {y}, attributes.Finish());
  };
  const auto expected = [t, weights](const Dims& dims, const Floats& x) {
    return PlainTransposed(t, weights, dims, x);
  };
  return {name, {1, 3, 2, kIn}, build, expected, {{3, 3, 2, kIn}, {2, 5, 4, kIn}, {1, 3, 2, kIn}}};
}

// Averages over windows of 3 x 3 with stride 2 and padding of 1; only elements of the image count.
Case AveragePool() {
  const auto expected = [](const Dims& dims, const Floats& x) {
    const int64_t height = (dims[1] - 1) / 2 + 1, width = (dims[2] - 1) / 2 + 1;
    Result result{{dims[0], height, width, 1}, {}};
    for (int64_t i = 0; i < dims[0] * height * width; ++i) {
      const int64_t n = i / width / height;
      float sum = 0, count = 0;
      for (int64_t k = 0; k < 9; ++k) {
        const int64_t row = i / width % height * 2 + k / 3 - 1, at = i % width * 2 + k % 3 - 1;
        if (row < 0 || at < 0 || row >= dims[1] || at >= dims[2]) continue;
        sum += x[static_cast<size_t>((n * dims[1] + row) * dims[2] + at)];
        ++count;
      }
      result.values.push_back(sum / count);
    }
    return result;
  };
  const auto build = [](MsWriter& w, uint32_t x, uint32_t y) {
    const auto kernel = w.Longs({3, 3}), strides = w.Longs({2, 2}), pad = w.Longs({1, 1, 1, 1});
    w.Node(ms::file::PrimitiveType_AvgPoolFusion, {x}, {y},
           ms::file::CreateAvgPoolFusion(w.fbb(), kernel, strides, pad));
  };
  // A height of 6 has as many windows as 5, and the last ones cover more of the image.
  return {"AveragePool", {1, 5, 5, 1}, build, expected, {{1, 6, 6, 1}, {2, 5, 1, 1}, {2, 9, 7, 1}}};
}

Case BroadcastTo() {
  const auto build = [](MsWriter& w, uint32_t x, uint32_t y) {
    w.Node(ms::file::PrimitiveType_BroadcastTo, {x}, {y},
           ms::file::CreateBroadcastTo(w.fbb(), w.Longs({2, -1, 3})));
  };
  const auto expected = [](const Dims& dims, const Floats& x) {
    Result result{{2, dims[0], 3}, {}};
    for (int64_t i = 0; i < 2 * dims[0] * 3; ++i) {
      result.values.push_back(x[static_cast<size_t>(i / 3 % dims[0])]);
    }
    return result;
  };
  return {"BroadcastTo", {4, 1}, build, expected, {{1, 1}, {5, 1}}};
}

// Flattens the image from axis 1 on and multiplies it by the weights.
Case FullConnection(const char* name, std::vector<int32_t> file_dims, std::vector<Dims> sizes) {
  const int64_t depth =
      std::accumulate(file_dims.begin() + 1, file_dims.end(), int64_t{1}, std::multiplies<>());
  const Floats weights = Noise(static_cast<size_t>(2 * depth));
  const auto build = [weights, depth](MsWriter& w, uint32_t x, uint32_t y) {
    const uint32_t matrix = w.Constant<float>({2, static_cast<int32_t>(depth)}, weights);
    w.Node(ms::file::PrimitiveType_FullConnection, {x, matrix}, {y},
           ms::file::CreateFullConnection(w.fbb(), false, true, 1));
  };
  const auto expected = [weights, depth](const Dims& dims, const Floats& x) {
    Result result{{dims[0], 2}, Floats(static_cast<size_t>(2 * dims[0]))};
    for (size_t i = 0; i < x.size() * 2; ++i) {
      const size_t k = i / 2 % static_cast<size_t>(depth), row = i / 2 / static_cast<size_t>(depth);
      result.values[row * 2 + i % 2] += x[i / 2] * weights[i % 2 * static_cast<size_t>(depth) + k];
    }
    return result;
  };
  return {name, std::move(file_dims), build, expected, std::move(sizes)};
}

std::vector<Case> Cases() {
  const std::vector<Dims> images = {{3, 4, 6, 2}, {2, 5, 7, 2}, {1, 4, 6, 2}};
  return {
      Reshape("Reshape 0 -1", {1, 4, 6}, {0, -1, 3}, {{2, 4, 6}, {3, 5, 3}, {1, 4, 6}}),
      Reshape("Reshape 0", {1, 4, 6}, {0, 8, 3}, {{2, 4, 6}, {5, 4, 6}}),
      Reshape("Reshape 0 0", {1, 4, 6}, {0, 0, -1, 2}, {{2, 4, 6}, {3, 5, 2}}),
      Reshape("Reshape 0 later", {1, 4, 6}, {3, 0, -1}, {{3, 4, 6}, {6, 5, 1}, {3, 1, 6}}),
      Reshape("Reshape all", {1, 4, 6}, {0, 0, 0}, {{2, 3, 4}}),
      Reshape("Reshape open", {-1, 4, 6}, {0, -1, 3}, {{2, 4, 6}, {3, 4, 6}}),
      Reshape("Reshape -1", {1, 4, 6}, {-1, 8, 3}, {{2, 4, 6}}),
      Flatten("Flatten 1", 1),
      Flatten("Flatten 2", 2),
      Flatten("Flatten -1", -1),
      Flatten("Flatten 0", 0),
      Resize("Resize 2", {2, 3}, 0, images),
      Resize("Resize of four", {1, 0.5F, 1.5F, 1}, 0, images),
      Resize("Resize table", {1, 0.7F, 1.3F, 1}, 0, {{2, 4, 6, 2}, {1, 10, 30, 2}, {1, 90, 70, 2}}),
      Resize("Resize factor", {}, 3, images),
      ConvTranspose("ConvTranspose", {2, 0, 0, 0, ms::file::PadMode_PAD}),
      ConvTranspose("ConvTranspose padded", {2, 1, 1, 0, ms::file::PadMode_PAD}),
      ConvTranspose("ConvTranspose extended", {2, 1, 1, 1, ms::file::PadMode_PAD}),
      ConvTranspose("ConvTranspose SAME", {2, 0, 0, 0, ms::file::PadMode_SAME}),
      AveragePool(),
      BroadcastTo(),
      FullConnection("FullConnection", {1, 2, 3}, {{4, 2, 3}, {2, 3, 2}}),
      FullConnection("FullConnection of pixels", {1, 1, 1, 4}, {{4, 1, 1, 4}}),
      FullConnection("FullConnection of rows", {1, 4}, {{4, 4}}),
  };
}

// ---- Running them -------------------------------------------------------------------------------

std::vector<uint8_t> Bytes(const Case& c) {
  MsWriter w;
  const uint32_t x = w.Input(c.file_dims);
  c.build(w, x, w.Output({-1}));
  return w.Finish();
}

std::shared_ptr<mindspore::Context> CpuContext() {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  return context;
}

std::shared_ptr<mindspore::Context> WithDevice(
    const std::shared_ptr<mindspore::DeviceInfoContext>& device, const std::string& library) {
  auto context = CpuContext();
  device->SetProvider(library);
  context->MutableDeviceInfo().insert(context->MutableDeviceInfo().begin(), device);
  return context;
}

int NodesClaimed(const Model& model) {
  DeputyDelegateInfo info = {};
  info.struct_size = sizeof info;
  return DeputyInterpreterGetDelegateInfo(model.interpreter(), 0, &info) == kTfLiteOk
             ? info.node_count
             : 0;
}

void ExpectResult(Model* model, const Case& c, const Dims& dims) {
  const Floats x = Noise(Count(dims));
  std::vector<MSTensor> inputs = model->GetInputs(), outputs;
  ASSERT_EQ(inputs[0].ElementNum(), static_cast<int64_t>(x.size()));
  std::copy(x.begin(), x.end(), static_cast<float*>(inputs[0].MutableData()));
  const mindspore::Status status = model->Predict(inputs, &outputs);
  ASSERT_EQ(status, mindspore::kSuccess) << status.ToString();
  const Result expected = c.expected(dims, x);
  EXPECT_EQ(outputs[0].Shape(), expected.shape);
  ASSERT_EQ(static_cast<size_t>(outputs[0].ElementNum()), expected.values.size());
  const auto* values = static_cast<const float*>(outputs[0].Data().get());
  EXPECT_THAT(Floats(values, values + expected.values.size()),
              testing::Pointwise(testing::FloatNear(1e-4F), expected.values));
}

// Builds the model of each case and resizes it; `check` sees the model after each resize.
void RunCases(const std::function<std::shared_ptr<mindspore::Context>()>& context,
              const std::function<void(const Model&, const Case&)>& check) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const std::vector<uint8_t> bytes = Bytes(c);
    Model model;
    const mindspore::Status built =
        model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, context());
    ASSERT_EQ(built, mindspore::kSuccess) << built.ToString();
    for (const Dims& dims : c.sizes) {
      SCOPED_TRACE(testing::PrintToString(dims));
      const mindspore::Status resized = model.Resize(model.GetInputs(), {dims});
      ASSERT_EQ(resized, mindspore::kSuccess) << resized.ToString();
      ExpectResult(&model, c, dims);
      check(model, c);
    }
  }
}

TEST(MindSporeShapes, are_computed_on_the_cpu) {
  RunCases(CpuContext, [](const Model&, const Case&) {});
}

TEST(MindSporeShapes, are_computed_for_an_npu) {
  RunCases(
      [] {
        return WithDevice(std::make_shared<mindspore::KirinNPUDeviceInfo>(),
                          BuildPath("libdeputy_npu_stub.so"));
      },
      [](const Model& model, const Case&) { EXPECT_GT(NodesClaimed(model), 0); });
}

TEST(MindSporeShapes, are_computed_for_a_gpu) {
  const std::string library = BuildPath("libdeputy_gpu.so");
  const auto context = [&] {
    return WithDevice(std::make_shared<mindspore::GPUDeviceInfo>(), library);
  };
  const std::vector<uint8_t> bytes = Bytes(AveragePool());
  Model probe;
  ASSERT_EQ(probe.Build(bytes.data(), bytes.size(), mindspore::kMindIR, context()),
            mindspore::kSuccess);
  if (NodesClaimed(probe) == 0) GTEST_SKIP() << "no GPU, or a build without the GPU delegate";
  RunCases(context, [](const Model& model, const Case&) { EXPECT_GT(NodesClaimed(model), 0); });
}

}  // namespace
}  // namespace deputy::mindspore_shapes_test
