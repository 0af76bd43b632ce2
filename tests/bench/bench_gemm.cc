// SPDX-License-Identifier: Apache-2.0
//
// Speed of the matrix products of each CPU table on one thread, in GFLOP/s (int8: billions of
// operations), and the peak rate of this machine's multiply-add units. The sizes are those of 1x1
// convolutions and of the last layer of MobileNetV2. Only figures of one run can be compared,
// because the clock of a shared machine varies.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/linalg/int8_product.h"
#include "tests/kernels/cpu/cpu_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace deputy {
namespace {

constexpr int kSizes[][3] = {
    // Sizes of the products: rows, depth, columns.
    {12544, 32, 16}, {12544, 16, 96}, {3136, 144, 24}, {784, 192, 32},  {196, 384, 64},
    {196, 96, 576},  {49, 576, 160},  {49, 160, 960},  {49, 320, 1280}, {1, 1280, 1001},
};

void Report(benchmark::State& state, double operations_per_iteration) {
  state.counters["GFLOP/s"] = benchmark::Counter(operations_per_iteration * 1e-9,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

template <typename T>
std::vector<T> Steps(size_t count) {
  std::mt19937 engine(1);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(static_cast<int>(engine() % 201) - 100);
  return values;
}

void FloatProduct(benchmark::State& state, const CpuKernels* cpu, int rows, int depth,
                  int columns) {
  const auto a = Steps<float>(static_cast<size_t>(rows) * static_cast<size_t>(depth));
  const auto weights = Steps<float>(static_cast<size_t>(columns) * static_cast<size_t>(depth));
  const std::vector<float> bias(static_cast<size_t>(columns) + kMaxTileColumns);
  std::vector<float> out(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  PackedWeights<float> packed;
  packed.Pack(nullptr, *cpu, weights.data(), true, WeightsLayout::Rows(1, columns, depth));
  const GemmF32 job = {
      cpu, &packed, 0, depth, bias.data(), 0.0f, 6.0f, out.data(), static_cast<size_t>(columns)};
  const GemmPlan plan = PlanGemm(rows, columns, depth, cpu->gemm_f32.rows, cpu->gemm_f32.columns,
                                 static_cast<size_t>(depth) * sizeof(float), 1);
  for (auto _ : state) {
    for (int task = 0; task < plan.tasks; ++task) {
      RunGemmF32(job, plan, task, [&](int64_t first, int) -> RowBlock<float> {
        return {a.data() + first * depth, static_cast<size_t>(depth)};
      });
    }
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  Report(state, 2.0 * rows * columns * depth);
}

// Multiplies int8 matrices as a convolution does: each block of rows is packed into the table's
// layout, and the sums are requantised.
void MultiplyInt8(benchmark::State& state, const CpuKernels* cpu, int rows, int depth,
                  int columns) {
  const auto a = Steps<int8_t>(static_cast<size_t>(rows) * static_cast<size_t>(depth));
  const auto weights = Steps<int8_t>(static_cast<size_t>(columns) * static_cast<size_t>(depth));
  const std::vector<float> factors(static_cast<size_t>(columns), 0.001f);
  std::vector<int8_t> out(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  PackedWeights<int8_t> packed;
  packed.Pack(nullptr, *cpu, weights.data(), true, WeightsLayout::Rows(1, columns, depth));
  const Int8Product product = {
      .cpu = cpu, .weights = &packed, .rows = rows, .columns = columns, .depth = depth};
  const auto fill = [&](int, int64_t row, uint8_t* to) {
    cpu->gemm_s8.left_from_s8(a.data() + row * depth, static_cast<size_t>(depth), to);
  };
  const auto finish = [&](int, int64_t row, int count, int column, int width, const int32_t* sums,
                          size_t stride) {
    RequantizeTile tile = {};
    tile.rows = count;
    tile.columns = width;
    tile.sums = sums;
    tile.sums_stride = stride;
    tile.factors = factors.data() + column;
    tile.low = -128;
    tile.high = 127;
    tile.out = out.data() + row * columns + column;
    tile.out_stride = static_cast<size_t>(columns);
    cpu->requantize.in_float(tile);
  };
  for (auto _ : state) {
    product.Run(
        nullptr, 1, [](int) { return 0; }, fill, finish);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  Report(state, 2.0 * rows * columns * depth);
}

// ---- The peak: independent multiply-adds in registers -------------------------------------------

#if defined(__x86_64__)
constexpr int kPeakRounds = 10000;
// Number of independent sums, enough to hide the latency of all multiply-add units.
constexpr int kPeakSums = 12;

__attribute__((target("avx2,fma"))) void PeakAvx2(benchmark::State& state) {
  __m256 sums[kPeakSums];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1.0f);
  __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    for (int i = 0; i < kPeakRounds; ++i) {
#pragma GCC unroll 12
      for (int s = 0; s < kPeakSums; ++s) sums[s] = _mm256_fmadd_ps(sums[s], x, y);
    }
    for (__m256& sum : sums) benchmark::DoNotOptimize(sum);
  }
  Report(state, 2.0 * 8 * kPeakSums * kPeakRounds);
}

__attribute__((target("avx512f"))) void PeakAvx512(benchmark::State& state) {
  __m512 sums[kPeakSums];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1.0f);
  __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
  for (auto _ : state) {
    benchmark::DoNotOptimize(x);
    for (int i = 0; i < kPeakRounds; ++i) {
#pragma GCC unroll 12
      for (int s = 0; s < kPeakSums; ++s) sums[s] = _mm512_fmadd_ps(sums[s], x, y);
    }
    for (__m512& sum : sums) benchmark::DoNotOptimize(sum);
  }
  Report(state, 2.0 * 16 * kPeakSums * kPeakRounds);
}
#endif

bool RegisterAll() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    benchmark::RegisterBenchmark("peak/fma_256_bit", &PeakAvx2);
  }
  if (__builtin_cpu_supports("avx512f")) {
    benchmark::RegisterBenchmark("peak/fma_512_bit", &PeakAvx512);
  }
#endif
  for (const CpuKernels* cpu : CpuTables()) {
    for (const auto& [rows, depth, columns] : kSizes) {
      const std::string size =
          "/" + std::to_string(rows) + "x" + std::to_string(depth) + "x" + std::to_string(columns);
      benchmark::RegisterBenchmark((std::string("gemm_f32/") + cpu->name + size).c_str(),
                                   &FloatProduct, cpu, rows, depth, columns);
      benchmark::RegisterBenchmark((std::string("gemm_s8/") + cpu->name + size).c_str(),
                                   &MultiplyInt8, cpu, rows, depth, columns);
    }
  }
  return true;
}

const bool registered = RegisterAll();

}  // namespace
}  // namespace deputy
