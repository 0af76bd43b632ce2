// SPDX-License-Identifier: Apache-2.0
//
// int8 products for x86-64 with AMX: both operands are signed bytes, sums are exact. AVX-512 code
// requantises the sums of one block while the next one is multiplied.
#include "kernels/cpu/x86_64/avx512_vnni/int8.inc"
#include "kernels/cpu/x86_64/amx/tiles.inc"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

namespace deputy {
namespace {

constexpr int kRowsS8 = 8, kRunS8 = 4;

// Division of a part's depth into pieces of a tile's row. The last piece ends with the part and may
// overlap the previous one; the overlapping values are multiplied by zero weights.
struct DepthCut {
  int piece;      // bytes of depth in a tile's row
  int whole;      // bytes of whole pieces in a part
  int remainder;  // bytes of a part after its whole pieces
  bool valid;     // depth > 0; tiles cannot be empty

  // Maximum number of parts whose remainder weights are stored.
  static constexpr int kMaxParts = 8;
  DepthCut(int parts, int depth) : valid(depth > 0) {
    // More than kMaxParts parts with remainders are divided into runs, which is slow but does not
    // occur in practice.
    piece = depth <= kTileBytes                             ? depth
            : depth % kTileBytes == 0 || parts <= kMaxParts ? kTileBytes
                                                            : kRunS8;
    whole = valid ? depth / piece * piece : 0;
    remainder = depth - whole;
    if (!valid) piece = kRunS8;
  }
};

// Zero-padded weights of the depth remainder of each part of a panel.
class DepthRemainders {
 public:
  DepthRemainders(const DepthCut& cut, int parts, int depth)
      : cut_(cut), parts_(parts), depth_(depth) {
    const size_t used = cut_.remainder == 0 ? 0 : static_cast<size_t>(parts_);
    std::memset(weights_, 0, used * sizeof weights_[0]);
  }
  void Pack(const int8_t* panel) {
    if (cut_.remainder == 0) return;
    const size_t front = kTileBytes - static_cast<size_t>(cut_.remainder);
    for (int part = 0; part < parts_;
         ++part, panel += static_cast<size_t>(depth_) * kPanelColumns) {
      std::memcpy(weights_[part] + front / 4 * kPanelBytes,
                  panel + static_cast<size_t>(cut_.whole) * kPanelColumns,
                  static_cast<size_t>(cut_.remainder) * kPanelColumns);
    }
  }
  const char* Of(int part) const { return weights_[part]; }

 private:
  const DepthCut& cut_;
  const int parts_, depth_;
  alignas(64) char weights_[DepthCut::kMaxParts][kTileRows * kPanelBytes];
};

// A tile of up to 16 rows of a job; it may contain unrelated rows before, between and after them.
struct LeftTile {
  TileAt at;
  int first, rows;              // first row in the job, and number of rows of the job in the tile
  uint8_t position[kTileRows];  // position in the tile of each row of the job
};

// Finds tiles for the rows of a job, which have arbitrary addresses. Windows on an image are
// equidistant in a line, and the distance between lines is a multiple of that distance; a tile
// therefore continues in the next line, with unused rows in between.
class TileFinder {
 public:
  explicit TileFinder(const GemmRowsS8& job)
      : rows_(job.a), count_(job.rows), tile_rows_(Min(kTileRows, job.rows)) {
    lowest_ = highest_ = Row(0);
    for (int r = 1; r < count_; ++r) {
      lowest_ = Row(r) < lowest_ ? Row(r) : lowest_;
      highest_ = Row(r) > highest_ ? Row(r) : highest_;
    }
  }
  int tile_rows() const { return tile_rows_; }

  // Finds a tile that contains row `first` and as many of the following rows as possible.
  void Find(int first, LeftTile* tile) const {
    const ptrdiff_t step = StepFrom(first);
    const ptrdiff_t span = (tile_rows_ - 1) * step;
    tile->first = first;
    tile->rows = 1;
    tile->position[0] = 0;
    tile->at = {Row(first), static_cast<size_t>(step)};
    if (step == 0) return;
    AddRows(step, tile);
    // All memory between two rows of the job is readable. Near the last rows the tile is moved
    // backwards, to begin before row `first`.
    while (!IsWithin(tile->at.rows + span) && IsWithin(tile->at.rows - step)) MoveBack(step, tile);
    if (!IsWithin(tile->at.rows + span)) {
      tile->rows = 1;
      tile->position[0] = 0;
      tile->at = {Row(first), 0};
    }
  }

 private:
  const char* Row(int row) const { return static_cast<const char*>(rows_[row]); }
  bool IsWithin(const char* row) const { return lowest_ <= row && row <= highest_; }

  // Returns the distance between the rows of row `first`'s line; 0 if the job has no row after it
  // or a tile has only one row.
  ptrdiff_t StepFrom(int first) const {
    if (first + 1 >= count_ || tile_rows_ == 1) return 0;
    const ptrdiff_t step = Row(first + 1) - Row(first);
    if (first + 2 >= count_) return step;
    // If row `first` is the last of its line, the distance in the next line is used.
    const ptrdiff_t next = Row(first + 2) - Row(first + 1);
    return step == next || next <= 0 || step % next != 0 ? step : next;
  }
  void AddRows(ptrdiff_t step, LeftTile* tile) const {
    for (int row = tile->first + 1; row < count_ && tile->rows < tile_rows_; ++row) {
      const ptrdiff_t distance = Row(row) - tile->at.rows;
      const ptrdiff_t position = distance / step;
      if (position * step != distance || position <= tile->position[tile->rows - 1] ||
          position >= tile_rows_) {
        return;
      }
      tile->position[tile->rows++] = static_cast<uint8_t>(position);
    }
  }
  void MoveBack(ptrdiff_t step, LeftTile* tile) const {
    if (tile->position[tile->rows - 1] + 1 >= tile_rows_) --tile->rows;
    for (int i = 0; i < tile->rows; ++i) ++tile->position[i];
    tile->at.rows -= step;
  }

  const void* const* rows_;
  int count_, tile_rows_;
  const char* lowest_;
  const char* highest_;
};

// Sums of two tiles of rows and a panel of columns.
struct BlockSums {
  static constexpr int kTileValues = kTileRows * kPanelColumns;
  alignas(64) int32_t values[2 * kTileValues] = {};
};

// A panel of columns of a job, which multiplies tiles of rows and stores the results.
class PanelS8 {
 public:
  PanelS8(const GemmRowsS8& job, const Requantization& requantization, const DepthCut& cut,
          DepthRemainders* remainders, int column)
      : job_(job),
        requantization_(requantization),
        cut_(cut),
        remainders_(*remainders),
        weights_(job.b + static_cast<size_t>(column / kPanelColumns) * job.panel_stride),
        bias_(job.bias + column),
        column_(column),
        columns_(Min(job.columns - column, kPanelColumns)),
        exist_(FirstBytes(columns_)) {
    remainders->Pack(weights_);
    for (int v = 0; v < 2; ++v) {
      const __mmask16 lanes = FirstLanes(columns_ - 16 * v);
      factors_[v] = _mm512_maskz_loadu_ps(lanes, job.factors + column + 16 * v);
    }
  }

  // Multiplies `count` (1 or 2) tiles of rows by the panel.
  void Multiply(const LeftTile* tiles, int count, BlockSums* sums) const {
    if (job_.addend != nullptr) FetchAddend(tiles, count);
    if (columns_ > 16) {
      count == 2 ? Products<true, true>(tiles, sums) : Products<false, true>(tiles, sums);
    } else {
      count == 2 ? Products<true, false>(tiles, sums) : Products<false, false>(tiles, sums);
    }
  }

  void Store(const LeftTile* tiles, int count, const BlockSums& sums) const {
    for (int i = 0; i < count; ++i) {
      const int32_t* from = sums.values + i * BlockSums::kTileValues;
      job_.addend == nullptr ? StoreRows<false>(tiles[i], from) : StoreRows<true>(tiles[i], from);
    }
  }

 private:
  // Prefetches the addend: its rows are too far apart for the hardware prefetcher.
  void FetchAddend(const LeftTile* tiles, int count) const {
    for (int i = 0; i < count; ++i) {
      const int8_t* at =
          job_.addend->values + static_cast<size_t>(tiles[i].first) * job_.out_stride + column_;
      for (int r = 0; r < tiles[i].rows; ++r, at += job_.out_stride) {
        _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T0);
      }
    }
  }

  template <bool kTwoRows, bool kTwoColumns>
  void Products(const LeftTile* tiles, BlockSums* sums) const {
    StartFrom<kTwoRows, kTwoColumns>(bias_);
    const auto* weights = reinterpret_cast<const char*>(weights_);
    TileAt left[2] = {tiles[0].at, tiles[kTwoRows].at};
    const size_t piece = static_cast<size_t>(cut_.piece);
    for (int part = 0; part < job_.parts; ++part) {
      TileAt at[2] = {left[0], left[1]};
      for (int done = 0; done < cut_.whole; done += cut_.piece) {
        AddProducts<ProductsS8, kTwoRows, kTwoColumns>(at, weights, kTileBytes, kPanelBytes);
        weights += piece * kPanelColumns;
        at[0].rows += piece;
        at[1].rows += piece;
      }
      if (cut_.remainder != 0) {
        const size_t back = piece - static_cast<size_t>(cut_.remainder);
        at[0].rows -= back;
        at[1].rows -= back;
        AddProducts<ProductsS8, kTwoRows, kTwoColumns>(at, remainders_.Of(part), kTileBytes,
                                                       kPanelBytes);
        weights += static_cast<size_t>(cut_.remainder) * kPanelColumns;
      }
      left[0].rows += job_.part_step;
      left[1].rows += job_.part_step;
    }
    StoreSums<kTwoRows, kTwoColumns>(sums->values, kPanelBytes,
                                     BlockSums::kTileValues * sizeof(int32_t));
  }

  __m512i Steps(const int32_t* sums, int vector) const {
    return requantization_.Steps(_mm512_load_si512(sums + 16 * vector), factors_[vector]);
  }

  // Requantises and stores the rows of a tile in pairs: two rows of a panel fill a vector of bytes.
  template <bool kAdds>
  void StoreRows(const LeftTile& tile, const int32_t* sums) const {
    int8_t* out = job_.out + static_cast<size_t>(tile.first) * job_.out_stride + column_;
    const StepSum add(kAdds ? *job_.addend : RowsAddendS8());
    const ptrdiff_t addend = kAdds ? job_.addend->values - job_.out : 0;
    for (int r = 0; r < tile.rows; r += 2) {
      const bool both = r + 1 < tile.rows;
      int8_t* const second = both ? out + job_.out_stride : out;
      const int32_t* const of_first = sums + tile.position[r] * kPanelColumns;
      const int32_t* const of_second = sums + tile.position[r + both] * kPanelColumns;
      const __m512i steps[4] = {Steps(of_first, 0), Steps(of_first, 1), Steps(of_second, 0),
                                Steps(of_second, 1)};
      __m512i bytes = requantization_.Narrow(steps);
      if constexpr (kAdds) {
        __m512i values = LoadPart<2>(bytes, 0, exist_, out + addend);
        values = LoadPart<2>(values, 1, exist_, second + addend);
        bytes = add(bytes, values);
      }
      StorePart<2>(bytes, 0, exist_, out);
      if (both) StorePart<2>(bytes, 1, exist_, second);
      out += 2 * job_.out_stride;
    }
  }

  const GemmRowsS8& job_;
  const Requantization& requantization_;
  const DepthCut& cut_;
  const DepthRemainders& remainders_;
  const int8_t* weights_;
  const int32_t* bias_;
  int column_, columns_;
  __mmask64 exist_;
  __m512 factors_[2];
};

// Computes a panel in blocks of two tiles; each block is stored while the next one is multiplied.
void RunPanel(const PanelS8& panel, const LeftTile* tiles, int count, BlockSums sums[2]) {
  int before = 0;
  for (int i = 0; i < count; i += 2) {
    const int now = Min(2, count - i);
    panel.Multiply(tiles + i, now, &sums[i / 2 % 2]);
    if (before != 0) panel.Store(tiles + i - 2, before, sums[(i / 2 + 1) % 2]);
    before = now;
  }
  panel.Store(tiles + (count - 1) / 2 * 2, before, sums[(count - 1) / 2 % 2]);
}

// Computes requantised rows with AMX, in groups of at most kMaxTiles tiles of rows: all tiles of a
// group are multiplied by a panel of weights while the panel is in the cache.
void RequantizedByTiles(const GemmRowsS8& job) {
  constexpr int kMaxTiles = 24;
  const Requantization requantization(job, job.columns);
  const DepthCut cut(job.parts, job.depth);
  const TileFinder finder(job);
  const TilesInUse use(TileConfig(finder.tile_rows(), cut.piece));
  DepthRemainders remainders(cut, job.parts, job.depth);
  BlockSums sums[2];
  for (int row = 0; row < job.rows;) {
    LeftTile tiles[kMaxTiles];
    int count = 0;
    for (; count < kMaxTiles && row < job.rows; ++count) {
      finder.Find(row, &tiles[count]);
      row += tiles[count].rows;
    }
    for (int column = 0; column < job.columns; column += kPanelColumns) {
      RunPanel(PanelS8(job, requantization, cut, &remainders, column), tiles, count, sums);
    }
  }
}

// Maximum number of values of a row that the VNNI kernel multiplies, and number of rows that are
// converted for it at once.
constexpr int kMaxVnniDepth = 512, kVnniRows = 24;

// Computes `job` with the VNNI kernel, from copies of the rows that are offset by 128.
void RequantizedOffsetRows(const GemmRowsS8& job) {
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
  const auto depth = static_cast<size_t>(job.depth);
  const __mmask64 exist = ~__mmask64{0} >> (64 - depth);
  alignas(64) char copies[kVnniRows * kMaxVnniDepth + 64];
  const void* rows[kVnniRows];
  GemmRowsS8 block = job;
  block.a = rows;
  block.part_step = depth;
  RowsAddendS8 addend;
  for (int row = 0; row < job.rows; row += kVnniRows) {
    block.rows = Min(job.rows - row, kVnniRows);
    char* to = copies;
    for (int r = 0; r < block.rows; ++r) {
      rows[r] = to;
      const char* from = static_cast<const char*>(job.a[row + r]);
      for (int part = 0; part < job.parts; ++part, from += job.part_step, to += depth) {
        const __m512i values = _mm512_maskz_loadu_epi8(exist, from);
        _mm512_mask_storeu_epi8(to, exist, _mm512_xor_si512(values, flips));
      }
    }
    block.out = job.out + static_cast<size_t>(row) * job.out_stride;
    if (job.addend != nullptr) {
      addend = *job.addend;
      addend.values += static_cast<size_t>(row) * job.out_stride;
      block.addend = &addend;
    }
    kGemmS8Avx512Vnni.requantized(block);
  }
}

// Computes requantised rows with the VNNI kernel, whose left operand is offset by 128: the bias is
// corrected by 128 times the sum of each column's weights.
void RequantizedByVnni(const GemmRowsS8& job) {
  const __m512i more = _mm512_set1_epi8(static_cast<char>(0x80));
  const int depth = job.parts * job.depth;
  for (int column = 0; column < job.columns; column += kChunk) {
    alignas(64) int32_t bias[kChunk];
    GemmRowsS8 block = job;
    block.columns = Min(job.columns - column, kChunk);
    block.b += static_cast<size_t>(column / kPanelColumns) * job.panel_stride;
    block.bias = bias;
    block.factors += column;
    block.out += column;
    RowsAddendS8 addend;
    if (job.addend != nullptr) {
      addend = *job.addend;
      addend.values += column;
      block.addend = &addend;
    }
    for (int v = 0; 16 * v < block.columns; ++v) {
      const int8_t* weights =
          block.b + static_cast<size_t>(v / 2) * job.panel_stride + 64 * (v % 2);
      __m512i sums = _mm512_setzero_si512();
      for (int d = 0; d < depth; d += kRunS8, weights += kPanelBytes) {
        MultiplyAddFours(&sums, more, _mm512_loadu_si512(weights));
      }
      const __m512i own = _mm512_loadu_si512(job.bias + column + 16 * v);
      _mm512_store_si512(bias + 16 * v, _mm512_sub_epi32(own, sums));
    }
    RequantizedOffsetRows(block);
  }
}

// Computes requantised rows. If the parts are shallow, requantisation dominates, and VNNI is used,
// because it has the sums in registers.
void RequantizedRows(const GemmRowsS8& job) {
  const int deep = job.addend == nullptr ? 32 : 64;
  if (job.rows == 0) return;
  const bool is_shallow = job.depth <= deep && job.parts * job.depth <= kMaxVnniDepth;
  is_shallow ? RequantizedByVnni(job) : RequantizedByTiles(job);
}

// ---- Sums -------------------------------------------------------------------------------------

template <bool kTwoColumns>
void SumPanel(const GemmTileS8& tile, const DepthCut& cut, DepthRemainders* remainders,
              int column) {
  const size_t panel_bytes = static_cast<size_t>(tile.depth) * kPanelColumns;
  const int8_t* const panel = tile.b + static_cast<size_t>(column / kPanelColumns) * panel_bytes;
  remainders->Pack(panel);
  StartFrom<false, kTwoColumns>(tile.bias + column);
  const auto* weights = reinterpret_cast<const char*>(panel);
  const size_t piece = static_cast<size_t>(cut.piece);
  TileAt left[2] = {{reinterpret_cast<const char*>(tile.a), tile.a_stride}, {}};
  for (int done = 0; done < cut.whole; done += cut.piece) {
    AddProducts<ProductsS8, false, kTwoColumns>(left, weights, kTileBytes, kPanelBytes);
    weights += piece * kPanelColumns;
    left[0].rows += piece;
  }
  if (cut.remainder != 0) {
    left[0].rows -= piece - static_cast<size_t>(cut.remainder);
    AddProducts<ProductsS8, false, kTwoColumns>(left, remainders->Of(0), kTileBytes, kPanelBytes);
  }
  StoreSums<false, kTwoColumns>(tile.sums + column, tile.sums_stride * sizeof(int32_t), 0);
}

void GemmS8(const GemmTileS8& tile) {
  const DepthCut cut(1, tile.depth);
  const TilesInUse use(TileConfig(tile.rows, cut.piece));
  DepthRemainders remainders(cut, 1, tile.depth);
  for (int column = 0; column < tile.columns; column += kPanelColumns) {
    if (tile.columns - column > 16) {
      SumPanel<true>(tile, cut, &remainders, column);
    } else {
      SumPanel<false>(tile, cut, &remainders, column);
    }
  }
}

void LeftFromS8(const int8_t* values, size_t count, void* out) { std::memcpy(out, values, count); }

void LeftFromU8(const uint8_t* values, size_t count, void* out) {
  auto* const bytes = static_cast<uint8_t*>(out);
  const __m512i flips = _mm512_set1_epi8(static_cast<char>(0x80));
  for (size_t i = 0; i < count; i += kTileBytes) {
    const size_t left = count - i;
    const __mmask64 lanes = left >= 64 ? ~__mmask64{0} : (__mmask64{1} << left) - 1;
    const __m512i less = _mm512_xor_si512(_mm512_maskz_loadu_epi8(lanes, values + i), flips);
    _mm512_mask_storeu_epi8(bytes + i, lanes, less);
  }
}

}  // namespace

constexpr GemmS8Kernels kGemmS8Amx = {.name = "amx-int8",
                                      .rows = kRowsS8,
                                      .columns = kPanelColumns,
                                      .run = kRunS8,
                                      .left = LhsEncoding::kInt8,
                                      .left_from_s8 = &LeftFromS8,
                                      .left_from_u8 = &LeftFromU8,
                                      .tile = &GemmS8,
                                      .requantized = &RequantizedRows,
                                      .adds = true};
}  // namespace deputy

#else
#error "compile this file with -mavx512f -mavx512bw -mavx512dq -mavx512vl"
#endif
