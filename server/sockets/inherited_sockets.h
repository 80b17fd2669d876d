#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace {

// The sockets that a service manager listens on and passed to this process, by their names, as
// systemd's socket units do (man sd_listen_fds). Clients that connect while no process accepts wait
// in the sockets' queues, so a restart refuses none. The sockets stay open until the process ends,
// and no child inherits them. Constant once taken.
class InheritedSockets {
 public:
  // The variables of the environment by which the service manager tells of them; null: not set.
  struct Passed {
    const char* pid = nullptr;    // LISTEN_PID: the process that they are for
    const char* fds = nullptr;    // LISTEN_FDS: their number
    const char* names = nullptr;  // LISTEN_FDNAMES, with ':' between them
    int first = 3;                // their first descriptor; the others follow it
  };

  InheritedSockets() = default;

  // Takes the sockets that were passed to this process, and removes the variables so that its
  // children do not. INVALID_ARGUMENT if they are not TCP sockets that listen, each with one of
  // these names. Main thread, before there are others.
  static absl::StatusOr<InheritedSockets> Take(const std::vector<std::string_view>& names);
  // Does the same with what was passed, and leaves the environment alone. self: this process.
  static absl::StatusOr<InheritedSockets> TakeFrom(const Passed& passed, pid_t self,
                                                   const std::vector<std::string_view>& names);

  bool empty() const { return descriptors_.empty(); }
  // Returns the descriptor of that name, which does not block; -1: there is none.
  int Find(std::string_view name) const;

 private:
  std::map<std::string, int, std::less<>> descriptors_;
};

}  // namespace millrace
