// SPDX-License-Identifier: Apache-2.0
//
// Encoding of messages between the delegate and its process: 64-bit little-endian integers and
// byte strings with their length. Messages travel over a stream socket, each after its length.
#ifndef DEPUTY_BRIDGES_SANDBOX_WIRE_H_
#define DEPUTY_BRIDGES_SANDBOX_WIRE_H_

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deputy::sandbox {

using Clock = std::chrono::steady_clock;

// Returns the time in `milliseconds` from now; for 0, no deadline, the maximum.
inline Clock::time_point DeadlineIn(int64_t milliseconds) {
  return milliseconds == 0 ? Clock::time_point::max()
                           : Clock::now() + std::chrono::milliseconds(milliseconds);
}

// Maximum size of a message in bytes; longer ones are refused.
inline constexpr size_t kMaxMessage = size_t{64} << 20;

// Appends values to a message.
class MessageWriter {
 public:
  void Int(int64_t value);
  void Text(std::string_view text);
  void Ints(std::span<const int32_t> values);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads values in the order in which they were written. Messages are untrusted: after a value that
// the bytes do not contain, ok() is false and every value is 0 or empty.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t Int();
  // Returns a number of elements that each take at least `element_bytes` of the rest of the bytes.
  size_t Count(size_t element_bytes);
  std::string Text();
  std::vector<int32_t> Ints();
  bool ok() const { return ok_; }
  // True if all values were valid and no byte is left.
  bool IsComplete() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view Take(size_t count);

  std::string_view bytes_;
  bool ok_ = true;
};

enum class Receipt {
  kMessage,   // a message was received or sent
  kClosed,    // the other side closed the connection or ended
  kDeadline,  // the deadline has passed
  kInvalid,   // the length exceeds kMaxMessage
};

// Send and receive one message over a socket. `ended_fd` becomes readable when the other process
// ends; -1: it is not watched.
Receipt SendMessage(int socket, std::string_view message, int ended_fd, Clock::time_point deadline);
Receipt ReceiveMessage(int socket, int ended_fd, Clock::time_point deadline,
                       std::string* out_message);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_WIRE_H_
