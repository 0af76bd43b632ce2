// SPDX-License-Identifier: Apache-2.0
//
// Tasks of a plug-in's delegate that computes z = x + y on host memory, through the C API.
#ifndef DEPUTY_TESTS_SUPPORT_ADD_TASKS_H_
#define DEPUTY_TESTS_SUPPORT_ADD_TASKS_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>

#include "c_api/include/interop_attribute_map.h"
#include "tests/support/async_case.h"

namespace deputy {

// Convert a descriptor to the pointer of a synchronisation object, and back.
inline void* PointerOf(int descriptor) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(descriptor));
}
inline int DescriptorOf(const async_case::Sync& sync) {
  return static_cast<int>(reinterpret_cast<intptr_t>(TfLiteSynchronizationGetPtr(sync.get())));
}

// An interpreter with the delegate and three tasks, whose results are 10 + i, 22 and 33.
class AddTasks {
 public:
  struct Task {
    std::array<float, 3> x{0, 2, 3}, y{10, 20, 30}, z{0, 0, 0};
    TfLiteExecutionTask* task = nullptr;
    async_case::Sync in{TfLiteSynchronizationCreate()}, out{TfLiteSynchronizationCreate()};
  };

  // The objects of input x and of the output are eventfds if `has_events`.
  explicit AddTasks(TfLiteDelegate* delegate, bool has_events = false)
      : own_(std::make_unique<TestInterpreter>(async_case::AsyncModel(async_case::kTwo))),
        t_(*own_) {
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_.get(), delegate), kTfLiteOk) << t_.log();
    EXPECT_EQ(t_.Allocate(), kTfLiteOk) << t_.log();
    t_.ClearLog();
    MakeTasks("serve", has_events);
  }
  // Makes tasks of another kernel of the same node. `first` must outlive the object.
  AddTasks(AddTasks* first, bool has_events) : t_(first->t_) { MakeTasks("same", has_events); }
  ~AddTasks() {
    for (const Task& task : tasks_) {
      if (task.task != nullptr) TfLiteAsyncSignatureRunnerFinish(runner_.get(), task.task);
    }
  }
  AddTasks(const AddTasks&) = delete;
  AddTasks& operator=(const AddTasks&) = delete;

  bool has_kernel() const { return has_kernel_; }
  std::array<Task, 3>& tasks() { return tasks_; }
  TestInterpreter& t() { return t_; }
  TfLiteStatus Start(const Task& task) {
    return TfLiteAsyncSignatureRunnerInvokeAsync(runner_.get(), task.task);
  }
  TfLiteStatus Wait(const Task& task) {
    return TfLiteAsyncSignatureRunnerWait(runner_.get(), task.task);
  }
  // Returns true if the task has its results.
  static bool IsComputed(const Task& task) {
    return task.z == std::array<float, 3>{task.x[0] + 10, 22, 33};
  }

 private:
  void MakeTasks(const char* signature, bool has_events) {
    runner_.reset(TfLiteInterpreterGetAsyncSignatureRunner(t_.get(), signature));
    const char* const* types = nullptr;
    size_t count = 0;
    has_kernel_ = TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(
                      runner_.get(), kTfLiteIoTypeInput, &types, &count) == kTfLiteOk;
    if (!has_kernel_) return;
    for (const int tensor : {0, 2}) {
      const TfLiteStatus status = has_events ? UseEventFd(tensor) : kTfLiteOk;
      EXPECT_EQ(status, kTfLiteOk) << t_.log();
    }
    for (size_t i = 0; i < tasks_.size(); ++i) {
      Task& task = tasks_[i];
      task.x[0] = static_cast<float>(i);
      task.task = TfLiteAsyncSignatureRunnerCreateTask(runner_.get());
      Use(task, 0, task.x.data()), Use(task, 1, task.y.data()), Use(task, 2, task.z.data());
      TfLiteExecutionTaskSetSyncByIndex(task.task, 0, task.in.get());
      TfLiteExecutionTaskSetSyncByIndex(task.task, 2, task.out.get());
    }
  }
  TfLiteStatus UseEventFd(int tensor) {
    const async_case::Attributes type(TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync));
    TfLiteAttributeMapSetStringSyncAttr(type.get(), kTfLiteSynchronizationAttrKeyObjectTypeName,
                                        "eventfd");
    return TfLiteAsyncSignatureRunnerSetAttributesByIndex(runner_.get(), tensor, type.get());
  }
  void Use(const Task& task, int tensor, void* memory) {
    const async_case::Attributes attributes = async_case::BufferAttributes();
    TfLiteAttributeMapSetSizeTBufferAttr(attributes.get(), kTfLiteBufferAttrKeySize,
                                         3 * sizeof(float));
    const async_case::Holder holder(TfLiteBackendBufferCreate());
    TfLiteBackendBufferSetPtr(holder.get(), memory);
    TfLiteBufferHandle handle = -1;
    EXPECT_EQ(TfLiteAsyncSignatureRunnerRegisterBuffer(runner_.get(), kTfLiteIoTypeInput,
                                                       holder.get(), attributes.get(), &handle),
              kTfLiteOk)
        << t_.log();
    TfLiteExecutionTaskSetBufferByIndex(task.task, tensor, handle);
  }

  const std::unique_ptr<TestInterpreter> own_;
  TestInterpreter& t_;
  async_case::Runner runner_;
  bool has_kernel_ = false;
  std::array<Task, 3> tasks_;
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_ADD_TASKS_H_
