// SPDX-License-Identifier: Apache-2.0
//
// SKIP_GRAM, LSH_PROJECTION and HASHTABLE_LOOKUP. CONCAT_EMBEDDINGS and CALL are operators that
// upstream has retired without ever having kernels for them: they have no parameters.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fingerprint.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// ---- SKIP_GRAM --------------------------------------------------------------------------------

bool FillSkipGram(const OpOptions& options, TfLiteSkipGramParams* params) {
  params->ngram_size = options.Int(0);
  params->max_skip_size = options.Int(1);
  params->include_all_ngrams = options.Bool(2);
  return true;
}

TfLiteStatus PrepareSkipGram(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  DEPUTY_TRY(CheckType(context, Input(context, node, 0), kStringBit));
  DEPUTY_TRY(CheckType(context, Output(context, node, 0), kStringBit));
  MakeDynamic(Output(context, node, 0));
  return kTfLiteOk;
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Returns the words of a text, divided as in upstream: a space that begins the text belongs to the
// first word, which is dropped if another space follows it; other spaces are in no word.
std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  size_t first = 0;
  for (size_t i = 1; i < text.size(); ++i) {
    if (!IsSpace(text[i])) continue;
    if (i > first && !IsSpace(text[first])) words.push_back(text.substr(first, i - first));
    first = i + 1;
  }
  if (text.size() > first) words.push_back(text.substr(first));
  return words;
}

// Enumerates all n-grams with at most max_skip_size words skipped between two of them. N-grams with
// a common beginning are adjacent, longer ones first.
class SkipGrams {
 public:
  SkipGrams(const TfLiteSkipGramParams& params, std::vector<std::string_view> words,
            size_t max_bytes)
      : params_(params), words_(std::move(words)), max_bytes_(max_bytes) {}

  // Writes all n-grams to `out`; returns false if they would exceed the memory limits.
  bool Collect(std::vector<std::string>* out) {
    const auto count = static_cast<int64_t>(words_.size());
    if (params_.ngram_size < 1 || count < params_.ngram_size) return true;
    bool is_new = true;  // true until longer n-grams with the last chosen word have been tried
    for (chosen_ = {0}; !chosen_.empty();) {
      if (is_new && Extend(count)) continue;
      if (!Emit(out)) return false;
      const int64_t next = chosen_.back() + 1;
      chosen_.pop_back();
      is_new = CanFollow(next, count);
      if (is_new) chosen_.push_back(next);
    }
    return true;
  }

 private:
  bool CanFollow(int64_t word, int64_t count) const {
    if (word >= count) return false;
    // Skips n-grams that too few words remain to complete; there may be 2^count of them.
    const int64_t max_length = static_cast<int64_t>(chosen_.size()) + count - word;
    if (max_length < params_.ngram_size && !params_.include_all_ngrams) return false;
    return chosen_.empty() || word - chosen_.back() - 1 <= params_.max_skip_size;
  }
  // Appends the nearest word that may follow the chosen ones; returns false if there is none.
  bool Extend(int64_t count) {
    if (static_cast<int64_t>(chosen_.size()) >= params_.ngram_size) return false;
    const int64_t next = chosen_.back() + 1;
    if (!CanFollow(next, count)) return false;
    chosen_.push_back(next);
    return true;
  }
  bool Emit(std::vector<std::string>* out) {
    if (static_cast<int64_t>(chosen_.size()) < params_.ngram_size && !params_.include_all_ngrams) {
      return true;
    }
    std::string gram;
    for (const int64_t word : chosen_) {
      if (!gram.empty()) gram += ' ';
      gram += words_[static_cast<size_t>(word)];
    }
    bytes_ += gram.size() + sizeof(std::string);
    if (bytes_ > max_bytes_) return false;
    out->push_back(std::move(gram));
    return true;
  }

  const TfLiteSkipGramParams& params_;
  std::vector<std::string_view> words_;
  size_t max_bytes_, bytes_ = 0;
  std::vector<int64_t> chosen_;
};

TfLiteStatus EvalSkipGram(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  std::vector<std::string_view> texts;
  DEPUTY_TRY(ReadStrings(context, input, &texts));
  if (texts.empty()) return TensorError(context, input, "expected a string, found none");
  std::vector<std::string> grams;
  SkipGrams skip_grams(ParamsOf<TfLiteSkipGramParams>(node), SplitWords(texts[0]),
                       LimitsOf(context).max_block_bytes);
  if (!skip_grams.Collect(&grams) || grams.size() > INT32_MAX) {
    return TensorError(context, output, "the n-grams exceed the memory limit");
  }
  const int count = static_cast<int>(grams.size());
  DEPUTY_TRY(ResizeTo(context, output, {&count, 1}));
  return WriteStrings(context, output, {grams.begin(), grams.end()});
}

// ---- LSH_PROJECTION ---------------------------------------------------------------------------

bool FillLshProjection(const OpOptions& options, TfLiteLSHProjectionParams* params) {
  const int8_t type = options.Byte(0);
  const bool known = type == kTfLiteLshProjectionSparse || type == kTfLiteLshProjectionDense;
  params->type = known ? static_cast<TfLiteLSHProjectionType>(type) : kTfLiteLshProjectionUnknown;
  return true;
}

constexpr int kMaxHashBits = 32;

TfLiteStatus CheckProjection(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* hash = Input(context, node, 0);
  const TfLiteTensor* input = Input(context, node, 1);
  const TfLiteTensor* weight = Input(context, node, 2);
  DEPUTY_TRY(CheckType(context, hash, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, hash, 2));
  if (Dim(hash, 1) > kMaxHashBits) {
    return TensorError(context, hash, "expected at most %d bits, found %d", kMaxHashBits,
                       Dim(hash, 1));
  }
  DEPUTY_TRY(CheckType(context, input, kNumberBits));
  if (Rank(input) < 1 || Dim(input, 0) < 1) {
    return TensorError(context, input, "expected 1 item or more, found none");
  }
  if (node->inputs->size < 3) return kTfLiteOk;
  if (weight == nullptr) return KernelError(context, "input 2: expected a tensor, found none");
  DEPUTY_TRY(CheckType(context, weight, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, weight, 1));
  return CheckDim(context, weight, 0, Dim(input, 0));
}

TfLiteStatus PrepareProjection(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 3, 1));
  DEPUTY_TRY(CheckProjection(context, node));
  const TfLiteTensor* hash = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, output, kInt32Bit));
  const auto type = ParamsOf<TfLiteLSHProjectionParams>(node).type;
  if (type == kTfLiteLshProjectionUnknown) {
    return KernelError(context, "type: expected SPARSE or DENSE, found none");
  }
  int extent = 0;
  const int64_t numbers = type == kTfLiteLshProjectionSparse ? 1 : Dim(hash, 1);
  DEPUTY_TRY(SetExtent(context, output, 0, Dim(hash, 0) * numbers, &extent));
  return ResizeTo(context, output, {&extent, 1});
}

// Returns the side of a random plane, given by the seed, on which the items are.
int SideOf(const TfLiteTensor* input, const TfLiteTensor* weight, float seed,
           std::vector<uint8_t>* key) {
  const size_t item_bytes = input->bytes / static_cast<size_t>(Dim(input, 0));
  // Items without bytes are all equal; if there are no weights, one of them is enough.
  const int items = item_bytes == 0 && weight == nullptr ? 1 : Dim(input, 0);
  double score = 0.0;
  key->resize(sizeof seed + item_bytes);
  std::memcpy(key->data(), &seed, sizeof seed);
  for (int i = 0; i < items; ++i) {
    if (item_bytes > 0) {
      std::memcpy(key->data() + sizeof seed,
                  Data<uint8_t>(input) + static_cast<size_t>(i) * item_bytes, item_bytes);
    }
    const auto value = static_cast<double>(static_cast<int64_t>(Fingerprint(*key)));
    score += weight == nullptr ? value : static_cast<double>(Data<float>(weight)[i]) * value;
  }
  return score > 0 ? 1 : 0;
}

TfLiteStatus EvalProjection(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* hash = Input(context, node, 0);
  const TfLiteTensor* input = Input(context, node, 1);
  const TfLiteTensor* weight = Input(context, node, 2);
  const bool dense = ParamsOf<TfLiteLSHProjectionParams>(node).type == kTfLiteLshProjectionDense;
  const int bits = Dim(hash, 1);
  DEPUTY_TRY(CheckContainerSize(context, input, static_cast<int64_t>(input->bytes), 1, "bytes"));
  std::vector<uint8_t> key;
  int32_t* out = Data<int32_t>(Output(context, node, 0));
  for (int i = 0; i < Dim(hash, 0); ++i) {
    uint32_t signature = 0;
    for (int j = 0; j < bits; ++j) {
      const float seed = Data<float>(hash)[int64_t{i} * bits + j];
      const int side = SideOf(input, weight, seed, &key);
      if (dense) *out++ = side;
      signature = signature << 1 | static_cast<uint32_t>(side);
    }
    // Each hash has its own base, so that the numbers of different hashes are distinct as long as
    // they fit.
    const uint64_t base = static_cast<uint64_t>(i) << bits;
    if (!dense) *out++ = static_cast<int32_t>(signature + static_cast<uint32_t>(base));
  }
  return kTfLiteOk;
}

// ---- HASHTABLE_LOOKUP -------------------------------------------------------------------------

TfLiteStatus PrepareTableLookup(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 2));
  const TfLiteTensor* lookup = Input(context, node, 0);
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* values = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  TfLiteTensor* hits = Output(context, node, 1);
  for (const TfLiteTensor* integers : {lookup, keys}) {
    DEPUTY_TRY(CheckType(context, integers, kInt32Bit));
    DEPUTY_TRY(CheckRank(context, integers, 1));
  }
  DEPUTY_TRY(CheckType(context, values, kMovedBits));
  if (values->type == kTfLiteString) DEPUTY_TRY(CheckRank(context, values, 1));
  if (Rank(values) < 1 || Dim(values, 0) < 1) {
    return TensorError(context, values, "expected 1 row or more, found none");
  }
  DEPUTY_TRY(CheckDim(context, keys, 0, Dim(values, 0)));
  DEPUTY_TRY(CheckSameType(context, output, values));
  DEPUTY_TRY(CheckType(context, hits, kUInt8Bit));
  int dims[kMaxRank];
  std::copy_n(Dims(values).data(), Rank(values), dims);
  dims[0] = Dim(lookup, 0);
  DEPUTY_TRY(ResizeTo(context, hits, {dims, 1}));
  if (values->type == kTfLiteString) MakeDynamic(output);
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(values))});
}

// Returns the row of a key by binary search, which requires sorted keys; -1 if there is none. Of
// several equal keys it returns the first one found.
int64_t FindKey(std::span<const int32_t> keys, int32_t key) {
  size_t first = 0, last = keys.size();
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (keys[middle] == key) return static_cast<int64_t>(middle);
    if (keys[middle] < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return -1;
}

TfLiteStatus EvalTableLookup(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* lookup = Input(context, node, 0);
  const TfLiteTensor* keys = Input(context, node, 1);
  const TfLiteTensor* values = Input(context, node, 2);
  uint8_t* hits = Data<uint8_t>(Output(context, node, 1));
  const int64_t run = SplitAt(Dims(values), 0).inner;
  const std::span<const int32_t> sorted = {Data<int32_t>(keys), static_cast<size_t>(Dim(keys, 0))};
  const auto find = [&](int64_t i) { return FindKey(sorted, Data<int32_t>(lookup)[i]); };
  for (int64_t i = 0; i < Dim(lookup, 0); ++i) hits[i] = find(i) >= 0;
  return MoveElements(context, values, Output(context, node, 0), [&](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    for (int64_t i = 0; i < Dim(lookup, 0); ++i, out += run) {
      const int64_t row = find(i);
      if (row >= 0) {
        std::copy_n(in + row * run, run, out);
      } else {
        std::fill_n(out, run, T{});
      }
    }
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<18, TfLiteSkipGramParams, &FillSkipGram>(
        KernelRow<void>("SKIP_GRAM", kTfLiteBuiltinSkipGram, 1, kStringBit,
                        &Guarded<&PrepareSkipGram>, &Guarded<&EvalSkipGram>)),
    WithOptions<4, TfLiteLSHProjectionParams, &FillLshProjection>(
        KernelRow<void>("LSH_PROJECTION", kTfLiteBuiltinLshProjection, 1, kNumberBits,
                        &Guarded<&PrepareProjection>, &Guarded<&EvalProjection>)),
    KernelRow<void>("HASHTABLE_LOOKUP", kTfLiteBuiltinHashtableLookup, 1, kMovedBits,
                    &Guarded<&PrepareMove<RescaleInputs(4), &PrepareTableLookup>>,
                    &Guarded<&EvalMove<RescaleInputs(4), &EvalTableLookup>>),
    ParserRow("CONCAT_EMBEDDINGS", kTfLiteBuiltinConcatEmbeddings),
    ParserRow("CALL", kTfLiteBuiltinCall),
};

}  // namespace

constexpr std::span<const OpDef> kTextOps = kTable;

}  // namespace deputy
