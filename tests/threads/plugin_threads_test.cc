// SPDX-License-Identifier: Apache-2.0
//
// Tests one delegate library with several delegates and interpreters, each on a thread of its own.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "core/plugin/plugin_delegate.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::plugin_threads_test {
namespace {

class PluginThreads : public QuietTest {};

// A model of y = x + x, z = y * x, w = z + y: three nodes that the plug-in claims.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  std::array<int, 3> t = {};
  for (int& index : t) index = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {t[0]}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {t[0], x}, {t[1]}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {t[1], t[0]}, {t[2]}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({t[2]});
  return m.Finish();
}

TEST_F(PluginThreads, interpreters_share_a_library) {
  const std::vector<float> input = {1, -2, 3, 0.25f};
  const std::vector<float> expected = {4, 4, 24, 0.625f};  // 2 x^2 + 2 x
  // Keeps the library loaded: the thread sanitizer does not know the loader's own lock, and would
  // report the library's initialisers on one thread as a race with the other threads.
  const Handle first = External("described0");
  std::vector<std::thread> threads;
  std::array<size_t, 4> computed = {};
  std::array<bool, 4> right = {};
  for (size_t n = 0; n < computed.size(); ++n) {
    threads.emplace_back([&, n] {
      const Handle delegate = External("described0");
      TestInterpreter t(Model());
      right[n] = TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()) == kTfLiteOk;
      for (int i = 0; i < 50; ++i) {
        const bool ran = t.Allocate() == kTfLiteOk;
        t.Set<float>(0, input);
        right[n] = ran && t.Invoke() == kTfLiteOk && t.Get<float>(0) == expected && right[n];
      }
      const PluginDelegate parts = Unwrap(delegate.get());
      computed[n] = parts.library->plugin()->device_bytes(parts.inner);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t n = 0; n < computed.size(); ++n) {
    EXPECT_TRUE(right[n]);
    EXPECT_EQ(computed[n], 150u);  // three nodes, fifty times
  }
}

}  // namespace
}  // namespace deputy::plugin_threads_test
