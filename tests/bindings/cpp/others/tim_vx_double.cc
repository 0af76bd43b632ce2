// SPDX-License-Identifier: Apache-2.0
//
// Test double of VeriSilicon's driver library TIM-VX, with its own headers: graphs whose only
// operator is ADD of float32 tensors of one shape. The test replaces every other function that the
// delegate names by a trap, and every other table by zeros (builder.py: stubs_of).
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tim/transform/layout_inference.h"
#include "tim/transform/mean_stddev_normalize_fusion.h"
#include "tim/vx/context.h"
#include "tim/vx/graph.h"
#include "tim/vx/ops/elementwise.h"
#include "tim/vx/tensor.h"

namespace tim::vx {

TensorSpec::TensorSpec(const TensorSpec& other)
    : datatype_(other.datatype_),
      shape_(other.shape_),
      attr_(other.attr_),
      quantization_(other.quantization_) {}

int64_t TensorSpec::GetElementNum() const {
  int64_t count = 1;
  for (uint32_t dim : shape_) count *= dim;
  return count;
}

namespace {

class TensorDouble : public Tensor {
 public:
  TensorDouble(const TensorSpec& spec, const void* data)
      : spec_(spec), values_(static_cast<size_t>(spec.GetElementNum())) {
    if (data != nullptr) CopyDataToTensor(data);
  }
  std::vector<float>& values() { return values_; }

  const ShapeType& GetShape() override { return spec_.shape_; }
  DataType GetDataType() override { return spec_.datatype_; }
  const Quantization& GetQuantization() override { return spec_.quantization_; }
  TensorSpec& GetSpec() override { return spec_; }
  uint32_t GetId() override { return 0; }
  bool CopyDataToTensor(const void* data, uint32_t = 0) override {
    std::memcpy(values_.data(), data, values_.size() * sizeof(float));
    return true;
  }
  bool CopyDataFromTensor(void* data) override {
    std::memcpy(data, values_.data(), values_.size() * sizeof(float));
    return true;
  }
  bool SwapHandle(void*, bool, void**) override { return false; }
  bool SwapHandle(std::shared_ptr<Tensor>) override { return false; }
  bool SwapHandleWithCache(std::shared_ptr<Tensor>) override { return false; }
  bool FlushCacheForHandle() override { return false; }
  bool InvalidateCacheForHandle() override { return false; }
  void* map(bool) override { return nullptr; }
  void unmap() override {}
  bool IsPlaceHolder() override { return false; }
  bool IsConstTensor() override { return spec_.attr_ == TensorAttribute::CONSTANT; }
  bool IsScalar() override { return false; }
  bool SaveTensorToTextByFp32(std::string) override { return false; }
  void SetScalar(int8_t) override {}
  void* ConvertTensorToData(uint8_t*) override { return nullptr; }
  float* ConvertTensorToFloat32Data() override { return nullptr; }

 private:
  TensorSpec spec_;
  std::vector<float> values_;
};

using Tensors = std::vector<std::shared_ptr<Tensor>>;

}  // namespace

class OpImpl {
 public:
  Tensors inputs, outputs;
};

namespace {

std::vector<float>& ValuesOf(const std::shared_ptr<Tensor>& tensor) {
  return static_cast<TensorDouble*>(tensor.get())->values();
}

class GraphDouble : public Graph {
 public:
  void SetCompileOption(const CompileOption&) override {}
  std::shared_ptr<Tensor> CreateTensor(const TensorSpec& spec, const void* data) override {
    return std::make_shared<TensorDouble>(spec, data);
  }
  std::shared_ptr<Tensor> CreateTensor(const TensorSpec&, const DmaBufferDesc&) override {
    return nullptr;
  }
  std::shared_ptr<Tensor> CreateIOTensor(const TensorSpec& spec, void* data) override {
    return CreateTensor(spec, data);
  }
  std::shared_ptr<Tensor> CreateTensorPlaceHolder() override { return nullptr; }
  bool Compile() override { return true; }
  bool CompileToBinary(void*, size_t*) override { return false; }

  bool Run() override {
    for (const std::shared_ptr<Operation>& operation : op_vector_) {
      const OpImpl& op = *operation->impl();
      if (dynamic_cast<ops::Add*>(operation.get()) == nullptr || op.inputs.size() != 2)
        return false;
      const std::vector<float>&a = ValuesOf(op.inputs[0]), &b = ValuesOf(op.inputs[1]);
      std::vector<float>& sum = ValuesOf(op.outputs[0]);
      for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
    }
    return true;
  }

  const Tensors InputsTensor() const override { return {}; }
  const Tensors OutputsTensor() const override { return {}; }
  void UpdateTensorConsumersMap(const std::shared_ptr<Tensor>&, const Operation*) override {}
  void RenewTensorConsumersMap(const std::shared_ptr<Tensor>&, const std::shared_ptr<Tensor>&,
                               const Operation*) override {}
  void UpdateTensorProducerMap(const std::shared_ptr<Tensor>&, const Operation*) override {}
  const std::vector<std::shared_ptr<Operation>> GetConsumersOp(
      std::shared_ptr<Tensor>) const override {
    return {};
  }
  std::shared_ptr<Operation> GetProducerOp(std::shared_ptr<Tensor>) override { return nullptr; }
  void PrintGraph() const override {}
  std::vector<std::shared_ptr<Operation>>& OpVector() override { return op_vector_; }
  std::map<std::shared_ptr<Tensor>, std::vector<std::shared_ptr<Operation>>>& TensorConsumer()
      override {
    return consumers_;
  }
  std::map<std::shared_ptr<Tensor>, std::shared_ptr<Operation>>& TensorProducer() override {
    return producers_;
  }

 private:
  std::map<std::shared_ptr<Tensor>, std::vector<std::shared_ptr<Operation>>> consumers_;
  std::map<std::shared_ptr<Tensor>, std::shared_ptr<Operation>> producers_;
};

class ContextDouble : public Context {
 public:
  std::shared_ptr<Graph> CreateGraph() override { return std::make_shared<GraphDouble>(); }
  std::shared_ptr<Graph> CreateGraph(const CompileOption&) override { return CreateGraph(); }
  bool isClOnly() override { return false; }
  bool hasSP() override { return false; }
};

}  // namespace

std::shared_ptr<Context> Context::Create() { return std::make_shared<ContextDouble>(); }

Operation::Operation() : impl_(new OpImpl()) {}
Operation::~Operation() = default;
Operation& Operation::BindInput(const std::shared_ptr<Tensor>& tensor) {
  impl_->inputs.push_back(tensor);
  return *this;
}
Operation& Operation::BindOutput(const std::shared_ptr<Tensor>& tensor) {
  impl_->outputs.push_back(tensor);
  return *this;
}
Operation& Operation::BindInputs(const Tensors& tensors) {
  for (const std::shared_ptr<Tensor>& tensor : tensors) BindInput(tensor);
  return *this;
}
Operation& Operation::BindOutputs(const Tensors& tensors) {
  for (const std::shared_ptr<Tensor>& tensor : tensors) BindOutput(tensor);
  return *this;
}
std::unique_ptr<OpImpl>& Operation::impl() { return impl_; }
const std::unique_ptr<OpImpl>& Operation::impl() const { return impl_; }
const Tensors Operation::ConstantInputsTensor() const { return {}; }
void Operation::OnBindInputPostProc(const std::shared_ptr<Tensor>&, int32_t) {}

BuiltinOp::BuiltinOp(Graph*, uint32_t, int, int, DataLayout) {}

ops::Add::Add(Graph* graph) : BuiltinOp(graph, 0) {}
std::shared_ptr<Operation> ops::Add::Clone(std::shared_ptr<Graph>&) const { return nullptr; }

}  // namespace tim::vx

namespace tim::transform {

// Maps each tensor to itself, because the double's LayoutInference keeps the graph.
class IdentityMap {
 public:
  static std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>> Of(vx::Graph* graph) {
    std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>> map;
    for (const std::shared_ptr<vx::Operation>& operation : graph->OpVector()) {
      const vx::OpImpl& op = *operation->impl();
      for (const std::shared_ptr<vx::Tensor>& tensor : op.inputs) map[tensor] = tensor;
      for (const std::shared_ptr<vx::Tensor>& tensor : op.outputs) map[tensor] = tensor;
    }
    return map;
  }
};

std::pair<std::shared_ptr<vx::Graph>,
          std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<vx::Tensor>>>
LayoutInference(const std::shared_ptr<vx::Graph>& src_graph, std::shared_ptr<vx::Context>&,
                std::map<std::shared_ptr<vx::Tensor>, std::shared_ptr<IPermuteVector>>) {
  return {src_graph, IdentityMap::Of(src_graph.get())};
}

void MeanStdDevNormalization(std::shared_ptr<vx::Graph>&) {}

}  // namespace tim::transform
