// SPDX-License-Identifier: Apache-2.0
//
// Shared code for the tests of the NPU stub: a builder of graphs for the device, and the device
// with loaded models.
#ifndef DEPUTY_TESTS_NPU_STUB_NPU_SUPPORT_H_
#define DEPUTY_TESTS_NPU_STUB_NPU_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "npu_stub/graph.h"
#include "npu_stub/npu_device.h"

namespace deputy {

// Builds a graph for the device; the functions that add a tensor return its index.
class NpuGraphBuilder {
 public:
  NpuGraphBuilder() { NpuBuilderInit(&builder_); }
  ~NpuGraphBuilder() { NpuBuilderFree(&builder_); }
  NpuGraphBuilder(const NpuGraphBuilder&) = delete;
  NpuGraphBuilder& operator=(const NpuGraphBuilder&) = delete;

  NpuBuilder* builder() { return &builder_; }
  const NpuGraph& graph() const { return builder_.graph; }

  int32_t Tensor(const std::vector<int32_t>& dims, int32_t type = kNpuFloat32) {
    return NpuAddTensor(&builder_, type, static_cast<int32_t>(dims.size()), dims.data());
  }
  int32_t Input(const std::vector<int32_t>& dims, int32_t type = kNpuFloat32) {
    const int32_t tensor = Tensor(dims, type);
    NpuAddInput(&builder_, tensor);
    return tensor;
  }
  template <typename T = float>
  int32_t Constant(const std::vector<int32_t>& dims, const std::vector<T>& values,
                   int32_t type = kNpuFloat32) {
    const int32_t tensor = Tensor(dims, type);
    void* data = NpuBuilderOwn(&builder_, values.size() * sizeof(T));
    std::memcpy(data, values.data(), values.size() * sizeof(T));
    NpuTensorAt(&builder_, tensor)->data = data;
    return tensor;
  }
  int32_t Op(NpuKind kind, int32_t function, const std::vector<int32_t>& inputs,
             const std::vector<int32_t>& dims, const std::vector<int32_t>& attributes = {},
             float number = 0, int32_t type = kNpuFloat32) {
    const int32_t output = Tensor(dims, type);
    const int32_t op = NpuAddOp(&builder_, kind, function, inputs.data(),
                                static_cast<int32_t>(inputs.size()), output);
    std::copy(attributes.begin(), attributes.end(), NpuOpAt(&builder_, op)->attributes);
    NpuOpAt(&builder_, op)->number = number;
    return output;
  }
  void Output(int32_t tensor) { NpuAddOutput(&builder_, tensor); }
  std::vector<int32_t> Dims(int32_t tensor) {
    const NpuTensor* at = NpuTensorAt(&builder_, tensor);
    return {at->dims, at->dims + at->rank};
  }

 private:
  NpuBuilder builder_;
};

// The built-in device with one client.
class NpuDeviceUser {
 public:
  explicit NpuDeviceUser(const char* faults = "") : api_(npu_device_api()) {
    const NpuDeviceConfig config = {sizeof config, faults};
    status_ = api_->open(&config, &device_, error_, sizeof error_);
    if (status_ == kNpuOk) status_ = api_->create_client(device_, &client_);
  }
  ~NpuDeviceUser() {
    if (client_ != nullptr) api_->destroy_client(client_);
    if (device_ != nullptr) api_->close(device_);
  }
  NpuDeviceUser(const NpuDeviceUser&) = delete;
  NpuDeviceUser& operator=(const NpuDeviceUser&) = delete;

  const NpuDeviceApi& api() const { return *api_; }
  NpuDevice* device() const { return device_; }
  NpuClient* client() const { return client_; }
  NpuStatus status() const { return status_; }
  std::string error() const { return error_; }
  NpuCounters counters() const {
    NpuCounters counters = {};
    api_->get_counters(device_, &counters);
    return counters;
  }

  std::vector<uint8_t> Compile(const NpuGraph& graph) {
    void* blob = nullptr;
    size_t bytes = 0;
    status_ = api_->compile(device_, &graph, &blob, &bytes, error_, sizeof error_);
    if (status_ != kNpuOk) return {};
    const auto* first = static_cast<const uint8_t*>(blob);
    std::vector<uint8_t> copy(first, first + bytes);
    api_->free_blob(device_, blob);
    return copy;
  }
  NpuStatus Load(const std::string& name, const std::vector<uint8_t>& blob, int frequency = 3) {
    const NpuModelDescription model = {name.c_str(), blob.data(), blob.size(), frequency};
    return api_->load(client_, &model, 1, error_, sizeof error_);
  }
  NpuStatus Run(const std::string& name, uint32_t limit_ms = 1000) {
    return api_->run(client_, name.c_str(), limit_ms, error_, sizeof error_);
  }
  template <typename T>
  NpuStatus Write(const std::string& name, int32_t input, const std::vector<T>& values) {
    return api_->write(client_, name.c_str(), input, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  std::vector<T> Read(const std::string& name, int32_t output, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(api_->read(client_, name.c_str(), output, values.data(), count * sizeof(T)), kNpuOk);
    return values;
  }

  // Compiles, loads, runs and unloads a graph of float32; returns its outputs.
  std::vector<std::vector<float>> Compute(const NpuGraph& graph,
                                          const std::vector<std::vector<float>>& inputs) {
    std::vector<std::vector<float>> outputs;
    const std::vector<uint8_t> blob = Compile(graph);
    EXPECT_EQ(status_, kNpuOk) << error_;
    EXPECT_EQ(Load("computed", blob), kNpuOk) << error_;
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(Write("computed", static_cast<int32_t>(i), inputs[i]), kNpuOk);
    }
    EXPECT_EQ(Run("computed"), kNpuOk) << error_;
    for (int32_t i = 0; i < graph.output_count; ++i) {
      const NpuTensor& tensor = graph.tensors[graph.outputs[i]];
      outputs.push_back(Read<float>("computed", i, NpuElementCount(&tensor)));
    }
    api_->unload(client_, "computed");
    return outputs;
  }

 private:
  const NpuDeviceApi* api_;
  NpuDevice* device_ = nullptr;
  NpuClient* client_ = nullptr;
  NpuStatus status_;
  char error_[256] = "";
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_NPU_STUB_NPU_SUPPORT_H_
