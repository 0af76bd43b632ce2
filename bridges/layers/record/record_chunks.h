// SPDX-License-Identifier: Apache-2.0
//
// Encoding of the chunks of a record (record_file.h).
#ifndef DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_CHUNKS_H_
#define DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_CHUNKS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "bridges/layers/record/record_file.h"

namespace deputy::record {

std::string Header();
// Returns "", or the reason why the bytes do not begin with the header of a record that this
// version reads. Sets `*version` to that of the format if it is one that can be read.
std::string CheckHeader(std::string_view bytes, uint32_t* version);

struct ChunkInfo {
  ChunkKind kind = ChunkKind::kLimit;
  uint64_t bytes = 0;  // of the payload
  uint64_t checksum = 0;
};
std::string ChunkHead(ChunkKind kind, std::string_view payload);
// Decodes kChunkHeadBytes bytes. Returns false if the head is damaged.
bool DecodeHead(std::string_view head, ChunkInfo* out);

std::string Encode(const Session& session);
std::string Encode(const Model& model);
std::string Encode(const CallBegin& begin);
std::string Encode(const CallEnd& end);
std::string Encode(const Note& note);
// Return false if the bytes are no valid payload of that kind. Views refer to `bytes`.
bool Decode(std::string_view bytes, Session* out);
bool Decode(std::string_view bytes, Model* out);
bool Decode(std::string_view bytes, CallBegin* out);
bool Decode(std::string_view bytes, CallEnd* out);
bool Decode(std::string_view bytes, Note* out);

}  // namespace deputy::record

#endif  // DEPUTY_BRIDGES_LAYERS_RECORD_RECORD_CHUNKS_H_
