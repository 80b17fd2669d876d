#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "httplib.h"
#include "mps_runtime/base/mutex.h"
#include "server/http/bounded_stream.h"

namespace millrace {

// The library's server, with each request bounded in time and size, and with a stop and an accept
// loop that survive what the library's own do not.
class BoundedServer final : public httplib::Server {
 public:
  BoundedServer(const BoundedStream::Limits& limits, size_t max_body_bytes)
      : limits_(limits), max_body_bytes_(max_body_bytes) {}
  ~BoundedServer() override = default;

  // The status with which a request is refused for its body's framing before that is read; 0: none.
  int BodyRefusal(const httplib::Request& request) const;

  // Serves until Stop. When the library gives up on the listening socket it is bound again, after
  // `retry`, to the same address.
  void Serve(const std::string& host, int port, std::chrono::milliseconds retry)
      MILLRACE_EXCLUDES(mu_);
  // Closes the listening socket; connections end soon after. Idempotent, from any thread, also
  // before Serve; the library's own does nothing then.
  void Stop() MILLRACE_EXCLUDES(mu_);
  // Whether the client of the request that the calling thread serves has gone.
  static bool ClientGone();
  // For the task queue, when the library has left its accept loop: connections shall end too. The
  // library leaves a closed socket's number behind after an error.
  void AcceptLoopEnded();

 private:
  template <class Self>
  static bool ProcessRequest(Self& self, BoundedStream& stream, bool last, bool& closed,
                             const std::function<void(httplib::Request&)>& setup);
  bool process_and_close_socket(socket_t socket) override;

  const BoundedStream::Limits limits_;
  const size_t max_body_bytes_;

  int accept_error_ = 0;  // of the thread that serves

  Mutex mu_;
  CondVar changed_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace
