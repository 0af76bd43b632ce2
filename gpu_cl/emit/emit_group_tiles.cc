// SPDX-License-Identifier: Apache-2.0
//
// Products for GPUs with fast local memory: a work-group computes a tile of the output
// cooperatively. Measured on an NVIDIA H200, the following matters: rows of the image and of the
// filter are loaded from global memory once per tile, as whole vectors, and overlap with the
// arithmetic on the previous chunk. A product with too few tiles for the device is also split along
// its depth: parts of the group compute partial sums, which are added in a fixed order.
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

// Chunk of the depth in local memory, in elements, and vector width in floats.
constexpr int kChunk = 16, kWidth = 4;
// Padding between columns of the left side in local memory; avoids bank conflicts.
constexpr int kGap = 4;
// A part of a group is a square of work-items.
constexpr int kSide = 8, kItems = kSide * kSide;
// Maximum number of parts of a group, and minimum number of chunks per part.
constexpr int kMaxParts = 4, kMinChunks = 2;

// A tile of the output. Each work-item computes `rows` rows and `vectors` vectors of columns.
struct GroupTile {
  int rows, vectors;
  // Throughput relative to the first tile. Smaller tiles are slower, because they wait for memory.
  double throughput;

  int height() const { return kSide * rows; }
  int width() const { return kSide * vectors * kWidth; }
};
constexpr GroupTile kTiles[] = {{8, 2, 1.0}, {8, 1, 0.85}, {4, 1, 0.68}};
constexpr GroupTile kSmallestTile = kTiles[2];

// Returns the cheapest of the tiles that yield enough groups for the device, else the smallest
// tile.
GroupTile TileFor(const GroupProduct& product, const PlanOptions& options) {
  constexpr int kGroupsOfUnit = 2;
  const auto cost = [&](const GroupTile& tile) {
    return static_cast<double>(product.Groups(tile.height(), tile.width()) * tile.height() *
                               tile.width()) /
           tile.throughput;
  };
  GroupTile best = kSmallestTile;
  for (const GroupTile& tile : kTiles) {
    const bool enough =
        product.Groups(tile.height(), tile.width()) >= int64_t{kGroupsOfUnit} * options.units;
    if (enough && cost(tile) < cost(best)) best = tile;
  }
  return best;
}

// Returns the number of parts that the depth is split into: more if there are few groups.
int PartsFor(const GroupProduct& product, const GroupTile& tile, const PlanOptions& options) {
  constexpr int kPartsOfUnit = 4;
  int parts = 1;
  if (tile.rows != kSmallestTile.rows) return parts;
  while (parts < kMaxParts &&
         product.Groups(tile.height(), tile.width()) * parts <
             int64_t{kPartsOfUnit} * options.units &&
         CeilDiv(product.depth(), kChunk) >= int64_t{2} * parts * kMinChunks) {
    parts *= 2;
  }
  return parts;
}

class GroupTileWriter {
 public:
  GroupTileWriter(StepWriter* steps, GroupProduct product)
      : steps_(steps),
        k_(steps->NewKernel()),
        product_(std::move(product)),
        tile_(TileFor(product_, steps->options())),
        parts_(PartsFor(product_, tile_, steps->options())),
        left_(&k_, product_) {
    product_.packing.panel = tile_.width();
    product_.packing.type = k_.value(k_.operation().inputs[1]).type;
    k_.AssumeAligned();
    k_.UseCommonEpilogue();
  }

  void Write() {
    Declare();
    DeclareLoads();
    const std::string each = Decimal(int64_t{kChunk} * parts_);
    k_.Line("const int steps = (" + left_.depth() + " + " + each + " - 1) / " + each + ";");
    k_.Line("int chunk = part;");
    Fetch();
    k_.Open("for (int step = 0; step < steps; ++step)");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    StoreToLocal();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("chunk += " + Decimal(parts_) + ";");
    Fetch();
    Accumulate();
    k_.Close();
    if (parts_ > 1) AddParts();
    Store();
    const auto items = [&](int64_t count, int part) {
      return static_cast<size_t>(CeilDiv(count, part) * kSide);
    };
    const auto parts = static_cast<size_t>(parts_);
    k_.RequireGroup({kSide, kSide, parts});
    steps_->AddItems(
        k_, {items(product_.columns, tile_.width()), items(product_.rows, tile_.height()), parts});
  }

 private:
  // Number of vectors of a chunk that an item loads from the image, each of another row of the
  // tile, and from the filter.
  int LeftLoads() const { return tile_.height() * kChunk / kWidth / kItems; }
  int RightLoads() const { return tile_.width() * kChunk / kWidth / kItems; }
  int LeftStride() const { return tile_.height() + kGap; }
  // Number of vectors in local memory per part of the group.
  int LocalVectors() const { return kChunk * (LeftStride() + tile_.width()) / kWidth; }

  void Declare() {
    packed_ = k_.Packed(product_.packing);
    left_.Declare();
    const int sums = (parts_ - 1) * kItems * tile_.rows * tile_.vectors;
    k_.Line("local float4 memory[" + Decimal(std::max(parts_ * LocalVectors(), sums)) + "];");
    k_.Line("const int across = get_local_id(0), down = get_local_id(1), part = get_local_id(2);");
    k_.Line("const int item = down * " + Decimal(kSide) + " + across;");
    k_.Line("const int top = get_group_id(1) * " + Decimal(tile_.height()) + ";");
    k_.Line("const int m = top + down * " + Decimal(tile_.rows) + ";");
    k_.Line("const int n = get_group_id(0) * " + Decimal(tile_.width()) + " + across * " +
            Decimal(kWidth) + ";");
    k_.Line("local float4* rights = memory + part * " + Decimal(LocalVectors()) + ";");
    k_.Line("local float* lefts = (local float*)(rights + " +
            Decimal(kChunk * tile_.width() / kWidth) + ");");
    k_.Line(ConstPointer(packed_.type) + " panel = " + packed_.name +
            " + (size_t)get_group_id(0) * " + k_.Int(product_.packing.panel_elements()) + ";");
    for (int v = 0; v < tile_.vectors; ++v) {
      for (int r = 0; r < tile_.rows; ++r) {
        const std::string bias = LoadFromPanel("across * 4 + " + Decimal(v * kSide * kWidth));
        k_.Line("float4 " + Sum(r, v) + " = " +
                (r > 0 ? Sum(0, v) : "part > 0 ? (float4)(0.0f) : " + bias) + ";");
      }
    }
  }

  // Declares the positions of the left side's rows that the item loads, and variables for its loads
  // of both sides.
  void DeclareLoads() {
    k_.Line("const int quarter = item % 4 * 4;");
    for (int j = 0; j < LeftLoads(); ++j) {
      left_.DeclareRow(j, "top + item / 4 + " + Decimal(j * kItems / kWidth));
      k_.Line("float4 a" + Decimal(j) + ";");
    }
    for (int j = 0; j < RightLoads(); ++j) k_.Line("float4 b" + Decimal(j) + ";");
  }

  // Loads a chunk from global memory. Elements beyond the depth or the image are zeros.
  void Fetch() {
    k_.Line("{");
    k_.Line("const int start = chunk * " + Decimal(kChunk) + ";");
    if (product_.channels % kWidth == 0) {
      left_.DeclarePosition("", "start + quarter");
      for (int j = 0; j < LeftLoads(); ++j) {
        const std::string loaded = LoadVector(left_.in(), LeftSide::At(j, ""), kWidth);
        k_.Line("a" + Decimal(j) + " = " + left_.IsInside(j, "") + " ? " + loaded +
                " : (float4)(0.0f);");
      }
    } else {
      FetchElements();
    }
    const std::string row_vectors = Decimal(tile_.width() / kWidth);
    for (int j = 0; j < RightLoads(); ++j) {
      const std::string at = "(item + " + Decimal(j * kItems) + ")";
      k_.Line("b" + Decimal(j) + " = start + " + at + " / " + row_vectors + " < " + left_.depth() +
              " ? " +
              LoadFromPanel("(1 + start) * " + Decimal(tile_.width()) + " + " + at + " * 4") +
              " : (float4)(0.0f);");
    }
    k_.Line("}");
  }

  // Loads elements that are adjacent along the depth but not in the image.
  void FetchElements() {
    for (int e = 0; e < kWidth; ++e) {
      left_.DeclarePosition(Decimal(e), "start + quarter + " + Decimal(e));
    }
    for (int j = 0; j < LeftLoads(); ++j) {
      std::string elements;
      for (int e = 0; e < kWidth; ++e) {
        const std::string n = Decimal(e);
        elements += (e > 0 ? ", " : "") + left_.IsInside(j, n) + " ? " +
                    Load(left_.in(), LeftSide::At(j, n)) + " : 0.0f";
      }
      k_.Line("a" + Decimal(j) + " = (float4)(" + elements + ");");
    }
  }

  // Stores a chunk to local memory, the left side transposed, so that the rows of an item are
  // adjacent.
  void StoreToLocal() {
    for (int j = 0; j < LeftLoads(); ++j) {
      for (int e = 0; e < kWidth; ++e) {
        k_.Line("lefts[(quarter + " + Decimal(e) + ") * " + Decimal(LeftStride()) +
                " + item / 4 + " + Decimal(j * kItems / kWidth) + "] = a" + Decimal(j) + ".s" +
                Decimal(e) + ";");
      }
    }
    for (int j = 0; j < RightLoads(); ++j) {
      k_.Line("rights[item + " + Decimal(j * kItems) + "] = b" + Decimal(j) + ";");
    }
  }

  void Accumulate() {
    k_.Open("for (int k = 0; k < " + Decimal(kChunk) + "; ++k)");
    k_.Line("local const float4* left = (local const float4*)(lefts + k * " +
            Decimal(LeftStride()) + " + down * " + Decimal(tile_.rows) + ");");
    for (int r = 0; r < tile_.rows; r += kWidth) {
      k_.Line("const float4 l" + Decimal(r / kWidth) + " = left[" + Decimal(r / kWidth) + "];");
    }
    for (int v = 0; v < tile_.vectors; ++v) {
      k_.Line("const float4 r" + Decimal(v) + " = rights[k * " + Decimal(tile_.width() / kWidth) +
              " + across + " + Decimal(v * kSide) + "];");
    }
    for (int r = 0; r < tile_.rows; ++r) {
      for (int v = 0; v < tile_.vectors; ++v) {
        k_.Line(Sum(r, v) + " = fma((float4)(l" + Decimal(r / kWidth) + ".s" + Decimal(r % kWidth) +
                "), r" + Decimal(v) + ", " + Sum(r, v) + ");");
      }
    }
    k_.Close();
  }

  // Adds the sums of the other parts to those of the first part.
  void AddParts() {
    const std::string items = Decimal(kItems);
    const int count = tile_.rows * tile_.vectors;
    const auto each = [&](const auto& function) {
      for (int v = 0; v < tile_.vectors; ++v) {
        for (int r = 0; r < tile_.rows; ++r) function(Decimal(v * tile_.rows + r), Sum(r, v));
      }
    };
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Open("if (part > 0)");
    each([&](const std::string& index, const std::string& sum) {
      k_.Line("memory[((part - 1) * " + Decimal(count) + " + " + index + ") * " + items +
              " + item] = " + sum + ";");
    });
    k_.Close();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("if (part > 0) return;");
    k_.Open("for (int p = 0; p < " + Decimal(parts_ - 1) + "; ++p)");
    each([&](const std::string& index, const std::string& sum) {
      k_.Line(sum + " += memory[(p * " + Decimal(count) + " + " + index + ") * " + items +
              " + item];");
    });
    k_.Close();
  }

  void Store() {
    if (k_.HasShortEpilogue()) {
      for (int r = 0; r < tile_.rows; ++r) {
        for (int v = 0; v < tile_.vectors; ++v) StoreVectorAt(Sum(r, v), Decimal(r), Decimal(v));
      }
      return;
    }
    k_.Line("float4 sums[" + Decimal(tile_.rows * tile_.vectors) + "];");
    for (int r = 0; r < tile_.rows; ++r) {
      for (int v = 0; v < tile_.vectors; ++v) {
        k_.Line("sums[" + Decimal(r * tile_.vectors + v) + "] = " + Sum(r, v) + ";");
      }
    }
    k_.Open("for (int i = 0; i < " + Decimal(tile_.rows * tile_.vectors) + "; ++i)");
    const std::string vectors = Decimal(tile_.vectors);
    StoreVectorAt("sums[i]", "i / " + vectors, "i % " + vectors);
    k_.Close();
  }

  void StoreVectorAt(const std::string& sum, const std::string& row, const std::string& vector) {
    const std::string column = "n + " + vector + " * " + Decimal(kSide * kWidth);
    k_.Open("if (m + " + row + " < " + left_.rows() + " && " + column + " < " + left_.columns() +
            ")");
    k_.Line("const int at = (m + " + row + ") * " + left_.columns() + " + " + column + ";");
    k_.StoreResult(sum, "at", kWidth, column);
    k_.Close();
  }

  std::string LoadFromPanel(const std::string& index) const {
    return LoadVector({.name = "panel", .type = packed_.type, .aligned = true}, index, kWidth);
  }
  static std::string Sum(int r, int v) { return "sum" + Decimal(r) + "_" + Decimal(v); }

  StepWriter* const steps_;
  KernelBuilder k_;
  GroupProduct product_;
  const GroupTile tile_;
  const int parts_;
  LeftSide left_;
  Buffer packed_;
};

template <typename Kind>
bool EmitProduct(const Kind& kind, StepWriter* steps) {
  if (!steps->options().group_tiles) return false;
  std::optional<GroupProduct> product = FindGroupProduct(kind, *steps);
  if (!product) return false;
  GroupTileWriter(steps, std::move(*product)).Write();
  return true;
}

}  // namespace

bool EmitGroupTiles(const compiler::Conv2d& kind, StepWriter* steps) {
  return EmitProduct(kind, steps);
}

bool EmitGroupTiles(const compiler::MatMul& kind, StepWriter* steps) {
  return EmitProduct(kind, steps);
}

}  // namespace deputy::gpu_cl
