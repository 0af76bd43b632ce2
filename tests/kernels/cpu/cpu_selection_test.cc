// SPDX-License-Identifier: Apache-2.0
//
// Tests the selection of kernels by features. No kernel runs here, so that the features of any
// processor can be tested.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#if defined(__arm__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "kernels/cpu/cpu.h"
#include "tests/kernels/cpu/cpu_tables.h"

namespace deputy::cpu_selection_test {
namespace {

using F = CpuFeature;

std::string NameOf(const char* name) { return name == nullptr ? "-" : name; }

// Returns the name of the kernels in each group of a table.
std::vector<std::string> NamesOf(const CpuKernels& table) {
  std::vector<std::string> names;
  for (const char* name : {table.gemm_f32.name, table.gemm_bf16.name, table.gemm_s8.name,
                           table.dots_s16.name, table.requantize.name, table.winograd_f32.name,
                           table.depthwise_f32.name, table.depthwise_s8.name, table.half.name,
                           table.vector.name, table.step_sum.name, table.gemm_f16.name}) {
    names.push_back(NameOf(name));
  }
  return names;
}

TEST(CpuTables, are_found_by_name) {
  EXPECT_STREQ(FindCpu("generic")->name, "generic");
  EXPECT_STREQ(FindCpu("reference")->name, "reference");
  EXPECT_EQ(FindCpu("reference")->gemm_f32.tile, nullptr);
  EXPECT_EQ(FindCpu("AVX2"), nullptr);
  EXPECT_EQ(FindCpu(""), nullptr);
  OverrideCpu(FindCpu("generic"));
  EXPECT_STREQ(Cpu().name, "generic");
  OverrideCpu(nullptr);
  EXPECT_NE(Cpu().gemm_f32.tile, nullptr);
}

// Every table has a kernel in each of these groups; otherwise a set of features would use the
// reference code where a lesser set has a kernel.
TEST(CpuTables, every_set_has_all_groups) {
  for (const CpuKernels* cpu : CpuTables()) {
    for (const char* group :
         {cpu->gemm_f32.name, cpu->gemm_s8.name, cpu->requantize.name, cpu->winograd_f32.name,
          cpu->depthwise_f32.name, cpu->depthwise_s8.name, cpu->half.name, cpu->vector.name}) {
      EXPECT_NE(group, nullptr) << cpu->name;
    }
  }
  EXPECT_STREQ(FindCpu("generic")->gemm_s8.name, "generic");
}

TEST(CpuTables, of_a_machine_match_its_features) {
  for (const CpuSet& set : CpuSets()) {
    const CpuKernels* const table = FindCpu(set.name);
    if (table == nullptr) continue;
    EXPECT_STREQ(table->name, set.name);
    EXPECT_TRUE(DetectCpuFeatures().Includes(set.required)) << set.name;
    EXPECT_EQ(NamesOf(*table), NamesOf(SelectKernels("", DetectCpuFeatures() & set.allowed)));
  }
}

TEST(CpuFeatures, are_sets) {
  constexpr CpuFeatures kTwo = {F::kAvx2, F::kAmxBf16};
  EXPECT_TRUE(kTwo.Includes({F::kAvx2}));
  EXPECT_TRUE(kTwo.Includes({}));
  EXPECT_FALSE(kTwo.Includes({F::kAvx2, F::kFma}));
  EXPECT_EQ((kTwo & CpuFeatures{F::kAvx2, F::kFma}), CpuFeatures{F::kAvx2});
  EXPECT_EQ((CpuFeatures{F::kAvx2} | CpuFeatures{F::kAmxBf16}), kTwo);
  EXPECT_EQ(kTwo.Without({F::kAvx2, F::kFma}), CpuFeatures{F::kAmxBf16});
}

TEST(CpuSelection, without_features_has_no_kernels) {
  EXPECT_EQ(NamesOf(SelectKernels("", {})), std::vector<std::string>(12, "-"));
}

TEST(CpuSelection, without_instruction_sets_is_portable) {
  EXPECT_EQ(NamesOf(SelectKernels("", kPortableSet)),
            (std::vector<std::string>{"generic", "-", "generic", "-", "generic", "generic",
                                      "generic", "generic", "generic", "generic", "-", "-"}));
}

TEST(CpuSelection, sets_allow_their_requirements) {
  for (const CpuSet& set : CpuSets()) EXPECT_TRUE(set.allowed.Includes(set.required)) << set.name;
}

// Returns true if a table has the kernels of a variant. Loops that are null in a vector table are
// filled from other tables, so variants of loops are identified by name.
bool Has(const CpuKernels& table, const KernelVariant& variant) {
  CpuKernels copy;
  std::memcpy(static_cast<void*>(&copy), &table, sizeof copy);
  variant.copy_to(variant.kernels, &copy);
  if (NameOf(copy.vector.name) != NameOf(table.vector.name)) return false;
  copy.vector = table.vector;
  return NamesOf(copy) == NamesOf(table);
}

// Tests compare the tables of the named sets with the reference: a variant that no named set
// selects would not be tested.
TEST(CpuSelection, every_variant_belongs_to_a_named_set) {
  EXPECT_GE(KernelVariants().size(), 8u);
  for (const KernelVariant& variant : KernelVariants()) {
    bool selected = false;
    for (const CpuSet& set : CpuSets()) {
      selected = selected || Has(SelectKernels("", set.allowed), variant);
    }
    CpuKernels only;
    variant.copy_to(variant.kernels, &only);
    EXPECT_TRUE(selected) << testing::PrintToString(NamesOf(only));
  }
}

#if defined(__x86_64__) || defined(__aarch64__) || defined(__arm__)

bool HasSet(const std::string& name) {
  return std::any_of(CpuSets().begin(), CpuSets().end(),
                     [&name](const CpuSet& set) { return set.name == name; });
}

// Features and the expected names of kernels, with the groups in the order of NamesOf.
struct Row {
  const char* name;
  CpuFeatures features;
  std::vector<std::string> kernels;
};

std::vector<Row> Rows();

// Returns true if the build has the processor family's largest set, and therefore all of them.
bool HasAllSets() {
#if defined(__x86_64__)
  return HasSet("amx");
#elif defined(__aarch64__)
  return HasSet("neon_bf16");
#else
  return HasSet("neon32");
#endif
}

TEST(CpuSelection, selects_the_best_kernels_of_the_features) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  for (const Row& row : Rows()) {
    EXPECT_EQ(NamesOf(SelectKernels("", row.features)), row.kernels) << row.name;
  }
}

#endif

#if defined(__x86_64__)

std::vector<Row> Rows() {
  const std::vector<std::string> generic = {"generic", "-",       "generic", "-",
                                            "generic", "generic", "generic", "generic",
                                            "generic", "generic", "-",       "-"};
  const std::vector<std::string> avx2 = {"avx2", "-",    "avx2", "avx2", "avx2", "avx2",
                                         "avx2", "avx2", "avx2", "avx2", "avx2", "-"};
  // Without VNNI, int8 products use the kernels for AVX2.
  const std::vector<std::string> avx512 = {"avx512", "-",    "avx2",   "avx2",   "avx512", "avx512",
                                           "avx512", "avx2", "avx512", "avx512", "-",      "-"};
  std::vector<std::string> vnni = avx512, bf16 = avx512, both, amx;
  vnni[2] = vnni[7] = "avx512-vnni";
  bf16[1] = "avx512_bf16";
  both = vnni;
  both[1] = "avx512_bf16";
  amx = vnni;
  amx[1] = "amx-bf16";
  amx[2] = "amx-int8";
  const CpuFeatures portable_avx2 = kPortableSet | kAvx2Set;
  const CpuFeatures portable_avx512 = kPortableSet | kAvx512Set;
  const CpuFeatures portable_amx = kPortableSet | kAmxSet;
  return {
      {"AVX2 without F16C", portable_avx2.Without({F::kF16c}), generic},
      {"AVX2 without FMA", portable_avx2.Without({F::kFma}), generic},
      {"AVX2", portable_avx2, avx2},
      {"AVX-512 without VL", portable_avx512.Without({F::kAvx512Vl}), avx2},
      {"AVX-512 without AVX2", portable_avx512.Without({F::kAvx2}), generic},
      {"AVX-512", portable_avx512, avx512},
      {"AVX-512 VNNI", kPortableSet | kAvx512VnniSet, vnni},
      {"slow AVX-512 BF16", kPortableSet | kAvx512Bf16Set, avx512},
      {"fast AVX-512 BF16", kPortableSet | kFastAvx512Bf16Set, bf16},
      {"AVX-512 VNNI and BF16", kPortableSet | kAvx512VnniSet | kFastAvx512Bf16Set, both},
      {"AMX", portable_amx, amx},
      {"AMX and fast BF16", portable_amx | kFastAvx512Bf16Set, amx},
      {"AMX without int8", portable_amx.Without({F::kAmxInt8}), vnni},
      {"AMX without VNNI", portable_amx.Without({F::kAvx512Vnni}), avx512},
  };
}

TEST(CpuSelection, of_a_named_set_ignores_other_features) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  const CpuFeatures machine = kPortableSet | kAmxSet | kFastAvx512Bf16Set;
  std::vector<std::string> found;
  for (const CpuSet& set : CpuSets()) {
    const CpuKernels table = SelectKernels(set.name, machine & set.allowed);
    found.push_back(set.name + std::string(": ") + NameOf(table.gemm_f32.name) + ", " +
                    NameOf(table.gemm_bf16.name) + ", " + NameOf(table.gemm_s8.name));
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{
                "reference: -, -, -", "generic: generic, -, generic", "avx2: avx2, -, avx2",
                "avx512: avx512, avx512_bf16, avx512-vnni", "amx: avx512, amx-bf16, amx-int8"}));
}

TEST(CpuSelection, of_a_machine_selects_the_best_supported_set) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  EXPECT_STREQ(BestCpuSet({}).name, "reference");
  EXPECT_STREQ(BestCpuSet(kPortableSet).name, "generic");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kAvx2Set).name, "avx2");
  EXPECT_STREQ(BestCpuSet((kPortableSet | kAvx2Set).Without({F::kF16c})).name, "generic");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kAvx512Set).name, "avx512");
  EXPECT_STREQ(BestCpuSet((kPortableSet | kAvx512Set).Without({F::kAvx512Dq})).name, "avx2");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kAmxSet).name, "amx");
  EXPECT_STREQ(BestCpuSet((kPortableSet | kAmxSet).Without({F::kAmxTile})).name, "avx512");
  EXPECT_STREQ(BestCpuSet((kPortableSet | kAmxSet).Without({F::kAvx512Bf16})).name, "avx512");
}

// Loops that the AVX-512 table omits are those of AVX2.
TEST(CpuSelection, completes_vector_loops) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  const auto pointers = [](const CpuKernels& table) {
    std::vector<const void*> values(sizeof table.vector / sizeof(void*));
    std::memcpy(values.data(), &table.vector, sizeof table.vector);
    return values;
  };
  const std::vector<const void*> avx2 = pointers(SelectKernels("", kPortableSet | kAvx2Set));
  const std::vector<const void*> avx512 = pointers(SelectKernels("", kPortableSet | kAvx512Set));
  int shared = 0;
  for (size_t i = 0; i < avx2.size(); ++i) {
    EXPECT_TRUE(avx512[i] != nullptr || avx2[i] == nullptr) << "loop " << i;
    if (avx512[i] == avx2[i]) ++shared;
  }
  EXPECT_GT(shared, 10);
  EXPECT_LT(shared, static_cast<int>(avx2.size()) - 10);
}

// Compares the detected features with those that the compiler's functions detect.
TEST(CpuFeatures, are_detected) {
  const CpuFeatures features = DetectCpuFeatures();
  EXPECT_TRUE(features.Includes(kPortableSet));
  EXPECT_EQ(features.Includes({F::kAvx2}), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(features.Includes({F::kFma}), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(features.Includes({F::kAvx512F}), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(features.Includes({F::kAvx512Vnni}), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(features.Includes({F::kAvx512Bf16}), __builtin_cpu_supports("avx512bf16") != 0);
}

#endif

#if defined(__aarch64__)

std::vector<Row> Rows() {
  const std::vector<std::string> neon = {"neon", "-",    "neon", "-",    "neon", "neon",
                                         "neon", "neon", "neon", "neon", "neon", "-"};
  std::vector<std::string> dot = neon, i8mm = neon, bf16, fp16;
  dot[2] = dot[7] = "neon_dot";  // products and depthwise lines of int8
  i8mm[2] = "neon_i8mm";
  i8mm[7] = "neon_dot";
  bf16 = i8mm;
  bf16[1] = "neon_bf16";
  fp16 = dot;
  fp16[11] = "neon_fp16";
  const CpuFeatures portable_i8mm = kPortableSet | kNeonI8mmSet;
  return {
      {"NEON", kPortableSet | kNeonSet, neon},
      {"DotProd", kPortableSet | kNeonDotSet, dot},
      {"FP16", kPortableSet | kNeonFp16Set, fp16},
      {"FP16 without DotProd", (kPortableSet | kNeonFp16Set).Without({F::kNeonDot}), neon},
      {"I8MM without DotProd", portable_i8mm.Without({F::kNeonDot}), neon},
      {"I8MM", portable_i8mm, i8mm},
      {"BF16", kPortableSet | kNeonBf16Set, bf16},
      {"BF16 without I8MM", (kPortableSet | kNeonBf16Set).Without({F::kNeonI8mm}), dot},
  };
}

TEST(CpuSelection, of_a_machine_selects_the_best_supported_set) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  EXPECT_STREQ(BestCpuSet({}).name, "reference");
  EXPECT_STREQ(BestCpuSet(kPortableSet).name, "generic");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeonSet).name, "neon");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeonDotSet).name, "neon_dot");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeonFp16Set).name, "neon_fp16");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeonI8mmSet).name, "neon_i8mm");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeonBf16Set).name, "neon_bf16");
  EXPECT_STREQ(BestCpuSet((kPortableSet | kNeonI8mmSet).Without({F::kNeonDot})).name, "neon");
}

// Compares the detected features with the processor's identification registers.
TEST(CpuFeatures, are_detected) {
  uint64_t pfr0 = 0, isar0 = 0, isar1 = 0;
  __asm__("mrs %0, s3_0_c0_c4_0" : "=r"(pfr0));   // ID_AA64PFR0_EL1
  __asm__("mrs %0, s3_0_c0_c6_0" : "=r"(isar0));  // ID_AA64ISAR0_EL1
  __asm__("mrs %0, s3_0_c0_c6_1" : "=r"(isar1));  // ID_AA64ISAR1_EL1
  const CpuFeatures features = DetectCpuFeatures();
  EXPECT_TRUE(features.Includes(kPortableSet | kNeonSet));
  EXPECT_EQ(features.Includes({F::kNeonDot}), (isar0 >> 44 & 15) != 0);
  EXPECT_EQ(features.Includes({F::kNeonFp16}), (pfr0 >> 20 & 15) == 1);
  EXPECT_EQ(features.Includes({F::kNeonI8mm}), (isar1 >> 52 & 15) != 0);
  EXPECT_EQ(features.Includes({F::kNeonBf16}), (isar1 >> 44 & 15) != 0);
}

#endif

#if defined(__arm__)

std::vector<Row> Rows() {
  const std::vector<std::string> generic = {"generic", "-",       "generic", "-",
                                            "generic", "generic", "generic", "generic",
                                            "generic", "generic", "-",       "-"};
  std::vector<std::string> neon = generic;
  neon[0] = neon[2] = "neon32";  // products of float32 and of int8
  return {
      {"no NEON", kPortableSet, generic},
      {"NEON", kPortableSet | kNeon32Set, neon},
  };
}

TEST(CpuSelection, of_a_machine_selects_the_best_supported_set) {
  if (!HasAllSets()) GTEST_SKIP() << "this build has not all sets";
  EXPECT_STREQ(BestCpuSet({}).name, "reference");
  EXPECT_STREQ(BestCpuSet(kPortableSet).name, "generic");
  EXPECT_STREQ(BestCpuSet(kPortableSet | kNeon32Set).name, "neon32");
}

// Compares the detected features with those that Linux reports.
TEST(CpuFeatures, are_detected) {
  const CpuFeatures features = DetectCpuFeatures();
  EXPECT_TRUE(features.Includes(kPortableSet));
  EXPECT_EQ(features.Includes(kNeon32Set), (getauxval(AT_HWCAP) & HWCAP_NEON) != 0);
}

#endif

}  // namespace
}  // namespace deputy::cpu_selection_test
