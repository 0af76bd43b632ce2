// SPDX-License-Identifier: Apache-2.0
//
// The part of the C ABI of Qualcomm's libhexagon_interface.so that the delegate uses: structs,
// twenty functions, and the codes of operations. Fields and functions have the vendor's names, in
// this project's spelling; no header of the vendor is included.
//
// A graph consists of nodes with ids that the caller chooses, from 1. A node reads outputs of other
// nodes and has outputs of its own; constants are nodes, too. All tensors have four dimensions. A
// quantised 8-bit tensor is uint8 and is accompanied by two tensors with one float each: the real
// values that 0 and 255 represent.
#ifndef DEPUTY_BRIDGES_HEXAGON_HEXAGON_NN_H_
#define DEPUTY_BRIDGES_HEXAGON_HEXAGON_NN_H_

#include <cstdint>

namespace deputy::hexagon {

// Source of a node's input: a node, and the index of one of its outputs.
struct NnInput {
  uint32_t node;
  uint32_t output;
};

// Description of an output: rank, upper bounds of its dimensions, element size, quantisation.
struct NnOutput {
  uint32_t rank;
  uint32_t max_sizes[8];
  uint32_t element_size;
  int32_t zero_offset;
  float step_size;
};

// A tensor in the caller's memory, for one execution.
struct NnTensor {
  uint32_t batches, height, width, depth;
  uint8_t* data;
  int32_t data_bytes;         // capacity of `data` in bytes
  uint32_t data_valid_bytes;  // bytes in use; set by the device for outputs
  uint32_t unused;
};

struct NnPerfInfo {
  uint32_t node;
  uint32_t operation;
  uint32_t executions;
  uint32_t unused;
  uint32_t counter_low, counter_high;
};

using NnGraph = int32_t;

enum NnPadding : int32_t { kNnPadNone = 0, kNnPadSame = 1, kNnPadValid = 2 };

// Codes of operations, from the public headers of nnlib, which only append new codes. The loader
// compares each code with the library's name for it.
enum NnOperation : uint32_t {
  kNnInput = 0,
  kNnOutput = 1,
  kNnConst = 3,
  kNnMatMul8x8to32 = 17,
  kNnRelu8 = 21,
  kNnReluX8 = 23,
  kNnMaxPool8 = 25,
  kNnAvgPool8 = 27,
  kNnConcat8 = 31,
  kNnReshape = 59,
  kNnRequantize32to8 = 70,
  kNnMul8x8to32 = 112,
  kNnSigmoid8 = 116,
  kNnTanh8 = 118,
  kNnSoftmax8 = 120,
  kNnMaximum8 = 128,
  kNnMinimum8 = 130,
  kNnPad8 = 135,
  kNnAdd8p8to8 = 141,
  kNnResizeBilinear8 = 142,
  kNnBiasAdd32p32to32 = 178,
  kNnSupernode8x8p32to8 = 182,
  kNnDepthwiseSupernode8x8p32to8 = 183,
  kNnTranspose8 = 282,
  kNnSub8p8to8 = 299,
  kNnMean8 = 355,
  kNnRequantize8to8 = 419,
};

struct NnOperationName {
  NnOperation operation;
  const char* name;
};

inline constexpr NnOperationName kNnOperationNames[] = {
    {kNnInput, "INPUT"},
    {kNnOutput, "OUTPUT"},
    {kNnConst, "Const"},
    {kNnMatMul8x8to32, "QuantizedMatMul_8x8to32"},
    {kNnRelu8, "QuantizedRelu_8"},
    {kNnReluX8, "QuantizedReluX_8"},
    {kNnMaxPool8, "QuantizedMaxPool_8"},
    {kNnAvgPool8, "QuantizedAvgPool_8"},
    {kNnConcat8, "QuantizedConcat_8"},
    {kNnReshape, "Reshape"},
    {kNnRequantize32to8, "Requantize_32to8"},
    {kNnMul8x8to32, "QuantizedMul_8x8to32"},
    {kNnSigmoid8, "QuantizedSigmoid_8"},
    {kNnTanh8, "QuantizedTanh_8"},
    {kNnSoftmax8, "QuantizedSoftmax_8"},
    {kNnMaximum8, "QuantizedMaximum_8"},
    {kNnMinimum8, "QuantizedMinimum_8"},
    {kNnPad8, "QuantizedPad_8"},
    {kNnAdd8p8to8, "QuantizedAdd_8p8to8"},
    {kNnResizeBilinear8, "QuantizedResizeBilinear_8"},
    {kNnBiasAdd32p32to32, "QuantizedBiasAdd_32p32to32"},
    {kNnSupernode8x8p32to8, "Supernode_8x8p32to8"},
    {kNnDepthwiseSupernode8x8p32to8, "DepthwiseSupernode_8x8p32to8"},
    {kNnTranspose8, "Transpose_8"},
    {kNnSub8p8to8, "QuantizedSub_8p8to8"},
    {kNnMean8, "QuantizedMean_8"},
    {kNnRequantize8to8, "Requantize_8to8"},
};

// List of the functions, as F(member, result, parameters); the symbol is hexagon_nn_<member>.
// Functions that return a status return 0 on success.
#define DEPUTY_HEXAGON_FUNCTIONS(F)                                                                \
  F(config, int, ())                                                                               \
  F(init, int, (NnGraph * out_graph))                                                              \
  F(prepare, int, (NnGraph graph))                                                                 \
  F(set_powersave_level, int, (uint32_t level))                                                    \
  F(set_debug_level, int, (NnGraph graph, int level))                                              \
  F(append_node, int,                                                                              \
    (NnGraph graph, uint32_t node, uint32_t operation, NnPadding padding, const NnInput* inputs,   \
     int input_count, const NnOutput* outputs, int output_count))                                  \
  F(append_const_node, int,                                                                        \
    (NnGraph graph, uint32_t node, uint32_t batches, uint32_t height, uint32_t width,              \
     uint32_t depth, const uint8_t* data, int bytes))                                              \
  F(execute, int,                                                                                  \
    (NnGraph graph, uint32_t batches_in, uint32_t height_in, uint32_t width_in, uint32_t depth_in, \
     const uint8_t* data_in, int bytes_in, uint32_t* batches_out, uint32_t* height_out,            \
     uint32_t* width_out, uint32_t* depth_out, uint8_t* data_out, int bytes_out,                   \
     uint32_t* valid_bytes_out))                                                                   \
  F(execute_new, int,                                                                              \
    (NnGraph graph, const NnTensor* inputs, int input_count, NnTensor* outputs, int output_count)) \
  F(teardown, int, (NnGraph graph))                                                                \
  F(snpprint, int, (NnGraph graph, uint8_t * text, int bytes))                                     \
  F(getlog, int, (NnGraph graph, uint8_t * text, int bytes))                                       \
  F(get_perfinfo, int, (NnGraph graph, NnPerfInfo * info, int capacity, uint32_t* out_count))      \
  F(reset_perfinfo, int, (NnGraph graph, uint32_t event))                                          \
  F(op_id_to_name, int, (uint32_t operation, char* name, int bytes))                               \
  F(global_teardown, void, ())                                                                     \
  F(global_init, void, ())                                                                         \
  F(is_device_supported, bool, ())                                                                 \
  F(version, int, (int* out_version))                                                              \
  F(hexagon_interface_version, int, ())

// The library's functions, by the members of DEPUTY_HEXAGON_FUNCTIONS.
struct NnFunctions {
#define DEPUTY_HEXAGON_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  DEPUTY_HEXAGON_FUNCTIONS(DEPUTY_HEXAGON_MEMBER)
#undef DEPUTY_HEXAGON_MEMBER
};

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_HEXAGON_NN_H_
