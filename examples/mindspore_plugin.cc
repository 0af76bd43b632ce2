// SPDX-License-Identifier: Apache-2.0
//
// The delegate of MindSpore Lite's tutorial as a plug-in, for programs that load TensorFlow Lite's
// external delegates:
//
//     deputy run MODEL.tflite --random --delegate libmindspore_plugin.so,frequency=4
#include <memory>
#include <string>

#include "include/api/plugin.h"
#include "mindspore_npu_delegate.h"

namespace {

const DeputyPluginOption kOptions[] = {
    {"frequency", kDeputyOptionInt, 0, "3",
     "1 low power, 2 balanced, 3 high performance, 4 extreme"},
};

std::shared_ptr<mindspore::Delegate> Make(const mindspore::PluginOptions& options,
                                          std::string* error) {
  const int64_t frequency = options.Int("frequency");
  if (frequency >= 1 && frequency <= 4) {
    return std::make_shared<npu::NPUDelegate>(static_cast<int>(frequency));
  }
  *error = "option 'frequency': expected 1 to 4, found " + std::to_string(frequency);
  return nullptr;
}

constexpr mindspore::PluginDescription kPlugin = {"mindspore_npu", "1.0", "Deputy",
                                                  kOptions,        1,     Make};

}  // namespace

MINDSPORE_DELEGATE_PLUGIN(kPlugin)
