// SPDX-License-Identifier: Apache-2.0
//
// A delegate in C++ as a plug-in: it runs ADD and MUL of float32 tensors of equal shapes, with no
// activation or RELU; all other nodes stay with the interpreter. The file loads into Deputy and
// into TensorFlow Lite, because its headers need no symbol of the library that loads it.
//
// Options:
//     min_nodes       fewest nodes of a partition that is delegated (default 0: no limit)
//     max_partitions  largest number of partitions that are delegated (default 0: all)
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/context_util.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/delegates/external/external_delegate_interface.h"
#include "tensorflow/lite/delegates/utils/simple_delegate.h"
#include "tensorflow/lite/kernels/kernel_util.h"

namespace {

// Activation of an ADD or a MUL.
TfLiteFusedActivation ActivationOf(const TfLiteNode& node, int builtin_code) {
  return builtin_code == kTfLiteBuiltinAdd
             ? static_cast<const TfLiteAddParams*>(node.builtin_data)->activation
             : static_cast<const TfLiteMulParams*>(node.builtin_data)->activation;
}

// Runs the nodes of one partition.
class MultiplyAddKernel : public tflite::SimpleDelegateKernelInterface {
 public:
  // Copies what Eval needs: the nodes are not available later.
  TfLiteStatus Init(TfLiteContext* context, const TfLiteDelegateParams* params) override {
    for (const int index : tflite::TfLiteIntArrayView(params->nodes_to_replace)) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      TF_LITE_ENSURE_STATUS(context->GetNodeAndRegistration(context, index, &node, &registration));
      operations_.push_back({registration->builtin_code == kTfLiteBuiltinMul,
                             ActivationOf(*node, registration->builtin_code), node->inputs->data[0],
                             node->inputs->data[1], node->outputs->data[0]});
    }
    // The runtime has no memory for tensors that only the nodes of the partition use.
    const tflite::TfLiteIntArrayView outputs(params->output_tensors);
    for (const Operation& operation : operations_) {
      if (std::find(outputs.begin(), outputs.end(), operation.output) == outputs.end()) {
        internal_[operation.output];
      }
    }
    return kTfLiteOk;
  }

  TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* /*node*/) override {
    for (auto& [index, values] : internal_) {
      values.resize(static_cast<std::size_t>(tflite::NumElements(&context->tensors[index])));
    }
    return kTfLiteOk;
  }

  TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* /*node*/) override {
    for (const Operation& operation : operations_) {
      const float* first = ValuesOf(context, operation.first);
      const float* second = ValuesOf(context, operation.second);
      float* output = ValuesOf(context, operation.output);
      const std::int64_t count = tflite::NumElements(&context->tensors[operation.output]);
      for (std::int64_t i = 0; i < count; ++i) {
        const float value =
            operation.is_multiplication ? first[i] * second[i] : first[i] + second[i];
        output[i] = operation.activation == kTfLiteActRelu ? std::max(value, 0.0F) : value;
      }
    }
    return kTfLiteOk;
  }

 private:
  struct Operation {
    bool is_multiplication;
    TfLiteFusedActivation activation;
    int first, second, output;  // indices of tensors
  };

  float* ValuesOf(TfLiteContext* context, int tensor) {
    const auto found = internal_.find(tensor);
    return found == internal_.end() ? context->tensors[tensor].data.f : found->second.data();
  }

  std::vector<Operation> operations_;
  // Values of tensors inside the partition.
  std::map<int, std::vector<float>> internal_;
};

class MultiplyAddDelegate : public tflite::SimpleDelegateInterface {
 public:
  explicit MultiplyAddDelegate(const Options& options) : options_(options) {}

  bool IsNodeSupportedByDelegate(const TfLiteRegistration* registration, const TfLiteNode* node,
                                 TfLiteContext* context) const override {
    if (registration->builtin_code != kTfLiteBuiltinAdd &&
        registration->builtin_code != kTfLiteBuiltinMul) {
      return false;
    }
    const TfLiteTensor* first = tflite::GetInput(context, node, 0);
    const TfLiteTensor* second = tflite::GetInput(context, node, 1);
    const TfLiteFusedActivation activation = ActivationOf(*node, registration->builtin_code);
    return first != nullptr && second != nullptr && first->type == kTfLiteFloat32 &&
           second->type == kTfLiteFloat32 && tflite::HaveSameShapes(first, second) &&
           !tflite::IsDynamicTensor(first) && !tflite::IsDynamicTensor(second) &&
           (activation == kTfLiteActNone || activation == kTfLiteActRelu);
  }

  TfLiteStatus Initialize(TfLiteContext* /*context*/) override { return kTfLiteOk; }

  const char* Name() const override { return "MultiplyAdd"; }

  std::unique_ptr<tflite::SimpleDelegateKernelInterface> CreateDelegateKernelInterface() override {
    return std::make_unique<MultiplyAddKernel>();
  }

  Options DelegateOptions() const override { return options_; }

 private:
  Options options_;
};

// Stores a decimal number from 0 to 1,000,000; returns false for other texts.
bool ReadNumber(const std::string& text, int* number) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 0 || value > 1000000) return false;
  *number = static_cast<int>(value);
  return true;
}

}  // namespace

// Returns null after a report for an unknown option or an invalid value.
TfLiteDelegate* tflite_plugin_create_delegate(const char* const* options_keys,
                                              const char* const* options_values,
                                              std::size_t num_options,
                                              void (*report_error)(const char* message)) {
  tflite::SimpleDelegateInterface::Options options;
  for (std::size_t i = 0; i < num_options; ++i) {
    const std::string key = options_keys[i];
    int* number = nullptr;
    if (key == "min_nodes") number = &options.min_nodes_per_partition;
    if (key == "max_partitions") number = &options.max_delegated_partitions;
    if (number != nullptr && ReadNumber(options_values[i], number)) continue;
    const std::string message = "MultiplyAdd: invalid option " + key + "=" + options_values[i];
    if (report_error != nullptr) report_error(message.c_str());
    return nullptr;
  }
  return tflite::TfLiteDelegateFactory::CreateSimpleDelegate(
      std::make_unique<MultiplyAddDelegate>(options));
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  tflite::TfLiteDelegateFactory::DeleteSimpleDelegate(delegate);
}
