// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace deputy::sandbox {
namespace {

constexpr size_t kWordBytes = 8;

void AppendWord(uint64_t word, std::string* bytes) {
  for (size_t i = 0; i < kWordBytes; ++i) bytes->push_back(static_cast<char>(word >> (8 * i)));
}

uint64_t ReadWord(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < kWordBytes; ++i) {
    word |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return word;
}

int MillisecondsUntil(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, std::numeric_limits<int>::max()));
}

// Waits until the socket is ready for `events`.
Receipt Wait(int socket, short events, int ended_fd, Clock::time_point deadline) {
  for (;;) {
    pollfd polled[] = {{socket, events, 0}, {ended_fd, POLLIN, 0}};
    const int ready = poll(polled, 2, MillisecondsUntil(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Receipt::kClosed;
    if (ready == 0) return Receipt::kDeadline;
    // Bytes that were sent before the end are still read.
    if ((polled[0].revents & events) != 0) return Receipt::kMessage;
    return Receipt::kClosed;
  }
}

bool IsTemporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

// Fills `buffer` from the socket.
Receipt ReceiveBytes(int socket, std::span<char> buffer, int ended_fd, Clock::time_point deadline) {
  while (!buffer.empty()) {
    const Receipt ready = Wait(socket, POLLIN, ended_fd, deadline);
    if (ready != Receipt::kMessage) return ready;
    const ssize_t got = recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && IsTemporary(errno)) continue;
    if (got <= 0) return Receipt::kClosed;
    buffer = buffer.subspan(static_cast<size_t>(got));
  }
  return Receipt::kMessage;
}

}  // namespace

void MessageWriter::Int(int64_t value) { AppendWord(static_cast<uint64_t>(value), &bytes_); }

void MessageWriter::Text(std::string_view text) {
  Int(static_cast<int64_t>(text.size()));
  bytes_ += text;
}

void MessageWriter::Ints(std::span<const int32_t> values) {
  Int(static_cast<int64_t>(values.size()));
  for (const int32_t value : values) Int(value);
}

std::string_view MessageReader::Take(size_t count) {
  if (!ok_ || count > bytes_.size()) {
    ok_ = false;
    return {};
  }
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

int64_t MessageReader::Int() {
  const std::string_view word = Take(kWordBytes);
  return ok_ ? static_cast<int64_t>(ReadWord(word)) : 0;
}

size_t MessageReader::Count(size_t element_bytes) {
  const int64_t count = Int();
  if (count < 0 || static_cast<uint64_t>(count) > bytes_.size() / element_bytes) ok_ = false;
  return ok_ ? static_cast<size_t>(count) : 0;
}

std::string MessageReader::Text() { return std::string(Take(Count(1))); }

std::vector<int32_t> MessageReader::Ints() {
  std::vector<int32_t> values(Count(kWordBytes));
  for (int32_t& value : values) {
    const int64_t wide = Int();
    if (wide < INT32_MIN || wide > INT32_MAX) ok_ = false;
    value = static_cast<int32_t>(wide);
  }
  if (!ok_) values.clear();
  return values;
}

Receipt SendMessage(int socket, std::string_view message, int ended_fd,
                    Clock::time_point deadline) {
  std::string bytes;
  AppendWord(message.size(), &bytes);
  bytes += message;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const Receipt ready = Wait(socket, POLLOUT, ended_fd, deadline);
    if (ready != Receipt::kMessage) return ready;
    const ssize_t sent = send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && IsTemporary(errno)) continue;
    if (sent <= 0) return Receipt::kClosed;
    rest.remove_prefix(static_cast<size_t>(sent));
  }
  return Receipt::kMessage;
}

Receipt ReceiveMessage(int socket, int ended_fd, Clock::time_point deadline,
                       std::string* out_message) {
  char length[kWordBytes];
  const Receipt header = ReceiveBytes(socket, length, ended_fd, deadline);
  if (header != Receipt::kMessage) return header;
  const uint64_t size = ReadWord(std::string_view(length, kWordBytes));
  if (size > kMaxMessage) return Receipt::kInvalid;
  out_message->assign(size, '\0');
  return ReceiveBytes(socket, *out_message, ended_fd, deadline);
}

}  // namespace deputy::sandbox
