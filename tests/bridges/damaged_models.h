// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_BRIDGES_DAMAGED_MODELS_H_
#define DEPUTY_TESTS_BRIDGES_DAMAGED_MODELS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

// Runs the digits models with changed bytes on delegates that `create` returns as unique pointers:
// the process must not crash, and some of the models must run.
template <typename Create>
void ExpectDamagedModelsDoNoHarm(Create create) {
  size_t ran = 0;
  for (const char* kind : {"float", "int8"}) {
    const std::vector<uint8_t> whole =
        ReadBytes(SourcePath("examples/digits/digits_" + std::string(kind) + ".tflite"));
    std::mt19937 random(7);
    for (int life = 0; life < 150; ++life) {
      std::vector<uint8_t> model = whole;
      for (int i = 0; i < 8; ++i) {
        // Every other model is changed only in the last eighth of the file, which holds the tables;
        // the weights come before it.
        const size_t place = model.size() - 1 - random() % (model.size() / (life % 2 == 0 ? 1 : 8));
        model[place] = static_cast<uint8_t>(random());
      }
      const auto delegate = create();
      TestInterpreter t(model);
      if (t.get() == nullptr) continue;
      (void)TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get());
      if (t.Allocate() != kTfLiteOk) continue;
      ran += t.Invoke() == kTfLiteOk ? 1 : 0;
    }
  }
  EXPECT_GT(ran, 10U);
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_BRIDGES_DAMAGED_MODELS_H_
