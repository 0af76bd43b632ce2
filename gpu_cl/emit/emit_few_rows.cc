// SPDX-License-Identifier: Apache-2.0
//
// Products with few rows, for example a classifier at batch size one, for GPUs with fast local
// memory. The time is bound by reading the filter, each element of which is used once per row.
// Therefore a work-group computes few columns, and its items split the depth.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/support/int_math.h"
#include "gpu_cl/emit/emit.h"
#include "gpu_cl/emit/group_product.h"
#include "gpu_cl/emit/vector_text.h"

namespace deputy::gpu_cl {

namespace {

constexpr int kMaxRows = 4, kVector = 4;
// A group computes two vectors of columns: eight elements of a row of the filter.
constexpr int kVectors = 2, kGroupItems = 256;

class FewRowsWriter {
 public:
  FewRowsWriter(StepWriter* steps, GroupProduct product)
      : steps_(steps),
        k_(steps->NewKernel()),
        product_(std::move(product)),
        rows_(static_cast<int>(product_.rows)) {
    product_.packing.panel = kVectors * kVector;
    product_.packing.type = k_.value(k_.operation().inputs[1]).type;
    k_.AssumeAligned();
    k_.UseCommonEpilogue();
  }

  void Write() {
    const Buffer in = k_.Input(0), packed = k_.Packed(product_.packing);
    const std::string depth = k_.Int(product_.depth()), columns = k_.Int(product_.columns);
    const Buffer panel = {.name = "panel", .type = packed.type, .aligned = true};
    const std::string row_of_panel = Decimal(product_.packing.panel);
    k_.Line("local float4 parts[" + Decimal(kGroupItems) + "];");
    k_.Line("const int item = get_local_id(0), across = item % " + Decimal(kVectors) + ";");
    k_.Line(ConstPointer(packed.type) + " panel = " + packed.name +
            " + (size_t)get_group_id(0) * " + k_.Int(product_.packing.panel_elements()) +
            " + across * 4;");
    for (int r = 0; r < rows_; ++r) k_.Line("float4 " + Sum(r) + " = (float4)(0.0f);");
    k_.Open("for (int d = item / " + Decimal(kVectors) + "; d < " + depth +
            "; d += " + Decimal(kGroupItems / kVectors) + ")");
    k_.Line("const float4 right = " + LoadVector(panel, "(1 + d) * " + row_of_panel, kVector) +
            ";");
    for (int r = 0; r < rows_; ++r) {
      k_.Line(Sum(r) + " = fma((float4)(" + Load(in, Decimal(r) + " * " + depth + " + d") +
              "), right, " + Sum(r) + ");");
    }
    k_.Close();
    k_.Line("const int column = (get_group_id(0) * " + Decimal(kVectors) + " + across) * 4;");
    for (int r = 0; r < rows_; ++r) {
      Combine(Sum(r));
      k_.Open("if (item < " + Decimal(kVectors) + " && column < " + columns + ")");
      k_.Line("const int at = " + Decimal(r) + " * " + columns + " + column;");
      k_.StoreResult("(parts[item] + " + LoadVector(panel, "0", kVector) + ")", "at", kVector,
                     "column");
      k_.Close();
    }
    k_.RequireGroup({kGroupItems, 1, 1});
    const int64_t groups = CeilDiv(product_.columns, product_.packing.panel);
    steps_->AddItems(k_, {static_cast<size_t>(groups) * kGroupItems, 1, 1});
  }

 private:
  // Adds the partial sums of items with the same columns; the first kVectors items get the results.
  void Combine(const std::string& sum) {
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("parts[item] = " + sum + ";");
    k_.Open("for (int others = " + Decimal(kGroupItems / 2) + "; others >= " + Decimal(kVectors) +
            "; others /= 2)");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("if (item < others) parts[item] += parts[item + others];");
    k_.Close();
  }

  static std::string Sum(int row) { return "sum" + Decimal(row); }

  StepWriter* const steps_;
  KernelBuilder k_;
  GroupProduct product_;
  const int rows_;
};

template <typename Kind>
bool EmitFewRowsOf(const Kind& kind, StepWriter* steps) {
  if (!steps->options().group_tiles) return false;
  std::optional<GroupProduct> product = FindGroupProduct(kind, *steps);
  if (!product || product->rows > kMaxRows || product->has_window) return false;
  FewRowsWriter(steps, std::move(*product)).Write();
  return true;
}

}  // namespace

bool EmitFewRows(const compiler::Conv2d& kind, StepWriter* steps) {
  return EmitFewRowsOf(kind, steps);
}

bool EmitFewRows(const compiler::MatMul& kind, StepWriter* steps) {
  return EmitFewRowsOf(kind, steps);
}

}  // namespace deputy::gpu_cl
