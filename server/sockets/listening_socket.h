#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace millrace {

// A TCP socket that listens, or none. Move-only; closes with its end.
class ListeningSocket {
 public:
  ListeningSocket() = default;
  // Port 0 takes a free one, an empty host all interfaces. Unavailable says why it cannot listen.
  static absl::StatusOr<ListeningSocket> Listen(const std::string& host, int port);
  // Listens by a duplicate of a socket that listens already and does not block. Unavailable when
  // there is no descriptor for it.
  static absl::StatusOr<ListeningSocket> Share(int descriptor);
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&& other) noexcept;
  ~ListeningSocket();

  int port() const { return port_; }
  // To poll. -1 once closed.
  int descriptor() const { return descriptor_; }
  // A connection, or -1 and errno; EAGAIN: none waits.
  int Accept() const;
  // Connections are refused from here on. Idempotent.
  void Close();

 private:
  ListeningSocket(int descriptor, int port) : descriptor_(descriptor), port_(port) {}

  int descriptor_ = -1;
  int port_ = 0;
};

}  // namespace millrace
