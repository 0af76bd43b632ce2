// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph of one node "edgetpu-custom-op" by libedgetpu, with the test double of its driver:
// by the delegate of its C API, and by its kernel and an external context.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "executable/executable_generated.h"
#include "tensorflow/lite/interpreter.h"
#include "tflite/custom_op_data.h"
#include "tflite/public/edgetpu.h"
#include "tflite/public/edgetpu_c.h"

extern int edgetpu_requests;

namespace {

namespace darwinn = platforms::darwinn;

constexpr int kCount = 4;

std::unique_ptr<darwinn::LayerT> NewLayer(const char* name) {
  auto layer = std::make_unique<darwinn::LayerT>();
  layer->name = name;
  layer->size_bytes = kCount;
  layer->y_dim = layer->x_dim = 1;
  layer->z_dim = kCount;
  layer->data_type = darwinn::DataType_FIXED_POINT8;
  layer->execution_count_per_inference = 1;
  return layer;
}

// Returns a package with one executable that maps kCount bytes to kCount bytes.
std::string MakePackage() {
  darwinn::ExecutableT executable;
  executable.batch_size = 1;
  executable.input_layers.push_back(NewLayer("input"));
  executable.input_layers[0]->any_layer.Set(darwinn::InputLayerT());
  executable.output_layers.push_back(NewLayer("output"));
  executable.output_layers[0]->any_layer.Set(darwinn::OutputLayerT());
  flatbuffers::FlatBufferBuilder inner, middle, outer;
  inner.Finish(darwinn::Executable::Pack(inner, &executable));
  darwinn::MultiExecutableT executables;
  executables.serialized_executables.emplace_back(
      reinterpret_cast<const char*>(inner.GetBufferPointer()), inner.GetSize());
  middle.Finish(darwinn::MultiExecutable::Pack(middle, &executables));
  darwinn::PackageT package;
  package.serialized_multi_executable.assign(middle.GetBufferPointer(),
                                             middle.GetBufferPointer() + middle.GetSize());
  package.min_runtime_version = 1;
  outer.Finish(darwinn::Package::Pack(outer, &package), "DWN1");
  return std::string(reinterpret_cast<const char*>(outer.GetBufferPointer()), outer.GetSize());
}

// Returns the options of the node. They outlive the interpreters, which do not copy them.
const std::vector<uint8_t>& NodeOptions() {
  static const std::vector<uint8_t> options = [] {
    const std::string package = MakePackage();
    darwinn::tflite::CustomOpData data;
    data.version = 1;
    data.executables.push_back({package.data(), package.size()});
    return darwinn::tflite::SerializeCustomOpData(data)->GetBuffer();
  }();
  return options;
}

bool BuildGraph(tflite::Interpreter& interpreter, const TfLiteRegistration& op) {
  const TfLiteQuantization none = {kTfLiteNoQuantization, nullptr};
  bool good = interpreter.AddTensors(2) == kTfLiteOk && interpreter.SetInputs({0}) == kTfLiteOk &&
              interpreter.SetOutputs({1}) == kTfLiteOk;
  for (int tensor : {0, 1}) {
    good &= interpreter.SetTensorParametersReadWrite(
                tensor, kTfLiteUInt8, "", std::vector<int>{1, kCount}, none) == kTfLiteOk;
  }
  return good && interpreter.AddNodeWithParameters(
                     {0}, {1}, reinterpret_cast<const char*>(NodeOptions().data()),
                     NodeOptions().size(), nullptr, &op) == kTfLiteOk;
}

bool Infers(tflite::Interpreter& interpreter, const char* kernel, int requests) {
  if (interpreter.AllocateTensors() != kTfLiteOk || interpreter.execution_plan().size() != 1) {
    return false;
  }
  const auto* node = interpreter.node_and_registration(interpreter.execution_plan()[0]);
  if (std::strcmp(node->second.custom_name, kernel) != 0) return false;
  const uint8_t input[kCount] = {0, 10, 200, 255};
  std::memcpy(interpreter.typed_input_tensor<uint8_t>(0), input, kCount);
  if (interpreter.Invoke() != kTfLiteOk || edgetpu_requests != requests) return false;
  const uint8_t expected[kCount] = {3, 13, 203, 2};
  return std::memcmp(interpreter.typed_output_tensor<uint8_t>(0), expected, kCount) == 0;
}

bool RunsByDelegate() {
  size_t count = 0;
  edgetpu_device* devices = edgetpu_list_devices(&count);
  if (count != 1) return false;
  TfLiteDelegate* delegate = edgetpu_create_delegate(devices[0].type, devices[0].path, nullptr, 0);
  edgetpu_free_devices(devices);
  bool good = delegate != nullptr;
  if (good) {
    TfLiteRegistration op = {};
    op.builtin_code = kTfLiteBuiltinCustom;
    op.custom_name = edgetpu::kCustomOp;
    tflite::Interpreter interpreter;
    good = BuildGraph(interpreter, op) &&
           interpreter.ModifyGraphWithDelegate(delegate) == kTfLiteOk &&
           Infers(interpreter, "EdgeTpuDelegateForCustomOp", 1);
  }
  edgetpu_free_delegate(delegate);
  return good;
}

bool RunsByKernel() {
  const auto context = edgetpu::EdgeTpuManager::GetSingleton()->OpenDevice();
  TfLiteRegistration op = *edgetpu::RegisterCustomOp();
  op.builtin_code = kTfLiteBuiltinCustom;
  op.custom_name = edgetpu::kCustomOp;
  tflite::Interpreter interpreter;
  interpreter.SetExternalContext(kTfLiteEdgeTpuContext, context.get());
  return BuildGraph(interpreter, op) && Infers(interpreter, edgetpu::kCustomOp, 2);
}

}  // namespace

int main() {
  if (!RunsByDelegate()) return 1;
  return RunsByKernel() ? 0 : 2;
}
