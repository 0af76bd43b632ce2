// SPDX-License-Identifier: Apache-2.0
//
// Tests custom operators of a client in every form of the ABI (TF-13): registrations of four sizes,
// operators with and without user data, added to the options or found by callbacks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/recording_kernels.h"

namespace deputy::custom_op_test {
namespace {

constexpr int kOption = 7;

// y = AddOption(x), one node of a custom operator or of a builtin that clients replace.
std::vector<uint8_t> CustomModel(const std::string& name = "AddOption", int version = 1) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 3}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 3}, "y");
  m.AddCustomOp(name, {x}, {y}, {kOption}, version);
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> AddModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 3}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 3}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

void Keep(void* text, const char* format, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, format, args);
  static_cast<std::string*>(text)->append(line).append("\n");
}

class CustomOp : public testing::Test {
 protected:
  void SetUp() override {
    ResetRecordedCalls();
    options_ = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options_, &Keep, &log_);
  }
  void TearDown() override {
    Close();
    TfLiteInterpreterOptionsDelete(options_);
  }

  bool Open(const std::vector<uint8_t>& bytes) {
    bytes_ = bytes;
    model_ = TfLiteModelCreate(bytes_.data(), bytes_.size());
    interpreter_ = TfLiteInterpreterCreate(model_, options_);
    return interpreter_ != nullptr;
  }
  void Close() {
    TfLiteInterpreterDelete(interpreter_);
    TfLiteModelDelete(model_);
    interpreter_ = nullptr;
    model_ = nullptr;
  }
  std::vector<float> Run(const std::vector<float>& values) {
    std::vector<float> result(values.size());
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk) << log_;
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter_, 0);
    EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values.data(), values.size() * 4), kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteOk) << log_;
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter_, 0);
    EXPECT_EQ(TfLiteTensorCopyToBuffer(output, result.data(), result.size() * 4), kTfLiteOk);
    return result;
  }
  // Runs the whole life cycle with the current options and checks the results and the order of
  // calls.
  void ExpectRuns(const std::string& calls) {
    ASSERT_TRUE(Open(CustomModel())) << log_;
    EXPECT_EQ(Run({1, 2, 3}), (std::vector<float>{8, 9, 10}));
    Close();
    EXPECT_EQ(RecordedCalls(), calls);
  }

  static constexpr const char* kPlainCalls = "init prepare invoke free ";

  std::string log_;
  std::vector<uint8_t> bytes_;
  TfLiteInterpreterOptions* options_ = nullptr;
  TfLiteModel* model_ = nullptr;
  TfLiteInterpreter* interpreter_ = nullptr;
};

TEST_F(CustomOp, added_registration_runs_init_prepare_invoke_free) {
  const TfLiteRegistration registration = RecordRegistration();
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ExpectRuns(kPlainCalls);
}

TEST_F(CustomOp, invoke_repeats_without_init_or_prepare) {
  const TfLiteRegistration registration = RecordRegistration();
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 3);
  ASSERT_TRUE(Open(CustomModel("AddOption", 3)));
  EXPECT_EQ(Run({1, 2, 3}), (std::vector<float>{8, 9, 10}));
  EXPECT_EQ(Run({0, 0, 5}), (std::vector<float>{7, 7, 12}));
  Close();
  EXPECT_STREQ(RecordedCalls(), "init prepare invoke invoke free ");
}

TEST_F(CustomOp, added_operator_runs) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "AddOption", 1, nullptr);
  TfLiteOperatorSetInit(op, &RecordOpaqueInit);
  TfLiteOperatorSetFree(op, &RecordOpaqueFree);
  TfLiteOperatorSetPrepare(op, &RecordOpaquePrepare);
  TfLiteOperatorSetInvoke(op, &RecordOpaqueInvoke);
  TfLiteInterpreterOptionsAddOperator(options_, op);
  ExpectRuns(kPlainCalls);
  TfLiteOperatorDelete(op);
}

TEST_F(CustomOp, functions_with_data_override_the_plain_functions) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "AddOption", 1, &kRecordUserData);
  TfLiteOperatorSetInvoke(op, &RecordOpaqueInvoke);
  TfLiteOperatorSetInitWithData(op, &RecordDataInit);
  TfLiteOperatorSetFreeWithData(op, &RecordDataFree);
  TfLiteOperatorSetPrepareWithData(op, &RecordDataPrepare);
  TfLiteOperatorSetInvokeWithData(op, &RecordDataInvoke);
  TfLiteInterpreterOptionsAddOperator(options_, op);
  ExpectRuns("data init data prepare data invoke data free ");
  TfLiteOperatorDelete(op);
}

// Registrations that the resolver callbacks return.
TfLiteRegistration g_registration;
TfLiteOperator* g_operator;
int g_user_data;

bool IsClientsOperator(const char* name) { return std::string(name) == "AddOption"; }
const TfLiteRegistration* FindCustom(void* user_data, const char* name, int) {
  if (user_data == &g_user_data) ++g_user_data;
  return IsClientsOperator(name) ? &g_registration : nullptr;
}
const TfLiteRegistration_V1* FindCustomV1(void*, const char* name, int) {
  return IsClientsOperator(name) ? RecordRegistrationV1() : nullptr;
}
const TfLiteRegistration_V2* FindCustomV2(void*, const char* name, int) {
  return IsClientsOperator(name) ? RecordRegistrationV2() : nullptr;
}
const TfLiteRegistration_V3* FindCustomV3(void*, const char* name, int) {
  return IsClientsOperator(name) ? RecordRegistrationV3() : nullptr;
}
const TfLiteOperator* FindCustomExternal(void*, const char* name, int) {
  return IsClientsOperator(name) ? g_operator : nullptr;
}
const TfLiteOperator* FindNoOperator(void*, const char*, int) { return nullptr; }

TEST_F(CustomOp, resolver_callback_is_called_with_its_user_data) {
  g_registration = RecordRegistration();
  g_registration.builtin_code = kTfLiteBuiltinCustom;
  g_registration.custom_name = "AddOption";
  g_user_data = 0;
  TfLiteInterpreterOptionsSetOpResolver(options_, nullptr, &FindCustom, &g_user_data);
  ExpectRuns(kPlainCalls);
  EXPECT_GT(g_user_data, 0);
}

TEST_F(CustomOp, registrations_of_64_bytes_are_not_read_past_their_end) {
  TfLiteInterpreterOptionsSetOpResolverV1(options_, nullptr, &FindCustomV1, nullptr);
  ExpectRuns(kPlainCalls);
}
TEST_F(CustomOp, registrations_of_72_bytes_are_not_read_past_their_end) {
  TfLiteInterpreterOptionsSetOpResolverV2(options_, nullptr, &FindCustomV2, nullptr);
  ExpectRuns(kPlainCalls);
}
TEST_F(CustomOp, registrations_of_80_bytes_are_not_read_past_their_end) {
  TfLiteInterpreterOptionsSetOpResolverV3(options_, nullptr, &FindCustomV3, nullptr);
  ExpectRuns(kPlainCalls);
}

TEST_F(CustomOp, callbacks_may_return_operators_with_data_functions_only) {
  // Upstream ignores operators with user data that a callback returns (abi.md F); Deputy treats
  // them as any other kernel.
  g_operator = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "AddOption", 1, &kRecordUserData);
  TfLiteOperatorSetInitWithData(g_operator, &RecordDataInit);
  TfLiteOperatorSetFreeWithData(g_operator, &RecordDataFree);
  TfLiteOperatorSetPrepareWithData(g_operator, &RecordDataPrepare);
  TfLiteOperatorSetInvokeWithData(g_operator, &RecordDataInvoke);
  TfLiteInterpreterOptionsSetOpResolverExternal(options_, nullptr, &FindCustomExternal, nullptr);
  ExpectRuns("data init data prepare data invoke data free ");
  TfLiteOperatorDelete(g_operator);
}

TEST_F(CustomOp, external_resolver_falls_back_to_registrations) {
  g_registration = RecordRegistration();
  g_registration.builtin_code = kTfLiteBuiltinCustom;
  TfLiteInterpreterOptionsSetOpResolverExternalWithFallback(options_, nullptr, &FindNoOperator,
                                                            nullptr, &FindCustom, nullptr);
  ExpectRuns(kPlainCalls);
}

TEST_F(CustomOp, each_setter_clears_the_callbacks_before_it) {
  TfLiteInterpreterOptionsSetOpResolverV1(options_, nullptr, &FindCustomV1, nullptr);
  TfLiteInterpreterOptionsSetOpResolver(options_, nullptr, nullptr, nullptr);
  // The default resolver provides the builtin operators, but not the custom operator.
  ASSERT_TRUE(Open(AddModel())) << log_;
  EXPECT_EQ(Run({1, 2, 3}), (std::vector<float>{2, 4, 6}));
}

TEST_F(CustomOp, client_kernel_overrides_the_builtin_kernel) {
  TfLiteRegistration registration = RecordRegistration();
  registration.init = nullptr;
  registration.free = nullptr;
  registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    for (int i = 0; i < 3; ++i) context->tensors[node->outputs->data[0]].data.f[i] = -1;
    return kTfLiteOk;
  };
  TfLiteInterpreterOptionsAddBuiltinOp(options_, kTfLiteBuiltinAdd, &registration, 1, 2);
  ASSERT_TRUE(Open(AddModel())) << log_;
  EXPECT_EQ(Run({1, 2, 3}), (std::vector<float>{-1, -1, -1}));
}

TEST_F(CustomOp, selected_ops_contain_only_added_operators) {
  bytes_ = AddModel();
  model_ = TfLiteModelCreate(bytes_.data(), bytes_.size());
  EXPECT_EQ(TfLiteInterpreterCreateWithSelectedOps(model_, options_), nullptr);
  EXPECT_EQ(log_.rfind("Didn't find op for builtin opcode 'ADD' version '1'.", 0), 0u) << log_;
}

TEST_F(CustomOp, unresolved_operator_is_created_and_refused_by_allocate) {
  ASSERT_TRUE(Open(CustomModel("Unknown")));
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteUnresolvedOps);
  EXPECT_EQ(log_.rfind("Encountered unresolved custom op: Unknown.", 0), 0u) << log_;
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteError);
}

TEST_F(CustomOp, wrong_version_is_unresolved) {
  const TfLiteRegistration registration = RecordRegistration();
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 2);
  ASSERT_TRUE(Open(CustomModel("AddOption", 3)));
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteUnresolvedOps);
}

// ---- Failing kernels ----------------------------------------------------------------------------

TEST_F(CustomOp, failing_init_refuses_creation) {
  TfLiteRegistration registration = RecordRegistration();
  registration.init = [](TfLiteContext*, const char*, size_t) { return TfLiteKernelInitFailed(); };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  EXPECT_FALSE(Open(CustomModel()));
  EXPECT_EQ(log_.rfind("Failed to initialize kernel.", 0), 0u) << log_;
  EXPECT_STREQ(RecordedCalls(), "");
}

TEST_F(CustomOp, null_user_data_reaches_prepare_and_is_never_freed) {
  static bool saw_null;
  saw_null = false;
  TfLiteRegistration registration = RecordRegistration();
  registration.init = [](TfLiteContext*, const char*, size_t) -> void* { return nullptr; };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    saw_null = node->user_data == nullptr;
    return RecordPrepare(context, node);
  };
  registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  Run({1, 2, 3});
  Close();
  EXPECT_TRUE(saw_null);
  EXPECT_STREQ(RecordedCalls(), "prepare ");
}

TEST_F(CustomOp, prepare_status_is_returned_and_the_graph_recovers) {
  static TfLiteStatus status_of_prepare;
  status_of_prepare = kTfLiteApplicationError;
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    return status_of_prepare == kTfLiteOk ? RecordPrepare(context, node) : status_of_prepare;
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteApplicationError);
  EXPECT_EQ(log_, "Node number 0 (AddOption) failed to prepare.\n");
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteError);
  status_of_prepare = kTfLiteOk;
  EXPECT_EQ(Run({1, 2, 3}), (std::vector<float>{8, 9, 10}));
}

TEST_F(CustomOp, invoke_failures_return_error_unless_cancelled) {
  static TfLiteStatus status_of_prepare;
  TfLiteRegistration registration = RecordRegistration();
  registration.invoke = [](TfLiteContext*, TfLiteNode*) { return status_of_prepare; };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  status_of_prepare = kTfLiteApplicationError;
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteError);
  EXPECT_EQ(log_, "Node number 0 (AddOption) failed to invoke.\n");
  status_of_prepare = kTfLiteCancelled;
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteCancelled);
  status_of_prepare = kTfLiteOk;
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteOk);
}

TEST_F(CustomOp, exceptions_of_a_kernel_become_errors) {
  TfLiteRegistration registration = RecordRegistration();
  registration.invoke = [](TfLiteContext*, TfLiteNode*) -> TfLiteStatus { throw 42; };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteError);
  EXPECT_NE(log_.find("threw an exception"), std::string::npos) << log_;
}

TEST_F(CustomOp, missing_invoke_fails_invoke) {
  TfLiteRegistration registration = RecordRegistration();
  registration.invoke = nullptr;
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter_), kTfLiteError);
}

// ---- A kernel's view of the context -------------------------------------------------------------

TEST_F(CustomOp, functions_of_delegates_are_forbidden_to_kernels) {
  static int errors;
  errors = 0;
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    TfLiteIntArray* plan = nullptr;
    TfLiteNode* other = nullptr;
    TfLiteRegistration* found = nullptr;
    TfLiteDelegateParams* params = nullptr;
    TfLiteContext* acquired = nullptr;
    int count = 0;
    errors += context->GetExecutionPlan(context, &plan) == kTfLiteError;
    errors += context->GetNodeAndRegistration(context, 0, &other, &found) == kTfLiteError;
    errors += context->ReplaceNodeSubsetsWithDelegateKernels(context, TfLiteRegistration{},
                                                             node->inputs, nullptr) == kTfLiteError;
    errors += context->PreviewDelegatePartitioning(context, node->inputs, &params, &count) ==
              kTfLiteError;
    errors += context->AcquireSubgraphContext(context, 0, &acquired) == kTfLiteError;
    errors += context->ReleaseSubgraphContext(context, 0) == kTfLiteError;
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(other, nullptr);
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(errors, 6);
  EXPECT_EQ(log_.rfind("The function is forbidden if not calling in delegate.\n", 0), 0u) << log_;
}

TEST_F(CustomOp, functions_of_the_micro_runtime_stay_null) {
  static TfLiteContext seen;
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    seen = *context;
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  TfLiteInterpreterOptionsSetNumThreads(options_, 3);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(seen.AllocatePersistentBuffer, nullptr);
  EXPECT_EQ(seen.AllocateBufferForEval, nullptr);
  EXPECT_EQ(seen.RequestScratchBufferInArena, nullptr);
  EXPECT_EQ(seen.GetScratchBuffer, nullptr);
  EXPECT_EQ(seen.ResizeTensorExplicit, nullptr);
  EXPECT_EQ(seen.GetTensor, nullptr);
  EXPECT_EQ(seen.GetEvalTensor, nullptr);
  EXPECT_EQ(seen.profiler, nullptr);
  EXPECT_EQ(seen.recommended_num_threads, 3);
  EXPECT_FALSE(seen.allow_fp32_relax_to_fp16);
}

TEST_F(CustomOp, sixteen_added_tensors_leave_tensor_pointers_in_place) {
  static bool stable;
  stable = true;
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor* before = context->tensors;
    for (int i = 0; i < 16; ++i) {
      int first = -1;
      if (context->AddTensors(context, 1, &first) != kTfLiteOk) return kTfLiteError;
      const TfLiteTensor& added = context->tensors[first];
      stable = stable && added.type == kTfLiteNoType && added.dims == nullptr &&
               added.allocation_type == kTfLiteMemNone && added.buffer_handle == -1;
    }
    stable = stable && before == context->tensors;
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  // Each resize prepares the node again, which adds tensors: the tensor array grows between
  // kernels, never during one.
  for (int rows = 1; rows < 12; ++rows) {
    const int dims[] = {rows, 3};
    ASSERT_EQ(TfLiteInterpreterResizeInputTensor(interpreter_, 0, dims, 2), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  }
  EXPECT_TRUE(stable);
}

TEST_F(CustomOp, negative_count_of_added_tensors_is_refused) {
  static TfLiteStatus status;
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    status = context->AddTensors(context, -1, nullptr);
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(status, kTfLiteError);
}

// Returns GetModelMetadata's result for an entry that the model has.
std::string MetadataSeenBy(const TfLiteContext* context) {
  const char* bytes = "untouched";
  size_t size = 9;
  if (context->GetModelMetadata(context, "greeting", &bytes, &size) == kTfLiteOk) {
    return std::string(bytes, size);
  }
  return bytes == nullptr && size == 0 ? "error" : "error, but something given out";
}

TEST_F(CustomOp, metadata_is_readable_from_prepare_on_but_not_in_init) {
  static std::string in_init, in_prepare;
  TfLiteRegistration registration = RecordRegistration();
  registration.init = [](TfLiteContext* context, const char* buffer, size_t length) {
    in_init = MetadataSeenBy(context);
    return RecordInit(context, buffer, length);
  };
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    in_prepare = MetadataSeenBy(context);
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 3}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 3}, "y");
  m.AddCustomOp("AddOption", {x}, {y}, {kOption});
  m.AddMetadata("greeting", {'h', 'e', 'l', 'l', 'o'});
  m.SetInputs({x});
  m.SetOutputs({y});
  ASSERT_TRUE(Open(m.Finish())) << log_;
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(in_init, "error");
  EXPECT_EQ(in_prepare, "hello");

  // The init of a delegate's kernel runs later, when the metadata is available.
  static std::string in_delegates_init;
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteRegistration kernel{};
    kernel.init = [](TfLiteContext* inner, const char*, size_t) -> void* {
      in_delegates_init = MetadataSeenBy(inner);
      return nullptr;
    };
    kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, self);
  };
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter_, &delegate), kTfLiteOk) << log_;
  EXPECT_EQ(in_delegates_init, "hello");
  Close();
}

TEST_F(CustomOp, kernel_reports_reach_the_client_unformatted) {
  std::string format;
  TfLiteInterpreterOptionsSetErrorReporter(
      options_,
      [](void* text, const char* given, va_list) { *static_cast<std::string*>(text) = given; },
      &format);
  TfLiteRegistration registration = RecordRegistration();
  registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
    context->ReportError(context, "%d%% of '%s'", 50, "x");
    return RecordPrepare(context, node);
  };
  TfLiteInterpreterOptionsAddCustomOp(options_, "AddOption", &registration, 1, 1);
  ASSERT_TRUE(Open(CustomModel()));
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter_), kTfLiteOk);
  EXPECT_EQ(format, "50%% of 'x'");
  Close();
}

}  // namespace
}  // namespace deputy::custom_op_test
