// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_async_support.h"

#include <dlfcn.h>
#include <poll.h>

#include <cstring>

#include "c_api/include/async_task.h"
#include "c_api/include/deputy.h"
#include "c_api/include/interop_attribute_map.h"
#include "c_api/src/objects.h"
#include "gpu_cl/async.h"

namespace deputy::gpu_cl {
namespace {

const DeputyAsyncRuntime kRuntime = {
    .struct_size = sizeof kRuntime,
    .buffer_ptr = &TfLiteBackendBufferGetPtr,
    .sync_ptr = &TfLiteSynchronizationGetPtr,
    .set_sync_ptr = &TfLiteSynchronizationSetPtr,
    .is_buffer_map = &TfLiteAttributeMapIsBufferAttributeMap,
    .copy_map = &TfLiteAttributeMapCopy,
    .get_size = &TfLiteAttributeMapGetSizeTBufferAttr,
    .set_size = &TfLiteAttributeMapSetSizeTBufferAttr,
    .get_string = &TfLiteAttributeMapGetStringBufferAttr,
    .set_string = &TfLiteAttributeMapSetStringBufferAttr,
    .get_sync_string = &TfLiteAttributeMapGetStringSyncAttr,
    .set_sync_string = &TfLiteAttributeMapSetStringSyncAttr,
    .task_buffer = &TfLiteExecutionTaskGetBufferByIndex,
    .task_sync = &TfLiteExecutionTaskGetSyncByIndex,
    .task_data = &TfLiteExecutionTaskGetDelegateExecutionData,
    .set_task_data = &TfLiteExecutionTaskSetDelegateExecutionData,
};

TfLiteAsyncKernel* FindKernel(Subgraph* subgraph, TfLiteNode* node) {
  return NewAsyncKernel(node->delegate, subgraph->context(), node, &kRuntime);
}

// Returns a function of the OpenCL library that is not in ClApi.
template <typename Function>
Function* FunctionOf(const char* name) {
  void* const library = dlopen(RealCl().library.c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

async_case::Attributes BufferOf(const char* type, size_t bytes, size_t offset) {
  async_case::Attributes attributes = async_case::BufferAttributes(type);
  TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeySize, bytes);
  TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeyOffset, offset);
  return attributes;
}

async_case::Attributes SyncOf(const char* type) {
  async_case::Attributes attributes(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
  TfLiteAttributeMapSetStringSyncAttr(attributes.get(), kTfLiteSynchronizationAttrKeyObjectTypeName,
                                      type);
  return attributes;
}

void* PointerOf(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}

int DescriptorOf(const TfLiteSynchronization* sync) {
  return static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(sync)));
}

bool IsReadable(int descriptor, int timeout_ms) {
  pollfd entry = {descriptor, POLLIN, 0};
  return poll(&entry, 1, timeout_ms) == 1 && (entry.revents & POLLIN) != 0;
}

Bytes ValuesFor(const TfLiteTensor* tensor, int seed) {
  Bytes bytes(TfLiteTensorByteSize(tensor));
  const auto fill = [&](auto first, const auto& value) {
    for (size_t i = 0; i < bytes.size() / sizeof first; ++i) {
      first = static_cast<decltype(first)>(value(static_cast<int>(i) + seed));
      memcpy(bytes.data() + i * sizeof first, &first, sizeof first);
    }
  };
  const auto integer = [](int i) { return i * 5 % 3; };
  switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32:
      fill(float{}, [](int i) { return static_cast<float>(i * 7 % 11) / 4 - 1; });
      break;
    case kTfLiteInt32:
      fill(int32_t{}, integer);
      break;
    case kTfLiteInt16:
      fill(int16_t{}, integer);
      break;
    default:
      fill(uint8_t{}, integer);
  }
  return bytes;
}

AsyncCase::AsyncCase(const std::shared_ptr<const ClApi>& api, const std::vector<uint8_t>& model,
                     const OptionTexts& options)
    : gpu_(api, options), t_(std::make_unique<TestInterpreter>(model, [](auto* created) {
        DeputyInterpreterOptionsSetDelegatePolicy(created, kDeputyPolicyHot);
      })) {
  if (gpu_.get() != nullptr) (void)TfLiteInterpreterModifyGraphWithDelegate(t_->get(), gpu_.get());
  EXPECT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
  if (gpu_.get() == nullptr) {
    problem_ = gpu_.error();
    return;
  }
  t_->ClearLog();
  signature_.emplace(&t_->get()->impl->primary());
  runner_.emplace(&*signature_, &FindKernel);
  runner_->Bind();
  // The types of a runner without a kernel are empty.
  const auto* const types = runner_->SupportedBufferTypes(kTfLiteIoTypeInput);
  if (types == nullptr || types->empty()) {
    problem_ = t_->log().empty() ? "no kernel" : t_->log();
  }
}

AsyncCase::~AsyncCase() { DeleteInterpreter(); }

void AsyncCase::DeleteInterpreter() {
  runner_.reset();
  signature_.reset();
  t_.reset();
}

TfLiteBufferHandle AsyncCase::Register(void* pointer, const async_case::Attributes& attributes) {
  const async_case::Holder holder(TfLiteBackendBufferCreate());
  TfLiteBackendBufferSetPtr(holder.get(), pointer);
  TfLiteBufferHandle handle = -1;
  const TfLiteStatus status =
      runner_->RegisterBuffer(kTfLiteIoTypeInput, holder.get(), attributes.get(), &handle);
  return status == kTfLiteOk ? handle : -1;
}

std::unique_ptr<AsyncTask> AsyncCase::NewTask(int seed) {
  auto made = std::make_unique<AsyncTask>();
  made->task = runner_->CreateTask();
  const auto use = [&](int tensor, Bytes* memory) {
    const TfLiteBufferHandle handle =
        Register(memory->data(), BufferOf("host_memory", memory->size()));
    TfLiteExecutionTaskSetBufferByIndex(made->task, tensor, handle);
  };
  const int inputs = TfLiteInterpreterGetInputTensorCount(t_->get());
  const int outputs = TfLiteInterpreterGetOutputTensorCount(t_->get());
  for (int i = 0; i < inputs; ++i) {
    made->inputs.push_back(ValuesFor(TfLiteInterpreterGetInputTensor(t_->get(), i), seed));
  }
  for (int i = 0; i < outputs; ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetOutputTensor(t_->get(), i);
    made->outputs.emplace_back(TfLiteTensorByteSize(tensor), uint8_t{0xee});
  }
  for (size_t i = 0; i < made->inputs.size(); ++i) use(input(i), &made->inputs[i]);
  for (size_t i = 0; i < made->outputs.size(); ++i) use(output(i), &made->outputs[i]);
  return made;
}

std::vector<Bytes> AsyncCase::Blocking(const AsyncTask& task) {
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(t_->get(), static_cast<int>(i)),
                               task.inputs[i].data(), task.inputs[i].size());
  }
  EXPECT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
  std::vector<Bytes> found;
  for (size_t i = 0; i < task.outputs.size(); ++i)
    found.push_back(t_->Get<uint8_t>(static_cast<int>(i)));
  return found;
}

UserEvent::UserEvent(cl_context context) {
  cl_int code = CL_SUCCESS;
  event_ = FunctionOf<decltype(clCreateUserEvent)>("clCreateUserEvent")(context, &code);
  EXPECT_EQ(code, CL_SUCCESS);
}

UserEvent::~UserEvent() { RealCl().api->ReleaseEvent(event_); }

void UserEvent::Complete(cl_int status) {
  const auto set = FunctionOf<decltype(clSetUserEventStatus)>("clSetUserEventStatus");
  EXPECT_EQ(set(event_, status), CL_SUCCESS);
}

}  // namespace deputy::gpu_cl
