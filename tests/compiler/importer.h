// SPDX-License-Identifier: Apache-2.0
//
// A delegate for tests that runs the compiler's import on a whole model.
#ifndef DEPUTY_TESTS_COMPILER_IMPORTER_H_
#define DEPUTY_TESTS_COMPILER_IMPORTER_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/dump.h"
#include "compiler/import.h"
#include "tests/support/test_interpreter.h"

namespace deputy::compiler {

// A delegate that imports all nodes when it is applied, and claims none of them.
struct Importer {
  explicit Importer(const std::vector<uint8_t>& model, Products given = Products::kReals)
      : interpreter(model), products(given) {
    delegate.data_ = this;
    delegate.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
      static_cast<Importer*>(self->data_)->Import(context);
      return kTfLiteOk;
    };
    delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(interpreter.get(), &delegate), kTfLiteOk);
  }

  void Import(TfLiteContext* context) {
    TfLiteIntArray* plan;
    ASSERT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    for (int i = 0; i < plan->size; ++i) {
      TfLiteNode* node;
      TfLiteRegistration* registration;
      ASSERT_EQ(context->GetNodeAndRegistration(context, plan->data[i], &node, &registration),
                kTfLiteOk);
      works.emplace_back();
      if (!refusal) {
        refusal = CheckNode(context, plan->data[i], *node, *registration, &works.back());
      }
    }
    if (refusal) return;
    TfLiteDelegateParams* partitions;
    int count;
    ASSERT_EQ(context->PreviewDelegatePartitioning(context, plan, &partitions, &count), kTfLiteOk);
    ASSERT_EQ(count, 1);
    refusal = compiler::Import(context, partitions[0], &graph, products);
    text = ToText(graph);
  }

  std::string Refused() const {
    return refusal ? std::to_string(refusal->reason) + " " + refusal->text : "";
  }

  TestInterpreter interpreter;
  const Products products;
  TfLiteDelegate delegate{};
  Graph graph;
  std::string text;
  std::vector<Work> works;  // work of each node
  std::optional<Refusal> refusal;
};

}  // namespace deputy::compiler

#endif  // DEPUTY_TESTS_COMPILER_IMPORTER_H_
