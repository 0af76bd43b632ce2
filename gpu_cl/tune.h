// SPDX-License-Identifier: Apache-2.0
//
// Which way to compute an operation is fastest on a device, by trying: tiles of products, sizes of
// groups, CLBlast. What was found is remembered in the context, and in the cache of programs where
// there is one, by device, driver and the shape of the operation; the batch of images counts as the
// next power of two, so that a resize need not try again. Every element is the same sum; its order
// differs in CLBlast, and where a group of work-items shares a depth (emit_group_tiles.cc).
#ifndef DEPUTY_GPU_CL_TUNE_H_
#define DEPUTY_GPU_CL_TUNE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "gpu_cl/clblast.h"
#include "gpu_cl/device.h"
#include "gpu_cl/exec.h"
#include "gpu_cl/options.h"
#include "gpu_cl/plan_options.h"
#include "gpu_cl/program_cache.h"

namespace deputy::gpu_cl {

// How thorough: kFast tries up to three ways for each of the five dearest operations, for about
// 200 ms; kFull all ways, for all operations that matter, for up to a minute.
struct TuningOptions {
  Tuning level = Tuning::kNone;
  std::shared_ptr<const ProgramCache> cache;  // null: found is kept in the context alone
  std::chrono::milliseconds budget{0};        // 0: as the level says
};

// The greater of what the two options ask for: single_answer none, balanced fast, sustained_speed
// full.
Tuning TuningLevel(const Options& options);

// The ways to compute an operation of an adapted graph beside the rules' own; CLBlast first, where
// the device is known to it.
std::vector<KernelChoice> WaysOf(const compiler::Graph& graph, int operation,
                                 const PlanOptions& options, const DeviceProfile& profile,
                                 bool has_clblast);

// What is fastest, by operation of the adapted graph, where that is not what the rules choose.
// `executor` says how operations are run; its cache and choices are not used. Ways that fail are
// not taken; after the loss of the device nothing is.
std::map<int, KernelChoice> Tune(const std::shared_ptr<SharedContext>& context,
                                 const compiler::Graph& adapted, const ExecutorOptions& executor,
                                 const TuningOptions& options);

// A choice as text and back; false if it is none.
std::string ChoiceText(const KernelChoice& choice);
bool ParseChoice(const std::string& text, KernelChoice* out_choice);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_TUNE_H_
