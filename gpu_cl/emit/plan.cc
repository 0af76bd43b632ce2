// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/plan.h"

namespace deputy::gpu_cl {

std::string Plan::KernelName(int kernel) { return "k" + std::to_string(kernel); }

const std::string& Plan::TextOf(const Step& step) const {
  static const std::string clblast = "CLBlast";
  return step.clblast ? clblast : kernels[static_cast<size_t>(step.kernel)];
}

std::string Plan::Source() const {
  std::string source = prelude;
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::string text = kernels[i];
    text.replace(text.find("NAME"), 4, KernelName(static_cast<int>(i)));
    source += "\n" + text;
  }
  return source;
}

}  // namespace deputy::gpu_cl
