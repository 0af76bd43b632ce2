// SPDX-License-Identifier: Apache-2.0
#include "core/validation/validation_contents.h"

#include <cstring>

#include "core/base/arena.h"
#include "core/graph/graph.h"

namespace deputy {
namespace {

constexpr char kGuardByte = static_cast<char>(0xB7);
// Minimum size of an output that is filled with the pattern: a shorter one may equal it by chance.
constexpr size_t kMinFilledBytes = 4;

// Returns a byte of a position-dependent pattern, which no computation is likely to produce.
char PatternAt(size_t offset) {
  const uint64_t mixed = (offset + 1) * 0x9E3779B97F4A7C15u;
  return static_cast<char>(0x80 | (mixed >> 56));
}

// Returns a checksum. Processes eight bytes at a time, because constants may be large.
uint64_t Checksum(const char* bytes, size_t count) {
  uint64_t sum = 14695981039346656037u ^ count;
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= count; i += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, bytes + i, sizeof word);
    sum = (sum ^ word) * 1099511628211u;
    sum ^= sum >> 29;
  }
  for (; i < count; ++i) sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 1099511628211u;
  return sum;
}

}  // namespace

// ---- Before the call ----------------------------------------------------------------------------

bool GuardedContents::IsAlive(int tensor) const {
  const TfLiteTensor& now = *graph_->tensor(tensor);
  const auto planned = [&](const Arena& arena) {
    if (static_cast<size_t>(tensor) >= arena.slots().size()) return false;
    const Arena::Slot& slot = arena.slots()[static_cast<size_t>(tensor)];
    if (slot.offset == kNoOffset || arena.Address(tensor) != now.data.raw) return false;
    if (now.bytes > slot.bytes) return false;
    if (tensor == about_to_be_read_) return true;
    if (position_ < 0) return slot.lifetime.last == kForever;
    return slot.lifetime.first <= position_ && position_ <= slot.lifetime.last;
  };
  if (now.data.raw == nullptr || now.bytes == 0) return false;
  switch (now.allocation_type) {
    case kTfLiteArenaRw:
      return planned(*arena_);
    case kTfLiteArenaRwPersistent:
      return planned(*persistent_);
    case kTfLiteDynamic:
    case kTfLitePersistentRo:
    case kTfLiteCustom:
      return true;
    default:
      return false;
  }
}

void GuardedContents::GuardArena(const Arena& arena) {
  const size_t guard = arena.guard_bytes();
  for (size_t i = 0; guard > 0 && i < arena.slots().size(); ++i) {
    const int tensor = static_cast<int>(i);
    if (arena.slots()[i].offset == kNoOffset || !IsAlive(tensor)) continue;
    const size_t used = graph_->tensor(tensor)->bytes;
    char* begin = arena.Address(tensor);
    const size_t after_bytes = arena.slots()[i].bytes - used + guard;
    memset(begin - guard, kGuardByte, guard);
    memset(begin + used, kGuardByte, after_bytes);
    guards_.push_back({tensor, Damage::Kind::kBefore, begin - guard, guard, 0});
    guards_.push_back({tensor, Damage::Kind::kAfter, begin + used, after_bytes, 0});
  }
}

void GuardedContents::Copy(int tensor, Zone* zone) {
  const TfLiteTensor& now = *graph_->tensor(tensor);
  *zone = {tensor, Damage::Kind::kInside, now.data.raw, now.bytes, copies_.size()};
  copies_.insert(copies_.end(), now.data.raw, now.data.raw + now.bytes);
}

void GuardedContents::Take(const std::vector<Role>& roles, const TfLiteDelegate* self, int position,
                           int about_to_be_read) {
  position_ = position;
  about_to_be_read_ = about_to_be_read;
  GuardArena(*arena_);
  GuardArena(*persistent_);
  for (size_t i = 0; i < roles.size(); ++i) {
    const int tensor = static_cast<int>(i);
    if (!IsAlive(tensor)) continue;
    const TfLiteTensor& now = *graph_->tensor(tensor);
    if (roles[i] != Role::kOther && roles[i] != Role::kInput) continue;
    // The CPU copy of a tensor that is stale on this delegate is undefined.
    if (now.data_is_stale && now.delegate == self) continue;
    Copy(tensor, &kept_.emplace_back());
  }
}

void GuardedContents::Fill(int tensor) {
  const TfLiteTensor& now = *graph_->tensor(tensor);
  const bool plain = now.allocation_type == kTfLiteArenaRw || now.allocation_type == kTfLiteCustom;
  if (!plain || now.is_variable || now.bytes < kMinFilledBytes || !IsAlive(tensor)) return;
  Copy(tensor, &filled_.emplace_back());
  for (size_t i = 0; i < now.bytes; ++i) now.data.raw[i] = PatternAt(i);
}

// ---- After the call -----------------------------------------------------------------------------

void GuardedContents::FindDamage(const std::function<void(const Damage&)>& found) const {
  for (const Zone& zone : guards_) {
    size_t changed = 0, nearest = 0;
    const bool before = zone.kind == Damage::Kind::kBefore;
    for (size_t i = 0; i < zone.bytes; ++i) {
      if (zone.address[i] == kGuardByte) continue;
      // Distances count from the tensor's edge.
      if (changed == 0 || before) nearest = before ? zone.bytes - i : i;
      ++changed;
    }
    if (changed > 0) found({zone.kind, zone.tensor, nearest, changed});
  }
  for (const Zone& zone : kept_) {
    // Reassigned memory is reported as a change of the tensor's fields.
    if (graph_->tensor(zone.tensor)->data.raw != zone.address) continue;
    const char* kept = copies_.data() + zone.copy;
    if (memcmp(kept, zone.address, zone.bytes) == 0) continue;
    size_t changed = 0, first = zone.bytes;
    for (size_t i = 0; i < zone.bytes; ++i) {
      if (kept[i] == zone.address[i]) continue;
      if (first == zone.bytes) first = i;
      ++changed;
    }
    found({zone.kind, zone.tensor, first, changed});
  }
}

std::vector<int> GuardedContents::TakeUntouched() {
  std::vector<int> untouched;
  for (const Zone& zone : filled_) {
    const TfLiteTensor& now = *graph_->tensor(zone.tensor);
    if (now.data.raw != zone.address || now.bytes != zone.bytes) continue;
    size_t same = 0;
    while (same < zone.bytes && zone.address[same] == PatternAt(same)) ++same;
    if (same < zone.bytes) continue;
    memcpy(now.data.raw, copies_.data() + zone.copy, zone.bytes);
    untouched.push_back(zone.tensor);
  }
  return untouched;
}

std::vector<int> ConstantSums::Update(const Graph& graph) {
  std::vector<int> changed;
  for (int i = 0; i < graph.tensor_count(); ++i) {
    const TfLiteTensor& tensor = *graph.tensor(i);
    if (tensor.allocation_type != kTfLiteMmapRo || tensor.data.raw == nullptr) continue;
    const auto [entry, fresh] = sums_.try_emplace(i);
    Sum& sum = entry->second;
    // The size is that of the first check, since a delegate may have changed the struct's.
    const bool known = !fresh && sum.data == tensor.data.raw;
    if (!known) sum = {tensor.data.raw, tensor.bytes, 0};
    const uint64_t value = Checksum(tensor.data.raw, sum.bytes);
    if (known && value != sum.value) changed.push_back(i);
    sum.value = value;
  }
  return changed;
}

}  // namespace deputy
