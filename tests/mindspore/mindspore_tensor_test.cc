// SPDX-License-Identifier: Apache-2.0
//
// Tests the members of MSTensor that MindSpore Lite 2.x adds: ownership of data, allocators, texts,
// files, device addresses, and the conversions of dual_abi_helper.h.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <type_traits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mindspore/api/allocator.h"
#include "mindspore/api/errorcode.h"
#include "mindspore/include/api/data_type.h"
#include "mindspore/include/api/dual_abi_helper.h"
#include "mindspore/include/api/format.h"
#include "tests/mindspore/mindspore_support.h"

namespace deputy::mindspore_tensor_test {
namespace {

using mindspore::Allocator;
using mindspore::DataType;
using mindspore::Model;
using mindspore::Status;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr DataType kFloat = DataType::kNumberTypeFloat32;

// An allocator that counts the blocks that exist.
class CountingAllocator : public Allocator {
 public:
  using Allocator::Malloc;
  void* Malloc(size_t size) override {
    if (fails) return nullptr;
    ++blocks;
    last_size = size;
    return std::malloc(size);
  }
  void Free(void* pointer) override {
    --blocks;
    std::free(pointer);
  }
  int RefCount(void* /*pointer*/) override { return 0; }
  int SetRefCount(void* /*pointer*/, int count) override { return count; }
  int DecRefCount(void* /*pointer*/, int /*count*/) override { return 0; }
  int IncRefCount(void* /*pointer*/, int /*count*/) override { return 0; }

  bool fails = false;
  int blocks = 0;
  size_t last_size = 0;
};

TEST(MindSporeTensor, an_allocator_provides_the_memory_of_a_tensor) {
  const auto allocator = std::make_shared<CountingAllocator>();
  {
    MSTensor tensor("t", kFloat, {2, 3}, nullptr, 0);
    EXPECT_EQ(tensor.allocator(), nullptr);
    tensor.SetAllocator(allocator);
    EXPECT_EQ(tensor.allocator(), allocator);
    EXPECT_EQ(allocator->blocks, 0);
    ASSERT_NE(tensor.MutableData(), nullptr);
    EXPECT_EQ(allocator->blocks, 1);
    EXPECT_EQ(allocator->last_size, 24u);
    EXPECT_EQ(static_cast<float*>(tensor.MutableData())[5], 0.0F);
    tensor.SetShape({5});
    EXPECT_EQ(allocator->blocks, 0);
    allocator->fails = true;
    EXPECT_EQ(tensor.MutableData(), nullptr);
    allocator->fails = false;
    ASSERT_NE(tensor.MutableData(), nullptr);
    EXPECT_EQ(allocator.use_count(), 3);  // here, in the attachment and in the tensor
  }
  EXPECT_EQ(allocator->blocks, 0);
  EXPECT_EQ(allocator.use_count(), 1);
}

// Returns an allocator of the C API that counts the calls of `release`.
DeputyMSAllocator CountingReleases(int* releases) {
  DeputyMSAllocator allocator = {};
  allocator.struct_size = sizeof allocator;
  allocator.user_data = releases;
  allocator.allocate = [](void*, size_t size) { return std::malloc(size); };
  allocator.deallocate = [](void*, void* block) { std::free(block); };
  allocator.release = [](void* count) { ++*static_cast<int*>(count); };
  return allocator;
}

TEST(MindSporeTensor, allocators_are_released_if_their_struct_has_the_function) {
  int releases = 0;
  const DeputyMSAllocator whole = CountingReleases(&releases);
  DeputyMSAllocator without_functions = whole;
  without_functions.allocate = nullptr;
  DeputyMSAllocator without_release = whole;
  without_release.struct_size = offsetof(DeputyMSAllocator, release);
  DeputyMSAllocator too_small = whole;
  too_small.struct_size = offsetof(DeputyMSAllocator, deallocate);
  MSTensorHandle tensor = MSTensorCreate("t", kMSDataTypeNumberTypeFloat32, nullptr, 0, nullptr, 0);

  EXPECT_EQ(DeputyMSTensorSetAllocator(tensor, &without_functions), kMSStatusLiteParamInvalid);
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(DeputyMSTensorSetAllocator(nullptr, &whole), kMSStatusLiteNullptr);
  EXPECT_EQ(releases, 2);
  EXPECT_EQ(DeputyMSTensorSetAllocator(tensor, &too_small), kMSStatusLiteParamInvalid);
  EXPECT_STREQ(DeputyMSLastError(),
               "SetAllocator: expected a struct of at least 32 bytes, found 24");
  EXPECT_EQ(DeputyMSTensorSetAllocator(tensor, &without_release), kMSStatusSuccess);
  EXPECT_EQ(DeputyMSTensorSetAllocator(tensor, &whole), kMSStatusSuccess);
  EXPECT_EQ(releases, 2);
  MSTensorDestroy(&tensor);
  EXPECT_EQ(releases, 3);
}

TEST(MindSporeTensor, the_default_allocator_aligns_and_counts) {
  const std::shared_ptr<Allocator> allocator = Allocator::Create();
  void* block = allocator->Malloc(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
  EXPECT_EQ(allocator->RefCount(block), 0);
  EXPECT_EQ(allocator->SetRefCount(block, 3), 3);
  EXPECT_EQ(allocator->IncRefCount(block, 2), 5);
  EXPECT_EQ(allocator->DecRefCount(block, 4), 1);
  EXPECT_EQ(allocator->Prepare(block), block);
  allocator->Free(block);
  EXPECT_EQ(allocator->Malloc(SIZE_MAX), nullptr);
  EXPECT_EQ(allocator->Malloc(1, 1, kFloat), nullptr);
}

// The tensor's allocator frees data that the tensor owns, which makes the ownership visible.
TEST(MindSporeTensor, owned_data_is_freed_with_the_last_reference) {
  const auto allocator = std::make_shared<CountingAllocator>();
  float values[2] = {3, 4};
  void* owned = allocator->Malloc(sizeof values);
  std::memcpy(owned, values, sizeof values);
  {
    MSTensor tensor("t", kFloat, {2}, nullptr, 0);
    tensor.SetAllocator(allocator);
    tensor.SetData(owned);
    EXPECT_EQ(tensor.Data().get(), owned);
    const MSTensor other = tensor;
    tensor = nullptr;
    EXPECT_EQ(allocator->blocks, 1);
    EXPECT_EQ(static_cast<const float*>(other.Data().get())[1], 4.0F);
  }
  EXPECT_EQ(allocator->blocks, 0);
  {
    MSTensor tensor("t", kFloat, {2}, nullptr, 0);
    tensor.SetAllocator(allocator);
    tensor.SetData(values, false);
    EXPECT_EQ(tensor.MutableData(), values);
  }
  EXPECT_EQ(allocator->blocks, 0);
  // Data that is replaced belongs to the caller again.
  void* replaced = std::malloc(8);
  MSTensor tensor("t", kFloat, {2}, nullptr, 0);
  tensor.SetData(replaced);
  tensor.SetData(nullptr);
  EXPECT_EQ(tensor.Data(), nullptr);
  std::free(replaced);
}

TEST(MindSporeTensor, a_reference_tensor_owns_its_data_unless_told_otherwise) {
  auto* heap = static_cast<float*>(std::malloc(8));  // freed by the tensor; ASan finds a leak
  heap[1] = 7;
  MSTensor* owner = MSTensor::CreateRefTensor("r", kFloat, {2}, heap, 8);
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(owner->Data().get(), heap);
  MSTensor::DestroyTensorPtr(owner);
  float values[2] = {1, 2};
  MSTensor* borrower = MSTensor::CreateRefTensor("r", kFloat, {2}, values, sizeof values, false);
  ASSERT_NE(borrower, nullptr);
  MSTensor::DestroyTensorPtr(borrower);
  EXPECT_EQ(MSTensor::CreateRefTensor("r", kFloat, {3}, values, sizeof values, false), nullptr);
}

TEST(MindSporeTensor, tensors_are_copied_under_a_new_name) {
  const float values[2] = {1, 2};
  MSTensor source("s", kFloat, {2}, values, sizeof values);
  source.SetFormat(mindspore::NCHW);
  source.SetQuantParams({{8, 0.5, 3, -1, 1}});
  MSTensor* copy = MSTensor::CreateTensor("c", source);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->Name(), "c");
  EXPECT_EQ(source.Name(), "s");
  EXPECT_NE(*copy, source);
  EXPECT_EQ(copy->format(), mindspore::NCHW);
  ASSERT_EQ(copy->QuantParams().size(), 1u);
  EXPECT_EQ(copy->QuantParams()[0].scale, 0.5);
  EXPECT_EQ(copy->QuantParams()[0].zero_point, 3);
  EXPECT_EQ(copy->QuantParams()[0].min, -1);
  EXPECT_EQ(copy->QuantParams()[0].max, 1);
  EXPECT_EQ(static_cast<const float*>(copy->Data().get())[1], 2.0F);
  MSTensor::DestroyTensorPtr(copy);
  EXPECT_EQ(MSTensor::CreateTensor("c", source, "ascend", 0), nullptr);
  EXPECT_EQ(MSTensor::CreateTensor("c", kFloat, {2}, values, sizeof values, "ascend", 0), nullptr);
  EXPECT_EQ(source.GetDevice(), "");
  EXPECT_EQ(source.GetDeviceId(), -1);
}

TEST(MindSporeTensor, a_shape_is_a_reference_that_lives_as_long_as_the_tensor) {
  static_assert(
      std::is_same_v<decltype(std::declval<MSTensor>().Shape()), const std::vector<int64_t>&>);
  MSTensor tensor("t", kFloat, {2, 3}, nullptr, 0);
  const std::vector<int64_t>& shape = MSTensor(tensor).Shape();  // from a temporary handle
  EXPECT_THAT(shape, ElementsAre(2, 3));
  tensor.SetShape({4});
  EXPECT_THAT(tensor.Shape(), ElementsAre(4));
  EXPECT_EQ(&tensor.Shape(), &shape);
  EXPECT_TRUE(MSTensor(nullptr).Shape().empty());
}

TEST(MindSporeTensor, a_file_becomes_a_tensor) {
  const std::string path = std::filesystem::temp_directory_path() / "mindspore_tensor_test.bin";
  const float values[6] = {1, 2, 3, 4, 5, 6};
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof values);
  MSTensor* bytes = MSTensor::CreateTensorFromFile(path);
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes->Name(), path);
  EXPECT_EQ(bytes->DataType(), DataType::kNumberTypeUInt8);
  EXPECT_THAT(bytes->Shape(), ElementsAre(24));
  MSTensor::DestroyTensorPtr(bytes);
  MSTensor* floats = MSTensor::CreateTensorFromFile(path, kFloat, {2, 3});
  ASSERT_NE(floats, nullptr);
  EXPECT_EQ(static_cast<const float*>(floats->Data().get())[4], 5.0F);
  MSTensor::DestroyTensorPtr(floats);
  EXPECT_EQ(MSTensor::CreateTensorFromFile(path, kFloat, {7}), nullptr);
  EXPECT_EQ(MSTensor::CreateTensorFromFile("/no/such/file"), nullptr);
  std::remove(path.c_str());
}

TEST(MindSporeTensor, texts_are_packed_and_read_back) {
  const std::vector<std::string> texts = {"", "one", std::string("a\0b", 3), "\xE4\xBD\xA0"};
  MSTensor* tensor = MSTensor::StringsToTensor("texts", texts);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->DataType(), DataType::kObjectTypeString);
  EXPECT_THAT(tensor->Shape(), ElementsAre(4));
  EXPECT_EQ(tensor->DataSize(), 6 * 4 + 9u);  // count, 5 offsets, bytes
  EXPECT_EQ(MSTensor::TensorToStrings(*tensor), texts);
  MSTensor* copy = tensor->Clone();
  MSTensor::DestroyTensorPtr(tensor);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(MSTensor::TensorToStrings(*copy), texts);
  // An offset beyond the tensor, a negative offset, and a count that the tensor cannot hold make
  // all texts invalid.
  auto* words = static_cast<int32_t*>(copy->MutableData());
  const int32_t end = words[5];
  words[5] = end + 1;
  EXPECT_TRUE(MSTensor::TensorToStrings(*copy).empty());
  words[5] = end;
  words[2] = -1;
  EXPECT_TRUE(MSTensor::TensorToStrings(*copy).empty());
  words[0] = INT32_MAX;
  EXPECT_TRUE(MSTensor::TensorToStrings(*copy).empty());
  MSTensor::DestroyTensorPtr(copy);
  const MSTensor number("n", kFloat, {1}, nullptr, 0);
  EXPECT_TRUE(MSTensor::TensorToStrings(number).empty());
  EXPECT_TRUE(MSTensor::TensorToStrings(nullptr).empty());
  MSTensor* none = MSTensor::StringsToTensor("none", {});
  ASSERT_NE(none, nullptr);
  EXPECT_TRUE(MSTensor::TensorToStrings(*none).empty());
  MSTensor::DestroyTensorPtr(none);
}

// The model is a RESHAPE of a tensor of texts.
TEST(MindSporeTensor, texts_pass_through_a_model) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteString, {2}, "x");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2}, "shape");
  const int y = m.AddTensor(kTfLiteString, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y}, schema::CreateReshapeOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> bytes = m.Finish();
  Model model;
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext()),
            mindspore::kSuccess);
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"first", "second text"}, {"", "a much longer text than before"}}) {
    MSTensor* input = MSTensor::StringsToTensor("x", texts);
    ASSERT_NE(input, nullptr);
    std::vector<MSTensor> outputs;
    const Status status = model.Predict({*input}, &outputs);
    ASSERT_EQ(status, mindspore::kSuccess) << status;
    EXPECT_EQ(MSTensor::TensorToStrings(outputs[0]), texts);
    MSTensor::DestroyTensorPtr(input);
  }
  MSTensor* three = MSTensor::StringsToTensor("x", {"1", "2", "3"});
  const Status status = model.Predict({*three}, nullptr);
  EXPECT_EQ(static_cast<int>(status), -101);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("expected 2 texts, found 3"));
  MSTensor::DestroyTensorPtr(three);
}

// ---- Device addresses ---------------------------------------------------------------------------

// A kernel that adds {1, 2, 3, 4} to data "on a device": it uses the addresses of its tensors.
class DeviceKernel : public Kernel {
 public:
  DeviceKernel(const std::vector<MSTensor>& inputs, const std::vector<MSTensor>& outputs)
      : Kernel(inputs, outputs, nullptr, nullptr) {}
  int Prepare() override { return RET_OK; }
  int Execute() override {
    const auto* in = static_cast<const float*>(inputs_[0].GetDeviceData());
    auto* out = static_cast<float*>(outputs_[0].GetDeviceData());
    if (in == nullptr) in = static_cast<const float*>(inputs_[0].Data().get());
    if (out == nullptr) out = static_cast<float*>(outputs_[0].MutableData());
    for (int i = 0; i < kColumns; ++i) out[i] = in[i] + static_cast<float>(i + 1);
    return RET_OK;
  }
  int ReSize() override { return RET_OK; }
};

class DeviceDelegate : public mindspore::Delegate {
 public:
  Status Init() override { return mindspore::kSuccess; }
  Status Build(DelegateModel* model) override {
    const auto first = model->BeginKernelIterator();
    auto* kernel = new DeviceKernel({(*first)->inputs()[0]}, (*first)->outputs());
    kernel->set_name("device");
    model->Replace(first, first + 1, kernel);
    return mindspore::kSuccess;
  }
};

TEST(MindSporeTensor, kernels_of_a_delegate_receive_device_addresses) {
  const std::vector<uint8_t> bytes = ChainModel(1);
  Model model;
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR,
                        CpuContext(std::make_shared<DeviceDelegate>())),
            mindspore::kSuccess);
  std::vector<MSTensor> inputs = model.GetInputs(), outputs = model.GetOutputs();
  float device_in[kColumns] = {10, 20, 30, 40}, device_out[kColumns] = {};
  inputs[0].SetDeviceData(device_in);
  outputs[0].SetDeviceData(device_out);
  EXPECT_EQ(inputs[0].GetDeviceData(), device_in);
  EXPECT_TRUE(inputs[0].IsDevice());
  ASSERT_EQ(model.Predict(inputs, &outputs), mindspore::kSuccess);
  EXPECT_THAT(device_out, ElementsAre(11, 22, 33, 44));

  // A tensor of the caller passes its address for one inference.
  float other[kColumns] = {1, 1, 1, 1};
  const MSTensor tensor = MSTensor::CreateDeviceTensor("x", kFloat, {1, 4}, other, sizeof other);
  EXPECT_EQ(tensor.Data(), nullptr);
  ASSERT_EQ(model.Predict({tensor}, &outputs), mindspore::kSuccess);
  EXPECT_THAT(device_out, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(inputs[0].GetDeviceData(), device_in);

  // Without addresses the kernel uses the host's memory.
  inputs[0].SetDeviceData(nullptr);
  outputs[0].SetDeviceData(nullptr);
  EXPECT_EQ(Predict(&model, {5, 5, 5, 5}), (std::vector<float>{6, 7, 8, 9}));
  EXPECT_EQ(MSTensor::CreateDeviceTensor("x", kFloat, {3}, other, 8), nullptr);
}

TEST(MindSporeTensor, data_on_a_device_that_the_cpu_would_read_is_refused) {
  const std::vector<uint8_t> bytes = ChainModel(1);
  Model model;
  ASSERT_EQ(model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext()),
            mindspore::kSuccess);
  float data[kColumns] = {};
  std::vector<MSTensor> inputs = model.GetInputs(), outputs;
  inputs[0].SetDeviceData(data);
  const Status status = model.Predict(inputs, &outputs);
  EXPECT_EQ(static_cast<int>(status), -101);
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("input 0 'x' has data on a device only"));
  EXPECT_THAT(status.GetErrDescription(), HasSubstr("node 0 ADD"));
  inputs[0].SetDeviceData(nullptr);
  EXPECT_EQ(model.Predict(inputs, &outputs), mindspore::kSuccess);
}

// ---- Other types --------------------------------------------------------------------------------

TEST(MindSporeTensor, a_buffer_shares_bytes_with_its_copies) {
  mindspore::Buffer buffer("abc", 3);
  mindspore::Buffer copy = buffer;
  const mindspore::Buffer clone = buffer.Clone();
  static_cast<char*>(copy.MutableData())[1] = 'x';
  EXPECT_EQ(std::memcmp(buffer.Data(), "axc", 3), 0);
  EXPECT_EQ(std::memcmp(clone.Data(), "abc", 3), 0);
  EXPECT_TRUE(buffer.ResizeData(5));
  EXPECT_EQ(copy.DataSize(), 5u);
  EXPECT_FALSE(buffer.SetData(nullptr, 2));
}

TEST(MindSporeTensor, strings_convert_to_characters_and_back) {
  using mindspore::StringToChar;
  const std::vector<std::string> texts = {"ab", ""};
  EXPECT_THAT(StringToChar("ab"), ElementsAre('a', 'b'));
  EXPECT_EQ(mindspore::CharToString(StringToChar("ab")), "ab");
  EXPECT_EQ(mindspore::VectorStringToChar(texts)[0], StringToChar("ab"));
  EXPECT_EQ(mindspore::VectorCharToString(mindspore::VectorStringToChar(texts)), texts);
  const std::set<std::string> set = {"b", "a"};
  EXPECT_EQ(mindspore::SetCharToString(mindspore::SetStringToChar(set)), set);
  const std::map<std::string, int32_t> map = {{"k", 3}};
  EXPECT_EQ(mindspore::MapCharToString(mindspore::MapStringToChar(map)), map);
  const std::unordered_map<std::string, std::string> pairs = {{"k", "v"}};
  EXPECT_EQ(mindspore::UnorderedMapCharToString(mindspore::UnorderedMapStringToChar(pairs)), pairs);
  const std::vector<std::pair<std::string, std::vector<int32_t>>> classes = {{"c", {1, 2}}};
  EXPECT_EQ(mindspore::ClassIndexCharToString(mindspore::ClassIndexStringToChar(classes)), classes);
  const std::map<std::string, double> pads = {{"p", 0.5}};
  EXPECT_EQ(mindspore::PadInfoCharToString(mindspore::PadInfoStringToChar(pads)), pads);
  EXPECT_EQ(mindspore::PairCharToString(mindspore::PairStringToChar({"k", 2})).second, 2);
  EXPECT_EQ(mindspore::PairStringInt64ToPairCharInt64({{"k", 5}})[0].second, 5);
  EXPECT_EQ(mindspore::OptionalCharToString(mindspore::OptionalStringToChar("o")), "o");
  std::unordered_map<std::string, int> merged = {{"k", 1}};
  const std::map<std::vector<char>, int> more = {{{'k'}, 2}, {{'l'}, 3}};
  mindspore::TensorMapCharToString(&more, &merged);
  EXPECT_EQ(merged, (std::unordered_map<std::string, int>{{"k", 1}, {"l", 3}}));
  EXPECT_THAT(mindspore::Version(), HasSubstr("MindSpore Lite 2.7"));
}

}  // namespace
}  // namespace deputy::mindspore_tensor_test
