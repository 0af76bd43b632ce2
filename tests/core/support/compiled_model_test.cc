// SPDX-License-Identifier: Apache-2.0
//
// Tests compiled models: descriptions are decoded as they were written, the library runs the model
// and uses the packed constants, and damage never causes a wrong result.
#include "core/support/compiled_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/delegate_serialization.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_compiled.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::compiled_model_test {
namespace {

using testing::HasSubstr;

constexpr int kSize = 32;

// y = W x.
std::vector<uint8_t> Plain() {
  ModelBuilder m;
  std::vector<float> weights(size_t{kSize} * kSize);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 9) - 4;
  const int x = m.AddTensor(kTfLiteFloat32, {1, kSize}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kSize, kSize}, weights, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kSize}, "y");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> RunOnce(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  std::vector<float> x(kSize);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2;
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

class CompiledModelTest : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    char name[] = "/tmp/deputy_compiled.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/compiled";
    const std::vector<uint8_t> plain = Plain();
    const std::string weights = folder_ + "/weights";
    {
      TestInterpreter t(plain, [&](TfLiteInterpreterOptions* options) {
        DeputyInterpreterOptionsSetWeightCache(options, weights.c_str());
      });
      expected_ = RunOnce(&t);
    }
    file_.assign(plain.begin(), plain.end());
    CompiledModel model;
    model.model_bytes = file_.size();
    model.targets = {{"npu_stub", "other version", "other device"}};
    AppendSection(kCpuOwner, "packed", ReadFile(weights), &model, &file_);
    AppendSection("npu_stub", "a.bin", std::string("first"), &model, &file_);
    AppendSection("npu_stub", "b.bin", std::string("second"), &model, &file_);
    FinishCompiledModel(model, &file_);
    WriteFile(file_);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    QuietTest::TearDown();
  }

  static std::string ReadFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void WriteFile(const std::string& bytes) const {
    std::filesystem::remove(path_);  // rewriting a file in place is synchronised
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }
  DeputyCompiledStatus Check(const DeputyPlugin* plugin = nullptr) const {
    DeputyCompiledStatus status = {};
    status.struct_size = sizeof status;
    EXPECT_EQ(DeputyCompiledModelCheck(path_.c_str(), plugin, &status), kTfLiteOk);
    EXPECT_EQ(status.reason[0] == '\0', status.compatibility == kDeputyCompiledUsable);
    return status;
  }
  // Loads the file, and returns false if that is refused. Otherwise the results must be right.
  bool RunsWell(int64_t* out_reused) const {
    TfLiteModel* const model = TfLiteModelCreateFromFile(path_.c_str());
    if (model == nullptr) return false;
    TfLiteInterpreter* const interpreter = TfLiteInterpreterCreate(model, nullptr);
    bool runs =
        interpreter != nullptr && TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
    if (runs) {
      std::vector<float> x(kSize), y(kSize);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2;
      TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x.data(),
                                 x.size() * sizeof(float));
      EXPECT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
      TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), y.data(),
                               y.size() * sizeof(float));
      EXPECT_EQ(y, expected_);
      DeputyWeightCache use = {};
      use.struct_size = sizeof use;
      EXPECT_EQ(DeputyInterpreterGetWeightCache(interpreter, &use), kTfLiteOk);
      *out_reused = use.reused;
    }
    TfLiteInterpreterDelete(interpreter);
    TfLiteModelDelete(model);
    return runs;
  }

  std::string folder_, path_, file_;
  std::vector<float> expected_;
};

TEST_F(CompiledModelTest, a_changed_model_is_compiled_again) {
  CompiledModel model;
  ASSERT_EQ(ParseCompiledModel(file_, &model), CompiledModelState::kCompiled);
  EXPECT_TRUE(IsModelIntact(file_, model));
  // With another weight the model is still valid.
  const float weight = -4;
  const size_t at = file_.find(std::string(reinterpret_cast<const char*>(&weight), sizeof weight));
  ASSERT_LT(at, model.model_bytes);
  file_[at] = 1;
  EXPECT_FALSE(IsModelIntact(file_, model));
  WriteFile(file_);
  const DeputyCompiledStatus status = Check();
  EXPECT_EQ(status.compatibility, kDeputyCompiledRecompile);
  EXPECT_STREQ(status.reason, "its model was changed after the compilation");
}

TEST_F(CompiledModelTest, descriptions_are_read_back) {
  CompiledModel model;
  ASSERT_EQ(ParseCompiledModel(file_, &model), CompiledModelState::kCompiled);
  EXPECT_EQ(model.model_bytes, Plain().size());
  ASSERT_EQ(model.sections.size(), 3u);
  EXPECT_EQ(model.sections[2].owner, "npu_stub");
  EXPECT_EQ(model.sections[2].name, "b.bin");
  EXPECT_EQ(file_.substr(model.sections[2].offset, model.sections[2].bytes), "second");
  for (const CompiledSection& section : model.sections) EXPECT_TRUE(IsIntact(file_, section));
  ASSERT_NE(model.FindTarget("npu_stub"), nullptr);
  EXPECT_EQ(model.FindTarget("npu_stub")->device, "other device");
  EXPECT_EQ(model.FindTarget("gpu"), nullptr);
  EXPECT_TRUE(IsCompiledModel(path_));
  EXPECT_EQ(ParseCompiledModel(file_.substr(0, file_.size() - 1), &model),
            CompiledModelState::kPlain);
}

TEST_F(CompiledModelTest, packed_constants_in_the_file_are_used) {
  int64_t reused = 0;
  ASSERT_TRUE(RunsWell(&reused));
  EXPECT_GE(reused, 1);
  EXPECT_EQ(Check().compatibility, kDeputyCompiledUsable) << Check().reason;
  EXPECT_EQ(Check().section_count, 1);
}

TEST_F(CompiledModelTest, incompatibility_has_a_reason) {
  DeputyPlugin* const plugin = DeputyPluginLoad((PluginFolder() + "/libelementwise.so").c_str());
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(Check(plugin).compatibility, kDeputyCompiledRecompile);
  EXPECT_STREQ(Check(plugin).reason, "it was not compiled for elementwise");
  for (const auto& [version, reason] :
       {std::pair("9", "elementwise: expected version"),
        std::pair(static_cast<const char*>(nullptr), "elementwise: expected the devices")}) {
    const std::vector<uint8_t> plain = Plain();
    std::string file(plain.begin(), plain.end());
    CompiledModel model;
    model.model_bytes = file.size();
    DeputyPluginInfo info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(DeputyPluginDescribe(plugin, &info), kTfLiteOk);
    model.targets = {{"elementwise", version == nullptr ? info.version : version, "none"}};
    AppendSection("elementwise", "x", std::string("y"), &model, &file);
    FinishCompiledModel(model, &file);
    WriteFile(file);
    EXPECT_EQ(Check(plugin).compatibility, kDeputyCompiledRecompile);
    EXPECT_THAT(Check(plugin).reason, HasSubstr(reason));
    EXPECT_STREQ(Check().reason, "it has no packed constants");
  }
  DeputyPluginRelease(plugin);

  const std::vector<uint8_t> plain = Plain();
  WriteFile(std::string(plain.begin(), plain.end()));
  EXPECT_EQ(Check().compatibility, kDeputyCompiledRecompile);
  EXPECT_STREQ(Check().reason, "it is a model that was not compiled");
  WriteFile("nothing that is a model");
  EXPECT_EQ(Check().compatibility, kDeputyCompiledUnusable);
  std::filesystem::remove(path_);
  EXPECT_EQ(Check().compatibility, kDeputyCompiledUnusable);
  EXPECT_THAT(Check().reason, HasSubstr("Could not open"));
}

TEST_F(CompiledModelTest, files_are_unpacked_if_they_are_intact) {
  const std::string to = folder_ + "/unpacked";
  ASSERT_EQ(DeputyCompiledModelUnpack(path_.c_str(), "npu_stub", to.c_str()), kTfLiteOk);
  EXPECT_EQ(ReadFile(to + "/a.bin"), "first");
  EXPECT_EQ(ReadFile(to + "/b.bin"), "second");
  EXPECT_EQ(DeputyCompiledModelUnpack(path_.c_str(), "gpu", to.c_str()), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected files for 'gpu', found none"));
  file_[file_.find("second")] = 'S';
  WriteFile(file_);
  EXPECT_EQ(DeputyCompiledModelUnpack(path_.c_str(), "npu_stub", to.c_str()), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("section 'b.bin' is damaged"));
  EXPECT_EQ(DeputyCompiledModelUnpack(nullptr, "npu_stub", to.c_str()), kTfLiteError);
  EXPECT_EQ(DeputyCompiledModelCheck(nullptr, nullptr, nullptr), kTfLiteError);
}

TEST_F(CompiledModelTest, file_names_with_directories_are_refused) {
  for (const char* const name : {"../x", "/x", ".", "..", ".hidden", "", "a/b"}) {
    std::string file = "model";
    CompiledModel model;
    model.model_bytes = file.size();
    AppendSection("gpu", name, std::string("x"), &model, &file);
    FinishCompiledModel(model, &file);
    EXPECT_EQ(ParseCompiledModel(file, &model), CompiledModelState::kDamaged) << name;
  }
}

TEST(CompiledOwner, is_the_short_name_of_a_library) {
  EXPECT_EQ(OwnerOfLibrary("/usr/lib/libdeputy_gpu.so.1"), "gpu");
  EXPECT_EQ(OwnerOfLibrary("npu_stub"), "npu_stub");
  EXPECT_EQ(OwnerOfLibrary("./libMy-Npu.so"), "my_npu");
  EXPECT_EQ(OwnerOfLibrary(""), "_");
}

// Repairs the checksum of the description, so that mutations reach the later checks.
void Repair(std::string* file) {
  constexpr size_t kFooter = 40;
  uint64_t numbers[2];
  if (file->size() < kFooter) return;
  char* const footer = file->data() + file->size() - kFooter;
  std::memcpy(numbers, footer, sizeof numbers);
  const size_t end = file->size() - kFooter;
  if (numbers[0] > end || numbers[1] != end - numbers[0]) return;
  DeputyFingerprint sum;
  DeputyFingerprintInit(&sum);
  DeputyFingerprintAdd(&sum, file->data() + numbers[0], numbers[1]);
  DeputyFingerprintStep(&sum, numbers[0]);
  DeputyFingerprintStep(&sum, numbers[1]);
  std::memcpy(footer + sizeof numbers, &sum, sizeof sum);
}

TEST_F(CompiledModelTest, mutated_sections_and_descriptions_are_safe) {
  CompiledModel model;
  ASSERT_EQ(ParseCompiledModel(file_, &model), CompiledModelState::kCompiled);
  // Only bytes after the model are changed; other tests change the model.
  const size_t first = model.model_bytes, count = file_.size() - first;
  const int runs = std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 2000 : 100'000;
  std::mt19937 random(1);
  std::set<DeputyCompatibility> seen;
  int64_t used = 0;
  for (int i = 0; i < runs; ++i) {
    std::string bytes = file_;
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % 2 == 0
                            ? first + random() % count
                            : file_.size() - 1 - random() % std::min<size_t>(count, 500);
      if (at >= bytes.size()) continue;
      switch (random() % 5) {
        case 0:
          bytes.resize(at);
          break;
        case 1:
          bytes.insert(at, random() % 100, 'x');
          break;
        case 2: {
          const uint64_t words[] = {0, 1, UINT64_MAX, file_.size(), uint64_t{1} << 63, 4096};
          if (at + 8 <= bytes.size()) std::memcpy(bytes.data() + at, &words[random() % 6], 8);
          break;
        }
        default:
          bytes[at] ^= static_cast<char>(1 << random() % 8);
      }
    }
    if (random() % 2 == 0) Repair(&bytes);
    WriteFile(bytes);
    int64_t reused = 0;
    const DeputyCompiledStatus status = Check();
    seen.insert(status.compatibility);
    const bool runs_well = RunsWell(&reused);
    ASSERT_TRUE(runs_well || status.compatibility == kDeputyCompiledUnusable)
        << "mutation " << i << ": " << status.reason;
    ASSERT_TRUE(reused > 0 || status.compatibility != kDeputyCompiledUsable) << "mutation " << i;
    used += reused;
  }
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_GT(used, runs / 10);
}

}  // namespace
}  // namespace deputy::compiled_model_test
