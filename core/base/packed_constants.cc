// SPDX-License-Identifier: Apache-2.0
#include "core/base/packed_constants.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>
#include <utility>

#include "core/base/pages.h"
#include "core/base/thread_pool.h"
#include "core/support/int_math.h"

namespace deputy {
namespace {

constexpr size_t kMinChunk = size_t{64} << 10, kMaxChunk = size_t{8} << 20;

std::atomic<bool> overwrites_discarded{false};

// Estimates the packed size of constants, which grow because columns are padded to whole panels.
constexpr size_t Packed(size_t bytes) { return bytes / 8 * 9; }

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Returns the number of bytes to the first page that begins at or after `data`.
size_t ToPage(const char* data) {
  return (PageBytes() - reinterpret_cast<uintptr_t>(data) % PageBytes()) % PageBytes();
}

bool IsIn(const char* data, const WeightFilePiece& piece) {
  const std::less<> before;
  return !before(data, piece.data) && before(data, piece.data + piece.bytes);
}

}  // namespace

char* PackedConstants::Chunk::Take(size_t bytes, ThreadPool* pool) {
  const size_t begin = std::exchange(used, used + bytes);
  // Without huge pages, prefaulting many pages at a time takes a third of the time of as many page
  // faults.
  if (pool != nullptr && used > resident && resident < expected) {
    // Number of bytes to prefault at a time, limited so that the zeroed memory is still in the
    // cache when it is written.
    const size_t at_once = pool->threads() > 1 ? size_t{8} << 20 : size_t{256} << 10;
    const size_t end = std::min(expected, std::max(used, resident + at_once));
    MakeResident(block.data() + resident, end - resident, pool);
    resident = end;
  }
  return block.data() + begin;
}

char* PackedConstants::Place(size_t bytes, const Limits& limits, ThreadPool* pool) {
  size_t rounded;
  if (!AddSizes(bytes, kTensorAlignment - 1, &rounded)) return nullptr;
  rounded -= rounded % kTensorAlignment;
  for (Chunk& chunk : chunks_) {
    if (chunk.capacity - chunk.used < rounded) continue;
    return chunk.Take(rounded, pool);
  }
  // Chunks that will be mapped consist of whole pages.
  const size_t margin = storage_ == nullptr ? 0 : 2 * PageBytes();
  if (!AddSizes(rounded, margin, &rounded)) return nullptr;
  // Chunk sizes grow quickly, so that there are few chunks; unused pages are released.
  const size_t chunk_bytes = std::clamp(4 * bytes_.load(), kMinChunk, kMaxChunk);
  const size_t expected = expected_ > bytes_ ? expected_ - bytes_ : 0;
  Chunk chunk;
  if (!chunk.block.Reserve(InLargePages(std::max({chunk_bytes, Packed(expected), rounded})), 0,
                           limits) &&
      !chunk.block.Reserve(std::max(chunk_bytes, rounded), 0, limits) &&
      !chunk.block.Reserve(rounded, 0, limits)) {
    return nullptr;
  }
  chunk.expected = std::min(InLargePages(expected), chunk.block.size());
  chunk.capacity = chunk.block.size();
  if (margin != 0) {
    chunk.is_paged = true;
    chunk.used = ToPage(chunk.block.data());
    chunk.capacity -= (chunk.capacity - chunk.used) % PageBytes();
  }
  chunks_.push_back(std::move(chunk));
  return chunks_.back().Take(rounded - margin, pool);
}

// Computes the name of values in a file. Returns false if they have none: the source is neither a
// constant of the model nor values with a name.
bool PackedConstants::SetName(const FullKey& key, Values* values) const {
  if (storage_ == nullptr) return false;
  const LoadedModule& module = ThisModule();
  const auto form = reinterpret_cast<uintptr_t>(key.first.form);
  if (form < module.begin || form >= module.end) return false;
  DeputyFingerprint& name = values->name;
  DeputyFingerprintInit(&name);
  const std::span<const uint8_t> model = storage_->identity.model();
  const auto* const constant = static_cast<const uint8_t*>(key.first.constant);
  const std::less<> before;
  if (!before(constant, model.data()) && before(constant, model.data() + model.size())) {
    DeputyFingerprintStep(&name, static_cast<uint64_t>(constant - model.data()));
  } else {
    const auto source = storage_->names.find(constant);
    if (source == storage_->names.end()) return false;
    DeputyFingerprintAdd(&name, &source->second, sizeof source->second);
  }
  DeputyFingerprintStep(&name, form - module.base);
  DeputyFingerprintAdd(&name, key.first.layout.data(), sizeof key.first.layout);
  DeputyFingerprintAdd(&name, key.second.data(), key.second.size());
  values->has_name = true;
  return true;
}

const char* PackedConstants::Add(FullKey&& key, const Values& values) {
  if (values.has_name) storage_->names[values.data] = values.name;
  places_.emplace(std::move(key), values);
  return values.data;
}

const char* PackedConstants::FindOrMake(const PackedKey& key, std::string parameters, size_t bytes,
                                        const Limits& limits, ThreadPool* pool, FillFunction call,
                                        const void* fill) {
  FullKey full_key(key, std::move(parameters));
  // The lock is held during the fill, so that a second caller waits for the values instead of
  // computing them again.
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(full_key);
  const bool is_new = found == places_.end();
  if (!is_new && found->second.is_filled) return found->second.data;
  if (!is_new && found->second.is_mapped) {
    found->second.is_filled = true;
    bytes_ += found->second.bytes;
    return found->second.data;
  }
  Values values = {.bytes = bytes, .is_filled = true};
  if (is_new && bytes <= limits.max_block_bytes && SetName(full_key, &values) &&
      storage_->file != nullptr) {
    values.data = storage_->file->Find(values.name, bytes);
    values.is_mapped = values.data != nullptr;
  }
  if (values.is_mapped) {
    ++storage_->use.reused;
    storage_->use.mapped_bytes += bytes;
    bytes_ += bytes;
    return Add(std::move(full_key), values);
  }
  // Memory of this object is writable unless it is mapped.
  char* const place = is_new ? Place(bytes, limits, pool) : const_cast<char*>(found->second.data);
  if (place == nullptr) return nullptr;
  // The fill may throw, so the entry is added or changed afterwards.
  call(fill, place);
  bytes_ += bytes;
  if (!is_new) {
    found->second.is_filled = true;
    return place;
  }
  if (values.has_name) {
    ++storage_->use.packed;
    storage_->is_changed = true;
  }
  values.data = place;
  return Add(std::move(full_key), values);
}

char* PackedConstants::Reserve(size_t bytes, const Limits& limits, ThreadPool* pool) {
  const std::lock_guard lock(mutex_);
  char* const place = Place(bytes, limits, pool);
  if (place != nullptr) bytes_ += bytes;
  return place;
}

void PackedConstants::Expect(size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!AddSizes(bytes_, bytes, &expected_)) expected_ = 0;
}

bool PackedConstants::UseFile(const std::string& path, const Source& source,
                              std::span<const uint8_t> stored) {
  const std::lock_guard lock(mutex_);
  if (storage_ != nullptr || source.model.empty()) return true;
  const std::string& build = ThisModule().build_id;
  if (build.empty()) return false;
  auto storage = std::make_unique<Storage>();
  storage->path = path;
  DeputyFingerprint code;
  DeputyFingerprintInit(&code);
  DeputyFingerprintAdd(&code, build.data(), build.size());
  DeputyFingerprintAdd(&code, source.code.data(), source.code.size());
  storage->identity = WeightFileIdentity(code, source.model, source.model_file);
  if (!path.empty()) {
    storage->file = WeightFile::Open(path.c_str(), &storage->identity, &storage->use.state);
  }
  if (storage->file == nullptr && !stored.empty()) {
    storage->file = WeightFile::Use(stored, &storage->identity, &storage->use.state);
  }
  // The hash is needed to write the file. It is computed before constants are packed, because
  // packing releases their pages.
  if (storage->file == nullptr) storage->identity.fingerprint();
  storage_ = std::move(storage);
  return true;
}

bool PackedConstants::SaveFile() {
  const std::lock_guard lock(mutex_);
  if (storage_ == nullptr || storage_->path.empty() ||
      !std::exchange(storage_->is_changed, false)) {
    return true;
  }
  std::vector<WeightFilePiece> pieces;
  for (const Chunk& chunk : chunks_) {
    const size_t begin = chunk.is_paged ? ToPage(chunk.block.data()) : 0;
    pieces.push_back({chunk.block.data() + begin, chunk.used - begin, PageBytes()});
  }
  std::vector<WeightFileValue> stored;
  for (const auto& [key, values] : places_) {
    if (!values.has_name || !(values.is_filled || values.is_mapped)) continue;
    size_t piece = 0;
    while (piece < pieces.size() && !IsIn(values.data, pieces[piece])) ++piece;
    if (piece == chunks_.size()) continue;
    stored.push_back({values.name, piece, values.data, values.bytes});
  }
  if (storage_->file != nullptr) {
    for (const WeightFileEntry& entry : storage_->file->entries()) {
      if (!storage_->file->IsIntact(entry)) continue;
      const char* const data = storage_->file->data() + entry.offset;
      stored.push_back({entry.key, pieces.size(), data, entry.bytes});
      pieces.push_back({data, entry.bytes, kTensorAlignment});
    }
  }
  const int file = WriteWeightFile(storage_->path.c_str(), &storage_->identity, pieces, stored);
  if (file < 0) return false;
  Map(file, std::span(pieces).first(chunks_.size()));
  close(file);
  return true;
}

// Replaces the chunks by pages of the file. Other threads may read the chunks during this, because
// the contents are equal.
void PackedConstants::Map(int file, std::span<const WeightFilePiece> pieces) {
  for (size_t i = 0; i < pieces.size(); ++i) {
    Chunk& chunk = chunks_[i];
    const WeightFilePiece& piece = pieces[i];
    const size_t bytes = RoundUp(piece.bytes, PageBytes());
    void* const at = const_cast<char*>(piece.data);
    if (!chunk.is_paged || bytes == 0 ||
        mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file,
             static_cast<off_t>(piece.offset)) == MAP_FAILED) {
      continue;
    }
    chunk.used = chunk.mapped = static_cast<size_t>(piece.data - chunk.block.data()) + bytes;
  }
  for (auto& place : places_) {
    Values& values = place.second;
    if (values.is_mapped) continue;
    values.is_mapped = std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
      const std::less<> before;
      return !before(values.data, chunk.block.data()) &&
             before(values.data, chunk.block.data() + chunk.mapped);
    });
    if (values.is_mapped) storage_->use.mapped_bytes += values.bytes;
  }
}

WeightFileUse PackedConstants::file_use() const {
  const std::lock_guard lock(mutex_);
  return storage_ == nullptr ? WeightFileUse() : storage_->use;
}

// The allocator writes to freed blocks, so they must not contain read-only pages.
PackedConstants::~PackedConstants() {
  for (Chunk& chunk : chunks_) {
    if (chunk.mapped == 0) continue;
    const size_t begin = ToPage(chunk.block.data());
    if (mmap(chunk.block.data() + begin, chunk.mapped - begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
      // The block is leaked.
      // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
      new (std::nothrow) Block(std::move(chunk.block));
    }
  }
}

void PackedConstants::OverwriteDiscarded(bool overwrites) { overwrites_discarded = overwrites; }

void PackedConstants::BeginUse() {
  const std::lock_guard lock(mutex_);
  ++users_;
}

void PackedConstants::EndUse() {
  const std::lock_guard lock(mutex_);
  if (--users_ > 0) return;
  for (auto& [key, values] : places_) values.is_filled = false;
  if (!places_.empty()) bytes_ = 0;
  for (Chunk& chunk : chunks_) {
    DiscardPages(chunk.block.data(), chunk.mapped);
    DiscardBytes(chunk.block.data() + chunk.mapped, chunk.used - chunk.mapped);
  }
}

void PackedConstants::DiscardBytes(char* data, size_t bytes) {
  if (overwrites_discarded) std::memset(data, 0xa5, bytes);
  DiscardPages(data, bytes);
}

PackedConstants::Discarded PackedConstants::Discard(std::vector<std::span<const char>> constants) {
  const std::less<> before;
  const auto begins_before = [&](const auto& a, const auto& b) {
    return before(a.data(), b.data());
  };
  const auto contains = [&](const std::vector<std::span<const char>>& sorted, const void* address) {
    const auto* const byte = static_cast<const char*>(address);
    const auto next =
        std::upper_bound(sorted.begin(), sorted.end(), std::span(byte, 1), begins_before);
    return next != sorted.begin() &&
           before(byte, std::prev(next)->data() + std::prev(next)->size());
  };
  Discarded result;
  const std::lock_guard lock(mutex_);
  if (users_ > 1) return result;
  // Each round handles the values that were computed from those of the previous one.
  while (!constants.empty()) {
    std::sort(constants.begin(), constants.end(), begins_before);
    std::vector<std::span<const char>> found;
    for (auto& [key, values] : places_) {
      if (!contains(constants, key.first.constant)) continue;
      found.emplace_back(values.data, values.bytes);
      result.values.push_back(values.data);
      result.bytes += values.bytes;
      if (!std::exchange(values.is_filled, false)) continue;
      bytes_ -= values.bytes;
      char* const data = const_cast<char*>(values.data);
      values.is_mapped ? DiscardPages(data, values.bytes) : DiscardBytes(data, values.bytes);
    }
    constants = std::move(found);
  }
  std::sort(result.values.begin(), result.values.end());
  return result;
}

bool PackedConstants::Contains(const void* data) const {
  const std::less<> before;
  const std::lock_guard lock(mutex_);
  if (storage_ != nullptr && storage_->file != nullptr && storage_->file->Contains(data)) {
    return true;
  }
  return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    const char* const first = chunk.block.data();
    return !before(data, first) && before(data, first + chunk.used);
  });
}

void PackedConstants::ReleaseUnused() {
  const size_t page = PageBytes();
  const std::lock_guard lock(mutex_);
  for (const Chunk& chunk : chunks_) {
    char* const data = chunk.block.data();
    const size_t in_page = reinterpret_cast<uintptr_t>(data) % page;
    const size_t first = RoundUp(in_page + chunk.used, page);
    const size_t last = (in_page + chunk.block.size()) / page * page;
    // A failure of madvise only costs memory.
    if (first < last) madvise(data + (first - in_page), last - first, MADV_DONTNEED);
  }
}

}  // namespace deputy
