#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/frontends/front_end.h"
#include "server/frontends/wyoming/session.h"
#include "server/logging/line_limiter.h"
#include "server/requests/models_answer.h"
#include "server/requests/services.h"
#include "server/sockets/poll_group.h"
#include "server/sockets/poll_loop.h"

namespace millrace::server {

// Serves speech over the Wyoming protocol, as Home Assistant uses it: an event is a line of JSON,
// data and samples, on a TCP connection without keys and without encryption. The loop's thread
// reads and writes all connections and never waits for one of them. When the limit of open
// connections is reached, or that of their address, the one that has been idle for longest is
// closed.
//
// Start and Stop must be called on one thread.
class WyomingServer final : public PortServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:10200";  // port 0: a free one
    int inherited = -1;  // a socket that listens already, in place of the address; -1: none
    size_t max_connections = 128;
    int max_connections_of_peer = 64;  // among these, see Peer; >= 1
    std::chrono::milliseconds event_timeout = std::chrono::seconds(15);  // first to last byte
    std::chrono::milliseconds idle_timeout = std::chrono::minutes(5);
    std::chrono::milliseconds stall_timeout = std::chrono::seconds(30);  // for a client's reading
    // A text that has waited so long for more gives way as an idle connection does.
    std::chrono::milliseconds text_timeout = std::chrono::seconds(1);
    std::chrono::milliseconds accept_retry = std::chrono::seconds(1);  // when accepting fails
    // Returns true once the models are loaded; until then requests get an error.
    std::function<bool()> started = [] { return true; };
  };

  // The loop and the services, and what they borrow, must outlive the server.
  WyomingServer(PollLoop& loop, Services& services, Options options);

  absl::Status Start() override;
  int port() const override { return group_.acceptor().port(); }
  // Closes all connections, which stops their syntheses. Idempotent.
  void Stop() override { group_.Stop(); }

 private:
  std::unique_ptr<PollClient> Open(FileDescriptor socket, const Peer& peer,
                                   PeerPlaces::Place place) const;
  // Counts a client for which there is no room, and sends it the error, if its socket takes that at
  // once.
  void Refuse(int descriptor, PeerPlaces::Full full);

  const Options options_;
  PollLoop& loop_;
  ModelsAnswer<std::string> info_;
  const WyomingContext context_;
  logging::LineLimiter refusals_{/*burst=*/5, std::chrono::seconds(10)};  // the loop's thread
  PollGroup group_;                                                       // last
};

}  // namespace millrace::server
