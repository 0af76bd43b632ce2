// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu.h"

#include <array>
#include <atomic>
#include <bit>
#include <climits>
#include <cstring>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/environment.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

[[maybe_unused]] constexpr StepSumKernels kStepSumNone = {};

namespace {

#define DEPUTY_CPU_SET(name, required, allowed) {name, required, allowed},
constexpr CpuSet kSets[] = {
#include "kernels/cpu/kernels.inc"
};

template <auto group>
void CopyTo(const void* kernels, CpuKernels* table) {
  auto& member = table->*group;
  member = *static_cast<const std::remove_reference_t<decltype(member)>*>(kernels);
}

template <auto group, typename Group>
constexpr KernelVariant MakeVariant(std::string_view name, const Group* kernels,
                                    CpuFeatures required, int score) {
  static_assert(std::is_same_v<decltype(group), Group CpuKernels::*>);
  return {name, kernels, &CopyTo<group>, required, score};
}

#define DEPUTY_KERNELS(type, group, variable, required, score) \
  MakeVariant<&CpuKernels::group>(#group, &(variable), (required), (score)),
constexpr KernelVariant kVariants[] = {
#include "kernels/cpu/kernels.inc"
};

constexpr bool ScoresAreDistinct() {
  for (const KernelVariant& a : kVariants) {
    for (const KernelVariant& b : kVariants) {
      if (&a != &b && a.group == b.group && a.score == b.score) return false;
    }
  }
  return true;
}
static_assert(ScoresAreDistinct());

// Returns the variant of a group with the highest score below `limit`; null if there is none.
const KernelVariant* BestVariant(CopyKernels group, CpuFeatures features, int limit = INT_MAX) {
  const KernelVariant* best = nullptr;
  for (const KernelVariant& variant : kVariants) {
    if (variant.copy_to != group || variant.score >= limit) continue;
    if (!features.Includes(variant.required)) continue;
    if (best == nullptr || variant.score > best->score) best = &variant;
  }
  return best;
}

// Fills the null loops of the vector table with those of the next best table, which are as fast.
void CompleteVectorLoops(CpuFeatures features, CpuKernels* table) {
  const CopyKernels group = &CopyTo<&CpuKernels::vector>;
  const KernelVariant* const best = BestVariant(group, features);
  const KernelVariant* const next =
      best == nullptr ? nullptr : BestVariant(group, features, best->score);
  if (next == nullptr) return;
  // VectorKernels consists of pointers only.
  using Pointers = std::array<const void*, sizeof(VectorKernels) / sizeof(void*)>;
  auto pointers = std::bit_cast<Pointers>(table->vector);
  const auto others = std::bit_cast<Pointers>(*static_cast<const VectorKernels*>(next->kernels));
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr) pointers[i] = others[i];
  }
  table->vector = std::bit_cast<VectorKernels>(pointers);
}

const CpuKernels* TableOf(const CpuSet& set) {
  static const std::array<CpuKernels, std::size(kSets)> tables = [] {
    std::array<CpuKernels, std::size(kSets)> made;
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = SelectKernels(kSets[i].name, DetectCpuFeatures() & kSets[i].allowed);
    }
    return made;
  }();
  return &tables[static_cast<size_t>(&set - kSets)];
}

// Returns true if this machine can run the set. For AMX this requests permission to use tile data.
bool CanRun(const CpuSet& set) {
  if (!DetectCpuFeatures().Includes(set.required)) return false;
  return !set.required.Includes({CpuFeature::kAmxTile}) || RequestTilePermission();
}

const CpuKernels& Choose() {
  std::vector<std::string> names;
  for (const CpuSet& set : kSets) {
    if (DetectCpuFeatures().Includes(set.required)) names.emplace_back(set.name);
  }
  const std::string name = EnvironmentChoice("DEPUTY_CPU", names);
  if (const CpuKernels* found = FindCpu(name.c_str())) return *found;
  const CpuSet* best = &BestCpuSet(DetectCpuFeatures());
  if (!CanRun(*best)) best = &BestCpuSet(DetectCpuFeatures().Without({CpuFeature::kAmxTile}));
  return *TableOf(*best);
}

// True if a kernel table of this build has float16 products.
constexpr bool HasFloat16Kernels() {
  for (const KernelVariant& variant : kVariants) {
    if (variant.group == "gemm_f16") return true;
  }
  return false;
}

// Returns the table of a set with float16 products as 16-bit products.
[[maybe_unused]] const CpuKernels* Float16TableOf(const CpuSet& set) {
  static const std::array<CpuKernels, std::size(kSets)> tables = [] {
    std::array<CpuKernels, std::size(kSets)> made;
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = *TableOf(kSets[i]);
      made[i].gemm_bf16 = made[i].gemm_f16;
    }
    return made;
  }();
  return &tables[static_cast<size_t>(&set - kSets)];
}

std::atomic<const CpuKernels*> override_kernels{nullptr};

}  // namespace

std::span<const CpuSet> CpuSets() { return kSets; }

std::span<const KernelVariant> KernelVariants() { return kVariants; }

CpuKernels SelectKernels(const char* name, CpuFeatures features) {
  CpuKernels table;
  table.name = name;
  for (const KernelVariant& variant : kVariants) {
    if (BestVariant(variant.copy_to, features) == &variant) {
      variant.copy_to(variant.kernels, &table);
    }
  }
  CompleteVectorLoops(features, &table);
  return table;
}

const CpuSet& BestCpuSet(CpuFeatures features) {
  size_t best = std::size(kSets) - 1;
  while (best > 0 && !features.Includes(kSets[best].required)) --best;
  return kSets[best];
}

const CpuKernels* FindCpu(const char* name) {
  for (const CpuSet& set : kSets) {
    if (std::strcmp(name, set.name) == 0) return CanRun(set) ? TableOf(set) : nullptr;
  }
  return nullptr;
}

const CpuKernels& WithFloat16(const CpuKernels& kernels) {
  if constexpr (HasFloat16Kernels()) {
    if (kernels.gemm_f16.tile == nullptr) return kernels;
    for (const CpuSet& set : kSets) {
      if (TableOf(set) == &kernels) return *Float16TableOf(set);
    }
  }
  return kernels;
}

const CpuKernels& Cpu() {
  static const CpuKernels& chosen = Choose();
  const CpuKernels* forced = override_kernels.load(std::memory_order_relaxed);
  return forced == nullptr ? chosen : *forced;
}

const CpuKernels& CpuOf(const TfLiteContext* context) {
  const Runtime* runtime = RuntimeOf(context);
  return runtime == nullptr ? Cpu() : runtime->cpu();
}

void OverrideCpu(const CpuKernels* kernels) {
  override_kernels.store(kernels, std::memory_order_relaxed);
}

}  // namespace deputy
