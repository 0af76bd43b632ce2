// SPDX-License-Identifier: Apache-2.0
//
// A program for the API of MindSpore Lite 2.x: a configuration file, a delegate with
// IsDelegateNode and CreateKernel, an inference with Predict() and tensors of texts.
//
//     mindspore_2x MODEL [CONFIGURATION]
//
// MODEL is a .tflite or .ms file with float32 inputs and outputs. The delegate computes Softmax.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/model.h"
#include "include/api/types.h"

namespace {

using mindspore::MSTensor;
using mindspore::kernel::Kernel;

// Computes softmax over the last dimension.
class Softmax : public Kernel {
 public:
  explicit Softmax(Kernel* node) : Kernel(node->inputs(), node->outputs(), nullptr, nullptr) {
    set_name("Softmax of the example");
  }
  int Prepare() override {
    const auto section = GetConfig("example");
    const auto entry = section.find("verbose");
    verbose_ = entry != section.end() && entry->second == "true";
    return mindspore::lite::RET_OK;
  }
  int Execute() override {
    if (verbose_) std::cout << name() << ": " << outputs_[0].ElementNum() << " elements\n";
    const auto* in = static_cast<const float*>(inputs_[0].Data().get());
    auto* out = static_cast<float*>(outputs_[0].MutableData());
    if (in == nullptr || out == nullptr) return mindspore::lite::RET_NULL_PTR;
    const int64_t count = inputs_[0].ElementNum(), depth = inputs_[0].Shape().back();
    for (int64_t row = 0; row < count; row += depth) {
      const float max = *std::max_element(in + row, in + row + depth);
      float sum = 0;
      for (int64_t i = row; i < row + depth; ++i) sum += out[i] = std::exp(in[i] - max);
      for (int64_t i = row; i < row + depth; ++i) out[i] /= sum;
    }
    return mindspore::lite::RET_OK;
  }
  int ReSize() override {
    outputs_[0].SetShape(inputs_[0].Shape());
    return mindspore::lite::RET_OK;
  }

 private:
  bool verbose_ = false;
};

class SoftmaxDelegate : public mindspore::Delegate {
 public:
  mindspore::Status Init() override { return mindspore::kSuccess; }
  // Replaces nothing: IsDelegateNode and CreateKernel claim the nodes. Notes which nodes have
  // parameters that the kernel supports.
  mindspore::Status Build(mindspore::LiteDelegateGraph* model) override {
    for (Kernel* node : *model->nodes()) {
      const bool plain = model->attributes(node).GetFloat("beta", 1) == 1;
      if (node->type() == mindspore::schema::PrimitiveType_Softmax && plain) nodes_.insert(node);
    }
    return mindspore::kSuccess;
  }
  bool IsDelegateNode(const std::shared_ptr<Kernel>& node) override {
    if (nodes_.count(node.get()) == 0) return false;
    const auto* axes = node->primitive()->value_as_Softmax()->axis();
    const MSTensor input = node->inputs()[0];
    const auto last = static_cast<int64_t>(input.Shape().size()) - 1;
    const bool on_last =
        axes != nullptr && axes->size() == 1 && (axes->Get(0) == -1 || axes->Get(0) == last);
    return on_last && last >= 0 && input.DataType() == mindspore::DataType::kNumberTypeFloat32;
  }
  std::shared_ptr<Kernel> CreateKernel(const std::shared_ptr<Kernel>& node) override {
    ++kernels;
    return std::make_shared<Softmax>(node.get());
  }

  int kernels = 0;

 private:
  std::set<Kernel*> nodes_;
};

int Fail(const std::string& call, const mindspore::Status& status) {
  std::cerr << call << ": " << status << "\n";
  return 1;
}

// Packs texts into a tensor, and prints the texts of the tensor.
void PrintTexts() {
  MSTensor* tensor = MSTensor::StringsToTensor("labels", {"cat", "dog"});
  if (tensor == nullptr) return;
  for (const std::string& text : MSTensor::TensorToStrings(*tensor)) std::cout << text << " ";
  std::cout << "\n";
  MSTensor::DestroyTensorPtr(tensor);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mindspore_2x MODEL [CONFIGURATION]\n";
    return 2;
  }
  const auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(2);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  const auto delegate = std::make_shared<SoftmaxDelegate>();
  context->set_delegate(delegate);

  mindspore::Model model;
  if (argc > 2) {
    const mindspore::Status loaded = model.LoadConfig(argv[2]);
    if (loaded.IsError()) return Fail("LoadConfig", loaded);
  }
  const mindspore::Status built = model.Build(argv[1], mindspore::kMindIR, context);
  if (built.IsError()) return Fail("Build", built);
  for (MSTensor& input : model.GetInputs()) {
    auto* values = static_cast<float*>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) values[i] = static_cast<float>(i % 7) - 3;
  }
  const mindspore::Status ran = model.Predict();
  if (ran.IsError()) return Fail("Predict", ran);
  std::cout << mindspore::Version() << "\nkernels of the delegate: " << delegate->kernels << "\n";
  for (const MSTensor& output : model.GetOutputs()) {
    std::cout << output.Name() << ":";
    const auto* values = static_cast<const float*>(output.Data().get());
    const int64_t shown = std::min<int64_t>(output.ElementNum(), 4);
    for (int64_t i = 0; i < shown; ++i) std::cout << " " << values[i];
    std::cout << "\n";
  }
  PrintTexts();
  return 0;
}
