// SPDX-License-Identifier: Apache-2.0
//
// Whole models compared with the results of the real TensorFlow Lite: the models of this repository
// (tests/data/whole, made by tests/golden/whole.py), and those of the folder `shared`, next to the
// sources or named by DEPUTY_SHARED, if present. One model of the latter has no recorded results,
// because it uses custom operators of MediaPipe that TensorFlow Lite lacks: it runs on a drawn
// face.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/npy_reader.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"

namespace deputy::models_golden_test {
namespace {

// A model without recorded results, because TensorFlow Lite lacks some of its operators, for
// example TransformLandmarks.
constexpr char kMediapipeOnly[] = "face_landmark_with_attention.tflite";

// The OpenCL delegate's messages if there is no library, no driver, or no CPU device
// (gpu_cl/delegate.cc, gpu_cl/device/device.cc).
constexpr const char* kNoOpenCl[] = {"no OpenCL: ", "OpenCL has no platform",
                                     "OpenCL has no device", "OpenCL device 'cpu': expected"};

std::string SharedFolder() {
  const char* given = std::getenv("DEPUTY_SHARED");
  return given != nullptr ? given : SourcePath("../shared");
}

struct Case {
  std::string name, model, path, folder;
  nlohmann::json outputs;
  size_t inputs;
};

// Returns the cases of `folder`, whose index names models below `models`.
std::vector<Case> CasesOf(const std::string& folder, const std::string& models) {
  std::ifstream index(folder + "/index.json");
  if (!index.is_open()) return {};
  std::vector<Case> cases;
  for (const auto& entry : nlohmann::json::parse(index)) {
    Case one;
    const std::string file = entry["model"], set = entry["set"];
    const std::string stem = std::filesystem::path(file).stem().string();
    one.name = stem + "_" + set;
    one.model = file;
    one.path = models + "/" + file;
    one.folder = folder + "/" + stem + "/" + set;
    one.outputs = entry["outputs"];
    one.inputs = entry["inputs"].size();
    cases.push_back(one);
  }
  return cases;
}

std::vector<Case> SharedCases() {
  return CasesOf(SharedFolder() + "/golden/models", SharedFolder() + "/models");
}

std::vector<Case> Cases() {
  std::vector<Case> cases = CasesOf(TestDataPath("whole"), SourcePath(""));
  for (Case& one : SharedCases()) cases.push_back(std::move(one));
  return cases;
}

struct Delete {
  void operator()(TfLiteModel* model) const { TfLiteModelDelete(model); }
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
};

class Models : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    DeputySetDefaultReporter([](void*, const char*, va_list) {}, nullptr);
    const Case& one = GetParam();
    model_.reset(TfLiteModelCreateFromFile(one.path.c_str()));
    ASSERT_NE(model_, nullptr) << DeputyLastError();
  }
  void TearDown() override { DeputySetDefaultReporter(nullptr, nullptr); }

  std::unique_ptr<TfLiteInterpreter, Delete> Interpreter(DeputyArithmetic arithmetic, int threads,
                                                         TfLiteDelegate* delegate = nullptr) {
    TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
    if (delegate != nullptr) TfLiteInterpreterOptionsAddDelegate(options, delegate);
    std::unique_ptr<TfLiteInterpreter, Delete> interpreter(
        TfLiteInterpreterCreate(model_.get(), options));
    TfLiteInterpreterOptionsDelete(options);
    return interpreter;
  }

  void Feed(TfLiteInterpreter* interpreter) {
    for (size_t i = 0; i < GetParam().inputs; ++i) {
      NpyArray array;
      std::string error;
      ASSERT_TRUE(ReadNpy(GetParam().folder + "/in" + std::to_string(i) + ".npy", &array, &error))
          << error;
      TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, static_cast<int32_t>(i));
      ASSERT_EQ(TfLiteTensorCopyFromBuffer(input, array.data.data(), array.data.size()), kTfLiteOk);
    }
  }

  // Runs the model and compares all outputs.
  void CheckRun(TfLiteInterpreter* interpreter, DeputyArithmetic arithmetic);
  void CheckOutput(const TfLiteTensor* tensor, size_t number, DeputyArithmetic arithmetic);

  std::unique_ptr<TfLiteModel, Delete> model_;
};

void Models::CheckRun(TfLiteInterpreter* interpreter, DeputyArithmetic arithmetic) {
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk)
      << DeputyInterpreterLastError(interpreter);
  Feed(interpreter);
  ASSERT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk)
      << DeputyInterpreterLastError(interpreter);
  for (size_t i = 0; i < GetParam().outputs.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    CheckOutput(TfLiteInterpreterGetOutputTensor(interpreter, static_cast<int32_t>(i)), i,
                arithmetic);
  }
}

void Models::CheckOutput(const TfLiteTensor* tensor, size_t number, DeputyArithmetic arithmetic) {
  NpyArray golden;
  std::string error;
  ASSERT_TRUE(
      ReadNpy(GetParam().folder + "/out" + std::to_string(number) + ".npy", &golden, &error))
      << error;
  std::vector<int> dims;
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) dims.push_back(TfLiteTensorDim(tensor, i));
  ASSERT_EQ(dims, golden.dims);
  ASSERT_EQ(TfLiteTensorByteSize(tensor), golden.data.size());
  const auto* ours = static_cast<const uint8_t*>(TfLiteTensorData(tensor));
  double greatest = 0;
  if (golden.dtype == "f4") {
    ASSERT_EQ(TfLiteTensorType(tensor), kTfLiteFloat32);
    for (size_t i = 0; i < golden.data.size(); i += 4) {
      float a, b;
      std::memcpy(&a, golden.data.data() + i, 4);
      std::memcpy(&b, ours + i, 4);
      // fmax would ignore a NaN, so NaNs are compared separately.
      greatest = a == b ? greatest : std::fmax(greatest, std::fabs(static_cast<double>(a) - b));
      ASSERT_EQ(std::isnan(a), std::isnan(b));
    }
    const nlohmann::json& golden_output = GetParam().outputs[number];
    const double spread = std::max(golden_output["optimised_minus_reference"].get<double>(),
                                   golden_output["xnnpack_minus_reference"].get<double>());
    EXPECT_LE(greatest, 4 * spread + 2e-6 * golden_output["max_abs"].get<double>());
    return;
  }
  ASSERT_EQ(golden.dtype, "i1");
  ASSERT_EQ(TfLiteTensorType(tensor), kTfLiteInt8);
  for (size_t i = 0; i < golden.data.size(); ++i) {
    const int difference = static_cast<int8_t>(golden.data[i]) - static_cast<int8_t>(ours[i]);
    greatest = std::max(greatest, static_cast<double>(std::abs(difference)));
  }
  EXPECT_LE(greatest, arithmetic == kDeputyArithmeticReference ? 0 : 2);
}

TEST_P(Models, agrees_with_tflite_at_any_number_of_threads) {
  for (DeputyArithmetic arithmetic : {kDeputyArithmeticDefault, kDeputyArithmeticReference}) {
    for (int threads : {1, 2, 4}) {
      SCOPED_TRACE("arithmetic " + std::to_string(arithmetic) + ", threads " +
                   std::to_string(threads));
      const auto interpreter = Interpreter(arithmetic, threads);
      ASSERT_NE(interpreter, nullptr) << DeputyLastError();
      CheckRun(interpreter.get(), arithmetic);
    }
  }
}

// Runs whole models after the compiler's passes, with the compiler's reference code.
TEST_P(Models, agrees_with_tflite_after_all_compiler_passes) {
  const Handle delegate = External("compiled", {{"passes", "1"}});
  const auto interpreter = Interpreter(kDeputyArithmeticDefault, 1, delegate.get());
  ASSERT_NE(interpreter, nullptr) << DeputyLastError();
  CheckRun(interpreter.get(), kDeputyArithmeticDefault);
}

// Runs whole models in libdeputy_cpu.so, the CPU kernels as a delegate, with all nodes in one
// partition.
TEST_P(Models, agrees_with_tflite_in_the_delegate_for_other_runtimes) {
  const Handle delegate = {CreateExternal(BuildPath("libdeputy_cpu.so"), {{"num_threads", "2"}}),
                           [](TfLiteDelegate* made) { TfLiteExternalDelegateDelete(made); }};
  const auto interpreter = Interpreter(kDeputyArithmeticDefault, 1, delegate.get());
  ASSERT_NE(interpreter, nullptr) << DeputyLastError();
  const DeputyDelegateInfo info = DelegateInfoOf(interpreter.get(), 0);
  EXPECT_EQ(info.partition_count, 1);
  EXPECT_EQ(info.node_count, DeputyInterpreterGetNodeCount(interpreter.get(), 0) - 1);
  CheckRun(interpreter.get(), kDeputyArithmeticDefault);
}

// Returns true if a delegate was not created because there is no OpenCL device, which is the only
// reason to skip. Any other reason is a failure.
bool IsOpenClMissing(const std::string& error) {
  return std::any_of(std::begin(kNoOpenCl), std::end(kNoOpenCl),
                     [&](const char* text) { return error.find(text) != std::string::npos; });
}

TEST(NoOpenCl, is_distinguished_from_other_failures) {
  EXPECT_TRUE(IsOpenClMissing("GPU: no OpenCL: libOpenCL.so.1: cannot open shared object file"));
  EXPECT_TRUE(IsOpenClMissing("OpenCL has no platform: no driver is registered"));
  EXPECT_FALSE(IsOpenClMissing("clCreateContext: CL_OUT_OF_HOST_MEMORY (-6)"));
  EXPECT_FALSE(IsOpenClMissing("unknown option 'devise': expected one of 'device'"));
  EXPECT_FALSE(IsOpenClMissing(""));
}

// Runs whole models on OpenCL's CPU device, or on the device that DEPUTY_OPENCL_DEVICE names, with
// all nodes in one partition.
TEST_P(Models, agrees_with_tflite_on_opencl_in_one_partition) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "takes too long under a sanitizer, where the delegate's own tests run";
#endif
  const std::string library = BuildPath("libdeputy_gpu.so");
  if (!std::filesystem::exists(library)) GTEST_SKIP() << "no " << library;
  const char* const device = std::getenv("DEPUTY_OPENCL_DEVICE");
  const Handle delegate(CreateExternal(library, {{"device", device != nullptr ? device : "cpu"},
                                                 {"optimize", "false"}}),
                        &TfLiteExternalDelegateDelete);
  if (delegate == nullptr) {
    const std::string error = DeputyLastError();
    if (IsOpenClMissing(error)) GTEST_SKIP() << error;
    FAIL() << error;
  }
  const auto interpreter = Interpreter(kDeputyArithmeticDefault, 1, delegate.get());
  ASSERT_NE(interpreter, nullptr) << DeputyLastError();
  CheckRun(interpreter.get(), kDeputyArithmeticDefault);
  const DeputyDelegateInfo info = DelegateInfoOf(interpreter.get(), 0);
  EXPECT_EQ(info.partition_count, 1);
  EXPECT_EQ(info.node_count + 1, DeputyInterpreterGetNodeCount(interpreter.get(), 0));
}

INSTANTIATE_TEST_SUITE_P(Whole, Models, testing::ValuesIn(Cases()),
                         [](const auto& given) { return given.param.name; });

TEST(ShippedModels, are_compared) {
  EXPECT_EQ(CasesOf(TestDataPath("whole"), SourcePath("")).size(), 4U);
}

TEST(SharedGolden, is_present_or_reported_absent) {
  const std::vector<Case> cases = SharedCases();
  if (cases.empty())
    GTEST_SKIP() << "no " << SharedFolder() << "/golden: whole models not compared";
  for (const auto& file : std::filesystem::directory_iterator(SharedFolder() + "/models")) {
    const std::string model = file.path().filename().string();
    if (file.path().extension() != ".tflite" || model == kMediapipeOnly) continue;
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& one) {
      return one.model == model;
    })) << model;
  }
}

// ---- The model without recorded results -------------------------------------------------------

constexpr int kFaceSize = 192;

bool IsInEllipse(int x, int y, int center_x, int center_y, double radius_x, double radius_y) {
  const double dx = (x - center_x) / radius_x, dy = (y - center_y) / radius_y;
  return dx * dx + dy * dy < 1;
}

// Returns a drawn face whose pupils are at (70, 82) and (122, 82).
std::vector<float> DrawFace() {
  std::vector<float> pixels;
  for (int y = 0; y < kFaceSize; ++y) {
    for (int x = 0; x < kFaceSize; ++x) {
      std::array<float, 3> color = {0.75f, 0.75f, 0.75f};
      if (IsInEllipse(x, y, 96, 100, 62, 82)) color = {0.85f, 0.68f, 0.56f};
      for (const int eye : {70, 122}) {
        if (IsInEllipse(x, y, eye, 82, 14, 6)) color = {0.95f, 0.95f, 0.95f};
        if (IsInEllipse(x, y, eye, 82, 5, 5)) color = {0.15f, 0.1f, 0.08f};
        if (std::abs(x - eye) < 18 && std::abs(y - 66) < 3) color = {0.2f, 0.12f, 0.1f};
      }
      if (IsInEllipse(x, y, 96, 140, 24, 8)) color = {0.7f, 0.25f, 0.25f};
      pixels.insert(pixels.end(), color.begin(), color.end());
    }
  }
  return pixels;
}

// Three stages of MediaPipe's custom operators find the irises: they crop the eyes and transform
// the landmarks found there back into the image.
TEST(SharedModels, custom_operators_of_mediapipe_find_the_irises_of_a_drawn_face) {
  const std::string path = SharedFolder() + "/models/" + kMediapipeOnly;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const std::unique_ptr<TfLiteModel, Delete> model(TfLiteModelCreateFromFile(path.c_str()));
  ASSERT_NE(model, nullptr) << DeputyLastError();
  const std::unique_ptr<TfLiteInterpreter, Delete> interpreter(
      TfLiteInterpreterCreate(model.get(), nullptr));
  ASSERT_NE(interpreter, nullptr) << DeputyLastError();
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
  const std::vector<float> face = DrawFace();
  ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter.get(), 0),
                                       face.data(), face.size() * sizeof(float)),
            kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
  int irises = 0;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter.get()); ++i) {
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), i);
    const std::string name = TfLiteTensorName(output);
    if (name.find("iris") == std::string::npos) continue;
    ++irises;
    // The output holds five points: the iris's centre and four points around it.
    const auto* points = static_cast<const float*>(TfLiteTensorData(output));
    EXPECT_NEAR(points[0], name.find("left") != std::string::npos ? 70 : 122, 1.5) << name;
    EXPECT_NEAR(points[1], 82, 1.5) << name;
    EXPECT_NEAR(std::abs(points[2] - points[6]), 2 * 5, 2) << name;
  }
  EXPECT_EQ(irises, 2);
}

}  // namespace
}  // namespace deputy::models_golden_test
