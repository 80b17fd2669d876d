#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/frontends/front_end.h"
#include "server/sockets/inherited_sockets.h"

namespace millrace::server {

// The servers of front ends with a port of their own. Main thread only.
class PortServers {
 public:
  // Binds the addresses that the configuration has, and answers from then on. Called once; after an
  // error, Stop ends what has been started. The parts must outlive this.
  absl::Status Start(const FrontEndParts& parts, std::span<const FrontEnd* const> front_ends,
                     const InheritedSockets& sockets);
  // Returns the ports by the names of the front ends; 0: not served.
  std::vector<std::pair<std::string_view, int>> Ports() const;
  // Ends all connections.
  void Stop();

 private:
  struct Entry {
    std::string_view name;
    std::unique_ptr<PortServer> server;  // null: not served
  };
  std::vector<Entry> entries_;
};

}  // namespace millrace::server
