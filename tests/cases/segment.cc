// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of SEGMENT_SUM and the UNSORTED_SEGMENT operators.
#include "tests/cases/node.h"

namespace deputy {
namespace {

NodeRow Sorted(TfLiteType type, const Shape& data, const std::vector<double>& ids,
               const char* refusal = "") {
  return {kTfLiteBuiltinSegmentSum,
          "SEGMENT_SUM",
          {{type, data}, {kTfLiteInt32, {static_cast<int32_t>(ids.size())}, ids}},
          {type},
          refusal};
}

const NodeRow kSortedRows[] = {
    Sorted(kTfLiteFloat32, {4, 70}, {0, 0, 1, 2}),
    Sorted(kTfLiteInt32, {4, 3}, {0, 1, 1, 1}),
    Sorted(kTfLiteFloat32, {4, 3}, {1, 1, 2, 2}, "segments from 0 to 0, found 1 in element 0"),
    Sorted(kTfLiteFloat32, {4, 3}, {0, 2, 2, 2}, "segments from 0 to 1, found 2 in element 1"),
    Sorted(kTfLiteFloat32, {4, 3}, {0, 1, 0, 1}, "segments from 1 to 2, found 0 in element 2"),
    Sorted(kTfLiteFloat32, {4, 3}, {0, INT32_MIN, 0, 1}, "segments from 0 to 1"),
    Sorted(kTfLiteFloat32, {4, 3}, {0, 0, 0, INT32_MAX}, "segments from 0 to 1"),
    Sorted(kTfLiteFloat32, {4, 3}, {0, 0, 0}, "expected dimension 0 to be 4, found 3"),
    Sorted(kTfLiteFloat32, {}, {0}, "expected at most 0 dimensions"),
    Sorted(kTfLiteInt8, {4, 3}, {0, 0, 1, 2}, "expected type FLOAT32 or INT32"),
};

struct SegmentRow {
  TfLiteType type;
  Shape data;
  Shape ids_shape;
  std::vector<double> ids;
  double segments;
  const char* refusal = "";
};

const SegmentRow kUnsortedRows[] = {
    {kTfLiteFloat32, {4, 70}, {4}, {2, 0, 2, 1}, 3},
    {kTfLiteInt32, {4, 3}, {4}, {2, -1, 2, INT32_MIN}, 5},
    {kTfLiteFloat32, {2, 3, 2}, {2, 3}, {0, 1, 0, 3, 3, -1}, 4},
    {kTfLiteFloat32, {4, 3}, {4}, {0, 1, 2, 3}, 3, "segments from 0 to 2, found 3 in element 3"},
    {kTfLiteFloat32, {4, 3}, {4}, {0, 1, INT32_MAX, 3}, 3, "segments from 0 to 2"},
    {kTfLiteFloat32, {4, 3}, {4}, {0, 1, 2, 0}, -1, "expected 0 segments or more, found -1"},
    {kTfLiteFloat32, {4, 3}, {4}, {-1, -1, -1, -1}, INT32_MIN, "expected 0 segments or more"},
    {kTfLiteFloat32, {4, 3}, {3}, {0, 1, 2}, 3, "expected dimension 0 to be 4"},
    {kTfLiteFloat32, {4}, {2, 2}, {0, 1, 2, 0}, 3, "expected at most 1 dimensions"},
    {kTfLiteInt8, {4}, {4}, {0, 1, 2, 0}, 3, "expected type FLOAT32 or INT32"},
};

NodeRow Unsorted(TfLiteBuiltinOperator code, const char* name, const SegmentRow& row) {
  return {code,
          name,
          {{row.type, row.data},
           {kTfLiteInt32, row.ids_shape, row.ids},
           {kTfLiteInt32, {}, {row.segments}}},
          {row.type},
          row.refusal};
}

}  // namespace

std::vector<OpCase> SegmentCases() {
  std::vector<NodeRow> rows(std::begin(kSortedRows), std::end(kSortedRows));
  for (const SegmentRow& row : kUnsortedRows) {
    rows.push_back(Unsorted(kTfLiteBuiltinUnsortedSegmentMax, "UNSORTED_SEGMENT_MAX", row));
    rows.push_back(Unsorted(kTfLiteBuiltinUnsortedSegmentMin, "UNSORTED_SEGMENT_MIN", row));
    rows.push_back(Unsorted(kTfLiteBuiltinUnsortedSegmentProd, "UNSORTED_SEGMENT_PROD", row));
    rows.push_back(Unsorted(kTfLiteBuiltinUnsortedSegmentSum, "UNSORTED_SEGMENT_SUM", row));
  }
  return NodeCases(rows);
}

}  // namespace deputy
