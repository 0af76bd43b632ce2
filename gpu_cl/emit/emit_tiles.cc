// SPDX-License-Identifier: Apache-2.0
//
// Products in tiles of single work-items, for CPUs and for products on GPUs that group tiles do not
// compute: a work-item computes tiles of the output of a few rows and a few vectors of columns.
// Measured with PoCL on CPUs, the following matters: every sum is a variable of its own, so that
// the compiler keeps it in a register; vectors are written explicitly; the filter is read
// sequentially, in panels as wide as the tile. Local memory is used only by variants in which items
// share the filter (KernelChoice::sharing).
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/support/int_math.h"
#include "gpu_cl/emit/emit.h"
#include "gpu_cl/emit/filter_image.h"
#include "gpu_cl/emit/vector_text.h"

namespace deputy::gpu_cl {

using compiler::Shape;
using compiler::ValueId;
using compiler::Window;

namespace {

// ---- Choice of a tile ---------------------------------------------------------------------------

struct Tile {
  int rows = 1, vectors = 1;
};

// Tiles that fit in the registers together with the vectors of the filter: 32 registers of 16
// floats, or 16 narrower ones. The first one is the best for large products.
constexpr Tile kWideTiles[] = {{12, 2}, {7, 3}, {14, 1}, {1, 4}};
constexpr Tile kNarrowTiles[] = {{6, 2}, {12, 1}, {1, 4}};

// Tiles for GPUs, whose work-items have fewer registers and must be numerous: the first one that
// yields enough items is chosen.
constexpr Tile kItemTiles[] = {{8, 2}, {4, 2}, {4, 1}, {2, 1}, {1, 1}};

// Number of filter rows in local memory at a time: half a kilobyte for two vectors.
constexpr int kSharedRows = 16;

// Tile for convolutions, other than dense ones of single pixels, whose sums have so few products
// that compile time dominates, such as the first convolution of a network: the kernel is used only
// once.
constexpr Tile kSmallTile = {6, 2};

// Estimated cycles of a tile per row of the filter: two vector multiply-adds per cycle, with a
// latency of four cycles between dependent ones.
double Cycles(const Tile& tile) {
  return std::max(0.5 * tile.rows * tile.vectors, 4.0) + 0.125 * (tile.rows + tile.vectors);
}

// Returns the tile with the fewest estimated cycles. If `whole`, it must not be wider than the
// columns.
Tile BestTile(int64_t rows, int64_t columns, int width, bool whole) {
  const auto cost = [&](const Tile& tile) {
    if (whole && int64_t{tile.vectors} * width > columns) return HUGE_VAL;
    const int64_t tile_count =
        CeilDiv(rows, tile.rows) * CeilDiv(columns, int64_t{tile.vectors} * width);
    return static_cast<double>(tile_count) * Cycles(tile);
  };
  const std::span<const Tile> tiles =
      width == 16 ? std::span<const Tile>(kWideTiles) : std::span<const Tile>(kNarrowTiles);
  // Another tile is chosen only if it saves enough to pay for compiling another kernel.
  constexpr double kMaxCostRatio = 0.92;
  Tile best = tiles[0];
  for (const Tile& tile : tiles) {
    if (cost(tile) < kMaxCostRatio * cost(best)) best = tile;
  }
  return best;
}

// ---- The kernel ---------------------------------------------------------------------------------

// The output as `groups` matrices; the position of an element is group * group_stride + row *
// row_stride + column.
struct Product {
  int64_t groups = 1, rows = 0, columns = 0, depth = 0;
  int64_t group_stride = 0, row_stride = 0;
  bool small = false;  // true: uses kSmallTile
  // Packed panels of a constant right side. If it is not set, the right side is a row-major matrix:
  // the last tile then overlaps the previous one, so that only whole vectors are loaded and stored,
  // and no output may alias an input of the epilogue.
  std::optional<Packing> packing;
};

// Vector width of the tile in floats.
int WidthFor(const Product& product, const PlanOptions& options) {
  int width = options.vector_width;
  while (!product.packing && width > product.columns) width /= 2;
  return width;
}

Tile TileFor(const Product& product, int width, const StepWriter& steps) {
  const PlanOptions& options = steps.options();
  if (const KernelChoice* chosen = steps.choice(); chosen != nullptr && chosen->rows > 0) {
    const Tile tile = {chosen->rows, chosen->vectors};
    if (product.packing || int64_t{tile.vectors} * width <= product.columns) return tile;
  }
  if (options.ranges && product.small) return kSmallTile;
  if (options.ranges) return BestTile(product.rows, product.columns, width, !product.packing);
  for (const Tile& tile : kItemTiles) {
    const int64_t panel = int64_t{tile.vectors} * width;
    if (!product.packing && panel > product.columns) continue;
    const int64_t items =
        CeilDiv(product.rows, tile.rows) * CeilDiv(product.columns, panel) * product.groups;
    if (items >= options.items) return tile;
  }
  return {1, 1};
}

class TileWriter {
 public:
  TileWriter(StepWriter* steps, const Product& product)
      : steps_(steps),
        k_(steps->NewKernel()),
        product_(product),
        width_(WidthFor(product_, steps->options())),
        tile_(TileFor(product_, width_, *steps)),
        integers_(k_.sums_integers()),
        vector_((integers_ ? "int" : "float") + Decimal(width_)),
        left_(k_.value(k_.operation().inputs[0]).type),
        right_(integers_ ? kTfLiteInt32 : k_.value(k_.operation().inputs[1]).type) {
    if (product_.packing) {
      Packing& packing = *product_.packing;
      const PlanOptions& options = steps->options();
      packing.panel = panel();
      packing.type = right_;
      if (integers_) {
        packing.run_stride = packing.run * packing.depth_stride;
        packing.padding_bytes = packing.run;
        flip_ = k_.Int(SetImage(left_, compiler::ZeroPointOf(k_.operation().kind),
                                MultipliedType(options), &packing));
      } else if (width_ == kTexelWidth && !options.ranges) {
        packing.storage = StorageFor(packing, options.storage, options.images);
      }
    }
    if (const KernelChoice* chosen = steps->choice();
        chosen != nullptr && chosen->sharing > 0 && product_.packing && !integers_ &&
        !steps->options().ranges && width_ == kTexelWidth &&
        steps->options().storage == Storage::kBuffer) {
      sharing_ = static_cast<size_t>(chosen->sharing);
      k_.RequireGroup({1, sharing_, 1});
    }
    k_.UseCommonEpilogue();
  }

  KernelBuilder& kernel() { return k_; }
  const Tile& tile() const { return tile_; }
  // Return the storage types of the elements of the left and right side.
  TfLiteType left() const { return left_; }
  TfLiteType right() const { return right_; }

  // Declares the tile's first column `n`, its `group`, and `panel`, its part of the filter.
  void Declare() {
    const std::string packed = k_.Packed(*product_.packing).name;
    k_.Line("const int n = get_global_id(0) * " + Decimal(panel()) + ", group = get_global_id(2);");
    if (IsImage()) {
      const std::string factor = k_.Int(PanelFactor(*product_.packing));
      return k_.Line(
          "const int panel = (group * (int)get_global_size(0) + (int)get_global_id(0)) * " +
          factor + ";");
    }
    const std::string panel_elements = k_.Int(product_.packing->panel_elements());
    k_.Line(ConstPointer(right_) + " panel = " + packed +
            " + (size_t)(group * get_global_size(0) + get_global_id(0)) * " + panel_elements + ";");
    if (sharing_ > 0) {
      k_.Line("local " + vector_ + " shared[" + Decimal(int64_t{kSharedRows} * tile_.vectors) +
              "];");
    }
  }
  // Declares `n` and `panel` for a matrix that is not packed; `right` is the address of the group's
  // matrix.
  void Declare(const std::string& right) {
    columns_ = k_.Int(product_.columns);
    k_.Line("const int n = min((int)get_global_id(0) * " + Decimal(panel()) + ", " + columns_ +
            " - " + Decimal(panel()) + ");");
    k_.Line(ConstPointer(right_) + " panel = " + right + " + n;");
  }

  // Opens a tile: `m` is its first row; its sums, sum<r>_<v>, are initialised with the bias.
  void Open() {
    rows_ = k_.Int(product_.rows);
    const std::string each = k_.Int(RowsOfItem());
    k_.Line("const int end = min(" + rows_ + ", (int)(get_global_id(1) + 1) * " + each + ");");
    if (sharing_ > 0) {
      // All items of a group must reach its barriers, including those beyond the last row.
      k_.Open("for (int once = 0, m = get_global_id(1) * " + each + "; once < 1; ++once)");
    } else {
      k_.Open("for (int m = get_global_id(1) * " + each + "; m < end; m += " + Decimal(tile_.rows) +
              ")");
    }
    k_.Line(IsImage() ? "int w = 0;" : ConstPointer(right_) + " w = panel;");
    for (int v = 0; v < tile_.vectors; ++v) {
      for (int r = 0; r < tile_.rows; ++r) {
        k_.Line(vector_ + " " + Sum(r, v) + " = " + (r == 0 ? Start(v) : Sum(0, v)) + ";");
      }
    }
    if (product_.packing) NextRow();
  }

  // Returns the row of the output for row r of the tile, clamped to the last row.
  std::string Row(int r) const { return "min(m + " + Decimal(r) + ", " + rows_ + " - 1)"; }

  // Adds the products of `run` elements from a<r> on, for each row r of the tile.
  void AddRun(int64_t run, const std::string& step = "") {
    if (!integers_) {
      OpenDepth(k_.Int(run));
      Accumulate(step.empty() ? "d" : "d * " + step);
      return CloseDepth();
    }
    const std::string quads = k_.Int(run / kQuad);
    k_.Open("for (int d = 0; d < " + quads + "; ++d)");
    AddProducts([&](int r) { return Quad("a" + Decimal(r) + " + 4 * d"); });
    k_.Close();
    if (run % kQuad == 0) return;
    k_.Line("{");
    AddProducts(
        [&](int r) { return PartOfQuad("a" + Decimal(r) + "[4 * " + quads + " + ", run % kQuad); });
    k_.Line("}");
  }

  // Returns the address of the run of elements that represents padding.
  std::string Padding(int64_t run) {
    if (!integers_) return k_.Zeros(static_cast<int>(run), left_);
    const std::string position = k_.Int(product_.packing->padding_position());
    k_.Line(ConstPointer(left_) + " zeros = (" + ConstPointer(left_) + ")(packed + " + position +
            ");");
    return "zeros";
  }

  // Opens a loop over `run` rows of the filter with index d. Items that share the filter load a
  // block of rows together.
  void OpenDepth(const std::string& run) {
    if (sharing_ == 0) return k_.Open("for (int d = 0; d < " + run + "; ++d)");
    const std::string rows = Decimal(kSharedRows);
    k_.Open("for (int start = 0; start < " + run + "; start += " + rows + ")");
    k_.Line("const int stop = min(start + " + rows + ", " + run + ");");
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Open("for (int i = get_local_id(1); i < (stop - start) * " + Decimal(tile_.vectors) +
            "; i += " + Decimal(static_cast<int64_t>(sharing_)) + ")");
    k_.Line("shared[i] = " + LoadVector({"w", right_}, "i * " + Decimal(width_), width_) + ";");
    k_.Close();
    k_.Line("barrier(CLK_LOCAL_MEM_FENCE);");
    k_.Line("w += (stop - start) * " + Decimal(panel()) + ";");
    k_.Line("local const " + vector_ + "* row = shared;");
    k_.Open("for (int d = start; d < stop; ++d)");
    in_shared_ = true;
  }
  void CloseDepth() {
    k_.Close();
    if (sharing_ > 0) k_.Close();
    in_shared_ = false;
  }

  // Adds the products of a<r>[index] and a row of the filter, for each row r of the tile; a<r> is
  // an address in the left side.
  void Accumulate(const std::string& index) {
    AddProducts([&](int r) { return Load({"a" + Decimal(r), left_}, index); });
  }

  // Adds the products of the four elements of texel a<r> + index of an image and four rows of the
  // filter, for each row r of the tile. If `may_miss`, a negative a<r> denotes zeros.
  void AccumulateTexels(const std::string& image, const std::string& index, bool may_miss) {
    for (int r = 0; r < tile_.rows; ++r) {
      const std::string a = "a" + Decimal(r);
      k_.Line("const float4 x" + a + " = " + (may_miss ? a + " < 0 ? (float4)(0.0f) : " : "") +
              "read_imagef(" + image + ", " + a + " + " + index + ");");
    }
    for (int element = 0; element < kTexelWidth; ++element) {
      k_.Line("{");
      AddProducts([&](int r) { return "xa" + Decimal(r) + ".s" + Decimal(element); });
      k_.Line("}");
    }
  }

  // Stores the tile, closes it, and adds the step.
  void Store() {
    const std::string columns = k_.Int(product_.columns);
    const std::string row_stride = k_.Int(product_.row_stride);
    const bool one = product_.groups == 1;
    k_.Line("const int first = n" + (one ? "" : " + group * " + k_.Int(product_.group_stride)) +
            ";");
    k_.Line("const int channel = n" +
            (one || product_.group_stride >= product_.row_stride ? "" : " + group * " + columns) +
            ";");
    if (IsSimple()) {
      StoreSums(row_stride);
    } else {
      StoreThroughMemory(row_stride, columns);
    }
    k_.Close();
    const int64_t items = CeilDiv(product_.rows, RowsOfItem());
    steps_->AddItems(k_, {static_cast<size_t>(Panels()), static_cast<size_t>(items),
                          static_cast<size_t>(product_.groups)});
  }

 private:
  int panel() const { return tile_.vectors * width_; }
  bool IsImage() const { return product_.packing && product_.packing->storage != Storage::kBuffer; }
  void NextRow() {
    if (IsImage()) return k_.Line("++w;");
    if (in_shared_) return k_.Line("row += " + Decimal(tile_.vectors) + ";");
    k_.Line("w += " + (product_.packing ? Decimal(panel()) : columns_) + ";");
  }

  std::string Quad(const std::string& address) const {
    return "(QUAD(" + address + ") ^ " + flip_ + ")";
  }
  // Returns a quad whose first `count` elements are element + "0])" and its successors.
  std::string PartOfQuad(const std::string& element, int64_t count) const {
    std::string quad;
    for (int64_t i = 0; i < count; ++i) {
      quad += (i == 0 ? "" : " | ") + ("(int)(uchar)" + element + Decimal(i) + "]") +
              (i == 0 ? "" : " << " + Decimal(8 * i));
    }
    return "((" + quad + ") ^ " + flip_ + ")";
  }

  // Adds the products of left(r), a scalar or quad, and a row of the filter, for all r.
  template <typename Function>
  void AddProducts(const Function& left) {
    for (int v = 0; v < tile_.vectors; ++v) {
      k_.Line("const " + vector_ + " b" + Decimal(v) + " = " + Right(v) + ";");
    }
    for (int r = 0; r < tile_.rows; ++r) {
      std::string line = "{ const " + vector_ + " a = " + left(r) + ";";
      for (int v = 0; v < tile_.vectors; ++v) {
        const std::string sum = Sum(r, v), b = "b" + Decimal(v);
        line += integers_ ? " ADD_DOT" + Decimal(width_) + "(" + sum + ", a, " + b + ");"
                          : " " + sum + " = fma(a, " + b + ", " + sum + ");";
      }
      k_.Line(line + " }");
    }
    NextRow();
  }

  int64_t Panels() const { return CeilDiv(product_.columns, panel()); }
  std::string Start(int v) const {
    if (!product_.packing) return "(" + vector_ + ")(0.0f)";
    return Right(v);
  }
  // Returns vector v of the filter's row.
  std::string Right(int v) const {
    if (in_shared_) return "row[" + Decimal(v) + "]";
    if (IsImage()) return FilterTexel(*product_.packing, "packed", "panel", "w", v);
    return LoadVector({"w", right_}, Decimal(int64_t{v} * width_), width_);
  }
  static std::string Sum(int r, int v) { return "sum" + Decimal(r) + "_" + Decimal(v); }

  // Number of rows per work-item. On CPUs these are several tiles if there are many, because a
  // work-item costs as much as about a hundred products.
  int64_t RowsOfItem() const {
    if (!steps_->options().ranges) return tile_.rows;
    const int64_t tiles = CeilDiv(product_.rows, tile_.rows);
    const int64_t panels = Panels() * product_.groups;
    const int64_t wanted = std::max<int64_t>(4 * steps_->options().items / panels, 1);
    return CeilDiv(tiles, wanted) * tile_.rows;
  }

  // Returns true if each vector of sums can be stored separately: the epilogue is short enough to
  // be repeated for each of them, and packed columns are whole vectors.
  bool IsSimple() const {
    return k_.HasShortEpilogue() && (!product_.packing || product_.columns % width_ == 0);
  }

  void StoreSums(const std::string& row_stride) {
    const bool overlaps = !product_.packing;
    const std::string columns = overlaps ? "" : k_.Int(product_.columns);
    for (int r = 0; r < tile_.rows; ++r) {
      k_.Open("if (m + " + Decimal(r) + " < end)");
      const std::string at = "at" + Decimal(r);
      k_.Line("const int " + at + " = first + (m + " + Decimal(r) + ") * " + row_stride + ";");
      for (int v = 0; v < tile_.vectors; ++v) {
        const std::string offset = Decimal(int64_t{v} * width_);
        if (!overlaps && v > 0) k_.Open("if (n + " + offset + " < " + columns + ")");
        k_.StoreResult(Sum(r, v), at + " + " + offset, width_, "channel + " + offset);
        if (!overlaps && v > 0) k_.Close();
      }
      k_.Close();
    }
  }

  // Copies the sums to an array, and stores as many of them as there are columns.
  void StoreThroughMemory(const std::string& row_stride, const std::string& columns) {
    k_.Line(vector_ + " tile[" + Decimal(int64_t{tile_.rows} * tile_.vectors) + "];");
    for (int r = 0; r < tile_.rows; ++r) {
      for (int v = 0; v < tile_.vectors; ++v) {
        k_.Line("tile[" + Decimal(int64_t{r} * tile_.vectors + v) + "] = " + Sum(r, v) + ";");
      }
    }
    k_.Line("const int width = min(" + Decimal(panel()) + ", " + columns + " - n);");
    k_.Open("for (int r = 0; r < min(" + Decimal(tile_.rows) + ", end - m); ++r)");
    k_.Line("const int at = first + (m + r) * " + row_stride + ";");
    k_.Line("int c = 0;");
    if (k_.StoresVectors()) {
      k_.Open("for (; c + " + Decimal(width_) + " <= width; c += " + Decimal(width_) + ")");
      k_.Line("const " + vector_ + " sum = tile[r * " + Decimal(tile_.vectors) + " + c / " +
              Decimal(width_) + "];");
      k_.StoreResult("sum", "at + c", width_, "channel + c");
      k_.Close();
    }
    // Without stores of vectors the loop is over all columns. Epilogues of integers are long: half
    // a vector of them takes less time if it is vectorised.
    const bool is_short = k_.StoresVectors() && !integers_;
    k_.Open(std::string(is_short ? "FEW_TIMES " : "") + "for (; c < width; ++c)");
    k_.StoreResult(std::string("((private const ") + (integers_ ? "int" : "float") +
                       "*)tile)[r * " + Decimal(panel()) + " + c]",
                   "at + c", 1, "channel + c");
    k_.Close();
    k_.Close();
  }

  StepWriter* const steps_;
  KernelBuilder k_;
  Product product_;
  const int width_;
  const Tile tile_;
  const bool integers_;
  const std::string vector_;
  const TfLiteType left_, right_;
  size_t sharing_ = 0;      // KernelChoice::sharing if possible, else 0
  bool in_shared_ = false;  // the current row of the filter is in local memory
  std::string rows_, columns_, flip_;
};

bool IsConstant(const KernelBuilder& k, size_t input) {
  return !k.has_input(input) || k.value(k.operation().inputs[input]).constant();
}

// ---- Convolutions -------------------------------------------------------------------------------

// Positions of the windows of the tile's rows in the image: a<r> points to the first pixel. If
// pixels may be outside, y<r> and x<r> are its coordinates, and an offset o<r> replaces the
// pointer.
class Windows {
 public:
  Windows(TileWriter* writer, const Window& window, const Shape& image, const Shape& out,
          const Buffer& in, const std::string& first_channel)
      : writer_(*writer), k_(writer->kernel()), window_(window), in_(in), first_(first_channel) {
    height_ = k_.Int(image[1]);
    width_ = k_.Int(image[2]);
    depth_ = k_.Int(in.texels ? image[3] / kTexelWidth : image[3]);
    out_height_ = k_.Int(out[1]);
    out_width_ = k_.Int(out[2]);
    stride_y_ = k_.Int(window.stride_y);
    stride_x_ = k_.Int(window.stride_x);
    const bool padded = window.top != 0 || window.left != 0;
    top_ = padded ? " - " + k_.Int(window.top) : "";
    left_ = padded ? " - " + k_.Int(window.left) : "";
  }

  // Accumulates windows that lie within the image: each of their rows has `run` contiguous
  // elements.
  void AddWhole(int64_t run) {
    DeclarePositions(true);
    const std::string rows = k_.Int(window_.height), pitch = "pitch";
    k_.Line("const int pitch = " + k_.Int(window_.dilation_y) + " * " + width_ + " * " + depth_ +
            ";");
    k_.Open("for (int wy = 0; wy < " + rows + "; ++wy)");
    writer_.AddRun(run);
    for (int r = 0; r < writer_.tile().rows; ++r) {
      k_.Line("a" + Decimal(r) + " += pitch;");
    }
    k_.Close();
  }

  // Accumulates windows that may reach beyond the image, pixel by pixel, each with `run` elements.
  void AddPixels(int64_t run) {
    const std::string zeros = in_.texels ? "-1" : writer_.Padding(run);
    DeclarePositions(false);
    const std::string rows = k_.Int(window_.height), columns = k_.Int(window_.width);
    const std::string step_y = k_.Int(window_.dilation_y), step_x = k_.Int(window_.dilation_x);
    k_.Open("for (int wy = 0; wy < " + rows + "; ++wy)");
    k_.Open("for (int wx = 0; wx < " + columns + "; ++wx)");
    k_.Line("const int dy = wy * " + step_y + ", dx = wx * " + step_x + ";");
    k_.Line("const int step = (dy * " + width_ + " + dx) * " + depth_ + ";");
    for (int r = 0; r < writer_.tile().rows; ++r) {
      const std::string n = Decimal(r);
      k_.Line((in_.texels ? "const int" : ConstPointer(writer_.left())) + " a" + n + " = (uint)(y" +
              n + " + dy) < (uint)" + height_ + " && (uint)(x" + n + " + dx) < (uint)" + width_ +
              " ? " + First() + " + (o" + n + " + step) : " + zeros + ";");
    }
    if (in_.texels) {
      writer_.OpenDepth(k_.Int(run / kTexelWidth));
      writer_.AccumulateTexels(in_.name, "d", true);
      writer_.CloseDepth();
    } else {
      writer_.AddRun(run);
    }
    k_.Close();
    k_.Close();
  }

 private:
  void DeclarePositions(bool pointers) {
    for (int r = 0; r < writer_.tile().rows; ++r) {
      const std::string n = Decimal(r), x = "x" + n, y = "y" + n, row = "row" + n;
      k_.Line("const int " + row + " = " + writer_.Row(r) + ";");
      k_.Line("const int " + x + " = " + row + " % " + out_width_ + " * " + stride_x_ + left_ +
              ";");
      k_.Line("const int " + y + " = " + row + " / " + out_width_ + " % " + out_height_ + " * " +
              stride_y_ + top_ + ";");
      const std::string offset = "((" + row + " / (" + out_width_ + " * " + out_height_ + ") * " +
                                 height_ + " + " + y + ") * " + width_ + " + " + x + ") * " +
                                 depth_ + first_;
      k_.Line(pointers
                  ? ConstPointer(writer_.left()) + " a" + n + " = " + First() + " + " + offset + ";"
                  : "const int o" + n + " = " + offset + ";");
    }
  }

  std::string First() const { return in_.texels ? in_.name + "_first" : in_.name; }

  TileWriter& writer_;
  KernelBuilder& k_;
  const Window& window_;
  const Buffer in_;
  const std::string first_;
  std::string height_, width_, depth_, out_height_, out_width_, stride_y_, stride_x_, top_, left_;
};

bool IsOnePixel(const Window& window) {
  return window.height == 1 && window.width == 1 && window.stride_y == 1 && window.stride_x == 1 &&
         window.top == 0 && window.left == 0 && window.bottom == 0 && window.right == 0;
}

bool IsPadded(const Window& window) {
  return window.top != 0 || window.left != 0 || window.bottom != 0 || window.right != 0;
}

// Appends the accumulation over the rows of a dense matrix with `depth` elements each, which are
// adjacent or, if the matrix is transposed, `step` elements apart ("": adjacent).
void AddRows(TileWriter* writer, const std::string& in, int64_t depth, const std::string& step) {
  KernelBuilder& k = writer->kernel();
  const std::string pitch = step.empty() ? " * " + k.Int(depth) : "";
  for (int r = 0; r < writer->tile().rows; ++r) {
    k.Line(ConstPointer(writer->left()) + " a" + Decimal(r) + " = " + in + " + " + writer->Row(r) +
           pitch + ";");
  }
  writer->AddRun(depth, step);
}

// Appends the accumulation over the rows of a matrix read as texels, `depth` of them per row.
void AddTexelRows(TileWriter* writer, const Buffer& in, const std::string& depth) {
  KernelBuilder& k = writer->kernel();
  for (int r = 0; r < writer->tile().rows; ++r) {
    k.Line("const int a" + Decimal(r) + " = " + in.name + "_first + " + writer->Row(r) + " * " +
           depth + ";");
  }
  k.Open("for (int d = 0; d < " + depth + "; ++d)");
  writer->AccumulateTexels(in.name, "d", false);
  k.Close();
}

}  // namespace

std::vector<KernelChoice> TileChoices(const PlanOptions& options) {
  std::vector<KernelChoice> choices;
  const auto add = [&](std::span<const Tile> tiles) {
    for (const Tile& tile : tiles) {
      choices.push_back({.rows = tile.rows, .vectors = tile.vectors});
    }
  };
  if (options.vector_width == 0) return choices;
  if (!options.ranges) {
    add(kItemTiles);
  } else {
    options.vector_width == 16 ? add(kWideTiles) : add(kNarrowTiles);
    add(std::span<const Tile>(&kSmallTile, options.vector_width == 16 ? 1 : 0));
  }
  return choices;
}

bool EmitTiles(const compiler::Conv2d& kind, StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  if (steps->options().vector_width == 0 || !IsConstant(info, 1) || !IsConstant(info, 2)) {
    return false;
  }
  const Shape &image = info.shape(info.operation().inputs[0]),
              &filter = info.shape(info.operation().inputs[1]),
              &out = info.shape(info.operation().output());
  Product product;
  product.groups = kind.groups;
  product.rows = int64_t{out[0]} * out[1] * out[2];
  product.columns = filter[0] / kind.groups;
  product.depth = int64_t{filter[1]} * filter[2] * filter[3];
  const Window& window = kind.window;
  const bool whole =
      !IsPadded(window) && (window.dilation_x == 1 || window.width == 1) && kind.groups == 1;
  product.group_stride = product.columns;
  product.row_stride = filter[0];
  product.packing = Packing{.filter = info.operation().inputs[1],
                            .bias = info.bias(),
                            .groups = kind.groups,
                            .depth = product.depth,
                            .columns = product.columns,
                            .group_stride = product.columns * product.depth,
                            .depth_stride = 1,
                            .column_stride = product.depth,
                            .run = whole ? int64_t{filter[2]} * filter[3] : filter[3]};
  if (compiler::ElementCount(out) == 0 || product.depth == 0) return false;
  constexpr int64_t kFewProducts = 64;
  product.small = product.depth < kFewProducts && !IsOnePixel(kind.window);

  TileWriter writer(steps, product);
  KernelBuilder& k = writer.kernel();
  const ValueId source = k.operation().inputs[0];
  const bool texels = filter[3] % kTexelWidth == 0 && steps->ReadsTexels(source);
  const Buffer in = texels ? k.Texels(source) : k.Input(0);
  writer.Declare();
  writer.Open();
  if (IsOnePixel(window) && kind.groups == 1) {
    texels ? AddTexelRows(&writer, in, k.Int(filter[3] / kTexelWidth))
           : AddRows(&writer, in.name, filter[3], "");
  } else {
    const std::string first =
        kind.groups == 1 ? "" : " + group * " + k.Int(texels ? filter[3] / kTexelWidth : filter[3]);
    Windows windows(&writer, window, image, out, in, first);
    whole && !texels ? windows.AddWhole(int64_t{filter[2]} * filter[3])
                     : windows.AddPixels(filter[3]);
  }
  writer.Store();
  return true;
}

namespace {

// Emits a product whose constant right side is shared by all batches: the batches are rows of a
// single product.
void EmitWithFilter(const compiler::MatMul& kind, int64_t rows, int64_t columns, int64_t depth,
                    StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  Product product;
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.row_stride = columns;
  product.packing = Packing{.filter = info.operation().inputs[1],
                            .bias = info.bias(),
                            .depth = depth,
                            .columns = columns,
                            .depth_stride = kind.transpose_b ? 1 : columns,
                            .column_stride = kind.transpose_b ? depth : 1,
                            .run = depth};
  TileWriter writer(steps, product);
  KernelBuilder& k = writer.kernel();
  const ValueId left = k.operation().inputs[0];
  const bool texels = !kind.transpose_a && depth % kTexelWidth == 0 && steps->ReadsTexels(left);
  const Buffer in = texels ? k.Texels(left) : k.Input(0);
  const std::string step = kind.transpose_a ? k.Int(rows) : "";
  writer.Declare();
  writer.Open();
  texels ? AddTexelRows(&writer, in, k.Int(depth / kTexelWidth))
         : AddRows(&writer, in.name, depth, step);
  writer.Store();
}

// Emits one product per batch, for a right side that is not transposed, if EmitWithFilter does not
// apply.
void EmitWithMatrix(const compiler::MatMul& kind, int64_t rows, int64_t columns, int64_t depth,
                    StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  const compiler::Operation& operation = info.operation();
  const auto batches_of = [&](ValueId id) {
    const Shape& shape = info.shape(id);
    return Shape(shape.begin(), shape.end() - 2);
  };
  const Shape batches = batches_of(operation.output());
  Product product;
  product.groups = compiler::ElementCount(batches);
  product.rows = rows;
  product.columns = columns;
  product.depth = depth;
  product.group_stride = rows * columns;
  product.row_stride = columns;
  TileWriter writer(steps, product);
  KernelBuilder& k = writer.kernel();
  const Buffer left = k.Input(0), right = k.Input(1);
  k.Line("const int group = get_global_id(2);");
  k.BroadcastIndex("left", batches_of(operation.inputs[0]), batches, "group");
  k.BroadcastIndex("right", batches_of(operation.inputs[1]), batches, "group");
  const std::string left_size = k.Int(rows * depth), right_size = k.Int(depth * columns);
  k.Line(ConstPointer(left.type) + " a = " + left.name + " + left * " + left_size + ";");
  const std::string step = kind.transpose_a ? k.Int(rows) : "";
  writer.Declare(right.name + " + right * " + right_size);
  writer.Open();
  AddRows(&writer, "a", depth, step);
  writer.Store();
}

}  // namespace

bool EmitTiles(const compiler::MatMul& kind, StepWriter* steps) {
  const KernelBuilder info = steps->NewKernel();
  const compiler::Operation& operation = info.operation();
  if (steps->options().vector_width == 0) return false;
  const Shape &a = info.shape(operation.inputs[0]), &b = info.shape(operation.inputs[1]),
              &out = info.shape(operation.output());
  const int64_t columns = out.back(), rows = out[out.size() - 2];
  const int64_t depth = kind.transpose_b ? b.back() : b[b.size() - 2];
  const int64_t all_rows = compiler::ElementCount(out) / std::max<int64_t>(columns, 1);
  if (all_rows == 0 || columns == 0 || depth == 0) return false;
  const bool one_matrix = compiler::ElementCount(b) == depth * columns &&
                          compiler::ElementCount(a) == depth * all_rows &&
                          (!kind.transpose_a || rows == all_rows);
  if (one_matrix && info.value(operation.inputs[1]).constant() && IsConstant(info, 2) &&
      !(info.sums_integers() && kind.transpose_a)) {
    EmitWithFilter(kind, all_rows, columns, depth, steps);
    return true;
  }
  constexpr int kMinColumns = 4;
  if (info.sums_integers() || kind.transpose_b || info.has_input(2) || columns < kMinColumns) {
    return false;
  }
  EmitWithMatrix(kind, rows, columns, depth, steps);
  return true;
}

}  // namespace deputy::gpu_cl
