// SPDX-License-Identifier: Apache-2.0
//
// Names the format of a file that is not a TensorFlow Lite model, for error messages.
#ifndef DEPUTY_CORE_MODEL_FILE_KIND_H_
#define DEPUTY_CORE_MODEL_FILE_KIND_H_

#include <cstdint>
#include <span>
#include <string>

namespace deputy {

// Returns a noun phrase, mostly with the next step for the user, e.g. "gzip data: decompress it
// first (gunzip)"; "" if the format is unknown. `bytes` is the whole file, with any contents.
std::string FileKind(std::span<const uint8_t> bytes);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_FILE_KIND_H_
