// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/instance.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <exception>
#include <map>

#include "deputy/c_api_experimental.h"
#include "deputy/common.h"

namespace deputy::triton {
namespace {

// The clock that the server prescribes for statistics.
uint64_t Now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

size_t ElementCount(const Shape& shape) {
  size_t count = 1;
  for (const int64_t dimension : shape) count *= static_cast<size_t>(dimension);
  return count;
}

}  // namespace

Error Instance::Create(const Model& model, std::unique_ptr<Instance>* instance) {
  std::unique_ptr<Instance> made(new Instance(model));
  DEPUTY_TRY(CreateDelegates(model.settings(), &made->delegates_));
  DEPUTY_TRY(model.NewInterpreter(made->delegates_, &made->interpreter_));
  made->inputs_.resize(model.inputs().size());
  made->ReportNodes();
  *instance = std::move(made);
  return nullptr;
}

std::string Instance::RunnerName(const DeputyDelegateInfo& info) const {
  if (model_.settings().isolate.empty()) return info.name;
  // All isolated delegates have the name of the plug-in that starts their processes.
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (delegates_[i].get() == info.delegate) return model_.settings().delegates[i].library;
  }
  return info.name;
}

void Instance::ReportNodes() const {
  int32_t delegated = 0, total = 0;
  DeputyInterpreterCheckDelegation(interpreter_.get(), kDeputyRequireNothing, &delegated, &total);
  std::map<std::string, int> nodes = {{"CPU", total - delegated}};
  for (int i = 0; i < DeputyInterpreterGetDelegateCount(interpreter_.get()); ++i) {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetDelegateInfo(interpreter_.get(), i, &info) != kTfLiteOk) continue;
    const std::string runner = RunnerName(info);
    nodes[runner] += info.applied != 0 ? info.node_count : 0;
    const std::string text = "model '" + model_.name() + "': delegate '" + runner + "' ";
    if (info.failure[0] != '\0') {
      Log(kLogWarning, text + "cannot be applied: " + info.failure);
    } else {
      Log(kLogInfo, text + "runs " + std::to_string(info.node_count) + " of " +
                        std::to_string(total) + " nodes");
    }
  }
  for (const auto& [runner, count] : nodes) model_.metrics().SetNodes(runner, count);
}

void Instance::Execute(TRITONBACKEND_ModelInstance* triton, TRITONBACKEND_Request** requests,
                       uint32_t count) {
  Times all;
  all.images = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Times times;
    Serve(triton, requests[i], &times);
    if (i == 0) {
      all.begin = times.begin;
      all.compute_begin = times.compute_begin;
    }
    all.images += times.images;
    all.compute_end = times.compute_end;
    all.end = times.end;
  }
  LogIfError(Error(TRITONBACKEND_ModelInstanceReportBatchStatistics(
                 triton, all.images, all.begin, all.compute_begin, all.compute_end, all.end)),
             "statistics cannot be reported");
  // Last, because Triton 2.51 may crash if the model is unloaded between the release of its last
  // request and the end of this call.
  for (uint32_t i = 0; i < count; ++i) {
    LogIfError(Error(TRITONBACKEND_RequestRelease(requests[i], kReleaseAll)),
               "a request cannot be released");
  }
}

void Instance::Serve(TRITONBACKEND_ModelInstance* triton, TRITONBACKEND_Request* request,
                     Times* times) {
  times->begin = times->compute_begin = times->compute_end = Now();
  TRITONBACKEND_Response* response = nullptr;
  Error error(TRITONBACKEND_ResponseNew(&response, request));
  if (error != nullptr) {
    LogIfError(std::move(error), "a request gets no response");
    error = MakeError(kErrorInternal, "no response");
    response = nullptr;
  } else {
    try {
      error = Run(request, response, times);
    } catch (const std::exception& exception) {
      error.reset(TRITONSERVER_ErrorNew(kErrorInternal, exception.what()));
    }
  }
  times->end = Now();
  if (response != nullptr) {
    LogIfError(Error(TRITONBACKEND_ResponseSend(response, kResponseFinal, error.get())),
               "a response cannot be sent");
  }
  LogIfError(Error(TRITONBACKEND_ModelInstanceReportStatistics(triton, request, error == nullptr,
                                                               times->begin, times->compute_begin,
                                                               times->compute_end, times->end)),
             "statistics cannot be reported");
}

Error Instance::Run(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response,
                    Times* times) {
  uint32_t flags = kSequenceStart;
  if (model_.settings().has_sequences) DEPUTY_TRY(TRITONBACKEND_RequestFlags(request, &flags));
  DEPUTY_TRY(ReadInputs(request, &times->images));
  DEPUTY_TRY(ReadOutputNames(request));
  DEPUTY_TRY(Prepare());
  DEPUTY_TRY(CheckContents(times->images));
  times->compute_begin = times->compute_end = Now();
  for (uint64_t image = 0; image < times->images; ++image) {
    for (size_t i = 0; i < inputs_.size(); ++i) DEPUTY_TRY(FillInput(i, image, times->images));
    DEPUTY_TRY(RunImage(image, (flags & kSequenceStart) != 0));
  }
  times->compute_end = Now();
  return WriteOutputs(response, times->images);
}

Error Instance::ReadInputs(TRITONBACKEND_Request* request, uint64_t* images) {
  *images = 1;
  for (size_t i = 0; i < inputs_.size(); ++i) DEPUTY_TRY(ReadInput(request, i, images));
  return nullptr;
}

Error Instance::ReadInput(TRITONBACKEND_Request* request, size_t index, uint64_t* images) {
  const TensorInfo& info = model_.inputs()[index];
  TRITONBACKEND_Input* input = nullptr;
  DEPUTY_TRY(TRITONBACKEND_RequestInput(request, info.name.c_str(), &input));
  int type = 0;
  const int64_t* shape = nullptr;
  uint32_t rank = 0, buffer_count = 0;
  uint64_t bytes = 0;
  DEPUTY_TRY(
      TRITONBACKEND_InputProperties(input, nullptr, &type, &shape, &rank, &bytes, &buffer_count));
  if (type != info.type->triton) {
    return Invalid(info.Label() + ": expected " + info.type->name + ", found " + NameOfType(type));
  }
  Input& received = inputs_[index];
  DEPUTY_TRY(ReadShape(info, Shape(shape, shape + rank), index == 0, &received, images));
  received.bytes = {};
  received.gathered.clear();
  for (uint32_t b = 0; b < buffer_count; ++b) {
    const void* buffer = nullptr;
    uint64_t size = 0;
    int memory = kMemoryCpu;
    int64_t memory_id = 0;
    DEPUTY_TRY(TRITONBACKEND_InputBuffer(input, b, &buffer, &size, &memory, &memory_id));
    if (memory == kMemoryGpu) {
      return MakeError(kErrorUnsupported, info.Label() + " is in the memory of a GPU");
    }
    const std::string_view part(static_cast<const char*>(buffer), size);
    if (buffer_count == 1) {
      received.bytes = part;
    } else {
      received.gathered += part;
    }
  }
  if (buffer_count > 1) received.bytes = received.gathered;
  return nullptr;
}

Error Instance::ReadShape(const TensorInfo& info, Shape shape, bool is_first, Input* input,
                          uint64_t* images) const {
  const auto refuse = [&, found = shape] {
    return Invalid(info.Label() + ": expected " + ShapeText(info.ConfigShape()) +
                   (model_.is_batched() ? " for each image" : "") + ", found " + ShapeText(found));
  };
  if (std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0 || d > INT_MAX; })) {
    return refuse();
  }
  if (model_.is_batched()) {
    if (shape.empty() || shape[0] < 1) return refuse();
    const auto count = static_cast<uint64_t>(shape[0]);
    if (!is_first && count != *images) {
      return Invalid(info.Label() + ": expected " + std::to_string(*images) + " images, found " +
                     std::to_string(count));
    }
    *images = count;
    shape.erase(shape.begin());
  }
  if (info.shape.empty() && shape == Shape{1}) shape.clear();
  if (shape.size() != info.shape.size()) return refuse();
  if (model_.is_batched()) shape.insert(shape.begin(), 1);
  input->shape = std::move(shape);
  return nullptr;
}

Error Instance::RefuseShapes() const {
  std::string text;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& info = model_.inputs()[i];
    Shape shape = inputs_[i].shape;
    if (model_.is_batched()) shape.erase(shape.begin());
    if (shape == info.shape) continue;
    text += (text.empty() ? "" : "; ") + info.Label() + ": expected " +
            ShapeText(info.ConfigShape()) + ", found " + ShapeText(shape);
  }
  return Invalid((text.empty() ? "input shapes" : text) + ", which the model does not accept: " +
                 DeputyInterpreterLastError(interpreter_.get()));
}

Error Instance::Prepare() {
  TfLiteInterpreter* const interpreter = interpreter_.get();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const Shape& shape = inputs_[i].shape;
    if (shape == ShapeOf(TfLiteInterpreterGetInputTensor(interpreter, index))) continue;
    is_allocated_ = false;
    const std::vector<int> dims(shape.begin(), shape.end());
    if (TfLiteInterpreterResizeInputTensor(interpreter, index, dims.data(),
                                           static_cast<int32_t>(dims.size())) != kTfLiteOk) {
      return RefuseShapes();
    }
  }
  if (is_allocated_) return nullptr;
  if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return RefuseShapes();
  is_allocated_ = true;
  return nullptr;
}

Error Instance::CheckContents(uint64_t images) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const TensorInfo& info = model_.inputs()[i];
    Input& input = inputs_[i];
    const TfLiteTensor* const tensor =
        TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(i));
    if (info.type->tflite == kTfLiteString) {
      DEPUTY_TRY(SplitStrings(info.Label(), input.bytes, images * ElementCount(input.shape),
                              &input.strings));
    } else if (input.bytes.size() != images * TfLiteTensorByteSize(tensor)) {
      return Invalid(info.Label() + ": expected " +
                     std::to_string(images * TfLiteTensorByteSize(tensor)) + " bytes, found " +
                     std::to_string(input.bytes.size()));
    }
  }
  return nullptr;
}

Error Instance::ReadOutputNames(TRITONBACKEND_Request* request) {
  uint32_t count = 0;
  DEPUTY_TRY(TRITONBACKEND_RequestOutputCount(request, &count));
  outputs_.resize(count);
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    DEPUTY_TRY(TRITONBACKEND_RequestOutputName(request, i, &name));
    const auto& infos = model_.outputs();
    const auto info = std::find_if(infos.begin(), infos.end(),
                                   [&](const TensorInfo& each) { return each.name == name; });
    if (info == infos.end()) {
      return Invalid(std::string("the model has no output '") + name + "'");
    }
    outputs_[i].index = static_cast<int>(info - infos.begin());
    outputs_[i].bytes.clear();
  }
  return nullptr;
}

Error Instance::FillInput(size_t index, uint64_t image, uint64_t images) {
  const Input& input = inputs_[index];
  const TensorInfo& info = model_.inputs()[index];
  TfLiteTensor* const tensor =
      TfLiteInterpreterGetInputTensor(interpreter_.get(), static_cast<int32_t>(index));
  if (TfLiteTensorType(tensor) == kTfLiteString) {
    const size_t count = input.strings.size() / images;
    const auto first = input.strings.begin() + static_cast<ptrdiff_t>(image * count);
    if (!WriteStrings({first, first + static_cast<ptrdiff_t>(count)}, tensor)) {
      return MakeError(kErrorInternal, info.Label() + ": out of memory");
    }
    return nullptr;
  }
  const size_t bytes = TfLiteTensorByteSize(tensor);
  if (bytes == 0) return nullptr;
  void* const data = TfLiteTensorData(tensor);
  if (data == nullptr) return MakeError(kErrorInternal, info.Label() + ": it has no memory");
  std::memcpy(data, input.bytes.data() + image * bytes, bytes);
  return nullptr;
}

Error Instance::RunImage(uint64_t image, bool resets_state) {
  TfLiteInterpreter* const interpreter = interpreter_.get();
  if (model_.has_state() && resets_state &&
      TfLiteInterpreterResetVariableTensors(interpreter) != kTfLiteOk) {
    return MakeError(kErrorInternal, DeputyInterpreterLastError(interpreter));
  }
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) {
    return MakeError(kErrorInternal, DeputyInterpreterLastError(interpreter));
  }
  CountRun();
  for (Output& output : outputs_) DEPUTY_TRY(TakeOutput(image, &output));
  return nullptr;
}

void Instance::CountRun() {
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  if (!delegates_.empty()) DeputyInterpreterGetDelegationStatus(interpreter_.get(), &status);
  const bool is_degraded = status.degraded != 0;
  model_.metrics().CountRuns(1, is_degraded ? 1 : 0);
  if (is_degraded && !is_degraded_) {
    Log(kLogWarning, "model '" + model_.name() +
                         "': the CPU runs nodes of a delegate that failed: " +
                         DeputyInterpreterLastError(interpreter_.get()));
  }
  is_degraded_ = is_degraded;
}

Error Instance::TakeOutput(uint64_t image, Output* output) {
  const TensorInfo& info = model_.outputs()[static_cast<size_t>(output->index)];
  const TfLiteTensor* const tensor =
      TfLiteInterpreterGetOutputTensor(interpreter_.get(), output->index);
  Shape shape = ShapeOf(tensor);
  if (model_.is_batched()) {
    if (shape.empty() || shape[0] != 1) {
      return MakeError(kErrorInternal, info.Label() + ": expected a first dimension of 1, found " +
                                           ShapeText(shape));
    }
    shape.erase(shape.begin());
  }
  if (shape.empty()) shape = {1};
  if (image > 0 && shape != output->shape) {
    return MakeError(kErrorInternal, info.Label() + ": expected " + ShapeText(output->shape) +
                                         " for each image, found " + ShapeText(shape) +
                                         " for image " + std::to_string(image));
  }
  output->shape = std::move(shape);
  if (info.type->tflite == kTfLiteString) {
    if (AppendStrings(tensor, &output->bytes)) return nullptr;
    return MakeError(kErrorInternal, info.Label() + ": its strings are damaged");
  }
  const auto* const data = static_cast<const char*>(TfLiteTensorData(tensor));
  const size_t bytes = TfLiteTensorByteSize(tensor);
  if (bytes == 0) return nullptr;
  if (data == nullptr) return MakeError(kErrorInternal, info.Label() + ": it has no memory");
  output->bytes.append(data, bytes);
  return nullptr;
}

Error Instance::WriteOutputs(TRITONBACKEND_Response* response, uint64_t images) const {
  for (const Output& output : outputs_) {
    const TensorInfo& info = model_.outputs()[static_cast<size_t>(output.index)];
    Shape shape = output.shape;
    if (model_.is_batched()) shape.insert(shape.begin(), static_cast<int64_t>(images));
    TRITONBACKEND_Output* written = nullptr;
    DEPUTY_TRY(TRITONBACKEND_ResponseOutput(response, &written, info.name.c_str(),
                                            info.type->triton, shape.data(),
                                            static_cast<uint32_t>(shape.size())));
    void* buffer = nullptr;
    int memory = kMemoryCpu;
    int64_t memory_id = 0;
    DEPUTY_TRY(
        TRITONBACKEND_OutputBuffer(written, &buffer, output.bytes.size(), &memory, &memory_id));
    if (memory == kMemoryGpu) {
      return MakeError(kErrorUnsupported, info.Label() + " is requested in the memory of a GPU");
    }
    if (!output.bytes.empty()) std::memcpy(buffer, output.bytes.data(), output.bytes.size());
  }
  return nullptr;
}

}  // namespace deputy::triton
