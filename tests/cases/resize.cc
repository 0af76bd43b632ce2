// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR. The options of a row are
// align_corners and half_pixel_centers.
#include "tests/cases/movement.h"

namespace deputy {
namespace {

constexpr auto kBilinear = kTfLiteBuiltinResizeBilinear;
constexpr auto kNearest = kTfLiteBuiltinResizeNearestNeighbor;

const MoveRow kResizeRows[] = {
    {kBilinear, "RESIZE_BILINEAR", {{1, 3, 4, 2}}, {Vector({5, 7})}, {0, 0}},
    {kBilinear, "RESIZE_BILINEAR", {{2, 3, 4, 17}}, {Vector({6, 8})}, {0, 1}},
    {kBilinear, "RESIZE_BILINEAR", {{1, 3, 4, 2}}, {Vector({2, 9})}, {1, 0}},
    {kBilinear, "RESIZE_BILINEAR", {{1, 3, 4, 2}}, {Vector({0, 7})}, {0, 0}, "of 1 or more"},
    {kBilinear,
     "RESIZE_BILINEAR",
     {{1, 3, 4, 2}},
     {Vector({INT32_MAX, INT32_MAX})},
     {0, 0},
     "overflow"},
    {kBilinear, "RESIZE_BILINEAR", {{3, 4, 2}}, {Vector({5, 7})}, {0, 0}, "expected 4 dimensions"},
    {kNearest, "RESIZE_NEAREST_NEIGHBOR", {{1, 3, 4, 2}}, {Vector({5, 7})}, {0, 0}},
    {kNearest, "RESIZE_NEAREST_NEIGHBOR", {{2, 3, 4, 17}}, {Vector({6, 2})}, {0, 1}},
    {kNearest, "RESIZE_NEAREST_NEIGHBOR", {{1, 3, 4, 2}}, {Vector({2, 9})}, {1, 0}},
    {kNearest, "RESIZE_NEAREST_NEIGHBOR", {{1, 3, 4, 2}}, {Vector({5, -7})}, {0, 0}, "0 or more"},
    {kNearest,
     "RESIZE_NEAREST_NEIGHBOR",
     {{1, 3, 4, 2}},
     {Vector({5})},
     {0, 0},
     "expected dimension 0 to be 2"},
};

void AddResizeOperator(ModelBuilder* builder, const MoveRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  auto& fbb = builder->fbb();
  const bool align = row.options[0] != 0, half = row.options[1] != 0;
  if (row.code == kBilinear) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateResizeBilinearOptions(fbb, align, half));
  } else {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateResizeNearestNeighborOptions(fbb, align, half));
  }
}

const MoveTypes kFurtherResizeTypes[] = {
    {kNearest, {kTfLiteBFloat16, kTfLiteUInt16}},
};

}  // namespace

// RESIZE_BILINEAR computes weighted sums, so its results are compared with the rule for sums.
std::vector<OpCase> ResizeCases() {
  std::vector<OpCase> cases = MoveCases(kResizeRows, AddResizeOperator, kFurtherResizeTypes);
  for (OpCase& op_case : cases) {
    if (op_case.name.starts_with("RESIZE_BILINEAR")) op_case.rule = Rule::kSum;
  }
  return cases;
}

}  // namespace deputy
