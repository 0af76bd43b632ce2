// SPDX-License-Identifier: Apache-2.0
//
// Tests models, contexts, tensors, statuses and the log of MindSpore's API. Status numbers are
// those of MindSpore Lite, as literals.
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <type_traits>

#include "deputy/deputy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/include/api/status.h"
#include "mindspore/log.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_model_test {
namespace {

using mindspore::kMindIR;
using mindspore::Model;
using mindspore::Status;
using testing::HasSubstr;

const std::vector<float> kX = {1, 2, -3, 0.5F};

// Returns the build folder, derived from the path of this program.
std::filesystem::path BuildFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

Status Build(Model* model, const std::vector<uint8_t>& bytes,
             const std::shared_ptr<mindspore::Context>& context) {
  return model->Build(bytes.data(), bytes.size(), kMindIR, context);
}

// ---- Status -------------------------------------------------------------------------------------

struct StatusRow {
  int code;
  uint32_t bits;
  enum mindspore::StatusCode status;
  MSStatus c;
};

constexpr StatusRow kStatusRows[] = {
    {0, 0, mindspore::kSuccess, kMSStatusSuccess},
    {-1, 0xFFFFFFFF, mindspore::kLiteError, kMSStatusLiteError},
    {-2, 0xFFFFFFFE, mindspore::kLiteNullptr, kMSStatusLiteNullptr},
    {-3, 0xFFFFFFFD, mindspore::kLiteParamInvalid, kMSStatusLiteParamInvalid},
    {-4, 0xFFFFFFFC, mindspore::kLiteNoChange, kMSStatusLiteNoChange},
    {-5, 0xFFFFFFFB, mindspore::kLiteSuccessExit, kMSStatusLiteSuccessExit},
    {-6, 0xFFFFFFFA, mindspore::kLiteMemoryFailed, kMSStatusLiteMemoryFailed},
    {-7, 0xFFFFFFF9, mindspore::kLiteNotSupport, kMSStatusLiteNotSupport},
    {-8, 0xFFFFFFF8, mindspore::kLiteThreadPoolError, kMSStatusLiteThreadPoolError},
    {-9, 0xFFFFFFF7, mindspore::kLiteUninitializedObj, kMSStatusLiteUninitializedObj},
    {-10, 0xFFFFFFF6, mindspore::kLiteFileError, kMSStatusLiteFileError},
    {-11, 0xFFFFFFF5, mindspore::kLiteServiceDeny, kMSStatusLiteServiceDeny},
    {-12, 0xFFFFFFF4, mindspore::kLiteModelRebuild, kMSStatusLiteModelRebuild},
    {-100, 0xFFFFFF9C, mindspore::kLiteOutOfTensorRange, kMSStatusLiteOutOfTensorRange},
    {-101, 0xFFFFFF9B, mindspore::kLiteInputTensorError, kMSStatusLiteInputTensorError},
    {-102, 0xFFFFFF9A, mindspore::kLiteReentrantError, kMSStatusLiteReentrantError},
    {-200, 0xFFFFFF38, mindspore::kLiteGraphFileError, kMSStatusLiteGraphFileError},
    {-300, 0xFFFFFED4, mindspore::kLiteNotFindOp, kMSStatusLiteNotFindOp},
    {-301, 0xFFFFFED3, mindspore::kLiteInvalidOpName, kMSStatusLiteInvalidOpName},
    {-302, 0xFFFFFED2, mindspore::kLiteInvalidOpAttr, kMSStatusLiteInvalidOpAttr},
    {-303, 0xFFFFFED1, mindspore::kLiteOpExecuteFailure, kMSStatusLiteOpExecuteFailure},
    {-400, 0xFFFFFE70, mindspore::kLiteFormatError, kMSStatusLiteFormatError},
    {-500, 0xFFFFFE0C, mindspore::kLiteInferError, kMSStatusLiteInferError},
    {-501, 0xFFFFFE0B, mindspore::kLiteInferInvalid, kMSStatusLiteInferInvalid},
    {-600, 0xFFFFFDA8, mindspore::kLiteInputParamInvalid, kMSStatusLiteInputParamInvalid},
};

TEST(MindSporeStatus, values_equal_mindspores_and_convert_without_loss) {
  for (const StatusRow& row : kStatusRows) {
    EXPECT_EQ(static_cast<uint32_t>(row.status), row.bits);
    EXPECT_EQ(static_cast<uint32_t>(row.c), row.bits);
    EXPECT_EQ(static_cast<int>(Status(row.status)), row.code);
    EXPECT_EQ(static_cast<enum mindspore::StatusCode>(row.code), row.status);
    EXPECT_STRNE(DeputyMSStatusText(row.c), "unknown status") << row.code;
  }
  EXPECT_EQ(static_cast<uint32_t>(mindspore::kLiteAclInitFailed), 0xFFFFFFF3U);
  EXPECT_EQ(static_cast<uint32_t>(mindspore::kLiteOutputParamInvalid), 0xFFFFFD44U);
  namespace lite = mindspore::lite;
  EXPECT_EQ(lite::RET_OK, 0);
  EXPECT_EQ(lite::RET_ERROR, -1);
  EXPECT_EQ(lite::RET_NULL_PTR, -2);
  EXPECT_EQ(lite::RET_PARAM_INVALID, -3);
  EXPECT_EQ(lite::RET_NO_CHANGE, -4);
  EXPECT_EQ(lite::RET_SUCCESS_EXIT, -5);
  EXPECT_EQ(lite::RET_MEMORY_FAILED, -6);
  EXPECT_EQ(lite::RET_NOT_SUPPORT, -7);
  EXPECT_EQ(lite::RET_THREAD_POOL_ERROR, -8);
  EXPECT_EQ(lite::RET_OUT_OF_TENSOR_RANGE, -100);
  EXPECT_EQ(lite::RET_INPUT_TENSOR_ERROR, -101);
  EXPECT_EQ(lite::RET_REENTRANT_ERROR, -102);
  EXPECT_EQ(lite::RET_GRAPH_FILE_ERR, -200);
  EXPECT_EQ(lite::RET_NOT_FIND_OP, -300);
  EXPECT_EQ(lite::RET_INVALID_OP_NAME, -301);
  EXPECT_EQ(lite::RET_INVALID_OP_ATTR, -302);
  EXPECT_EQ(lite::RET_OP_EXECUTE_FAILURE, -303);
  EXPECT_EQ(lite::RET_FORMAT_ERR, -400);
  EXPECT_EQ(lite::RET_INFER_ERR, -500);
  EXPECT_EQ(lite::RET_INFER_INVALID, -501);
  EXPECT_EQ(lite::RET_INPUT_PARAM_INVALID, -600);
}

TEST(MindSporeStatus, has_a_text_and_compares_by_code) {
  const Status status(mindspore::kLiteNotSupport, "no NPU");
  EXPECT_EQ(status, mindspore::kLiteNotSupport);
  EXPECT_NE(status, mindspore::kSuccess);
  EXPECT_TRUE(status.IsError() && !status.IsOk() && !status);
  EXPECT_EQ(status.ToString(), "not supported: no NPU");
  EXPECT_TRUE(Status::OK() == Status());
  const Status with_place(mindspore::kLiteError, 7, "a.cc", "text");
  EXPECT_EQ(with_place.GetLineOfCode(), 7);
  EXPECT_EQ(with_place.GetFileName(), "a.cc");
  static_assert(!std::is_convertible_v<int, Status>);
}

TEST(MindSporeTypes, values_equal_mindspores) {
  using mindspore::DataType;
  EXPECT_EQ(static_cast<int>(DataType::kObjectTypeString), 12);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeBool), 30);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeInt8), 32);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeInt64), 35);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeUInt8), 37);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeUInt64), 40);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeFloat16), 42);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeFloat32), 43);
  EXPECT_EQ(static_cast<int>(DataType::kNumberTypeFloat64), 44);
  EXPECT_EQ(kMSDataTypeNumberTypeFloat32, 43);
  EXPECT_EQ(kMSFormatNC8HW8, 18);
  EXPECT_EQ(mindspore::NC8HW8, 18);
  EXPECT_EQ(mindspore::NCDHW, 15);
  EXPECT_EQ(mindspore::kKirinNPU, 2U);
  EXPECT_EQ(mindspore::kInvalidDeviceType, 100U);
  EXPECT_EQ(mindspore::kMindIR_Lite, 4U);
  EXPECT_EQ(mindspore::SCHEMA_INVALID, -1);
}

// ---- Tensor -------------------------------------------------------------------------------------

TEST(MindSporeTensor, own_tensors_copy_borrow_and_clone) {
  using mindspore::DataType;
  float values[] = {1, 2, 3};
  MSTensor* copied =
      MSTensor::CreateTensor("t", DataType::kNumberTypeFloat32, {3}, values, sizeof values);
  MSTensor* borrowed = MSTensor::CreateRefTensor("r", DataType::kNumberTypeFloat32, {3}, values,
                                                 sizeof values, false);
  ASSERT_TRUE(copied != nullptr && borrowed != nullptr);
  values[0] = 7;
  EXPECT_EQ(static_cast<const float*>(copied->Data().get())[0], 1);
  EXPECT_EQ(borrowed->Data().get(), values);
  MSTensor* clone = borrowed->Clone();
  EXPECT_NE(clone->Data().get(), values);
  EXPECT_EQ(static_cast<const float*>(clone->Data().get())[0], 7);
  EXPECT_FALSE(*clone == *borrowed);
  const MSTensor same = *copied;
  EXPECT_TRUE(same == *copied);
  EXPECT_EQ(same.ElementNum(), 3);
  EXPECT_EQ(same.DataSize(), 12U);
  EXPECT_EQ(same.format(), mindspore::NHWC);
  for (MSTensor* tensor : {copied, borrowed, clone}) MSTensor::DestroyTensorPtr(tensor);
  EXPECT_EQ(same.Name(), "t") << "a further handle keeps it";
  EXPECT_EQ(MSTensor::CreateTensor("t", DataType::kNumberTypeFloat32, {3}, values, 11), nullptr);
  EXPECT_EQ(MSTensor::CreateTensor("t", DataType::kNumberTypeFloat32, {-3}, nullptr, 0), nullptr);
}

TEST(MindSporeTensor, memory_is_allocated_on_request) {
  MSTensor tensor("t", mindspore::DataType::kNumberTypeInt16, {2, 2}, nullptr, 0);
  EXPECT_EQ(tensor.Data(), nullptr);
  ASSERT_NE(tensor.MutableData(), nullptr);
  EXPECT_NE(tensor.Data(), nullptr);
  tensor.SetShape({5});
  EXPECT_EQ(tensor.Data(), nullptr) << "of another size";
  EXPECT_EQ(tensor.DataSize(), 10U);
  EXPECT_TRUE(tensor.QuantParams().empty());
}

TEST(MindSporeTensor, quantisation_equals_the_models) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1, kColumns}, "x", {.scale = {0.5F}, .zero_point = {3}});
  const int y =
      m.AddTensor(kTfLiteInt8, {1, kColumns}, "y", {.scale = {0.25F}, .zero_point = {-1}});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  Model model;
  ASSERT_EQ(Build(&model, m.Finish(), CpuContext()), mindspore::kSuccess);
  const std::vector<mindspore::QuantParam> params = model.GetInputs()[0].QuantParams();
  ASSERT_EQ(params.size(), 1U);
  EXPECT_EQ(params[0].scale, 0.5);
  EXPECT_EQ(params[0].zero_point, 3);
  EXPECT_EQ(params[0].bit_num, 8);
  EXPECT_EQ(model.GetInputs()[0].DataType(), mindspore::DataType::kNumberTypeInt8);
}

// ---- Context ------------------------------------------------------------------------------------

TEST(MindSporeContext, settings_are_stored_and_reach_the_delegate) {
  const auto delegate = std::make_shared<RunDelegate>(nullptr);
  const auto context = CpuContext(delegate);
  context->SetThreadNum(3);
  context->SetThreadAffinity(2);
  context->SetThreadAffinity(std::vector<int>{0, 1});
  context->SetEnableParallel(true);
  const auto cpu = context->MutableDeviceInfo()[0]->Cast<mindspore::CPUDeviceInfo>();
  ASSERT_NE(cpu, nullptr);
  cpu->SetEnableFP16(true);
  EXPECT_EQ(context->MutableDeviceInfo()[0]->Cast<mindspore::GPUDeviceInfo>(), nullptr);
  delegate->on_build = [&](DelegateModel* model) -> Status {
    const mindspore::Context* seen = (*model->nodes())[0]->context();
    EXPECT_EQ(seen, context.get());
    EXPECT_EQ(seen->GetThreadNum(), 3);
    EXPECT_EQ(seen->GetThreadAffinityMode(), 2);
    EXPECT_EQ(seen->GetThreadAffinityCoreList(), (std::vector<int32_t>{0, 1}));
    EXPECT_TRUE(seen->GetEnableParallel());
    EXPECT_TRUE(seen->GetDeviceInfo()[0]->Cast<mindspore::CPUDeviceInfo>()->GetEnableFP16());
    return mindspore::kSuccess;
  };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), context), mindspore::kSuccess);
  EXPECT_EQ(Count(*delegate->records, "build"), 1U);
  context->SetThreadAffinity(9);
  EXPECT_EQ(context->GetThreadAffinityMode(), 0);
}

// Returns recommended_num_threads as a TfLiteDelegate reads it from the interpreter's context.
int ThreadsOfInterpreter(const std::shared_ptr<mindspore::Context>& context) {
  int threads = -1;
  TfLiteDelegate delegate = {};
  delegate.data_ = &threads;
  delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  delegate.Prepare = [](TfLiteContext* of_interpreter, TfLiteDelegate* self) {
    *static_cast<int*>(self->data_) = of_interpreter->recommended_num_threads;
    return kTfLiteOk;
  };
  context->AddTfLiteDelegate(&delegate);
  Model model;
  EXPECT_EQ(Build(&model, ChainModel(2), context), mindspore::kSuccess);
  return threads;
}

TEST(MindSporeContext, threads_are_passed_to_the_interpreter) {
  for (const int threads : {1, 3, 5}) {
    const auto context = CpuContext();
    context->SetThreadNum(threads);
    EXPECT_EQ(ThreadsOfInterpreter(context), threads);
  }
  // The default is 2 threads, or 4 on a machine with more than 32 cores.
  EXPECT_EQ(ThreadsOfInterpreter(CpuContext()), std::thread::hardware_concurrency() > 32 ? 4 : 2);
}

// Returns the log of the recorder plug-in for a model on a device: the options with which it is
// created.
std::vector<std::string> CreatedFor(const std::shared_ptr<mindspore::DeviceInfoContext>& device,
                                    const std::string& library) {
  const std::string log = testing::TempDir() + "mindspore_devices_" + std::to_string(getpid());
  setenv("RECORDER_LOG", log.c_str(), 1);
  device->SetProvider(BuildFolder() / library);
  const auto context = CpuContext();
  context->MutableDeviceInfo().insert(context->MutableDeviceInfo().begin(), device);
  {
    Model model;
    EXPECT_EQ(Build(&model, ChainModel(2), context), mindspore::kSuccess);
  }
  std::vector<std::string> lines;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::filesystem::remove(log);
  return lines;
}

TEST(MindSporeContext, provider_selects_the_library) {
  EXPECT_THAT(
      CreatedFor(std::make_shared<mindspore::GPUDeviceInfo>(), "tests/plugins/librecorder.so"),
      testing::Contains("create librecorder.so"));
  EXPECT_THAT(
      CreatedFor(std::make_shared<mindspore::GPUDeviceInfo>(), "tests/plugins/libelementwise.so"),
      testing::IsEmpty());
}

// The frequency is passed to a library that declares an option of that name.
TEST(MindSporeContext, frequency_is_an_option_of_the_device) {
  for (const int frequency : {1, 3, 4}) {
    const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
    npu->SetFrequency(frequency);
    EXPECT_THAT(CreatedFor(npu, "tests/plugins/libdescribed_frequency.so"),
                testing::Contains("create libdescribed_frequency.so frequency=" +
                                  std::to_string(frequency)));
  }
}

TEST(MindSporeContext, half_precision_is_an_option_of_a_gpu) {
  for (const bool half : {false, true}) {
    const auto gpu = std::make_shared<mindspore::GPUDeviceInfo>();
    gpu->SetEnableFP16(half);
    EXPECT_THAT(CreatedFor(gpu, "tests/plugins/libdescribed_precision.so"),
                testing::Contains(std::string("create libdescribed_precision.so") +
                                  (half ? " precision=auto" : "")));
    EXPECT_THAT(CreatedFor(gpu, "tests/plugins/libdescribed_frequency.so"),
                testing::Contains("create libdescribed_frequency.so"));
  }
}

TEST(MindSporeContext, one_to_three_devices) {
  const std::vector<uint8_t> bytes = ChainModel(2);
  for (size_t count = 0; count <= 4; ++count) {
    const auto context = std::make_shared<mindspore::Context>();
    for (size_t i = 0; i < count; ++i) {
      context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
    }
    Model model;
    const bool fine = count >= 1 && count <= 3;
    EXPECT_EQ(Build(&model, bytes, context), fine ? mindspore::kSuccess : mindspore::kLiteNullptr)
        << count;
  }
  Model model;
  EXPECT_EQ(Build(&model, bytes, nullptr), mindspore::kLiteNullptr);
}

TEST(MindSporeContext, parallel_operators_are_limited_by_threads) {
  const auto context = CpuContext();
  context->SetThreadNum(2);
  context->SetInterOpParallelNum(3);
  Model model;
  EXPECT_EQ(Build(&model, ChainModel(1), context), mindspore::kLiteNullptr);
  context->SetInterOpParallelNum(2);
  EXPECT_EQ(Build(&model, ChainModel(1), context), mindspore::kSuccess);
}

TEST(MindSporeContext, frequency_is_three_by_default_and_one_to_four) {
  const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
  EXPECT_EQ(npu->GetFrequency(), 3);
  npu->SetProvider("libthere_is_no_such_delegate.so");
  const auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo() = {npu, std::make_shared<mindspore::CPUDeviceInfo>()};
  for (int frequency = -1; frequency <= 6; ++frequency) {
    npu->SetFrequency(frequency);
    Model model;
    const bool fine = frequency >= 1 && frequency <= 4;
    EXPECT_EQ(Build(&model, ChainModel(2), context),
              fine ? mindspore::kSuccess : mindspore::kLiteParamInvalid)
        << frequency;
  }
}

TEST(MindSporeContext, without_a_cpu_all_nodes_must_be_claimed) {
  for (const bool all : {true, false}) {
    const auto npu = std::make_shared<mindspore::KirinNPUDeviceInfo>();
    const auto context = std::make_shared<mindspore::Context>();
    context->MutableDeviceInfo() = {npu};
    context->SetDelegate(std::make_shared<RunDelegate>(
        [all](Kernel*, const ms_schema::Primitive&, int at) { return all || at != 1; }));
    Model model;
    const Status status = Build(&model, ChainModel(3), context);
    EXPECT_EQ(status, all ? mindspore::kSuccess : mindspore::kLiteError);
    EXPECT_THAT(status.ToString(), HasSubstr(all ? "success" : "node 1 MUL"));
  }
}

// A plug-in can be used in two manners: by the delegate object, or by a device that names its
// library.
TEST(MindSporeContext, device_and_delegate_object_have_equal_partitions) {
  const std::string library = BuildFolder() / "examples/libsoftmax_delegate.so";
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "a");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {a}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSoftmax, {a}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> bytes = m.Finish();

  const auto gpu = std::make_shared<mindspore::GPUDeviceInfo>();
  gpu->SetProvider(library);
  const auto by_device = CpuContext();
  by_device->MutableDeviceInfo().insert(by_device->MutableDeviceInfo().begin(), gpu);
  DeputyPlugin* plugin = DeputyPluginLoad(library.c_str());
  ASSERT_NE(plugin, nullptr) << DeputyLastError();
  TfLiteDelegate* delegate = DeputyPluginCreateDelegate(plugin, nullptr, nullptr, 0);
  const auto by_object = CpuContext();
  by_object->AddTfLiteDelegate(delegate);
  {
    Model first, second, plain;
    ASSERT_EQ(Build(&first, bytes, by_device), mindspore::kSuccess);
    ASSERT_EQ(Build(&second, bytes, by_object), mindspore::kSuccess);
    ASSERT_EQ(Build(&plain, bytes, CpuContext()), mindspore::kSuccess);
    for (const Model* model : {&first, &second}) {
      ASSERT_EQ(DeputyInterpreterGetPartitionCount(model->interpreter(), 0), 1);
      DeputyPartition partition = {};
      partition.struct_size = sizeof partition;
      DeputyInterpreterGetPartition(model->interpreter(), 0, 0, &partition);
      EXPECT_EQ(partition.node_count, 1);
      EXPECT_EQ(partition.nodes[0], 1);
    }
    const std::vector<float> expected = Predict(&plain, kX);
    ASSERT_EQ(expected.size(), 4U);
    for (Model* model : {&first, &second}) {
      const std::vector<float> values = Predict(model, kX);
      ASSERT_EQ(values.size(), expected.size());
      for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-6F);
    }
  }
  DeputyPluginDeleteDelegate(delegate);
  DeputyPluginRelease(plugin);
}

// ---- Model --------------------------------------------------------------------------------------

TEST(MindSporeModel, only_regular_files_that_hold_models_are_built) {
  std::string folder = std::filesystem::temp_directory_path() / "deputy_ms_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto refusal = [](const std::string& path) {
    Model model;
    EXPECT_NE(model.Build(path, kMindIR, CpuContext()), mindspore::kSuccess);
    return std::string(DeputyMSLastError());
  };
  EXPECT_THAT(refusal(folder), HasSubstr("is a folder, expected a regular file"));
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal(pipe), HasSubstr("is a pipe, expected a regular file"));
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("is a device, expected a regular file"));

  const std::string path = folder + "/m.ms";
  std::ofstream(path) << std::string("\x10\0\0\0MSL2", 8);
  ASSERT_EQ(truncate(path.c_str(), off_t{3} << 30), 0);
  EXPECT_EQ(refusal(path),
            "Build: '" + path + "' is a .ms model of 3221225472 bytes, expected less than 2 GiB");
  std::ofstream(path) << "version https://git-lfs.github.com/spec/v1\nsize 4276352\n";
  EXPECT_THAT(refusal(path), HasSubstr("this is a Git LFS pointer"));
  std::ofstream(path) << "PK";
  EXPECT_THAT(refusal(path), HasSubstr("this is text"));
  std::filesystem::remove_all(folder);
}

TEST(MindSporeModel, build_checks_its_arguments) {
  const std::vector<uint8_t> bytes = ChainModel(2);
  Model model;
  EXPECT_EQ(model.Build(nullptr, 5, kMindIR, CpuContext()), mindspore::kLiteNullptr);
  EXPECT_EQ(model.Build(bytes.data(), 0, kMindIR, CpuContext()), mindspore::kLiteInputParamInvalid);
  for (const auto type : {mindspore::kAIR, mindspore::kONNX, mindspore::kUnknownType}) {
    EXPECT_EQ(model.Build(bytes.data(), bytes.size(), type, CpuContext()),
              mindspore::kLiteParamInvalid);
  }
  EXPECT_EQ(model.Build("/there/is/no/model.tflite", kMindIR, CpuContext()),
            mindspore::kLiteFileError);
  EXPECT_EQ(model.Predict({}, nullptr), mindspore::kLiteUninitializedObj);
  EXPECT_EQ(model.Resize({}, {}), mindspore::kLiteUninitializedObj);
  EXPECT_TRUE(model.GetInputs().empty());
  EXPECT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR_Lite, CpuContext()),
            mindspore::kSuccess);
  EXPECT_EQ(Build(&model, bytes, CpuContext()), mindspore::kLiteModelRebuild);
  EXPECT_EQ(Predict(&model, kX), ChainResult(2, kX)) << "as before";
}

TEST(MindSporeModel, file_and_buffer_are_the_same_model) {
  const std::vector<uint8_t> bytes = ChainModel(4);
  const std::string path = testing::TempDir() + "/mindspore_model_test.tflite";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Model model;
  ASSERT_EQ(model.Build(path, kMindIR, CpuContext()), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), ChainResult(4, kX));
  std::filesystem::remove(path);
}

// Files in MindSpore's own format are identified by their header and loaded by the same functions.
TEST(MindSporeModel, accepts_mindspore_models) {
  ms::MsWriter writer;
  const uint32_t x = writer.Input({1, 4}), y = writer.Output({1, 4});
  writer.Node(ms::file::PrimitiveType_Abs, {x}, {y});
  const std::vector<uint8_t> bytes = writer.Finish();
  const std::string path = testing::TempDir() + "/mindspore_model_test.model";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Model from_buffer, from_file;
  ASSERT_EQ(Build(&from_buffer, bytes, CpuContext()), mindspore::kSuccess);
  ASSERT_EQ(from_file.Build(path, kMindIR, CpuContext()), mindspore::kSuccess);
  EXPECT_EQ(Predict(&from_buffer, {1, -2, 3, -4}), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Predict(&from_file, {-1, 2, -3, 4}), (std::vector<float>{1, 2, 3, 4}));
  std::filesystem::remove(path);

  Model damaged;
  EXPECT_EQ(
      Build(&damaged, {bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(bytes.size() / 2)},
            CpuContext()),
      mindspore::kLiteGraphFileError);
}

TEST(MindSporeModel, tensors_are_found_by_name) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext()), mindspore::kSuccess);
  EXPECT_TRUE(model.GetInputByTensorName("x") == model.GetInputs()[0]);
  EXPECT_TRUE(model.GetOutputByTensorName("y1") == model.GetOutputs()[0]);
  EXPECT_TRUE(model.GetInputByTensorName("y1") == nullptr);
  EXPECT_EQ(model.GetOutputTensorNames(), std::vector<std::string>{"y1"});
}

TEST(MindSporeModel, inputs_may_use_caller_memory) {
  using mindspore::DataType;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(3), CpuContext()), mindspore::kSuccess);
  const MSTensor own("x", DataType::kNumberTypeFloat32, {1, kColumns}, kX.data(), 16);
  std::vector<MSTensor> outputs;
  ASSERT_EQ(model.Predict({own}, &outputs), mindspore::kSuccess);
  const auto* y = static_cast<const float*>(outputs[0].Data().get());
  EXPECT_EQ(std::vector<float>(y, y + 4), ChainResult(3, kX));

  std::vector<float> borrowed = {4, 3, 2, 1};
  std::vector<MSTensor> inputs = model.GetInputs();
  inputs[0].SetData(borrowed.data(), false);
  ASSERT_EQ(model.Predict(inputs, &outputs), mindspore::kSuccess);
  EXPECT_EQ(std::vector<float>(y, y + 4), ChainResult(3, borrowed));

  const std::map<std::string, MSTensor> wrong = {
      {"found type 34", MSTensor("x", DataType::kNumberTypeInt32, {1, kColumns}, kX.data(), 16)},
      {"and 8", MSTensor("x", DataType::kNumberTypeFloat32, {1, 2}, kX.data(), 8)},
      {"has no data", MSTensor("x", DataType::kNumberTypeFloat32, {1, kColumns}, nullptr, 0)},
      {"is NULL", MSTensor()},
  };
  for (const auto& [text, tensor] : wrong) {
    const Status status = model.Predict({tensor}, &outputs);
    EXPECT_EQ(status, mindspore::kLiteInputTensorError);
    EXPECT_THAT(status.ToString(), HasSubstr(text));
  }
  EXPECT_EQ(model.Predict({}, &outputs), mindspore::kLiteInputTensorError);
}

TEST(MindSporeModel, resize_checks_its_arguments) {
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext()), mindspore::kSuccess);
  const std::vector<MSTensor> inputs = model.GetInputs();
  for (const int64_t dim : {int64_t{-1}, int64_t{1} << 31}) {
    EXPECT_EQ(model.Resize(inputs, {{dim, kColumns}}), mindspore::kLiteInputParamInvalid);
  }
  EXPECT_EQ(model.Resize({}, {}), mindspore::kLiteInputParamInvalid);
  EXPECT_EQ(model.Resize(inputs, {{1, kColumns}, {1, kColumns}}),
            mindspore::kLiteInputParamInvalid);
  EXPECT_EQ(model.Resize(model.GetOutputs(), {{1, kColumns}}), mindspore::kLiteInputParamInvalid);
  // Shapes that do not broadcast fail on the CPU, too.
  EXPECT_NE(model.Resize(inputs, {{1, 3}}), mindspore::kSuccess);
  EXPECT_EQ(Predict(&model, kX), ChainResult(2, kX));
  ASSERT_EQ(model.Resize(inputs, {{2, kColumns}}), mindspore::kSuccess);
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(Predict(&model, x), ChainResult(2, x));
}

// ---- The log ------------------------------------------------------------------------------------

class MindSporeLog : public testing::Test {
 protected:
  void SetUp() override {
    DeputyMSSetLogSink(
        [](void* user_data, DeputyMSLogLevel level, const char* text) {
          static_cast<MindSporeLog*>(user_data)->lines.push_back(std::to_string(level) + " " +
                                                                 text);
        },
        this);
  }
  void TearDown() override {
    DeputyMSSetLogSink(nullptr, nullptr);
    DeputyMSSetLogLevel(kDeputyMSLogWarning);
  }
  Records lines;
};

TEST_F(MindSporeLog, one_line_per_refusal_and_failure) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  delegate->init_code = mindspore::kLiteNotSupport;
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext(delegate)), mindspore::kSuccess);
  EXPECT_EQ(lines, Records{"2 the delegate declined: Init returned -7 (not supported)"});
  lines.clear();
  EXPECT_EQ(model.Predict({}, nullptr), mindspore::kLiteInputTensorError);
  EXPECT_EQ(lines, Records{"3 Predict: expected 1 inputs, found 0"});
  lines.clear();
  DeputyMSSetLogLevel(kDeputyMSLogNone);
  EXPECT_EQ(model.Predict({}, nullptr), mindspore::kLiteInputTensorError);
  EXPECT_TRUE(lines.empty());
}

TEST_F(MindSporeLog, failing_kernel_is_reported_by_name) {
  const auto delegate = std::make_shared<RunDelegate>(ClaimsAll);
  delegate->on_kernel = [](RunKernel* kernel) { kernel->execute_code = -1; };
  Model model;
  ASSERT_EQ(Build(&model, ChainModel(2), CpuContext(delegate)), mindspore::kSuccess);
  Predict(&model, kX);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], HasSubstr("kernel 'NpuGraph0': Execute returned -1 (error)"));
}

TEST_F(MindSporeLog, delegates_log_with_the_tutorials_macro) {
  MS_LOG(INFO) << "not "
               << "shown";
  MS_LOG(WARNING) << "stride " << 3;
  MS_LOG(ERROR) << "no";
  EXPECT_EQ(lines, (Records{"2 stride 3", "3 no"}));
}

// A sink that fails a call of the library and logs before it stores its message.
void LogAndAppend(void* texts, DeputyMSLogLevel /*level*/, const char* text) {
  EXPECT_EQ(Model().Predict({}, nullptr), mindspore::kLiteUninitializedObj);
  DeputyMSLog(kDeputyMSLogError, "from the sink");
  static_cast<Records*>(texts)->push_back(text);
}

TEST_F(MindSporeLog, messages_from_within_the_sink_are_discarded) {
  Records texts;
  DeputyMSSetLogSink(LogAndAppend, &texts);
  DeputyMSLog(kDeputyMSLogError, "first");
  DeputyMSLog(kDeputyMSLogError, "second");
  EXPECT_EQ(texts, (Records{"first", "second"}));
}

TEST_F(MindSporeLog, sink_may_replace_itself) {
  const auto replace = [](void* user_data, DeputyMSLogLevel, const char* text) {
    static_cast<Records*>(user_data)->push_back(std::string("old ") + text);
    DeputyMSSetLogSink(
        [](void* texts, DeputyMSLogLevel, const char* later) {
          static_cast<Records*>(texts)->push_back(std::string("new ") + later);
        },
        user_data);
  };
  DeputyMSSetLogSink(replace, &lines);
  DeputyMSLog(kDeputyMSLogError, "first");
  DeputyMSLog(kDeputyMSLogError, "second");
  EXPECT_EQ(lines, (Records{"old first", "new second"}));
}

TEST_F(MindSporeLog, calls_of_the_sink_are_serialised_and_none_is_lost) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 1000; ++k) DeputyMSLog(kDeputyMSLogError, "text");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines, Records(4000, "3 text"));
}

}  // namespace
}  // namespace deputy::mindspore_model_test
