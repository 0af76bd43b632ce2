// SPDX-License-Identifier: Apache-2.0
//
// RNN, its two sequence variants, and SVDF. States are variable tensors among the inputs and
// persist between inferences. The cell's computation is in kernels/rnn.
#include <algorithm>
#include <limits>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/implementation.h"
#include "kernels/rnn/rnn_layer.h"
#include "kernels/rnn/svdf.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillRnn(const OpOptions& options, TfLiteRNNParams* params) {
  params->activation = options.Activation(0);
  params->asymmetric_quantize_inputs = options.Bool(1);
  return true;
}

bool FillSequenceRnn(const OpOptions& options, TfLiteSequenceRNNParams* params) {
  params->time_major = options.Bool(0);
  params->activation = options.Activation(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

bool FillBidirectional(const OpOptions& options, TfLiteBidirectionalSequenceRNNParams* params) {
  params->time_major = options.Bool(0);
  params->activation = options.Activation(1);
  params->merge_outputs = options.Bool(2);
  params->asymmetric_quantize_inputs = options.Bool(3);
  return true;
}

bool FillSvdf(const OpOptions& options, TfLiteSVDFParams* params) {
  params->rank = options.Int(0);
  params->activation = options.Activation(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

// ---- RNN and UNIDIRECTIONAL_SEQUENCE_RNN --------------------------------------------------------

struct RnnData {
  bool time_major = false;
  SequenceShape shape;
  RnnLayer layer;
};

// Returns the cell whose tensors (input weights, recurrent weights, bias and state) are the inputs
// from `first` on, and whose auxiliary weights are input `auxiliary`.
RnnCell ReadCell(TfLiteContext* context, const TfLiteNode* node, int first, int auxiliary) {
  RnnCell cell;
  cell.input = Input(context, node, first);
  cell.recurrent = Input(context, node, first + 1);
  cell.bias = Input(context, node, first + 2);
  cell.state = Input(context, node, first + 3);
  if (auxiliary >= 0) cell.auxiliary = Input(context, node, auxiliary);
  return cell;
}

TfLiteStatus PackCell(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<RnnData>(node).layer.Pack(context, ReadCell(context, node, 1, -1));
}

TfLiteStatus PrepareCell(TfLiteContext* context, TfLiteNode* node, int rank, bool time_major,
                         TfLiteFusedActivation activation, bool asymmetric) {
  DEPUTY_TRY(CheckNode(context, node, 5, 5, 1));
  RnnData& data = DataOf<RnnData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, input, rank));
  DEPUTY_TRY(CheckSameType(context, output, input));
  data.time_major = time_major;
  data.shape = ShapeOfSequence(input, time_major);
  DEPUTY_TRY(data.layer.Prepare(context, ReadCell(context, node, 1, -1),
                                {data.shape.batches, data.shape.depth, 0}, activation, asymmetric));
  AnnounceScratch(context, data.layer.ScratchBytes(ThreadCount(context)));
  RequestPacking(context, node, &Guarded<&PackCell>);
  int dims[3];
  std::copy_n(input->dims->data, rank, dims);
  dims[rank - 1] = data.layer.units();
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareRnn(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteRNNParams>(node);
  return PrepareCell(context, node, 2, true, params.activation, params.asymmetric_quantize_inputs);
}

TfLiteStatus PrepareSequence(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteSequenceRNNParams>(node);
  return PrepareCell(context, node, 3, params.time_major, params.activation,
                     params.asymmetric_quantize_inputs);
}

TfLiteStatus EvalCell(TfLiteContext* context, TfLiteNode* node) {
  RnnData& data = DataOf<RnnData>(node);
  RnnSequence sequence;
  sequence.steps = data.shape.steps;
  sequence.input = VectorsAt(Data<const float>(Input(context, node, 0)), data.shape,
                             data.shape.depth, data.time_major);
  sequence.output = VectorsAt(Data<float>(Output(context, node, 0)), data.shape, data.layer.units(),
                              data.time_major);
  return data.layer.Run(context, ReadCell(context, node, 1, -1), sequence);
}

// ---- BIDIRECTIONAL_SEQUENCE_RNN ----------------------------------------------------------------

// Data of a node with two cells, one of which processes the sequence forwards, the other backwards.
// An auxiliary input with weights is read by both; without weights it replaces the input of the
// backward cell if the sequence is time-major (otherwise TensorFlow Lite ignores it).
struct BidirectionalData {
  SequenceShape shape;
  int auxiliary_inputs = 0;
  int width = 0;  // number of values in a vector of the first output
  RnnLayer forward, backward;
};

constexpr int kAuxiliaryInput = 9;

struct BothCells {
  RnnCell forward, backward;
  const TfLiteTensor *input, *backward_input;
  const TfLiteTensor* auxiliary;  // null if there is no auxiliary input with weights
};

BothCells ReadBothCells(TfLiteContext* context, const TfLiteNode* node) {
  BothCells cells;
  cells.forward = ReadCell(context, node, 1, kAuxiliaryInput + 1);
  cells.backward = ReadCell(context, node, 5, kAuxiliaryInput + 2);
  cells.input = cells.backward_input = Input(context, node, 0);
  cells.auxiliary = Input(context, node, kAuxiliaryInput);
  if (cells.auxiliary == nullptr || cells.forward.auxiliary != nullptr) return cells;
  if (ParamsOf<TfLiteBidirectionalSequenceRNNParams>(node).time_major) {
    cells.backward_input = cells.auxiliary;
  }
  cells.auxiliary = nullptr;
  return cells;
}

TfLiteStatus CheckAuxiliary(TfLiteContext* context, const BothCells& cells) {
  const bool forward = cells.forward.auxiliary != nullptr;
  if (forward != (cells.backward.auxiliary != nullptr) || (forward && cells.auxiliary == nullptr)) {
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

TfLiteStatus ResizeBothOutputs(TfLiteContext* context, TfLiteNode* node, bool merge,
                               BidirectionalData* data) {
  const TfLiteTensor* input = Input(context, node, 0);
  const int64_t both = int64_t{data->forward.units()} + data->backward.units();
  if (both > std::numeric_limits<int>::max()) {
    return KernelError(context, "expected fewer than 2^31 units, found %lld",
                       static_cast<long long>(both));
  }
  data->width = merge ? static_cast<int>(both) : data->forward.units();
  const int widths[] = {data->width, data->backward.units()};
  for (int i = 0; i < node->outputs->size; ++i) {
    TfLiteTensor* output = Output(context, node, i);
    DEPUTY_TRY(CheckSameType(context, output, input));
    const int dims[] = {Dim(input, 0), Dim(input, 1), widths[i]};
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
  const auto& params = ParamsOf<TfLiteBidirectionalSequenceRNNParams>(node);
  BidirectionalData& data = DataOf<BidirectionalData>(node);
  DEPUTY_TRY(
      CheckNode(context, node, kAuxiliaryInput, kAuxiliaryInput + 3, params.merge_outputs ? 1 : 2));
  if (node->inputs->size != kAuxiliaryInput + 3) {
    return KernelError(context, "expected %d inputs, found %d", kAuxiliaryInput + 3,
                       node->inputs->size);
  }
  const BothCells cells = ReadBothCells(context, node);
  DEPUTY_TRY(CheckType(context, cells.input, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, cells.input, 3));
  DEPUTY_TRY(CheckAuxiliary(context, cells));
  data.shape = ShapeOfSequence(cells.input, params.time_major);
  data.auxiliary_inputs = cells.auxiliary == nullptr ? 0 : Dim(cells.auxiliary, 2);
  const RnnSizes sizes = {data.shape.batches, data.shape.depth, data.auxiliary_inputs};
  DEPUTY_TRY(CheckSameType(context, cells.backward.input, cells.forward.input));
  DEPUTY_TRY(data.forward.Prepare(context, cells.forward, sizes, params.activation,
                                  params.asymmetric_quantize_inputs));
  DEPUTY_TRY(data.backward.Prepare(context, cells.backward, sizes, params.activation,
                                   params.asymmetric_quantize_inputs));
  for (const RnnLayer* layer : {&data.forward, &data.backward}) {
    AnnounceScratch(context, layer->ScratchBytes(ThreadCount(context)));
  }
  RequestPacking(context, node, &Guarded<&PackBidirectional>);
  return ResizeBothOutputs(context, node, params.merge_outputs, &data);
}

TfLiteStatus RunRounds(TfLiteContext* context, RnnLayer* layer, const RnnCell& cell,
                       const RnnSequence& sequence, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    DEPUTY_TRY(layer->Run(context, cell, sequence));
  }
  return kTfLiteOk;
}

TfLiteStatus EvalBidirectional(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteBidirectionalSequenceRNNParams>(node);
  BidirectionalData& data = DataOf<BidirectionalData>(node);
  const BothCells cells = ReadBothCells(context, node);
  const bool time_major = params.time_major;
  RnnSequence sequence;
  sequence.steps = data.shape.steps;
  sequence.input =
      VectorsAt(Data<const float>(cells.input), data.shape, data.shape.depth, time_major);
  if (cells.auxiliary != nullptr) {
    sequence.auxiliary = VectorsAt(Data<const float>(cells.auxiliary), data.shape,
                                   data.auxiliary_inputs, time_major);
  }
  sequence.output =
      VectorsAt(Data<float>(Output(context, node, 0)), data.shape, data.width, time_major);
  // TensorFlow Lite's hybrid kernel processes a time-major sequence as many times as it has steps.
  const int rounds =
      time_major && IsHybridWeight(cells.forward.input) ? std::max(1, data.shape.steps) : 1;
  DEPUTY_TRY(RunRounds(context, &data.forward, cells.forward, sequence, rounds));
  sequence.backward = true;
  sequence.input.first = Data<const float>(cells.backward_input);
  if (params.merge_outputs) {
    sequence.output.first += data.forward.units();
  } else {
    sequence.output = VectorsAt(Data<float>(Output(context, node, 1)), data.shape,
                                data.backward.units(), time_major);
  }
  return RunRounds(context, &data.backward, cells.backward, sequence, rounds);
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<7, TfLiteRNNParams, &FillRnn>(KernelRow<RnnData>(
        "RNN", kTfLiteBuiltinRnn, 3, kFloat32Bit, &Guarded<&PrepareRnn>, &Guarded<&EvalCell>)),
    WithOptions<31, TfLiteSequenceRNNParams, &FillSequenceRnn>(
        KernelRow<RnnData>("UNIDIRECTIONAL_SEQUENCE_RNN", kTfLiteBuiltinUnidirectionalSequenceRnn,
                           3, kFloat32Bit, &Guarded<&PrepareSequence>, &Guarded<&EvalCell>)),
    WithOptions<70, TfLiteBidirectionalSequenceRNNParams, &FillBidirectional>(
        KernelRow<BidirectionalData>(
            "BIDIRECTIONAL_SEQUENCE_RNN", kTfLiteBuiltinBidirectionalSequenceRnn, 3, kFloat32Bit,
            &Guarded<&PrepareBidirectional>, &Guarded<&EvalBidirectional>)),
    {.name = "SVDF",
     .code = kTfLiteBuiltinSvdf,
     .min_version = 1,
     .max_version = 4,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 6},
     .params_size = sizeof(TfLiteSVDFParams),
     .parse = &ParseOptions<6, TfLiteSVDFParams, &FillSvdf>,
     .init = &GuardedInit<&NewSvdf>,
     .free = &DeleteSvdf,
     .prepare = &Guarded<&PrepareSvdf>,
     .invoke = &Guarded<&EvalSvdf>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kRnnOps = kTable;

}  // namespace deputy
