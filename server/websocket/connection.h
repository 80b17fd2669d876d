#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/websocket/frames.h"
#include "server/websocket/session.h"

namespace millrace {

// A session with its frames and times, without the socket: it consumes and produces bytes. The
// client is pinged while it is silent, and given up when it does not answer, does not read, or does
// not confirm a close. One thread. What it throws, for want of memory, costs the connection.
class WebSocketConnection {
 public:
  struct Options {
    WebSocketFrames::Limits limits = {};
    Duration ping_interval = std::chrono::seconds(20);  // of silence, then until an answer
    Duration stall_timeout = std::chrono::seconds(30);  // of a client's reading
    Duration close_timeout = std::chrono::seconds(2);   // until a client confirms a close
  };

  WebSocketConnection(std::unique_ptr<WebSocketSession> session, const Options& options,
                      const Clock& clock);

  // Adds bytes that the client sent. Must be called only while wants_bytes().
  void Receive(std::string_view bytes);
  // Returns false while the client is not read: enough waits, for the session or for the client.
  bool wants_bytes() const;
  // Makes progress. Must be called after bytes were read or written, when the session has changed,
  // and when it is due.
  void Advance();

  // Returns the bytes to send to the client; Sent removes those that were sent.
  std::string_view unsent() const { return frames_.unsent(); }
  void Sent(size_t bytes);
  // Returns true if the socket is to be closed now.
  bool over() const { return over_; }
  // Returns when Advance must be called even though nothing happens until then.
  TimePoint due() const;

  // Closes because the server stops: once the session is idle, or now.
  void Drain() { draining_ = true; }
  void GoAway();

 private:
  void HandleMessages();
  void TakeOutput();
  void EndOverdue(TimePoint now);
  void Close(WebSocketClose code, std::string_view reason);

  const Options options_;
  const Clock& clock_;
  WebSocketFrames frames_;
  const std::unique_ptr<WebSocketSession> session_;
  bool draining_ = false;
  bool over_ = false;
  bool pinged_ = false;      // since the client was last heard
  TimePoint last_heard_;     // of the client
  TimePoint last_progress_;  // when bytes began to wait for the client, or it took some
  TimePoint closing_since_ = TimePoint::max();
};

}  // namespace millrace
