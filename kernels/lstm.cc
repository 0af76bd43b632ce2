// SPDX-License-Identifier: Apache-2.0
//
// LSTM and its two sequence variants. States are inputs, variable tensors except in LSTM's "basic"
// kernel, and persist between inferences. The cell's computation is in kernels/rnn.
#include <algorithm>
#include <limits>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/refused_options.h"
#include "kernels/cpu/implementation.h"
#include "kernels/rnn/basic_lstm.h"
#include "kernels/rnn/lstm_integer.h"
#include "kernels/rnn/lstm_layer.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillLstm(const OpOptions& options, TfLiteLSTMParams* params) {
  const int8_t kernel = options.Byte(3);
  if (kernel != kTfLiteLSTMFullKernel && kernel != kTfLiteLSTMBasicKernel) return false;
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->kernel_type = static_cast<TfLiteLSTMKernelType>(kernel);
  params->asymmetric_quantize_inputs = options.Bool(4);
  return true;
}

// Parses the options. Missing options are an error: LSTM has no defaults for them, unlike other
// operators.
bool ParseLstm(const OpOptions& options, void* params) {
  return options.present() && options.kind() == OptionsKind{1, 14} &&
         FillLstm(options, static_cast<TfLiteLSTMParams*>(params));
}

bool FillUnidirectional(const OpOptions& options, TfLiteUnidirectionalSequenceLSTMParams* params) {
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->time_major = options.Bool(3);
  params->asymmetric_quantize_inputs = options.Bool(4);
  params->diagonal_recurrent_tensors = options.Bool(5);
  return true;
}

bool FillBidirectional(const OpOptions& options, TfLiteBidirectionalSequenceLSTMParams* params) {
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->merge_outputs = options.Bool(3);
  params->time_major = options.Bool(4, true);
  params->asymmetric_quantize_inputs = options.Bool(5);
  return true;
}

// ---- A cell over a sequence ---------------------------------------------------------------------

struct LstmData {
  const LstmInputs* inputs = &kLstmInputs;
  bool time_major = false;
  int steps = 0;
  LstmSizes sizes;
  bool is_integer = false;
  LstmLayer layer;      // cell of float32 and hybrid nodes
  IntegerLstm integer;  // cell of int8 nodes
  BasicLstm basic;      // cell of LSTM's "basic" kernel
};

constexpr uint32_t kCellTypes = kFloat32Bit | kInt8Bit;

// Checks the number of inputs of UNIDIRECTIONAL_SEQUENCE_LSTM and of LSTM's full kernel: 24, or 20
// in models from before layer normalisation.
TfLiteStatus CheckInputCount(TfLiteContext* context, const TfLiteNode* node,
                             Sparse sparse = Sparse::kRefused) {
  DEPUTY_TRY(CheckNode(context, node, 1, 24, 1, sparse));
  const int count = node->inputs->size;
  if (count == 20 || count == 24) return kTfLiteOk;
  return KernelError(context, "expected 20 or 24 inputs, found %d", count);
}

TfLiteStatus PrepareCell(TfLiteContext* context, TfLiteNode* node, Diagonals diagonals,
                         const LstmOptions& options) {
  LstmData& data = DataOf<LstmData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, output, input));
  const LstmCell cell = ReadLstmCell(context, node, *data.inputs);
  const SequenceShape shape = ShapeOfSequence(input, data.time_major);
  data.steps = shape.steps;
  data.sizes = {shape.batches, shape.depth, 0, 0, 0};
  data.is_integer = input->type == kTfLiteInt8;
  DEPUTY_TRY(CheckLstmCell(context, cell, data.is_integer,
                           data.is_integer ? Diagonals::kRefused : diagonals, &data.sizes));
  if (data.is_integer) {
    DEPUTY_TRY(data.integer.Prepare(context, node, cell, data.sizes, data.time_major,
                                    options.cell_clip, options.projection_clip));
    AnnounceScratch(context, data.integer.ScratchBytes(ThreadCount(context)));
  } else {
    DEPUTY_TRY(data.layer.Prepare(context, cell, data.sizes, options));
    AnnounceScratch(context, data.layer.ScratchBytes(ThreadCount(context)));
  }
  int dims[3];
  const int rank = Rank(input);
  std::copy_n(input->dims->data, rank, dims);
  dims[rank - 1] = data.sizes.outputs;
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PackCell(TfLiteContext* context, TfLiteNode* node) {
  LstmData& data = DataOf<LstmData>(node);
  const LstmCell cell = ReadLstmCell(context, node, *data.inputs);
  return data.is_integer ? data.integer.Pack(context, cell) : data.layer.Pack(context, cell);
}

template <typename T, typename Sequence>
void FillSequence(TfLiteContext* context, TfLiteNode* node, const LstmData& data,
                  Sequence* sequence) {
  const SequenceShape shape = {data.sizes.batches, data.steps, data.sizes.inputs};
  sequence->steps = data.steps;
  sequence->input =
      VectorsAt(Data<const T>(Input(context, node, 0)), shape, shape.depth, data.time_major);
  sequence->output =
      VectorsAt(Data<T>(Output(context, node, 0)), shape, data.sizes.outputs, data.time_major);
}

TfLiteStatus EvalCell(TfLiteContext* context, TfLiteNode* node) {
  LstmData& data = DataOf<LstmData>(node);
  const LstmCell cell = ReadLstmCell(context, node, *data.inputs);
  if (data.is_integer) {
    IntegerLstmSequence sequence;
    FillSequence<int8_t>(context, node, data, &sequence);
    return data.integer.Run(context, cell, sequence);
  }
  LstmSequence sequence;
  FillSequence<float>(context, node, data, &sequence);
  return data.layer.Run(context, cell, sequence);
}

// ---- UNIDIRECTIONAL_SEQUENCE_LSTM --------------------------------------------------------------

TfLiteStatus PrepareUnidirectional(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckInputCount(context, node));
  const auto& params = ParamsOf<TfLiteUnidirectionalSequenceLSTMParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCellTypes));
  DEPUTY_TRY(CheckRank(context, input, 3));
  DataOf<LstmData>(node).time_major = params.time_major;
  DataOf<LstmData>(node).inputs = &kUnidirectionalInputs;
  RequestPacking(context, node, &Guarded<&PackCell>);
  return PrepareCell(
      context, node, Diagonals::kAllowed,
      {params.activation, params.cell_clip, params.proj_clip, params.asymmetric_quantize_inputs});
}

// ---- LSTM --------------------------------------------------------------------------------------

// Checks the sparse inputs: only constant 8-bit matrices of weights may be sparse, and only if the
// input vectors are quantised without a zero point.
TfLiteStatus CheckSparse(TfLiteContext* context, const TfLiteNode* node, bool asymmetric) {
  constexpr int kFirstMatrix = 1, kLastMatrix = 8, kProjection = 16;
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* tensor = Input(context, node, i);
    if (tensor == nullptr || tensor->sparsity == nullptr) continue;
    const bool is_matrix = (i >= kFirstMatrix && i <= kLastMatrix) || i == kProjection;
    if (!is_matrix || !IsReadableConstant(tensor)) {
      return TensorError(context, tensor, "expected a dense tensor, found a sparse one");
    }
    DEPUTY_TRY(CheckType(context, tensor, kInt8Bit | kUInt8Bit));
    if (asymmetric) {
      return TensorError(context, tensor,
                         "sparse weights: expected the option asymmetric_quantize_inputs to be "
                         "false, found true");
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareFull(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckInputCount(context, node, Sparse::kAllowed));
  const auto& params = ParamsOf<TfLiteLSTMParams>(node);
  DEPUTY_TRY(CheckSparse(context, node, params.asymmetric_quantize_inputs));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCellTypes));
  DEPUTY_TRY(CheckRank(context, input, 2));
  DataOf<LstmData>(node).time_major = true;
  RequestPacking(context, node, &Guarded<&PackCell>);
  return PrepareCell(
      context, node, Diagonals::kRefused,
      {params.activation, params.cell_clip, params.proj_clip, params.asymmetric_quantize_inputs});
}

bool IsBasic(const TfLiteNode* node) {
  return ParamsOf<TfLiteLSTMParams>(node).kernel_type == kTfLiteLSTMBasicKernel;
}

TfLiteStatus PackBasic(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<LstmData>(node).basic.Pack(context, node);
}

TfLiteStatus PrepareLstm(TfLiteContext* context, TfLiteNode* node) {
  if (!IsBasic(node)) return PrepareFull(context, node);
  RequestPacking(context, node, &Guarded<&PackBasic>);
  return DataOf<LstmData>(node).basic.Prepare(context, node);
}

TfLiteStatus EvalLstm(TfLiteContext* context, TfLiteNode* node) {
  return IsBasic(node) ? DataOf<LstmData>(node).basic.Run(context, node) : EvalCell(context, node);
}

// ---- BIDIRECTIONAL_SEQUENCE_LSTM ---------------------------------------------------------------

// Data of a node with two cells, one of which processes the sequence forwards, the other backwards.
// An auxiliary input with weights is read by both; without weights it replaces the input of the
// backward cell.
struct BidirectionalData {
  SequenceShape shape;
  int width = 0;  // number of values in a vector of the first output
  LstmSizes forward_sizes, backward_sizes;
  LstmLayer forward, backward;
};

constexpr int kAuxiliaryInput = 39;

struct BothCells {
  LstmCell forward, backward;
  const TfLiteTensor *input, *backward_input;
  const TfLiteTensor* auxiliary;  // null if there is no auxiliary input with weights
};

BothCells ReadBothCells(TfLiteContext* context, const TfLiteNode* node) {
  BothCells cells;
  cells.forward = ReadLstmCell(context, node, kForwardInputs);
  cells.backward = ReadLstmCell(context, node, kBackwardInputs);
  cells.input = cells.backward_input = Input(context, node, 0);
  cells.auxiliary = Input(context, node, kAuxiliaryInput);
  if (cells.auxiliary == nullptr || cells.forward.has_auxiliary()) return cells;
  cells.backward_input = cells.auxiliary;
  cells.auxiliary = nullptr;
  return cells;
}

TfLiteStatus CheckAuxiliary(TfLiteContext* context, const BothCells& cells) {
  if (cells.forward.has_auxiliary() != cells.backward.has_auxiliary() ||
      (cells.forward.has_auxiliary() && cells.auxiliary == nullptr)) {
    return KernelError(context,
                       "expected an auxiliary input and its weights for both cells, found a part");
  }
  for (const TfLiteTensor* tensor : {cells.backward_input, cells.auxiliary}) {
    if (tensor == nullptr) continue;
    DEPUTY_TRY(CheckType(context, tensor, kFloat32Bit));
    DEPUTY_TRY(CheckRank(context, tensor, 3));
    for (int axis : {0, 1}) {
      DEPUTY_TRY(CheckDim(context, tensor, axis, Dim(cells.input, axis)));
    }
  }
  return CheckDim(context, cells.backward_input, 2, Dim(cells.input, 2));
}

// Checks both cells and computes their sizes. Cells and outputs of both must have the same number,
// and weights the same type, as in TensorFlow Lite.
TfLiteStatus CheckBothSizes(TfLiteContext* context, const BothCells& cells,
                            BidirectionalData* data) {
  const int auxiliary = cells.auxiliary == nullptr ? 0 : Dim(cells.auxiliary, 2);
  data->forward_sizes = {data->shape.batches, data->shape.depth, auxiliary, 0, 0};
  data->backward_sizes = data->forward_sizes;
  DEPUTY_TRY(
      CheckLstmCell(context, cells.forward, false, Diagonals::kRefused, &data->forward_sizes));
  DEPUTY_TRY(
      CheckLstmCell(context, cells.backward, false, Diagonals::kRefused, &data->backward_sizes));
  const TfLiteTensor* weights = cells.backward.gates[kOutputGate].input;
  DEPUTY_TRY(CheckSameType(context, weights, cells.forward.gates[kOutputGate].input));
  DEPUTY_TRY(CheckDim(context, weights, 0, data->forward_sizes.cells));
  return CheckDim(context, cells.backward.gates[kOutputGate].recurrent, 1,
                  data->forward_sizes.outputs);
}

TfLiteStatus ResizeBothOutputs(TfLiteContext* context, TfLiteNode* node, bool merge,
                               BidirectionalData* data) {
  const TfLiteTensor* input = Input(context, node, 0);
  const int outputs = data->forward_sizes.outputs;
  if (merge && outputs > std::numeric_limits<int>::max() / 2) {
    return KernelError(context, "expected fewer than 2^30 outputs, found %d", outputs);
  }
  data->width = merge ? 2 * outputs : outputs;
  for (int i = 0; i < node->outputs->size; ++i) {
    TfLiteTensor* output = Output(context, node, i);
    DEPUTY_TRY(CheckSameType(context, output, input));
    const int dims[] = {Dim(input, 0), Dim(input, 1), data->width};
    DEPUTY_TRY(ResizeTo(context, output, dims));
  }
  return kTfLiteOk;
}

TfLiteStatus PackBidirectional(TfLiteContext* context, TfLiteNode* node) {
  BidirectionalData& data = DataOf<BidirectionalData>(node);
  const BothCells cells = ReadBothCells(context, node);
  DEPUTY_TRY(data.forward.Pack(context, cells.forward));
  return data.backward.Pack(context, cells.backward);
}

TfLiteStatus PrepareBidirectional(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteBidirectionalSequenceLSTMParams>(node);
  BidirectionalData& data = DataOf<BidirectionalData>(node);
  DEPUTY_TRY(CheckNode(context, node, 1, 48, params.merge_outputs ? 1 : 2));
  if (node->inputs->size != 48) {
    return KernelError(context, "expected 48 inputs, found %d", node->inputs->size);
  }
  const BothCells cells = ReadBothCells(context, node);
  DEPUTY_TRY(CheckType(context, cells.input, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, cells.input, 3));
  data.shape = ShapeOfSequence(cells.input, params.time_major);
  DEPUTY_TRY(CheckAuxiliary(context, cells));
  DEPUTY_TRY(CheckBothSizes(context, cells, &data));
  const LstmOptions options = {params.activation, params.cell_clip, params.proj_clip,
                               params.asymmetric_quantize_inputs};
  DEPUTY_TRY(data.forward.Prepare(context, cells.forward, data.forward_sizes, options));
  DEPUTY_TRY(data.backward.Prepare(context, cells.backward, data.backward_sizes, options));
  for (const LstmLayer* layer : {&data.forward, &data.backward}) {
    AnnounceScratch(context, layer->ScratchBytes(ThreadCount(context)));
  }
  RequestPacking(context, node, &Guarded<&PackBidirectional>);
  return ResizeBothOutputs(context, node, params.merge_outputs, &data);
}

TfLiteStatus EvalBidirectional(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteBidirectionalSequenceLSTMParams>(node);
  BidirectionalData& data = DataOf<BidirectionalData>(node);
  const BothCells cells = ReadBothCells(context, node);
  const bool time_major = params.time_major;
  LstmSequence sequence;
  sequence.steps = data.shape.steps;
  sequence.input =
      VectorsAt(Data<const float>(cells.input), data.shape, data.shape.depth, time_major);
  if (cells.auxiliary != nullptr) {
    sequence.auxiliary = VectorsAt(Data<const float>(cells.auxiliary), data.shape,
                                   data.forward_sizes.auxiliary_inputs, time_major);
  }
  sequence.output =
      VectorsAt(Data<float>(Output(context, node, 0)), data.shape, data.width, time_major);
  DEPUTY_TRY(data.forward.Run(context, cells.forward, sequence));
  sequence.backward = true;
  sequence.input.first = Data<const float>(cells.backward_input);
  if (params.merge_outputs) {
    sequence.output.first += data.forward_sizes.outputs;
  } else {
    sequence.output.first = Data<float>(Output(context, node, 1));
  }
  return data.backward.Run(context, cells.backward, sequence);
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "LSTM",
     .code = kTfLiteBuiltinLstm,
     .min_version = 1,
     .max_version = 4,
     .types = kCellTypes | kUInt8Bit,
     .options = {1, 14},
     .params_size = sizeof(TfLiteLSTMParams),
     .parse = &ParseLstm,
     .init = &GuardedInit<&NewData<LstmData>>,
     .free = &DeleteData<LstmData>,
     .prepare = &Guarded<&PrepareLstm>,
     .invoke = &Guarded<&EvalLstm>,
     .inplace = kTfLiteInplaceOpNone,
     .refusal = &RefusedLstm},
    WithOptions<71, TfLiteUnidirectionalSequenceLSTMParams, &FillUnidirectional>(
        KernelRow<LstmData>("UNIDIRECTIONAL_SEQUENCE_LSTM",
                            kTfLiteBuiltinUnidirectionalSequenceLstm, 4, kCellTypes,
                            &Guarded<&PrepareUnidirectional>, &Guarded<&EvalCell>)),
    WithOptions<69, TfLiteBidirectionalSequenceLSTMParams, &FillBidirectional>(
        KernelRow<BidirectionalData>(
            "BIDIRECTIONAL_SEQUENCE_LSTM", kTfLiteBuiltinBidirectionalSequenceLstm, 3, kFloat32Bit,
            &Guarded<&PrepareBidirectional>, &Guarded<&EvalBidirectional>)),
};

}  // namespace

constexpr std::span<const OpDef> kLstmOps = kTable;

}  // namespace deputy
