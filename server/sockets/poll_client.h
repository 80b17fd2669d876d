#pragma once

#include <poll.h>

#include <optional>

#include "mps_runtime/base/clock.h"
#include "server/sockets/peer.h"

namespace millrace {

// A connection of a PollGroup. Used on the loop's thread once the group has it; its end closes the
// connection. What it throws, for want of memory, ends it.
class PollClient {
 public:
  PollClient() = default;
  PollClient(const PollClient&) = delete;
  PollClient& operator=(const PollClient&) = delete;
  virtual ~PollClient() = default;

  virtual int descriptor() const = 0;
  virtual const Peer& peer() const = 0;
  // Returns the events of poll() that it waits for.
  virtual short WantedEvents() const { return POLLIN; }
  // Returns when Serve must be called although nothing comes until then.
  virtual TimePoint due() const = 0;
  // Does what can be done without waiting. Called once without events when the group takes the
  // connection, then when events have come or it is due. Returns false if the connection is over.
  virtual bool Serve(short events, TimePoint now) = 0;
  // Returns since when it has been idle, if it may be closed to make room for another one.
  virtual std::optional<TimePoint> IdleSince(TimePoint) const { return std::nullopt; }
  // Returns when it was last of use, if it may be closed for a peer that has fewer connections,
  // even if it is not idle.
  virtual std::optional<TimePoint> LastServed() const { return std::nullopt; }
  // Has it end once nothing is in progress.
  virtual void Drain() {}
  // Tells its other end that the server stops.
  virtual void GoAway() {}

 protected:
  // Tells the other end that nothing more comes, while what it still sends is thrown away for a
  // moment: closing a socket with unread bytes would reset the connection before the other end has
  // read the last answer. Serve is not called any more.
  void Linger(TimePoint now);

 private:
  friend class PollGroup;
  bool lingers() const { return linger_end_ != TimePoint::max(); }

  TimePoint linger_end_ = TimePoint::max();
};

}  // namespace millrace
