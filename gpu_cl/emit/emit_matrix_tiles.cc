// SPDX-License-Identifier: Apache-2.0
//
// Products on the matrix units of NVIDIA GPUs. A warp, 32 adjacent work-items, uses such a unit
// together; PTX has an instruction for it, OpenCL C has not. Halves are multiplied exactly and
// accumulated in float32. A float32 is split into a high and a low part with the 11 significant
// bits of the units' input format ("TF32"). Three of the four products of such pairs are added; the
// fourth, of the low parts, is below the precision of float32.
//
// The assignment of elements along the depth to work-items is arbitrary if it is the same on both
// sides. Therefore an item loads 16 contiguous bytes of a row or column, for two instructions.
// Similarly, the filter's columns are permuted so that four sums of an item are adjacent in the
// result.
#include <algorithm>
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

// Floats per stored vector.
constexpr int kStored = 4;
// Work-items per warp; rows and columns of an instruction's result.
constexpr int kWarp = 32, kResultRows = 16, kResultColumns = 8;
// A group loads 64 bytes of each row or column at a time, in units of 16 bytes.
constexpr int kUnits = 4, kUnitBytes = 16;
// Maximum number of parts of a group, and minimum number of chunks per part.
constexpr int kMaxMatrixParts = 4, kMinMatrixChunks = 2;
// Maximum work-items per group. NVIDIA's driver 580.159 accepts no more for these kernels, whatever
// the device's limit: it reports 256 for the built kernel, and launches of 512 fail.
constexpr int kMaxMatrixItems = 256;

// A part of a group consists of `across` by `down` warps, each of which computes `rows` by
// `columns` results of the instruction; `columns` is even.
struct MatrixTile {
  int across, down, rows, columns;
  // Throughput relative to the first tile of the table.
  double throughput;

  int items() const { return across * down * kWarp; }
  int height() const { return down * rows * kResultRows; }
  int width() const { return across * columns * kResultColumns; }
};
constexpr MatrixTile kMatrixTiles[] = {{2, 2, 4, 4, 1.0}, {2, 2, 2, 4, 0.8}, {2, 2, 1, 2, 0.4}};
constexpr MatrixTile kSmallestMatrixTile = kMatrixTiles[2];

// Returns the cheapest of the tiles that yield enough groups for the device, else the smallest
// tile.
MatrixTile MatrixTileFor(const GroupProduct& product, const PlanOptions& options) {
  const auto cost = [&](const MatrixTile& tile) {
    return static_cast<double>(product.Groups(tile.height(), tile.width()) * tile.height() *
                               tile.width()) /
           tile.throughput;
  };
  MatrixTile best = kSmallestMatrixTile;
  for (const MatrixTile& tile : kMatrixTiles) {
    const bool enough = product.Groups(tile.height(), tile.width()) >= options.units;
    if (enough && cost(tile) < cost(best)) best = tile;
  }
  return best;
}

class MatrixTileWriter {
 public:
  MatrixTileWriter(StepWriter* steps, GroupProduct product, TfLiteType type)
      : steps_(steps),
        k_(steps->NewKernel()),
        product_(std::move(product)),
        type_(type),
        unit_(kUnitBytes / static_cast<int>(compiler::ElementBytes(type))),
        tile_(MatrixTileFor(product_, steps->options())),
        left_(&k_, product_) {
    product_.packing.panel = tile_.width();
    product_.packing.chunk = int64_t{unit_} * kUnits;
    product_.packing.type = type;
    ChooseParts();
    k_.AssumeAligned();
    k_.UseCommonEpilogue();
  }

  // Number of work-items per group.
  int items() const { return tile_.items() * parts_; }

  void Write() {
    Declare();
    DeclareLoads();
    k_.Line("int chunk = part;");
    Fetch();
    StoreToLocal();
    k_.Open("for (int step = 0; step < (" + chunks_ + " + " + Decimal(parts_ - 1) + ") / " +
            Decimal(parts_) + "; ++step)");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("chunk += " + Decimal(parts_) + ";");
    Fetch();
    Accumulate();
    // Local memory is double-buffered: other items may still read the half that this chunk was read
    // from, but none reads the other half.
    k_.Line("const int other = step % 2 == 0 ? " + Decimal(Units()) + " : " + Decimal(-Units()) +
            ";");
    k_.Line("lefts += other;");
    k_.Line("rights += other;");
    StoreToLocal();
    k_.Close();
    if (parts_ > 1) AddParts();
    Store();
    const std::array<size_t, 3> group = {static_cast<size_t>(tile_.items()), 1,
                                         static_cast<size_t>(parts_)};
    k_.RequireGroup(group);
    const auto groups = [](int64_t count, int part) {
      return static_cast<size_t>(CeilDiv(count, part));
    };
    steps_->AddItems(k_, {groups(product_.columns, tile_.width()) * group[0],
                          groups(product_.rows, tile_.height()), group[2]});
  }

 private:
  // Number of units that an item loads from a chunk of the left side, and from one of the filter.
  int LeftLoads() const { return tile_.height() * kUnits / tile_.items(); }
  int RightLoads() const { return tile_.width() * kUnits / tile_.items(); }
  // Number of units of one chunk in local memory, which holds two chunks per part.
  int Units() const { return (tile_.height() + tile_.width()) * kUnits; }
  bool IsHalf() const { return type_ == kTfLiteFloat16; }

  // Splits the depth into more parts if there are few groups.
  void ChooseParts() {
    constexpr int kPartsOfUnit = 4;
    if (tile_.rows != kSmallestMatrixTile.rows) return;
    const int64_t groups = product_.Groups(tile_.height(), tile_.width());
    while (parts_ < kMaxMatrixParts &&
           groups * parts_ < int64_t{kPartsOfUnit} * steps_->options().units &&
           product_.packing.chunks() >= int64_t{2} * parts_ * kMinMatrixChunks) {
      parts_ *= 2;
    }
  }

  void Declare() {
    const Buffer packed = k_.Packed(product_.packing);
    left_.Declare();
    chunks_ = k_.Int(product_.packing.chunks());
    const int sums = (parts_ - 1) * tile_.items() * tile_.rows * tile_.columns;
    k_.Line("local uint4 memory[" + Decimal(std::max(2 * parts_ * Units(), sums)) + "];");
    k_.Line("const int item = get_local_id(0), part = get_local_id(2);");
    k_.Line("const int lane = item % 32, lane_row = lane / 4, quarter = lane % 4;");
    k_.Line("const int warp_row = item / 32 / " + Decimal(tile_.across) + " * " +
            Decimal(tile_.rows * kResultRows) + " + lane_row;");
    k_.Line("const int warp_column = item / 32 % " + Decimal(tile_.across) + " * " +
            Decimal(tile_.columns * kResultColumns) + ";");
    k_.Line("const int top = get_group_id(1) * " + Decimal(tile_.height()) + ";");
    k_.Line("local uint4* lefts = memory + part * " + Decimal(2 * Units()) + ";");
    k_.Line("local uint4* rights = lefts + " + Decimal(tile_.height() * kUnits) + ";");
    k_.Line(ConstPointer(type_) + " panel = " + packed.name + " + (size_t)get_group_id(0) * " +
            k_.Int(product_.packing.panel_elements()) + ";");
    k_.Line("global const uint4* units = (global const uint4*)(panel + " + Decimal(tile_.width()) +
            ");");
    for (int c = 0; c < tile_.columns; c += 2) {
      const std::string bias = "bias" + Decimal(c);
      k_.Line("const float4 " + bias + " = part > 0 ? (float4)(0.0f) : " +
              LoadVector({.name = "panel", .type = type_, .aligned = true},
                         "warp_column + " + Decimal(c * kResultColumns) + " + quarter * 4",
                         kStored) +
              ";");
      for (int r = 0; r < tile_.rows; ++r) {
        for (int e = 0; e < 4; ++e) {
          k_.Line("float " + Sum(r, c, e) + " = " + bias + ".s" + Decimal(e % 2) + ", " +
                  Sum(r, c + 1, e) + " = " + bias + ".s" + Decimal(2 + e % 2) + ";");
        }
      }
    }
  }

  void DeclareLoads() {
    for (int j = 0; j < LeftLoads(); ++j) {
      left_.DeclareRow(j, "top + item / 4 + " + Decimal(j * tile_.items() / kUnits));
      k_.Line("uint4 a" + Decimal(j) + ";");
    }
    for (int j = 0; j < RightLoads(); ++j) k_.Line("uint4 b" + Decimal(j) + ";");
  }

  // Loads a chunk from global memory. Elements beyond the depth or the image are zeros.
  void Fetch() {
    k_.Line("{");
    const std::string position =
        "chunk * " + Decimal(unit_ * kUnits) + " + quarter * " + Decimal(unit_);
    const bool is_aligned = product_.channels % unit_ == 0;
    if (is_aligned) left_.DeclarePosition("", position);
    for (int e = 0; !is_aligned && e < unit_; ++e) {
      left_.DeclarePosition(Decimal(e), position + " + " + Decimal(e));
    }
    for (int j = 0; j < LeftLoads(); ++j) {
      if (is_aligned) {
        k_.Line("a" + Decimal(j) + " = " + left_.IsInside(j, "") + " ? *(global const uint4*)(" +
                left_.in().name + " + " + LeftSide::At(j, "") + ") : (uint4)(0);");
      } else {
        k_.Line("a" + Decimal(j) + " = as_uint4((float4)(" + Elements(j) + "));");
      }
    }
    for (int j = 0; j < RightLoads(); ++j) {
      k_.Line("b" + Decimal(j) + " = chunk < " + chunks_ + " ? units[chunk * " +
              Decimal(tile_.width() * kUnits) + " + item + " + Decimal(j * tile_.items()) +
              "] : (uint4)(0);");
    }
    k_.Line("}");
  }

  // Returns expressions that load floats that are adjacent along the depth but not in the image.
  std::string Elements(int j) const {
    std::string elements;
    for (int e = 0; e < unit_; ++e) {
      const std::string n = Decimal(e);
      elements += (e > 0 ? ", " : "") + left_.IsInside(j, n) + " ? " +
                  Load(left_.in(), LeftSide::At(j, n)) + " : 0.0f";
    }
    return elements;
  }

  void StoreToLocal() {
    for (int j = 0; j < LeftLoads(); ++j) {
      k_.Line("lefts[item + " + Decimal(j * tile_.items()) + "] = a" + Decimal(j) + ";");
    }
    for (int j = 0; j < RightLoads(); ++j) {
      k_.Line("rights[item + " + Decimal(j * tile_.items()) + "] = b" + Decimal(j) + ";");
    }
  }

  void Accumulate() {
    k_.Line("{");
    for (int r = 0; r < tile_.rows; ++r) {
      for (int half = 0; half < 2; ++half) {
        k_.Line("const uint4 " + Left(r, half) + " = lefts[(warp_row + " +
                Decimal(r * kResultRows + half * kResultRows / 2) + ") * 4 + quarter];");
      }
    }
    for (int c = 0; c < tile_.columns; ++c) {
      k_.Line("const uint4 " + Right(c) +
              " = rights[(warp_column + lane_row / 2 * 4 + lane_row % 2" + " + " +
              Decimal(c / 2 * 2 * kResultColumns + c % 2 * 2) + ") * 4 + quarter];");
    }
    if (IsHalf()) {
      for (const char* elements : {"xy", "zw"}) {
        for (int r = 0; r < tile_.rows; ++r) Multiply(r, "sum", elements, "", "");
      }
    } else {
      Split();
      for (int r = 0; r < tile_.rows; ++r) AddChunk(r);
    }
    k_.Line("}");
  }

  // Splits values into the units' precision, rounded, and the remainder, which is NaN for
  // infinities (see StoreUnsplit).
  void Split() {
    const auto split = [&](const std::string& name) {
      k_.Line("const uint4 " + name + "_high = (" + name + " + 0x1000u) & 0xffffe000u;");
      k_.Line("const uint4 " + name + "_low = as_uint4(as_float4(" + name + ") - as_float4(" +
              name + "_high));");
    };
    for (int r = 0; r < tile_.rows; ++r) {
      for (int half = 0; half < 2; ++half) split(Left(r, half));
    }
    for (int c = 0; c < tile_.columns; ++c) split(Right(c));
  }

  // Adds the products of one chunk to the sums. The units truncate sums; therefore they add the
  // products of one chunk only, and ordinary additions, which round, accumulate the chunks.
  void AddChunk(int r) {
    for (int c = 0; c < tile_.columns; ++c) {
      std::string zeros;
      for (int e = 0; e < 4; ++e) zeros += (e > 0 ? ", " : "") + Name("part", r, c, e) + " = 0.0f";
      k_.Line("float " + zeros + ";");
    }
    for (const char* elements : {"xy", "zw"}) {
      Multiply(r, "part", elements, "_low", "_high");
      Multiply(r, "part", elements, "_high", "_low");
      Multiply(r, "part", elements, "_high", "_high");
    }
    for (int c = 0; c < tile_.columns; ++c) {
      for (int e = 0; e < 4; ++e) {
        k_.Line(Sum(r, c, e) + " += " + Name("part", r, c, e) + ";");
      }
    }
  }

  // Emits the instructions for row `r` of the warp's results, one per column. Each reads the two
  // elements `elements` of the vectors that a work-item has loaded from both sides.
  void Multiply(int r, const std::string& to, const std::string& elements,
                const std::string& of_left, const std::string& of_right) {
    for (int c = 0; c < tile_.columns; ++c) {
      std::string text = IsHalf() ? "MULTIPLY_HALVES(" : "MULTIPLY_TF32(";
      for (int e = 0; e < 4; ++e) text += Name(to, r, c, e) + ", ";
      for (const char element : elements) {
        for (int half = 0; half < 2; ++half) text += Left(r, half) + of_left + "." + element + ", ";
      }
      for (const size_t e : {0, 1}) {
        text += (e > 0 ? ", " : "") + Right(c) + of_right + "." + elements[e];
      }
      k_.Line(text + ");");
    }
  }

  // Adds the sums of the other parts to those of the first part.
  void AddParts() {
    const std::string items = Decimal(tile_.items());
    const int count = tile_.rows * tile_.columns;
    const auto each = [&](const auto& function) {
      for (int r = 0; r < tile_.rows; ++r) {
        for (int c = 0; c < tile_.columns; ++c) function(Decimal(r * tile_.columns + c), r, c);
      }
    };
    k_.Line("local float4* others = (local float4*)memory;");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Open("if (part > 0)");
    each([&](const std::string& index, int r, int c) {
      k_.Line("others[((part - 1) * " + Decimal(count) + " + " + index + ") * " + items +
              " + item] = " + Sums(r, c) + ";");
    });
    k_.Close();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("if (part > 0) return;");
    k_.Open("for (int p = 0; p < " + Decimal(parts_ - 1) + "; ++p)");
    each([&](const std::string& index, int r, int c) {
      k_.Line("const float4 other" + index + " = others[(p * " + Decimal(count) + " + " + index +
              ") * " + items + " + item];");
      for (int e = 0; e < 4; ++e) {
        k_.Line(Sum(r, c, e) + " += other" + index + ".s" + Decimal(e) + ";");
      }
    });
    k_.Close();
  }

  void Store() {
    const int vectors = tile_.rows * tile_.columns;
    k_.Line("const int row = top + warp_row, column = get_group_id(0) * " + Decimal(tile_.width()) +
            " + warp_column + quarter * 4;");
    if (!IsHalf()) StoreUnsplit(vectors);
    const bool shortly = k_.HasShortEpilogue();
    if (!shortly) k_.Line("float4 sums[" + Decimal(vectors) + "];");
    for (int i = 0; i < vectors; ++i) {
      const int r = i / tile_.columns, half = i / (tile_.columns / 2) % 2,
                c = i % (tile_.columns / 2) * 2;
      const std::string sum = "(float4)(" + Sum(r, c, 2 * half) + ", " + Sum(r, c, 2 * half + 1) +
                              ", " + Sum(r, c + 1, 2 * half) + ", " + Sum(r, c + 1, 2 * half + 1) +
                              ")";
      if (shortly) {
        StoreAt(sum, Decimal(i));
      } else {
        k_.Line("sums[" + Decimal(i) + "] = " + sum + ";");
      }
    }
    if (shortly) return;
    k_.Open("for (int i = 0; i < " + Decimal(vectors) + "; ++i)");
    StoreAt("sums[i]", "i");
    k_.Close();
  }

  // Return expressions of the row and the column of vector `i` of an item's results. The column is
  // counted from `first`.
  std::string RowOf(const std::string& i) const {
    return "row + " + i + " / " + Decimal(tile_.columns / 2) + " * " + Decimal(kResultRows / 2);
  }
  std::string ColumnOf(const std::string& i, const std::string& first = "column") const {
    return first + " + " + i + " % " + Decimal(tile_.columns / 2) + " * " +
           Decimal(2 * kResultColumns);
  }

  void StoreAt(const std::string& sum, const std::string& i) {
    OpenIfInside(i);
    StoreInside(sum, i);
    k_.Close();
  }

  void OpenIfInside(const std::string& i) {
    k_.Open("if (" + RowOf(i) + " < " + left_.rows() + " && " + ColumnOf(i) + " < " +
            left_.columns() + ")");
  }

  void StoreInside(const std::string& sum, const std::string& i) {
    k_.Line("const int at = (" + RowOf(i) + ") * " + left_.columns() + " + " + ColumnOf(i) + ";");
    k_.StoreResult(sum, "at", kStored, ColumnOf(i));
  }

  // Recomputes all results of an item with unsplit floats if one of its sums is NaN. The low part
  // of an infinity is NaN, and so is the product of an infinity and a zero part.
  void StoreUnsplit(int vectors) {
    std::string all;
    for (int r = 0; r < tile_.rows; ++r) {
      for (int c = 0; c < tile_.columns; ++c) all += (all.empty() ? "" : " + ") + Sums(r, c);
    }
    k_.Open("if (any(isnan(" + all + ")))");
    k_.Open("for (int i = 0; i < " + Decimal(vectors) + "; ++i)");
    OpenIfInside("i");
    const int row = LeftLoads();  // the next free row number
    left_.DeclareRow(row, RowOf("i"));
    k_.Line("const int in_panel = " + ColumnOf("i", "warp_column + quarter * 4") + ";");
    const Buffer panel = {.name = "panel", .type = type_, .aligned = true};
    k_.Line("float4 sum = " + LoadVector(panel, "in_panel", kStored) + ";");
    k_.Open("for (int place = 0; place < " + left_.depth() + "; ++place)");
    left_.DeclarePosition("", "place");
    k_.Line("const float left = " + left_.IsInside(row, "") + " ? " +
            Load(left_.in(), LeftSide::At(row, "")) + " : 0.0f;");
    const std::string chunk = Decimal(product_.packing.chunk);
    k_.Line("global const float* right = panel + " + Decimal(tile_.width()) + " + (place / " +
            chunk + " * " + Decimal(tile_.width()) + " + in_panel) * " + chunk + " + place % " +
            chunk + ";");
    std::string rights;
    for (int e = 0; e < kStored; ++e) {
      rights += (e > 0 ? ", right[" : "right[") + Decimal(e) + " * " + chunk + "]";
    }
    k_.Line("sum = fma((float4)(left), (float4)(" + rights + "), sum);");
    k_.Close();
    StoreInside("sum", "i");
    k_.Close();
    k_.Close();
    k_.Line("return;");
    k_.Close();
  }

  static std::string Name(const std::string& word, int r, int c, int e) {
    return word + Decimal(r) + "_" + Decimal(c) + "_" + Decimal(e);
  }
  static std::string Sum(int r, int c, int e) { return Name("sum", r, c, e); }
  static std::string Sums(int r, int c) {
    return "(float4)(" + Sum(r, c, 0) + ", " + Sum(r, c, 1) + ", " + Sum(r, c, 2) + ", " +
           Sum(r, c, 3) + ")";
  }
  static std::string Left(int r, int half) { return "l" + Decimal(r) + "_" + Decimal(half); }
  static std::string Right(int c) { return "r" + Decimal(c); }

  StepWriter* const steps_;
  KernelBuilder k_;
  GroupProduct product_;
  const TfLiteType type_;
  const int unit_;  // elements along the depth in 16 bytes
  const MatrixTile tile_;
  int parts_ = 1;
  LeftSide left_;
  std::string chunks_;
};

template <typename Kind>
bool EmitMatrixProduct(const Kind& kind, StepWriter* steps) {
  if (!steps->options().matrix_units) return false;
  std::optional<GroupProduct> product = FindGroupProduct(kind, *steps);
  if (!product) return false;
  const KernelBuilder info = steps->NewKernel();
  const auto& inputs = info.operation().inputs;
  const TfLiteType type = info.value(inputs[0]).type;
  if (info.value(inputs[1]).type != type) return false;
  // Limits of products for the matrix units, from measurements of single layers on an H200: for
  // small depths, and for floats with few columns, the tiles of emit_group_tiles.cc are faster.
  constexpr int kMinMatrixDepth = 24, kMinMatrixColumns = 48, kHalvesOfUnit = 8;
  if (product->depth() < kMinMatrixDepth) return false;
  if (type == kTfLiteFloat32 && product->columns < kMinMatrixColumns) return false;
  if (type == kTfLiteFloat16 && product->channels % kHalvesOfUnit != 0) return false;
  MatrixTileWriter writer(steps, std::move(*product), type);
  if (writer.items() > kMaxMatrixItems) return false;
  writer.Write();
  return true;
}

}  // namespace

bool EmitMatrixTiles(const compiler::Conv2d& kind, StepWriter* steps) {
  return EmitMatrixProduct(kind, steps);
}

bool EmitMatrixTiles(const compiler::MatMul& kind, StepWriter* steps) {
  return EmitMatrixProduct(kind, steps);
}

}  // namespace deputy::gpu_cl
