#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/sockets/leaky_bucket.h"
#include "server/websocket/message.h"

struct wslay_event_context;

namespace millrace {

// The server's end of a WebSocket (RFC 6455) without its socket: it turns bytes of the client into
// messages, and messages into bytes. Pings are answered, and a close is confirmed. No extension is
// ever agreed to, so nothing is unpacked. Memory grows with the bytes that came, not with the
// lengths that they announce. One thread.
class WebSocketFrames {
 public:
  struct Limits {
    size_t max_message_bytes = size_t{1} << 20;
    // Limit frames of all kinds. A text in pieces of a word may come at once; more is a flood.
    double frames_per_second = 1000;
    double frames_at_once = 20'000;
  };
  // The limit that the client exceeded. A violation of RFC 6455 is none: it closes the connection
  // here.
  enum class Excess : uint8_t { kNone, kMessageBytes, kFrames };

  // Throws std::bad_alloc.
  explicit WebSocketFrames(const Limits& limits);
  WebSocketFrames(const WebSocketFrames&) = delete;
  WebSocketFrames& operator=(const WebSocketFrames&) = delete;
  ~WebSocketFrames();

  // Reads bytes of the client. Nothing is read after an excess or behind a close. `now` must not
  // decrease.
  void Push(std::string_view bytes, TimePoint now);
  bool has_message() const { return !messages_.empty(); }
  // Returns the next message of the client.
  std::optional<WebSocketMessage> Next();
  Excess excess() const { return excess_; }
  // Returns true once a close is on its way to the client.
  bool closing() const { return closing_; }
  // Returns true once both ends have closed, and the client's bytes are of no interest.
  bool closed() const;

  // Write to the client. What follows a close is dropped.
  void Send(const WebSocketMessage& message);
  void Ping();
  // reason: for people, at most 123 bytes of it are sent.
  void Close(WebSocketClose code, std::string_view reason);

  // Returns the bytes to send to the client; Sent removes those that were sent.
  std::string_view unsent() const { return std::string_view{unsent_}.substr(sent_); }
  void Sent(size_t bytes);

 private:
  struct Callbacks;  // the functions that the library calls
  struct Free {
    void operator()(wslay_event_context* context) const;
  };

  void OnFrame(uint8_t opcode, uint64_t bytes);
  void OnBytes(std::string_view bytes);
  void OnMessage(uint8_t opcode);
  // Gives the close that the library wrote for a violation of RFC 6455 its code and a reason.
  // unreadable: the violation is in the head of a frame.
  void Explain(bool unreadable);
  // Moves what the library wants to send to unsent_.
  void Flush();

  const Limits limits_;
  std::unique_ptr<wslay_event_context, Free> context_;
  LeakyBucket frames_;
  std::string_view input_;  // during Push
  TimePoint now_;           // during Push
  bool in_data_ = false;    // the frame that is being read has data
  std::string message_;     // as far as it has come
  std::deque<WebSocketMessage> messages_;
  Excess excess_ = Excess::kNone;
  bool closing_ = false;    // a close is on its way to the client
  bool half_code_ = false;  // the client's close has one byte, which the library takes for none
  bool failed_ = false;     // no memory
  std::string unsent_;      // the client has the first sent_ bytes
  size_t sent_ = 0;
};

}  // namespace millrace
