// SPDX-License-Identifier: Apache-2.0
//
// Tests tuning: the variants of an operation, that all of them compute the same, and that the
// fastest one is remembered by the context, and in files. Which variant is fastest on a device is
// not tested, except for a fake CLBlast that does nothing.
#include "gpu_cl/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu_cl/emit/adapt.h"
#include "gpu_cl/emit/emit.h"
#include "tests/compiler/graph_builder.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_fake_cl.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/scoped_environment.h"

namespace deputy::gpu_cl::gpu_tune_test {
namespace {

namespace fs = std::filesystem;
using compiler::Graph;
using compiler::GraphBuilder;
using compiler::ValueId;
using testing::HasSubstr;

// ---- Options ------------------------------------------------------------------------------------

TEST(TuningLevelTest, is_the_maximum_of_the_requested_levels) {
  const auto level = [](Preference preference, Tuning tuning) {
    Options options;
    options.preference = preference;
    options.tuning = tuning;
    return TuningLevel(options);
  };
  EXPECT_EQ(TuningLevel(Options()), Tuning::kNone);
  EXPECT_EQ(level(Preference::kSingleAnswer, Tuning::kFull), Tuning::kFull);
  EXPECT_EQ(level(Preference::kBalanced, Tuning::kNone), Tuning::kFast);
  EXPECT_EQ(level(Preference::kBalanced, Tuning::kFull), Tuning::kFull);
  EXPECT_EQ(level(Preference::kSustainedSpeed, Tuning::kNone), Tuning::kFull);
}

TEST(ChoiceTextTest, round_trips_and_other_texts_are_rejected) {
  const KernelChoice choice = {
      .rows = 12, .vectors = 2, .local = {8, 4, 1}, .sharing = 64, .clblast = true};
  EXPECT_EQ(ChoiceText(choice), "tile 12x2 group 8x4x1 sharing 64 clblast 1");
  KernelChoice found;
  ASSERT_TRUE(ParseChoice(ChoiceText(choice), &found));
  EXPECT_EQ(found, choice);
  for (const char* text :
       {"", "tile", "tile 12x2 group 8x4x1", "tile 12x2 group 8x4x1 sharing 0 clblast 1 ",
        "tile 12x2 group 8x4x1 sharing 0 clblast 2", "tile 012x2 group 8x4x1 sharing 0 clblast 1",
        "tile 12x2 group 8x4x1 clblast 1", "tile 99999999999x2 group 8x4x1 sharing 0 clblast 0",
        "tile 12x2 group -8x4x1 sharing 0 clblast 0"}) {
    EXPECT_FALSE(ParseChoice(text, &found)) << text;
  }
}

// ---- Variants -----------------------------------------------------------------------------------

DeviceProfile Profile(DeviceKind kind, const char* vendor, const char* name = "",
                      uint32_t capability = 0) {
  DeviceProfile profile;
  profile.kind = kind;
  profile.vendor = vendor;
  profile.name = name;
  profile.nvidia_capability = capability;
  profile.max_group_size = 64;
  for (size_t& size : profile.max_item_sizes) size = 64;
  return profile;
}

TEST(ClblastTest, devices_of_its_database) {
  constexpr auto kGpu = DeviceKind::kDiscreteGpu;
  EXPECT_TRUE(IsInClblastDatabase(Profile(kGpu, "NVIDIA Corporation", "L40", 89)));
  EXPECT_FALSE(IsInClblastDatabase(Profile(kGpu, "NVIDIA Corporation", "H200", 90)));
  EXPECT_FALSE(IsInClblastDatabase(Profile(kGpu, "NVIDIA Corporation", "unknown", 0)));
  EXPECT_TRUE(IsInClblastDatabase(Profile(kGpu, "Advanced Micro Devices, Inc.", "gfx1030")));
  EXPECT_TRUE(IsInClblastDatabase(Profile(DeviceKind::kIntegratedGpu, "Intel(R) Corporation")));
  EXPECT_TRUE(IsInClblastDatabase(Profile(DeviceKind::kIntegratedGpu, "ARM", "Mali-G78")));
  EXPECT_FALSE(IsInClblastDatabase(Profile(kGpu, "Unknown")));
  EXPECT_FALSE(IsInClblastDatabase(Profile(DeviceKind::kCpu, "GenuineIntel", "pthread")));
}

TEST(ClblastTest, capability_of_nvidia_devices_is_read) {
  FakeDevice device("L40", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de);
  SetFakePlatforms({{"One", {device}}});
  std::vector<Device> devices;
  ASSERT_TRUE(ListDevices(*FakeCl(), &devices).ok());
  EXPECT_EQ(devices[0].profile.nvidia_capability, 0u);
  device.extensions = "cl_khr_fp64 cl_nv_device_attribute_query";
  device.nvidia_capability = 89;
  SetFakePlatforms({{"One", {device}}});
  ASSERT_TRUE(ListDevices(*FakeCl(), &devices).ok());
  EXPECT_EQ(devices[0].profile.nvidia_capability, 89u);
}

// A missing or disabled CLBlast library is not an error.
TEST(ClblastTest, missing_library_is_reported) {
  std::string tried;
  const ScopedEnvironment missing("DEPUTY_CLBLAST_LIBRARY", "/nowhere/libclblast.so");
  EXPECT_EQ(LoadClblast(&tried), nullptr);
  EXPECT_THAT(tried, HasSubstr("/nowhere/libclblast.so"));
  const ScopedEnvironment disabled("DEPUTY_CLBLAST_LIBRARY", "none");
  EXPECT_EQ(LoadClblast(&tried), nullptr);
  EXPECT_EQ(tried, "disabled by DEPUTY_CLBLAST_LIBRARY=none");
}

Graph ProductGraph(int m, int n, int k) {
  GraphBuilder g;
  g.Output(g.Add(compiler::MatMul{}, {g.Input({m, k}), g.Input({k, n})}, {m, n}));
  return g.graph;
}

size_t ClblastVariants(const Graph& graph, const DeviceProfile& profile, bool has_clblast = true) {
  const auto kernel_choices =
      VariantsOf(graph, 0, PlanOptionsFor(profile, DeviceClass::kDesktop), profile, has_clblast);
  return static_cast<size_t>(
      std::count_if(kernel_choices.begin(), kernel_choices.end(),
                    [](const auto& kernel_choice) { return kernel_choice.clblast; }));
}

TEST(VariantsTest, clblast_is_used_for_large_products_on_known_devices) {
  const DeviceProfile amd = Profile(DeviceKind::kDiscreteGpu, "AMD");
  EXPECT_EQ(ClblastVariants(ProductGraph(512, 512, 512), amd), 1u);
  EXPECT_EQ(ClblastVariants(ProductGraph(512, 512, 512), amd, false), 0u);
  EXPECT_EQ(ClblastVariants(ProductGraph(511, 512, 512), amd), 0u);
  EXPECT_EQ(ClblastVariants(ProductGraph(512, 511, 512), amd), 0u);
  EXPECT_EQ(ClblastVariants(ProductGraph(512, 512, 511), amd), 0u);
  EXPECT_EQ(ClblastVariants(ProductGraph(512, 512, 512), Profile(DeviceKind::kCpu, "AMD")), 0u);
  GraphBuilder g;  // a convolution that is a matrix product
  g.Output(g.Add(compiler::Conv2d{}, {g.Input({1, 32, 32, 512}), g.Weights({512, 1, 1, 512})},
                 {1, 32, 32, 512}));
  EXPECT_EQ(ClblastVariants(g.graph, amd), 0u);
}

TEST(VariantsTest, cpus_have_tiles_and_gpus_also_groups) {
  const DeviceProfile gpu = Profile(DeviceKind::kDiscreteGpu, "AMD");
  const Graph product = ProductGraph(16, 16, 16);
  PlanOptions options = PlanOptionsFor(gpu, DeviceClass::kCpu);
  options.vector_width = 16;
  for (const KernelChoice& kernel_choice : VariantsOf(product, 0, options, gpu, false)) {
    EXPECT_GT(kernel_choice.rows, 0);
    EXPECT_EQ(kernel_choice.local, (std::array<size_t, 3>{0, 0, 0}));
  }
  EXPECT_EQ(VariantsOf(product, 0, options, gpu, false).size(), 5u);
  options = PlanOptionsFor(gpu, DeviceClass::kDesktop);
  // The variants are the five groups of at most 64 work items without a tile, and each of five
  // tiles with a group of the driver's choice or one of the five.
  EXPECT_EQ(VariantsOf(product, 0, options, gpu, false).size(), 5u + 5 * (1 + 5));
  // With dedicated local memory, each tile also has a variant that shares this memory.
  DeviceProfile dedicated = gpu;
  dedicated.local_memory_is_dedicated = true;
  EXPECT_EQ(VariantsOf(product, 0, options, dedicated, false).size(), 5u + 5 * (1 + 1 + 5));
  dedicated.max_group_size = 32;
  for (const KernelChoice& kernel_choice : VariantsOf(product, 0, options, dedicated, false)) {
    EXPECT_EQ(kernel_choice.sharing, 0);
  }
  GraphBuilder g;
  g.Output(g.Unary(compiler::ScalarOp::kAbs, g.Input({64})));
  EXPECT_EQ(VariantsOf(g.graph, 0, options, gpu, false).size(), 5u);
  EXPECT_TRUE(VariantsOf(g.graph, 0, PlanOptionsFor(gpu, DeviceClass::kCpu), gpu, false).empty());
}

// ---- On a device --------------------------------------------------------------------------------

class GpuTuneTest : public SpiedDeviceTest {
 protected:
  void SetUp() override {
    SpiedDeviceTest::SetUp();
    if (spy_ == nullptr) return;
    std::vector<Device> devices;
    ASSERT_TRUE(ListDevices(*spy_->api(), &devices).ok());
    ASSERT_TRUE(ChooseDevice(devices, "", &device_).ok());
    folder_ = testing::TempDir() + "deputy_gpu_tune_test_" +
              std::to_string(reinterpret_cast<uintptr_t>(this));
    fs::remove_all(folder_);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    SpiedDeviceTest::TearDown();
  }

  std::shared_ptr<SharedContext> NewContext() {
    ClStatus status;
    auto context = SharedContext::Create(spy_->api(), device_, &status);
    EXPECT_NE(context, nullptr) << status.text;
    return context;
  }
  static ExecutorOptions For(DeviceClass device_class) {
    ExecutorOptions options;
    options.device_class = device_class;
    options.optimize = false;
    return options;
  }
  std::shared_ptr<const ProgramCache> OpenCache() const {
    std::string problem;
    std::shared_ptr<const ProgramCache> cache = ProgramCache::Open(folder_, 1 << 20, &problem);
    EXPECT_EQ(problem, "");
    return cache;
  }
  Device device_;
  std::string folder_;
};

Graph ConvGraph() {
  GraphBuilder g;
  compiler::Window window;
  window.height = window.width = 3;
  window.top = window.left = window.bottom = window.right = 1;
  g.Output(g.Add(compiler::Conv2d{window, 1},
                 {g.Input({1, 8, 8, 8}), g.Weights({40, 3, 3, 8}), g.Weights({40})},
                 {1, 8, 8, 40}));
  return g.graph;
}

// All sums are of multiples of 1/16 and therefore exact, so results must be identical.
TEST_F(GpuTuneTest, all_variants_compute_the_same) {
  const auto context = NewContext();
  for (const Graph& graph : {ConvGraph(), ProductGraph(48, 64, 20)}) {
    for (const DeviceClass device_class : {DeviceClass::kCpu, DeviceClass::kDesktop}) {
      ExecutorOptions options = For(device_class);
      const PlanOptions plan = PlanOptionsFor(device_.profile, device_class);
      ClStatus status;
      const std::vector<float> expected = RunGraph(context, graph, options, &status);
      ASSERT_TRUE(status.ok()) << status.text;
      std::vector<KernelChoice> kernel_choices = VariantsOf(graph, 0, plan, device_.profile, false);
      // A GPU has many variants, so every third one is tested.
      for (size_t i = 0; i<kernel_choices.size(); i += kernel_choices.size()> 8 ? 3 : 1) {
        SCOPED_TRACE(std::string(ClassName(device_class)) + " " + ChoiceText(kernel_choices[i]));
        options.choices = {{0, kernel_choices[i]}};
        EXPECT_EQ(RunGraph(context, graph, options, &status), expected);
        EXPECT_TRUE(status.ok()) << status.text;
      }
    }
  }
}

// Returns graphs of filters with more rows than fit into local memory at a time, and with fewer; of
// output rows that are not a multiple of a group; and of groups of channels.
std::vector<Graph> SharingGraphs() {
  std::vector<Graph> graphs = {ConvGraph()};
  GraphBuilder g;
  g.Output(g.Add(compiler::Conv2d{},
                 {g.Input({1, 5, 7, 37}), g.Weights({21, 1, 1, 37}), g.Weights({21})},
                 {1, 5, 7, 21}));
  graphs.push_back(g.graph);
  GraphBuilder grouped;
  grouped.Output(grouped.Add(compiler::Conv2d{{}, 2},
                             {grouped.Input({1, 4, 5, 8}), grouped.Weights({16, 1, 1, 4})},
                             {1, 4, 5, 16}));
  graphs.push_back(grouped.graph);
  GraphBuilder product;
  product.Output(product.Add(compiler::MatMul{},
                             {product.Input({3, 40}), product.Weights({40, 20})}, {3, 20}));
  graphs.push_back(product.graph);
  return graphs;
}

TEST_F(GpuTuneTest, filters_in_local_memory_compute_the_same) {
  const auto context = NewContext();
  for (const Graph& graph : SharingGraphs()) {
    ExecutorOptions options = For(DeviceClass::kDesktop);
    ClStatus status;
    const std::vector<float> expected = RunGraph(context, graph, options, &status);
    ASSERT_TRUE(status.ok()) << status.text;
    int sharing = 64;
    for (KernelChoice kernel_choice :
         TileChoices(PlanOptionsFor(device_.profile, options.device_class))) {
      kernel_choice.sharing = sharing;
      SCOPED_TRACE(ChoiceText(kernel_choice));
      options.choices = {{0, kernel_choice}};
      const auto executor = Executor::Create(context, graph, options, &status);
      ASSERT_NE(executor, nullptr) << status.text;
      const Step& step = executor->plan().steps[0];
      EXPECT_THAT(executor->plan().TextOf(step), HasSubstr("local float4 shared["));
      EXPECT_EQ(step.local, (std::array<size_t, 3>{1, static_cast<size_t>(sharing), 1}));
      EXPECT_EQ(step.global[1] % step.local[1], 0u);
      EXPECT_EQ(RunOnNumbers(executor.get(), &status), expected);
      EXPECT_TRUE(status.ok()) << status.text;
      sharing = sharing == 64 ? 6 : 1;
    }
  }
}

// A kernel with shared memory depends on its group size: if the size is refused, a fallback kernel
// is used.
TEST_F(GpuTuneTest, refused_sharing_group_falls_back_to_another_variant) {
  ExecutorOptions options = For(DeviceClass::kDesktop);
  ClStatus status;
  const std::vector<float> expected = RunGraph(NewContext(), ConvGraph(), options, &status);
  options.choices = {{0, {.rows = 4, .vectors = 1, .sharing = 64}}};
  const auto executor = Executor::Create(NewContext(), ConvGraph(), options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  spy_->Fail("EnqueueNDRangeKernel", 0, CL_INVALID_WORK_GROUP_SIZE);
  std::vector<float> found = RunOnNumbers(executor.get(), &status);
  if (!status.ok()) {
    ASSERT_TRUE(executor->RetryWithFallbackKernels(&status)) << status.text;
    found = RunOnNumbers(executor.get(), &status);
  }
  EXPECT_EQ(found, expected);
}

TEST_F(GpuTuneTest, choice_sets_tile_and_group) {
  const auto context = NewContext();
  ExecutorOptions options = For(DeviceClass::kDesktop);
  options.choices = {{0, {.rows = 2, .vectors = 1, .local = {2, 4, 1}}}};
  ClStatus status;
  const auto executor = Executor::Create(context, ConvGraph(), options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  ASSERT_EQ(executor->plan().steps.size(), 1u);
  // The work items compute 40 columns in vectors of 4, and 64 rows in pairs.
  EXPECT_EQ(executor->plan().steps[0].global, (std::array<size_t, 3>{10, 32, 1}));
  EXPECT_EQ(executor->plan().steps[0].local, (std::array<size_t, 3>{2, 4, 1}));
  // If the group does not divide the work items, the driver chooses the size.
  options.choices[0].local = {3, 4, 1};
  EXPECT_EQ(Executor::Create(context, ConvGraph(), options, &status)->plan().steps[0].local,
            (std::array<size_t, 3>{0, 0, 0}));
}

TEST_F(GpuTuneTest, nothing_is_measured_unless_enabled) {
  const auto context = NewContext();
  EXPECT_TRUE(Tune(context, ConvGraph(), For(DeviceClass::kCpu), {}).empty());
  EXPECT_EQ(Calls("BuildProgram"), 0);
}

TEST_F(GpuTuneTest, stored_choices_are_not_measured_again) {
  const TuningOptions full = {Tuning::kFull, OpenCache(), {}};
  std::map<int, KernelChoice> found;
  {
    const auto context = NewContext();
    found = Tune(context, ConvGraph(), For(DeviceClass::kCpu), full);
    EXPECT_GT(Calls("BuildProgram"), 2);
    const int64_t built = Calls("BuildProgram");
    EXPECT_EQ(Tune(context, ConvGraph(), For(DeviceClass::kCpu), full), found);
    // The context alone holds the result; the result of a full search is also used for a fast one.
    EXPECT_EQ(Tune(context, ConvGraph(), For(DeviceClass::kCpu), {Tuning::kFast, nullptr, {}}),
              found);
    EXPECT_EQ(Calls("BuildProgram"), built);
  }
  const int64_t built = Calls("BuildProgram");
  const auto later = NewContext();
  EXPECT_EQ(Tune(later, ConvGraph(), For(DeviceClass::kCpu), full), found);
  EXPECT_EQ(Calls("BuildProgram"), built);
  // Another shape, or another device class, is tuned separately.
  Tune(later, ProductGraph(48, 64, 20), For(DeviceClass::kCpu), full);
  EXPECT_GT(Calls("BuildProgram"), built);
}

// The result of a search is used for all batches whose number of images rounds up to the same power
// of two.
TEST_F(GpuTuneTest, batches_share_choices) {
  const auto context = NewContext();
  const auto batch = [](int count) {
    Graph graph = ConvGraph();
    graph.values[0].shape[0] = graph.value(graph.outputs[0]).shape[0] = count;
    return graph;
  };
  const TuningOptions full = {Tuning::kFull, nullptr, {}};
  Tune(context, batch(4), For(DeviceClass::kCpu), full);
  const int64_t built = Calls("BuildProgram");
  Tune(context, batch(3), For(DeviceClass::kCpu), full);
  EXPECT_EQ(Calls("BuildProgram"), built);
}

// A file whose text is invalid, or not a variant of the operation, is ignored.
TEST_F(GpuTuneTest, invalid_records_are_misses) {
  const auto cache = OpenCache();
  const TuningOptions full = {Tuning::kFull, cache, {}};
  Tune(NewContext(), ConvGraph(), For(DeviceClass::kCpu), full);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
  ASSERT_EQ(files.size(), 1u);
  // The file's name is the digest of its key, in hexadecimal digits.
  Digest key;
  const std::string name = files[0].stem();
  for (size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<uint8_t>(std::stoul(name.substr(2 * i, 2), nullptr, 16));
  }
  for (const char* record : {"tile 1000x1000 group 0x0x0 sharing 0 clblast 0", "nonsense",
                             "tile 0x0 group 0x0x0 sharing 0 clblast 1"}) {
    ASSERT_EQ(cache->Store(key, record, ""), "");
    const int64_t built = Calls("BuildProgram");
    Tune(NewContext(), ConvGraph(), For(DeviceClass::kCpu), full);
    EXPECT_GT(Calls("BuildProgram"), built) << record;
    const int64_t again = Calls("BuildProgram");
    Tune(NewContext(), ConvGraph(), For(DeviceClass::kCpu), full);
    EXPECT_EQ(Calls("BuildProgram"), again) << record;
  }
  std::ofstream(files[0], std::ios::binary) << "cut";
  const int64_t built = Calls("BuildProgram");
  Tune(NewContext(), ConvGraph(), For(DeviceClass::kCpu), full);
  EXPECT_GT(Calls("BuildProgram"), built);
}

TEST_F(GpuTuneTest, failing_variants_are_not_chosen) {
  const auto context = NewContext();
  for (const char* function : {"BuildProgram", "CreateKernel", "EnqueueNDRangeKernel", "Finish"}) {
    for (int64_t index = 0; index < 4; ++index) {
      const auto fresh = NewContext();
      spy_->Fail(function, index, CL_OUT_OF_RESOURCES);
      const auto choices =
          Tune(fresh, ConvGraph(), For(DeviceClass::kCpu), {Tuning::kFast, nullptr, {}});
      spy_->Fail("", -1, CL_SUCCESS);
      ExecutorOptions options = For(DeviceClass::kCpu);
      options.choices = choices;
      ClStatus status;
      EXPECT_NE(Executor::Create(fresh, ConvGraph(), options, &status), nullptr) << status.text;
    }
  }
  spy_->Fail("EnqueueNDRangeKernel", 0, CL_INVALID_COMMAND_QUEUE);
  EXPECT_TRUE(
      Tune(context, ConvGraph(), For(DeviceClass::kCpu), {Tuning::kFull, nullptr, {}}).empty());
  spy_->Fail("", -1, CL_SUCCESS);
  EXPECT_TRUE(context->lost());
}

// ---- CLBlast ------------------------------------------------------------------------------------

int idle_calls = 0;
int idle_code = 0;

// A fake of CLBlast's product that computes nothing, which makes it the fastest.
int Idle(int, int, int, size_t, size_t, size_t, float, cl_mem, size_t, size_t, cl_mem, size_t,
         size_t, float, cl_mem, size_t, size_t, cl_command_queue*, cl_event*) {
  ++idle_calls;
  return idle_code;
}

TEST_F(GpuTuneTest, clblast_is_chosen_if_it_is_faster_and_works) {
  device_.profile.kind = DeviceKind::kDiscreteGpu;
  device_.profile.name = device_.profile.vendor = "AMD";
  ExecutorOptions options = For(DeviceClass::kDesktop);
  options.optimize = true;
  options.clblast = std::make_shared<const ClblastApi>(ClblastApi{&Idle});
  const Graph graph = ProductGraph(512, 512, 512);
  // The time limit is sufficient for a slow compiler.
  const TuningOptions fast = {Tuning::kFast, nullptr, std::chrono::minutes(1)};
  idle_code = -2039;  // CLBlast's code for an unexpected exception
  idle_calls = 0;
  auto choices = Tune(NewContext(), graph, options, fast);
  EXPECT_EQ(idle_calls, 1);
  EXPECT_FALSE(choices[0].clblast);
  idle_code = 0;
  const auto context = NewContext();
  choices = Tune(context, graph, options, fast);
  EXPECT_TRUE(choices[0].clblast);
  // The chosen CLBlast is run, and its failure is reported as that of the operation.
  options.choices = choices;
  ClStatus status;
  idle_calls = 0;
  RunGraph(context, graph, options, &status);
  EXPECT_TRUE(status.ok()) << status.text;
  EXPECT_EQ(idle_calls, 1);
  idle_code = CL_OUT_OF_RESOURCES;
  RunGraph(context, graph, options, &status);
  EXPECT_EQ(status.text, "CLBlastSgemm: CL_OUT_OF_RESOURCES (-5): step 0, matmul");
  // Without the CLBlast library the heuristic's choice is used.
  options.clblast = nullptr;
  RunGraph(context, graph, options, &status);
  EXPECT_TRUE(status.ok()) << status.text;
}

// Compares the real CLBlast library, if installed, in a plan of the delegate with our kernels, for
// all transposes.
TEST_F(GpuTuneTest, clblast_computes_a_step) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "CLBlast keeps its programs to the end of the process";
#endif
  std::string tried;
  const auto clblast = LoadClblast(&tried);
  if (clblast == nullptr) GTEST_SKIP() << tried;
  // Uses the real library's table, because CLBlast keeps objects that the spy would report as
  // leaks.
  ClStatus status;
  const auto context = SharedContext::Create(RealCl().api, device_, &status);
  ASSERT_NE(context, nullptr) << status.text;
  constexpr int kM = 512, kN = 520, kK = 516;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      GraphBuilder g;
      const ValueId a = g.Input(transpose_a ? compiler::Shape{kK, kM} : compiler::Shape{kM, kK});
      const ValueId b = g.Weights(transpose_b ? compiler::Shape{kN, kK} : compiler::Shape{kK, kN});
      g.Output(g.Add(compiler::MatMul{transpose_a, transpose_b}, {a, b}, {kM, kN}));
      ExecutorOptions options;
      options.device_class = DeviceClass::kCpu;
      const std::vector<float> expected = RunGraph(context, g.graph, options, &status);
      ASSERT_TRUE(status.ok()) << status.text;
      options.clblast = clblast;
      options.choices = {{0, {.clblast = true}}};
      const std::vector<float> found = RunGraph(context, g.graph, options, &status);
      ASSERT_TRUE(status.ok()) << status.text;
      ASSERT_EQ(found.size(), expected.size());
      for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-2) << i;
    }
  }
}

// ---- The delegate -------------------------------------------------------------------------------

TEST_F(GpuTuneTest, delegate_tunes_once_and_keeps_its_results) {
  std::vector<float> expected;
  { expected = ImageResultOnCpu(); }
  std::vector<int64_t> built;
  for (const char* preference : {"single_answer", "sustained_speed", "sustained_speed"}) {
    const int64_t before = Calls("BuildProgram") + Calls("CreateProgramWithBinary");
    const TestDelegate gpu(spy_->api(), {{"preference", preference},
                                         {"device_class", "cpu"},
                                         {"cache_dir", folder_.c_str()},
                                         {"optimize", "false"}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(ImageModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 6);
    SetImage(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), testing::Pointwise(testing::FloatNear(1e-6f), expected));
    built.push_back(Calls("BuildProgram") + Calls("CreateProgramWithBinary") - before);
  }
  EXPECT_EQ(built[0], 1);
  EXPECT_GT(built[1], 3);
  EXPECT_EQ(built[2], 2);  // created from the cached binary, and built
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_tune_test
