// SPDX-License-Identifier: Apache-2.0
//
// Auto-tuning: finds the fastest kernel variant of an operation by measuring tiles of products,
// work-group sizes, and CLBlast. Results are stored in the context and, if there is one, in the
// program cache, by device, driver and shape of the operation. The batch size of images is rounded
// up to a power of two, so that a resize need not tune again. All variants compute the same sums;
// the order of addition differs in CLBlast, and where a work-group splits the depth
// (emit_group_tiles.cc).
#ifndef DEPUTY_GPU_CL_TUNE_H_
#define DEPUTY_GPU_CL_TUNE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/device/clblast.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/emit/plan_options.h"
#include "gpu_cl/options.h"
#include "gpu_cl/run/exec.h"

namespace deputy::gpu_cl {

// Thoroughness: kFast tries up to three variants for each of the five most expensive operations,
// for about 200 ms; kFull tries all variants of all operations that matter, for up to a minute.
struct TuningOptions {
  Tuning level = Tuning::kNone;
  std::shared_ptr<const ProgramCache> cache;  // null: results are kept in the context only
  std::chrono::milliseconds budget{0};        // 0: default of the level
};

// Returns the higher of the levels that both options imply: none for single_answer, fast for
// balanced, full for sustained_speed.
Tuning TuningLevel(const Options& options);

// Returns the variants of an operation of an adapted graph other than the heuristic one. CLBlast
// comes first, if it covers the device and computes the operation.
std::vector<KernelChoice> VariantsOf(const compiler::Graph& graph, int operation,
                                     const PlanOptions& options, const DeviceProfile& profile,
                                     bool has_clblast);

// Returns the fastest variant by operation of the adapted graph, for operations where it differs
// from the heuristic one. `executor` determines how operations are run; its cache, queue, profiling
// and choices are ignored. Variants that fail are not chosen; after the loss of the device none is.
std::map<int, KernelChoice> Tune(const std::shared_ptr<SharedContext>& context,
                                 const compiler::Graph& adapted, const ExecutorOptions& executor,
                                 const TuningOptions& options);

// Converts a choice to text and back; ParseChoice returns false if the text is invalid.
std::string ChoiceText(const KernelChoice& choice);
bool ParseChoice(const std::string& text, KernelChoice* out_choice);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_TUNE_H_
