// SPDX-License-Identifier: Apache-2.0
//
// bfloat16 products for x86-64 with AMX, with the panels of the AVX512-BF16 kernels. AVX512-BF16
// instructions convert to bfloat16.
//
// One instruction adds the products of 32 values of depth to a sum: the products with even indices
// and those with odd indices are added in two separate float32 sums, then both sums are added. The
// instruction rounds to nearest and treats denormals as zero whatever the processor's settings are.
// The depth of a part is always divided in the same way, so that a sum does not depend on the tile
// it is in.
#include "kernels/cpu/x86_64/avx512_bf16/bf16.inc"
#include "kernels/cpu/x86_64/amx/tiles.inc"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512BF16__)

namespace deputy {
namespace {

// Number of bfloat16 values in a tile's row.
constexpr int kPieceValues = kTileBytes / 2;
// Number of rows processed at once, in two tiles.
constexpr int kRowsBf16 = 2 * kTileRows;

// Division of a part's depth into whole tile rows and a remainder, which is copied and padded with
// zeros. A depth smaller than a tile row is a piece of its own.
struct DepthCut {
  int piece, whole, remainder;

  explicit DepthCut(int depth) {
    piece = depth == 0 ? 2 : depth < kPieceValues ? depth : kPieceValues;
    whole = depth / piece * piece;
    remainder = depth - whole;
  }
};

// Two tiles of rows of the left operand. A tile that would extend past the last row begins earlier
// and contains rows that are already computed.
struct LeftRows {
  int first[2];    // index in the job of each tile's first row
  int skipped[2];  // number of rows of each tile that are already computed
  int rows[2];
};

// Multiplies all rows of a job by one panel of columns.
class PanelBf16 {
 public:
  PanelBf16(const GemmTileBf16& job, const DepthCut& cut, int tile_rows, int column)
      : job_(job),
        cut_(cut),
        tile_rows_(tile_rows),
        weights_(reinterpret_cast<const char*>(job.b) +
                 static_cast<size_t>(column / kPanelColumns) * PanelBytes(job)),
        column_(column),
        columns_(job.columns - column) {}

  void Run() {
    for (int row = 0; row < job_.rows; row += kRowsBf16) {
      LeftRows left = {};
      int tiles = 0;
      for (int first = row; tiles < 2 && first < job_.rows; first += kTileRows, ++tiles) {
        const int count = job_.rows - first < tile_rows_ ? job_.rows - first : tile_rows_;
        left.skipped[tiles] = tile_rows_ - count;
        left.first[tiles] = first;
        left.rows[tiles] = count;
      }
      if (columns_ > 16) {
        tiles == 2 ? Block<true, true>(left) : Block<false, true>(left);
      } else {
        tiles == 2 ? Block<true, false>(left) : Block<false, false>(left);
      }
    }
  }

 private:
  static size_t PanelBytes(const GemmTileBf16& job) {
    return static_cast<size_t>(job.parts) * static_cast<size_t>(job.depth) * (kPanelBytes / 2);
  }
  size_t RowBytes() const { return job_.a_stride * 2; }
  const char* Row(const LeftRows& left, int tile, int part) const {
    return reinterpret_cast<const char*>(job_.a[part]) +
           static_cast<size_t>(left.first[tile] - left.skipped[tile]) * RowBytes();
  }

  template <bool kTwoRows, bool kTwoColumns>
  void Block(const LeftRows& left) {
    FetchAddend(job_, left.first[0], left.rows[0] + left.rows[kTwoRows] * kTwoRows, column_);
    StartFrom<kTwoRows, kTwoColumns>(job_.bias + column_);
    const char* weights = weights_;
    const auto piece = static_cast<size_t>(cut_.piece);
    for (int part = 0; part < job_.parts; ++part) {
      TileAt at[2] = {{Row(left, 0, part), RowBytes()}, {Row(left, kTwoRows, part), RowBytes()}};
      for (int done = 0; done < cut_.whole; done += cut_.piece) {
        AddProducts<ProductsBf16, kTwoRows, kTwoColumns>(at, weights, kTileBytes, kPanelBytes);
        weights += piece / 2 * kPanelBytes;
        at[0].rows += 2 * piece;
        at[1].rows += 2 * piece;
      }
      if (cut_.remainder != 0) {
        AddRemainder<kTwoRows, kTwoColumns>(at, weights);
        weights += static_cast<size_t>(cut_.remainder) / 2 * kPanelBytes;
      }
    }
    StoreSums<kTwoRows, kTwoColumns>(sums_, kPanelBytes, sizeof sums_ / 2);
    for (int tile = 0; tile < 1 + kTwoRows; ++tile) {
      StoreRows(left.first[tile], left.rows[tile],
                sums_ + (tile * kTileRows + left.skipped[tile]) * kPanelColumns);
    }
  }

  // Adds the remainder of a part's depth. Both operands are padded with zeros, because memory after
  // the remainder could contain NaN.
  template <bool kTwoRows, bool kTwoColumns>
  void AddRemainder(const TileAt at[2], const char* weights) {
    const size_t bytes = 2 * static_cast<size_t>(cut_.remainder);
    const __mmask16 lanes = FirstLanes(cut_.remainder / 2);
    for (int tile = 0; tile < 1 + kTwoRows; ++tile) {
      for (int r = 0; r < tile_rows_; ++r) {
        const char* from = at[tile].rows + static_cast<size_t>(r) * at[tile].stride;
        _mm512_store_si512(left_remainder_[tile][r], _mm512_maskz_loadu_epi32(lanes, from));
      }
    }
    std::memcpy(weights_remainder_, weights, bytes / 4 * kPanelBytes);
    std::memset(weights_remainder_ + bytes / 4 * kPanelBytes, 0,
                sizeof weights_remainder_ - bytes / 4 * kPanelBytes);
    const TileAt remainder[2] = {{left_remainder_[0][0], kTileBytes},
                                 {left_remainder_[1][0], kTileBytes}};
    AddProducts<ProductsBf16, kTwoRows, kTwoColumns>(remainder, weights_remainder_, kTileBytes,
                                                     kPanelBytes);
  }

  void StoreRows(int first, int count, const float* sums) const {
    if (job_.epilogue != nullptr) {
      const int width = columns_ < kPanelColumns ? columns_ : kPanelColumns;
      StoreRowsWithEpilogue(job_, first, count, column_, width, sums, kPanelColumns);
      return;
    }
    const __m512 low = _mm512_set1_ps(job_.low), high = _mm512_set1_ps(job_.high);
    float* out = job_.out + static_cast<size_t>(first) * job_.out_stride + column_;
    for (int r = 0; r < count; ++r, sums += kPanelColumns, out += job_.out_stride) {
      StoreClamped(_mm512_load_ps(sums), low, high, out, columns_);
      if (columns_ > 16) {
        StoreClamped(_mm512_load_ps(sums + 16), low, high, out + 16, columns_ - 16);
      }
    }
  }

  const GemmTileBf16& job_;
  const DepthCut& cut_;
  const int tile_rows_;
  const char* weights_;
  int column_, columns_;
  alignas(64) float sums_[kRowsBf16 * kPanelColumns] = {};
  alignas(64) char left_remainder_[2][kTileRows][kTileBytes];
  alignas(64) char weights_remainder_[kTileRows * kPanelBytes];
};

void Multiply(const GemmTileBf16& tile) {
  const DepthCut cut(tile.depth);
  const int tile_rows = tile.rows < kTileRows ? tile.rows : kTileRows;
  if (tile_rows == 0) return;
  const TilesInUse use(TileConfig(tile_rows, 2 * cut.piece));
  for (int column = 0; column < tile.columns; column += kPanelColumns) {
    PanelBf16(tile, cut, tile_rows, column).Run();
  }
}

}  // namespace

constexpr GemmBf16Kernels kGemmBf16Amx = {.name = "amx-bf16",
                                          .rows = kRowsBf16,
                                          .columns = kPanelColumns,
                                          .tile = &Multiply,
                                          .from_float = &FromFloat};

}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512bf16"
#endif
