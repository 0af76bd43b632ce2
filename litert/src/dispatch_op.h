// SPDX-License-Identifier: Apache-2.0
//
// The container of compiled models: options of operators that run byte code, and the stamp that
// names the device for which a model was compiled.
#ifndef DEPUTY_LITERT_SRC_DISPATCH_OP_H_
#define DEPUTY_LITERT_SRC_DISPATCH_OP_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "litert/c/litert_common.h"

namespace deputy::litert {

// Custom code of operators that run byte code.
inline constexpr char kDispatchOpCode[] = "DISPATCH_OP";

// Key of the metadata with the stamp.
inline constexpr char kBuildStampKey[] = "LiteRtStamp";

// Options of an operator that runs byte code.
struct DispatchOptions {
  uint64_t offset = 0;  // of the byte code, from the start of the file
  uint64_t size = 0;    // of the byte code, in bytes
  std::string name;     // entry point in the byte code
};

// Handles of programs that exist in this process only, by their entry point. They replace byte
// code.
using JitHandles = std::map<std::string, LiteRtJitExecutable>;

// Returns options as a FlexBuffers map. The size of the result depends on the name alone.
std::vector<uint8_t> WriteDispatchOptions(const DispatchOptions& options);

// Reads options. kLiteRtStatusErrorInvalidFlatbuffer if they are malformed.
LiteRtStatus ReadDispatchOptions(std::span<const uint8_t> bytes, DispatchOptions* out_options);

// Finds the byte code in its file. kLiteRtStatusErrorInvalidFlatbuffer if it is not inside.
LiteRtStatus FindByteCode(const DispatchOptions& options, std::span<const uint8_t> file,
                          std::span<const uint8_t>* out_byte_code);

// The device for which a model was compiled.
struct BuildStamp {
  std::string manufacturer;
  std::string soc_model;
};

// Writes a stamp. kLiteRtStatusErrorInvalidArgument for a string with more than 123 bytes or a
// zero.
LiteRtStatus WriteBuildStamp(const BuildStamp& stamp, std::vector<uint8_t>* out_bytes);

// Reads a stamp. kLiteRtStatusErrorInvalidArgument for another size or a string without end.
LiteRtStatus ReadBuildStamp(std::span<const uint8_t> bytes, BuildStamp* out_stamp);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_DISPATCH_OP_H_
