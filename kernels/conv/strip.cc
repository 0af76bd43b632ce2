// SPDX-License-Identifier: Apache-2.0
//
// Computes layers strip by strip (core/fusion/strips.h): float32 CONV_2D (1x1, or by rows) and
// DEPTHWISE_CONV_2D, with the same functions as single layers.
#include <array>
#include <optional>

#include "kernels/conv/conv_rows.h"
#include "kernels/conv/depthwise.h"

namespace deputy {
namespace {

int64_t ReachOf(const WindowAxis& y) { return int64_t{y.filter - 1} * y.dilation + 1; }

// One of the layers of a group that is computed strip by strip.
class Layer {
 public:
  Layer(TfLiteContext* context, const StripLayer& layer)
      : data_(DataOf<ConvData>(layer.node)),
        fused_(context, layer.run, data_, TensorsOf(context, layer.node)),
        tensors_(fused_.tensors()),
        shape_(tensors_.shape),
        cpu_(data_.choice.cpu()),
        kind_(KindOf(data_)) {}

  enum class Kind : uint8_t { kNone, kPointwise, kDepthwise, kRows };
  // Returns how a convolution can be computed in strips.
  static Kind KindOf(const ConvData& data) {
    const bool pointwise = data.shape.IsPointwise() && data.shape.groups == 1;
    if (data.choice.Is(kGemmFloatConv) && pointwise) return Kind::kPointwise;
    if (data.choice.Is(kDepthwiseFloat)) return Kind::kDepthwise;
    return data.choice.Is(kRowsConv) ? Kind::kRows : Kind::kNone;
  }

  const ConvTensors& tensors() const { return tensors_; }
  int batches() const { return shape_.batches; }
  int rows() const { return shape_.y.output; }
  int64_t row_values() const { return int64_t{shape_.x.output} * shape_.output_channels; }
  RowRing<const float> input(int batch) const {
    const int64_t values = int64_t{shape_.x.input} * shape_.input_channels;
    return {Data<float>(tensors_.input) + batch * shape_.y.input * values, shape_.y.input, values};
  }
  RowRing<float> output(int batch) const {
    return {Data<float>(tensors_.output) + batch * rows() * row_values(), rows(), row_values()};
  }

  // Returns the maximum number of input rows that `count` adjacent output rows depend on.
  int64_t InputRows(int64_t count) const {
    return std::min<int64_t>((count - 1) * shape_.y.stride + ReachOf(shape_.y), shape_.y.input);
  }
  // Returns the first input row that an output row depends on.
  int64_t FirstInput(int64_t row) const { return Inside(shape_.y.Start(static_cast<int>(row))); }
  // Returns the row after the last input row that an output row depends on.
  int64_t LastInput(int64_t row) const {
    return Inside(shape_.y.Start(static_cast<int>(row)) + ReachOf(shape_.y));
  }

  // Returns an estimate of the work of an output row: its multiply-adds, and its stores.
  double RowWork() const {
    constexpr double kStore = 8;
    return static_cast<double>(row_values()) *
           (static_cast<double>(shape_.depth) * shape_.y.filter * shape_.x.filter + kStore);
  }

  // Returns the bytes of the memory shared by all workers.
  size_t SharedBytes() const {
    if (kind_ == Kind::kRows) return ConvRows::SharedBytes(shape_);
    const size_t values = kind_ == Kind::kDepthwise
                              ? FlatWeights::Values(shape_)
                              : static_cast<size_t>(shape_.output_channels) + kMaxTileColumns;
    return AlignedBytes(values * sizeof(float));
  }
  // Returns the bytes of scratch memory of each worker.
  size_t WorkerBytes() const {
    if (kind_ == Kind::kRows) return ConvRows::ScratchBytes(shape_, cpu_);
    return kind_ == Kind::kDepthwise ? DepthwiseRows::ScratchBytes(shape_) : 0;
  }

  // Prepares the layer before rows are computed; the buffer has SharedBytes() bytes.
  TfLiteStatus Begin(TfLiteContext* context, char* buffer) {
    float* const values = reinterpret_cast<float*>(buffer);
    const float* const bias = Data<float>(tensors_.bias);
    if (kind_ == Kind::kDepthwise) {
      const float* const weights = Data<float>(tensors_.filter);
      depthwise_.emplace(
          DepthwiseRows{shape_, cpu_, weights, bias, tensors_.float_range, Interior(shape_.x),
                        FlatWeights(shape_, weights, bias, values), tensors_.epilogue});
      return kTfLiteOk;
    }
    packed_ = PackedForRows(context, &data_, tensors_, cpu_);
    if (packed_ == nullptr) return kTfLiteError;
    if (kind_ == Kind::kRows) {
      by_rows_.emplace(tensors_, cpu_, packed_, buffer);
    } else {
      std::fill_n(std::copy_n(bias, shape_.output_channels, values), kMaxTileColumns, 0.0f);
      bias_ = values;
    }
    return kTfLiteOk;
  }

  // Computes output rows [first, last) of a batch element. May be called from several threads.
  void Make(const RowRing<const float>& in, int batch, int64_t first, int64_t last, char* scratch,
            const RowRing<float>& out) const {
    if (depthwise_) return depthwise_->Run(in, batch, first, last, scratch, out);
    if (by_rows_) {
      const auto begin = static_cast<int>(first), end = static_cast<int>(last);
      return by_rows_->Run(in, batch, {begin, end, 0, shape_.output_channels, end - begin}, scratch,
                           out);
    }
    for (int64_t row = first, count; row < last; row += count) {
      count = std::min({last - row, in.RunFrom(row), out.RunFrom(row)});
      Multiply(in.Row(row), int64_t{batch} * rows() + row, count, out, row);
    }
  }

 private:
  int64_t Inside(int64_t row) const { return std::clamp<int64_t>(row, 0, shape_.y.input); }

  // Computes `count` contiguous rows of a pointwise convolution from `row` of all batches on; they
  // are stored from row `out_row` of `out` on.
  void Multiply(const float* in, int64_t row, int64_t count, const RowRing<float>& out,
                int64_t out_row) const {
    const int64_t width = shape_.x.output;
    const auto depth = static_cast<size_t>(shape_.depth);
    const auto epilogue = PartOf(tensors_.epilogue, row * width, 0);
    const GemmF32 job = {&cpu_,
                         packed_,
                         0,
                         shape_.depth,
                         bias_,
                         tensors_.float_range.low,
                         tensors_.float_range.high,
                         out.Row(out_row),
                         static_cast<size_t>(shape_.output_channels),
                         epilogue ? &*epilogue : nullptr};
    const GemmPlan plan =
        PlanGemm(count * width, shape_.output_channels, shape_.depth, cpu_.gemm_f32.rows,
                 cpu_.gemm_f32.columns, depth * sizeof(float), 1);
    for (int task = 0; task < plan.tasks; ++task) {
      RunGemmF32(job, plan, task, [&](int64_t pixel, int) -> RowBlock<float> {
        return {in + pixel * shape_.depth, depth};
      });
    }
  }

  ConvData& data_;
  const FusedConv fused_;
  const ConvTensors& tensors_;
  const ConvShape& shape_;
  const CpuKernels& cpu_;
  const Kind kind_;
  std::optional<DepthwiseRows> depthwise_;
  std::optional<ConvRows> by_rows_;
  const PackedWeights<float>* packed_ = nullptr;
  const float* bias_ = nullptr;
};

// The layers of a group that is computed strip by strip, and the layout of its scratch memory.
class Strips {
 public:
  Strips(TfLiteContext* context, const StripRun& group) : rows_(group.rows) {
    for (const StripLayer& layer : group.layers) layers_[count_++].emplace(context, layer);
    int64_t rows = rows_;
    for (int n = count_ - 1; n >= 0; --n) {
      shared_bytes_ += At(n).SharedBytes();
      worker_bytes_ = std::max(worker_bytes_, At(n).WorkerBytes());
      if (n == 0) break;
      kept_[static_cast<size_t>(n - 1)] = rows = At(n).InputRows(rows);
    }
    for (int n = 0; n < count_ - 1; ++n) {
      ring_[static_cast<size_t>(n)] = worker_bytes_;
      worker_bytes_ +=
          AlignedBytes(static_cast<size_t>(Kept(n) * At(n).row_values()) * sizeof(float));
    }
  }

  size_t ScratchBytes(int threads) const {
    // A minimum of one unit avoids declaring 0 bytes.
    return std::max(AlignedBytes(shared_bytes_), kTensorAlignment) +
           std::max(static_cast<size_t>(threads) * AlignedBytes(worker_bytes_), kTensorAlignment);
  }

  TfLiteStatus Run(TfLiteContext* context) {
    const int threads = ThreadCount(context);
    Scratch shared, own;
    if (!shared.Acquire(context, shared_bytes_) ||
        !own.AcquireForWorkers(context, worker_bytes_, threads)) {
      return TensorError(context, Last().tensors().output, "out of memory for strips");
    }
    char* buffer = shared.data();
    for (int n = 0; n < count_; ++n) {
      DEPUTY_TRY(layers_[static_cast<size_t>(n)]->Begin(context, buffer));
      buffer += At(n).SharedBytes();
    }
    // Minimum number of rows of a block of a share.
    constexpr int64_t kMinRows = 8;
    const int64_t batches = Last().batches(), shares = CountShares(CeilDiv(threads, batches));
    const EvenCut cut(Last().rows(), 1, shares,
                      threads > 1 && Last().rows() >= 2 * kMinRows * shares ? 2 : 1);
    ParallelFor(context, static_cast<int>(batches * cut.parts()), [&](int task, int worker) {
      const int64_t part = task % cut.parts();
      MakeRows(static_cast<int>(task / cut.parts()), cut.Begin(part), cut.End(part),
               own.worker(worker));
    });
    return kTfLiteOk;
  }

 private:
  using Rows = std::array<int64_t, kMaxStripLayers>;

  const Layer& At(int n) const { return *layers_[static_cast<size_t>(n)]; }
  const Layer& Last() const { return At(count_ - 1); }
  int64_t Kept(int n) const { return kept_[static_cast<size_t>(n)]; }

  // Returns the number of shares of an image's rows, at most `max_shares`, with which the largest
  // share has the least work: rows at the borders of shares are computed twice.
  int64_t CountShares(int64_t max_shares) const {
    // Minimum factor by which more shares must reduce the work of the largest.
    constexpr double kMinGain = 1.05;
    const int64_t all_rows = Last().rows();
    int64_t best = 1;
    double least = WorkOf(all_rows);
    for (int64_t shares = 2; shares <= std::min(max_shares, all_rows); ++shares) {
      const double work = WorkOf(CeilDiv(all_rows, shares));
      if (work * kMinGain < least) best = shares, least = work;
    }
    return best;
  }

  // Returns the work of `rows` rows of the last layer.
  double WorkOf(int64_t rows) const {
    double work = 0;
    for (int n = count_ - 1; n >= 0; --n) {
      work += static_cast<double>(rows) * At(n).RowWork();
      rows = At(n).InputRows(rows);
    }
    return work;
  }

  RowRing<float> OutputOf(int n, int batch, char* scratch) const {
    if (n == count_ - 1) return At(n).output(batch);
    return {reinterpret_cast<float*>(scratch + ring_[static_cast<size_t>(n)]), Kept(n),
            At(n).row_values()};
  }

  RowRing<const float> InputOf(int n, int batch, char* scratch) const {
    if (n == 0) return At(n).input(batch);
    const RowRing<float> made = OutputOf(n - 1, batch, scratch);
    return {made.data, made.kept, made.row_values};
  }

  // Computes rows [first, last) of the last layer.
  void MakeRows(int batch, int64_t first, int64_t last, char* scratch) const {
    const size_t end = static_cast<size_t>(count_) - 1;
    // For each layer, the end of the rows computed so far and of the rows needed for the strip.
    Rows made{}, needed{};
    made[end] = first;
    for (int64_t row = first; row < last; row += rows_) {
      needed[end] = std::min<int64_t>(row + rows_, last);
      for (size_t n = end; n > 0; --n) {
        needed[n - 1] = layers_[n]->LastInput(needed[n] - 1);
        // Rows that no later layer reads are skipped.
        made[n - 1] = std::max(made[n - 1], layers_[n]->FirstInput(made[n]));
      }
      for (int n = 0; n < count_; ++n) {
        int64_t& done = made[static_cast<size_t>(n)];
        const int64_t upto = needed[static_cast<size_t>(n)];
        if (upto <= done) continue;
        At(n).Make(InputOf(n, batch, scratch), batch, done, upto, scratch,
                   OutputOf(n, batch, scratch));
        done = upto;
      }
    }
  }

  const int rows_;  // number of rows of the last layer per strip
  int count_ = 0;
  std::array<std::optional<Layer>, kMaxStripLayers> layers_;
  // Number of rows in the ring buffer of each layer but the last.
  std::array<int64_t, kMaxStripLayers> kept_ = {};
  // Offset of each layer's ring buffer in a worker's scratch memory.
  std::array<size_t, kMaxStripLayers> ring_ = {};
  size_t shared_bytes_ = 0, worker_bytes_ = 0;
};

}  // namespace

StripOffer StripOfferOf(const ConvData& data) {
  const ConvShape& shape = data.shape;
  if (Layer::KindOf(data) == Layer::Kind::kNone || shape.output_pixels() == 0) return {};
  size_t row_bytes = 0;
  if (!MultiplySizes(static_cast<size_t>(shape.x.output),
                     static_cast<size_t>(shape.output_channels) * sizeof(float), &row_bytes)) {
    return {};
  }
  return {.batches = shape.batches,
          .rows = shape.y.output,
          .row_bytes = row_bytes,
          .reach = ReachOf(shape.y),
          .stride = shape.y.stride};
}

void DeclareStripScratch(TfLiteContext* context, const StripRun& group) {
  // Constructing the Layer of a subsampled output copies its addend into the output, which must not
  // happen in prepare.
  const auto gathers = [](const StripLayer& layer) {
    return layer.run.output_stride.any() && layer.run.addend >= 0;
  };
  if (std::none_of(group.layers.begin(), group.layers.end(), gathers)) {
    AnnounceScratch(context, Strips(context, group).ScratchBytes(ThreadCount(context)));
  }
}

TfLiteStatus RunStrips(TfLiteContext* context, const StripRun& group) {
  for (const StripLayer& layer : group.layers) {
    DEPUTY_TRY(
        DataOf<ConvData>(layer.node).dense_filter.Ensure(context, Input(context, layer.node, 1)));
  }
  return Strips(context, group).Run(context);
}

}  // namespace deputy
