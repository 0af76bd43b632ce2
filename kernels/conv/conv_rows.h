// SPDX-License-Identifier: Apache-2.0
//
// float32 CONV_2D that reads its input where it lies, for those who say which rows of the output
// they want (conv_rows.cc).
#ifndef DEPUTY_KERNELS_CONV_CONV_ROWS_H_
#define DEPUTY_KERNELS_CONV_CONV_ROWS_H_

#include "kernels/conv/conv.h"

namespace deputy {

// What the rows of a convolution have in common.
struct ConvRows {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const PackedWeights<float>* packed;  // null: few columns, whose weights are read as they are
  const float* weights;
  FloatRange range;
  Interior interior;
  const float* bias;            // padded to whole panels
  const float* zeros;           // what lies above and below the input
  const EpilogueF32* epilogue;  // of all pixels; null: none

  // `room` holds SharedBytes().
  ConvRows(const ConvData& data, const ConvTensors& tensors, const CpuKernels& kernels,
           const PackedWeights<float>* packed_weights, char* room);

  static size_t SharedBytes(const ConvShape& shape);
  // For a worker.
  static size_t ScratchBytes(const ConvShape& shape, const CpuKernels& cpu);

  // Rows and columns of the matrix that a batch of the output is; a panel of weights meets so many
  // rows at a time.
  struct Block {
    int first_row, last_row, first_column, last_column, panel_rows;
  };
  // Called from several threads.
  void Run(const RowRing<const float>& input, int batch, const Block& block, char* scratch,
           const RowRing<float>& out) const;
};

// Of the weights, for those who multiply by them; null, reported, when memory is refused.
const PackedWeights<float>* PackedForRows(TfLiteContext* context, ConvData* data,
                                          const ConvTensors& tensors, const CpuKernels& cpu);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_ROWS_H_
