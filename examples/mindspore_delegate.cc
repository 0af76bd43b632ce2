// SPDX-License-Identifier: Apache-2.0
//
// A program with the delegate of MindSpore Lite's tutorial (mindspore_npu_delegate.h). Corrections
// of the tutorial are marked with (*): the tutorial omits the device of the context.
//
//     mindspore_delegate MODEL
//
// Runs the model without and with the delegate on the same input, and prints the kernels that ran
// and the difference of the results.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "mindspore_npu_delegate.h"

namespace {

using mindspore::MSTensor;

std::shared_ptr<mindspore::Context> MakeContext(bool with_delegate) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(2);
  // (*) A context requires at least one device, also with a delegate.
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  if (with_delegate) context->SetDelegate(std::make_shared<npu::NPUDelegate>(3));
  return context;
}

// Runs the model on a fixed input; prints the kernels in execution order.
bool Run(const char* path, bool with_delegate, std::vector<float>* out_values) {
  mindspore::Model model;
  mindspore::Status status = model.Build(path, mindspore::kMindIR, MakeContext(with_delegate));
  if (status != mindspore::kSuccess) {
    std::fprintf(stderr, "Build: %s\n", status.ToString().c_str());
    return false;
  }
  std::vector<MSTensor> inputs = model.GetInputs();
  for (MSTensor& input : inputs) {
    auto* values = static_cast<float*>(input.MutableData());
    for (int64_t i = 0; i < input.ElementNum(); ++i) {
      values[i] = std::sin(static_cast<float>(i) * 0.37F);
    }
  }
  std::printf("%s:", with_delegate ? "with the delegate" : "without");
  const auto print = [](const std::vector<MSTensor>&, const std::vector<MSTensor>&,
                        const mindspore::MSCallBackParam& info) {
    std::printf(" %s", info.node_name.c_str());
    return true;
  };
  std::vector<MSTensor> outputs;
  status = model.Predict(inputs, &outputs, print);
  std::printf("\n");
  if (status != mindspore::kSuccess) {
    std::fprintf(stderr, "Predict: %s\n", status.ToString().c_str());
    return false;
  }
  for (const MSTensor& output : outputs) {
    const float* values = npu::Read(output);
    out_values->insert(out_values->end(), values, values + output.ElementNum());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: mindspore_delegate MODEL\n");
    return 2;
  }
  std::vector<float> plain, delegated;
  if (!Run(argv[1], false, &plain) || !Run(argv[1], true, &delegated)) return 1;
  float difference = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    difference = std::max(difference, std::abs(plain[i] - delegated[i]));
  }
  std::printf("largest difference: %g\n", static_cast<double>(difference));
  return difference < 1e-4F ? 0 : 1;
}
