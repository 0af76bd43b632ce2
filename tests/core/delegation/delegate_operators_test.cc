// SPDX-License-Identifier: Apache-2.0
//
// Tests which functions a delegate's node runs: its own ones, even if other kernels have the same
// name, and independent of the operator objects that delegates have received for the nodes (abi.md
// 3.10, 4.6, 4.8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/operator.h"
#include "tests/support/delegate_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_operators_test {
namespace {

using testing::HasSubstr;

// Record of the functions run in the newest inference: the letter of each function and that of its
// user data.
std::string trace;

// A kernel whose functions have a letter and record the user data that they receive.
template <char kLetter>
TfLiteRegistration Kernel(const char* name, int version = 1) {
  TfLiteRegistration kernel{};
  kernel.init = [](TfLiteContext*, const char*, size_t) -> void* { return new char(kLetter); };
  kernel.free = [](TfLiteContext*, void* data) {
    EXPECT_EQ(*static_cast<char*>(data), kLetter);
    delete static_cast<char*>(data);
  };
  kernel.prepare = [](TfLiteContext*, TfLiteNode* node) {
    EXPECT_EQ(*static_cast<char*>(node->user_data), kLetter);
    return kTfLiteOk;
  };
  kernel.invoke = [](TfLiteContext*, TfLiteNode* node) {
    trace += {kLetter, *static_cast<char*>(node->user_data), ' '};
    return kTfLiteOk;
  };
  kernel.custom_name = name;
  kernel.version = version;
  return kernel;
}

// Queries all nodes, as every partition helper does.
void QueryAllNodes(TfLiteContext* context) {
  TfLiteIntArray* plan = nullptr;
  ASSERT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
  const std::vector<int> nodes(plan->data, plan->data + plan->size);
  for (int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    ASSERT_EQ(context->GetNodeAndRegistration(context, index, &node, &registration), kTfLiteOk);
    ASSERT_NE(registration->registration_external, nullptr);
  }
}

TfLiteStatus Replace(TfLiteContext* context, TfLiteDelegate* delegate,
                     const TfLiteRegistration& kernel, const std::vector<int>& nodes) {
  TfLiteIntArray* list = TfLiteIntArrayCreate(static_cast<int>(nodes.size()));
  std::copy(nodes.begin(), nodes.end(), list->data);
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, list, delegate);
  TfLiteIntArrayFree(list);
  return status;
}

Programmed::Body QueryAndClaim(const TfLiteRegistration& kernel, int node) {
  return [=](TfLiteContext* context, TfLiteDelegate* delegate) {
    QueryAllNodes(context);
    return Replace(context, delegate, kernel, {node});
  };
}

std::string TraceOfInference(TestInterpreter* t) {
  trace.clear();
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return trace;
}

// ---- Plain delegates ----------------------------------------------------------------------------

TEST(OperatorsOfNodes, kernels_of_equal_names_run_for_their_own_nodes) {
  for (const char* name : {"Same", static_cast<const char*>(nullptr)}) {
    Programmed delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
      QueryAllNodes(context);
      TfLiteStatus status = Replace(context, self, Kernel<'a'>(name), {1});
      QueryAllNodes(context);
      if (status == kTfLiteOk) status = Replace(context, self, Kernel<'b'>(name), {3});
      QueryAllNodes(context);
      return status;
    });
    TestInterpreter t(Chain(5));
    ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
    EXPECT_EQ(TraceOfInference(&t), "aa bb ");
  }
}

TEST(OperatorsOfNodes, kernels_of_several_delegates_may_have_one_name) {
  Programmed a(QueryAndClaim(Kernel<'a'>(nullptr, 0), 1)),
      b(QueryAndClaim(Kernel<'b'>(nullptr, 0), 3));
  Programmed inspector([](TfLiteContext* context, TfLiteDelegate*) {
    QueryAllNodes(context);
    return kTfLiteOk;
  });
  TestInterpreter t(Chain(5));
  for (Programmed* each : {&a, &b, &inspector}) ASSERT_EQ(Apply(&t, &each->base), kTfLiteOk);
  EXPECT_EQ(TraceOfInference(&t), "aa bb ");
}

// After kernels were removed, the nodes have different indices when they are claimed again.
TEST(OperatorsOfNodes, removed_kernels_are_freed_completely) {
  Programmed a(QueryAndClaim(Kernel<'a'>("A"), 0)), b(QueryAndClaim(Kernel<'b'>("B"), 2)),
      c(QueryAndClaim(Kernel<'c'>("C"), 4));
  Programmed fails([](TfLiteContext* context, TfLiteDelegate*) {
    QueryAllNodes(context);
    return kTfLiteError;
  });
  TestInterpreter t(Chain(6));
  for (Programmed* each : {&a, &b, &c}) ASSERT_EQ(Apply(&t, &each->base), kTfLiteOk);
  EXPECT_EQ(TraceOfInference(&t), "aa bb cc ");
  EXPECT_EQ(Apply(&t, &fails.base), kTfLiteDelegateError);
  EXPECT_EQ(TraceOfInference(&t), "");
  for (Programmed* each : {&b, &c}) ASSERT_EQ(Apply(&t, &each->base), kTfLiteOk);
  EXPECT_EQ(TraceOfInference(&t), "bb cc ");
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(TraceOfInference(&t), "bb cc ");
}

TEST(OperatorsOfNodes, one_object_describes_all_nodes_of_an_operator) {
  TfLiteOperator *first = nullptr, *second = nullptr, *other = nullptr;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    auto* opaque = reinterpret_cast<TfLiteOpaqueContext*>(context);
    TfLiteOpaqueNode* node = nullptr;
    EXPECT_EQ(TfLiteOpaqueContextGetNodeAndRegistration(opaque, 0, &node, &first), kTfLiteOk);
    EXPECT_EQ(TfLiteOpaqueContextGetNodeAndRegistration(opaque, 1, &node, &other), kTfLiteOk);
    EXPECT_EQ(TfLiteOpaqueContextGetNodeAndRegistration(opaque, 2, &node, &second), kTfLiteOk);
    EXPECT_EQ(TfLiteOperatorGetBuiltInCode(first), kTfLiteBuiltinAdd);
    EXPECT_EQ(TfLiteOperatorGetBuiltInCode(other), kTfLiteBuiltinMul);
    EXPECT_EQ(TfLiteOperatorGetVersion(first), 1);
    return kTfLiteOk;
  });
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

// ---- Opaque delegates ---------------------------------------------------------------------------

TfLiteOperator* CountingOperator(const char* name, int* invocations) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, name, 1, invocations);
  TfLiteOperatorSetInvokeWithData(op, [](void* count, TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
    ++*static_cast<int*>(count);
    return kTfLiteOk;
  });
  return op;
}

// An opaque delegate whose Prepare is a function of the test. Declare it before the interpreter.
struct ProgrammedOpaque {
  explicit ProgrammedOpaque(Programmed::Body prepare) : body(std::move(prepare)) {
    builder.data = this;
    builder.Prepare = [](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* handle, void* self) {
      return static_cast<ProgrammedOpaque*>(self)->body(reinterpret_cast<TfLiteContext*>(context),
                                                        reinterpret_cast<TfLiteDelegate*>(handle));
    };
    delegate = TfLiteOpaqueDelegateCreate(&builder);
  }
  ~ProgrammedOpaque() { TfLiteOpaqueDelegateDelete(delegate); }
  ProgrammedOpaque(const ProgrammedOpaque&) = delete;
  TfLiteDelegate* get() { return reinterpret_cast<TfLiteDelegate*>(delegate); }

  TfLiteOpaqueDelegateBuilder builder{};
  Programmed::Body body;
  TfLiteOpaqueDelegate* delegate = nullptr;
};

TfLiteStatus ReplaceWith(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteOperator* op,
                         int node) {
  TfLiteRegistration kernel{};
  kernel.registration_external = op;
  return Replace(context, delegate, kernel, {node});
}

TEST(OpaqueOperators, the_first_of_a_name_is_used_for_all_nodes_of_its_delegate) {
  int first = 0, second = 0;
  ProgrammedOpaque delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    EXPECT_EQ(ReplaceWith(context, self, CountingOperator("Op", &first), 0), kTfLiteOk);
    return ReplaceWith(context, self, CountingOperator("Op", &second), 2);
  });
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  TraceOfInference(&t);
  EXPECT_EQ(first, 2);
  EXPECT_EQ(second, 0);
}

TEST(OpaqueOperators, differ_from_descriptions_of_plain_delegate_nodes) {
  static constexpr char kName[] = "Op";
  int invocations = 0;
  Programmed plain(QueryAndClaim(Kernel<'a'>(kName), 0));
  ProgrammedOpaque opaque([&](TfLiteContext* context, TfLiteDelegate* self) {
    QueryAllNodes(context);
    return ReplaceWith(context, self, CountingOperator(kName, &invocations), 2);
  });
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, &plain.base), kTfLiteOk);
  ASSERT_EQ(Apply(&t, opaque.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(TraceOfInference(&t), "aa ");
  EXPECT_EQ(invocations, 1);
}

TEST(OpaqueOperators, of_two_delegates_may_have_one_name) {
  int counts[] = {0, 0};
  const auto take = [](int* count, int node) {
    return [=](TfLiteContext* context, TfLiteDelegate* self) {
      return ReplaceWith(context, self, CountingOperator("Op", count), node);
    };
  };
  ProgrammedOpaque a(take(&counts[0], 0)), b(take(&counts[1], 2));
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, a.get()), kTfLiteOk);
  ASSERT_EQ(Apply(&t, b.get()), kTfLiteOk);
  TraceOfInference(&t);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[1], 1);
}

TEST(OpaqueOperators, are_replaced_after_a_resize) {
  int counts[] = {0, 0};
  int prepared = 0;
  ProgrammedOpaque delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    return ReplaceWith(context, self, CountingOperator("Op", &counts[prepared++]), 1);
  });
  TestInterpreter t(Chain(3));
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  TraceOfInference(&t);
  EXPECT_EQ(prepared, 2);
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], 1);
}

TEST(OpaqueOperators, may_be_passed_twice) {
  int invocations = 0;
  ProgrammedOpaque delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteOperator* op = CountingOperator("Op", &invocations);
    EXPECT_EQ(ReplaceWith(context, self, op, 0), kTfLiteOk);
    return ReplaceWith(context, self, op, 2);
  });
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  TraceOfInference(&t);
  EXPECT_EQ(invocations, 2);
}

// A delegate must not use an operator object that it received for a node: the runtime owns the
// object, or the client who registered the operator.
TEST(OpaqueOperators, that_describe_nodes_cannot_be_adopted) {
  const auto adopt_described_operator = [](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* shown = nullptr;
    EXPECT_EQ(context->GetNodeAndRegistration(context, 0, &node, &shown), kTfLiteOk);
    const TfLiteStatus status = ReplaceWith(context, self, shown->registration_external, 0);
    EXPECT_EQ(status, kTfLiteDelegateError);
    EXPECT_EQ(TfLiteOperatorGetBuiltInCode(shown->registration_external), shown->builtin_code);
    return status;
  };
  TestInterpreter cpu(Chain(3));
  const std::vector<float> x = {1, 2, 3, 4};
  ASSERT_EQ(cpu.Allocate(), kTfLiteOk);
  cpu.Set<float>(0, x);
  ASSERT_EQ(cpu.Invoke(), kTfLiteOk);
  ProgrammedOpaque opaque(adopt_described_operator);
  Programmed plain(adopt_described_operator);
  for (TfLiteDelegate* delegate : {opaque.get(), &plain.base}) {
    TestInterpreter t(Chain(3));
    EXPECT_EQ(Apply(&t, delegate), kTfLiteDelegateError);
    EXPECT_THAT(t.log(),
                HasSubstr("expected an operator of its own, found the operator of a node"));
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), cpu.Get<float>(0));
  }
}

TEST(OpaqueOperators, of_a_client_are_not_adopted) {
  int invocations = 0;
  TfLiteOperator* custom = TfLiteOperatorCreate(kTfLiteBuiltinCustom, "Mine", 1, &invocations);
  TfLiteOperatorSetInvokeWithData(custom, [](void* count, TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
    ++*static_cast<int*>(count);
    return kTfLiteOk;
  });
  ProgrammedOpaque delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    EXPECT_EQ(ReplaceWith(context, self, custom, 0), kTfLiteDelegateError);
    return kTfLiteOk;
  });
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x"), y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddCustomOp("Mine", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  {
    TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsAddOperator(options, custom);
    });
    ASSERT_NE(t.get(), nullptr) << t.log();
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
    EXPECT_EQ(TfLiteOperatorGetBuiltInCode(custom), kTfLiteBuiltinCustom);
    TraceOfInference(&t);
    EXPECT_EQ(invocations, 1);
  }
  TfLiteOperatorDelete(custom);
}

}  // namespace
}  // namespace deputy::delegate_operators_test
