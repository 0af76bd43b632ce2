// SPDX-License-Identifier: Apache-2.0
//
// Tests the storage of filters: the kind of image that fits a device's limits, its contents, and
// that kernels that read images compute the same as those that read buffers. Images are counted, to
// check that each kind is used if the device supports it.
#include "gpu_cl/emit/filter_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/lifetimes.h"
#include "compiler/passes.h"
#include "gpu_cl/emit/make_plan.h"
#include "gpu_cl/emit/packing.h"
#include "tests/compiler/graph_builder.h"
#include "tests/gpu_cl/gpu_delegate_support.h"

namespace deputy::gpu_cl::gpu_storage_test {
namespace {

using compiler::Graph;
using compiler::GraphBuilder;
using compiler::ValueId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Storage kImages[] = {Storage::kImageBuffer, Storage::kImage2d, Storage::kImage2dArray,
                               Storage::kImage3d};
constexpr const char* kNames[] = {"buffer", "image_buffer", "image_2d", "image_2d_array",
                                  "image_3d"};

const char* NameOf(Storage storage) { return kNames[static_cast<size_t>(storage)]; }

// ---- Choice of the image ------------------------------------------------------------------------

// Two groups of 20 columns in panels of 8, 9 products each: 6 panels of 10 rows of 2 texels.
Packing SmallPacking() {
  Packing packing;
  packing.groups = 2;
  packing.depth = 9;
  packing.columns = 20;
  packing.panel = 8;
  return packing;
}

TEST(StorageTest, filter_uses_the_requested_image_type_if_it_fits) {
  struct Case {
    Storage wanted;
    ImageLimits limits;
    Storage expected;
  };
  const Case cases[] = {
      {Storage::kBuffer, {120, 12, 10, 6, 2, 10, 6}, Storage::kBuffer},
      {Storage::kImageBuffer, {.buffer_width = 120}, Storage::kImageBuffer},
      {Storage::kImageBuffer, {.buffer_width = 119}, Storage::kBuffer},
      {Storage::kImage2d, {.width_2d = 12, .height_2d = 10}, Storage::kImage2d},
      {Storage::kImage2d, {.width_2d = 11, .height_2d = 10}, Storage::kBuffer},
      {Storage::kImage2d, {.width_2d = 12, .height_2d = 9}, Storage::kBuffer},
      {Storage::kImage2d,
       {.buffer_width = 120, .width_2d = 12, .height_2d = 9},
       Storage::kImageBuffer},
      {Storage::kImage2dArray,
       {.width_2d = 2, .height_2d = 10, .layers_2d = 6},
       Storage::kImage2dArray},
      {Storage::kImage2dArray, {.width_2d = 2, .height_2d = 10, .layers_2d = 5}, Storage::kBuffer},
      {Storage::kImage3d, {.width_3d = 2, .height_3d = 10, .depth_3d = 6}, Storage::kImage3d},
      {Storage::kImage3d, {.width_3d = 2, .height_3d = 10, .depth_3d = 5}, Storage::kBuffer},
      {Storage::kImage3d, {}, Storage::kBuffer},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(StorageFor(SmallPacking(), c.wanted, c.limits), c.expected)
        << NameOf(c.wanted) << " " << c.limits.width_2d << " " << c.limits.height_2d;
  }
  Packing odd = SmallPacking();
  odd.panel = 6;  // not a multiple of the 4 values of a texel
  EXPECT_EQ(StorageFor(odd, Storage::kImageBuffer, {.buffer_width = 1000}), Storage::kBuffer);
}

TEST(StorageTest, automatic_selects_images_on_adreno_only) {
  const auto preferred = [](const char* vendor, const char* name, DeviceClass device_class) {
    DeviceProfile profile;
    profile.vendor = vendor;
    profile.name = name;
    return PreferredStorage(profile, device_class);
  };
  EXPECT_EQ(preferred("QUALCOMM", "QUALCOMM Adreno(TM) 740", DeviceClass::kMobile),
            Storage::kImage2d);
  EXPECT_EQ(preferred("ARM", "Mali-G78", DeviceClass::kMobile), Storage::kBuffer);
  EXPECT_EQ(preferred("QUALCOMM", "Adreno", DeviceClass::kCpu), Storage::kBuffer);
  EXPECT_EQ(preferred("NVIDIA Corporation", "H200", DeviceClass::kDesktop), Storage::kBuffer);
}

// The filter has eight columns in panels of 4, and three rows: the bias, which is 0, and two of
// weights. In a buffer the panels are consecutive, in a two-dimensional image they are next to each
// other.
TEST(StorageTest, panels_are_adjacent_in_two_dimensions) {
  GraphBuilder g;
  std::vector<float> numbers;
  for (int d = 0; d < 2; ++d) {
    for (int c = 0; c < 8; ++c) numbers.push_back(static_cast<float>(10 * (d + 1) + c));
  }
  Packing packing;
  packing.filter = g.Constant({2, 8}, numbers);
  packing.depth = 2;
  packing.columns = packing.depth_stride = 8;
  packing.column_stride = 1;
  packing.panel = 4;
  const auto packed = [&](Storage storage) {
    packing.storage = storage;
    const std::vector<std::byte> bytes = Pack(g.graph, packing);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  };
  EXPECT_THAT(packed(Storage::kImage3d), ElementsAre(0, 0, 0, 0, 10, 11, 12, 13, 20, 21, 22, 23,  //
                                                     0, 0, 0, 0, 14, 15, 16, 17, 24, 25, 26, 27));
  EXPECT_THAT(packed(Storage::kImage2d), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0,          // row 0
                                                     10, 11, 12, 13, 14, 15, 16, 17,  // row 1
                                                     20, 21, 22, 23, 24, 25, 26, 27));
}

// ---- Plans --------------------------------------------------------------------------------------

compiler::Window Square(int size, int border) {
  compiler::Window window;
  window.height = window.width = size;
  window.top = window.left = window.bottom = window.right = border;
  return window;
}

Graph ConvGraph(int size, int channels, int groups = 1, int columns = 40) {
  GraphBuilder g;
  g.Output(g.Add(compiler::Conv2d{Square(size, size / 2), groups},
                 {g.Input({2, 6, 7, channels}), g.Weights({columns, size, size, channels / groups}),
                  g.Weights({columns})},
                 {2, 6, 7, columns}));
  return g.graph;
}

constexpr ImageLimits kLarge = {1 << 20, 8192, 8192, 2048, 2048, 2048, 2048};

std::string TextOf(const Graph& graph, PlanOptions options) {
  options.images = kLarge;
  return MakePlan(graph, compiler::FindLifetimes(graph).storage, options).Source();
}

TEST(StorageTest, kernels_read_the_selected_storage) {
  const Graph graph = ConvGraph(1, 8);
  const char* const types[] = {"global const float* restrict packed",
                               "read_only image1d_buffer_t packed", "read_only image2d_t packed",
                               "read_only image2d_array_t packed", "read_only image3d_t packed"};
  for (size_t i = 0; i < std::size(types); ++i) {
    PlanOptions options = {.vector_width = 4, .storage = static_cast<Storage>(i)};
    EXPECT_THAT(TextOf(graph, options), HasSubstr(types[i]));
    EXPECT_EQ(TextOf(graph, options).find("read_imagef(i0") == std::string::npos, i == 0);
    // Kernels for CPUs use no images, because a CPU's vectors are wider and its images are slow.
    options.ranges = true;
    options.vector_width = 16;
    EXPECT_THAT(TextOf(graph, options), Not(HasSubstr("image")));
  }
  // Six channels are not a multiple of a texel; the filter is nevertheless stored in an image.
  const std::string text =
      TextOf(ConvGraph(1, 6), {.vector_width = 4, .storage = Storage::kImage2d});
  EXPECT_THAT(text, HasSubstr("read_only image2d_t packed"));
  EXPECT_THAT(text, Not(HasSubstr("read_imagef(i0")));
}

// ---- On a device --------------------------------------------------------------------------------

class GpuStorageTest : public SpiedDeviceTest {
 protected:
  void SetUp() override {
    SpiedDeviceTest::SetUp();
    if (spy_ == nullptr) return;
    if (!NewContext()->device().profile.images) GTEST_SKIP() << "the device has no images";
  }

  static ExecutorOptions For(Storage storage) {
    ExecutorOptions options;
    options.device_class = DeviceClass::kMobile;
    options.optimize = false;
    options.storage = storage;
    return options;
  }
};

struct GraphCase {
  const char* name;
  Graph graph;
  int images;  // images of values, without that of a filter in panels
  bool has_panels;
};

std::vector<GraphCase> GraphCases() {
  std::vector<GraphCase> cases;
  cases.push_back({"one pixel", ConvGraph(1, 8), 1, true});
  cases.push_back({"window with a border", ConvGraph(3, 8), 1, true});
  cases.push_back({"groups", ConvGraph(3, 16, 2), 1, true});
  cases.push_back({"odd columns", ConvGraph(3, 12, 1, 21), 1, true});
  cases.push_back({"odd channels", ConvGraph(3, 6), 0, true});
  GraphBuilder product;
  product.Output(product.Add(compiler::MatMul{},
                             {product.Input({5, 24}), product.Weights({24, 20})}, {5, 20}));
  cases.push_back({"matrices", product.graph, 1, true});
  GraphBuilder depthwise;
  depthwise.Output(depthwise.Add(
      compiler::DepthwiseConv2d{Square(3, 1), 1},
      {depthwise.Input({1, 6, 5, 12}), depthwise.Weights({1, 3, 3, 12}), depthwise.Weights({12})},
      {1, 6, 5, 12}));
  cases.push_back({"depthwise", depthwise.graph, 2, false});
  GraphBuilder pool;
  pool.Output(pool.Add(compiler::Pool2d{compiler::PoolKind::kMax, Square(3, 1)},
                       {pool.Input({1, 6, 5, 12})}, {1, 6, 5, 12}));
  cases.push_back({"pool", pool.graph, 1, false});
  return cases;
}

// All sums are of multiples of 1/16 and therefore exact, so results must be identical.
TEST_F(GpuStorageTest, every_kind_of_image_is_used_and_computes_the_same) {
  const auto context = NewContext();
  const ImageLimits& limits = context->device().profile.image_limits;
  for (const GraphCase& c : GraphCases()) {
    ClStatus status;
    const int64_t made = Calls("CreateImage");
    const std::vector<float> expected = RunGraph(context, c.graph, For(Storage::kBuffer), &status);
    ASSERT_TRUE(status.ok()) << status.text;
    EXPECT_EQ(Calls("CreateImage"), made);
    for (const Storage storage : kImages) {
      SCOPED_TRACE(std::string(c.name) + " in " + NameOf(storage));
      const int64_t before = Calls("CreateImage");
      const auto executor = Executor::Create(context, c.graph, For(storage), &status);
      ASSERT_NE(executor, nullptr) << status.text;
      if (c.has_panels) {
        ASSERT_EQ(executor->plan().packings.size(), 1u);
        const Packing& packing = executor->plan().packings[0];
        if (Fits(ExtentOf(packing, storage), storage, limits)) {
          EXPECT_EQ(packing.storage, storage);
        }
      }
      EXPECT_THAT(executor->plan().Source(), HasSubstr("read_imagef("));
      // CreateImage is called once for each image, and again if a driver refuses images over
      // sub-buffers.
      EXPECT_GE(Calls("CreateImage") - before, c.images + (c.has_panels ? 1 : 0));
      EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
      EXPECT_TRUE(status.ok()) << status.text;
    }
  }
}

TEST_F(GpuStorageTest, half_precision_is_read_from_images) {
  const auto context = NewContext();
  Graph graph = ConvGraph(3, 8);
  compiler::UseHalfStorage(&graph);
  ClStatus status;
  const std::vector<float> expected = RunGraph(context, graph, For(Storage::kBuffer), &status);
  ASSERT_TRUE(status.ok()) << status.text;
  for (const Storage storage : kImages) {
    EXPECT_EQ(RunGraph(context, graph, For(storage), &status), expected) << NameOf(storage);
    EXPECT_TRUE(status.ok()) << status.text;
  }
  EXPECT_GT(Calls("CreateImage"), 0);
}

// If a driver refuses an image, a buffer is used instead.
TEST_F(GpuStorageTest, images_refused_by_the_driver_fall_back_to_buffers) {
  ClStatus status;
  const Graph graph = ConvGraph(3, 8);
  const std::vector<float> expected = RunGraph(NewContext(), graph, For(Storage::kBuffer), &status);
  for (const cl_int code : {CL_INVALID_IMAGE_SIZE, CL_IMAGE_FORMAT_NOT_SUPPORTED,
                            CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE}) {
    for (int64_t index = 0;; ++index) {
      const auto context = NewContext();
      spy_->Fail("CreateImage", index, code);
      const auto found = RunGraph(context, graph, For(Storage::kImage2d), &status);
      const bool failed = spy_->failed();
      spy_->Fail("", -1, CL_SUCCESS);
      ASSERT_TRUE(status.ok()) << status.text;
      EXPECT_EQ(found, expected) << code << " " << index;
      if (!failed) break;
    }
  }
}

// An OpenCL 1.1 library does not export clCreateImage.
TEST_F(GpuStorageTest, library_without_images_uses_buffers) {
  ClApi old = *spy_->api();
  old.CreateImage = nullptr;
  const TestDelegate gpu(std::make_shared<const ClApi>(old),
                         {{"device_class", "mobile"}, {"storage", "image_2d"}});
  ASSERT_NE(gpu.get(), nullptr) << gpu.error();
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FirstDelegate(t).node_count, 6);
  SetImage(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(Calls("CreateImage"), 0);
}

TEST_F(GpuStorageTest, option_of_the_delegate_reaches_the_device) {
  const std::vector<float> expected = ImageResultOnCpu();
  for (const char* name : kNames) {
    const int64_t before = Calls("CreateImage");
    const TestDelegate gpu(spy_->api(), {{"device_class", "mobile"}, {"storage", name}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(ImageModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 6);
    SetImage(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), testing::Pointwise(testing::FloatNear(1e-6f), expected));
    EXPECT_EQ(Calls("CreateImage") > before, std::string(name) != "buffer") << name;
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_storage_test
