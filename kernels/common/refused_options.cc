// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/refused_options.h"

#include <cstddef>

#include "c_api/include/builtin_op_data.h"

namespace deputy {
namespace {

std::string NotProvided(const char* name) {
  return std::string("Input array not provided for operation '") + name + "'.\n";
}

std::string TooManyDimensions(const char* name) {
  return std::string("Found too many dimensions in the input array of operation '") + name + "'.\n";
}

std::string CheckAttribute(const char* attribute) {
  return std::string("Check the '") + attribute + "' attribute.";
}

std::string NoParameters(const char* name) {
  return std::string("Could not get '") + name + "' operation parameters.";
}

}  // namespace

std::string RefusedReshape(const OpOptions&) { return TooManyDimensions("reshape"); }
std::string RefusedSqueeze(const OpOptions&) { return TooManyDimensions("squeeze"); }

std::string RefusedBucketize(const OpOptions&) {
  return "boundaries array not provided for operation 'bucketize'.\n";
}

std::string RefusedLstm(const OpOptions& options) {
  if (!options.present()) return "No valid LSTM builtin options exist";
  return "Unhandled LSTM kernel type: " + std::to_string(options.Byte(3));
}

std::string RefusedFullyConnected(const OpOptions&) {
  return "Unhandled fully-connected weights format.";
}

std::string RefusedStablehloPad(const OpOptions& options) {
  constexpr const char* kName = "stablehlo.pad";
  if (!options.present()) return NoParameters(kName);
  int field = 0;
  for (const char* attribute : {"edge_padding_low", "edge_padding_high", "interior_padding"}) {
    const size_t count = options.Longs(field++).size();
    if (count == 0) return NotProvided(kName) + CheckAttribute(attribute);
    if (count > TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT) {
      return TooManyDimensions(kName) + CheckAttribute(attribute);
    }
  }
  return "'stablehlo.pad' operation parameter array sizes are not consistent.";
}

std::string RefusedStablehloReduceWindow(const OpOptions& options) {
  constexpr const char* kName = "stablehlo.reduce_window";
  if (!options.present()) return NoParameters(kName);
  const size_t rank = options.Longs(0).size();
  if (rank == 0) {
    return "'window_dimensions' attribute is not optional for 'stablehlo.reduce_window' and cannot "
           "be empty.";
  }
  int field = 0;
  for (const char* attribute :
       {"window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"}) {
    const size_t expected = field == 4 ? 2 * rank : rank;
    const size_t count = options.Longs(field++).size();
    if (count != 0 && count != expected) {
      return std::string("'") + attribute +
             "' attribute of 'stablehlo.reduce_window' does not have the expected size (" +
             std::to_string(count) + " != " + std::to_string(expected) + ").";
    }
    if (rank > TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT) {
      return TooManyDimensions(kName) + CheckAttribute(attribute);
    }
  }
  return NoParameters(kName);
}

std::string RefusedStablehloComposite(const OpOptions& options) {
  if (!options.present()) return NoParameters("stablehlo.composite");
  return "'stablehlo.composite' missing required option 'name'.";
}

std::string RefusedStablehloCase(const OpOptions& options) {
  constexpr const char* kName = "stablehlo.case";
  if (!options.present()) return NoParameters(kName);
  return (options.Ints(0).empty() ? NotProvided(kName) : TooManyDimensions(kName)) +
         CheckAttribute("branch subgraph indices");
}

}  // namespace deputy
