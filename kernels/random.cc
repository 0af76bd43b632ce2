// SPDX-License-Identifier: Apache-2.0
//
// RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM and MULTINOMIAL, with TensorFlow's generator: Philox 4x32
// with ten rounds, whose numbers depend only on two seeds and a counter. The counter is reset
// whenever AllocateTensors prepares the node, which it does after every resize, and continues from
// one Invoke to the next. Two zero seeds request unpredictable numbers. The seeds are 64-bit in the
// model and truncated to 32 bits, as upstream does.
//
// STABLEHLO_RNG_BIT_GENERATOR is stateless: key and counter are an input tensor, and the updated
// state is an output tensor. It supports Philox and Threefry 2x32 with twenty rounds.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kernels/common/elements.h"
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

// ---- Generators -------------------------------------------------------------------------------

// The generators Philox and Threefry (J. K. Salmon and others, "Parallel random numbers: as easy as
// 1, 2, 3", 2011) map a counter to random bits under a key.
using Key = std::array<uint32_t, 2>;

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

std::array<uint32_t, 4> PhiloxBits(Key key, std::array<uint32_t, 4> block) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t even = uint64_t{0xd2511f53} * block[0];
    const uint64_t odd = uint64_t{0xcd9e8d57} * block[2];
    block = {High(odd) ^ block[1] ^ key[0], Low(odd), High(even) ^ block[3] ^ key[1], Low(even)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return block;
}

std::array<uint32_t, 2> ThreefryBits(Key key, std::array<uint32_t, 2> block) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bda};
  block[0] += keys[0];
  block[1] += keys[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int rotation : kRotations[group % 2]) {
      block[0] += block[1];
      block[1] = std::rotl(block[1], rotation) ^ block[0];
    }
    block[0] += keys[(group + 1) % 3];
    block[1] += keys[(group + 2) % 3] + group + 1;
  }
  return block;
}

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  Philox() = default;
  Philox(uint64_t seed, uint64_t seed2) : key_{Low(seed), High(seed)}, high_count_(seed2) {}

  Block Next() {
    const Block block =
        PhiloxBits(key_, {Low(count_), High(count_), Low(high_count_), High(high_count_)});
    Skip(1);
    return block;
  }

  void Skip(uint64_t blocks) {
    count_ += blocks;
    if (count_ < blocks) ++high_count_;
  }

 private:
  Key key_ = {0, 0};
  uint64_t count_ = 0, high_count_ = 0;
};

// Converts 23 (float) or 52 (double) random bits to a uniform number in [0, 1).
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

// Returns unpredictable bits: from the clock and an address, mixed as in splitmix64.
uint64_t UnpredictableBits(uint64_t from) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  uint64_t z = from + static_cast<uint64_t>(now) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void Seed(TfLiteContext* context, TfLiteNode* node) {
  if (Runtime* const runtime = RuntimeOf(context)) runtime->NoteState();
  const auto& params = ParamsOf<TfLiteRandomParams>(node);
  RandomData& data = DataOf<RandomData>(node);
  auto seed = static_cast<uint64_t>(int64_t{params.seed});
  auto seed2 = static_cast<uint64_t>(int64_t{params.seed2});
  if (seed == 0 && seed2 == 0) {
    seed = UnpredictableBits(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&data)));
    seed2 = UnpredictableBits(seed);
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
  Seed(context, node);
  if (IsKnown(shape)) return ResizeRandom(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

struct Uniform {
  static void Fill(const Philox::Block& block, float* out) {
    for (size_t i = 0; i < block.size(); ++i) out[i] = UniformFloat(block[i]);
  }
};

// Fills a block with normally distributed numbers, in pairs by the Box-Muller method.
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

// Fills the output with numbers of a distribution; unused numbers of the last block are dropped.
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
  Seed(context, node);
  if (IsKnown(count)) return ResizeSamples(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Sets `sums` to the cumulative sums of the classes' odds. Logits that are not finite are ignored.
void AddOdds(std::span<const float> logits, std::vector<double>* sums) {
  float max_logit = std::numeric_limits<float>::lowest();
  for (const float logit : logits) {
    if (std::isfinite(logit)) max_logit = std::max(max_logit, logit);
  }
  double sum = 0.0;
  sums->clear();
  for (const float logit : logits) {
    if (std::isfinite(logit)) {
      sum += std::exp(static_cast<double>(logit) - static_cast<double>(max_logit));
    }
    sums->push_back(sum);
  }
}

// Source of uniform doubles, two per block of the generator.
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

// Computes MULTINOMIAL. The generator skips far more numbers than are drawn, as TensorFlow's does.
TfLiteStatus EvalMultinomial(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* logits = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeSamples(context, node));
  DEPUTY_TRY(CheckContainerSize(context, logits, Dim(logits, 1), sizeof(double), "sums"));
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

// ---- STABLEHLO_RNG_BIT_GENERATOR --------------------------------------------------------------

constexpr OptionsKind kBitsOptions = {2, 19};
constexpr uint32_t kBitsTypes = kInt32Bit | kUInt32Bit | kInt64Bit | TypeBit(kTfLiteUInt64);

// Parses the algorithm; Philox is the default, also for a model without options.
bool ParseBits(const OpOptions& options, void* out) {
  if (!options.As(kBitsOptions).present()) return true;
  TfLiteRngAlgorithm& algorithm =
      static_cast<TfLiteStablehloRngBitGeneratorParams*>(out)->algorithm;
  switch (options.Byte(0)) {
    case 0:
      algorithm = kTfLiteRngAlgorithmDefault;
      break;
    case 1:
      algorithm = kTfLiteRngAlgorithmPhilox;
      break;
    case 2:
      algorithm = kTfLiteRngAlgorithmThreefry;
      break;
    default:
      algorithm = kTfLiteRngAlgorithmUnknown;
  }
  return true;
}

// Checks the state tensor. It has a key and a counter; for Philox the upper half of the counter may
// follow.
TfLiteStatus CheckState(TfLiteContext* context, const TfLiteNode* node, const TfLiteTensor* state) {
  const TfLiteRngAlgorithm algorithm =
      ParamsOf<TfLiteStablehloRngBitGeneratorParams>(node).algorithm;
  if (algorithm == kTfLiteRngAlgorithmThreefry) return CheckDim(context, state, 0, 2);
  if (algorithm != kTfLiteRngAlgorithmDefault && algorithm != kTfLiteRngAlgorithmPhilox) {
    return KernelError(context, "expected the algorithm DEFAULT, PHILOX or THREEFRY, found %d",
                       static_cast<int>(algorithm));
  }
  if (Dim(state, 0) != 2 && Dim(state, 0) != 3) {
    return TensorError(context, state, "expected 2 or 3 elements, found %d", Dim(state, 0));
  }
  return kTfLiteOk;
}

// Prepares STABLEHLO_RNG_BIT_GENERATOR. The bits have the shape that the model declares.
TfLiteStatus PrepareBits(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 2));
  const TfLiteTensor* state = Input(context, node, 0);
  TfLiteTensor* next_state = Output(context, node, 0);
  TfLiteTensor* bits = Output(context, node, 1);
  DEPUTY_TRY(CheckType(context, state, TypeBit(kTfLiteUInt64)));
  DEPUTY_TRY(CheckRank(context, state, 1));
  DEPUTY_TRY(CheckState(context, node, state));
  DEPUTY_TRY(CheckSameType(context, next_state, state));
  DEPUTY_TRY(CheckRank(context, next_state, 1));
  DEPUTY_TRY(CheckDim(context, next_state, 0, Dim(state, 0)));
  DEPUTY_TRY(CheckType(context, bits, kBitsTypes));
  DEPUTY_TRY(ResizeLike(context, next_state, state));
  return ResizeLike(context, bits, bits);
}

// Writes `count` words generated from `block`, whose first two words are the counter. Returns the
// updated counter. Unused words of the last block are dropped.
template <typename Block>
uint64_t FillBits(Key key, Block block, Block (*generate)(Key, Block), int64_t count,
                  uint32_t* out) {
  for (int64_t i = 0; i < count; i += static_cast<int64_t>(block.size())) {
    const Block numbers = generate(key, block);
    std::copy_n(numbers.begin(), std::min(static_cast<int64_t>(block.size()), count - i), out + i);
    if (++block[0] == 0) ++block[1];
  }
  return uint64_t{block[1]} << 32 | block[0];
}

TfLiteStatus EvalBits(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* state = Input(context, node, 0);
  TfLiteTensor* bits = Output(context, node, 1);
  const uint64_t* in = Data<uint64_t>(state);
  uint64_t* out = Data<uint64_t>(Output(context, node, 0));
  uint32_t* words = Data<uint32_t>(bits);
  const int64_t count = ElementCount(bits) * (ElementBytes(bits->type) / 4);
  const Key key = {Low(in[0]), High(in[0])};
  std::copy_n(in, Dim(state, 0), out);
  if (ParamsOf<TfLiteStablehloRngBitGeneratorParams>(node).algorithm ==
      kTfLiteRngAlgorithmThreefry) {
    out[1] = FillBits(key, {Low(in[1]), High(in[1])}, &ThreefryBits, count, words);
  } else {
    // If the state has no upper half of the counter, Philox uses the key in its place.
    const uint64_t upper = Dim(state, 0) == 3 ? in[2] : in[0];
    out[1] = FillBits(key, {Low(in[1]), High(in[1]), Low(upper), High(upper)}, &PhiloxBits, count,
                      words);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef BitsRow() {
  OpDef op = KernelRow<void>("STABLEHLO_RNG_BIT_GENERATOR", kTfLiteBuiltinStablehloRngBitGenerator,
                             1, kBitsTypes, &Guarded<&PrepareBits>, &Guarded<&EvalBits>);
  op.options = kBitsOptions;
  op.params_size = sizeof(TfLiteStablehloRngBitGeneratorParams);
  op.parse = &ParseBits;
  return op;
}

constexpr OpDef Random(OpDef op) { return WithOptions<114, TfLiteRandomParams, &FillRandom>(op); }

constexpr OpDef kTable[] = {
    Random(KernelRow<RandomData>("RANDOM_STANDARD_NORMAL", kTfLiteBuiltinRandomStandardNormal, 1,
                                 kInt32Bit, &Guarded<&PrepareRandom>,
                                 &Guarded<&EvalRandom<StandardNormal>>)),
    Random(KernelRow<RandomData>("RANDOM_UNIFORM", kTfLiteBuiltinRandomUniform, 1, kInt32Bit,
                                 &Guarded<&PrepareRandom>, &Guarded<&EvalRandom<Uniform>>)),
    Random(KernelRow<RandomData>("MULTINOMIAL", kTfLiteBuiltinMultinomial, 1, kFloat32Bit,
                                 &Guarded<&PrepareMultinomial>, &Guarded<&EvalMultinomial>)),
    BitsRow(),
};

}  // namespace

constexpr std::span<const OpDef> kRandomOps = kTable;

}  // namespace deputy
