// SPDX-License-Identifier: Apache-2.0
//
// Tests asynchronous kernels of delegates within layers, and of delegates in a process of their
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/add_tasks.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_environment.h"

namespace deputy::layers_async_test {
namespace {

using testing::HasSubstr;

class LayersAsync : public QuietTest {
 protected:
  Handle Npu(const std::string& layers) {
    return {CreateExternal(BuildPath("libdeputy_layers.so"),
                           {{"library", BuildPath("libdeputy_npu_stub.so")}, {"layers", layers}}),
            &DeputyPluginDeleteDelegate};
  }
  // Starts all tasks, waits for them in reverse order, and checks the results.
  static void ExpectResults(AddTasks* tasks) {
    ASSERT_TRUE(tasks->has_kernel()) << tasks->t().log();
    for (const auto& task : tasks->tasks()) {
      EXPECT_EQ(tasks->Start(task), kTfLiteOk) << tasks->t().log();
    }
    for (size_t i = tasks->tasks().size(); i-- > 0;) {
      EXPECT_EQ(tasks->Wait(tasks->tasks()[i]), kTfLiteOk) << tasks->t().log();
      EXPECT_TRUE(AddTasks::IsComputed(tasks->tasks()[i]));
    }
  }
  // Runs the model as a whole.
  static void ExpectBlockingResults(AddTasks* tasks) {
    tasks->t().Set<float>(0, {1, 2, 3});
    tasks->t().Set<float>(1, {10, 20, 30});
    EXPECT_EQ(tasks->t().Invoke(), kTfLiteOk) << tasks->t().log();
    EXPECT_EQ(tasks->t().Get<float>(0), (std::vector<float>{11, 22, 33}));
  }
};

TEST_F(LayersAsync, results_are_equal_in_each_order) {
  const std::string deadline = "deadline=60s", fault = "fault=invoke:1000:fail",
                    delay = "fault=task_start:2:delay:1ms";
  for (const std::string& layers :
       {deadline, deadline + ";" + fault, fault + ";" + deadline,
        deadline + ";" + delay + ";" + fault, fault + ";" + delay + ";" + deadline}) {
    const Handle delegate = Npu(layers);
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    AddTasks tasks(delegate.get());
    ExpectResults(&tasks);
    ExpectBlockingResults(&tasks);
  }
}

TEST_F(LayersAsync, layers_within_layers) {
  const Handle delegate = {CreateExternal(BuildPath("libdeputy_layers.so"),
                                          {{"library", BuildPath("libdeputy_layers.so")},
                                           {"layers", "deadline=60s"},
                                           {"options", "layers=fault=task_wait:1:fail;library=" +
                                                           BuildPath("libdeputy_npu_stub.so")}}),
                           &DeputyPluginDeleteDelegate};
  ASSERT_NE(delegate, nullptr) << DeputyLastError();
  AddTasks tasks(delegate.get());
  ASSERT_TRUE(tasks.has_kernel()) << tasks.t().log();
  const AddTasks::Task& task = tasks.tasks()[0];
  ASSERT_EQ(tasks.Start(task), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(task), kTfLiteError);
  ASSERT_EQ(tasks.Start(task), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(task), kTfLiteOk);
  EXPECT_TRUE(AddTasks::IsComputed(task));
}

TEST_F(LayersAsync, faults_of_the_start) {
  const Handle delegate = Npu("fault=task_start:2:fail");
  AddTasks tasks(delegate.get());
  const auto& [first, second, third] = tasks.tasks();
  EXPECT_EQ(tasks.Start(first), kTfLiteOk);
  EXPECT_EQ(tasks.Start(second), kTfLiteError);
  EXPECT_THAT(tasks.t().log(), HasSubstr("layer fault: task_start fails"));
  EXPECT_EQ(tasks.Start(third), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(first), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(second), kTfLiteError) << "a task that has not started";
  EXPECT_EQ(tasks.Wait(third), kTfLiteOk);
  EXPECT_TRUE(AddTasks::IsComputed(first));
  EXPECT_FALSE(AddTasks::IsComputed(second));
  EXPECT_TRUE(AddTasks::IsComputed(third));
}

// The deadline is outside of the delay.
TEST_F(LayersAsync, deadlines_of_waiting) {
  const Handle delegate = Npu("deadline=task_wait:1ms;fault=task_wait:1:delay:20ms");
  AddTasks tasks(delegate.get());
  const AddTasks::Task& task = tasks.tasks()[0];
  ASSERT_EQ(tasks.Start(task), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(task), kTfLiteOk);
  EXPECT_THAT(tasks.t().log(), HasSubstr("layer deadline: task_wait of kernel 0 took "));
}

TEST_F(LayersAsync, corrupt_needs_outputs_that_the_layer_knows) {
  EXPECT_THAT(CreationError(BuildPath("libdeputy_layers.so"),
                            {{"library", BuildPath("libdeputy_npu_stub.so")},
                             {"layers", "fault=task_wait:1:corrupt"}}),
              HasSubstr("or corrupt for invoke or copy_from, found 'task_wait:1:corrupt'"));
}

// These layers do not support asynchronous kernels and report why; blocking runs pass them.
TEST_F(LayersAsync, layers_that_refuse) {
  const std::string record = ScratchFile("layers_async.dprec");
  const struct {
    std::string layers, reason;
  } kCases[] = {
      {"deadline=60s;record=" + record,
       "layer record: tasks of asynchronous kernels cannot be recorded; use runs of the model"},
      {"deadline=60s;isolate",
       "sandbox: asynchronous kernels cannot be used in a process of their own; use runs of the "
       "model"},
  };
  for (const auto& one : kCases) {
    const Handle delegate = Npu(one.layers);
    ASSERT_NE(delegate, nullptr) << DeputyLastError();
    AddTasks tasks(delegate.get());
    EXPECT_FALSE(tasks.has_kernel());
    EXPECT_THAT(tasks.t().log(), HasSubstr(one.reason));
    EXPECT_THAT(tasks.t().log(), HasSubstr("Backend does not support asynchronous execution."));
    ExpectBlockingResults(&tasks);
  }
  std::filesystem::remove(record);
}

// A delegate without asynchronous kernels has none within layers.
TEST_F(LayersAsync, delegates_without_kernels) {
  const Handle delegate = {
      CreateExternal(BuildPath("libdeputy_layers.so"),
                     {{"library", BuildPath("libdeputy_xnnpack.so")}, {"layers", "deadline=60s"}}),
      &DeputyPluginDeleteDelegate};
  if (delegate == nullptr) GTEST_SKIP() << DeputyLastError();
  const AddTasks tasks(delegate.get());
  EXPECT_FALSE(tasks.has_kernel());
}

TEST_F(LayersAsync, layers_of_the_environment) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment layers("DEPUTY_LAYERS", "fault=task_start:1:fail");
  const Handle delegate = {CreateExternal(BuildPath("libdeputy_npu_stub.so")),
                           TfLiteExternalDelegateDelete};
  ASSERT_NE(delegate, nullptr);
  AddTasks tasks(delegate.get());
  ASSERT_TRUE(tasks.has_kernel()) << tasks.t().log();
  EXPECT_EQ(tasks.Start(tasks.tasks()[0]), kTfLiteError);
  EXPECT_THAT(tasks.t().log(), HasSubstr("layer fault: task_start fails"));
  EXPECT_EQ(tasks.Start(tasks.tasks()[1]), kTfLiteOk);
  EXPECT_EQ(tasks.Wait(tasks.tasks()[1]), kTfLiteOk);
  EXPECT_TRUE(AddTasks::IsComputed(tasks.tasks()[1]));
}

TEST_F(LayersAsync, isolation_of_the_environment) {
  const ScopedEnvironment folder("DEPUTY_PLUGIN_PATH", BuildPath("").c_str());
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "1");
  const Handle delegate = {CreateExternal(BuildPath("libdeputy_npu_stub.so")),
                           TfLiteExternalDelegateDelete};
  ASSERT_NE(delegate, nullptr);
  AddTasks tasks(delegate.get());
  EXPECT_FALSE(tasks.has_kernel());
  EXPECT_THAT(tasks.t().log(), HasSubstr("sandbox: asynchronous kernels cannot be used"));
  ExpectBlockingResults(&tasks);
}

}  // namespace
}  // namespace deputy::layers_async_test
