// SPDX-License-Identifier: Apache-2.0
//
// Tests the validation layer: delegates that each break one rule are reported for that rule, with
// delegate and call in the text; delegates that keep the contract are not reported.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "c_api/src/objects.h"
#include "tests/support/element_delegate.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::validation_test {
namespace {

// ---- Findings -----------------------------------------------------------------------------------

struct Found {
  std::string rule, text, delegate_name;
  int severity, subgraph, node, tensor;
};
using Findings = std::vector<Found>;

void Collect(void* user_data, const DeputyFinding* finding) {
  static_cast<Findings*>(user_data)->push_back(
      {finding->rule, finding->text, finding->delegate_name, finding->severity,
       finding->subgraph_index, finding->node_index, finding->tensor_index});
}

TestInterpreter::Configure Validated(Findings* findings,
                                     DeputyDelegatePolicy policy = kDeputyPolicyTfLite,
                                     int64_t budget_ns = 0) {
  return [=](TfLiteInterpreterOptions* options) {
    DeputyValidationOptions validation{};
    validation.struct_size = sizeof validation;
    validation.enabled = 1;
    validation.invoke_budget_ns = budget_ns;
    validation.on_finding = Collect;
    validation.user_data = findings;
    ASSERT_EQ(DeputyInterpreterOptionsSetValidation(options, &validation), kTfLiteOk);
    ASSERT_EQ(DeputyInterpreterOptionsSetDelegatePolicy(options, policy), kTfLiteOk);
  };
}

std::string Texts(const Findings& findings) {
  std::string all;
  for (const Found& found : findings) all += found.text + "\n";
  return all;
}

// ---- A correct delegate with hooks for a test ---------------------------------------------------

constexpr size_t kBodyTensors = 2;  // number of tensors in the second subgraph

struct Probe {
  TfLiteDelegate base{};
  std::vector<int> claims = {1};
  TfLiteRegistration registration{};

  // Functions that are called in the delegate's callbacks, before the work of the callback, or
  // after it (after_invoke); each is optional.
  std::function<void(TfLiteContext*)> in_delegate_prepare;
  std::function<void(TfLiteContext*, const TfLiteDelegateParams*)> in_init;
  std::function<void(TfLiteContext*, TfLiteNode*)> in_prepare, in_invoke, after_invoke;
  std::function<void(TfLiteContext*, void*)> in_free;
  // Functions that are called in place of the callbacks' work.
  std::function<void*()> init_result;
  std::function<TfLiteStatus(TfLiteContext*, TfLiteTensor*)> copy_from;
  bool writes_output = true;

  Probe() {
    base.data_ = this;
    base.Prepare = &PrepareDelegate;
    registration.init = &Init;
    registration.free = &Free;
    registration.prepare = &Prepare;
    registration.invoke = &Invoke;
    registration.custom_name = "Probe";
    registration.version = 1;
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  struct Kernel {
    Probe* probe;
  };
  static Probe* Of(const TfLiteNode* node) { return static_cast<Probe*>(node->delegate->data_); }

  static TfLiteStatus PrepareDelegate(TfLiteContext* context, TfLiteDelegate* delegate) {
    auto* probe = static_cast<Probe*>(delegate->data_);
    // No node of the second subgraph, which has fewer tensors, is claimed.
    if (context->tensors_size < kBodyTensors + 1) return kTfLiteOk;
    if (probe->in_delegate_prepare) probe->in_delegate_prepare(context);
    TfLiteIntArray* nodes = TfLiteIntArrayCreate(static_cast<int>(probe->claims.size()));
    std::copy(probe->claims.begin(), probe->claims.end(), nodes->data);
    const TfLiteStatus status = context->ReplaceNodeSubsetsWithDelegateKernels(
        context, probe->registration, nodes, delegate);
    TfLiteIntArrayFree(nodes);
    return status;
  }
  static void* Init(TfLiteContext* context, const char* buffer, size_t) {
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    auto* probe = static_cast<Probe*>(params->delegate->data_);
    if (probe->in_init) probe->in_init(context, params);
    if (probe->init_result) return probe->init_result();
    return new Kernel{probe};
  }
  static void Free(TfLiteContext* context, void* user_data) {
    auto* kernel = static_cast<Kernel*>(user_data);
    if (kernel->probe->in_free) kernel->probe->in_free(context, user_data);
    delete kernel;
  }
  static TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
    if (Of(node)->in_prepare) Of(node)->in_prepare(context, node);
    return kTfLiteOk;
  }
  static TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
    Probe* probe = Of(node);
    if (probe->in_invoke) probe->in_invoke(context, node);
    const TfLiteTensor& a = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& b = context->tensors[node->inputs->data[1]];
    const TfLiteTensor& out = context->tensors[node->outputs->data[0]];
    for (size_t i = 0; probe->writes_output && i < out.bytes / sizeof(float); ++i) {
      out.data.f[i] = a.data.f[i] + b.data.f[i];
    }
    if (probe->after_invoke) probe->after_invoke(context, node);
    return kTfLiteOk;
  }
  static TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle,
                               TfLiteTensor* tensor) {
    return static_cast<Probe*>(delegate->data_)->copy_from(context, tensor);
  }
  static void FreeHandle(TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle* handle) {
    *handle = kTfLiteNullBufferHandle;
  }
};

// Tensors: 0 c, 1 x, 2 z, 3 a, 4 b, 5 y. Nodes: 0 a = x + c, 1 b = a + c, 2 y = b + z. The second
// subgraph, which is never called, is one addition.
constexpr int kC = 0, kX = 1, kZ = 2, kA = 3, kB = 4, kY = 5;

std::vector<uint8_t> Model() {
  ModelBuilder m;
  const auto tensor = [&](const char* name) { return m.AddTensor(kTfLiteFloat32, {1, 5}, name); };
  const auto add = [&](int a, int b, int out) {
    m.AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m.fbb()));
  };
  m.AddConstant<float>(kTfLiteFloat32, {1, 5}, {1, 2, 3, 4, 5}, "c");
  for (const char* name : {"x", "z", "a", "b", "y"}) tensor(name);
  add(kX, kC, kA);
  add(kA, kC, kB);
  add(kB, kZ, kY);
  m.SetInputs({kX, kZ});
  m.SetOutputs({kY});
  m.AddSubgraph("body");
  const int u = tensor("u"), v = tensor("v");
  add(u, u, v);
  m.SetInputs({u});
  m.SetOutputs({v});
  return m.Finish();
}

// Applies the delegate and runs the model twice. Statuses are ignored, because a delegate may fail.
Findings RunLifeCycle(Probe* probe, DeputyDelegatePolicy policy = kDeputyPolicyTfLite,
                      int64_t budget_ns = 0) {
  Findings findings;
  {
    TestInterpreter t(Model(), Validated(&findings, policy, budget_ns));
    TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe->base);
    const bool ready = t.Allocate() == kTfLiteOk;
    for (int i = 0; i < 2 && ready; ++i) {
      t.Set<float>(0, {1, 1, 1, 1, 1});
      t.Set<float>(1, {2, 2, 2, 2, 2});
      t.Invoke();
    }
  }
  return findings;
}

const char kInvokeOfNode[] = "invoke of subgraph 0 node 3";
const char kPrepareOfNode[] = "prepare of subgraph 0 node 3";
const char kInitOfNode[] = "init of subgraph 0 node 3";
const char kPrepareOfDelegate[] = "Prepare of the delegate on subgraph 0";

// Checks that all findings are of the rule, and that the first one names the delegate and the call.
void ExpectOnly(const Findings& findings, const std::string& rule, const std::string& call) {
  ASSERT_FALSE(findings.empty()) << rule;
  for (const Found& found : findings) EXPECT_EQ(found.rule, rule) << Texts(findings);
  const std::string& text = findings[0].text;
  EXPECT_EQ(text.rfind(rule + ": ", 0), 0u) << text;
  EXPECT_NE(text.find(call), std::string::npos) << text;
  // Before the first replacement of nodes by a plain delegate, only its file name is known.
  const bool may_lack_name = call.rfind("Prepare of", 0) == 0;
  EXPECT_TRUE(findings[0].delegate_name == "Probe" ||
              (may_lack_name && findings[0].delegate_name == "validation_test"))
      << text;
  EXPECT_NE(text.find("delegate '" + findings[0].delegate_name + "'"), std::string::npos) << text;
}

TfLiteIntArray* Dims(std::initializer_list<int> values) {
  TfLiteIntArray* dims = TfLiteIntArrayCreate(static_cast<int>(values.size()));
  std::copy(values.begin(), values.end(), dims->data);
  return dims;
}

// ---- Delegates that break a rule ----------------------------------------------------------------

TEST(validation, a_correct_delegate_has_no_findings) {
  for (DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    Probe probe;
    EXPECT_EQ(Texts(RunLifeCycle(&probe, policy)), "");
  }
}

// A delegate that breaks one rule, and the expected finding.
struct Wrong {
  const char* name;
  const char* rule;
  const char* call;
  std::function<void(Probe*)> spoil;
};

std::vector<Wrong> WrongDelegates() {
  std::vector<Wrong> all;
  const auto add = [&](const char* name, const char* rule, const char* call,
                       std::function<void(Probe*)> spoil) {
    all.push_back({name, rule, call, std::move(spoil)});
  };

  // Delegates that break rules on the order of calls.
  add("plan_in_invoke", "V03 delegate-function-outside-prepare", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode*) {
      TfLiteIntArray* plan = nullptr;
      context->GetExecutionPlan(context, &plan);
    };
  });
  add("node_in_prepare", "V03 delegate-function-outside-prepare", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, 0, &node, &registration);
    };
  });
  add("replace_in_invoke", "V03 delegate-function-outside-prepare", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [p](TfLiteContext* context, TfLiteNode*) {
      TfLiteIntArray* nodes = Dims({0});
      context->ReplaceNodeSubsetsWithDelegateKernels(context, p->registration, nodes, &p->base);
      TfLiteIntArrayFree(nodes);
    };
  });
  add("replace_in_init", "V04 replace-inside-init", kInitOfNode, [](Probe* p) {
    p->in_init = [p](TfLiteContext* context, const TfLiteDelegateParams*) {
      TfLiteIntArray* nodes = TfLiteIntArrayCreate(0);
      context->ReplaceNodeSubsetsWithDelegateKernels(context, p->registration, nodes, &p->base);
      TfLiteIntArrayFree(nodes);
    };
  });
  add("preview_in_init", "V04 replace-inside-init", kInitOfNode, [](Probe* p) {
    p->in_init = [](TfLiteContext* context, const TfLiteDelegateParams*) {
      TfLiteIntArray* nodes = TfLiteIntArrayCreate(0);
      TfLiteDelegateParams* partitions = nullptr;
      int count = 0;
      context->PreviewDelegatePartitioning(context, nodes, &partitions, &count);
      TfLiteIntArrayFree(nodes);
    };
  });
  add("other_thread", "V06 wrong-thread", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode* node) {
      std::thread([=] {
        TfLiteTensor* out = &context->tensors[node->outputs->data[0]];
        context->ResizeTensor(context, out, TfLiteIntArrayCopy(out->dims));
      }).join();
    };
  });
  add("report_from_other_thread", "V06 wrong-thread", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      std::thread([=] { context->ReportError(context, "hello"); }).join();
    };
  });

  // Delegates that break rules on arguments and results.
  add("node_out_of_range", "V10 index-out-of-range", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, 3, &node, &registration);
    };
  });
  add("replace_out_of_range", "V10 index-out-of-range", kPrepareOfDelegate, [](Probe* p) {
    p->claims = {1, 77};
  });
  add("subgraph_out_of_range", "V10 index-out-of-range", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      TfLiteContext* other = nullptr;
      context->AcquireSubgraphContext(context, 2, &other);
    };
  });
  add("temporary_out_of_range", "V10 index-out-of-range", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext*, TfLiteNode* node) {
      TfLiteIntArrayFree(node->temporaries);
      node->temporaries = Dims({1000});
    };
  });
  add("tensor_of_its_own", "V10 index-out-of-range", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode* node) {
      TfLiteTensor copy = context->tensors[node->outputs->data[0]];
      copy.data.raw = nullptr;
      copy.dims = TfLiteIntArrayCopy(copy.dims);
      context->ResizeTensor(context, &copy, TfLiteIntArrayCopy(copy.dims));
      TfLiteIntArrayFree(copy.dims);
    };
  });
  add("negative_number_of_tensors", "V10 index-out-of-range", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      context->AddTensors(context, -1, nullptr);
    };
  });
  add("node_listed_twice", "V11 claims-wrong-node", kPrepareOfDelegate, [](Probe* p) {
    p->claims = {1, 1};
  });
  add("node_outside_the_plan", "V11 claims-wrong-node", kPrepareOfDelegate, [](Probe* p) {
    // After the first replacement node 1 is not in the plan any more.
    p->in_delegate_prepare = [p](TfLiteContext* context) {
      TfLiteIntArray* nodes = Dims({1});
      context->ReplaceNodeSubsetsWithDelegateKernels(context, p->registration, nodes, &p->base);
      TfLiteIntArrayFree(nodes);
    };
  });
  add("swallowed_failure", "V13 swallows-replace-failure", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [p](TfLiteContext* context) {
      context->ReplaceNodeSubsetsWithDelegateKernels(context, p->registration, nullptr, &p->base);
    };
  });
  add("no_name", "V14 registration-fields", kPrepareOfDelegate,
      [](Probe* p) { p->registration.custom_name = nullptr; });
  add("no_version", "V14 registration-fields", kPrepareOfDelegate,
      [](Probe* p) { p->registration.version = 0; });
  add("no_invoke", "V14 registration-fields", kPrepareOfDelegate,
      [](Probe* p) { p->registration.invoke = nullptr; });
  add("sentinel", "V15 init-sentinel", kInitOfNode,
      [](Probe* p) { p->init_result = [] { return TfLiteKernelInitFailed(); }; });
  add("shared_user_data", "V16 shared-user-data", "init of subgraph 0 node 4", [](Probe* p) {
    p->claims = {0, 2};
    static Probe::Kernel shared{p};
    shared.probe = p;
    p->registration.free = [](TfLiteContext*, void*) {};
    p->init_result = [] { return static_cast<void*>(&shared); };
  });
  add("throws_in_invoke", "V17 exception", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext*, TfLiteNode*) { throw std::runtime_error("no"); };
  });
  add("throws_in_prepare_of_delegate", "V17 exception", "Prepare of the delegate", [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext*) { throw std::runtime_error("no"); };
  });

  // Delegates that break rules on shapes.
  add("resizes_its_input", "V20 resizes-foreign-tensor", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode* node) {
      TfLiteTensor* in = &context->tensors[node->inputs->data[0]];
      context->ResizeTensor(context, in, TfLiteIntArrayCopy(in->dims));
    };
  });
  add("resizes_a_constant", "V20 resizes-foreign-tensor", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->ResizeTensor(context, &context->tensors[kC], Dims({1, 6}));
    };
  });
  add("resizes_in_prepare_of_delegate", "V20 resizes-foreign-tensor", kPrepareOfDelegate,
      [](Probe* p) {
        p->in_delegate_prepare = [](TfLiteContext* context) {
          TfLiteTensor* y = &context->tensors[kY];
          context->ResizeTensor(context, y, TfLiteIntArrayCopy(y->dims));
        };
      });
  add("shape_in_invoke", "V21 shape-changed-in-invoke", kInvokeOfNode, [](Probe* p) {
    p->writes_output = false;
    p->in_invoke = [](TfLiteContext* context, TfLiteNode* node) {
      context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], Dims({1, 6}));
    };
  });
  add("wrong_shape", "V22 shape-other-than-the-model", kPrepareOfNode, [](Probe* p) {
    p->writes_output = false;
    p->in_prepare = [](TfLiteContext* context, TfLiteNode* node) {
      context->ResizeTensor(context, &context->tensors[node->outputs->data[0]], Dims({1, 6}));
    };
    p->registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
  });
  add("adds_in_invoke", "V23 adds-tensors-in-invoke", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->AddTensors(context, 1, nullptr);
    };
  });
  add("input_as_temporary", "V24 foreign-temporary", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext*, TfLiteNode* node) {
      TfLiteIntArrayFree(node->temporaries);
      node->temporaries = Dims({kX});
    };
  });

  // Delegates that break rules on the contents of tensors.
  add("writes_nothing", "V30 output-not-written", kInvokeOfNode,
      [](Probe* p) { p->writes_output = false; });
  add("one_byte_too_many", "V31 writes-outside-output", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode* node) {
      const TfLiteTensor& out = context->tensors[node->outputs->data[0]];
      out.data.raw[out.bytes] = 0;
    };
  });
  add("one_element_too_early", "V31 writes-outside-output", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode* node) {
      context->tensors[node->outputs->data[0]].data.f[-1] = 0;
    };
  });
  add("writes_its_input", "V32 writes-input", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kA].data.f[2] += 1;
    };
  });
  add("writes_a_constant", "V33 writes-constant", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kC].data.f[4] += 1;
    };
  });
  add("writes_a_constant_in_prepare", "V33 writes-constant", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kC].data.f[4] += 1;
    };
  });
  add("writes_another_tensor", "V34 writes-other-tensor", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode*) { context->tensors[kZ].data.f[0] = 99; };
  });

  // Delegates that break rules on fields of structs.
  add("context_field", "V40 context-field", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->recommended_num_threads = 17;
    };
  });
  add("tensor_bytes", "V41 tensor-field", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) { context->tensors[kB].bytes -= 4; };
  });
  add("tensor_dims", "V41 tensor-field", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kA].dims->data[0] = 2;
    };
  });
  add("type", "V41 tensor-field", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].type = kTfLiteInt32;
    };
  });
  add("name", "V41 tensor-field", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) { context->tensors[kX].name = "mine"; };
  });
  add("allocation_type", "V41 tensor-field", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].allocation_type = kTfLiteArenaRwPersistent;
    };
  });
  add("params", "V42 node-field", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext*, TfLiteNode* node) { node->might_have_side_effect = true; };
  });
  add("builtin_data", "V42 node-field", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, 0, &node, &registration);
      node->inputs->data[1] = kX;
    };
  });

  add("input_out_of_range", "V10 index-out-of-range", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      context->GetNodeAndRegistration(context, 0, &node, &registration);
      node->inputs->data[1] = 4711;
    };
  });
  add("opaque_tensor_out_of_range", "V10 index-out-of-range", kInvokeOfNode, [](Probe* p) {
    p->in_invoke = [](TfLiteContext* context, TfLiteNode*) {
      const auto* opaque = reinterpret_cast<const TfLiteOpaqueContext*>(context);
      EXPECT_EQ(TfLiteOpaqueContextGetOpaqueTensor(opaque, 6), nullptr);
    };
  });

  // Delegates that break rules on buffer handles.
  add("handle_without_delegate", "V50 handle-without-delegate", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) { context->tensors[kB].buffer_handle = 1; };
    p->base.FreeBufferHandle = &Probe::FreeHandle;
  });
  add("negative_handle", "V50 handle-without-delegate", kPrepareOfNode, [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].buffer_handle = -7;
    };
    p->base.FreeBufferHandle = &Probe::FreeHandle;
  });
  add("stale_without_handle", "V51 stale-without-handle", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].data_is_stale = true;
    };
  });
  add("stale_input", "V52 stale-foreign-tensor", kInvokeOfNode, [](Probe* p) {
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kA].data_is_stale = true;
    };
  });
  add("copy_writes_nothing", "V54 copy-writes-nothing", "CopyFromBufferHandle", [](Probe* p) {
    p->base.CopyFromBufferHandle = &Probe::CopyFrom;
    p->base.FreeBufferHandle = &Probe::FreeHandle;
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].buffer_handle = 5;
      context->tensors[kB].data_is_stale = true;
    };
    p->copy_from = [](TfLiteContext*, TfLiteTensor*) { return kTfLiteOk; };
  });
  add("copy_overruns", "V31 writes-outside-output", "CopyFromBufferHandle", [](Probe* p) {
    p->base.CopyFromBufferHandle = &Probe::CopyFrom;
    p->base.FreeBufferHandle = &Probe::FreeHandle;
    p->after_invoke = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].buffer_handle = 5;
      context->tensors[kB].data_is_stale = true;
    };
    p->copy_from = [](TfLiteContext*, TfLiteTensor* tensor) {
      memset(tensor->data.raw, 0, tensor->bytes + 3);
      return kTfLiteOk;
    };
  });
  add("one_handle_for_two", "V55 handle-freed-twice", "FreeBufferHandle", [](Probe* p) {
    p->claims = {0, 2};
    p->base.FreeBufferHandle = &Probe::FreeHandle;
    p->in_prepare = [](TfLiteContext* context, TfLiteNode* node) {
      context->tensors[node->outputs->data[0]].buffer_handle = 3;
    };
  });

  // Delegates that leak.
  add("no_free", "V60 kernel-never-freed", "free of subgraph 0 node 3", [](Probe* p) {
    static std::unique_ptr<Probe::Kernel> kept;
    p->registration.free = nullptr;
    p->init_result = [p] {
      kept = std::make_unique<Probe::Kernel>();
      kept->probe = p;
      return static_cast<void*>(kept.get());
    };
  });
  add("no_free_of_handles", "V61 handle-never-freed", "FreeBufferHandle", [](Probe* p) {
    p->in_prepare = [](TfLiteContext* context, TfLiteNode*) {
      context->tensors[kB].buffer_handle = 3;
    };
  });
  add("keeps_a_subgraph", "V62 subgraph-not-released", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      TfLiteContext* body = nullptr;
      context->AcquireSubgraphContext(context, 1, &body);
    };
  });
  add("releases_too_often", "V63 subgraph-released-too-often", kPrepareOfDelegate, [](Probe* p) {
    p->in_delegate_prepare = [](TfLiteContext* context) {
      context->ReleaseSubgraphContext(context, 1);
    };
  });
  return all;
}

TEST(validation, every_wrong_delegate_is_found_by_its_rule) {
  std::set<std::string> rules;
  for (const Wrong& wrong : WrongDelegates()) {
    SCOPED_TRACE(wrong.name);
    Probe probe;
    wrong.spoil(&probe);
    ExpectOnly(RunLifeCycle(&probe), wrong.rule, wrong.call);
    rules.insert(wrong.rule);
  }
  EXPECT_GE(rules.size(), 25u);
  std::ifstream file(SourcePath("docs/validation.md"));
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  for (int rule = 0; rule <= static_cast<int>(Rule::kSubgraphReleasedTooOften); ++rule) {
    const std::string id = InfoOf(static_cast<Rule>(rule)).id;
    EXPECT_NE(docs.find(id), std::string::npos) << id;
  }
}

// ---- Rules that need more than one delegate or one call -----------------------------------------

TEST(validation, contexts_used_after_their_call_are_found) {
  Probe probe;
  TfLiteContext* kept = nullptr;
  probe.in_invoke = [&](TfLiteContext* context, TfLiteNode*) { kept = context; };
  Findings findings;
  TestInterpreter t(Model(), Validated(&findings));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe.base), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(Texts(findings), "");
  kept->GetExternalContext(kept, kTfLiteCpuBackendContext);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "V05 context-after-call");
  EXPECT_NE(findings[0].text.find("GetExternalContext"), std::string::npos);
}

TEST(validation, contexts_of_other_subgraphs_are_found) {
  Probe probe;
  TfLiteContext* body = nullptr;
  probe.in_delegate_prepare = [&](TfLiteContext* context) {
    context->AcquireSubgraphContext(context, 1, &body);
    context->ReleaseSubgraphContext(context, 1);
  };
  probe.in_invoke = [&](TfLiteContext*, TfLiteNode*) {
    body->GetExternalContext(body, kTfLiteCpuBackendContext);
  };
  ExpectOnly(RunLifeCycle(&probe), "V07 wrong-context", kInvokeOfNode);
}

TEST(validation, calls_of_the_interpreter_from_a_callback_are_found) {
  using Inside = std::function<void(TfLiteInterpreter*, TfLiteDelegate*)>;
  const std::pair<const char*, Inside> calls[] = {
      {"AllocateTensors", [](auto* i, auto*) { TfLiteInterpreterAllocateTensors(i); }},
      {"Invoke", [](auto* i, auto*) { TfLiteInterpreterInvoke(i); }},
      {"ModifyGraphWithDelegate",
       [](auto* i, auto* other) { TfLiteInterpreterModifyGraphWithDelegate(i, other); }},
      {"ResizeInputTensor", [](auto* i, auto*) {
         const int dims[] = {1, 5};
         TfLiteInterpreterResizeInputTensor(i, 0, dims, 2);
       }}};
  for (const auto& [name, inside] : calls) {
    SCOPED_TRACE(name);
    Findings findings;
    Probe probe, other;
    other.claims.clear();
    TestInterpreter t(Model(), Validated(&findings));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe.base), kTfLiteOk);
    int depth = 0;
    probe.in_invoke = [&, inside = inside](TfLiteContext*, TfLiteNode*) {
      if (depth++ == 0) inside(t.get(), &other.base);
    };
    t.Invoke();
    ExpectOnly(findings, "V02 reenters-interpreter", kInvokeOfNode);
    EXPECT_NE(findings[0].text.find(name), std::string::npos) << findings[0].text;
  }
}

TEST(validation, replacing_for_another_delegate_is_found) {
  Probe probe, other;
  probe.in_delegate_prepare = [&](TfLiteContext* context) {
    TfLiteIntArray* nodes = Dims({0});
    context->ReplaceNodeSubsetsWithDelegateKernels(context, other.registration, nodes, &other.base);
    TfLiteIntArrayFree(nodes);
  };
  ExpectOnly(RunLifeCycle(&probe), "V12 replace-for-another-delegate", kPrepareOfDelegate);
}

TEST(validation, claiming_another_delegates_node_is_found) {
  Probe first, second;
  second.claims = {3};
  second.registration.custom_name = "Second";
  Findings findings;
  TestInterpreter t(Model(), Validated(&findings));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &first.base), kTfLiteOk);
  TfLiteInterpreterModifyGraphWithDelegate(t.get(), &second.base);
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].rule, "V11 claims-wrong-node");
  EXPECT_NE(findings[0].text.find("'Second', Prepare"), std::string::npos) << findings[0].text;
}

TEST(validation, using_another_delegates_handle_is_found) {
  Probe holder, thief;
  holder.base.FreeBufferHandle = &Probe::FreeHandle;
  holder.claims = {0};
  holder.in_prepare = [](TfLiteContext* context, TfLiteNode*) {
    context->tensors[kA].buffer_handle = 1;
  };
  thief.registration.custom_name = "Thief";
  thief.in_prepare = [](TfLiteContext* context, TfLiteNode*) {
    context->tensors[kA].buffer_handle = 2;
  };
  Findings findings;
  {
    TestInterpreter t(Model(), Validated(&findings));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &holder.base), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &thief.base), kTfLiteOk);
  }
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  EXPECT_EQ(findings[0].rule, "V53 handle-of-another-delegate");
  EXPECT_EQ(findings[0].tensor, kA);
  EXPECT_NE(findings[0].text.find("delegate 'Thief', prepare"), std::string::npos)
      << findings[0].text;
}

TEST(validation, a_slow_invoke_is_found_with_a_time_budget) {
  Probe probe;
  probe.in_invoke = [](TfLiteContext*, TfLiteNode*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  EXPECT_EQ(Texts(RunLifeCycle(&probe)), "");
  ExpectOnly(RunLifeCycle(&probe, kDeputyPolicyTfLite, 10'000'000), "V18 time-budget",
             kInvokeOfNode);
}

// ---- Delegates that keep the contract -----------------------------------------------------------

// A model of eight nodes in sequence, alternating ADD and MUL, with a constant.
std::vector<uint8_t> Chain() {
  ModelBuilder m;
  const int c = m.AddConstant<float>(kTfLiteFloat32, {1, 4}, {0.5f, -1, 0.25f, 1.5f}, "c");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  int last = x;
  for (int i = 0; i < 8; ++i) {
    const int next = m.AddTensor(kTfLiteFloat32, {1, 4}, "t" + std::to_string(i));
    if (i % 2 == 0) {
      m.AddOp(kTfLiteBuiltinAdd, {last, c}, {next}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(kTfLiteBuiltinMul, {last, c}, {next}, schema::CreateMulOptions(m.fbb()));
    }
    last = next;
  }
  m.SetInputs({x});
  m.SetOutputs({last});
  return m.Finish();
}

// A model of four nodes in sequence, alternating ADD and MUL. Each has its own float16 constant and
// a DEQUANTIZE of it.
std::vector<uint8_t> HalfChain() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  int last = x;
  for (int i = 0; i < 4; ++i) {
    const int half =
        m.AddConstant<uint16_t>(kTfLiteFloat16, {1, 4}, {0x3800, 0xBC00, 0x3400, 0x3E00});
    const int single = m.AddTensor(kTfLiteFloat32, {1, 4}, "w" + std::to_string(i));
    const int next = m.AddTensor(kTfLiteFloat32, {1, 4}, "t" + std::to_string(i));
    m.AddOp(kTfLiteBuiltinDequantize, {half}, {single});
    if (i % 2 == 0) {
      m.AddOp(kTfLiteBuiltinAdd, {last, single}, {next}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(kTfLiteBuiltinMul, {last, single}, {next}, schema::CreateMulOptions(m.fbb()));
    }
    last = next;
  }
  m.SetInputs({x});
  m.SetOutputs({last});
  return m.Finish();
}

// Runs two inferences, resizes to another shape and back, and runs one more inference.
std::vector<float> RunLifeCycleOfChain(TestInterpreter* t) {
  std::vector<float> results;
  const auto infer = [&](float value) {
    t->Set<float>(0, {value, -2, 3, 0.5f});
    EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    for (float result : t->Get<float>(0)) results.push_back(result);
  };
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  infer(1);
  infer(2);
  for (int rows : {2, 1}) {
    EXPECT_EQ(t->Resize(0, {rows, 4}), kTfLiteOk) << t->log();
    EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }
  infer(3);
  return results;
}

struct Kind {
  const char* name;
  bool opaque, on_device, dynamic;
};
const Kind kKinds[] = {{"plain", false, false, false},
                       {"opaque", true, false, false},
                       {"on_device", false, true, false},
                       {"opaque_on_device", true, true, false},
                       {"dynamic", false, false, true}};

class GoodDelegates : public testing::TestWithParam<std::tuple<Kind, DeputyDelegatePolicy>> {};

TEST_P(GoodDelegates, have_no_findings_for_any_mask) {
  const auto& [kind, policy] = GetParam();
  TestInterpreter cpu(Chain());
  const std::vector<float> expected = RunLifeCycleOfChain(&cpu);
  for (int mask = 0; mask < 256; ++mask) {
    SCOPED_TRACE(mask);
    ScriptedDelegate scripted;
    ScriptedDelegateInit(&scripted, kind.dynamic ? kTfLiteDelegateFlagsAllowDynamicTensors
                                                 : kTfLiteDelegateFlagsNone);
    for (int node = 0; node < 8; ++node) scripted.claims[node] = (mask >> node & 1) != 0;
    scripted.outputs_on_device = kind.on_device;
    TfLiteOpaqueDelegate* opaque = kind.opaque ? ScriptedOpaqueDelegate(&scripted) : nullptr;
    Findings findings;
    {
      TestInterpreter t(Chain(), Validated(&findings, policy));
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), scripted.self), kTfLiteOk);
      EXPECT_EQ(RunLifeCycleOfChain(&t), expected);
      EXPECT_EQ(DeputyInterpreterGetFindingCount(t.get()), 0u);
    }
    TfLiteOpaqueDelegateDelete(opaque);
    ASSERT_EQ(Texts(findings), "");
  }
}

INSTANTIATE_TEST_SUITE_P(all, GoodDelegates,
                         testing::Combine(testing::ValuesIn(kKinds),
                                          testing::Values(kDeputyPolicyTfLite, kDeputyPolicyHot)),
                         [](const auto& kind_and_policy) {
                           const bool hot = std::get<1>(kind_and_policy.param) == kDeputyPolicyHot;
                           return std::string(std::get<0>(kind_and_policy.param).name) +
                                  (hot ? "_hot" : "_tflite");
                         });

// ---- The scripted delegate, failing -------------------------------------------------------------

void ThrowNow() { throw std::runtime_error("from a delegate"); }

struct Scripted {
  const char* name;
  ScriptedCallback callback;
  ScriptedFailure failure;
  const char* rule;  // expected rule; null if only the status reports the failure
  const char* call;
};
const Scripted kScripted[] = {
    {"bad_index", kScriptedPrepareDelegate, kScriptedBadIndex, "V10 index-out-of-range",
     "Prepare of"},
    {"prepare_fails", kScriptedPrepareDelegate, kScriptedErrorStatus, nullptr, ""},
    {"prepare_throws", kScriptedPrepareDelegate, kScriptedThrow, "V17 exception", "Prepare of"},
    {"null_init", kScriptedInit, kScriptedNullInit, nullptr, ""},
    {"sentinel", kScriptedInit, kScriptedInitSentinel, "V15 init-sentinel", "init of"},
    {"init_throws", kScriptedInit, kScriptedThrow, "V17 exception", "init of"},
    {"wrong_shape", kScriptedPrepareKernel, kScriptedWrongShape, "V22 shape-other-than-the-model",
     "prepare of"},
    {"bad_temporary", kScriptedPrepareKernel, kScriptedBadTemporary, "V10 index-out-of-range",
     "prepare of"},
    {"invoke_fails", kScriptedInvoke, kScriptedErrorStatus, nullptr, ""},
    {"late_error", kScriptedInvoke, kScriptedLateError, nullptr, ""},
    {"shape_in_invoke", kScriptedInvoke, kScriptedWrongShape, "V21 shape-changed-in-invoke",
     "invoke of"},
    {"no_output", kScriptedInvoke, kScriptedNoOutput, "V30 output-not-written", "invoke of"},
    {"invoke_throws", kScriptedInvoke, kScriptedThrow, "V17 exception", "invoke of"},
    {"copy_fails", kScriptedCopyFrom, kScriptedErrorStatus, nullptr, ""},
    {"no_copy", kScriptedCopyFrom, kScriptedNoOutput, "V54 copy-writes-nothing", "CopyFrom"},
    {"copy_throws", kScriptedCopyFrom, kScriptedThrow, "V17 exception", "CopyFrom"},
    {"free_throws", kScriptedFreeKernel, kScriptedThrow, "V17 exception", "free of"},
    {"free_handle_throws", kScriptedFreeHandle, kScriptedThrow, "V17 exception", "FreeBuffer"}};

class ScriptedFailures
    : public testing::TestWithParam<std::tuple<Scripted, bool, DeputyDelegatePolicy>> {};

TEST_P(ScriptedFailures, are_found_by_their_rule_or_fail_visibly) {
  const auto& [row, is_opaque, policy] = GetParam();
  ScriptedDelegate scripted;
  ScriptedDelegateInit(&scripted, kTfLiteDelegateFlagsNone);
  for (int node : {1, 2, 5}) scripted.claims[node] = true;
  scripted.outputs_on_device =
      row.callback == kScriptedCopyFrom || row.callback == kScriptedFreeHandle;
  scripted.failing_callback = row.callback;
  scripted.failure = row.failure;
  scripted.throw_now = ThrowNow;
  TfLiteOpaqueDelegate* opaque = is_opaque ? ScriptedOpaqueDelegate(&scripted) : nullptr;
  Findings findings;
  {
    TestInterpreter t(Chain(), Validated(&findings, policy));
    TfLiteInterpreterModifyGraphWithDelegate(t.get(), scripted.self);
    if (t.Allocate() == kTfLiteOk) {
      t.Set<float>(0, {1, 2, 3, 4});
      t.Invoke();
    }
  }
  TfLiteOpaqueDelegateDelete(opaque);
  if (row.rule == nullptr) {
    EXPECT_TRUE(scripted.failure_reached);
    EXPECT_EQ(Texts(findings), "");
    return;
  }
  if (is_opaque && (row.failure == kScriptedBadIndex || row.failure == kScriptedBadTemporary)) {
    GTEST_SKIP() << "the opaque form of the script gives no bad indices";
  }
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, row.rule) << Texts(findings);
  EXPECT_NE(findings[0].text.find(row.call), std::string::npos) << findings[0].text;
  // A delegate that writes shapes other than the planned ones also writes beyond its tensors.
  for (const Found& found : findings) {
    EXPECT_TRUE(found.rule == row.rule || row.failure == kScriptedWrongShape) << found.text;
  }
}

std::string NameOfCase(const testing::TestParamInfo<ScriptedFailures::ParamType>& test) {
  const auto& [row, is_opaque, policy] = test.param;
  return std::string(row.name) + (is_opaque ? "_opaque" : "_plain") +
         (policy == kDeputyPolicyHot ? "_hot" : "_tflite");
}

INSTANTIATE_TEST_SUITE_P(all, ScriptedFailures,
                         testing::Combine(testing::ValuesIn(kScripted), testing::Bool(),
                                          testing::Values(kDeputyPolicyTfLite, kDeputyPolicyHot)),
                         NameOfCase);

// ---- More delegates that keep the contract ------------------------------------------------------

// The CPU runs an IF, and a delegate claims nodes in its branches, so that calls of the delegate
// are nested in calls of the IF.
TEST(validation, delegates_in_branches_have_no_findings) {
  ModelBuilder m;
  const auto branch = [&](TfLiteBuiltinOperator code) {
    const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
    const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
    if (code == kTfLiteBuiltinAdd) {
      m.AddOp(code, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
    } else {
      m.AddOp(code, {x, x}, {y}, schema::CreateMulOptions(m.fbb()));
    }
    m.SetInputs({x});
    m.SetOutputs({y});
  };
  const int condition = m.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
  m.AddOp(kTfLiteBuiltinIf, {condition, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinAdd, {y, x}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({condition, x});
  m.SetOutputs({z});
  m.AddSubgraph("then");
  branch(kTfLiteBuiltinAdd);
  m.AddSubgraph("else");
  branch(kTfLiteBuiltinMul);
  const std::vector<uint8_t> model = m.Finish();
  for (DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
    ScriptedDelegate scripted;
    ScriptedDelegateInit(&scripted, kTfLiteDelegateFlagsAllowDynamicTensors);
    scripted.claim_all = true;
    Findings findings;
    TestInterpreter t(model, Validated(&findings, policy));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), scripted.self), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    for (bool taken : {true, false}) {
      ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(t.get(), 0), &taken, 1),
                kTfLiteOk);
      t.Set<float>(1, {3, 3, 3, 3});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Get<float>(0)[0], taken ? 9 : 12);
    }
    EXPECT_EQ(scripted.nodes_computed, 4);
    EXPECT_EQ(Texts(findings), "");
  }
}

TEST(validation, two_delegates_have_no_findings) {
  for (bool on_device : {false, true}) {
    ScriptedDelegate first, second;
    ScriptedDelegateInit(&first, kTfLiteDelegateFlagsNone);
    ScriptedDelegateInit(&second, kTfLiteDelegateFlagsNone);
    for (int node : {0, 1, 4}) first.claims[node] = true;
    for (int node : {2, 3, 6}) second.claims[node] = true;
    first.outputs_on_device = second.outputs_on_device = on_device;
    Findings findings;
    {
      TestInterpreter cpu(Chain());
      TestInterpreter t(Chain(), Validated(&findings));
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), first.self), kTfLiteOk);
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), second.self), kTfLiteOk);
      EXPECT_EQ(RunLifeCycleOfChain(&t), RunLifeCycleOfChain(&cpu));
    }
    EXPECT_EQ(Texts(findings), "");
  }
}

// The bits of `kind` enable float16 weights, inner results in added tensors, and dynamic outputs.
TEST(validation, elementwise_delegates_of_all_kinds_have_no_findings) {
  for (int kind = 0; kind < 8; ++kind) {
    for (DeputyDelegatePolicy policy : {kDeputyPolicyTfLite, kDeputyPolicyHot}) {
      for (int first = 0; first < 8; ++first) {
        SCOPED_TRACE(std::to_string(kind) + " from node " + std::to_string(first));
        ElementDelegate delegate;
        ElementDelegateInit(&delegate, kTfLiteDelegateFlagsAllowDynamicTensors);
        delegate.half_weights = (kind & 1) != 0;
        delegate.added_tensors = (kind & 2) != 0;
        delegate.dynamic_outputs = (kind & 4) != 0;
        delegate.first_node = first;
        Findings findings;
        {
          TestInterpreter cpu(HalfChain());
          TestInterpreter t(HalfChain(), Validated(&findings, policy));
          ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
          EXPECT_EQ(RunLifeCycleOfChain(&t), RunLifeCycleOfChain(&cpu));
          EXPECT_GT(delegate.nodes_computed, 0) << t.log();
        }
        EXPECT_EQ(delegate.kernels_made, delegate.kernels_freed);
        ASSERT_EQ(Texts(findings), "");
      }
    }
  }
}

// ---- Misuse of the layer itself ----------------------------------------------------------------

// The runtime calls kernels in the right order, so the test calls the layer directly, in a wrong
// order.
TEST(validation, kernels_that_are_not_initialised_or_prepared_are_found) {
  Findings findings;
  Probe probe;
  TestInterpreter t(Model(), Validated(&findings));
  Interpreter& interpreter = *t.get()->impl;
  const ForeignCall unborn = {.callback = Callback::kInvoke,
                              .context = interpreter.primary().context(),
                              .node = 0,
                              .delegate = &probe.base};
  CallForeign(interpreter.observer(), unborn, [](CallResult*) {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule, "V01 call-order");
  EXPECT_NE(findings[0].text.find("not been initialised"), std::string::npos);
}

TEST(validation, counts_no_node_runs_without_a_profiler) {
  Findings findings;
  TestInterpreter t(Model(), Validated(&findings));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const DeputyNodeRun run = NodeRunOf(t.get(), 0);
  EXPECT_EQ(run.runs, 0);
}

// ---- Enabling the layer -------------------------------------------------------------------------

size_t FindingsUnder(const TestInterpreter::Configure& configure) {
  Probe probe;
  probe.writes_output = false;
  TestInterpreter t(Model(), configure);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe.base), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  return DeputyInterpreterGetFindingCount(t.get());
}

TEST(validation, the_environment_enables_it_and_the_call_overrides_it) {
  unsetenv("DEPUTY_VALIDATION");
  EXPECT_EQ(FindingsUnder({}), 0u);
  setenv("DEPUTY_VALIDATION", "1", 1);
  EXPECT_EQ(FindingsUnder({}), 1u);
  EXPECT_EQ(FindingsUnder([](TfLiteInterpreterOptions* options) {
              DeputyValidationOptions off{};
              off.struct_size = sizeof off;
              EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, &off), kTfLiteOk);
            }),
            0u);
  setenv("DEPUTY_VALIDATION", "0", 1);
  EXPECT_EQ(FindingsUnder({}), 0u);
  unsetenv("DEPUTY_VALIDATION");
  Findings findings;
  EXPECT_EQ(FindingsUnder(Validated(&findings)), 1u);
}

TEST(validation, findings_are_counted_listed_and_reported) {
  Probe probe;
  probe.writes_output = false;
  Findings findings;
  TestInterpreter t(Model(), Validated(&findings));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe.base), kTfLiteOk);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ASSERT_EQ(findings.size(), 1u) << Texts(findings);
  ASSERT_EQ(DeputyInterpreterGetFindingCount(t.get()), 1u);
  EXPECT_NE(t.log().find(findings[0].text), std::string::npos);
  DeputyFinding finding{};
  finding.struct_size = sizeof finding;
  ASSERT_EQ(DeputyInterpreterGetFinding(t.get(), 0, &finding), kTfLiteOk);
  EXPECT_STREQ(finding.rule, "V30 output-not-written");
  EXPECT_EQ(finding.text, findings[0].text);
  EXPECT_EQ(finding.severity, kDeputySeveritySuspicion);
  EXPECT_EQ(finding.subgraph_index, 0);
  EXPECT_EQ(finding.node_index, 3);
  EXPECT_EQ(finding.tensor_index, kB);
  EXPECT_EQ(finding.count, 3);
  EXPECT_EQ(finding.delegate, &probe.base);
  EXPECT_STREQ(finding.delegate_name, "Probe");

  EXPECT_EQ(DeputyInterpreterGetFinding(t.get(), 1, &finding), kTfLiteError);
  finding.struct_size = sizeof finding - 8;
  EXPECT_EQ(DeputyInterpreterGetFinding(t.get(), 0, &finding), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetFinding(t.get(), 0, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetFinding(nullptr, 0, &finding), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetFindingCount(nullptr), 0u);
}

TEST(validation, wrong_options_are_refused) {
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  DeputyValidationOptions validation{};
  EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, &validation), kTfLiteError);
  validation.struct_size = sizeof validation;
  EXPECT_EQ(DeputyInterpreterOptionsSetValidation(nullptr, &validation), kTfLiteError);
  validation.invoke_budget_ns = -1;
  EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, &validation), kTfLiteError);
  TfLiteInterpreterOptionsDelete(options);
}

// The delegate does not write its output in the second inference; the results of the others must
// not change.
TEST(validation, results_are_unchanged) {
  const auto run = [](const TestInterpreter::Configure& configure) {
    Probe probe;
    TestInterpreter t(Model(), configure);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &probe.base), kTfLiteOk);
    std::vector<std::vector<float>> results;
    for (bool writes : {true, false, true}) {
      probe.writes_output = writes;
      t.Set<float>(0, {1, 1, 1, 1, 1});
      t.Set<float>(1, {2, 2, 2, 2, 2});
      EXPECT_EQ(t.Invoke(), kTfLiteOk);
      results.push_back(t.Get<float>(0));
    }
    return results;
  };
  Findings findings;
  const auto watched = run(Validated(&findings));
  EXPECT_EQ(watched[0], run({})[0]);
  EXPECT_EQ(watched[2], watched[0]);
  EXPECT_EQ(findings.size(), 1u);
}

}  // namespace
}  // namespace deputy::validation_test
