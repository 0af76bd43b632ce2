// SPDX-License-Identifier: Apache-2.0
//
// Tests that each option of the OpenCL delegate has an effect: with two of its values, the number
// of nodes, calls of OpenCL, bytes or files, or the results, must differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/options.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_models.h"

namespace deputy::gpu_cl::gpu_option_effects_test {
namespace {

// Observed effects of one delegate, which is created, applied to one model and invoked.
struct Seen {
  std::string error;  // message if the creation failed
  int nodes = 0, partitions = 0;
  int64_t setup_runs = 0;  // number of kernels that ran before the first inference
  int64_t runs = 0, reads = 0, images = 0, kernels_of_resizes = 0;
  size_t bytes = 0;
  int texts = 0, events = 0;
  std::vector<float> result;
};

using Measure = std::function<std::string(const Seen& seen, const std::set<std::string>& files)>;

struct Row {
  std::string name, first, second;
  Measure measure;
  OptionTexts others = {};
  std::vector<uint8_t> model = ImageModel();
};

std::string Text(int64_t number) { return std::to_string(number); }

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

class GpuOptionEffectsTest : public SpiedDeviceTest {
 protected:
  GpuOptionEffectsTest()
      : folder_(testing::TempDir() + "gpu_options_" + std::to_string(getpid())) {}
  ~GpuOptionEffectsTest() override { std::filesystem::remove_all(folder_); }

  // Recreates the cache directory with one stale entry of 2 MiB.
  void RenewFolder() const {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    const std::string old = folder_ + "/" + std::string(64, '0') + ".glcl";
    std::ofstream(old) << std::string(size_t{2} << 20, 'x');
    std::filesystem::last_write_time(
        old, std::filesystem::last_write_time(old) - std::chrono::hours(1000));
  }

  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  void Resize(TestInterpreter* t, Seen* seen) const {
    if (TfLiteInterpreterGetInputTensorCount(t->get()) != 1) return;
    const int64_t before = Calls("CreateKernel");
    std::vector<int> dims = TestInterpreter::Shape(TfLiteInterpreterGetInputTensor(t->get(), 0));
    for (const int rows : {2, 1, 2, 1}) {
      dims[0] = rows;
      if (t->Resize(0, dims) != kTfLiteOk || t->Allocate() != kTfLiteOk) return;
    }
    seen->kernels_of_resizes = Calls("CreateKernel") - before;
  }

  static void FillInputs(TestInterpreter* t) {
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
      const TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t->get(), i);
      if (TfLiteTensorType(input) == kTfLiteInt32) {
        t->Set<int32_t>(i, {3, 0, 2});
      } else if (TfLiteTensorType(input) == kTfLiteFloat32) {
        std::vector<float> thirds(TfLiteTensorByteSize(input) / sizeof(float));
        for (size_t k = 0; k < thirds.size(); ++k) thirds[k] = static_cast<float>(k) / 3;
        t->Set<float>(i, thirds);
      }
    }
  }

  Seen Use(const OptionTexts& options, const std::vector<uint8_t>& model) const {
    Seen seen;
    const int64_t setup = Calls("EnqueueNDRangeKernel"), images = Calls("CreateImage");
    const TestDelegate gpu(spy_->api(), options);
    seen.error = gpu.error();
    if (gpu.get() == nullptr) return seen;
    TestInterpreter t(model);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    TfLiteSetAllowBufferHandleOutput(t.get(), true);
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    seen.nodes = FirstDelegate(t).node_count;
    seen.partitions = FirstDelegate(t).partition_count;
    seen.setup_runs = Calls("EnqueueNDRangeKernel") - setup;
    seen.images = Calls("CreateImage") - images;
    FillInputs(&t);
    const int64_t runs = Calls("EnqueueNDRangeKernel"), reads = Calls("EnqueueReadBuffer");
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    seen.runs = Calls("EnqueueNDRangeKernel") - runs;
    seen.reads = Calls("EnqueueReadBuffer") - reads;
    seen.bytes = DeviceBytes(gpu.get());
    const int output = TfLiteInterpreterOutputTensorIndices(t.get())[0];
    EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), output), kTfLiteOk);
    if (TfLiteTensorType(t.Tensor(output)) == kTfLiteFloat32) seen.result = t.Get<float>(0);
    TakeEvents(
        gpu.get(), [](void* count, const DeputyDeviceEvent*) { ++*static_cast<int*>(count); },
        &seen.events);
    DescribePartitions(
        gpu.get(),
        [](void* count, int32_t, const char*, const char*) { ++*static_cast<int*>(count); },
        &seen.texts);
    Resize(&t, &seen);
    return seen;
  }

  std::string MeasureWith(const Row& row, const std::string& value) const {
    RenewFolder();
    OptionTexts options = {{"optimize", "false"}};  // so that programs compile faster
    options.insert(options.end(), row.others.begin(), row.others.end());
    options.emplace_back(row.name.c_str(), value.c_str());
    const Seen seen = Use(options, row.model);
    return row.measure(seen, Files());
  }

  const std::string folder_;
};

std::vector<Row> Rows(const std::string& folder) {
  const auto nodes = [](const Seen& seen, const auto&) { return Text(seen.nodes); };
  const auto tuned = [](const Seen& seen, const auto&) {
    return std::string(seen.setup_runs > 0 ? "kernels were tried" : "none was tried");
  };
  const auto files = [](const Seen&, const auto& names) { return Joined(names); };
  const OptionTexts cached = {{"cache_dir", folder.c_str()}};
  const OptionTexts costly = {{"min_gain_us", "1e6"}};
  return {
      {"device", "0", "no such device", [](const Seen& seen, const auto&) { return seen.error; }},
      {"device_class", "cpu", "mobile",
       [](const Seen& seen, const auto&) { return Text(seen.runs); }},
      {"precision",
       "fp32",
       "fp16",
       [](const Seen& seen, const auto&) {
         return Text(static_cast<int64_t>(seen.bytes)) + testing::PrintToString(seen.result);
       },
       {{"device_class", "cpu"}}},
      {"quantized", "true", "false", nodes, {}, IntegerModel(kTfLiteInt8)},
      {"quantized_arithmetic",
       "float",
       "int8",
       [](const Seen&, const auto& names) { return Joined(names); },
       {{"source_dir", folder.c_str()}},
       IntegerModel(kTfLiteInt8)},
      {"max_partitions",
       "0",
       "1",
       [](const Seen& seen, const auto&) { return Text(seen.partitions); },
       {},
       DividedModel()},
      {"min_gain_us", "-1e9", "1e6", nodes},
      {"force", "true", "false", nodes, costly},
      {"preference", "single_answer", "sustained_speed", tuned},
      {"preference", "single_answer", "balanced", tuned},
      {"tuning", "none", "fast", tuned},
      {"cache_dir", "", folder, files},
      {"cache_token", "one", "two", files, cached},
      {"cache_max_mb", "256", "1",
       [](const Seen&, const auto& names) {
         return std::string(names.contains(std::string(64, '0') + ".glcl") ? "kept" : "deleted");
       },
       cached},
      {"profiling", "false", "true",
       [](const Seen& seen, const auto&) { return Text(seen.events); }},
      {"describe", "false", "true", [](const Seen& seen, const auto&) { return Text(seen.texts); }},
      {"keep_outputs", "false", "true",
       [](const Seen& seen, const auto&) { return Text(seen.reads); }},
      {"optimize", "true", "false", files, cached},
      {"source_dir", "", folder, files},
      {"kept_plans",
       "4",
       "0",
       [](const Seen& seen, const auto&) { return Text(seen.kernels_of_resizes); },
       {},
       BatchModel()},
  };
}

TEST_F(GpuOptionEffectsTest, two_values_of_each_option_have_different_effects) {
  std::set<std::string> tried;
  for (const Row& row : Rows(folder_)) {
    const std::string first = MeasureWith(row, row.first), second = MeasureWith(row, row.second);
    EXPECT_NE(first, second) << row.name << " " << row.first << " and " << row.second;
    tried.insert(row.name);
  }
  tried.insert("storage");           // tested separately below
  tried.insert("overlapped_tasks");  // tested by gpu_overlap_test.cc
  tried.insert("client_objects");    // tested by litert_opencl_test.cc
  for (const DeputyPluginOption& option : PluginOptions()) {
    EXPECT_TRUE(tried.contains(option.name)) << option.name;
  }
}

TEST_F(GpuOptionEffectsTest, storage_option_creates_images) {
  if (!NewContext()->device().profile.images) GTEST_SKIP() << "the device has no images";
  for (const char* storage : {"buffer", "image_2d", "image_3d"}) {
    const OptionTexts mobile = {
        {"optimize", "false"}, {"device_class", "mobile"}, {"storage", storage}};
    const int64_t images = Use(mobile, ImageModel()).images;
    EXPECT_EQ(images > 0, std::string(storage) != "buffer") << storage;
  }
}

TEST_F(GpuOptionEffectsTest, source_dir_receives_the_kernels) {
  const OptionTexts options = {{"optimize", "false"}, {"source_dir", folder_.c_str()}};
  RenewFolder();
  Use(options, ImageModel());
  int sources = 0;
  for (const std::string& name : Files()) {
    if (!name.ends_with(".cl")) continue;
    EXPECT_EQ(name.size(), 16u + 3) << name;
    std::ifstream file(folder_ + "/" + name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find("kernel void "), std::string::npos) << text;
    ++sources;
  }
  EXPECT_GT(sources, 0);
}

TEST_F(GpuOptionEffectsTest, failure_to_write_the_source_is_reported) {
  const std::string nowhere = folder_ + "/nowhere";
  const TestDelegate gpu(spy_->api(), {{"optimize", "false"}, {"source_dir", nowhere.c_str()}});
  TestInterpreter t(ImageModel());
  EXPECT_NE(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk);
  EXPECT_NE(t.log().find("source_dir: " + nowhere + "/"), std::string::npos) << t.log();
  EXPECT_NE(t.log().find("No such file or directory"), std::string::npos) << t.log();
  FillInputs(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_option_effects_test
