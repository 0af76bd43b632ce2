// SPDX-License-Identifier: Apache-2.0
//
// Support for the tests of MindSpore's API: small models, and a delegate that claims the kernels
// selected by a predicate, computes them with plain loops, and records its calls.
#ifndef DEPUTY_TESTS_MINDSPORE_MINDSPORE_SUPPORT_H_
#define DEPUTY_TESTS_MINDSPORE_MINDSPORE_SUPPORT_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mindspore/context.h"
#include "mindspore/delegate.h"
#include "mindspore/model.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"

namespace deputy {

namespace ms_schema = mindspore::schema;
using mindspore::MSTensor;
using mindspore::kernel::Kernel;
using mindspore::lite::RET_ERROR;
using mindspore::lite::RET_OK;
using DelegateModel = mindspore::DelegateModel<ms_schema::Primitive>;

inline constexpr int kColumns = 4;

// Returns an interpreter that reports no errors; null if the model is refused.
inline Owned<TfLiteInterpreter> SilentInterpreter(const TfLiteModel* model) {
  const Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  TfLiteInterpreterOptionsSetErrorReporter(
      options.get(), [](void*, const char*, va_list) {}, nullptr);
  return Owned<TfLiteInterpreter>(TfLiteInterpreterCreate(model, options.get()));
}

// A model of x[1, 4] through `count` nodes: ADD of {1, 2, 3, 4} + i for even i, otherwise MUL by
// {1, -1, 2, 1}.
inline std::vector<uint8_t> ChainModel(int count) {
  ModelBuilder m;
  int last = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "x");
  m.SetInputs({last});
  for (int i = 0; i < count; ++i) {
    const auto f = static_cast<float>(i);
    const std::vector<float> values = i % 2 == 0 ? std::vector<float>{1 + f, 2 + f, 3 + f, 4 + f}
                                                 : std::vector<float>{1, -1, 2, 1};
    const int c = m.AddConstant<float>(kTfLiteFloat32, {kColumns}, values, "c" + std::to_string(i));
    const int y = m.AddTensor(kTfLiteFloat32, {1, kColumns}, "y" + std::to_string(i));
    if (i % 2 == 0) {
      m.AddOp(kTfLiteBuiltinAdd, {last, c}, {y}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(kTfLiteBuiltinMul, {last, c}, {y}, schema::CreateMulOptions(m.fbb()));
    }
    last = y;
  }
  m.SetOutputs({last});
  return m.Finish();
}

// Returns the result of ChainModel, computed by plain code.
inline std::vector<float> ChainResult(int count, std::vector<float> x) {
  const float factors[kColumns] = {1, -1, 2, 1};
  for (int i = 0; i < count; ++i) {
    for (size_t k = 0; k < x.size(); ++k) {
      const size_t column = k % kColumns;
      x[k] = i % 2 == 0 ? x[k] + static_cast<float>(column + 1) + static_cast<float>(i)
                        : x[k] * factors[column];
    }
  }
  return x;
}

using Records = std::vector<std::string>;

// A kernel that runs consecutive AddFusion, MulFusion (by constants or tensors of the same shape)
// and custom "Mystery", which doubles its input.
class RunKernel : public Kernel {
 public:
  struct Step {
    std::vector<MSTensor> inputs, outputs;
    int type = 0;
    std::vector<float> weights;  // constant operand, copied by Build
  };

  RunKernel(std::vector<Step> steps, mindspore::Boundary boundary, std::shared_ptr<Records> records)
      : Kernel(std::move(boundary.inputs), std::move(boundary.outputs), nullptr, nullptr),
        steps_(std::move(steps)),
        records_(std::move(records)) {}
  ~RunKernel() override {
    records_->push_back("free " + name());
    if (on_free) on_free();
  }

  int Prepare() override {
    records_->push_back("prepare " + name());
    for (Step& step : steps_) {
      for (const MSTensor& tensor : step.inputs) {
        if (tensor.IsConst() != (tensor.Data() != nullptr)) records_->push_back("wrong data");
      }
    }
    return prepare_code;
  }
  int Execute() override {
    records_->push_back("execute " + name());
    if (execute_code != RET_OK) return execute_code;
    for (Step& step : steps_) {
      const auto* in = static_cast<const float*>(step.inputs[0].Data().get());
      auto* out = static_cast<float*>(step.outputs[0].MutableData());
      if (in == nullptr || out == nullptr) return RET_ERROR;
      const float* other = step.weights.data();
      auto period = static_cast<int64_t>(step.weights.size());
      if (period == 0 && step.inputs.size() > 1) {
        other = static_cast<const float*>(step.inputs[1].Data().get());
        period = step.inputs[1].ElementNum();
      }
      for (int64_t i = 0; i < step.outputs[0].ElementNum(); ++i) {
        if (step.type == ms_schema::PrimitiveType_AddFusion) out[i] = in[i] + other[i % period];
        if (step.type == ms_schema::PrimitiveType_MulFusion) out[i] = in[i] * other[i % period];
        if (step.type == ms_schema::PrimitiveType_Custom) out[i] = 2 * in[i];
      }
    }
    return RET_OK;
  }
  int ReSize() override {
    records_->push_back("resize " + name());
    if (resize_code != RET_OK) return resize_code;
    for (Step& step : steps_) step.outputs[0].SetShape(step.inputs[0].Shape());
    return RET_OK;
  }

  int prepare_code = RET_OK, execute_code = RET_OK, resize_code = RET_OK;
  std::function<void()> on_free;

 private:
  std::vector<Step> steps_;
  std::shared_ptr<Records> records_;
};

class RunDelegate : public mindspore::Delegate {
 public:
  using Predicate = std::function<bool(Kernel*, const ms_schema::Primitive&, int position)>;

  explicit RunDelegate(Predicate takes) : claims_(std::move(takes)) {}
  ~RunDelegate() override { records->push_back("delegate gone"); }

  mindspore::Status Init() override {
    records->push_back("init");
    return init_code;
  }
  mindspore::Status Build(DelegateModel* model) override {
    records->push_back("build");
    if (on_build) {
      if (const mindspore::Status status = on_build(model); status != mindspore::kSuccess) {
        return status;
      }
    }
    if (!claims_) return mindspore::kSuccess;
    std::vector<RunKernel::Step> steps;
    auto from = model->BeginKernelIterator();
    int position = 0;
    for (auto iter = from; iter != model->EndKernelIterator(); ++iter, ++position) {
      const ms_schema::Primitive* primitive = model->GetPrimitive(*iter);
      if (primitive != nullptr && claims_(*iter, *primitive, position)) {
        if (steps.empty()) from = iter;
        steps.push_back(StepOf(*iter, *primitive));
      } else if (!steps.empty()) {
        iter = ReplaceRun(model, from, iter, &steps);
      }
    }
    if (!steps.empty()) ReplaceRun(model, from, model->EndKernelIterator(), &steps);
    return mindspore::kSuccess;
  }
  bool StaticShapes() const override { return static_shapes; }

  static RunKernel::Step StepOf(Kernel* kernel, const ms_schema::Primitive& primitive) {
    RunKernel::Step step = {kernel->inputs(), kernel->outputs(), primitive.value_type(), {}};
    if (step.inputs.size() > 1 && step.inputs[1].Data() != nullptr) {
      const auto* weights = static_cast<const float*>(step.inputs[1].Data().get());
      step.weights.assign(weights, weights + step.inputs[1].ElementNum());
    }
    return step;
  }
  RunKernel* NewKernel(DelegateModel* model, mindspore::KernelIter from, mindspore::KernelIter end,
                       std::vector<RunKernel::Step> steps) {
    auto* kernel =
        new RunKernel(std::move(steps), mindspore::FindBoundary(model, from, end), records);
    kernel->set_name("NpuGraph" + std::to_string(graphs_++));
    if (on_kernel) on_kernel(kernel);
    return kernel;
  }

  enum mindspore::StatusCode init_code = mindspore::kSuccess;
  bool static_shapes = false;
  std::function<mindspore::Status(DelegateModel*)> on_build;
  std::function<void(RunKernel*)> on_kernel;
  const std::shared_ptr<Records> records = std::make_shared<Records>();

 private:
  mindspore::KernelIter ReplaceRun(DelegateModel* model, mindspore::KernelIter from,
                                   mindspore::KernelIter end, std::vector<RunKernel::Step>* steps) {
    return model->Replace(from, end, NewKernel(model, from, end, std::exchange(*steps, {})));
  }

  Predicate claims_;
  int graphs_ = 0;
};

inline bool ClaimsAll(Kernel* /*kernel*/, const ms_schema::Primitive& /*primitive*/,
                      int /*position*/) {
  return true;
}

inline std::shared_ptr<mindspore::Context> CpuContext(
    const std::shared_ptr<mindspore::Delegate>& delegate = nullptr) {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  if (delegate != nullptr) context->SetDelegate(delegate);
  return context;
}

// Fills the only input and runs the model; returns an empty vector if that fails.
inline std::vector<float> Predict(mindspore::Model* model, const std::vector<float>& x,
                                  mindspore::Status* out_status = nullptr) {
  std::vector<MSTensor> inputs = model->GetInputs(), outputs;
  if (inputs.size() != 1 || inputs[0].DataSize() != x.size() * sizeof(float)) return {};
  std::copy(x.begin(), x.end(), static_cast<float*>(inputs[0].MutableData()));
  const mindspore::Status status = model->Predict(inputs, &outputs);
  if (out_status != nullptr) *out_status = status;
  if (status != mindspore::kSuccess) return {};
  const auto* values = static_cast<const float*>(outputs[0].Data().get());
  return {values, values + outputs[0].ElementNum()};
}

inline size_t Count(const Records& records, const std::string& prefix) {
  return static_cast<size_t>(
      std::count_if(records.begin(), records.end(),
                    [&prefix](const std::string& line) { return line.rfind(prefix, 0) == 0; }));
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_MINDSPORE_MINDSPORE_SUPPORT_H_
