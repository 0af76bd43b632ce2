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
  // Packed weights; null if the output has few columns, for which weights are not packed.
  const PackedWeights<float>* packed;
  const float* weights;
  FloatRange range;
  Interior interior;
  const float* bias;            // bias of each column, padded to whole panels
  const float* zeros;           // replaces input rows above and below the image
  const EpilogueF32* epilogue;  // null if there is none

  // `buffer` has SharedBytes() bytes and must outlive this object.
  ConvRows(const ConvTensors& tensors, const CpuKernels& kernels,
           const PackedWeights<float>* packed_weights, char* buffer);

  static size_t SharedBytes(const ConvShape& shape);
  // Returns the bytes of scratch memory of one worker.
  static size_t ScratchBytes(const ConvShape& shape, const CpuKernels& cpu);

  // Block of rows and columns of the output matrix of one batch; `panel_rows` rows are multiplied
  // by each panel of weights at a time.
  struct Block {
    int first_row, last_row, first_column, last_column, panel_rows;
  };
  // Computes a block. May be called from several threads.
  void Run(const RowRing<const float>& input, int batch, const Block& block, char* scratch,
           const RowRing<float>& out) const;
};

// Returns the packed weights, or null after reporting an error if out of memory.
const PackedWeights<float>* PackedForRows(TfLiteContext* context, ConvData* data,
                                          const ConvTensors& tensors, const CpuKernels& cpu);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_ROWS_H_
