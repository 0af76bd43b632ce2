// SPDX-License-Identifier: Apache-2.0
//
// Calls the exported functions of libdeputy that no other test calls
// (tools/check_exports_tested.py): old names, XNNPACK's, attribute maps, telemetry's settings, and
// some of deputy.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "c_api/include/external_delegate.h"
#include "c_api/include/interop_attribute_map.h"
#include "c_api/include/telemetry_setting.h"
#include "c_api/include/xnnpack_delegate.h"
#include "c_api/src/telemetry.h"
#include "core/base/operator_object.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::exported_functions_test {

// The headers define these names as macros for the new ones; old programs import them.
extern "C" {
TfLiteOperator* OldCreate(TfLiteBuiltinOperator, const char*,
                          int) asm("TfLiteRegistrationExternalCreate");
void OldDelete(TfLiteOperator*) asm("TfLiteRegistrationExternalDelete");
TfLiteBuiltinOperator OldBuiltinCode(const TfLiteOperator*) asm(
    "TfLiteRegistrationExternalGetBuiltInCode");
const char* OldCustomName(const TfLiteOperator*) asm("TfLiteRegistrationExternalGetCustomName");
void OldSetInit(TfLiteOperator*, void* (*)(TfLiteOpaqueContext*, const char*,
                                           size_t)) asm("TfLiteRegistrationExternalSetInit");
void OldSetFree(TfLiteOperator*,
                void (*)(TfLiteOpaqueContext*, void*)) asm("TfLiteRegistrationExternalSetFree");
using NodeFunction = TfLiteStatus (*)(TfLiteOpaqueContext*, TfLiteOpaqueNode*);
void OldSetPrepare(TfLiteOperator*, NodeFunction) asm("TfLiteRegistrationExternalSetPrepare");
void OldSetInvoke(TfLiteOperator*, NodeFunction) asm("TfLiteRegistrationExternalSetInvoke");
using AsyncFunction = struct TfLiteAsyncKernel* (*)(TfLiteOpaqueContext*, TfLiteOpaqueNode*);
void OldSetAsyncKernel(TfLiteOperator*,
                       AsyncFunction) asm("TfLiteRegistrationExternalSetAsyncKernel");
void OldSetInplace(TfLiteOperator*, uint64_t) asm("TfLiteRegistrationExternalSetInplaceOperator");
void OldAddOperator(TfLiteInterpreterOptions*,
                    TfLiteOperator*) asm("TfLiteInterpreterOptionsAddRegistrationExternal");
void OldAddOpaqueDelegate(TfLiteInterpreterOptions*, TfLiteOpaqueDelegateStruct*) asm(
    "TfLiteInterpreterOptionsAddOpaqueDelegate");
const char* OldSignatureName(const TfLiteInterpreter*,
                             int32_t) asm("TfLiteInterpreterGetSignatureName");
void OldDeleteCache(struct TfLiteXNNPackDelegateWeightsCache*) asm(
    "TfLiteXNNPackWeightsCacheDelete");
size_t OpTypeCount(TfLiteTelemetrySubgraphInfo*) asm("TfLiteTelemetrySubgraphInfoGetNumOpTypes");
const int32_t* OpTypes(TfLiteTelemetrySubgraphInfo*) asm("TfLiteTelemetrySubgraphInfoGetOpTypes");
size_t CustomOpNameCount(TfLiteTelemetrySubgraphInfo*) asm(
    "TfLiteTelemetrySubgraphInfoGetNumCustomOpNames");
const char** CustomOpNames(TfLiteTelemetrySubgraphInfo*) asm(
    "TfLiteTelemetrySubgraphInfoGetCustomOpNames");
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// x + x, then the custom operator Twice, on two float32; signature "serve".
std::vector<uint8_t> TwiceModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x"), y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int sum = m.AddTensor(kTfLiteFloat32, {2}, "sum");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddCustomOp("Twice", {sum}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("serve", {{"x", x}}, {{"y", y}});
  return m.Finish();
}

std::vector<uint8_t> AddModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x"), y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddSubgraph("second");
  m.SelectSubgraph(0);
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// ---- Old names ----------------------------------------------------------------------------------

struct Calls {
  int inits = 0, frees = 0, prepares = 0, invokes = 0;
};
Calls calls;

void* InitTwice(TfLiteOpaqueContext*, const char*, size_t) {
  ++calls.inits;
  return &calls;
}
void FreeTwice(TfLiteOpaqueContext*, void* data) {
  EXPECT_EQ(data, &calls);
  ++calls.frees;
}
TfLiteStatus PrepareTwice(TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
  ++calls.prepares;
  return kTfLiteOk;
}
TfLiteStatus InvokeTwice(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) {
  ++calls.invokes;
  const auto* in =
      static_cast<float*>(TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetInput(context, node, 0)));
  auto* out =
      static_cast<float*>(TfLiteOpaqueTensorData(TfLiteOpaqueNodeGetOutput(context, node, 0)));
  for (int i = 0; i < 2; ++i) out[i] = 2 * in[i];
  return kTfLiteOk;
}

TEST(OldNamesTest, create_an_operator_that_runs) {
  calls = {};
  TfLiteOperator* op = OldCreate(kTfLiteBuiltinCustom, "Twice", 1);
  OldSetInit(op, InitTwice);
  OldSetFree(op, FreeTwice);
  OldSetPrepare(op, PrepareTwice);
  OldSetInvoke(op, InvokeTwice);
  EXPECT_EQ(OldBuiltinCode(op), kTfLiteBuiltinCustom);
  EXPECT_STREQ(OldCustomName(op), "Twice");
  {
    TestInterpreter t(TwiceModel(),
                      [op](TfLiteInterpreterOptions* options) { OldAddOperator(options, op); });
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_STREQ(OldSignatureName(t.get(), 0), "serve");
    EXPECT_EQ(OldSignatureName(t.get(), 1), nullptr);
    t.Set<float>(0, {1, -3});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(4, -12));
  }
  EXPECT_EQ(calls.inits, 1);
  EXPECT_GE(calls.prepares, 1);
  EXPECT_EQ(calls.invokes, 1);
  EXPECT_EQ(calls.frees, 1);
  OldDelete(op);
}

struct TfLiteAsyncKernel* NoAsyncKernel(TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
  return nullptr;
}

TEST(OldNamesTest, store_the_fields_of_asynchronous_runtimes) {
  TfLiteOperator* op = OldCreate(kTfLiteBuiltinCustom, "Twice", 1);
  OldSetAsyncKernel(op, NoAsyncKernel);
  OldSetInplace(op, 5);
  EXPECT_EQ(op->async_kernel, &NoAsyncKernel);
  EXPECT_EQ(op->inplace_operator, 5U);
  TfLiteOperatorSetAsyncKernel(op, nullptr);
  EXPECT_EQ(op->async_kernel, nullptr);
  TfLiteOperatorSetAsyncKernel(nullptr, NoAsyncKernel);
  OldDelete(op);
}

TEST(OldNamesTest, add_an_opaque_delegate) {
  int prepares = 0;
  TfLiteOpaqueDelegateBuilder builder = {};
  builder.data = &prepares;
  builder.Prepare = [](TfLiteOpaqueContext*, TfLiteOpaqueDelegate*, void* data) {
    ++*static_cast<int*>(data);
    return kTfLiteOk;
  };
  TfLiteOpaqueDelegate* delegate = TfLiteOpaqueDelegateCreate(&builder);
  {
    TestInterpreter t(AddModel(), [&](TfLiteInterpreterOptions* options) {
      OldAddOpaqueDelegate(options, reinterpret_cast<TfLiteOpaqueDelegateStruct*>(delegate));
    });
    ASSERT_NE(t.get(), nullptr) << t.log();
    EXPECT_EQ(prepares, 2) << "once for each subgraph";
  }
  TfLiteOpaqueDelegateDelete(delegate);
}

// ---- Opaque contexts ----------------------------------------------------------------------------

void ReportVa(TfLiteOpaqueContext* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  TfLiteOpaqueContextReportErrorVa(context, format, arguments);
  va_end(arguments);
}

TEST(OpaqueContextTest, reports_with_a_va_list) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Twice", 1, nullptr);
  TfLiteOperatorSetInvoke(op, [](TfLiteOpaqueContext* context, TfLiteOpaqueNode*) {
    ReportVa(context, "found %d of %s", 3, "four");
    return kTfLiteError;
  });
  TestInterpreter t(TwiceModel(), [op](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddOperator(options, op);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("found 3 of four"));
  TfLiteOperatorDelete(op);
}

// ---- External delegates -------------------------------------------------------------------------

TEST(ExternalDelegateTest, inserted_options_reach_the_library_and_are_bounded) {
  const std::string log = testing::TempDir() + "inserted_" + std::to_string(getpid());
  setenv("RECORDER_LOG", log.c_str(), 1);
  const std::string library = BuildPath("tests/plugins/librecorder.so");
  TfLiteExternalDelegateOptions options = TfLiteExternalDelegateOptionsDefault(library.c_str());
  EXPECT_EQ(TfLiteExternalDelegateOptionsInsert(&options, "one", "1"), kTfLiteOk);
  EXPECT_EQ(TfLiteExternalDelegateOptionsInsert(&options, "two", "2"), kTfLiteOk);
  TfLiteExternalDelegateDelete(TfLiteExternalDelegateCreate(&options));
  unsetenv("RECORDER_LOG");
  std::string line;
  std::getline(std::ifstream(log), line);
  EXPECT_EQ(line, "create librecorder.so one=1 two=2");
  std::filesystem::remove(log);
  for (int i = 2; i < kExternalDelegateMaxOptions; ++i) {
    ASSERT_EQ(TfLiteExternalDelegateOptionsInsert(&options, "more", "x"), kTfLiteOk);
  }
  EXPECT_EQ(TfLiteExternalDelegateOptionsInsert(&options, "beyond", "x"), kTfLiteError);
}

TEST(PlaceholdersTest, use_nnapi_adds_no_delegate) {
  for (const bool use : {true, false}) {
    TestInterpreter t(AddModel(), [use](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsSetUseNNAPI(options, use);
    });
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(DeputyInterpreterGetDelegateCount(t.get()), 0);
    t.Set<float>(0, {1, 2});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 4));
  }
}

TEST(PlaceholdersTest, xnnpacks_delegate_on_threads_of_a_context_and_its_caches) {
  TfLiteXNNPackDelegateOptions options = {};
  options.num_threads = 5;
  TfLiteDelegate* delegate = TfLiteXNNPackDelegateCreateWithThreadpool(&options, nullptr);
  ASSERT_NE(delegate, nullptr);
  EXPECT_EQ(TfLiteXNNPackDelegateGetOptions(delegate)->num_threads, 5);
  {
    TestInterpreter t(AddModel());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk);
  }
  TfLiteXNNPackDelegateDelete(delegate);
  EXPECT_STREQ(TfLiteXNNPackDelegateInMemoryFilePath(), ":memory");
  EXPECT_TRUE(TfLiteXNNPackDelegateCanUseInMemoryWeightCacheProvider());
  struct TfLiteXNNPackDelegateWeightsCache* cache = TfLiteXNNPackDelegateWeightsCacheCreate();
  ASSERT_NE(cache, nullptr);
  EXPECT_TRUE(TfLiteXNNPackDelegateWeightsCacheFinalizeSoft(cache));
  OldDeleteCache(cache);
}

// ---- Attribute maps -----------------------------------------------------------------------------

// Sets two values of one key in sequence, and reads the key after each; other keys must not exist.
template <typename T, typename Key, typename Set, typename Get>
void ExpectBothValues(const Set& set, const Get& get, Key key, Key other, T first, T second) {
  TfLiteAttributeMap* attributes = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeBuffer);
  for (const T value : {first, second}) {
    T found = {};
    set(attributes, key, value);
    EXPECT_TRUE(get(attributes, key, &found));
    EXPECT_EQ(found, value);
    EXPECT_FALSE(get(attributes, other, &found));
    EXPECT_FALSE(get(nullptr, key, &found));
  }
  set(nullptr, key, first);
  TfLiteAttributeMapDelete(attributes);
}

TEST(AttributeMapTest, values_by_number) {
  const uint32_t key = 7, other = 8;
  const char *one = "one", *two = "two";
  ExpectBothValues<int>(TfLiteAttributeMapSetIntAttr, TfLiteAttributeMapGetIntAttr, key, other, -1,
                        2);
  ExpectBothValues<size_t>(TfLiteAttributeMapSetSizeTAttr, TfLiteAttributeMapGetSizeTAttr, key,
                           other, size_t{1} << 40, size_t{2});
  ExpectBothValues<const char*>(TfLiteAttributeMapSetStringAttr, TfLiteAttributeMapGetStringAttr,
                                key, other, one, two);
  ExpectBothValues<bool>(TfLiteAttributeMapSetBoolAttr, TfLiteAttributeMapGetBoolAttr, key, other,
                         true, false);
}

TEST(AttributeMapTest, values_by_name) {
  const char *key = "key", *other = "other", *one = "one", *two = "two";
  ExpectBothValues<int>(TfLiteAttributeMapSetCustomIntAttr, TfLiteAttributeMapGetCustomIntAttr, key,
                        other, -1, 2);
  ExpectBothValues<size_t>(TfLiteAttributeMapSetCustomSizeTAttr,
                           TfLiteAttributeMapGetCustomSizeTAttr, key, other, size_t{1} << 40,
                           size_t{2});
  ExpectBothValues<const char*>(TfLiteAttributeMapSetCustomStringAttr,
                                TfLiteAttributeMapGetCustomStringAttr, key, other, one, two);
  ExpectBothValues<bool>(TfLiteAttributeMapSetCustomBoolAttr, TfLiteAttributeMapGetCustomBoolAttr,
                         key, other, true, false);
}

TEST(AttributeMapTest, buffer_values_are_in_buffer_maps_only) {
  const auto name = kTfLiteBufferAttrKeyResourceTypeName, size = kTfLiteBufferAttrKeySize;
  const char *one = "one", *two = "two";
  ExpectBothValues<const char*>(TfLiteAttributeMapSetStringBufferAttr,
                                TfLiteAttributeMapGetStringBufferAttr, name, size, one, two);
  ExpectBothValues<size_t>(TfLiteAttributeMapSetSizeTBufferAttr,
                           TfLiteAttributeMapGetSizeTBufferAttr, size, name, size_t{1} << 40,
                           size_t{2});
  const auto state = kTfLiteBufferAttrKeyCurrentHostCoherencyState;
  ExpectBothValues<bool>(TfLiteAttributeMapSetBoolBufferAttr, TfLiteAttributeMapGetBoolBufferAttr,
                         state, size, true, false);
  TfLiteAttributeMap* sync = TfLiteAttributeMapCreate(kTfLiteAttrMapTypeSync);
  EXPECT_FALSE(TfLiteAttributeMapSetStringBufferAttr(sync, name, one));
  EXPECT_FALSE(TfLiteAttributeMapSetBoolBufferAttr(sync, state, true));
  EXPECT_FALSE(TfLiteAttributeMapSetSizeTBufferAttr(sync, size, 1));
  TfLiteAttributeMapDelete(sync);
}

// ---- Telemetry ----------------------------------------------------------------------------------

TEST(TelemetrySettingsTest, equal_the_fields_of_the_structs) {
  const int32_t modes[] = {3, 1}, types[] = {0, 18};
  const char* names[] = {"Twice", "Once", "Never"};
  const TfLiteTelemetryConversionMetadata metadata = {modes};
  EXPECT_EQ(TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(&metadata), 2U);
  EXPECT_EQ(TfLiteTelemetryConversionMetadataGetModelOptimizationModes(&metadata), modes);
  TfLiteTelemetrySubgraphInfo info = {{}, types, names};
  EXPECT_EQ(OpTypeCount(&info), 2U);
  EXPECT_EQ(OpTypes(&info), types);
  EXPECT_EQ(CustomOpNameCount(&info), 3U);
  EXPECT_EQ(CustomOpNames(&info), names);
  const TfLiteTelemetryGpuDelegateSettings gpu = {4, 2};
  EXPECT_EQ(TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(&gpu), 4U);
  EXPECT_EQ(TfLiteTelemetryGpuDelegateSettingsGetBackend(&gpu), 2);
}

TEST(TelemetrySettingsTest, of_null_are_empty) {
  EXPECT_EQ(TfLiteTelemetryConversionMetadataGetNumModelOptimizationModes(nullptr), 0U);
  EXPECT_EQ(TfLiteTelemetryConversionMetadataGetModelOptimizationModes(nullptr), nullptr);
  EXPECT_EQ(OpTypeCount(nullptr), 0U);
  EXPECT_EQ(OpTypes(nullptr), nullptr);
  EXPECT_EQ(CustomOpNameCount(nullptr), 0U);
  EXPECT_EQ(CustomOpNames(nullptr), nullptr);
  EXPECT_EQ(TfLiteTelemetryGpuDelegateSettingsGetNumNodesDelegated(nullptr), 0U);
  EXPECT_EQ(TfLiteTelemetryGpuDelegateSettingsGetBackend(nullptr), 0);
}

// ---- deputy.h -----------------------------------------------------------------------------------

TEST(DeputyFunctionsTest, operators_with_kernels) {
  std::set<std::string> names;
  DeputyOperator op = {};
  op.struct_size = sizeof op;
  for (size_t i = 0; i < DeputyGetOperatorCount(); ++i) {
    ASSERT_EQ(DeputyGetOperator(i, &op), kTfLiteOk);
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
    EXPECT_LE(op.min_version, op.max_version) << op.name;
    if (std::string(op.name) == "ADD") {
      EXPECT_EQ(op.builtin_code, 0);
      EXPECT_EQ(op.min_version, 1);
      EXPECT_TRUE(op.types & (uint64_t{1} << kTfLiteFloat32));
      EXPECT_FALSE(op.types & (uint64_t{1} << kTfLiteString));
    }
  }
  EXPECT_TRUE(names.contains("ADD") && names.contains("CONV_2D"));
  EXPECT_EQ(DeputyGetOperator(DeputyGetOperatorCount(), &op), kTfLiteError);
  EXPECT_EQ(DeputyGetOperator(0, nullptr), kTfLiteError);
}

TEST(DeputyFunctionsTest, operators_of_a_model) {
  TestInterpreter t(TwiceModel());
  ASSERT_EQ(DeputyModelGetOperatorCount(t.model()), 2U);
  EXPECT_EQ(DeputyModelGetOperatorCount(nullptr), 0U);
  DeputyModelOperator op = {};
  op.struct_size = sizeof op;
  ASSERT_EQ(DeputyModelGetOperator(t.model(), 0, &op), kTfLiteOk);
  EXPECT_STREQ(op.name, "ADD");
  EXPECT_EQ(op.node_count, 1);
  EXPECT_EQ(op.has_kernel, 1);
  ASSERT_EQ(DeputyModelGetOperator(t.model(), 1, &op), kTfLiteOk);
  EXPECT_STREQ(op.name, "Twice");
  EXPECT_EQ(op.builtin_code, 32);
  EXPECT_EQ(op.has_kernel, 0);
  EXPECT_EQ(DeputyModelGetOperator(t.model(), 2, &op), kTfLiteError);
}

TEST(DeputyFunctionsTest, names_of_subgraphs) {
  TestInterpreter t(AddModel());
  EXPECT_STREQ(DeputyInterpreterGetSubgraphName(t.get(), 1), "second");
  EXPECT_NE(DeputyInterpreterGetSubgraphName(t.get(), 0), nullptr);
  EXPECT_EQ(DeputyInterpreterGetSubgraphName(t.get(), 2), nullptr);
  EXPECT_EQ(DeputyInterpreterGetSubgraphName(t.get(), -1), nullptr);
}

// The file is truncated and removed before the model is used; a model that maps its file would
// crash.
TEST(DeputyFunctionsTest, copied_models_do_not_need_their_file) {
  const std::string path = testing::TempDir() + "copied_" + std::to_string(getpid()) + ".tflite";
  const std::vector<uint8_t> bytes = AddModel();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  TfLiteModel* model = DeputyModelCreateFromFileByCopy(path.c_str());
  ASSERT_NE(model, nullptr);
  std::filesystem::resize_file(path, 0);
  std::filesystem::remove(path);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, nullptr);
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
  TfLiteInterpreterDelete(interpreter);
  TfLiteModelDelete(model);
  EXPECT_EQ(DeputyModelCreateFromFileByCopy(path.c_str()), nullptr);
}

TEST(DeputyFunctionsTest, selected_kernel_table_exists) {
  EXPECT_THAT(
      DeputyCpuTable(),
      testing::AnyOf(testing::StrEq("generic"), testing::StrEq("avx2"), testing::StrEq("avx512"),
                     testing::StrEq("amx"), testing::StrEq("neon"), testing::StrEq("neon_dot"),
                     testing::StrEq("neon_fp16"), testing::StrEq("neon_i8mm"),
                     testing::StrEq("neon_bf16"), testing::StrEq("neon32")));
}

// Runs in a child process, because each variable is reported once per process.
TEST(DeputyFunctionsTest, misspelt_variables_are_reported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("DEPUTY_VALIDATE", "1", 1);
        DeputyCheckEnvironment();
        DeputyCheckEnvironment();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      testing::AllOf(HasSubstr("DEPUTY_VALIDATE"), HasSubstr("DEPUTY_VALIDATION")));
}

}  // namespace
}  // namespace deputy::exported_functions_test
