// SPDX-License-Identifier: Apache-2.0
#include "tests/support/built_interpreter.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace deputy {

BuiltInterpreter::BuiltInterpreter(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptions* const own =
      options == nullptr ? TfLiteInterpreterOptionsCreate() : TfLiteInterpreterOptionsCopy(options);
  TfLiteInterpreterOptionsSetErrorReporter(
      own,
      [](void* log, const char* format, va_list args) {
        char text[1024];
        vsnprintf(text, sizeof text, format, args);
        *static_cast<std::string*>(log) += text + std::string("\n");
      },
      &log_);
  interpreter_ = DeputyInterpreterCreateEmpty(own);
  TfLiteInterpreterOptionsDelete(own);
}

BuiltInterpreter::~BuiltInterpreter() { TfLiteInterpreterDelete(interpreter_); }

DeputyTensorParameters BuiltInterpreter::Floats(const std::vector<int>& dims) {
  DeputyTensorParameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.type = kTfLiteFloat32;
  parameters.name = "x";
  parameters.dims = dims.data();
  parameters.rank = static_cast<int32_t>(dims.size());
  return parameters;
}

int BuiltInterpreter::AddFloats(int count, const std::vector<int>& dims, int subgraph) {
  int first = -1;
  EXPECT_EQ(DeputyInterpreterAddTensors(interpreter_, subgraph, count, &first), kTfLiteOk);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(Set(first + i, Floats(dims), subgraph), kTfLiteOk) << log_;
  }
  return first;
}

TfLiteStatus BuiltInterpreter::AddNode(const std::vector<int>& inputs,
                                       const std::vector<int>& outputs,
                                       const TfLiteRegistration* registration, void* builtin_data,
                                       int subgraph) {
  DeputyNodeParameters parameters{};
  parameters.struct_size = sizeof parameters;
  parameters.inputs = inputs.data();
  parameters.input_count = static_cast<int32_t>(inputs.size());
  parameters.outputs = outputs.data();
  parameters.output_count = static_cast<int32_t>(outputs.size());
  parameters.builtin_data = builtin_data;
  parameters.registration = registration;
  return DeputyInterpreterAddNode(interpreter_, subgraph, &parameters, nullptr);
}

void BuiltInterpreter::SetInputs(const std::vector<int>& tensors, int subgraph) {
  EXPECT_EQ(DeputyInterpreterSetInputs(interpreter_, subgraph, tensors.data(),
                                       static_cast<int32_t>(tensors.size())),
            kTfLiteOk);
}

void BuiltInterpreter::SetOutputs(const std::vector<int>& tensors, int subgraph) {
  EXPECT_EQ(DeputyInterpreterSetOutputs(interpreter_, subgraph, tensors.data(),
                                        static_cast<int32_t>(tensors.size())),
            kTfLiteOk);
}

void BuiltInterpreter::Write(int tensor, const std::vector<float>& values, int subgraph) {
  TfLiteTensor* const target = Tensor(tensor, subgraph);
  ASSERT_EQ(target->bytes, values.size() * sizeof(float));
  ASSERT_NE(target->data.raw, nullptr);
  memcpy(target->data.raw, values.data(), target->bytes);
}

std::vector<float> BuiltInterpreter::Read(int tensor, int subgraph) const {
  const TfLiteTensor* const source = Tensor(tensor, subgraph);
  if (source->data.raw == nullptr) return {};
  return {source->data.f, source->data.f + source->bytes / sizeof(float)};
}

std::vector<int> BuiltInterpreter::Plan(int subgraph) const {
  int32_t count = -1;
  const int32_t* const nodes = DeputyInterpreterGetExecutionPlan(interpreter_, subgraph, &count);
  return {nodes, nodes + count};
}

int Doubler::prepared = 0;
int Doubler::invoked = 0;
int Doubler::alive = 0;

TfLiteRegistration Doubler::Registration() {
  prepared = invoked = 0;
  TfLiteRegistration registration{};
  registration.builtin_code = kTfLiteBuiltinCustom;
  registration.custom_name = "Doubler";
  registration.version = 1;
  registration.init = [](TfLiteContext*, const char*, size_t) -> void* {
    ++alive;
    return &alive;
  };
  registration.free = [](TfLiteContext*, void*) { --alive; };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    ++prepared;
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                                 TfLiteIntArrayCopy(input.dims));
  };
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    ++invoked;
    const TfLiteTensor& input = context->tensors[node->inputs->data[0]];
    TfLiteTensor& output = context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < input.bytes / sizeof(float); ++i) {
      output.data.f[i] = 2 * input.data.f[i];
    }
    return kTfLiteOk;
  };
  return registration;
}

}  // namespace deputy
