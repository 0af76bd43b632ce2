// SPDX-License-Identifier: Apache-2.0
//
// float32 DEPTHWISE_CONV_2D: several rows at once if the kernel supports it, otherwise several
// columns of a row at once.
#include <optional>
#include <utility>

#include "kernels/conv/depthwise.h"

namespace deputy {
namespace {

// Exchanges height and width of images of width 1. The layout is the same, and adjacent columns are
// computed together. With few batches this would leave too few rows for the threads.
ConvShape SwapAxesOfThinImages(const ConvShape& shape) {
  constexpr int kMinBatches = 8;
  ConvShape swapped = shape;
  const WindowAxis& x = shape.x;
  if (x.input == 1 && x.filter == 1 && x.output == 1 && shape.batches >= kMinBatches) {
    std::swap(swapped.x, swapped.y);
  }
  return swapped;
}

// Computes columns of consecutive output rows of a batch, from `y_row` on, with the kernel for
// several lines.
class FloatLines {
 public:
  FloatLines(const DepthwiseRows& rows, const RowRing<const float>& input, int64_t batch, int y_row,
             DepthwiseRows::Columns columns, char* scratch)
      : rows_(rows),
        input_(input),
        row_(batch * rows.shape.y.output + y_row),
        y_(y_row),
        first_(rows.shape.y.FirstTap(y_row)),
        count_(rows.shape.y.LastTap(y_row) - first_),
        columns_(columns),
        start_(rows.shape.x.Start(columns.first)),
        pointers_(reinterpret_cast<const float**>(scratch)) {}

  // Computes rows to `out`, where the columns of all rows are contiguous, and returns their number,
  // at most `max_rows`; 0 if the kernel does not support them.
  int Run(int64_t max_rows, float* out) const {
    const ConvShape& shape = rows_.shape;
    const WindowAxis& x = shape.x;
    const auto lines_of = rows_.cpu.depthwise_f32.lines;
    if (lines_of == nullptr || x.dilation != 1 || count_ <= 0) return 0;
    const auto count = static_cast<size_t>(count_);
    // Number of consecutive rows whose windows cover the same filter rows.
    int lines = 0;
    const float** inputs = pointers_;
    for (; lines < max_rows && CoversSameRows(y_ + lines); ++lines, inputs += count)
      PointAt(y_ + lines, inputs);
    const float** const weights = pointers_ + DepthwiseRows::kMaxLines * count;
    for (size_t i = 0; i < count; ++i) {
      weights[i] = rows_.weights +
                   (first_ + static_cast<int64_t>(i)) * x.filter * int64_t{shape.output_channels};
    }
    const auto epilogue = PartOf(rows_.epilogue, row_ * x.output + columns_.first, 0);
    const bool done = lines_of({.lines = lines,
                                .columns = columns_.last - columns_.first,
                                .channels = shape.output_channels,
                                .rows = count_,
                                .taps = x.filter,
                                .stride = x.stride,
                                .before = std::max(0, -start_),
                                .width = x.input - std::max(0, start_),
                                .inputs = pointers_,
                                .weights = weights,
                                .bias = rows_.bias,
                                .low = rows_.range.low,
                                .high = rows_.range.high,
                                .out = out,
                                .epilogue = epilogue ? &*epilogue : nullptr});
    return done ? lines : 0;
  }

 private:
  bool CoversSameRows(int row) const {
    const WindowAxis& y = rows_.shape.y;
    return y.FirstTap(row) == first_ && y.LastTap(row) == first_ + count_;
  }
  void PointAt(int row, const float** inputs) const {
    const WindowAxis& y = rows_.shape.y;
    const int64_t skipped = int64_t{std::max(0, start_)} * rows_.shape.input_channels;
    for (int i = 0; i < count_; ++i) {
      inputs[i] = input_.Row(y.Start(row) + int64_t{first_ + i} * y.dilation) + skipped;
    }
  }

  const DepthwiseRows& rows_;
  const RowRing<const float>& input_;
  const int64_t row_;
  const int y_, first_, count_;
  const DepthwiseRows::Columns columns_;
  const int start_;  // first input column of the windows; negative in the padding
  const float** const pointers_;
};

// Computes columns of one output row. row_ counts over all batches, y_ within one.
class FloatRow {
 public:
  FloatRow(const DepthwiseRows& rows, const RowRing<const float>& input, int64_t batch, int y_row,
           DepthwiseRows::Columns columns, char* scratch, float* out)
      : rows_(rows),
        input_(input),
        row_(batch * rows.shape.y.output + y_row),
        y_(y_row),
        columns_(columns),
        interior_(rows.interior),
        inputs_(reinterpret_cast<const float**>(scratch)),
        out_(out) {
    interior_.first = std::clamp(interior_.first, columns.first, columns.last);
    interior_.last = std::clamp(interior_.last, interior_.first, columns.last);
    const WindowAxis& y = rows.shape.y;
    first_ = y.FirstTap(y_);
    count_ = y.LastTap(y_) - first_;
    weights_ = inputs_ + std::min(y.filter, y.input);
  }

  void Run() {
    for (int i = columns_.first; i < interior_.first; ++i) Border(i);
    if (rows_.flat.period > 0 && HasFlatEpilogue()) {
      FlatColumns(interior_);
    } else if (interior_.columns() > 0) {
      Columns(interior_.first, interior_.columns(), 0, rows_.shape.x.filter);
    }
    for (int i = interior_.last; i < columns_.last; ++i) Border(i);
  }

 private:
  // Returns true if the epilogue of a value does not depend on where the value's pixel begins, so
  // that it can be applied to vectors that span pixels.
  bool HasFlatEpilogue() const {
    const EpilogueF32* const epilogue = rows_.epilogue;
    return epilogue == nullptr || (epilogue->slopes == nullptr &&
                                   (epilogue->addend == nullptr ||
                                    epilogue->addend_columns == rows_.shape.output_channels));
  }
  // Points inputs_ and weights_ at the values of an output column; `weights` are [taps][channels].
  void PointAt(int column, int first_tap, const float* weights, int channels) {
    const WindowAxis &y = rows_.shape.y, &x = rows_.shape.x;
    const int64_t ix = x.Start(column) + int64_t{first_tap} * x.dilation;
    for (int i = 0; i < count_; ++i) {
      const int64_t ky = first_ + i;
      inputs_[i] =
          input_.Row(y.Start(y_) + ky * y.dilation) + ix * int64_t{rows_.shape.input_channels};
      weights_[i] = weights + (ky * x.filter + first_tap) * channels;
    }
  }

  void Border(int column) {
    const WindowAxis& x = rows_.shape.x;
    Columns(column, 1, x.FirstTap(column), x.LastTap(column));
  }

  // Computes `columns` columns from `first` on, with taps [first_tap, last_tap) of each filter row
  // only.
  void Columns(int first, int columns, int first_tap, int last_tap) {
    const int channels = rows_.shape.output_channels;
    PointAt(first, first_tap, rows_.weights, channels);
    const auto epilogue = EpilogueFrom(first);
    rows_.cpu.depthwise_f32.columns({.columns = columns,
                                     .channels = channels,
                                     .rows = count_,
                                     .taps = std::max(0, last_tap - first_tap),
                                     .inputs = inputs_,
                                     .weights = weights_,
                                     .column_step = Step(rows_.shape.x.stride),
                                     .tap_step = Step(rows_.shape.x.dilation),
                                     .weight_step = Step(1),
                                     .bias = rows_.bias,
                                     .low = rows_.range.low,
                                     .high = rows_.range.high,
                                     .out = out_ + first * Step(1),
                                     .epilogue = epilogue ? &*epilogue : nullptr});
  }

  // Returns the epilogue for the columns of this row from `column` on.
  std::optional<EpilogueF32> EpilogueFrom(int column) const {
    return PartOf(rows_.epilogue, row_ * rows_.shape.x.output + column, 0);
  }

  void FlatColumns(const Interior& interior) {
    const FlatWeights& flat = rows_.flat;
    const int64_t values = int64_t{interior.columns()} * rows_.shape.output_channels;
    const auto periods = static_cast<int>(values / flat.period);
    const auto remainder = static_cast<int>(values % flat.period);
    const auto period = static_cast<size_t>(flat.period);
    auto epilogue = EpilogueFrom(interior.first);
    if (epilogue) {
      epilogue->addend_stride = period;
      epilogue->addend_columns = flat.period;
    }
    PointAt(interior.first, 0, flat.weights, flat.period);
    DepthwiseColumnsF32 run = {.columns = periods,
                               .channels = flat.period,
                               .rows = count_,
                               .taps = rows_.shape.x.filter,
                               .inputs = inputs_,
                               .weights = weights_,
                               .column_step = period,
                               .tap_step = Step(rows_.shape.x.dilation),
                               .weight_step = period,
                               .bias = flat.bias,
                               .low = rows_.range.low,
                               .high = rows_.range.high,
                               .out = out_ + interior.first * Step(1),
                               .epilogue = epilogue ? &*epilogue : nullptr};
    if (periods > 0) rows_.cpu.depthwise_f32.columns(run);
    if (remainder == 0) return;
    const size_t done = static_cast<size_t>(periods) * period;
    if (epilogue && epilogue->addend != nullptr) epilogue->addend += done;
    for (int i = 0; i < count_; ++i) inputs_[i] += done;
    run.columns = 1;
    run.channels = remainder;
    run.out += done;
    rows_.cpu.depthwise_f32.columns(run);
  }

  // Returns the number of values in `pixels` pixels.
  size_t Step(int pixels) const {
    return static_cast<size_t>(pixels) * static_cast<size_t>(rows_.shape.output_channels);
  }

  const DepthwiseRows& rows_;
  const RowRing<const float>& input_;
  int64_t row_;
  int y_;
  int first_, count_;  // first filter row that lies inside the input, and the number of such rows
  DepthwiseRows::Columns columns_;
  Interior interior_;  // those of the columns whose windows lie inside the input
  const float** inputs_;
  const float** weights_;
  float* out_;
};

// Partition of output rows into parts of columns, if there are too few rows for the threads.
struct ColumnCut {
  ColumnCut(const ConvShape& shape, int threads) : rows(int64_t{shape.batches} * shape.y.output) {
    constexpr int kMinColumns = 3;
    constexpr double kMinOperations = 10e3;
    if (rows <= 0 || rows >= threads) return;
    const double operations = static_cast<double>(shape.x.output) * shape.output_channels *
                              shape.y.filter * shape.x.filter;
    const auto useful = static_cast<int64_t>(std::min(operations / kMinOperations, 1e6));
    const int64_t most = std::min<int64_t>(useful, shape.x.output / kMinColumns);
    parts = static_cast<int>(std::clamp<int64_t>(threads / rows, 1, std::max<int64_t>(most, 1)));
  }

  int64_t rows;
  int parts = 1;  // number of parts of each row
};

bool IsFloat(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && IsOneToOne(tensors.shape) &&
         cpu.depthwise_f32.columns != nullptr;
}

// Prefetches large weights. The kernel reads a few channels of all taps at a time; a sequential
// prefetch from memory is faster.
void FetchWeights(const float* weights, size_t count) {
  constexpr size_t kFew = 8 * 1024, kLine = 16;
  if (count < kFew) return;
  for (size_t i = 0; i < count; i += kLine) __builtin_prefetch(weights + i, 0, 2);
}

size_t FloatScratch(const ConvData&, const ConvTensors& tensors, const CpuKernels&, int workers) {
  const ConvShape shape = SwapAxesOfThinImages(tensors.shape);
  return WorkerScratch(DepthwiseRows::ScratchBytes(shape), workers) +
         AlignedBytes(FlatWeights::Values(shape) * sizeof(float));
}

TfLiteStatus RunFloat(TfLiteContext* context, ConvData*, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  const ConvShape shape = SwapAxesOfThinImages(tensors.shape);
  Scratch flat, scratch;
  if (!flat.Acquire(context, FlatWeights::Values(shape) * sizeof(float))) {
    return TensorError(context, tensors.filter, "out of memory for a copy");
  }
  DEPUTY_TRY(
      AcquireDepthwiseScratch(context, DepthwiseRows::ScratchBytes(shape), tensors, &scratch));
  const float* const weights = Data<float>(tensors.filter);
  const float* const bias = Data<float>(tensors.bias);
  const DepthwiseRows rows = {shape,
                              cpu,
                              weights,
                              bias,
                              tensors.float_range,
                              Interior(shape.x),
                              FlatWeights(shape, weights, bias, flat.as<float>()),
                              tensors.epilogue};
  const int64_t row_values = DepthwiseRowValues(shape);
  const int64_t input_values = int64_t{shape.x.input} * shape.input_channels;
  const int64_t height = shape.y.output;
  FetchWeights(weights, DepthwiseTaps(shape) * static_cast<size_t>(shape.output_channels));
  const auto image = [&](int64_t batch) -> RowRing<const float> {
    return {Data<float>(tensors.input) + batch * shape.y.input * input_values, shape.y.input,
            input_values};
  };
  if (const ColumnCut cut(shape, ThreadCount(context)); cut.parts > 1) {
    ParallelFor(context, static_cast<int>(cut.rows * cut.parts), [&](int task, int worker) {
      const int row = task / cut.parts, part = task % cut.parts;
      const int64_t batch = row / height;
      const int first = shape.x.output * part / cut.parts;
      const int last = shape.x.output * (part + 1) / cut.parts;
      rows.RunPart(image(batch), batch, static_cast<int>(row - batch * height), {first, last},
                   scratch.worker(worker), Data<float>(tensors.output) + row * row_values);
    });
    return kTfLiteOk;
  }
  // Portions may be smaller than kMaxLines, so that threads finish at about the same time.
  ForEachOutputRun(
      context, shape, DepthwiseRows::kMaxLines / 2, [&](int64_t row, int64_t end, int worker) {
        for (int64_t last; row < end; row = last) {
          const int64_t batch = row / height;
          last = std::min(end, (batch + 1) * height);
          rows.Run(image(batch), batch, row - batch * height, last - batch * height,
                   scratch.worker(worker),
                   {Data<float>(tensors.output) + batch * height * row_values, height, row_values});
        }
      });
  return kTfLiteOk;
}

}  // namespace

void DepthwiseRows::RunPart(const RowRing<const float>& input, int64_t batch, int row,
                            Columns columns, char* scratch, float* out) const {
  float* const first = out + int64_t{columns.first} * shape.output_channels;
  if (FloatLines(*this, input, batch, row, columns, scratch).Run(1, first) == 0) {
    FloatRow(*this, input, batch, row, columns, scratch, out).Run();
  }
}

void DepthwiseRows::Run(const RowRing<const float>& input, int64_t batch, int64_t first,
                        int64_t last, char* scratch, const RowRing<float>& out) const {
  for (int64_t row = first; row < last;) {
    const int y = static_cast<int>(row);
    const int64_t max_rows = std::min({last - row, out.RunFrom(row), int64_t{kMaxLines}});
    const Columns all = {0, shape.x.output};
    const int done = FloatLines(*this, input, batch, y, all, scratch).Run(max_rows, out.Row(row));
    if (done == 0) FloatRow(*this, input, batch, y, all, scratch, out.Row(row)).Run();
    row += std::max(done, 1);
  }
}

constexpr ConvImplementation kDepthwiseFloat = {.name = "columns_float",
                                                .accepts = &IsFloat,
                                                .pack = nullptr,
                                                .scratch = &FloatScratch,
                                                .run = &RunFloat,
                                                .fuses = true};

}  // namespace deputy
