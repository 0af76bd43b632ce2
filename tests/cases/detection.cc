// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5.
#include "tests/cases/node.h"

namespace deputy {
namespace {

// Boxes along a diagonal; each overlaps a quarter of the previous one.
NodeTensor Boxes(int32_t count, int32_t corners = 4) {
  std::vector<double> values;
  for (int32_t i = 0; i < count * corners; ++i) {
    const int box = i / corners;
    values.push_back(box * 0.25 + (i % corners < 2 ? 0.0 : 0.5));
  }
  return {kTfLiteFloat32, {count, corners}, values};
}

NodeRow Suppress(const NodeTensor& boxes, const std::vector<double>& scores, double most,
                 double overlap, const char* refusal = "", bool late = false) {
  return {kTfLiteBuiltinNonMaxSuppressionV4,
          "NON_MAX_SUPPRESSION_V4",
          {boxes,
           {kTfLiteFloat32, {static_cast<int32_t>(scores.size())}, scores},
           {kTfLiteInt32, {}, {most}},
           {kTfLiteFloat32, {}, {overlap}},
           {kTfLiteFloat32, {}, {0.125}}},
          {kTfLiteInt32, kTfLiteInt32},
          refusal,
          late};
}

NodeRow SoftSuppress(double most, double overlap, double sigma, const char* refusal = "",
                     bool late = false) {
  NodeRow row = Suppress(Boxes(4), {0.5, 0.75, 1, 0.5}, most, overlap, refusal, late);
  row.code = kTfLiteBuiltinNonMaxSuppressionV5;
  row.name = "NON_MAX_SUPPRESSION_V5";
  row.inputs.push_back({kTfLiteFloat32, {}, {sigma}});
  row.outputs.insert(row.outputs.begin() + 1, kTfLiteFloat32);
  return row;
}

const NodeRow kDetectionRows[] = {
    Suppress(Boxes(4), {0.5, 0.75, 1, 0.5}, 3, 0.125),
    Suppress(Boxes(4), {0.5, 0.0625, 1, 0.5}, 9, 0.75),
    Suppress(Boxes(1), {1}, 0, 0.5),
    Suppress(Boxes(4), {0.5, 0.75, 1, 0.5}, -1, 0.5, "expected 0 boxes or more, found -1"),
    Suppress(Boxes(4), {0.5, 0.75, 1, 0.5}, INT32_MIN, 0.5, "expected 0 boxes or more"),
    Suppress(Boxes(4), {0.5, 0.75, 1}, 3, 0.5, "expected dimension 0 to be 4, found 3"),
    Suppress(Boxes(2, 3), {0.5, 0.75}, 3, 0.5, "expected dimension 1 to be 4, found 3"),
    SoftSuppress(4, 0.75, 0.5),
    SoftSuppress(9, 0.125, 0),
    SoftSuppress(3, 0.5, -1, "expected 0 or more, found -1", true),
};

}  // namespace

std::vector<OpCase> DetectionCases() { return NodeCases(kDetectionRows); }

}  // namespace deputy
