#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "server/sockets/byte_session.h"
#include "server/websocket/frames.h"
#include "server/websocket/session.h"

namespace millrace {

// A session with its frames and times, without the socket. The client is pinged while it is silent,
// and given up when it does not answer, does not read, or does not confirm a close. One thread.
class WebSocketConnection final : public ByteSession {
 public:
  struct Options {
    WebSocketFrames::Limits limits = {};
    Duration ping_interval =
        std::chrono::seconds(20);  // silence before a ping, then the wait for an answer
    Duration stall_timeout = std::chrono::seconds(30);  // for a client's reading
    Duration close_timeout = std::chrono::seconds(2);   // until a client confirms a close
  };

  WebSocketConnection(std::unique_ptr<WebSocketSession> session, const Options& options,
                      const Clock& clock);

  void Receive(std::string_view bytes) override;
  bool wants_bytes() const override;
  void Advance() override;
  bool has_more() const override {
    return !over_ && !frames_.closing() && !session_->end() && frames_.has_message() &&
           session_->wants_message();
  }
  std::string_view unsent() const override { return frames_.unsent(); }
  void Sent(size_t bytes) override;
  bool over() const override { return over_; }
  TimePoint due() const override;
  void Drain() override { draining_ = true; }
  void GoAway() override;

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
  TimePoint last_heard_;     // when the client last sent something
  TimePoint last_progress_;  // when bytes began to wait for the client, or it took some
  TimePoint closing_since_ = TimePoint::max();
};

}  // namespace millrace
