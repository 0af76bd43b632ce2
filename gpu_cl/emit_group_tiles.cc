// SPDX-License-Identifier: Apache-2.0
//
// Products for GPUs with fast local memory: a group of work-items computes a tile of the output
// together. What counts there, as measured on an NVIDIA H200: rows of the image and of the filter
// come from global memory once for the whole tile, in loads of whole vectors, and while they do the
// sums of what came before are under way; a product that has too few tiles for the device is shared
// along its depth as well, by parts of the group whose sums are added in their order.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "gpu_cl/emit.h"
#include "gpu_cl/vector_text.h"

namespace deputy::gpu_cl {

using compiler::Shape;
using compiler::Window;

namespace {

// Elements of the depth that a group has in local memory at a time, and floats in a vector.
constexpr int kChunk = 16, kWidth = 4;
// Between columns of the left side in local memory, so that their banks differ.
constexpr int kGap = 4;
// A part of a group is a square of items.
constexpr int kSide = 8, kItems = kSide * kSide;
// Parts of a group at most, and of each chunks at least.
constexpr int kMostParts = 4, kLeastChunks = 2;

// Each item computes `rows` rows and `vectors` vectors of them.
struct GroupTile {
  int rows, vectors;
  // Of the arithmetic that the first one does in the same time: smaller ones wait for memory.
  double share;

  int height() const { return kSide * rows; }
  int width() const { return kSide * vectors * kWidth; }
};
constexpr GroupTile kTiles[] = {{8, 2, 1.0}, {8, 1, 0.85}, {4, 1, 0.68}};
constexpr GroupTile kLeastTile = kTiles[2];

// A product with a constant filter, its left side the pixels of an image of `channels` each.
struct GroupProduct {
  int64_t rows = 0, columns = 0, channels = 0;
  Window window;            // of one pixel, unless
  bool has_window = false;  // `image` and `out` say where windows lie
  Shape image, out;
  Packing packing;

  int64_t depth() const { return int64_t{window.height} * window.width * channels; }
  int64_t chunks() const { return PartsOf(depth(), kChunk); }
  int64_t Groups(const GroupTile& tile) const {
    return PartsOf(rows, tile.height()) * PartsOf(columns, tile.width());
  }
  static int64_t PartsOf(int64_t count, int64_t part) { return (count + part - 1) / part; }
};

// The tile that takes least of those of which there are enough, else the least one.
GroupTile TileFor(const GroupProduct& product, const PlanOptions& options) {
  constexpr int kGroupsOfUnit = 2;
  const auto cost = [&](const GroupTile& tile) {
    return static_cast<double>(product.Groups(tile) * tile.height() * tile.width()) / tile.share;
  };
  GroupTile best = kLeastTile;
  for (const GroupTile& tile : kTiles) {
    const bool enough = product.Groups(tile) >= int64_t{kGroupsOfUnit} * options.units;
    if (enough && cost(tile) < cost(best)) best = tile;
  }
  return best;
}

// Into how many parts the depth goes: more of them where there are few groups.
int PartsFor(const GroupProduct& product, const GroupTile& tile, const PlanOptions& options) {
  constexpr int kPartsOfUnit = 4;
  int parts = 1;
  if (tile.rows != kLeastTile.rows) return parts;
  while (parts < kMostParts &&
         product.Groups(tile) * parts < int64_t{kPartsOfUnit} * options.units &&
         product.chunks() >= int64_t{2} * parts * kLeastChunks) {
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
        parts_(PartsFor(product_, tile_, steps->options())) {
    product_.packing.panel = tile_.width();
    product_.packing.type = k_.value(k_.operation().inputs[1]).type;
    k_.AssumeAligned();
    k_.UseCommonEpilogue();
  }

  void Write() {
    Declare();
    DeclareLoads();
    const std::string each = Decimal(int64_t{kChunk} * parts_);
    k_.Line("const int steps = (" + depth_ + " + " + each + " - 1) / " + each + ";");
    k_.Line("int chunk = part;");
    Fetch();
    k_.Open("for (int step = 0; step < steps; ++step)");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    Share();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("chunk += " + Decimal(parts_) + ";");
    Fetch();
    Accumulate();
    k_.Close();
    if (parts_ > 1) AddParts();
    Store();
    const auto items = [&](int64_t count, int part) {
      return static_cast<size_t>(GroupProduct::PartsOf(count, part) * kSide);
    };
    const auto parts = static_cast<size_t>(parts_);
    k_.RequireGroup({kSide, kSide, parts});
    steps_->AddItems(
        k_, {items(product_.columns, tile_.width()), items(product_.rows, tile_.height()), parts});
  }

 private:
  // Vectors of a chunk of the image that an item loads, one row of the tile each, and of the
  // filter.
  int Lefts() const { return tile_.height() * kChunk / kWidth / kItems; }
  int Rights() const { return tile_.width() * kChunk / kWidth / kItems; }
  int LeftStride() const { return tile_.height() + kGap; }
  // Vectors in local memory for each part.
  int LocalVectors() const { return kChunk * (LeftStride() + tile_.width()) / kWidth; }

  void Declare() {
    in_ = k_.Input(0);
    packed_ = k_.Packed(product_.packing);
    rows_ = k_.Int(product_.rows);
    columns_ = k_.Int(product_.columns);
    channels_ = k_.Int(product_.channels);
    depth_ = k_.Int(product_.depth());
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
        const std::string bias = OfPanel("across * 4 + " + Decimal(v * kSide * kWidth));
        k_.Line("float4 " + Sum(r, v) + " = " +
                (r > 0 ? Sum(0, v) : "part > 0 ? (float4)(0.0f) : " + bias) + ";");
      }
    }
  }

  // Where the rows lie that the item loads.
  void DeclareLoads() {
    const Window& window = product_.window;
    k_.Line("const int quarter = item % 4 * 4;");
    if (product_.has_window) {
      height_ = k_.Int(product_.image[1]);
      width_ = k_.Int(product_.image[2]);
      out_height_ = k_.Int(product_.out[1]);
      out_width_ = k_.Int(product_.out[2]);
      stride_y_ = k_.Int(window.stride_y);
      stride_x_ = k_.Int(window.stride_x);
      top_ = k_.Int(window.top);
      left_ = k_.Int(window.left);
      step_y_ = k_.Int(window.dilation_y);
      step_x_ = k_.Int(window.dilation_x);
      window_width_ = k_.Int(window.width);
    }
    for (int j = 0; j < Lefts(); ++j) {
      const std::string n = Decimal(j), row = "row" + n, x = "x" + n, y = "y" + n;
      k_.Line("const int " + row + " = min(top + item / 4 + " + Decimal(j * kItems / kWidth) +
              ", " + rows_ + " - 1);");
      k_.Line("float4 a" + n + ";");
      if (!product_.has_window) {
        k_.Line("const int o" + n + " = " + row + " * " + channels_ + ";");
        continue;
      }
      k_.Line("const int " + x + " = " + row + " % " + out_width_ + " * " + stride_x_ + " - " +
              left_ + ";");
      k_.Line("const int " + y + " = " + row + " / " + out_width_ + " % " + out_height_ + " * " +
              stride_y_ + " - " + top_ + ";");
      k_.Line("const int o" + n + " = ((" + row + " / (" + out_width_ + " * " + out_height_ +
              ") * " + height_ + " + " + y + ") * " + width_ + " + " + x + ") * " + channels_ +
              ";");
    }
    for (int j = 0; j < Rights(); ++j) k_.Line("float4 b" + Decimal(j) + ";");
  }

  // From global memory, what the chunk has; zeros beyond the depth and the image.
  void Fetch() {
    k_.Line("{");
    k_.Line("const int start = chunk * " + Decimal(kChunk) + ";");
    if (product_.channels % kWidth == 0) {
      DeclarePlace("");
      for (int j = 0; j < Lefts(); ++j) {
        const std::string loaded = LoadVector(in_, "o" + Decimal(j) + " + step", kWidth);
        k_.Line("a" + Decimal(j) + " = " + IsInside(j, "") + " ? " + loaded + " : (float4)(0.0f);");
      }
    } else {
      FetchElements();
    }
    const std::string row_vectors = Decimal(tile_.width() / kWidth);
    for (int j = 0; j < Rights(); ++j) {
      const std::string at = "(item + " + Decimal(j * kItems) + ")";
      k_.Line("b" + Decimal(j) + " = start + " + at + " / " + row_vectors + " < " + depth_ + " ? " +
              OfPanel("(1 + start) * " + Decimal(tile_.width()) + " + " + at + " * 4") +
              " : (float4)(0.0f);");
    }
    k_.Line("}");
  }

  // Where the neighbours along the depth are no neighbours in the image.
  void FetchElements() {
    for (int e = 0; e < kWidth; ++e) DeclarePlace(Decimal(e));
    for (int j = 0; j < Lefts(); ++j) {
      std::string elements;
      for (int e = 0; e < kWidth; ++e) {
        const std::string n = Decimal(e);
        elements += (e > 0 ? ", " : "") + IsInside(j, n) + " ? " +
                    Load(in_, "o" + Decimal(j) + " + step" + n) + " : 0.0f";
      }
      k_.Line("a" + Decimal(j) + " = (float4)(" + elements + ");");
    }
  }

  // Declares d<n>, the place along the depth that the item loads next, with step<n>, where that is
  // in the image from the first pixel of a window on, and the pixel's place dy<n>, dx<n> in it.
  void DeclarePlace(const std::string& n) {
    const std::string d = "d" + n, pixel = "pixel" + n, wy = "wy" + n, dy = "dy" + n, dx = "dx" + n;
    k_.Line("const int " + d + " = start + quarter" + (n.empty() ? "" : " + " + n) + ";");
    if (!product_.has_window) return k_.Line("const int step" + n + " = " + d + ";");
    k_.Line("const int " + pixel + " = " + d + " / " + channels_ + ", " + wy + " = " + pixel +
            " / " + window_width_ + ";");
    k_.Line("const int " + dy + " = " + wy + " * " + step_y_ + ", " + dx + " = (" + pixel + " - " +
            wy + " * " + window_width_ + ") * " + step_x_ + ";");
    k_.Line("const int step" + n + " = (" + dy + " * " + width_ + " + " + dx + " - " + pixel +
            ") * " + channels_ + " + " + d + ";");
  }

  // Whether there is such a place in the image of row j.
  std::string IsInside(int row, const std::string& n) const {
    std::string inside = "d" + n + " < " + depth_;
    if (!product_.has_window) return inside;
    const std::string j = Decimal(row);
    return inside + " && (uint)(y" + j + " + dy" + n + ") < (uint)" + height_ + " && (uint)(x" + j +
           " + dx" + n + ") < (uint)" + width_;
  }

  // Into local memory, the left side turned: an item's rows are neighbours there.
  void Share() {
    for (int j = 0; j < Lefts(); ++j) {
      for (int e = 0; e < kWidth; ++e) {
        k_.Line("lefts[(quarter + " + Decimal(e) + ") * " + Decimal(LeftStride()) +
                " + item / 4 + " + Decimal(j * kItems / kWidth) + "] = a" + Decimal(j) + ".s" +
                Decimal(e) + ";");
      }
    }
    for (int j = 0; j < Rights(); ++j) {
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

  // To the sums of the first part those of the others.
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
    if (k_.StoresShortly()) {
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
    k_.Open("if (m + " + row + " < " + rows_ + " && " + column + " < " + columns_ + ")");
    k_.Line("const int at = (m + " + row + ") * " + columns_ + " + " + column + ";");
    k_.StoreResult(sum, "at", kWidth, column);
    k_.Close();
  }

  std::string OfPanel(const std::string& index) const {
    return LoadVector({.name = "panel", .type = packed_.type, .aligned = true}, index, kWidth);
  }
  static std::string Sum(int r, int v) { return "sum" + Decimal(r) + "_" + Decimal(v); }

  StepWriter* const steps_;
  KernelBuilder k_;
  GroupProduct product_;
  const GroupTile tile_;
  const int parts_;
  Buffer in_, packed_;
  std::string rows_, columns_, channels_, depth_, height_, width_, out_height_, out_width_,
      stride_y_, stride_x_, top_, left_, step_y_, step_x_, window_width_;
};

bool Fits(const KernelBuilder& look, const StepWriter& steps, int64_t channels, int64_t columns) {
  const auto is_constant = [&](size_t input) {
    return !look.has_input(input) || look.value(look.operation().inputs[input]).constant();
  };
  const auto is_float = [&](size_t input) {
    return LoadsAsFloat(look.value(look.operation().inputs[input]).type);
  };
  const KernelChoice* const chosen = steps.choice();
  return steps.options().group_tiles && (chosen == nullptr || chosen->rows == 0) && is_float(0) &&
         is_float(1) && is_constant(1) && is_constant(2) && columns % kWidth == 0 && channels > 0 &&
         columns > 0 && look.StoresVectors();
}

}  // namespace

bool EmitGroupTiles(const compiler::Conv2d& kind, StepWriter* steps) {
  const KernelBuilder look = steps->NewKernel();
  const Shape& filter = look.shape(look.operation().inputs[1]);
  const Shape& out = look.shape(look.operation().output());
  if (kind.groups != 1 || !Fits(look, *steps, filter[3], filter[0])) return false;
  GroupProduct product;
  product.rows = int64_t{out[0]} * out[1] * out[2];
  product.columns = filter[0];
  product.channels = filter[3];
  product.window = kind.window;
  product.image = look.shape(look.operation().inputs[0]);
  product.out = out;
  const Window& window = kind.window;
  product.has_window = window.height != 1 || window.width != 1 || window.stride_y != 1 ||
                       window.stride_x != 1 || window.top != 0 || window.left != 0 ||
                       window.bottom != 0 || window.right != 0;
  const int64_t depth = product.depth();
  if (product.rows == 0 || depth == 0) return false;
  product.packing = {.filter = look.operation().inputs[1],
                     .bias = look.bias(),
                     .depth = depth,
                     .columns = product.columns,
                     .group_stride = product.columns * depth,
                     .depth_stride = 1,
                     .column_stride = depth};
  GroupTileWriter(steps, std::move(product)).Write();
  return true;
}

bool EmitGroupTiles(const compiler::MatMul& kind, StepWriter* steps) {
  const KernelBuilder look = steps->NewKernel();
  const Shape& b = look.shape(look.operation().inputs[1]);
  const Shape& out = look.shape(look.operation().output());
  const int64_t columns = out.back();
  const int64_t depth = kind.transpose_b ? b.back() : b[b.size() - 2];
  if (kind.transpose_a || compiler::ElementCount(b) != depth * columns ||
      !Fits(look, *steps, depth, columns)) {
    return false;
  }
  GroupProduct product;
  product.rows = compiler::ElementCount(out) / columns;
  // Only then do all batches share the left side's rows.
  const Shape& a = look.shape(look.operation().inputs[0]);
  if (product.rows == 0 || compiler::ElementCount(a) != product.rows * depth) return false;
  product.columns = columns;
  product.channels = depth;
  product.packing = {.filter = look.operation().inputs[1],
                     .bias = look.bias(),
                     .depth = depth,
                     .columns = columns,
                     .depth_stride = kind.transpose_b ? 1 : columns,
                     .column_stride = kind.transpose_b ? depth : 1};
  GroupTileWriter(steps, std::move(product)).Write();
  return true;
}

}  // namespace deputy::gpu_cl
