// SPDX-License-Identifier: Apache-2.0
//
// Options of the StableHLO operators. None of these has a kernel here; a client or a delegate may
// bring one. Lists longer than the struct's arrays are refused, and so are models of the four
// operators that upstream refuses without their options.
#include <algorithm>
#include <iterator>

#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Lists ------------------------------------------------------------------------------------

// Copies a list of the options into an array of the params; false when it is too long.
template <typename T, size_t size>
bool CopyList(std::span<const T> list, T (&array)[size]) {
  if (list.size() > size) return false;
  std::ranges::copy(list, array);
  return true;
}

template <size_t size>
bool CopyLongs(const OpOptions& options, int field, int64_t (&array)[size]) {
  return CopyList<int64_t>(options.Longs(field), array);
}

// The same with the number of elements beside the array.
template <size_t size>
bool CopyLongs(const OpOptions& options, int field, int64_t (&array)[size], int* out_count) {
  *out_count = static_cast<int>(options.Longs(field).size());
  return CopyLongs(options, field, array);
}

// A list that may be left out, and has `expected` elements otherwise.
template <size_t size>
bool CopyOptional(const OpOptions& options, int field, size_t expected, int64_t value_if_absent,
                  int64_t (&array)[size]) {
  const std::vector<int64_t> list = options.Longs(field);
  if (list.empty()) {
    std::fill(std::begin(array), std::end(array), value_if_absent);
    return true;
  }
  return list.size() == expected && CopyList<int64_t>(list, array);
}

// ---- Parameters -------------------------------------------------------------------------------

// OpDef::parse for options of the second union. `needed`: refused where they are absent.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*), bool needed>
bool Parse(const OpOptions& options, void* params) {
  if (!options.As({2, member}).present()) return !needed;
  return fill(options, static_cast<Params*>(params));
}

bool FillScatter(const OpOptions& options, TfLiteStablehloScatterParams* params) {
  params->indices_are_sorted = options.Bool(0);
  params->index_vector_dim = options.Long(4);
  params->unique_indices = options.Bool(5);
  params->update_computation_subgraph_index = options.Int(6);
  return CopyLongs(options, 1, params->update_window_dims, &params->num_update_window_dims) &&
         CopyLongs(options, 2, params->inserted_window_dims, &params->num_inserted_window_dims) &&
         CopyLongs(options, 3, params->scatter_dims_to_operand_dims,
                   &params->num_scatter_dims_to_operand_dims);
}

bool FillGather(const OpOptions& options, TfLiteStablehloGatherParams* params) {
  params->index_vector_dim = options.Long(3);
  params->indices_are_sorted = options.Bool(5);
  return CopyLongs(options, 0, params->offset_dims, &params->num_offset_dims) &&
         CopyLongs(options, 1, params->collapsed_slice_dims, &params->num_collapsed_slice_dims) &&
         CopyLongs(options, 2, params->start_index_map, &params->num_start_index_map) &&
         CopyLongs(options, 4, params->slice_sizes, &params->num_slice_sizes);
}

bool FillPad(const OpOptions& options, TfLiteStablehloPadParams* params) {
  const size_t rank = options.Longs(0).size();
  return rank > 0 && options.Longs(1).size() == rank && options.Longs(2).size() == rank &&
         CopyLongs(options, 0, params->edge_padding_low) &&
         CopyLongs(options, 1, params->edge_padding_high) &&
         CopyLongs(options, 2, params->interior_padding);
}

bool FillReduceWindow(const OpOptions& options, TfLiteStablehloReduceWindowParams* params) {
  const size_t rank = options.Longs(0).size();
  params->body_subgraph_index = options.Int(5);
  return rank > 0 && CopyLongs(options, 0, params->window_dimensions) &&
         CopyOptional(options, 1, rank, 1, params->window_strides) &&
         CopyOptional(options, 2, rank, 1, params->base_dilations) &&
         CopyOptional(options, 3, rank, 1, params->window_dilations) &&
         CopyOptional(options, 4, 2 * rank, 0, params->padding);
}

// The name and the attributes stay in the model.
bool FillComposite(const OpOptions& options, TfLiteStablehloCompositeParams* params) {
  const std::span<const uint8_t> attributes = options.Bytes(2);
  params->name = options.String(0);
  params->subgraph_index = options.Int(1);
  params->attributes = attributes.empty() ? nullptr : attributes.data();
  params->attributes_size = attributes.size();
  params->version = options.Int(4);
  return params->name != nullptr;
}

bool FillCase(const OpOptions& options, TfLiteStablehloCaseParams* params) {
  const std::span<const int32_t> branches = options.Ints(0);
  params->num_branches = static_cast<uint32_t>(branches.size());
  return !branches.empty() && CopyList(branches, params->branch_subgraph_indices);
}

bool FillRngBitGenerator(const OpOptions& options, TfLiteStablehloRngBitGeneratorParams* params) {
  switch (options.Byte(0)) {
    case 0:
      params->algorithm = kTfLiteRngAlgorithmDefault;
      break;
    case 1:
      params->algorithm = kTfLiteRngAlgorithmPhilox;
      break;
    case 2:
      params->algorithm = kTfLiteRngAlgorithmThreefry;
      break;
    default:
      params->algorithm = kTfLiteRngAlgorithmUnknown;
  }
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

template <uint8_t member, bool needed, typename Params, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef Row(const char* name, TfLiteBuiltinOperator code) {
  return ParserRow(name, code, {2, member}, sizeof(Params), &Parse<member, Params, fill, needed>);
}

constexpr OpDef kTable[] = {
    Row<7, false, TfLiteStablehloScatterParams, &FillScatter>("STABLEHLO_SCATTER",
                                                              kTfLiteBuiltinStablehloScatter),
    Row<16, false, TfLiteStablehloGatherParams, &FillGather>("STABLEHLO_GATHER",
                                                             kTfLiteBuiltinStablehloGather),
    Row<10, true, TfLiteStablehloPadParams, &FillPad>("STABLEHLO_PAD", kTfLiteBuiltinStablehloPad),
    Row<13, true, TfLiteStablehloReduceWindowParams, &FillReduceWindow>(
        "STABLEHLO_REDUCE_WINDOW", kTfLiteBuiltinStablehloReduceWindow),
    Row<21, true, TfLiteStablehloCompositeParams, &FillComposite>("STABLEHLO_COMPOSITE",
                                                                  kTfLiteBuiltinStablehloComposite),
    Row<23, true, TfLiteStablehloCaseParams, &FillCase>("STABLEHLO_CASE",
                                                        kTfLiteBuiltinStablehloCase),
    Row<19, false, TfLiteStablehloRngBitGeneratorParams, &FillRngBitGenerator>(
        "STABLEHLO_RNG_BIT_GENERATOR", kTfLiteBuiltinStablehloRngBitGenerator),
    ParserRow("STABLEHLO_LOGISTIC", kTfLiteBuiltinStablehloLogistic),
    ParserRow("STABLEHLO_ADD", kTfLiteBuiltinStablehloAdd),
    ParserRow("STABLEHLO_DIVIDE", kTfLiteBuiltinStablehloDivide),
    ParserRow("STABLEHLO_MULTIPLY", kTfLiteBuiltinStablehloMultiply),
    ParserRow("STABLEHLO_MAXIMUM", kTfLiteBuiltinStablehloMaximum),
    ParserRow("STABLEHLO_RESHAPE", kTfLiteBuiltinStablehloReshape),
    ParserRow("STABLEHLO_CLAMP", kTfLiteBuiltinStablehloClamp),
    ParserRow("STABLEHLO_CONCATENATE", kTfLiteBuiltinStablehloConcatenate),
    ParserRow("STABLEHLO_BROADCAST_IN_DIM", kTfLiteBuiltinStablehloBroadcastInDim),
    ParserRow("STABLEHLO_CONVOLUTION", kTfLiteBuiltinStablehloConvolution),
    ParserRow("STABLEHLO_SLICE", kTfLiteBuiltinStablehloSlice),
    ParserRow("STABLEHLO_CUSTOM_CALL", kTfLiteBuiltinStablehloCustomCall),
    ParserRow("STABLEHLO_REDUCE", kTfLiteBuiltinStablehloReduce),
    ParserRow("STABLEHLO_ABS", kTfLiteBuiltinStablehloAbs),
    ParserRow("STABLEHLO_AND", kTfLiteBuiltinStablehloAnd),
    ParserRow("STABLEHLO_COSINE", kTfLiteBuiltinStablehloCosine),
    ParserRow("STABLEHLO_EXPONENTIAL", kTfLiteBuiltinStablehloExponential),
    ParserRow("STABLEHLO_FLOOR", kTfLiteBuiltinStablehloFloor),
    ParserRow("STABLEHLO_LOG", kTfLiteBuiltinStablehloLog),
    ParserRow("STABLEHLO_MINIMUM", kTfLiteBuiltinStablehloMinimum),
    ParserRow("STABLEHLO_NEGATE", kTfLiteBuiltinStablehloNegate),
    ParserRow("STABLEHLO_OR", kTfLiteBuiltinStablehloOr),
    ParserRow("STABLEHLO_POWER", kTfLiteBuiltinStablehloPower),
    ParserRow("STABLEHLO_REMAINDER", kTfLiteBuiltinStablehloRemainder),
    ParserRow("STABLEHLO_RSQRT", kTfLiteBuiltinStablehloRsqrt),
    ParserRow("STABLEHLO_SELECT", kTfLiteBuiltinStablehloSelect),
    ParserRow("STABLEHLO_SUBTRACT", kTfLiteBuiltinStablehloSubtract),
    ParserRow("STABLEHLO_TANH", kTfLiteBuiltinStablehloTanh),
    ParserRow("STABLEHLO_COMPARE", kTfLiteBuiltinStablehloCompare),
    ParserRow("STABLEHLO_CONVERT", kTfLiteBuiltinStablehloConvert),
    ParserRow("STABLEHLO_DYNAMIC_SLICE", kTfLiteBuiltinStablehloDynamicSlice),
    ParserRow("STABLEHLO_DYNAMIC_UPDATE_SLICE", kTfLiteBuiltinStablehloDynamicUpdateSlice),
    ParserRow("STABLEHLO_IOTA", kTfLiteBuiltinStablehloIota),
    ParserRow("STABLEHLO_DOT_GENERAL", kTfLiteBuiltinStablehloDotGeneral),
    ParserRow("STABLEHLO_SORT", kTfLiteBuiltinStablehloSort),
    ParserRow("STABLEHLO_WHILE", kTfLiteBuiltinStablehloWhile),
    ParserRow("STABLEHLO_TRANSPOSE", kTfLiteBuiltinStablehloTranspose),
    ParserRow("STABLEHLO_SHIFT_LEFT", kTfLiteBuiltinStablehloShiftLeft),
    ParserRow("STABLEHLO_CBRT", kTfLiteBuiltinStablehloCbrt),
};

}  // namespace

constexpr std::span<const OpDef> kStablehloOps = kTable;

}  // namespace deputy
