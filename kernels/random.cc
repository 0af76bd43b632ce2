// SPDX-License-Identifier: Apache-2.0
//
// RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM and MULTINOMIAL, from the generator that TensorFlow has:
// Philox 4x32 in ten rounds, whose numbers depend on nothing but two seeds and a count. It begins
// anew at every AllocateTensors and goes on from one Invoke to the next. Two seeds of 0 ask for
// numbers that nobody can foresee. The seeds are 64 bits wide in the file and cut to 32, as
// upstream's.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillRandom(const OpOptions& options, TfLiteRandomParams* params) {
  params->seed = static_cast<int>(options.Long(0));
  params->seed2 = static_cast<int>(options.Long(1));
  return true;
}

// ---- Generator --------------------------------------------------------------------------------

// J. K. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011.
class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  Philox() = default;
  Philox(uint64_t seed, uint64_t seed2) : key_{Low(seed), High(seed)}, high_count_(seed2) {}

  Block Next() {
    Block block = {Low(count_), High(count_), Low(high_count_), High(high_count_)};
    uint32_t key[2] = {key_[0], key_[1]};
    for (int round = 0; round < 10; ++round) {
      const uint64_t even = uint64_t{0xd2511f53} * block[0];
      const uint64_t odd = uint64_t{0xcd9e8d57} * block[2];
      block = {High(odd) ^ block[1] ^ key[0], Low(odd), High(even) ^ block[3] ^ key[1], Low(even)};
      key[0] += 0x9e3779b9;
      key[1] += 0xbb67ae85;
    }
    Skip(1);
    return block;
  }

  void Skip(uint64_t blocks) {
    count_ += blocks;
    if (count_ < blocks) ++high_count_;
  }

 private:
  static uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
  static uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

  uint32_t key_[2] = {0, 0};
  uint64_t count_ = 0, high_count_ = 0;
};

// Numbers from 0 to just below 1 of 23 or 52 random bits.
float UniformFloat(uint32_t bits) {
  return std::bit_cast<float>(0x3f800000u | (bits & 0x7fffffu)) - 1.0f;
}
double UniformDouble(uint32_t high, uint32_t low) {
  const uint64_t bits = uint64_t{high & 0xfffffu} << 32 | low;
  return std::bit_cast<double>(uint64_t{0x3ff} << 52 | bits) - 1.0;
}

struct RandomData {
  Philox generator;
};

// Bits from the clock and an address, mixed as splitmix64 does.
uint64_t UnforeseenBits(uint64_t from) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t z = from + static_cast<uint64_t>(now) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void Seed(TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteRandomParams>(node);
  RandomData& data = DataOf<RandomData>(node);
  auto seed = static_cast<uint64_t>(int64_t{params.seed});
  auto seed2 = static_cast<uint64_t>(int64_t{params.seed2});
  if (seed == 0 && seed2 == 0) {
    seed = UnforeseenBits(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&data)));
    seed2 = UnforeseenBits(seed);
  }
  data.generator = Philox(seed, seed2);
}

// ---- RANDOM_UNIFORM and RANDOM_STANDARD_NORMAL ------------------------------------------------

TfLiteStatus ResizeRandom(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const int rank = Dim(shape, 0);
  if (rank > kMaxRank) {
    return TensorError(context, shape, "expected at most %d elements, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    DEPUTY_TRY(SetExtent(context, output, i, IntegerAt(shape, i), &dims[i]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareRandom(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* shape = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  DEPUTY_TRY(CheckType(context, output, kFloat32Bit));
  Seed(node);
  if (IsKnown(shape)) return ResizeRandom(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

struct Uniform {
  static void Fill(const Philox::Block& block, float* out) {
    for (size_t i = 0; i < block.size(); ++i) out[i] = UniformFloat(block[i]);
  }
};

// Pairs by the method of Box and Muller.
struct StandardNormal {
  static void Fill(const Philox::Block& block, float* out) {
    for (size_t i = 0; i < block.size(); i += 2) {
      const float radius = std::sqrt(-2.0f * std::log(std::max(UniformFloat(block[i]), 1.0e-7f)));
      const auto angle = static_cast<float>(2.0 * std::numbers::pi *
                                            static_cast<double>(UniformFloat(block[i + 1])));
      out[i] = radius * std::sin(angle);
      out[i + 1] = radius * std::cos(angle);
    }
  }
};

// What is left of the last block is dropped.
template <typename Distribution>
TfLiteStatus EvalRandom(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeRandom(context, node));
  Philox& generator = DataOf<RandomData>(node).generator;
  const int64_t count = ElementCount(output);
  float* out = Data<float>(output);
  for (int64_t i = 0; i < count; i += 4) {
    float numbers[4];
    Distribution::Fill(generator.Next(), numbers);
    std::copy_n(numbers, std::min<int64_t>(4, count - i), out + i);
  }
  return kTfLiteOk;
}

// ---- MULTINOMIAL ------------------------------------------------------------------------------

TfLiteStatus ResizeSamples(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* count = Input(context, node, 1);
  const int64_t samples = IntegerAt(count, 0);
  if (samples < 0) {
    return TensorError(context, count, "expected 0 samples or more, found %lld",
                       static_cast<long long>(samples));
  }
  const int dims[] = {Dim(Input(context, node, 0), 0), static_cast<int>(samples)};
  return ResizeTo(context, Output(context, node, 0), dims);
}

TfLiteStatus PrepareMultinomial(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* logits = Input(context, node, 0);
  const TfLiteTensor* count = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, logits, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, logits, 2));
  DEPUTY_TRY(CheckType(context, count, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, count, 0));
  DEPUTY_TRY(CheckType(context, output, kInt32Bit | kInt64Bit));
  if (Dim(logits, 1) < 1) {
    return TensorError(context, logits, "expected dimension 1 to be 1 or more, found 0");
  }
  Seed(node);
  if (IsKnown(count)) return ResizeSamples(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Sums of the classes' odds from the first on. Logits that are no numbers count for nothing.
void AddOdds(std::span<const float> logits, std::vector<double>* sums) {
  float most = std::numeric_limits<float>::lowest();
  for (const float logit : logits) {
    if (std::isfinite(logit)) most = std::max(most, logit);
  }
  double sum = 0.0;
  sums->clear();
  for (const float logit : logits) {
    if (std::isfinite(logit)) {
      sum += std::exp(static_cast<double>(logit) - static_cast<double>(most));
    }
    sums->push_back(sum);
  }
}

// Two numbers out of each block.
class DoubleSource {
 public:
  explicit DoubleSource(const Philox& generator) : generator_(generator) {}
  double Next() {
    if (used_ == 4) {
      block_ = generator_.Next();
      used_ = 0;
    }
    used_ += 2;
    return UniformDouble(block_[used_ - 2], block_[used_ - 1]);
  }

 private:
  Philox generator_;
  Philox::Block block_ = {};
  size_t used_ = 4;
};

template <typename T>
void DrawSamples(const TfLiteTensor* logits, DoubleSource* source, TfLiteTensor* output) {
  const auto classes = static_cast<size_t>(Dim(logits, 1));
  std::vector<double> sums;
  T* out = Data<T>(output);
  for (int64_t batch = 0; batch < Dim(output, 0); ++batch) {
    AddOdds({Data<float>(logits) + batch * Dim(logits, 1), classes}, &sums);
    for (int64_t i = 0; i < Dim(output, 1); ++i) {
      const auto found = std::upper_bound(sums.begin(), sums.end(), source->Next() * sums.back());
      *out++ = static_cast<T>(found - sums.begin());
    }
  }
}

// The generator skips far more numbers than are drawn, as TensorFlow's does.
TfLiteStatus EvalMultinomial(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* logits = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeSamples(context, node));
  DEPUTY_TRY(CheckRoom(context, logits, Dim(logits, 1), sizeof(double), "sums"));
  Philox& generator = DataOf<RandomData>(node).generator;
  DoubleSource source(generator);
  const uint64_t samples = (static_cast<uint64_t>(Dim(output, 1)) + 3) / 4 * 4;
  generator.Skip(static_cast<uint64_t>(Dim(output, 0)) * samples * 2 * 256);
  if (ElementCount(output) == 0) return kTfLiteOk;
  if (output->type == kTfLiteInt64) {
    DrawSamples<int64_t>(logits, &source, output);
  } else {
    DrawSamples<int32_t>(logits, &source, output);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef Random(OpDef op) { return WithOptions<114, TfLiteRandomParams, &FillRandom>(op); }

constexpr OpDef kTable[] = {
    Random(KernelRow<RandomData>("RANDOM_STANDARD_NORMAL", kTfLiteBuiltinRandomStandardNormal, 1,
                                 kInt32Bit, &Guarded<&PrepareRandom>,
                                 &Guarded<&EvalRandom<StandardNormal>>)),
    Random(KernelRow<RandomData>("RANDOM_UNIFORM", kTfLiteBuiltinRandomUniform, 1, kInt32Bit,
                                 &Guarded<&PrepareRandom>, &Guarded<&EvalRandom<Uniform>>)),
    Random(KernelRow<RandomData>("MULTINOMIAL", kTfLiteBuiltinMultinomial, 1, kFloat32Bit,
                                 &Guarded<&PrepareMultinomial>, &Guarded<&EvalMultinomial>)),
};

}  // namespace

constexpr std::span<const OpDef> kRandomOps = kTable;

}  // namespace deputy
