// SPDX-License-Identifier: Apache-2.0
//
// A complete version of the delegate that MindSpore Lite's tutorial sketches: "NPUDelegate" takes
// sequences of convolutions, additions and RELUs, and replaces each by an "NPUGraph". Corrections
// of the sketch are marked with (*): the sketch drops sequences of one kernel and the sequence at
// the end of the list, leaves the table of operators empty, returns an int instead of a Status, and
// does not determine which tensors of a sequence are read outside of it. mindspore_delegate.cc is a
// program that uses it, mindspore_plugin.cc a library.
#ifndef DEPUTY_EXAMPLES_MINDSPORE_NPU_DELEGATE_H_
#define DEPUTY_EXAMPLES_MINDSPORE_NPU_DELEGATE_H_

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "include/api/delegate.h"

namespace npu {

namespace schema = mindspore::schema;
using mindspore::MSTensor;
using mindspore::lite::RET_ERROR;
using mindspore::lite::RET_OK;

// ---- Operators ----------------------------------------------------------------------------------

inline const float* Read(const MSTensor& tensor) {
  return static_cast<const float*>(tensor.Data().get());
}

// One operator inside an NPUGraph. Constructors copy the attributes, because the kernel's primitive
// is deleted after Build; ConvOp also copies its weights.
class NPUOp {
 public:
  explicit NPUOp(mindspore::kernel::Kernel* kernel)
      : inputs_(kernel->inputs()), outputs_(kernel->outputs()) {}
  NPUOp(const NPUOp&) = delete;
  NPUOp& operator=(const NPUOp&) = delete;
  virtual ~NPUOp() = default;

  virtual std::vector<int64_t> OutputShape() const { return inputs_[0].Shape(); }
  virtual void Compute(float* out) = 0;

  int ReSize() {
    outputs_[0].SetShape(OutputShape());
    return RET_OK;
  }
  int Execute() {
    auto* out = static_cast<float*>(outputs_[0].MutableData());
    if (out == nullptr) return outputs_[0].ElementNum() == 0 ? RET_OK : RET_ERROR;
    Compute(out);
    return RET_OK;
  }

 protected:
  void Activate(schema::ActivationType type, float* values) const {
    const int64_t count = outputs_[0].ElementNum();
    for (int64_t i = 0; i < count; ++i) {
      if (type != schema::ActivationType_NO_ACTIVATION) values[i] = std::max(values[i], 0.0F);
      if (type == schema::ActivationType_RELU6) values[i] = std::min(values[i], 6.0F);
    }
  }

  std::vector<MSTensor> inputs_, outputs_;
};

class AddOp : public NPUOp {
 public:
  AddOp(mindspore::kernel::Kernel* kernel, const schema::Primitive& primitive)
      : NPUOp(kernel), activation_(primitive.value_as_AddFusion()->activation_type()) {}
  void Compute(float* out) override {
    const float *a = Read(inputs_[0]), *b = Read(inputs_[1]);
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) out[i] = a[i] + b[i];
    Activate(activation_, out);
  }

 private:
  schema::ActivationType activation_;
};

class ActivationOp : public NPUOp {
 public:
  ActivationOp(mindspore::kernel::Kernel* kernel, const schema::Primitive& primitive)
      : NPUOp(kernel), type_(primitive.value_as_Activation()->activation_type()) {}
  void Compute(float* out) override {
    std::copy_n(Read(inputs_[0]), outputs_[0].ElementNum(), out);
    Activate(type_, out);
  }

 private:
  schema::ActivationType type_;
};

class ConvOp : public NPUOp {
 public:
  // (*) Attributes that a model does not set are null. IsPlain has checked those that are used
  // here.
  ConvOp(mindspore::kernel::Kernel* kernel, const schema::Primitive& primitive)
      : NPUOp(kernel),
        filter_dims_(inputs_[1].Shape()),
        filter_(Read(inputs_[1]), Read(inputs_[1]) + inputs_[1].ElementNum()) {
    const schema::Conv2DFusion* conv = primitive.value_as_Conv2DFusion();
    stride_.assign(conv->stride()->begin(), conv->stride()->end());
    dilation_.assign(conv->dilation()->begin(), conv->dilation()->end());
    pad_mode_ = conv->pad_mode();
    if (pad_mode_ == schema::PadMode_PAD) {
      pads_.assign(conv->pad_list()->begin(), conv->pad_list()->end());
    }
    activation_ = conv->activation_type();
    if (inputs_.size() > 2) bias_.assign(Read(inputs_[2]), Read(inputs_[2]) + filter_dims_[0]);
  }

  std::vector<int64_t> OutputShape() const override {
    std::vector<int64_t> shape = inputs_[0].Shape();
    for (size_t i = 0; i < 2; ++i) {
      const int64_t in = shape[i + 1];
      shape[i + 1] = pad_mode_ == schema::PadMode_SAME
                         ? (in + stride_[i] - 1) / stride_[i]
                         : (in + pads_[2 * i] + pads_[2 * i + 1] - Extent(i)) / stride_[i] + 1;
    }
    shape[3] = filter_dims_[0];
    return shape;
  }

  void Compute(float* out) override {
    const std::vector<int64_t> in = inputs_[0].Shape(), shape = outputs_[0].Shape();
    const float* image = Read(inputs_[0]);
    for (size_t i = 0; i < 2 && pad_mode_ == schema::PadMode_SAME; ++i) {
      pads_[2 * i] =
          std::max<int64_t>((shape[i + 1] - 1) * stride_[i] + Extent(i) - in[i + 1], 0) / 2;
    }
    float* next = out;
    for (int64_t b = 0; b < shape[0]; ++b, image += in[1] * in[2] * in[3]) {
      for (int64_t y = 0; y < shape[1]; ++y) {
        for (int64_t x = 0; x < shape[2]; ++x) {
          for (int64_t o = 0; o < shape[3]; ++o) *next++ = Sum(image, in, y, x, o);
        }
      }
    }
    Activate(activation_, out);
  }

 private:
  float Sum(const float* image, const std::vector<int64_t>& in, int64_t y, int64_t x,
            int64_t o) const {
    float sum = bias_.empty() ? 0 : bias_[static_cast<size_t>(o)];
    for (int64_t r = 0; r < filter_dims_[1]; ++r) {
      const int64_t in_y = y * stride_[0] - pads_[0] + r * dilation_[0];
      for (int64_t c = 0; c < filter_dims_[2]; ++c) {
        const int64_t in_x = x * stride_[1] - pads_[2] + c * dilation_[1];
        if (in_y < 0 || in_y >= in[1] || in_x < 0 || in_x >= in[2]) continue;
        const float* pixel = image + (in_y * in[2] + in_x) * in[3];
        const float* weight =
            filter_.data() + ((o * filter_dims_[1] + r) * filter_dims_[2] + c) * filter_dims_[3];
        for (int64_t k = 0; k < in[3]; ++k) sum += pixel[k] * weight[k];
      }
    }
    return sum;
  }

  // Returns the number of rows (0) or columns (1) of the image that the filter covers.
  int64_t Extent(size_t axis) const { return (filter_dims_[axis + 1] - 1) * dilation_[axis] + 1; }

  std::vector<int64_t> stride_, dilation_;
  schema::PadMode pad_mode_ = schema::PadMode_PAD;
  std::vector<int64_t> pads_ = {0, 0, 0, 0};  // top, bottom, left, right
  schema::ActivationType activation_ = schema::ActivationType_NO_ACTIVATION;
  std::vector<int64_t> filter_dims_;
  std::vector<float> filter_, bias_;
};

// ---- The kernel ---------------------------------------------------------------------------------

// Replaces a sequence of operators. It owns the tensors between them, whose memory MutableData
// allocates.
class NPUGraph : public mindspore::kernel::Kernel {
 public:
  NPUGraph(std::vector<std::unique_ptr<NPUOp>> ops, mindspore::Boundary boundary)
      : Kernel(std::move(boundary.inputs), std::move(boundary.outputs), nullptr, nullptr),
        ops_(std::move(ops)) {}

  int Prepare() override { return RET_OK; }

  int Execute() override {
    for (const auto& op : ops_) {
      if (const int status = op->Execute(); status != RET_OK) return status;
    }
    return RET_OK;
  }

  int ReSize() override {
    for (const auto& op : ops_) {
      if (const int status = op->ReSize(); status != RET_OK) return status;
    }
    return RET_OK;
  }

 private:
  std::vector<std::unique_ptr<NPUOp>> ops_;
};

// ---- The delegate -------------------------------------------------------------------------------

class NPUDelegate : public mindspore::Delegate {
 public:
  explicit NPUDelegate(int frequency) : frequency_(frequency) {}

  // (*) Fills the table of operators, which the sketch leaves empty.
  mindspore::Status Init() override {
    if (frequency_ < 1 || frequency_ > 4) return mindspore::kLiteNotSupport;
    factories_[schema::PrimitiveType_AddFusion] = Make<AddOp>;
    factories_[schema::PrimitiveType_Activation] = Make<ActivationOp>;
    factories_[schema::PrimitiveType_Conv2DFusion] = Make<ConvOp>;
    return mindspore::kSuccess;  // (*) not RET_OK
  }

  mindspore::Status Build(mindspore::DelegateModel<schema::Primitive>* model) override {
    std::vector<std::unique_ptr<NPUOp>> ops;
    auto from = model->BeginKernelIterator();
    for (auto iter = from; iter != model->EndKernelIterator(); ++iter) {
      std::unique_ptr<NPUOp> op = GetOp(*iter, model->GetPrimitive(*iter));
      if (op != nullptr) {
        if (ops.empty()) from = iter;
        ops.push_back(std::move(op));
      } else if (!ops.empty()) {  // (*) counts operators, so that a sequence of one is replaced
        iter = ReplaceRun(model, from, iter, &ops);
      }
    }
    if (!ops.empty())
      ReplaceRun(model, from, model->EndKernelIterator(), &ops);  // (*) replaces the last sequence
    return mindspore::kSuccess;
  }

  // Reports the reason for each kernel that is not supported.
  bool Explain(mindspore::DelegateModel<schema::Primitive>* model) override {
    constexpr int32_t kOperator = 1, kOther = 99;  // values of DeputyReason
    for (auto iter = model->BeginKernelIterator(); iter != model->EndKernelIterator(); ++iter) {
      const schema::Primitive* primitive = model->GetPrimitive(*iter);
      if (primitive == nullptr || GetOp(*iter, primitive) != nullptr) continue;
      if (factories_.count(primitive->value_type()) == 0) {
        model->Refuse(*iter, kOperator, "only convolutions, additions and RELUs");
      } else {
        model->Refuse(*iter, kOther, "a type, activation, shape or filter that the NPU lacks");
      }
    }
    return true;
  }

 private:
  template <typename Op>
  static std::unique_ptr<NPUOp> Make(mindspore::kernel::Kernel* kernel,
                                     const schema::Primitive& primitive) {
    return std::make_unique<Op>(kernel, primitive);
  }

  // Returns true if a list has `count` values of at least `min`.
  static bool Has(const flatbuffers::Vector<int64_t>* list, size_t count, int64_t min) {
    return list != nullptr && list->size() == count &&
           std::all_of(list->begin(), list->end(), [min](int64_t value) { return value >= min; });
  }

  // Returns true if the attributes are those of a convolution with one group, which a model may
  // violate.
  static bool IsPlain(const schema::Conv2DFusion& conv) {
    return conv.group() == 1 && Has(conv.stride(), 2, 1) && Has(conv.dilation(), 2, 1) &&
           (conv.pad_mode() != schema::PadMode_PAD || Has(conv.pad_list(), 4, 0));
  }

  // Returns true if the NPU has the activation.
  static bool Supports(schema::ActivationType activation) {
    return activation == schema::ActivationType_NO_ACTIVATION ||
           activation == schema::ActivationType_RELU || activation == schema::ActivationType_RELU6;
  }

  // Returns true if the image and the result have at least one row and one column.
  static bool FitsImage(mindspore::kernel::Kernel* kernel, const schema::Primitive& primitive) {
    const std::vector<int64_t> shape = ConvOp(kernel, primitive).OutputShape();
    const std::vector<int64_t> image = kernel->inputs()[0].Shape();
    return image[1] > 0 && image[2] > 0 && shape[1] > 0 && shape[2] > 0;
  }

  static bool SupportsConv(mindspore::kernel::Kernel* kernel, const schema::Primitive& primitive) {
    const std::vector<MSTensor>& inputs = kernel->inputs();
    const schema::Conv2DFusion& conv = *primitive.value_as_Conv2DFusion();
    if (!Supports(conv.activation_type()) || !IsPlain(conv) || inputs[1].Data() == nullptr ||
        inputs[0].Shape().size() != 4 || inputs[1].Shape().size() != 4) {
      return false;
    }
    if (inputs.size() > 2 &&
        (inputs[2].Data() == nullptr || inputs[2].ElementNum() != inputs[1].Shape()[0])) {
      return false;
    }
    return inputs[1].Shape()[3] == inputs[0].Shape()[3] && inputs[1].ElementNum() != 0 &&
           FitsImage(kernel, primitive);
  }

  // Returns the operator, or null if the NPU does not support the kernel.
  std::unique_ptr<NPUOp> GetOp(mindspore::kernel::Kernel* kernel,
                               const schema::Primitive* primitive) const {
    if (primitive == nullptr) return nullptr;
    const auto factory = factories_.find(primitive->value_type());
    if (factory == factories_.end()) return nullptr;
    for (const MSTensor& tensor : kernel->inputs()) {
      if (tensor.DataType() != mindspore::DataType::kNumberTypeFloat32) return nullptr;
    }
    const std::vector<MSTensor>& inputs = kernel->inputs();
    if (const auto* add = primitive->value_as_AddFusion()) {
      if (!Supports(add->activation_type()) || inputs[0].Shape() != inputs[1].Shape()) {
        return nullptr;
      }
    } else if (const auto* activation = primitive->value_as_Activation()) {
      if (!Supports(activation->activation_type())) return nullptr;
    } else if (!SupportsConv(kernel, *primitive)) {
      return nullptr;
    }
    return factory->second(kernel, *primitive);
  }

  // Replaces [from, end) and returns the position after the new kernel; the kernel that ended the
  // sequence is now at this position.
  mindspore::KernelIter ReplaceRun(mindspore::DelegateModel<schema::Primitive>* model,
                                   mindspore::KernelIter from, mindspore::KernelIter end,
                                   std::vector<std::unique_ptr<NPUOp>>* ops) {
    // (*) FindBoundary determines the tensors that cross the boundary.
    auto* graph = new NPUGraph(std::move(*ops), mindspore::FindBoundary(model, from, end));
    ops->clear();
    graph->set_name("NpuGraph" + std::to_string(graphs_++));
    return model->Replace(from, end, graph);
  }

  int frequency_;
  int graphs_ = 0;
  std::map<schema::PrimitiveType, std::function<std::unique_ptr<NPUOp>(mindspore::kernel::Kernel*,
                                                                       const schema::Primitive&)>>
      factories_;
};

}  // namespace npu

#endif  // DEPUTY_EXAMPLES_MINDSPORE_NPU_DELEGATE_H_
