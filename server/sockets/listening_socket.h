#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/net/address_policy.h"
#include "server/sockets/socket_file.h"

namespace millrace {

// A stream socket of a server, for TCP or in the file system, or none. Move-only; closes with its
// end, and removes its file.
class ListeningSocket {
 public:
  ListeningSocket() = default;
  // Binds a socket to each address of the host, all of them to one port, or to the file. Port 0
  // takes a free one. Connections to TCP are refused until Listen; those to a file wait.
  // Unavailable says why it cannot, also where another process has only one of the addresses.
  static absl::StatusOr<std::vector<ListeningSocket>> BindAll(const ListenAddress& address);
  // Listens by a duplicate of a socket that listens already and does not block. Unavailable when
  // there is no descriptor for it.
  static absl::StatusOr<ListeningSocket> Share(int descriptor);
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&& other) noexcept;
  ~ListeningSocket();

  absl::Status Listen() const;
  int port() const { return port_; }  // 0 for one in the file system
  // To poll. -1 once closed.
  int descriptor() const { return descriptor_; }
  // A connection, or -1 and errno; EAGAIN: none waits.
  int Accept() const;
  // Connections are refused from here on. Idempotent.
  void Close();

 private:
  ListeningSocket(int descriptor, int port) : descriptor_(descriptor), port_(port) {}
  static absl::StatusOr<ListeningSocket> BindFile(const std::string& path);

  int descriptor_ = -1;
  int port_ = 0;
  std::optional<SocketFile> file_;
};

}  // namespace millrace
