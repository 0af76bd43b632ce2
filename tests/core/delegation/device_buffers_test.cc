// SPDX-License-Identifier: Apache-2.0
//
// Tests examples/device_buffers_delegate.c: values, copies between the device and the host, and
// buffers that are freed.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::device_buffers_test {
namespace {

constexpr int kCpu = kTfLiteBuiltinSin;  // an operator that the delegate does not run

// Returns a chain of unary operators on float32 [4].
std::vector<uint8_t> ChainOf(const std::vector<int>& operators) {
  ModelBuilder m;
  int tensor = m.AddTensor(kTfLiteFloat32, {4}, "x");
  m.SetInputs({tensor});
  for (const int code : operators) {
    const int next = m.AddTensor(kTfLiteFloat32, {4});
    m.AddOp(static_cast<TfLiteBuiltinOperator>(code), {tensor}, {next});
    tensor = next;
  }
  m.SetOutputs({tensor});
  return m.Finish();
}

class DeviceBuffers : public testing::Test {
 protected:
  void Create() {
    delegate_ =
        CreateExternal(BuildPath("examples/libdevice_buffers_delegate.so"), {{"statistics", log_}});
    ASSERT_NE(delegate_, nullptr);
  }
  // Applies the delegate to the chain and checks that it runs `claimed` nodes.
  void Apply(TestInterpreter* t, int claimed) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate_), kTfLiteOk);
    ASSERT_EQ(t->Allocate(), kTfLiteOk);
    int32_t delegated = 0, total = 0;
    DeputyInterpreterCheckDelegation(t->get(), kDeputyRequireNothing, &delegated, &total);
    EXPECT_EQ(delegated, claimed);
  }
  // Destroys the delegate and returns its statistics.
  std::string Statistics() {
    TfLiteExternalDelegateDelete(delegate_);
    return ReadText(log_);
  }

  std::string log_ = ScratchFile("device_buffers");
  TfLiteDelegate* delegate_ = nullptr;
};

const std::vector<float> kInput = {-1, 2, -3, 4};
constexpr int kRelu = kTfLiteBuiltinRelu, kAbs = kTfLiteBuiltinAbs, kNeg = kTfLiteBuiltinNeg,
              kSquare = kTfLiteBuiltinSquare;

TEST_F(DeviceBuffers, tensors_between_partitions_stay_on_the_device) {
  Create();
  {
    TestInterpreter t(ChainOf({kAbs, kNeg, kSquare}));
    Apply(&t, 3);
    for (int i = 0; i < 3; ++i) {
      t.Set(0, kInput);
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      EXPECT_EQ(t.Get<float>(0), (std::vector<float>{1, 4, 9, 16}));
    }
  }
  EXPECT_EQ(Statistics(), "uploads 3, downloads 3, buffers 3, freed 3\n");
}

TEST_F(DeviceBuffers, nodes_on_the_cpu_get_copies) {
  Create();
  {
    TestInterpreter t(ChainOf({kRelu, kCpu, kNeg, kAbs}));
    Apply(&t, 3);
    t.Set(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    const std::vector<float> found = t.Get<float>(0);
    EXPECT_FLOAT_EQ(found[0], 0);
    EXPECT_FLOAT_EQ(found[1], 0.90929743f);
    EXPECT_FLOAT_EQ(found[3], 0.7568025f);
  }
  EXPECT_EQ(Statistics(), "uploads 2, downloads 2, buffers 3, freed 3\n");
}

// A node on the CPU reads the tensor first, so that it is not stale for the node of the delegate.
TEST_F(DeviceBuffers, tensors_that_were_copied_are_read_from_the_host) {
  Create();
  {
    ModelBuilder m;
    std::vector<int> tensors;
    for (int i = 0; i < 4; ++i) tensors.push_back(m.AddTensor(kTfLiteFloat32, {4}));
    m.AddOp(kTfLiteBuiltinAbs, {tensors[0]}, {tensors[1]});
    m.AddOp(kTfLiteBuiltinSin, {tensors[1]}, {tensors[2]});
    m.AddOp(kTfLiteBuiltinNeg, {tensors[1]}, {tensors[3]});
    m.SetInputs({tensors[0]});
    m.SetOutputs({tensors[2], tensors[3]});
    TestInterpreter t(m.Finish());
    Apply(&t, 2);
    t.Set(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(1), (std::vector<float>{-1, -2, -3, -4}));
  }
  EXPECT_EQ(Statistics(), "uploads 2, downloads 2, buffers 2, freed 2\n");
}

TEST_F(DeviceBuffers, outputs_may_stay_on_the_device) {
  Create();
  {
    TestInterpreter t(ChainOf({kAbs, kNeg}));
    Apply(&t, 2);
    TfLiteSetAllowBufferHandleOutput(t.get(), true);
    t.Set(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(t.get(), 0);
    EXPECT_TRUE(output->data_is_stale);
    const int index = TfLiteInterpreterGetOutputTensorIndex(t.get(), 0);
    ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), index), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), (std::vector<float>{-1, -2, -3, -4}));
  }
  EXPECT_EQ(Statistics(), "uploads 1, downloads 1, buffers 2, freed 2\n");
}

TEST_F(DeviceBuffers, handles_stay_after_a_resize) {
  Create();
  {
    TestInterpreter t(ChainOf({kAbs, kNeg}));
    Apply(&t, 2);
    for (const int size : {4, 6, 2}) {
      ASSERT_EQ(t.Resize(0, {size}), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk);
      t.Set(0, std::vector<float>(static_cast<size_t>(size), 5));
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(size), -5));
    }
  }
  EXPECT_EQ(Statistics(), "uploads 3, downloads 3, buffers 2, freed 2\n");
}

TEST_F(DeviceBuffers, agree_with_the_validation_layer) {
  Create();
  {
    TestInterpreter t(ChainOf({kAbs, kCpu, kNeg, kSquare}), [](TfLiteInterpreterOptions* options) {
      DeputyValidationOptions validation = {};
      validation.struct_size = sizeof validation;
      validation.enabled = 1;
      DeputyInterpreterOptionsSetValidation(options, &validation);
    });
    Apply(&t, 3);
    t.Set(0, kInput);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterGetFindingCount(t.get()), 0u);
  }
  EXPECT_EQ(Statistics(), "uploads 2, downloads 2, buffers 3, freed 3\n");
}

TEST_F(DeviceBuffers, refuse_unknown_options) {
  EXPECT_EQ(CreationError(BuildPath("examples/libdevice_buffers_delegate.so"), {{"size", "1"}}),
            "the plug-in returned NULL: expected the option statistics=FILE)");
}

}  // namespace
}  // namespace deputy::device_buffers_test
