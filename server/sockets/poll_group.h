#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/file.h"
#include "server/sockets/acceptor.h"
#include "server/sockets/peer_places.h"
#include "server/sockets/poll_client.h"
#include "server/sockets/poll_loop.h"

namespace millrace {

// The connections of one protocol, which a PollLoop accepts and serves, and how many there may be.
// Where a new one finds no place, the one that has been idle for longest gives way to it: of all,
// or of the new one's peer where that has all it may have. Where none is idle, the peer with most
// connections gives up the one that was last served longest ago, if it has more than the new one's
// peer. Start, Stop and Drain must be called on
// one thread at a time.
class PollGroup {
 public:
  struct Options {
    std::string protocol;  // for the log, such as "HTTP"
    // Says where to accept; without it, all connections come by Add.
    std::optional<Acceptor::Options> accept = std::nullopt;
    size_t max_connections = 0;
    int max_connections_of_peer = 0;  // from one Peer; >= 1
    // The time that connections have to end when the group stops, once they were told.
    Duration stop_grace{};
    // Makes the client of a connection that was accepted. On the loop's thread, as all of these;
    // what they throw, for want of memory, costs the connection.
    std::function<std::unique_ptr<PollClient>(FileDescriptor socket, const Peer& peer,
                                              PeerPlaces::Place place)>
        open = nullptr;
    // Tells the client of a connection that there is no place for it, before that is closed.
    std::function<void(int descriptor, const Peer& peer, PeerPlaces::Full full)> refuse = nullptr;
    // Called when a connection has been closed to make room.
    std::function<void()> on_made_room = [] {};
  };

  // The loop must outlive this.
  PollGroup(PollLoop& loop, Options options);
  PollGroup(const PollGroup&) = delete;
  PollGroup& operator=(const PollGroup&) = delete;
  ~PollGroup() { Stop(); }

  // For groups that accept.
  Acceptor& acceptor() { return *acceptor_; }
  const Acceptor& acceptor() const { return *acceptor_; }
  // Places of those that are open. Clients hold them, also while another thread has the connection.
  PeerPlaces& places() { return places_; }
  const PeerPlaces& places() const { return places_; }

  // Serves its connections from here on. The acceptor must listen already.
  absl::Status Start() MILLRACE_EXCLUDES(loop_.mu_);
  // Hands a connection to the group. Returns false, and ends it, where the group does not run. Any
  // thread; does not fail for want of memory while there are no more than may be.
  bool Add(std::unique_ptr<PollClient> client) MILLRACE_EXCLUDES(loop_.mu_);
  // Has all connections drain, those that come later too. Idempotent.
  void Drain();
  // Returns true once Drain was called. Any thread.
  bool draining() const { return draining_; }
  // Accepts no more, tells all connections and closes them after a while. Idempotent.
  void Stop() MILLRACE_EXCLUDES(loop_.mu_);

  // Returns its connections. On the loop's thread.
  std::span<const std::unique_ptr<PollClient>> clients() const { return clients_; }

 private:
  friend class PollLoop;

  // Returns the most that AddTo appends.
  size_t most_waits() const;
  // Takes what Add has brought, and does what was asked for since the last turn. Returns false once
  // it has stopped.
  bool Prepare(TimePoint now) MILLRACE_EXCLUDES(loop_.mu_);
  // Appends what is to be polled. Returns when it must be served although nothing comes.
  TimePoint AddTo(std::vector<pollfd>& waits);
  void Serve(const std::vector<pollfd>& waits, TimePoint now);
  // Serves a connection. Returns false if it is over.
  bool Serve(PollClient& client, short events, TimePoint now);
  void Take(int descriptor, TimePoint now);
  void Enter(std::unique_ptr<PollClient> client, TimePoint now);
  // Closes the connection that has been idle for longest, of the peer or, without one, of all.
  // Returns false if none is idle.
  bool MakeRoom(const Peer* peer, TimePoint now);
  // Closes a connection of the peer that has most of them. Returns false if that one has no more
  // than its share beside `peer`.
  bool MakeFairRoom(const Peer& peer);
  // Closes the connection of which `since` returns the earliest time. Returns false if it returns
  // none.
  bool CloseFirst(absl::FunctionRef<std::optional<TimePoint>(const PollClient&)> since);
  void Remove(size_t index);

  PollLoop& loop_;
  const Options options_;
  PeerPlaces places_;  // outlives the clients
  std::optional<Acceptor> acceptor_;
  std::atomic<bool> draining_{false};

  bool running_ MILLRACE_GUARDED_BY(loop_.mu_) = false;  // false: nothing is taken
  bool stopping_ MILLRACE_GUARDED_BY(loop_.mu_) = false;
  std::vector<std::unique_ptr<PollClient>> added_ MILLRACE_GUARDED_BY(loop_.mu_);

  // Only the loop's thread uses these members.
  std::vector<std::unique_ptr<PollClient>> clients_;  // the poll is for these, in this order
  std::vector<std::unique_ptr<PollClient>> taken_;
  size_t first_wait_ = 0;  // the first client's place among the waits
  bool drained_ = false;   // the clients were told
  TimePoint stop_end_ = TimePoint::max();
};

}  // namespace millrace
