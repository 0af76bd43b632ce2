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
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>

#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

// First member after the name in the line of an input that failed.
constexpr std::string_view kError = "\"error\":";
// First bytes of every FILE.job.
constexpr std::string_view kJobStart = "{\"version\":";

std::string JobPathOf(const std::string& path) { return path + ".job"; }

// Reads lines of any length with their newlines, which an incomplete last line does not have.
class FileLines {
 public:
  FileLines(const std::string& path, int descriptor)
      : path_(path), file_(fdopen(dup(descriptor), "rb"), &std::fclose) {
    if (file_ == nullptr) Fail();
  }
  ~FileLines() { std::free(line_); }
  FileLines(const FileLines&) = delete;
  FileLines& operator=(const FileLines&) = delete;

  // Returns false at the end of the file.
  bool Next(std::string* out_line) {
    const ssize_t length = getline(&line_, &capacity_, file_.get());
    if (length <= 0) {
      // Out of memory is an error, too.
      if (std::feof(file_.get()) == 0) Fail();
      return false;
    }
    out_line->assign(line_, static_cast<size_t>(length));
    return true;
  }

 private:
  [[noreturn]] void Fail() const { FailWork("%s: %s", path_.c_str(), std::strerror(errno)); }

  const std::string& path_;
  std::unique_ptr<FILE, int (*)(FILE*)> file_;
  char* line_ = nullptr;
  size_t capacity_ = 0;
};

// Returns the settings in FILE.job; none if it does not exist. Ends the command if the file is not
// that of a run, which may have ended while it wrote the settings.
std::optional<std::string> ReadJob(const std::string& path) {
  const std::string job_path = JobPathOf(path);
  struct stat facts = {};
  if (lstat(job_path.c_str(), &facts) != 0) {
    if (errno == ENOENT) return std::nullopt;
    FailUsage("%s: %s", job_path.c_str(), std::strerror(errno));
  }
  std::string text;
  if (S_ISREG(facts.st_mode)) {
    std::ifstream job(job_path, std::ios::binary);
    if (!job) FailUsage("%s: %s", job_path.c_str(), std::strerror(errno));
    text.assign(std::istreambuf_iterator<char>(job), {});
  }
  if (!S_ISREG(facts.st_mode) ||
      !text.starts_with(kJobStart.substr(0, std::min(kJobStart.size(), text.size())))) {
    FailUsage("%s: expected the settings of a run, found another file, which is kept",
              job_path.c_str());
  }
  return text;
}

void WriteJob(const std::string& path, const std::string& settings) {
  std::ofstream job(JobPathOf(path), std::ios::binary);
  job << settings;
  job.close();
  if (!job) FailUsage("%s: %s", JobPathOf(path).c_str(), std::strerror(errno));
}

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
  ReadJob(path);  // may end the command before the file is created
  descriptor_ =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | (resumes ? 0 : O_EXCL), mode_t{0666});
  if (descriptor_ < 0 && errno == EEXIST) {
    FailUsage("%s: exists already; --resume continues it", path.c_str());
  }
  if (descriptor_ < 0) FailUsage("%s: %s", path.c_str(), std::strerror(errno));
  try {
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      FailUsage("%s: another process writes it", path.c_str());
    }
    struct stat facts = {};
    if (fstat(descriptor_, &facts) != 0 || !S_ISREG(facts.st_mode)) {
      FailUsage("%s: expected a regular file", path.c_str());
    }
    const off_t size = CountLines(count, name_of);
    CheckSettings(settings, count);
    if (done_ == 0) WriteJob(path, settings);
    // Removes an incomplete line at the end.
    if (ftruncate(descriptor_, size) != 0 || lseek(descriptor_, size, SEEK_SET) != size)
      FailWriting();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

ItemFile::~ItemFile() { close(descriptor_); }

void ItemFile::CheckSettings(const std::string& settings, size_t count) const {
  const std::optional<std::string> found = ReadJob(path_);
  if (found.has_value() && done_ > 0 && *found != settings) {
    FailUsage("--resume: expected the settings in %s: %s, found %s", JobPathOf(path_).c_str(),
              OneLine(*found).c_str(), OneLine(settings).c_str());
  }
  if (!found.has_value() && done_ > 0 && done_ < count) {
    FailUsage("%s: %s, which has the settings of the run, is missing", path_.c_str(),
              JobPathOf(path_).c_str());
  }
}

// Counts the complete lines, and returns the number of their bytes.
off_t ItemFile::CountLines(size_t count, const std::function<std::string(size_t)>& name_of) {
  FileLines lines(path_, descriptor_);
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
  return size;
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
  struct stat mine = {}, present = {};
  if (fstat(descriptor_, &mine) != 0 || stat(path_.c_str(), &present) != 0) FailWriting();
  if (mine.st_ino != present.st_ino || mine.st_dev != present.st_dev) {
    FailWork("%s: another file has replaced it during the run", path_.c_str());
  }
  unlink(JobPathOf(path_).c_str());
}

void ItemFile::FailWriting() const { FailWork("%s: %s", path_.c_str(), std::strerror(errno)); }

}  // namespace deputy::tools
