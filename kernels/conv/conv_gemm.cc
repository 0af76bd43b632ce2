// SPDX-License-Identifier: Apache-2.0
//
// CONV_2D as a matrix product of im2col patches. A float 1x1 convolution with stride 1 needs no
// patches: its rows are the input pixels.
#include "core/support/int_math.h"
#include "kernels/conv/conv.h"
#include "kernels/conv/patches.h"

namespace deputy {
namespace {

// ---- Patches ----------------------------------------------------------------------------------

// Writes an im2col patch as FillPatch does, to an untyped output, for integer forms.
template <typename T, typename Out>
void FillLeftPatch(const void* source, int64_t row, int group, uint8_t* out) {
  FillPatch<T, Out>(source, row, group, reinterpret_cast<Out*>(out));
}

// Writes the patch of a pointwise convolution: it is the pixel itself, found without divisions.
template <typename T>
void FillLeftPixel(const void* source_pointer, int64_t row, int group, uint8_t* out) {
  const PatchSource& source = *static_cast<const PatchSource*>(source_pointer);
  const int64_t depth = source.shape->depth;
  const T* input = static_cast<const T*>(source.input);
  source.Copy(input + row * source.shape->input_channels + group * depth, depth, out);
}

template <typename T>
MatrixLayer::FillRow<uint8_t> LeftPatchFunction(const ConvShape& shape, const CpuKernels& cpu) {
  if (shape.IsPointwise()) return &FillLeftPixel<T>;
  return cpu.gemm_s8.left == LhsEncoding::kInt16 ? &FillLeftPatch<T, int16_t>
                                                 : &FillLeftPatch<T, uint8_t>;
}

MatrixShape MatrixOf(const ConvShape& shape) {
  return {shape.output_pixels(), shape.groups, shape.output_channels / shape.groups,
          shape.y.filter * shape.x.filter * shape.depth};
}

bool IsUnsigned(const ConvData& data) { return data.form == WeightsForm::kUInt8; }

// ---- Float ------------------------------------------------------------------------------------

bool IsFloat(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr;
}

bool HasFewColumns(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return IsFloat(data, tensors, cpu) && HasFewColumns(MatrixOf(tensors.shape));
}

size_t FloatScratch(const ConvData&, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return MatrixLayer::FloatScratch(cpu, MatrixOf(tensors.shape), !tensors.shape.IsPointwise(),
                                   workers);
}

// Returns the rows of the left operand: the input's pixels in place or patches that are filled from
// `source`, which must outlive the result.
MatrixLayer::Rows<float> FloatRows(const PatchSource* source) {
  MatrixLayer::Rows<float> rows;
  if (source->shape->IsPointwise()) {
    rows.direct = static_cast<const float*>(source->input);
    rows.stride = static_cast<size_t>(source->shape->input_channels);
  } else {
    rows.fill = &FillPatch<float, float>;
    rows.source = source;
  }
  return rows;
}

TfLiteStatus RunFewColumns(TfLiteContext* context, ConvData*, const ConvTensors& tensors,
                           const CpuKernels& cpu) {
  const int32_t zero = 0;
  const PatchSource source = {&tensors.shape, tensors.input->data.data, &zero, 0, &cpu};
  return MatrixLayer::RunFewColumns(context, cpu, MatrixOf(tensors.shape), FloatRows(&source),
                                    tensors.filter, tensors.bias, tensors.float_range,
                                    Data<float>(tensors.output));
}

TfLiteStatus PackFloat(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu) {
  return data->matrix.PackFloat(context, cpu, MatrixOf(tensors.shape), tensors.filter);
}

// Pixels multiplied by per-channel factors when they are read, a block at a time.
class ScaledPixels {
 public:
  // Returns the size of the buffer that the constructor fills.
  static size_t Bytes(int depth) { return AlignedBytes(Values(depth) * sizeof(float)); }

  ScaledPixels(const CpuKernels& cpu, const float* pixels, const float* factors, int depth,
               float* buffer)
      : multiply_(cpu.vector.plain_product.of<float>()),
        pixels_(pixels),
        factors_(buffer),
        depth_(depth) {
    for (size_t i = 0; i < Values(depth); i += static_cast<size_t>(depth)) {
      std::copy_n(factors, depth, buffer + i);
    }
  }

  // Row function for MatrixLayer; `source` is a ScaledPixels.
  static void Fill(const void* source, int64_t first, int count, float* out) {
    const auto& own = *static_cast<const ScaledPixels*>(source);
    constexpr FloatRange kNone;  // MUL without an activation has no bounds
    const float* const pixels = own.pixels_ + first * own.depth_;
    const int64_t values = int64_t{count} * own.depth_;
    const auto step = static_cast<int64_t>(Values(own.depth_));
    for (int64_t i = 0; i < values; i += step) {
      own.multiply_({pixels + i, own.factors_, out + i, std::min(step, values - i), true, true},
                    {kNone.low, kNone.high});
    }
  }

 private:
  // Number of factors after repetition, at least kMinValues: a vector call with fewer values costs
  // more than its work.
  static size_t Values(int depth) {
    constexpr size_t kMinValues = 512;
    const auto each = static_cast<size_t>(depth);
    return RoundUp(kMinValues, each);
  }

  const BoundedLoop<float> multiply_;
  const float* const pixels_;
  const float* const factors_;
  const int depth_;
};

TfLiteStatus RunScaled(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu) {
  const int depth = tensors.shape.depth;
  Scratch buffer;
  if (!buffer.Acquire(context, ScaledPixels::Bytes(depth))) {
    return TensorError(context, tensors.input, "out of memory for its factors");
  }
  const ScaledPixels pixels(cpu, Data<float>(tensors.input), tensors.factors, depth,
                            buffer.as<float>());
  MatrixLayer::Rows<float> rows;
  rows.fill_rows = &ScaledPixels::Fill;
  rows.source = &pixels;
  return data->matrix.RunFloat(context, cpu, MatrixOf(tensors.shape), rows, tensors.filter,
                               tensors.bias, tensors.float_range, Data<float>(tensors.output),
                               tensors.epilogue);
}

TfLiteStatus RunFloat(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  if (tensors.factors != nullptr) return RunScaled(context, data, tensors, cpu);
  const int32_t zero = 0;
  const PatchSource source = {&tensors.shape, tensors.input->data.data, &zero, 0, &cpu};
  return data->matrix.RunFloat(context, cpu, MatrixOf(tensors.shape), FloatRows(&source),
                               tensors.filter, tensors.bias, tensors.float_range,
                               Data<float>(tensors.output), tensors.epilogue);
}

// ---- Integers ---------------------------------------------------------------------------------

bool IsInt8(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return (data.form == WeightsForm::kInt8 || IsUnsigned(data)) && cpu.gemm_s8.tile != nullptr;
}

bool IsHybrid(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kHybrid && cpu.gemm_s8.tile != nullptr;
}

MatrixLayer::IntWeights WeightsOf(const ConvData& data, const ConvTensors& tensors) {
  const bool is_unsigned = IsUnsigned(data);
  return {tensors.filter, is_unsigned, is_unsigned ? tensors.filter->params.zero_point - 128 : 0};
}

size_t IntScratch(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu,
                  int workers) {
  return data.HybridScratch() + kTensorAlignment +
         MatrixLayer::Int8Scratch(cpu, MatrixOf(tensors.shape), workers);
}

TfLiteStatus PackInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  return data->matrix.PackInt8(context, cpu, MatrixOf(tensors.shape), WeightsOf(*data, tensors));
}

TfLiteStatus RunInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                     const CpuKernels& cpu) {
  const int32_t zero_point = data->scaling.input_zero_point() - data->scaling.output_offset();
  const PatchSource source = {&tensors.shape, tensors.input->data.data, &zero_point, 0, &cpu};
  MatrixLayer::Rows<uint8_t> rows;
  rows.source = &source;
  rows.fill = IsUnsigned(*data) ? LeftPatchFunction<uint8_t>(tensors.shape, cpu)
                                : LeftPatchFunction<int8_t>(tensors.shape, cpu);
  return data->matrix.RunInt8(context, cpu, MatrixOf(tensors.shape), rows,
                              WeightsOf(*data, tensors), tensors.bias, data->scaling,
                              tensors.output->data.data);
}

TfLiteStatus RunHybrid(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu) {
  HybridRows hybrid;
  DEPUTY_TRY(data->QuantizeInput(context, tensors, &hybrid));
  const PatchSource source = {&tensors.shape, hybrid.values(), hybrid.zero_points(), 1, &cpu};
  MatrixLayer::Rows<uint8_t> rows;
  rows.source = &source;
  rows.fill = LeftPatchFunction<int8_t>(tensors.shape, cpu);
  const int64_t rows_per_scale = int64_t{tensors.shape.y.output} * tensors.shape.x.output;
  return data->matrix.RunHybrid(
      context, cpu, MatrixOf(tensors.shape), rows, tensors.filter, tensors.bias,
      {&hybrid, rows_per_scale, &data->weight_scales, tensors.float_range},
      Data<float>(tensors.output));
}

}  // namespace

bool SupportsFactors(const ConvData& data) {
  return data.choice.Is(kGemmFloatConv) && data.shape.IsPointwise() && data.shape.groups == 1 &&
         data.choice.cpu().vector.plain_product.of<float>() != nullptr;
}

void DeclareFactorScratch(TfLiteContext* context, const LayerRun& group) {
  const TfLiteTensor &input = context->tensors[group.input],
                     &output = context->tensors[group.output];
  const int depth = LastDim(&input);
  if (depth == 0) return;
  const MatrixShape shape = {ElementCount(&input) / depth, 1, LastDim(&output), depth};
  const size_t product =
      MatrixLayer::FloatScratch(CpuOf(context), shape, true, ThreadCount(context));
  AnnounceScratch(context, ScaledPixels::Bytes(depth) + product);
}

constexpr ConvImplementation kFewColumnsConv = {.name = "few_columns",
                                                .accepts = &HasFewColumns,
                                                .pack = nullptr,
                                                .scratch = &FloatScratch,
                                                .run = &RunFewColumns};
constexpr ConvImplementation kGemmFloatConv = {.name = "gemm_float",
                                               .accepts = &IsFloat,
                                               .pack = &PackFloat,
                                               .scratch = &FloatScratch,
                                               .run = &RunFloat,
                                               .fuses = true,
                                               .subsamples = true};
constexpr ConvImplementation kGemmInt8Conv = {.name = "gemm_int8",
                                              .accepts = &IsInt8,
                                              .pack = &PackInt8,
                                              .scratch = &IntScratch,
                                              .run = &RunInt8};
constexpr ConvImplementation kGemmHybridConv = {.name = "gemm_hybrid",
                                                .accepts = &IsHybrid,
                                                .pack = &PackInt8,
                                                .scratch = &IntScratch,
                                                .run = &RunHybrid};

}  // namespace deputy
