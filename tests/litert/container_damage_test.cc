// SPDX-License-Identifier: Apache-2.0
//
// Loads, inspects, writes and runs damaged containers of byte code. DEPUTY_ALL_ROWS=1 damages
// 100 000 of them. Sanitizers report a fault.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "litert/c/deputy_compiler.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/src/log.h"
#include "litert/src/model.h"
#include "schema_generated.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace deputy::litert::container_damage_test {
namespace {

using File = std::vector<uint8_t>;

// The containers are split into kSeeds tests, which can run in parallel.
constexpr int kSeeds = 10;
int Containers() { return (std::getenv("DEPUTY_ALL_ROWS") == nullptr ? 10000 : 100000) / kSeeds; }

// cos(3 x) + x, and relu of it. The NPU stub runs all nodes but the cosine.
File ModelFile() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {4}, {3, 3, 3, 3}, "c");
  const int product = m.AddTensor(kTfLiteFloat32, {4}, "product");
  const int cosine = m.AddTensor(kTfLiteFloat32, {4}, "cosine");
  const int sum = m.AddTensor(kTfLiteFloat32, {4}, "sum");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddOp(kTfLiteBuiltinMul, {x, c}, {product}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinCos, {product}, {cosine}, schema::CreateCosOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {cosine, x}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinRelu, {sum}, {y});
  m.SetInputs({x});
  m.SetOutputs({sum, y});
  return m.Finish();
}

// Writes a model to memory; an empty file if it cannot be written.
File Serialize(LiteRtModel model) {
  uint8_t* bytes = nullptr;
  size_t size = 0, offset = 0;
  LiteRtModelSerializationOptions options = {};
  options.bytecode_alignment = 1;
  if (LiteRtSerializeModel(model, &bytes, &size, &offset, false, options) != kLiteRtStatusOk) {
    return {};
  }
  File file(bytes + offset, bytes + offset + size);
  std::free(bytes);
  return file;
}

class ContainerDamage : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    SetMinSeverity(kLiteRtLogSeveritySilent);
    const std::string folder = BuildPath("litert/npu_stub");
    LiteRtEnvOption settings[2] = {};
    settings[0].tag = kLiteRtEnvOptionTagCompilerPluginLibraryDir;
    settings[1].tag = kLiteRtEnvOptionTagDispatchLibraryDir;
    for (LiteRtEnvOption& setting : settings) {
      setting.value.type = kLiteRtAnyTypeString;
      setting.value.str_value = folder.c_str();
    }
    ASSERT_EQ(LiteRtCreateEnvironment(1, settings, &compiler_), kLiteRtStatusOk);
    ASSERT_EQ(LiteRtCreateEnvironment(1, settings + 1, &environment_), kLiteRtStatusOk);
    ASSERT_EQ(LiteRtCreateOptions(&options_), kLiteRtStatusOk);
    LiteRtSetOptionsHardwareAccelerators(options_,
                                         kLiteRtHwAcceleratorNpu | kLiteRtHwAcceleratorCpu);
    const File model_file = ModelFile();
    LiteRtModel model = nullptr, compiled = nullptr;
    ASSERT_EQ(LiteRtCreateModelFromBuffer(compiler_, model_file.data(), model_file.size(), &model),
              kLiteRtStatusOk);
    ASSERT_EQ(DeputyLiteRtCompileModel(compiler_, options_, model, nullptr, &compiled),
              kLiteRtStatusOk);
    container_ = Serialize(compiled);
    LiteRtDestroyModel(compiled);
    LiteRtDestroyModel(model);
    ASSERT_FALSE(container_.empty());
    ASSERT_EQ(
        LiteRtCreateModelFromBuffer(environment_, container_.data(), container_.size(), &model),
        kLiteRtStatusOk);
    for (const auto& op : model->subgraphs[0]->ops) {
      if (op->byte_code.empty()) continue;
      byte_code_begin_ =
          std::min(byte_code_begin_, static_cast<size_t>(op->byte_code.data() - container_.data()));
    }
    LiteRtDestroyModel(model);
    ASSERT_LT(byte_code_begin_, container_.size());
  }

  void TearDown() override {
    LiteRtDestroyOptions(options_);
    LiteRtDestroyEnvironment(environment_);
    LiteRtDestroyEnvironment(compiler_);
  }

  // The position of a byte; in half of the calls one of the byte code.
  size_t Position(std::mt19937& random, const File& file) const {
    const size_t begin = random() % 2 == 0 && byte_code_begin_ < file.size() ? byte_code_begin_ : 0;
    return begin + random() % (file.size() - begin);
  }

  void Damage(std::mt19937& random, File* file) const {
    constexpr uint32_t kNumbers[] = {0, 1, 4, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffc};
    for (unsigned count = 1 + random() % 3; count > 0 && !file->empty(); --count) {
      const size_t position = Position(random, *file);
      switch (random() % 8) {
        case 0:
          file->resize(position);
          break;
        case 1:
          file->insert(file->begin() + static_cast<ptrdiff_t>(position), random() % 16, 0xff);
          break;
        case 2:
        case 3: {
          const uint32_t number = kNumbers[random() % std::size(kNumbers)];
          for (size_t i = 0; i < 4 && position + i < file->size(); ++i) {
            (*file)[position + i] = static_cast<uint8_t>(number >> (8 * i));
          }
          break;
        }
        case 4:
          (*file)[position] = static_cast<uint8_t>(random());
          break;
        default:
          (*file)[position] ^= static_cast<uint8_t>(1 << random() % 8);
      }
    }
  }

  // Gives the byte code of the NPU stub a valid header, which has magic, version, number and FNV-1a
  // hash of the bytes after it, so that its reader checks the graph.
  void RepairByteCode(File* file) const {
    constexpr std::string_view kMagic = "NPUBLOB1";
    constexpr size_t kBytes = 40, kHash = 48, kHeader = 56;
    if (file->size() != container_.size()) return;
    for (auto at = container_.begin();; ++at) {
      at = std::search(at, container_.end(), kMagic.begin(), kMagic.end());
      if (at == container_.end()) return;
      const auto offset = at - container_.begin();
      uint64_t bytes = 0, hash = 0xcbf29ce484222325U;
      std::memcpy(&bytes, &*at + kBytes, sizeof bytes);
      uint8_t* const blob = file->data() + offset;
      std::copy_n(at, kHash, blob);
      for (size_t i = 0; i < bytes; ++i) hash = (hash ^ blob[kHeader + i]) * 0x100000001b3U;
      std::memcpy(blob + kHash, &hash, sizeof hash);
    }
  }

  // Creates a buffer for an input or output; null if there is none.
  LiteRtTensorBuffer BufferOf(LiteRtTensor tensor, LiteRtTensorBufferRequirements requirements) {
    LiteRtRankedTensorType type = {};
    LiteRtTensorBuffer buffer = nullptr;
    if (LiteRtGetRankedTensorType(tensor, &type) != kLiteRtStatusOk ||
        LiteRtCreateManagedTensorBufferFromRequirements(environment_, &type, requirements,
                                                        &buffer) != kLiteRtStatusOk) {
      return nullptr;
    }
    void* address = nullptr;
    size_t size = 0;
    LiteRtGetTensorBufferPackedSize(buffer, &size);
    if (LiteRtLockTensorBuffer(buffer, &address, kLiteRtTensorBufferLockModeWrite) ==
        kLiteRtStatusOk) {
      std::fill_n(static_cast<uint8_t*>(address), size, uint8_t{0x3f});
      LiteRtUnlockTensorBuffer(buffer);
    }
    return buffer;
  }

  // Runs the first signature; returns the outputs' bytes, nothing if it does not run.
  File Run(LiteRtModel model, LiteRtCompiledModel compiled) {
    const LiteRtSubgraphT& subgraph = *model->subgraphs[0];
    std::vector<LiteRtTensorBuffer> inputs, outputs;
    for (size_t i = 0; i < subgraph.inputs.size(); ++i) {
      LiteRtTensorBufferRequirements requirements = nullptr;
      LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, i, &requirements);
      inputs.push_back(BufferOf(subgraph.inputs[i], requirements));
    }
    for (size_t i = 0; i < subgraph.outputs.size(); ++i) {
      LiteRtTensorBufferRequirements requirements = nullptr;
      LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, i, &requirements);
      outputs.push_back(BufferOf(subgraph.outputs[i], requirements));
    }
    File result;
    if (LiteRtRunCompiledModel(compiled, 0, inputs.size(), inputs.data(), outputs.size(),
                               outputs.data()) == kLiteRtStatusOk) {
      for (LiteRtTensorBuffer output : outputs) Append(output, &result);
    }
    for (LiteRtTensorBuffer buffer : inputs) LiteRtDestroyTensorBuffer(buffer);
    for (LiteRtTensorBuffer buffer : outputs) LiteRtDestroyTensorBuffer(buffer);
    return result;
  }

  static void Append(LiteRtTensorBuffer buffer, File* result) {
    void* address = nullptr;
    size_t size = 0;
    LiteRtGetTensorBufferPackedSize(buffer, &size);
    if (LiteRtLockTensorBuffer(buffer, &address, kLiteRtTensorBufferLockModeRead) !=
        kLiteRtStatusOk) {
      return;
    }
    const auto* const bytes = static_cast<const uint8_t*>(address);
    result->insert(result->end(), bytes, bytes + size);
    LiteRtUnlockTensorBuffer(buffer);
  }

  // Returns whether each tensor has at most a million elements; damaged shapes would fill the
  // memory.
  static bool IsSmall(const LiteRtModelT& model) {
    for (const auto& subgraph : model.subgraphs) {
      for (const auto& tensor : subgraph->tensors) {
        LiteRtRankedTensorType type = {};
        if (LiteRtGetRankedTensorType(tensor.get(), &type) != kLiteRtStatusOk) continue;
        double elements = 1;
        for (unsigned i = 0; i < type.layout.rank; ++i) elements *= type.layout.dimensions[i];
        if (elements > 1e6) return false;
      }
    }
    return true;
  }

  // Uses a file as a program does; returns the outputs' bytes, nothing if it does not run.
  File Use(const File& file) {
    LiteRtModel model = nullptr;
    if (LiteRtCreateModelFromBuffer(environment_, file.data(), file.size(), &model) !=
        kLiteRtStatusOk) {
      return {};
    }
    ++loaded_;
    Serialize(model);
    LiteRtCompiledModel compiled = nullptr;
    File result;
    if (!model->subgraphs.empty() && IsSmall(*model) &&
        LiteRtCreateCompiledModel(environment_, model, options_, &compiled) == kLiteRtStatusOk) {
      ++created_;
      result = Run(model, compiled);
      LiteRtDestroyCompiledModel(compiled);
    }
    LiteRtDestroyModel(model);
    return result;
  }

  LiteRtEnvironment compiler_ = nullptr, environment_ = nullptr;
  LiteRtOptions options_ = nullptr;
  File container_;
  size_t byte_code_begin_ = std::numeric_limits<size_t>::max();
  int loaded_ = 0, created_ = 0;
};

TEST_P(ContainerDamage, IsSurvived) {
  const File expected = Use(container_);
  ASSERT_EQ(expected.size(), 32U);
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  int ran = 0, unchanged = 0;
  for (int i = 0; i < Containers(); ++i) {
    File file = container_;
    Damage(random, &file);
    if (random() % 4 != 0) RepairByteCode(&file);
    if (file.empty()) continue;
    const File result = Use(file);
    ran += !result.empty();
    unchanged += result == expected;
  }
  // Damage reaches each stage.
  EXPECT_GT(loaded_, Containers() / 4);
  EXPECT_LT(loaded_, Containers());
  EXPECT_GT(created_, Containers() / 20);
  EXPECT_LT(created_, loaded_);
  EXPECT_GT(ran, Containers() / 20);
  EXPECT_GT(ran, unchanged);
  EXPECT_EQ(Use(container_), expected) << "a damaged container changed the environment";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ContainerDamage, testing::Range(1, kSeeds + 1));

}  // namespace
}  // namespace deputy::litert::container_damage_test
