// SPDX-License-Identifier: Apache-2.0
//
// Runs the plug-in of examples/cpp_delegate in Deputy.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/core/c/c_api.h"
#include "tensorflow/lite/core/c/c_api_experimental.h"
#include "tensorflow/lite/delegates/external/external_delegate.h"
#include "tests/support/paths.h"

namespace deputy::cpp_delegate_test {
namespace {

template <class T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

// An interpreter of multiply_add.tflite with the delegate.
class CppDelegateTest : public testing::Test {
 protected:
  bool Create(const char* key = nullptr, const char* value = nullptr) {
    const std::string plugin = BuildPath("examples/libmultiply_add_delegate.so");
    TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(plugin.c_str());
    if (key != nullptr) options.insert(&options, key, value);
    delegate_.reset(TfLiteExternalDelegateCreate(&options));
    if (delegate_ == nullptr) return false;
    model_.reset(
        TfLiteModelCreateFromFile(SourcePath("examples/cpp_delegate/multiply_add.tflite").c_str()));
    const Owned<TfLiteInterpreterOptions> settings(TfLiteInterpreterOptionsCreate(),
                                                   &TfLiteInterpreterOptionsDelete);
    TfLiteInterpreterOptionsAddDelegate(settings.get(), delegate_.get());
    interpreter_.reset(TfLiteInterpreterCreate(model_.get(), settings.get()));
    return interpreter_ != nullptr &&
           TfLiteInterpreterAllocateTensors(interpreter_.get()) == kTfLiteOk;
  }

  // Builtin numbers of the nodes that run: 51 is a delegate's.
  std::vector<int> Plan() const {
    int32_t count = 0;
    const int32_t* plan = DeputyInterpreterGetExecutionPlan(interpreter_.get(), 0, &count);
    std::vector<int> codes;
    for (int32_t i = 0; i < count; ++i) {
      codes.push_back(
          DeputyInterpreterGetNode(interpreter_.get(), 0, plan[i])->registration.builtin_code);
    }
    return codes;
  }

  std::vector<float> Run() {
    const float x[] = {1, 2, 3, 4, 5, 6};
    const float y[] = {2, 2, 2, -1, -1, -1};
    std::vector<float> result(6);
    TfLiteInterpreter* interpreter = interpreter_.get();
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x, sizeof x);
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 1), y, sizeof y);
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return {};
    TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), result.data(),
                             result.size() * sizeof(float));
    return result;
  }

  // The delegate outlives the interpreter.
  Owned<TfLiteDelegate> delegate_{nullptr, &TfLiteExternalDelegateDelete};
  Owned<TfLiteModel> model_{nullptr, &TfLiteModelDelete};
  Owned<TfLiteInterpreter> interpreter_{nullptr, &TfLiteInterpreterDelete};
};

const std::vector<float> kResult = {-1.5F, -2.5F, -3.5F, 4, 5, 6};

TEST_F(CppDelegateTest, runs_two_partitions) {
  ASSERT_TRUE(Create());
  EXPECT_EQ(Plan(), (std::vector<int>{51, 59, 51}));
  EXPECT_EQ(Run(), kResult);
  EXPECT_EQ(Run(), kResult);
}

TEST_F(CppDelegateTest, leaves_small_partitions_to_the_interpreter) {
  ASSERT_TRUE(Create("min_nodes", "2"));
  EXPECT_EQ(Plan(), (std::vector<int>{51, 59, 0}));
  EXPECT_EQ(Run(), kResult);
}

TEST_F(CppDelegateTest, limits_the_number_of_partitions) {
  ASSERT_TRUE(Create("max_partitions", "1"));
  EXPECT_EQ(Plan(), (std::vector<int>{51, 59, 0}));
  EXPECT_EQ(Run(), kResult);
}

TEST_F(CppDelegateTest, rejects_unknown_options) {
  EXPECT_FALSE(Create("min_nodes", "two"));
  EXPECT_FALSE(Create("speed", "1"));
}

}  // namespace
}  // namespace deputy::cpp_delegate_test
