// SPDX-License-Identifier: Apache-2.0
//
// Builds mutants of .ms models: changed scalars, lengths, offsets and vtables, exchanged tables,
// truncated files. No mutant may crash the process; Build of one may take a second of processor
// time and 200 MB. Mutants that build and have small inputs and outputs also run. A mutant is
// reproducible from its number.
//
//     DEPUTY_MS_WRITE_FOLDER=/tmp/ms mindspore_tests     # writes the models of all tests there
//     DEPUTY_MS_CORPUS=/tmp/ms DEPUTY_MS_MUTANTS=100000 mindspore_hostile_test
//     DEPUTY_MS_ONLY=4711 ...                            # builds one mutant, in this process
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "tests/mindspore/mindspore_support.h"
#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::mindspore_hostile_test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

using Bytes = std::vector<uint8_t>;
using ms::MsWriter;
namespace file = ms::file;

// ---- Models -------------------------------------------------------------------------------------

template <typename Describe>
Bytes ModelWith(Describe&& describe) {
  MsWriter w;
  describe(&w);
  return w.Finish();
}

// Five small models: a convolution, a product and a softmax, a resize and a reduction, moves of
// data, an activation and an addition.
std::vector<Bytes> OwnModels() {
  std::vector<Bytes> models;
  models.push_back(ModelWith([](MsWriter* w) {
    const uint32_t x = w->Input({1, 4, 4, 2}), y = w->Tensor({1, 4, 4, 3}), z = w->Output({1, 48});
    const uint32_t weights = w->Constant<float>({3, 3, 3, 2}, std::vector<float>(54, 0.5F));
    const uint32_t bias = w->Constant<float>({3}, {1, 2, 3});
    const auto kernel = w->Longs({3, 3}), ones = w->Longs({1, 1}), pads = w->Longs({1, 1, 1, 1});
    file::Conv2DFusionBuilder conv(w->fbb());
    conv.add_kernel_size(kernel);
    conv.add_stride(ones);
    conv.add_dilation(ones);
    conv.add_pad_list(pads);
    conv.add_group(1);
    conv.add_in_channel(2);
    conv.add_out_channel(3);
    w->Node(file::PrimitiveType_Conv2DFusion, {x, weights, bias}, {y}, conv.Finish());
    w->Node(file::PrimitiveType_Reshape, {y, w->Ints({0, -1})}, {z});
  }));
  models.push_back(ModelWith([](MsWriter* w) {
    const uint32_t x = w->Input({2, 3}), y = w->Tensor({2, 4}), z = w->Output({2, 4});
    const uint32_t weights = w->Constant<float>({4, 3}, std::vector<float>(12, 0.5F));
    file::MatMulFusionBuilder product(w->fbb());
    product.add_transpose_b(true);
    w->Node(file::PrimitiveType_MatMulFusion, {x, weights}, {y}, product.Finish());
    const auto axis = w->Longs({1});
    file::SoftmaxBuilder softmax(w->fbb());
    softmax.add_axis(axis);
    w->Node(file::PrimitiveType_Softmax, {y}, {z}, softmax.Finish());
  }));
  models.push_back(ModelWith([](MsWriter* w) {
    const uint32_t x = w->Input({1, 2, 2, 3}), y = w->Tensor({1, 4, 4, 3}), z = w->Output({3});
    file::ResizeBuilder resize(w->fbb());
    resize.add_method(file::ResizeMethod_NEAREST);
    resize.add_new_height(4);
    resize.add_new_width(4);
    w->Node(file::PrimitiveType_Resize, {x}, {y}, resize.Finish());
    file::ReduceFusionBuilder reduce(w->fbb());
    reduce.add_mode(file::ReduceMode_ReduceMean);
    w->Node(file::PrimitiveType_ReduceFusion, {y, w->Ints({0, 1, 2})}, {z}, reduce.Finish());
  }));
  models.push_back(ModelWith([](MsWriter* w) {
    const uint32_t x = w->Input({2, 4}), a = w->Tensor({4, 2}), b = w->Tensor({2, 2});
    const uint32_t c = w->Tensor({2, 4}), d = w->Tensor({1, 2, 4}), y = w->Output({2, 1, 4});
    w->Node(file::PrimitiveType_Transpose, {x, w->Ints({1, 0})}, {a});
    w->Node(file::PrimitiveType_StridedSlice,
            {a, w->Ints({0, 0}), w->Ints({4, 2}), w->Ints({2, 1})}, {b});
    file::ConcatBuilder concat(w->fbb());
    concat.add_axis(1);
    w->Node(file::PrimitiveType_Concat, {b, b}, {c}, concat.Finish());
    w->Node(file::PrimitiveType_ExpandDims, {c, w->Ints({0})}, {d});
    w->Node(file::PrimitiveType_Transpose, {d, w->Ints({1, 0, 2})}, {y});
  }));
  models.push_back(ModelWith([](MsWriter* w) {
    const uint32_t x = w->Input({1, 4}), y = w->Tensor({1, 4}), z = w->Output({1, 4});
    file::ActivationBuilder activation(w->fbb());
    activation.add_activation_type(file::ActivationType_RELU6);
    w->Node(file::PrimitiveType_Activation, {x}, {y}, activation.Finish());
    file::AddFusionBuilder add(w->fbb());
    w->Node(file::PrimitiveType_AddFusion, {y, w->Constant<float>({4}, {1, 2, 3, 4})}, {z},
            add.Finish());
  }));
  return models;
}

// The models above and those of the folder DEPUTY_MS_CORPUS.
std::vector<Bytes> AllModels() {
  std::vector<Bytes> models = OwnModels();
  const char* folder = std::getenv("DEPUTY_MS_CORPUS");
  if (folder == nullptr) return models;
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.insert(entry.path());
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    models.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (models.back().size() < 8) models.pop_back();
  }
  return models;
}

// ---- Structure of a file ------------------------------------------------------------------------

template <typename Number>
Number Read(const Bytes& bytes, size_t at) {
  Number value = 0;
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

template <typename Number>
void Write(Bytes* bytes, size_t at, Number value) {
  if (at + sizeof value <= bytes->size()) std::memcpy(&(*bytes)[at], &value, sizeof value);
}

// Positions in a FlatBuffer, found from its root without a schema: whether a field is an offset is
// decided by what is at its target.
class Structure {
 public:
  explicit Structure(const Bytes& bytes) : bytes_(bytes) {
    fields.push_back(0);
    offsets.push_back(0);
    FindTable(Read<uint32_t>(bytes, 0));
  }

  std::vector<size_t> fields;    // of tables
  std::vector<size_t> offsets;   // to tables, vectors and strings
  std::vector<size_t> lengths;   // of vectors and strings
  std::vector<size_t> elements;  // of vectors, as numbers of 4 bytes
  std::vector<size_t> entries;   // of vtables
  std::vector<size_t> targets;   // tables, vectors and strings

 private:
  static constexpr size_t kMaxElements = 64;

  bool IsTable(size_t at) const {
    const int64_t vtable = static_cast<int64_t>(at) - Read<int32_t>(bytes_, at);
    if (at + 4 > bytes_.size() || vtable < 4 || vtable + 4 > static_cast<int64_t>(bytes_.size())) {
      return false;
    }
    const auto size = Read<uint16_t>(bytes_, static_cast<size_t>(vtable));
    const auto table = Read<uint16_t>(bytes_, static_cast<size_t>(vtable) + 2);
    return size >= 4 && size % 2 == 0 && size < 256 && table >= 4 && at + table <= bytes_.size();
  }

  void FindTable(size_t at) {
    if (!IsTable(at) || !seen_.insert(at).second) return;
    targets.push_back(at);
    const size_t vtable = at - static_cast<size_t>(static_cast<int64_t>(Read<int32_t>(bytes_, at)));
    const auto size = Read<uint16_t>(bytes_, vtable);
    for (size_t entry = vtable + 4; entry < vtable + size; entry += 2) {
      entries.push_back(entry);
      const auto field = Read<uint16_t>(bytes_, entry);
      if (field == 0) continue;
      fields.push_back(at + field);
      FindTarget(at + field);
    }
  }

  // Follows a position that may be an offset.
  void FindTarget(size_t at) {
    const auto offset = Read<uint32_t>(bytes_, at);
    if (offset < 4 || offset % 4 != 0 || at + offset + 4 > bytes_.size()) return;
    const size_t target = at + offset;
    if (IsTable(target)) {
      offsets.push_back(at);
      FindTable(target);
    } else if (Read<uint32_t>(bytes_, target) <= bytes_.size() - target) {
      offsets.push_back(at);
      FindVector(target);
    }
  }

  void FindVector(size_t at) {
    if (!seen_.insert(at).second) return;
    targets.push_back(at);
    lengths.push_back(at);
    const size_t count = std::min<size_t>(Read<uint32_t>(bytes_, at), kMaxElements);
    for (size_t i = 0; i < count && at + 8 + 4 * i <= bytes_.size(); ++i) {
      elements.push_back(at + 4 + 4 * i);
      FindTarget(at + 4 + 4 * i);
    }
  }

  const Bytes& bytes_;
  std::set<size_t> seen_;
};

// ---- Mutants ------------------------------------------------------------------------------------

class Mutator {
 public:
  Mutator(const Bytes& model, uint64_t number)
      : bytes_(model), structure_(model), random_(number * 2654435761U + 1) {}

  Bytes Mutate() {
    const size_t changes = 1 + Below(3);
    for (size_t i = 0; i < changes; ++i) Change();
    return std::move(bytes_);
  }

 private:
  size_t Below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  size_t OneOf(const std::vector<size_t>& positions) {
    return positions.empty() ? 0 : positions[Below(positions.size())];
  }

  uint32_t HostileNumber(uint32_t old) {
    constexpr std::array<uint32_t, 14> kNumbers = {
        0,     1,     2,          3,          7,          255,        256,
        65535, 65536, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x40000000};
    switch (Below(4)) {
      case 0:
        return old + 1;
      case 1:
        return old - 1;
      case 2:
        return static_cast<uint32_t>(Below(256));
      default:
        return kNumbers[Below(kNumbers.size())];
    }
  }

  void Change() {
    switch (Below(9)) {
      case 0:  // a scalar or offset of a table
        return ChangeNumber(OneOf(structure_.fields));
      case 1:  // one byte of a field: a union's type, an enumeration, a flag
        return Write(&bytes_, OneOf(structure_.fields), static_cast<uint8_t>(Below(214)));
      case 2:
        return ChangeNumber(OneOf(structure_.lengths));
      case 3:
        return ChangeNumber(OneOf(structure_.elements));
      case 4:  // another table or vector
        return Redirect(OneOf(structure_.offsets), OneOf(structure_.targets));
      case 5: {  // a vtable entry: that of another field, or 0
        const size_t entry = OneOf(structure_.entries), other = OneOf(structure_.entries);
        const auto field = Below(3) == 0 ? uint16_t{0} : Read<uint16_t>(bytes_, other);
        return Write(&bytes_, entry, field);
      }
      case 6:
        if (Below(4) == 0) bytes_.resize(bytes_.size() - Below(bytes_.size()));
        return;
      case 7: {  // a number of 8 bytes
        const int64_t number = static_cast<int32_t>(HostileNumber(1));
        return Write(&bytes_, OneOf(structure_.elements), Below(2) == 0 ? number : number << 31);
      }
      default:
        if (!bytes_.empty()) bytes_[Below(bytes_.size())] ^= static_cast<uint8_t>(1U << Below(8));
        return;
    }
  }

  void ChangeNumber(size_t at) { Write(&bytes_, at, HostileNumber(Read<uint32_t>(bytes_, at))); }
  void Redirect(size_t from, size_t to) { Write(&bytes_, from, static_cast<uint32_t>(to - from)); }

  Bytes bytes_;
  const Structure structure_;
  std::mt19937_64 random_;
};

// ---- Runs ---------------------------------------------------------------------------------------

// Returns a value of /proc/self/status in bytes.
int64_t StatusBytes(const char* key) {
  std::ifstream in("/proc/self/status");
  std::string line;
  while (std::getline(in, line)) {
    if (line.rfind(key, 0) == 0) return std::atoll(line.c_str() + std::strlen(key)) * 1024;
  }
  return 0;
}

// Runs a model with zeros, if its inputs and outputs are small: the time of others has no limit.
void RunSmall(mindspore::Model* model) {
  constexpr size_t kMaxBytes = 1 << 16;
  std::vector<MSTensor> inputs = model->GetInputs(), outputs;
  for (MSTensor& tensor : inputs) {
    if (tensor.DataSize() > kMaxBytes || tensor.MutableData() == nullptr) return;
    std::memset(tensor.MutableData(), 0, tensor.DataSize());
  }
  for (const MSTensor& tensor : model->GetOutputs()) {
    if (tensor.DataSize() > kMaxBytes) return;
  }
  static_cast<void>(model->Predict(inputs, &outputs));
}

// Memory that parent and children share: the number of the current mutant, the number of models
// that were built, the largest costs of a Build, and the failure of a mutant.
struct Progress {
  uint64_t number, built;
  double max_seconds;
  int64_t max_bytes;
  std::array<char, 256> text;
};

// Builds a mutant, and runs it if it is a small model. Returns "" or the reason why Build is not
// within the limits, which are not checked with sanitizers.
std::string BuildMutant(const std::vector<Bytes>& models, uint64_t number, Progress* progress) {
  const Bytes mutant = Mutator(models[number % models.size()], number).Mutate();
  std::ofstream("/proc/self/clear_refs") << "5";  // resets VmHWM
  const int64_t before = StatusBytes("VmRSS:");
  const std::clock_t begin = std::clock();
  mindspore::Model model;
  const auto status = model.Build(mutant.data(), mutant.size(), mindspore::kMindIR, CpuContext());
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const int64_t peak = StatusBytes("VmHWM:") - before;
  constexpr double kMaxSeconds = 1;
  constexpr int64_t kMaxBytes = 200'000'000;
  progress->built += status.IsOk();
  progress->max_seconds = std::max(progress->max_seconds, seconds);
  progress->max_bytes = std::max(progress->max_bytes, peak);
  if (status.IsError() && status.GetErrDescription().empty()) return "fails without a text";
  if (seconds > kMaxSeconds && !kIsSanitized) return "took " + std::to_string(seconds) + " s";
  if (peak > kMaxBytes && !kIsSanitized) return "needed " + std::to_string(peak) + " bytes";
  if (status.IsOk()) RunSmall(&model);
  return "";
}

// Builds the mutants [first, end) in a child process; returns the first one that failed, or `end`.
uint64_t BuildInChild(const std::vector<Bytes>& models, uint64_t first, uint64_t end,
                      Progress* progress) {
  progress->text = {};
  progress->number = first;
  const pid_t child = fork();
  if (child == 0) {
    for (; progress->number < end; ++progress->number) {
      const std::string problem = BuildMutant(models, progress->number, progress);
      if (problem.empty()) continue;
      std::snprintf(progress->text.data(), progress->text.size(), "%s", problem.c_str());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    std::snprintf(progress->text.data(), progress->text.size(), "signal %d", WTERMSIG(status));
  }
  return progress->number;
}

uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(MindSporeHostile, mutants_fail_with_a_text_within_bounds) {
  const std::vector<Bytes> models = AllModels();
  if (std::getenv("DEPUTY_MS_ONLY") != nullptr) {
    Progress progress = {};
    EXPECT_EQ(BuildMutant(models, NumberFrom("DEPUTY_MS_ONLY", 0), &progress), "");
    return;
  }
  const uint64_t end = NumberFrom("DEPUTY_MS_MUTANTS", 3000);
  auto* const progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(progress, MAP_FAILED);
  int failures = 0;
  for (uint64_t number = 0; number < end && failures < 20; ++number) {
    number = BuildInChild(models, number, end, progress);
    if (number >= end) break;
    ADD_FAILURE() << "mutant " << number << ": " << progress->text.data();
    ++failures;
  }
  EXPECT_GT(progress->built, 0U);
  EXPECT_LT(progress->built, end);
  std::printf("%llu mutants of %zu models, %llu built, at most %.3f s and %.1f MB each\n",
              static_cast<unsigned long long>(end), models.size(),
              static_cast<unsigned long long>(progress->built), progress->max_seconds,
              static_cast<double>(progress->max_bytes) / 1e6);
  munmap(progress, sizeof(Progress));
}

TEST(MindSporeHostile, the_models_are_valid_and_the_mutants_are_not_all_alike) {
  const std::vector<Bytes> models = OwnModels();
  for (const Bytes& bytes : models) {
    mindspore::Model model;
    const auto status = model.Build(bytes.data(), bytes.size(), mindspore::kMindIR, CpuContext());
    EXPECT_EQ(status, mindspore::kSuccess) << status.GetErrDescription();
    const Structure structure(bytes);
    EXPECT_GT(structure.fields.size(), 10U);
    EXPECT_GT(structure.elements.size(), 10U);
  }
  int built = 0;
  std::set<std::string> texts;
  for (uint64_t number = 0; number < 500; ++number) {
    const Bytes mutant = Mutator(models[number % models.size()], number).Mutate();
    mindspore::Model model;
    const auto status = model.Build(mutant.data(), mutant.size(), mindspore::kMindIR, CpuContext());
    built += status.IsOk();
    texts.insert(status.GetErrDescription());
  }
  EXPECT_GT(built, 20) << "some changes are harmless";
  EXPECT_LT(built, 400);
  EXPECT_GT(texts.size(), 20U) << "mutants reach many checks";
}

}  // namespace
}  // namespace deputy::mindspore_hostile_test
