#include "server/http/bounded_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "server/logging/logging.h"

namespace millrace {
namespace {

// How long a client that was refused may take to stop sending.
constexpr std::chrono::milliseconds kLinger{1000};

// Of the connection that this thread serves.
thread_local const BoundedStream* current_stream = nullptr;

// The body's length that a request announces: digits only, named once. Nothing: malformed.
std::optional<uint64_t> ContentLength(const httplib::Request& request) {
  const auto [begin, end] = request.headers.equal_range("Content-Length");
  if (begin == end) return 0;
  const std::string& text = begin->second;
  uint64_t length = 0;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (std::next(begin) != end || !digits || !absl::SimpleAtoi(text, &length)) return std::nullopt;
  return length;
}

// Whether the library reads a body; of others it would take one for the next request.
bool TakesBody(const httplib::Request& request) {
  constexpr std::string_view kWithout[] = {"GET", "HEAD", "OPTIONS"};
  return std::find(std::begin(kWithout), std::end(kWithout), request.method) == std::end(kWithout);
}

}  // namespace

int BoundedServer::BodyRefusal(const httplib::Request& request) const {
  if (request.has_header("Transfer-Encoding")) return 411;
  const std::optional<uint64_t> length = ContentLength(request);
  if (!length) return 400;
  if (*length > max_body_bytes_) return 413;
  if (!TakesBody(request)) return 0;
  if (!request.has_header("Content-Length")) return 411;
  // The library would unpack it, to any size.
  const std::string encoding = request.get_header_value("Content-Encoding");
  return encoding.empty() || absl::EqualsIgnoreCase(encoding, "identity") ? 0 : 415;
}

// A template, so that only the form that the library has is looked up: newer versions ask for the
// addresses here.
template <class Self>
bool BoundedServer::ProcessRequest(Self& self, BoundedStream& stream, bool last, bool& closed,
                                   const std::function<void(httplib::Request&)>& setup) {
  if constexpr (requires { self.process_request(stream, last, closed, setup); }) {
    return self.process_request(stream, last, closed, setup);
  } else {
    std::string remote, local;
    int remote_port = 0, local_port = 0;
    stream.get_remote_ip_and_port(remote, remote_port);
    stream.get_local_ip_and_port(local, local_port);
    return self.process_request(stream, remote, remote_port, local, local_port, last, closed,
                                setup);
  }
}

bool BoundedServer::process_and_close_socket(socket_t socket) {
  BoundedStream stream(socket, limits_, [this] { return svr_sock_ == INVALID_SOCKET; });
  current_stream = &stream;
  bool written = false;
  bool more = true;     // what follows on the connection is a request
  bool drained = true;  // the client has nothing left to send of this one
  for (size_t left = keep_alive_max_count_;
       more && left > 0 && stream.WaitForRequest(std::chrono::seconds(keep_alive_timeout_sec_));
       --left) {
    bool closed = false;
    bool parsed = false;
    // Called once the head has been read and before anything else is looked at.
    const std::function<void(httplib::Request&)> setup = [&](httplib::Request& request) {
      parsed = true;
      const uint64_t length = ContentLength(request).value_or(0);
      if (BodyRefusal(request) == 0 && (TakesBody(request) || length == 0)) {
        stream.AllowBody(length);
        return;
      }
      drained = false;
      closed = true;
      request.headers.erase("Expect");  // asks to be told to go on
      request.headers.erase("Connection");
      request.headers.emplace("Connection", "close");  // the answer says so then
    };
    written = ProcessRequest(*this, stream, left == 1, closed, setup);
    more = written && !closed && parsed;
    drained = drained && parsed;
  }
  if (written && !drained) stream.Linger(kLinger);
  current_stream = nullptr;
  shutdown(socket, SHUT_RDWR);
  close(socket);
  return written;
}

bool BoundedServer::ClientGone() { return current_stream != nullptr && current_stream->Gone(); }

void BoundedServer::Serve(const std::string& host, int port, std::chrono::milliseconds retry) {
  for (;;) {
    listen_after_bind();
    {
      MutexLock lock(mu_);
      if (stopping_) return;
    }
    logging::Error("HTTP cannot accept connections, listening again",
                   {{"port", port}, {"reason", std::strerror(accept_error_)}});
    MutexLock lock(mu_);
    do {
      const auto end = std::chrono::steady_clock::now() + retry;
      while (!stopping_ && std::chrono::steady_clock::now() < end) changed_.WaitUntil(mu_, end);
      if (stopping_) return;
    } while (!bind_to_port(host, port));
  }
}

void BoundedServer::Stop() {
  MutexLock lock(mu_);
  stopping_ = true;
  changed_.NotifyAll();
  const socket_t listening = svr_sock_.exchange(INVALID_SOCKET);
  if (listening == INVALID_SOCKET) return;
  shutdown(listening, SHUT_RDWR);  // wakes accept
  close(listening);
}

void BoundedServer::AcceptLoopEnded() {
  const int error = errno;
  if (svr_sock_.exchange(INVALID_SOCKET) != INVALID_SOCKET) accept_error_ = error;
}

}  // namespace millrace
