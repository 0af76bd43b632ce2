// SPDX-License-Identifier: Apache-2.0
#include "bridges/xnnpack/packed_weights.h"

#ifdef DEPUTY_XNNPACK_STORES_WEIGHTS

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "core/support/word_reader.h"

#endif

namespace deputy::xnnpack {

#ifndef DEPUTY_XNNPACK_STORES_WEIGHTS

std::unique_ptr<PackedWeights> PackedWeights::ForCheck() {
  return std::make_unique<PackedWeights>();
}

std::unique_ptr<PackedWeights> PackedWeights::InFile(const std::string&, const DeputyFingerprint&,
                                                     size_t) {
  return std::make_unique<PackedWeights>();
}

#endif

xnn_status PackedWeights::CreateRuntime(xnn_subgraph_t subgraph, pthreadpool_t threads,
                                        xnn_runtime_t* out_runtime) {
  return xnn_create_runtime_v2(subgraph, threads, 0, out_runtime);
}

#ifdef DEPUTY_XNNPACK_STORES_WEIGHTS

namespace {

// Alignment that XNNPACK requires of packed weights.
constexpr size_t kAlignment = 64;

size_t AlignUp(size_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The functions that XNNPACK calls. It identifies weights by the numbers that LookUp and Insert
// return, and requests their addresses when the runtime is set up. Convolutions look weights up,
// pack them if there are none, and call Insert in both cases: with a null pointer if LookUp has
// found them. Fully connected layers call Insert only after packing. PRELU always packs.
class Provider : public PackedWeights {
 public:
  xnn_status CreateRuntime(xnn_subgraph_t subgraph, pthreadpool_t threads,
                           xnn_runtime_t* out_runtime) override {
    is_complete_ = false;
    const xnn_status status =
        xnn_create_runtime_v4(subgraph, &table_, nullptr, threads, 0, out_runtime);
    is_complete_ = true;
    return status;
  }

 protected:
  static constexpr size_t kNone = SIZE_MAX;

  // Returns the number of the next weights, or kNone if they must be packed. XNNPACK processes the
  // operators of a subgraph always in the same order.
  virtual size_t LookUp(uint32_t seed) = 0;
  virtual size_t Insert(uint32_t seed, void* data, size_t bytes) = 0;
  virtual void* AddressOf(size_t number) = 0;

  std::vector<std::unique_ptr<void, Free>> packed_;  // memory in which XNNPACK packs

 private:
  static Provider* Of(void* context) { return static_cast<Provider*>(context); }

  void* Reserve(size_t bytes) {
    void* const memory = std::aligned_alloc(kAlignment, AlignUp(bytes));
    if (memory != nullptr) packed_.emplace_back(memory);
    return memory;
  }

  bool is_complete_ = false;
  xnn_weights_cache_provider table_ = {
      .context = this,
      .look_up =
          [](void* context, const xnn_weights_cache_look_up_key* key) {
            return Of(context)->LookUp(key->seed);
          },
      .reserve_space = [](void* context, size_t bytes) { return Of(context)->Reserve(bytes); },
      .look_up_or_insert = [](void* context, const xnn_weights_cache_look_up_key* key, void* data,
                              size_t bytes) { return Of(context)->Insert(key->seed, data, bytes); },
      .is_finalized = [](void* context) { return Of(context)->is_complete_; },
      .offset_to_addr = [](void* context, size_t number) { return Of(context)->AddressOf(number); },
      .delete_cache = [](void*) { return xnn_status_success; },
  };
};

// Reports all weights as present, so that XNNPACK packs as few as possible.
class NoWeights final : public Provider {
  size_t LookUp(uint32_t) override { return 0; }
  size_t Insert(uint32_t, void*, size_t) override { return 0; }
  void* AddressOf(size_t) override { return nullptr; }
};

// A read-only mapping of an entry's file.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping() {
    if (data_ != nullptr) munmap(data_, bytes_ + padding_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // Maps a file, and at least `padding` bytes with the value 0 after it. Returns false if the file
  // cannot be mapped.
  bool Open(const char* path, size_t padding) {
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return false;
    struct stat status;
    bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    if (good) good = MapFile(file, static_cast<size_t>(status.st_size), padding);
    close(file);
    return good;
  }

  std::span<const char> bytes() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  bool MapFile(int file, size_t bytes, size_t padding) {
    if (padding > SIZE_MAX - bytes) return false;
    // Pages that are only read need no memory.
    void* const all = mmap(nullptr, bytes + padding, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return false;
    data_ = all;
    bytes_ = bytes;
    padding_ = padding;
    return mmap(all, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
  }

  void* data_ = nullptr;
  size_t bytes_ = 0, padding_ = 0;
};

// Adds everything that decides how XNNPACK packs weights: its library and the processor.
void AddPackingTo(DeputyFingerprint* key) {
  Dl_info library = {};
  struct stat status = {};
  if (dladdr(reinterpret_cast<const void*>(&xnn_create_runtime_v4), &library) != 0 &&
      library.dli_fname != nullptr && stat(library.dli_fname, &status) == 0) {
    DeputyFingerprintAddText(key, library.dli_fname);
    const int64_t words[] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    DeputyFingerprintAdd(key, words, sizeof words);
  }
  // The description of the first processor.
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* const name : {"model name", "flags", "Features", "CPU part"}) {
      if (line.starts_with(name)) DeputyFingerprintAddText(key, line.c_str());
    }
  }
}

// Weights in a file. The contents of the file's entry are the number of weights; seed, offset in
// the file and size of each; and their bytes.
class FileWeights final : public Provider {
 public:
  FileWeights(std::string folder, const DeputyFingerprint& key, size_t constant_bytes)
      : folder_(std::move(folder)), key_(key), constant_bytes_(constant_bytes) {
    AddPackingTo(&key_);
    is_usable_ = Read();
    if (!is_usable_) weights_.clear();
  }

  xnn_status CreateRuntime(xnn_subgraph_t subgraph, pthreadpool_t threads,
                           xnn_runtime_t* out_runtime) override {
    xnn_status status = Provider::CreateRuntime(subgraph, threads, out_runtime);
    if (has_wrong_size_) {
      if (status == xnn_status_success) xnn_delete_runtime(*out_runtime);
      weights_.clear();
      is_usable_ = false;
      status = Provider::CreateRuntime(subgraph, threads, out_runtime);
    }
    if (next_ != weights_.size()) LeaveFile();
    if (status == xnn_status_success && !is_usable_) Write();
    return status;
  }
  bool were_stored() const override { return is_usable_; }

 private:
  struct Weights {
    uint64_t seed;
    const char* data;
    size_t bytes;
  };

  DeputySerialization store() const { return {folder_.c_str(), "xnnpack"}; }

  bool Read() {
    // XNNPACK states no size when it looks up weights. Packing rounds the rows and the columns of a
    // filter up to multiples of at most 64.
    constexpr size_t kMaxGrowth = 64 * 64;
    const size_t padding = std::min(constant_bytes_, SIZE_MAX / kMaxGrowth - kMaxGrowth);
    const DeputySerialization location = store();
    char path[kDeputySerializationPathBytes];
    if (!DeputySerializationPath(&location, &key_, path) ||
        !file_.Open(path, (padding + kMaxGrowth) * kMaxGrowth)) {
      return false;
    }
    const std::span<const char> bytes = file_.bytes();
    DeputySerializationHeader header;
    if (bytes.size() < sizeof header) return false;
    const std::span<const char> contents = bytes.subspan(sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    const DeputySerializationHeader expected =
        DeputySerializationHeaderOf(&location, &key_, contents.data(), contents.size());
    if (std::memcmp(&header, &expected, sizeof header) != 0) return false;
    WordReader reader(contents);
    for (size_t count = reader.Count(3 * sizeof(uint64_t)); count > 0; --count) {
      const uint64_t seed = reader.Word(), offset = reader.Word(), size = reader.Word();
      if (offset % kAlignment != 0 || offset > bytes.size() || size > bytes.size() - offset) {
        return false;
      }
      weights_.push_back({seed, bytes.data() + offset, static_cast<size_t>(size)});
    }
    return reader.ok();
  }

  void Write() const {
    std::vector<uint64_t> index = {weights_.size()};
    const size_t begin = sizeof(DeputySerializationHeader);
    size_t end = begin + (1 + 3 * weights_.size()) * sizeof(uint64_t);
    for (const Weights& each : weights_) {
      index.insert(index.end(), {each.seed, AlignUp(end), each.bytes});
      end = AlignUp(end) + each.bytes;
    }
    std::vector<char> contents(end - begin);
    std::memcpy(contents.data(), index.data(), index.size() * sizeof(uint64_t));
    for (size_t i = 0; i < weights_.size(); ++i) {
      std::memcpy(&contents[index[2 + 3 * i] - begin], weights_[i].data, weights_[i].bytes);
    }
    const DeputySerialization location = store();
    // A failure means that the next process packs the weights again.
    (void)DeputySerializationWrite(&location, &key_, contents.data(), contents.size());
  }

  bool IsNext(uint32_t seed) const {
    return is_usable_ && next_ < weights_.size() && weights_[next_].seed == seed;
  }

  // Called if the file does not match the subgraph: the following weights are packed.
  void LeaveFile() {
    if (is_usable_) weights_.resize(next_);
    is_usable_ = false;
  }

  size_t LookUp(uint32_t seed) override {
    if (IsNext(seed)) return next_++;
    LeaveFile();
    return kNone;
  }

  size_t Insert(uint32_t seed, void* data, size_t bytes) override {
    if (data == nullptr) {
      has_wrong_size_ |= weights_[next_ - 1].bytes != bytes;
      return next_ - 1;
    }
    if (IsNext(seed) && weights_[next_].bytes == bytes) {
      packed_.pop_back();
      return next_++;
    }
    LeaveFile();
    weights_.push_back({seed, static_cast<const char*>(data), bytes});
    return weights_.size() - 1;
  }

  void* AddressOf(size_t number) override {
    return number < weights_.size() ? const_cast<char*>(weights_[number].data) : nullptr;
  }

  const std::string folder_;
  DeputyFingerprint key_;
  const size_t constant_bytes_;
  Mapping file_;
  std::vector<Weights> weights_;  // in the file, or in packed_
  size_t next_ = 0;               // number of weights that were found in the file
  bool is_usable_ = false;        // true: all weights so far are those of the file
  bool has_wrong_size_ = false;   // true: weights were found that have another size
};

}  // namespace

std::unique_ptr<PackedWeights> PackedWeights::ForCheck() { return std::make_unique<NoWeights>(); }

std::unique_ptr<PackedWeights> PackedWeights::InFile(const std::string& folder,
                                                     const DeputyFingerprint& key,
                                                     size_t constant_bytes) {
  return std::make_unique<FileWeights>(folder, key, constant_bytes);
}

#endif

}  // namespace deputy::xnnpack
