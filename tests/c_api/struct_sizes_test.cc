// SPDX-License-Identifier: Apache-2.0
//
// Tests that clients compiled with another deputy.h keep working: each struct that contains its own
// size is passed with the size of its first release, as literals here, and with eight bytes less
// and more. Nothing beyond the client's size is read or written.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_async.h"
#include "c_api/include/deputy_devices.h"
#include "c_api/include/deputy_placement.h"
#include "c_api/include/deputy_state.h"
#include "c_api/src/struct_io.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::struct_sizes_test {
namespace {

// A struct of a client, followed by guard bytes.
class ClientMemory {
 public:
  explicit ClientMemory(size_t struct_size) : struct_size_(struct_size) {
    bytes_.fill(kRubbish);
    memcpy(bytes_.data(), &struct_size, sizeof struct_size);
  }
  template <typename T>
  T* As() {
    static_assert(sizeof(T) + 8 < kSize);
    return reinterpret_cast<T*>(bytes_.data());
  }
  void Zero() { memset(bytes_.data() + sizeof(size_t), 0, struct_size_ - sizeof(size_t)); }

  std::string Prefix(size_t size) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + sizeof(size_t), size - sizeof(size_t)};
  }
  bool UntouchedFrom(size_t offset) const {
    for (size_t i = offset; i < kSize; ++i) {
      if (bytes_[i] != kRubbish) return false;
    }
    return true;
  }
  bool KeepsItsSize() const { return memcmp(bytes_.data(), &struct_size_, sizeof(size_t)) == 0; }

 private:
  static constexpr size_t kSize = 256;
  static constexpr unsigned char kRubbish = 0x5a;
  const size_t struct_size_;
  alignas(16) std::array<unsigned char, kSize> bytes_;
};

// y = -x, with a signature.
std::vector<uint8_t> SignedModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("s", {{"x", static_cast<uint32_t>(x)}}, {{"y", static_cast<uint32_t>(y)}});
  return m.Finish();
}

// An interpreter for which every struct has contents.
struct Objects {
  Objects() : delegate({0, 1}), plugin(DeputyPluginLoad(Library("described0").c_str())) {
    intruder.Prepare = [](TfLiteContext* context, TfLiteDelegate*) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, 99, &node, &registration);
      return kTfLiteOk;
    };
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &intruder), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_GT(DeputyInterpreterGetFindingCount(t.get()), 0u);
    EXPECT_NE(plugin, nullptr) << DeputyLastError();
    EXPECT_EQ(DeputyInterpreterShareState(stateful.get(), "x", "y"), kTfLiteOk);
  }
  ~Objects() {
    DeputyPlacementPlanDelete(plan);
    TfLiteInterpreterOptionsDelete(options);
    DeputyDeviceListDelete(devices);
    DeputyPluginRelease(plugin);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  static void Watch(TfLiteInterpreterOptions* options) {
    DeputyValidationOptions watch{};
    watch.struct_size = sizeof watch;
    watch.enabled = 1;
    EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, &watch), kTfLiteOk);
  }

  Scripted delegate;
  TfLiteDelegate intruder = TfLiteDelegateCreate();
  TestInterpreter t{Chain(3), &Watch};
  TestInterpreter stateful{SignedModel()};
  DeputyPlugin* plugin;
  DeputyDeviceList* devices = DeputyDeviceListCreate(Library("described0").c_str());
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  DeputyPlacementPlan* plan = DeputyPlacementPlanCreate(t.model(), options, nullptr);
};

struct FilledStruct {
  const char* name;
  size_t first_size;
  TfLiteStatus (*fill)(Objects* world, ClientMemory* memory);
};

const FilledStruct kFilled[] = {
    {"DeputyDelegationStatus", 56,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetDelegationStatus(w->t.get(), m->As<DeputyDelegationStatus>());
     }},
    {"DeputyPlacementAlternative", 48,
     [](Objects* w, ClientMemory* m) {
       return DeputyPlacementPlanGetAlternative(w->plan, 0, m->As<DeputyPlacementAlternative>());
     }},
    {"DeputyPlacementStatus", 24,
     [](Objects* w, ClientMemory* m) {
       return DeputyPlacementPlanGetStatus(w->plan, m->As<DeputyPlacementStatus>());
     }},
    {"DeputyVerificationStatus", 80,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetVerificationStatus(w->t.get(), m->As<DeputyVerificationStatus>());
     }},
    {"DeputyBackgroundStatus", 64,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetBackgroundStatus(w->t.get(), m->As<DeputyBackgroundStatus>());
     }},
    {"DeputyNodeInfo", 72,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetNodeInfo(w->t.get(), 0, 0, m->As<DeputyNodeInfo>());
     }},
    {"DeputyDelegateInfo", 48,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetDelegateInfo(w->t.get(), 0, m->As<DeputyDelegateInfo>());
     }},
    {"DeputyNodeSupport", 48,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetNodeSupport(w->t.get(), 0, 0, 0, m->As<DeputyNodeSupport>());
     }},
    {"DeputyNodeRun", 40,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetNodeRun(w->t.get(), 0, 0, m->As<DeputyNodeRun>());
     }},
    {"DeputyPartition", 64,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetPartition(w->t.get(), 0, 0, m->As<DeputyPartition>());
     }},
    {"DeputyFinding", 64,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetFinding(w->t.get(), 0, m->As<DeputyFinding>());
     }},
    {"DeputyMemoryMap", 32,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetMemoryMap(w->t.get(), 0, m->As<DeputyMemoryMap>());
     }},
    {"DeputyWeightCache", 40,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetWeightCache(w->t.get(), m->As<DeputyWeightCache>());
     }},
    {"DeputyTensorMemory", 40,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetTensorMemory(w->t.get(), 0, 0, m->As<DeputyTensorMemory>());
     }},
    {"DeputySharedState", 56,
     [](Objects* w, ClientMemory* m) {
       return DeputyInterpreterGetSharedState(w->stateful.get(), 0, m->As<DeputySharedState>());
     }},
    {"DeputyPluginInfo", 64,
     [](Objects* w, ClientMemory* m) {
       return DeputyPluginDescribe(w->plugin, m->As<DeputyPluginInfo>());
     }},
    {"DeputyDeviceEntry", 40,
     [](Objects* w, ClientMemory* m) {
       return DeputyDeviceListGetEntry(w->devices, 0, m->As<DeputyDeviceEntry>());
     }},
};

TEST(StructSizes, structs_are_filled_up_to_the_clients_size) {
  Objects world;
  for (const FilledStruct& filled : kFilled) {
    SCOPED_TRACE(filled.name);
    ClientMemory smaller(filled.first_size - 8), first(filled.first_size),
        larger(filled.first_size + 8);
    EXPECT_EQ(filled.fill(&world, &smaller), kTfLiteError);
    EXPECT_TRUE(smaller.UntouchedFrom(sizeof(size_t)));
    EXPECT_EQ(filled.fill(&world, &first), kTfLiteOk);
    EXPECT_TRUE(first.UntouchedFrom(filled.first_size));
    EXPECT_FALSE(first.UntouchedFrom(filled.first_size - 8)) << "the last field was not written";
    EXPECT_EQ(filled.fill(&world, &larger), kTfLiteOk);
    EXPECT_TRUE(larger.UntouchedFrom(filled.first_size + 8));
    EXPECT_EQ(larger.Prefix(filled.first_size), first.Prefix(filled.first_size));
    EXPECT_TRUE(smaller.KeepsItsSize() && first.KeepsItsSize() && larger.KeepsItsSize());
  }
}

struct GivenStruct {
  const char* name;
  size_t first_size;
  TfLiteStatus (*give)(TfLiteInterpreterOptions* options, ClientMemory* memory);
};

const GivenStruct kGiven[] = {
    {"DeputyLimits", 32,
     [](TfLiteInterpreterOptions* o, ClientMemory* m) {
       return DeputyInterpreterOptionsSetLimits(o, m->As<DeputyLimits>());
     }},
    {"DeputyPlacement", 40,
     [](TfLiteInterpreterOptions* o, ClientMemory* m) {
       return DeputyInterpreterOptionsAddPlacement(o, m->As<DeputyPlacement>());
     }},
    {"DeputyVerification", 40,
     [](TfLiteInterpreterOptions* o, ClientMemory* m) {
       return DeputyInterpreterOptionsSetVerification(o, m->As<DeputyVerification>());
     }},
    {"DeputyValidationOptions", 40,
     [](TfLiteInterpreterOptions* o, ClientMemory* m) {
       return DeputyInterpreterOptionsSetValidation(o, m->As<DeputyValidationOptions>());
     }},
};

// A struct of zeros is always valid. The bytes after a client's struct are garbage that would be an
// invalid negative number if it were read.
TEST(StructSizes, structs_are_read_up_to_the_clients_size) {
  for (const GivenStruct& given : kGiven) {
    SCOPED_TRACE(given.name);
    TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
    for (const auto& [delta, expected] :
         {std::pair(-8, kTfLiteError), std::pair(0, kTfLiteOk), std::pair(8, kTfLiteOk)}) {
      const size_t size = given.first_size + static_cast<size_t>(delta);
      ClientMemory memory(size);
      memory.Zero();
      EXPECT_EQ(given.give(options, &memory), expected) << delta;
      EXPECT_TRUE(memory.UntouchedFrom(size) && memory.KeepsItsSize());
    }
    TfLiteInterpreterOptionsDelete(options);
  }
}

TEST(StructSizes, settings_of_placement_are_read_up_to_the_clients_size) {
  const Objects objects;
  for (const auto& [size, is_fine] :
       {std::pair(40, false), std::pair(48, true), std::pair(56, true)}) {
    ClientMemory memory(static_cast<size_t>(size));
    memory.Zero();
    DeputyPlacementPlan* const plan = DeputyPlacementPlanCreate(
        objects.t.model(), objects.options, memory.As<DeputyPlacementSettings>());
    EXPECT_EQ(plan != nullptr, is_fine) << size;
    EXPECT_TRUE(memory.UntouchedFrom(static_cast<size_t>(size)) && memory.KeepsItsSize());
    DeputyPlacementPlanDelete(plan);
  }
}

// A request for a model without inputs and outputs.
TEST(StructSizes, requests_of_runs_are_read_up_to_the_clients_size) {
  TestInterpreter t(ModelBuilder().Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (const auto& [size, expected] :
       {std::pair(56, kTfLiteError), std::pair(64, kTfLiteOk), std::pair(72, kTfLiteOk)}) {
    ClientMemory memory(static_cast<size_t>(size));
    memory.Zero();
    DeputyRun* run = nullptr;
    EXPECT_EQ(DeputyInterpreterRunAsync(t.get(), memory.As<DeputyRunRequest>(), &run), expected)
        << size;
    EXPECT_EQ(DeputyRunWait(run, -1, nullptr), expected == kTfLiteOk);
    EXPECT_TRUE(memory.UntouchedFrom(static_cast<size_t>(size)));
    DeputyRunDelete(run);
  }
}

// A struct that has grown since the first release, in which it ended before `appended`.
struct Grown {
  size_t struct_size;
  int64_t first;
  int64_t appended;
};

}  // namespace
}  // namespace deputy::struct_sizes_test

template <>
inline constexpr size_t deputy::kFirstSize<deputy::struct_sizes_test::Grown> = 16;

namespace deputy::struct_sizes_test {
namespace {

TEST(StructSizes, extended_structs_support_clients_of_the_first_release) {
  Grown full{sizeof(Grown), 1, 2};
  ClientMemory older(16), newer(sizeof(Grown) + 8);
  EXPECT_EQ(WriteStruct(full, older.As<Grown>()), kTfLiteOk);
  EXPECT_EQ(older.As<Grown>()->first, 1);
  EXPECT_TRUE(older.UntouchedFrom(16));
  EXPECT_EQ(WriteStruct(full, newer.As<Grown>()), kTfLiteOk);
  EXPECT_EQ(newer.As<Grown>()->appended, 2);
  EXPECT_TRUE(newer.UntouchedFrom(sizeof(Grown)));

  Grown read{0, 7, 7};
  ASSERT_TRUE(ReadStruct(older.As<Grown>(), &read));
  EXPECT_EQ(read.first, 1);
  EXPECT_EQ(read.appended, 0) << "a field that the client does not have";
  ASSERT_TRUE(ReadStruct(newer.As<Grown>(), &read));
  EXPECT_EQ(read.appended, 2);

  ClientMemory truncated(8);
  EXPECT_EQ(WriteStruct(full, truncated.As<Grown>()), kTfLiteError);
  EXPECT_FALSE(ReadStruct(truncated.As<Grown>(), &read));
  EXPECT_EQ(WriteStruct<Grown>(full, nullptr), kTfLiteError);
  EXPECT_FALSE(ReadStruct<Grown>(nullptr, &read));
}

}  // namespace
}  // namespace deputy::struct_sizes_test
