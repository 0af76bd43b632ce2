// SPDX-License-Identifier: Apache-2.0
#include "item_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>

#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

// First member after the name in the line of an input that failed.
constexpr std::string_view kError = "\"error\":";

std::string JobPathOf(const std::string& path) { return path + ".job"; }

// Reads lines of any length with their newlines, which an incomplete last line does not have.
class FileLines {
 public:
  explicit FileLines(int descriptor) : file_(fdopen(dup(descriptor), "rb"), &std::fclose) {}
  ~FileLines() { std::free(line_); }
  FileLines(const FileLines&) = delete;
  FileLines& operator=(const FileLines&) = delete;

  // Returns false at the end of the file.
  bool Next(std::string* out_line) {
    if (file_ == nullptr) return false;
    const ssize_t length = getline(&line_, &capacity_, file_.get());
    if (length <= 0) return false;
    out_line->assign(line_, static_cast<size_t>(length));
    return true;
  }

 private:
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
};

}  // namespace

std::string ItemFile::LineOf(const std::string& name, const std::string& members) {
  return "{\"input\":" + JsonText(Json(name)) + "," + members + "}";
}

std::string ItemFile::ErrorLineOf(const std::string& name, const std::string& error) {
  return LineOf(name, std::string(kError) + JsonText(Json(error)));
}

ItemFile::ItemFile(const std::string& path, bool resumes, const std::string& settings, size_t count,
                   const std::function<std::string(size_t)>& name_of)
    : path_(path) {
  std::error_code ignored;
  if (!resumes && std::filesystem::exists(path, ignored)) {
    FailUsage("%s: exists already; --resume continues it", path.c_str());
  }
  descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  try {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      FailUsage("%s: another process writes it", path.c_str());
    }
    struct stat facts = {};
    if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      FailUsage("%s: expected a regular file", path.c_str());
    }
    KeepLines(count, name_of);
    if (done_ > 0 && done_ < count) CheckSettings(settings);
    std::ofstream job(JobPathOf(path), std::ios::binary);
    job << settings;
    job.close();
    if (!job) FailUsage("%s: %s", JobPathOf(path).c_str(), std::strerror(errno));
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

ItemFile::~ItemFile() { close(descriptor_); }

void ItemFile::CheckSettings(const std::string& settings) const {
  const std::string job_path = JobPathOf(path_);
  std::ifstream job(job_path, std::ios::binary);
  if (!job)
    FailUsage("%s: %s, which has the settings of the run, is missing", path_.c_str(),
              job_path.c_str());
  const std::string found{std::istreambuf_iterator<char>(job), {}};
  if (found != settings) {
    FailUsage("--resume: expected the settings in %s: %s, found %s", job_path.c_str(),
              OneLine(found).c_str(), OneLine(settings).c_str());
  }
}

// Counts the lines, and removes an incomplete one at the end.
void ItemFile::KeepLines(size_t count, const std::function<std::string(size_t)>& name_of) {
  FileLines lines(descriptor_);
  off_t size = 0;
  for (std::string line; lines.Next(&line);) {
    const bool is_complete = line.back() == '\n';
    std::string expected = done_ < count ? LineOf(name_of(done_), "") : "";
    expected = expected.substr(
        0, is_complete ? expected.size() - 1 : std::min(expected.size() - 1, line.size()));
    if (done_ >= count || !line.starts_with(expected)) {
      FailUsage("%s:%zu: expected %s, found '%s'; the file belongs to other inputs", path_.c_str(),
                done_ + 1, done_ < count ? OneLine(name_of(done_)).c_str() : "no more lines",
                Shorten(OneLine(line), 60).c_str());
    }
    if (!is_complete) break;
    size += static_cast<off_t>(line.size());
    failed_before_ += line.compare(expected.size(), kError.size(), kError) == 0 ? 1 : 0;
    ++done_;
  }
  if (ftruncate(descriptor_, size) != 0 || lseek(descriptor_, size, SEEK_SET) != size)
    FailWriting();
}

void ItemFile::Append(const std::string& line) {
  const std::string text = line + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(descriptor_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) FailWriting();
    at += static_cast<size_t>(written);
  }
  ++done_;
}

void ItemFile::Finish() {
  // EINVAL: the file system does not support it.
  if (fsync(descriptor_) != 0 && errno != EINVAL) FailWriting();
  unlink(JobPathOf(path_).c_str());
}

void ItemFile::FailWriting() const { FailWork("%s: %s", path_.c_str(), std::strerror(errno)); }

}  // namespace deputy::tools
