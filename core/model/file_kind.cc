// SPDX-License-Identifier: Apache-2.0
//
// Recognizes file formats. Formats with a magic number are rows of a table, except for ZIP, whose
// first entry counts, too. Text and protocol buffers have none and are recognized by their first
// tokens; a wrong guess only makes the message misleading.
#include "core/model/file_kind.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace deputy {
namespace {

using namespace std::string_view_literals;

// Size, in bytes, of the head of a file that is inspected.
constexpr size_t kHeadBytes = 4096;
constexpr size_t kMaxShownName = 64;

struct Magic {
  size_t offset;
  std::string_view bytes;
  const char* kind;
};
constexpr Magic kMagics[] = {
    {0, "LITERTLM"sv,
     "a LiteRT-LM bundle (.litertlm): extract the TensorFlow Lite model that it holds"},
    {0, "\x89HDF\r\n\x1a\n"sv,
     "an HDF5 file, as Keras saves models (.h5): convert it with tf.lite.TFLiteConverter"},
    {0, "\x1f\x8b"sv, "gzip data: decompress it first (gunzip)"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "xz data: decompress it first (unxz)"},
    {0, "BZh"sv, "bzip2 data: decompress it first (bunzip2)"},
    {0, "\x28\xb5\x2f\xfd"sv, "Zstandard data: decompress it first (unzstd)"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive: unpack it first"},
    {257, "ustar"sv, "a tar archive: unpack it first"},
    {0, "GGUF"sv, "a GGUF model of llama.cpp, which cannot be read"},
    {0, "\x93NUMPY"sv, "a NumPy array (.npy), not a model"},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG image, not a model"},
    {0, "\xff\xd8\xff"sv, "a JPEG image, not a model"},
    {0, "%PDF-"sv, "a PDF document, not a model"},
    {0,
     "\x7f"
     "ELF"sv,
     "a shared library or program (ELF), not a model"},
    {0, "\x80\x02"sv, "a Python pickle, as PyTorch saves models (.pt): convert it first"},
    {4, "MSL"sv,
     "a MindSpore Lite model (.ms): load it with MSModelBuildFromFile or the deputy command"},
    {4, "DWN1"sv, "an executable of the Edge TPU without its model"},
};

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool StartsWithIgnoringCase(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(),
                                                   [](char a, char b) { return a == Lower(b); });
}

// Returns the first kMaxShownName bytes of `text`, with '?' in place of all but printable ASCII.
std::string Shown(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, kMaxShownName)) {
    shown += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  }
  return shown;
}

// ---- Archives -----------------------------------------------------------------------------------

// Returns the name of the first entry; "" if it is truncated.
std::string_view FirstZipEntry(std::string_view zip) {
  constexpr size_t kLengthAt = 26, kNameAt = 30;
  if (zip.size() < kNameAt) return "";
  const size_t length = static_cast<unsigned char>(zip[kLengthAt]) +
                        size_t{256} * static_cast<unsigned char>(zip[kLengthAt + 1]);
  return length > zip.size() - kNameAt ? "" : zip.substr(kNameAt, length);
}

std::string ZipKind(std::string_view zip) {
  const std::string_view entry = FirstZipEntry(zip);
  if (entry.ends_with("/data.pkl")) {
    return "a PyTorch model (.pt, .pth): convert it first, e.g. with ai-edge-torch";
  }
  if (entry == "metadata.json" || entry == "config.json") {
    return "a Keras model (.keras): convert it with tf.lite.TFLiteConverter";
  }
  std::string kind = "a ZIP archive or .task bundle: unpack it first";
  if (!entry.empty()) kind += "; its first entry is '" + Shown(entry) + "'";
  return kind;
}

// ---- Text ---------------------------------------------------------------------------------------

std::string_view WithoutLeadingSpace(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? "" : text.substr(start);
}

// Returns the text for a Git LFS pointer, with the file's size from the "size " line.
std::string LfsPointerKind(std::string_view text) {
  std::string kind = "a Git LFS pointer instead of the file";
  const size_t at = text.find("\nsize ");
  if (at != std::string_view::npos) {
    const std::string_view size = text.substr(at + 6);
    const std::string_view digits = size.substr(0, size.find_first_not_of("0123456789"));
    kind += " of " + Shown(digits) + " bytes";
  }
  return kind + ": fetch it with 'git lfs pull'";
}

// Returns the length in bytes of the UTF-8 sequence that starts with `byte`; 0 if it starts none or
// is a control character other than tab, CR and LF.
size_t SequenceLength(unsigned char byte) {
  if (byte == '\n' || byte == '\r' || byte == '\t') return 1;
  if (byte < 0x80) return byte >= 0x20 && byte != 0x7f ? 1 : 0;
  if (byte < 0xc2 || byte > 0xf4) return 0;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

// Returns true for UTF-8 without control characters; the last sequence may be truncated.
bool IsText(std::string_view head) {
  for (size_t at = 0; at < head.size();) {
    const size_t length = SequenceLength(static_cast<unsigned char>(head[at]));
    if (length == 0) return false;
    for (size_t i = 1; i < length && at + i < head.size(); ++i) {
      if ((static_cast<unsigned char>(head[at + i]) & 0xc0) != 0x80) return false;
    }
    at += length;
  }
  return !head.empty();
}

std::string TextKind(std::string_view head) {
  if (head.starts_with("version https://git-lfs.github.com/")) return LfsPointerKind(head);
  const std::string_view text = WithoutLeadingSpace(head);
  if (StartsWithIgnoringCase(text, "<!doctype html") || StartsWithIgnoringCase(text, "<html")) {
    return "an HTML page, perhaps of a failed download or a sign-in: download the file itself";
  }
  if (!IsText(head)) return "";
  if (text.starts_with("<")) return "an XML document, not a model";
  if (text.starts_with("{") || text.starts_with("[")) return "JSON text, not a model";
  return "text, not a model: it starts with '" + Shown(text.substr(0, text.find('\n'))) + "'";
}

// ---- Protocol buffers ---------------------------------------------------------------------------

std::optional<uint64_t> TakeVarint(std::string_view* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>((*bytes)[i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

// Field keys: number * 8 + wire type.
enum Field : uint64_t {
  kField1Varint = 1 << 3,
  kField1Bytes = 1 << 3 | 2,
  kField2Bytes = 2 << 3 | 2,
};

// Returns true for keys that may follow ir_version in an ONNX ModelProto: producer, domain,
// version, text, graph, opsets, metadata.
bool IsOnnxField(uint64_t key) {
  constexpr uint64_t kKeys[] = {2 << 3 | 2, 3 << 3 | 2, 4 << 3 | 2, 5 << 3,
                                6 << 3 | 2, 7 << 3 | 2, 8 << 3 | 2, 14 << 3 | 2};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

// Returns true if the message starts with a non-empty string field that fits into it, as NodeDef
// with its name.
bool StartsWithString(std::string_view message) {
  const std::optional<uint64_t> size = TakeVarint(&message);
  if (size.value_or(0) == 0 || TakeVarint(&message) != kField1Bytes) return false;
  const std::optional<uint64_t> name = TakeVarint(&message);
  return name.value_or(0) != 0 && *name < *size;
}

std::string ProtocolBufferKind(std::string_view bytes) {
  constexpr uint64_t kMaxVersion = 64;
  constexpr const char* kTensorFlow =
      "a TensorFlow graph (.pb): convert it with tf.lite.TFLiteConverter";
  const std::optional<uint64_t> first = TakeVarint(&bytes);
  if (first == kField1Bytes) return StartsWithString(bytes) ? kTensorFlow : "";
  if (first != kField1Varint) return "";
  const std::optional<uint64_t> version = TakeVarint(&bytes);
  if (version.value_or(0) == 0 || *version > kMaxVersion) return "";
  const std::optional<uint64_t> second = TakeVarint(&bytes);
  if (!second || !IsOnnxField(*second)) return "";
  // SavedModel: schema version 1, then a MetaGraphDef, which starts with a message.
  std::string_view message = bytes;
  if (version == 1 && second == kField2Bytes && TakeVarint(&message) &&
      TakeVarint(&message) == kField1Bytes) {
    return kTensorFlow;
  }
  return "an ONNX model (.onnx): convert it first, e.g. with onnx2tf";
}

// Recognizes any FlatBuffer whose file identifier consists of letters and digits.
std::string FlatBufferKind(std::string_view bytes) {
  constexpr size_t kIdentifierAt = 4, kIdentifierBytes = 4;
  if (bytes.size() < kIdentifierAt + kIdentifierBytes) return "";
  const std::string_view identifier = bytes.substr(kIdentifierAt, kIdentifierBytes);
  const bool shown = std::all_of(identifier.begin(), identifier.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  if (!shown) return "";
  return "a FlatBuffer with the identifier '" + std::string(identifier) + "'" +
         (identifier == "TFL2" || identifier == "TFL1"
              ? ": an older schema, or data of another tool such as an Edge TPU's"
              : "");
}

}  // namespace

std::string FileKind(std::span<const uint8_t> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kHeadBytes));
  for (const Magic& magic : kMagics) {
    if (head.size() >= magic.offset && head.substr(magic.offset).starts_with(magic.bytes)) {
      return magic.kind;
    }
  }
  if (head.starts_with("PK\x03\x04")) return ZipKind(head);
  for (const auto kind_of : {TextKind, ProtocolBufferKind, FlatBufferKind}) {
    if (std::string kind = kind_of(head); !kind.empty()) return kind;
  }
  return "";
}

}  // namespace deputy
