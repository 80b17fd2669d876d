#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "mps_runtime/base/file.h"
#include "server/sockets/byte_session.h"
#include "server/sockets/peer_places.h"
#include "server/sockets/poll_client.h"
#include "server/sockets/wake_pipe.h"

namespace millrace {

// The connection of a ByteSession: moves its bytes. It needs its socket and its session before a
// PollGroup has it.
class SessionClient final : public PollClient {
 public:
  struct Options {
    // At the end, sends what the session still has and gives the client time to read it; otherwise
    // the session's end closes the connection.
    bool lingers = false;
  };

  // wake: of the loop that will serve it.
  SessionClient(std::shared_ptr<WakePipe> wake, const Peer& peer, PeerPlaces::Place place,
                Options options)
      : wake_(std::move(wake)), options_(options), peer_(peer), place_(std::move(place)) {}

  // Returns what reports that the session has changed. Any thread may call it, and it may outlive
  // the client.
  std::function<void()> Changed() const;
  void SetSession(std::unique_ptr<ByteSession> session) { session_ = std::move(session); }
  void SetSocket(FileDescriptor socket) { socket_ = std::move(socket); }
  ByteSession& session() { return *session_; }

  int descriptor() const override { return socket_.get(); }
  const Peer& peer() const override { return peer_; }
  short WantedEvents() const override;
  TimePoint due() const override {
    return *changed_ || session_->has_more() ? TimePoint::min() : session_->due();
  }
  bool Serve(short events, TimePoint now) override;
  std::optional<TimePoint> IdleSince(TimePoint now) const override {
    return session_->IdleSince(now);
  }
  std::optional<TimePoint> LastServed() const override { return last_served_; }
  void Drain() override;
  void GoAway() override;

 private:
  // Return false if the client is gone.
  bool Receive();
  bool Send();  // More of the output has the next turn.

  const std::shared_ptr<WakePipe> wake_;
  const Options options_;
  // Set when the session has changed, and shared with its work.
  const std::shared_ptr<std::atomic<bool>> changed_ = std::make_shared<std::atomic<bool>>(true);
  const Peer peer_;
  // The place is free before the client sees the end, and the session ends before that.
  FileDescriptor socket_;
  const PeerPlaces::Place place_;
  std::unique_ptr<ByteSession> session_;
  TimePoint last_served_;  // when it could last be read or written
};

}  // namespace millrace
