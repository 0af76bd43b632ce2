// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of structs before and after a call of foreign code, on a graph built by
// hand: the changes that are detected, and those that the runtime may make meanwhile.
// graph_fields_test.cc covers each field.
#include "core/validation/validation_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/hand_graph.h"

namespace deputy::validation_fields_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SavedFieldsOfAGraph : public testing::Test {
 protected:
  SavedFieldsOfAGraph() { graph_.AddNode({0}, {1}); }
  // Returns each change as "tensor 1 dims".
  static std::vector<std::string> Changes(const SavedFields& saved) {
    std::vector<std::string> changes;
    saved.Compare([&](const FieldChange& change) {
      const char* of = change.of == StructOf::kContext  ? "context "
                       : change.of == StructOf::kTensor ? "tensor "
                                                        : "node ";
      changes.push_back(of + (change.index < 0 ? "" : std::to_string(change.index) + " ") +
                        change.name);
    });
    return changes;
  }

  HandGraph graph_{2};
};

TEST_F(SavedFieldsOfAGraph, report_changed_fields_and_their_positions) {
  const SavedFields saved(&*graph_, graph_.context());
  EXPECT_THAT(Changes(saved), IsEmpty());
  graph_.context()->recommended_num_threads = 7;
  graph_.context()->AddTensors = [](TfLiteContext*, int, int*) { return kTfLiteOk; };
  graph_->tensor(1)->dims->data[0] = 2;
  graph_->tensor(1)->bytes = 8;
  graph_->node(0)->inputs->data[0] = 1;
  EXPECT_THAT(Changes(saved),
              ElementsAre("context recommended_num_threads", "context a function pointer",
                          "tensor 1 dims", "tensor 1 bytes", "node 0 inputs"));
  EXPECT_EQ(saved.tensor(1).bytes, 4u);
  EXPECT_EQ(saved.tensor(1).dims->data[0], 1);
  EXPECT_EQ(saved.inputs(0)->data[0], 0);
}

TEST_F(SavedFieldsOfAGraph, ignore_functions_that_are_swapped_between_modes) {
  const SavedFields saved(&*graph_, graph_.context());
  graph_.context()->GetExecutionPlan = [](TfLiteContext*, TfLiteIntArray**) { return kTfLiteOk; };
  EXPECT_THAT(Changes(saved), IsEmpty());
}

TEST_F(SavedFieldsOfAGraph, are_refreshed_by_changes_of_the_runtime) {
  SavedFields saved(&*graph_, graph_.context());
  for (const int index : {0, 1}) graph_->tensor(index)->dims->data[0] = 5;
  saved.RefreshTensor(1);
  EXPECT_THAT(Changes(saved), ElementsAre("tensor 0 dims"));
  saved.RefreshTensor(-1);
  saved.RefreshTensor(2);
  graph_->AddTensors(40);
  EXPECT_FALSE(Changes(saved).empty());
  saved.RefreshAddedTensors();
  EXPECT_THAT(Changes(saved), ElementsAre("tensor 0 dims"));
  graph_->tensor(20)->type = kTfLiteInt8;
  EXPECT_THAT(Changes(saved), ElementsAre("tensor 0 dims", "tensor 20 type"));
  graph_.AddNode({1}, {2});
  EXPECT_THAT(Changes(saved), ElementsAre("tensor 0 dims", "tensor 20 type"));
  saved.Refresh();
  EXPECT_THAT(Changes(saved), IsEmpty());
  graph_->node(1)->user_data = &saved;
  EXPECT_THAT(Changes(saved), ElementsAre("node 1 user_data"));
}

TEST_F(SavedFieldsOfAGraph, drop_removed_tensors) {
  const int added = graph_->AddTensors(1);
  const SavedFields saved(&*graph_, graph_.context());
  graph_->RemoveTensorsFrom(added);
  EXPECT_THAT(Changes(saved), ElementsAre("context tensors_size"));
}

}  // namespace
}  // namespace deputy::validation_fields_test
