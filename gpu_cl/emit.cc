// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit.h"

#include <algorithm>

namespace deputy::gpu_cl {

Axis::Axis(const compiler::Shape& shape, int axis) {
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    (i < axis ? outer : i == axis ? extent : inner) *= shape[static_cast<size_t>(i)];
  }
}

namespace {

// A range is not worth less than this.
constexpr size_t kLeastRange = 1024;

}  // namespace

KernelBuilder StepWriter::OpenElements(size_t count) const {
  KernelBuilder k = NewKernel();
  if (!options_.ranges) {
    k.Line("const int i = get_global_id(0);");
    return k;
  }
  const size_t items = static_cast<size_t>(options_.items);
  const size_t range = std::max((count + items - 1) / items, kLeastRange);
  const std::string each = k.Int(static_cast<int64_t>(range));
  const std::string end = k.Int(static_cast<int64_t>(count));
  k.Line("const int first = get_global_id(0) * " + each + ";");
  k.Open("for (int i = first; i < min(first + " + each + ", " + end + "); ++i)");
  return k;
}

void StepWriter::AddElements(KernelBuilder* kernel, size_t count) {
  if (!options_.ranges) return Add(*kernel, {count, 1, 1});
  kernel->Close();
  const size_t items = static_cast<size_t>(options_.items);
  const size_t range = std::max((count + items - 1) / items, kLeastRange);
  Add(*kernel, {(count + range - 1) / range, 1, 1});
}

void StepWriter::Add(const KernelBuilder& kernel, std::array<size_t, 3> global) {
  if (global[0] == 0 || global[1] == 0 || global[2] == 0) return;
  const std::string text = kernel.Text();
  const auto known = std::find(plan_->kernels.begin(), plan_->kernels.end(), text);
  Step step;
  step.kernel = static_cast<int>(known - plan_->kernels.begin());
  if (known == plan_->kernels.end()) plan_->kernels.push_back(text);
  step.arguments = kernel.arguments();
  for (Argument& argument : step.arguments) {
    if (auto* packed = std::get_if<PackedBuffer>(&argument)) {
      packed->packing += static_cast<int>(plan_->packings.size());
    }
  }
  plan_->packings.insert(plan_->packings.end(), kernel.packings().begin(), kernel.packings().end());
  step.global = global;
  if (options_.ranges) step.local = {1, 1, 1};
  step.operation = operation_;
  plan_->steps.push_back(std::move(step));
}

const char* Prelude() {
  return "#define FLOOR_DIV(t, a, b) \\\n"
         "  ((t)((b) == 0 ? 0 : (b) == -1 ? -(a) : \\\n"
         "       (a) / (b) - ((a) % (b) != 0 && ((a) < 0) != ((b) < 0))))\n"
         "#define FLOOR_MOD(t, a, b) \\\n"
         "  ((t)((b) == 0 || (b) == -1 ? 0 : \\\n"
         "       (a) % (b) + ((a) % (b) != 0 && ((a) < 0) != ((b) < 0) ? (b) : 0)))\n"
         "float FLOOR_MOD_REAL(float a, float b) {\n"
         "  const float rest = fmod(a, b);\n"
         "  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;\n"
         "}\n";
}

}  // namespace deputy::gpu_cl
