// SPDX-License-Identifier: Apache-2.0
//
// Checks symbols and hash tables. The loader follows hash chains to their end, divides by the
// number of buckets, and calls symbols of type IFUNC as resolver functions.
#include "core/plugin/elf_symbols.h"

#include <algorithm>
#include <vector>

namespace deputy {
namespace {

// Maximum number of symbols, which limits the time of the checks; only malicious files exceed it.
constexpr uint64_t kMaxSymbols = uint64_t{1} << 28;

constexpr const char* kBadHash =
    "is damaged: its hash table has no end or is outside of the loaded segments";

}  // namespace

std::string ElfSymbols::Read() {
  std::string problem = Count();
  if (problem.empty() && dynamic_.Has(DT_HASH)) problem = CheckHash();
  if (problem.empty() && dynamic_.Has(DT_GNU_HASH)) problem = CheckGnuHash();
  if (problem.empty()) problem = CheckSymbols();
  return problem;
}

// ---- Number of symbols --------------------------------------------------------------------------

// Finds the number of symbols. It is given by a section or by the older hash table. With only the
// newer hash table, the last symbol with a hash is the last symbol.
std::string ElfSymbols::Count() {
  uint64_t offset = 0;
  for (const ElfW(Shdr) & section : image_.sections()) {
    if (section.sh_type == SHT_DYNSYM) count_ = section.sh_size / sizeof(ElfW(Sym));
  }
  if (count_ == 0 && dynamic_.Has(DT_HASH)) {
    if (!image_.Locate(dynamic_.Value(DT_HASH), 8, &offset)) return kBadHash;
    count_ = image_.At<uint32_t>(offset + 4);
  }
  if (count_ == 0 && !CountByGnuHash()) return kBadHash;
  if (count_ > kMaxSymbols ||
      !image_.Locate(dynamic_.Value(DT_SYMTAB), count_ * sizeof(ElfW(Sym)), &symbols_)) {
    return "is damaged: the symbol table is outside of the loaded segments";
  }
  return "";
}

bool ElfSymbols::CountByGnuHash() {
  GnuHash hash;
  if (!ReadGnuHash(&hash)) return false;
  uint64_t last = 0;
  for (uint64_t i = 0; i < hash.buckets; ++i) {
    last = std::max<uint64_t>(last, image_.At<uint32_t>(hash.bucket_table + i * 4));
  }
  count_ = std::max<uint64_t>(hash.first_symbol, last + 1);
  if (last < hash.first_symbol) return true;  // the library exports no symbols
  for (uint64_t chain = 0;; ++last) {
    if (!image_.Locate(hash.chains + (last - hash.first_symbol) * 4, 4, &chain)) return false;
    if ((image_.At<uint32_t>(chain) & 1) != 0) break;
  }
  count_ = last + 1;
  return true;
}

// ---- Hash tables --------------------------------------------------------------------------------

// Checks the older hash table. Buckets and chains contain symbol indices; a chain ends with 0.
std::string ElfSymbols::CheckHash() const {
  uint64_t offset = 0;
  const uint64_t address = dynamic_.Value(DT_HASH);
  if (!image_.Locate(address, 8, &offset)) return kBadHash;
  const uint64_t buckets = image_.At<uint32_t>(offset);
  const uint64_t chains = image_.At<uint32_t>(offset + 4);
  if (buckets == 0 || chains > count_ ||
      !image_.Locate(address, 8 + (buckets + chains) * 4, &offset)) {
    return kBadHash;
  }
  const auto entry = [&](uint64_t index) { return image_.At<uint32_t>(offset + 8 + index * 4); };
  std::vector<bool> seen(chains, false);  // each symbol must be in one chain, once
  for (uint64_t bucket = 0; bucket < buckets; ++bucket) {
    for (uint64_t symbol = entry(bucket); symbol != 0; symbol = entry(buckets + symbol)) {
      if (symbol >= chains || seen[symbol]) return kBadHash;
      seen[symbol] = true;
    }
  }
  return "";
}

bool ElfSymbols::ReadGnuHash(GnuHash* hash) const {
  const uint64_t address = dynamic_.Value(DT_GNU_HASH);
  uint64_t offset = 0;
  if (!image_.Locate(address, 16, &offset)) return false;
  hash->buckets = image_.At<uint32_t>(offset);
  hash->first_symbol = image_.At<uint32_t>(offset + 4);
  const uint64_t bloom_words = image_.At<uint32_t>(offset + 8);
  const bool power_of_two = bloom_words != 0 && (bloom_words & (bloom_words - 1)) == 0;
  const uint64_t buckets = address + 16 + bloom_words * kElfWord;
  hash->chains = buckets + hash->buckets * 4;
  return power_of_two && hash->buckets != 0 &&
         image_.Locate(buckets, hash->buckets * 4, &hash->bucket_table);
}

// Checks the newer hash table. A bucket contains the index of its first symbol, or 0; the other
// symbols follow it, the last one marked. So all chains are terminated if the very last one is.
std::string ElfSymbols::CheckGnuHash() const {
  GnuHash hash;
  if (!ReadGnuHash(&hash)) return kBadHash;
  bool is_empty = true;
  for (uint64_t i = 0; i < hash.buckets; ++i) {
    const uint64_t first = image_.At<uint32_t>(hash.bucket_table + i * 4);
    if (first == 0) continue;
    if (first < hash.first_symbol || first >= count_) return kBadHash;
    is_empty = false;
  }
  if (is_empty) return "";
  uint64_t chains = 0;
  const uint64_t bytes = (count_ - hash.first_symbol) * 4;
  if (!image_.Locate(hash.chains, bytes, &chains)) return kBadHash;
  return (image_.At<uint32_t>(chains + bytes - 4) & 1) != 0 ? "" : kBadHash;
}

// ---- Symbols ------------------------------------------------------------------------------------

std::string_view ElfSymbols::name(uint64_t index) const {
  std::string_view name;
  dynamic_.Name(symbol(index).st_name, &name);
  return name;
}

std::string ElfSymbols::Problem(uint64_t index, const char* what) const {
  return ElfText("is damaged: symbol %llu of %llu %s", static_cast<unsigned long long>(index),
                 static_cast<unsigned long long>(count_), what);
}

std::string ElfSymbols::CheckSymbols() const {
  for (uint64_t i = 1; i < count_; ++i) {
    const ElfW(Sym) entry = symbol(i);
    std::string_view ignored;
    if (!dynamic_.Name(entry.st_name, &ignored)) {
      return Problem(i, "has a name that is outside of the string table");
    }
    if (entry.st_shndx != SHN_UNDEF) {
      std::string problem = CheckDefined(i, entry);
      if (!problem.empty()) return problem;
    } else if (entry.st_value != 0 || ELF32_ST_VISIBILITY(entry.st_other) != STV_DEFAULT) {
      // The loader would resolve such a symbol within this library.
      return Problem(i, "is not defined, but has a value or belongs to the library");
    }
  }
  return "";
}

std::string ElfSymbols::CheckDefined(uint64_t index, const ElfW(Sym) & entry) const {
  const unsigned type = ELF32_ST_TYPE(entry.st_info);
  if (entry.st_shndx == SHN_ABS) return "";
  if (type == STT_TLS) {
    const ElfW(Phdr)* threads = image_.FindSegment(PT_TLS);
    if (threads != nullptr && entry.st_value <= threads->p_memsz) return "";
    return Problem(index, "is outside of the thread-local memory");
  }
  if (!image_.IsNear(entry.st_value)) return Problem(index, "is outside of the loaded segments");
  const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (is_code && !image_.InMemory(entry.st_value, 1, PF_X)) return Problem(index, "is not code");
  return "";
}

}  // namespace deputy
