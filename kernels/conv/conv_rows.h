// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D that reads its input in place, for callers that compute single output rows
// (conv_rows.cc).
#ifndef DEPUTY_KERNELS_CONV_CONV_ROWS_H_
#define DEPUTY_KERNELS_CONV_CONV_ROWS_H_

#include "kernels/conv/conv.h"

namespace deputy {

// Data shared by the rows of a convolution.
struct ConvRows {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const PackedWeights<float>* packed;  // null: few columns; the weights are not packed
  const float* weights;
  FloatRange range;
  Interior interior;
  const float* bias;            // padded to whole panels
  const float* zeros;           // replaces input rows above and below the image
  const EpilogueF32* epilogue;  // for all pixels; null: none

  // The buffer has SharedBytes() bytes.
  ConvRows(const ConvTensors& tensors, const CpuKernels& kernels,
           const PackedWeights<float>* packed_weights, char* buffer);

  static size_t SharedBytes(const ConvShape& shape);
  // Scratch memory of a worker.
  static size_t ScratchBytes(const ConvShape& shape, const CpuKernels& cpu);

  // Rows and columns of the output matrix of one batch; `panel_rows` rows are multiplied by each
  // panel of weights at a time.
  struct Block {
    int first_row, last_row, first_column, last_column, panel_rows;
  };
  // May be called from several threads.
  void Run(const RowRing<const float>& input, int batch, const Block& block, char* scratch,
           const RowRing<float>& out) const;
};

// Returns the packed weights, or null after reporting an error if out of memory.
const PackedWeights<float>* PackedForRows(TfLiteContext* context, ConvData* data,
                                          const ConvTensors& tensors, const CpuKernels& cpu);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_ROWS_H_
