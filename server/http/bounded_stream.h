#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "httplib.h"

namespace millrace {

// One connection as the HTTP library sees it, with what the library lacks: a request as a whole has
// a time and a size, and waiting ends soon after the server stops. For one thread. It borrows the
// socket.
//
// Nothing says `override`: which of these the library declares differs between its versions.
class BoundedStream final : public httplib::Stream {
 public:
  struct Limits {
    std::chrono::milliseconds request_timeout;  // from the first byte of a request to its last
    size_t head_bytes;                          // request line and headers
    std::chrono::milliseconds write_timeout;    // of one write
  };

  BoundedStream(socket_t socket, const Limits& limits, std::function<bool()> stopping);
  ~BoundedStream() = default;

  // Waits for the next request; its limits count from here. False: none came in time, the client
  // closed, or the server stops.
  bool WaitForRequest(std::chrono::milliseconds timeout);
  // Lets this request be larger, by a body that was announced.
  void AllowBody(size_t bytes) { bytes_left_ += bytes; }
  // Sends the end of the answer and discards for a moment what the client still sends: closing a
  // socket with unread bytes would reset the connection before the client has read the answer.
  void Linger(std::chrono::milliseconds timeout);

  // Whether the client has closed its end or reset the connection. Does not wait.
  bool Gone() const;

  bool is_readable() const;
  bool is_writable() const;
  bool wait_readable() const { return is_readable(); }
  bool wait_writable() const { return is_writable(); }
  // -1 once the request's time or size is used up or the server stops, 0 at the client's end.
  ssize_t read(char* bytes, size_t size);
  ssize_t write(const char* bytes, size_t size);
  using httplib::Stream::write;
  void get_remote_ip_and_port(std::string& ip, int& port) const;
  void get_local_ip_and_port(std::string& ip, int& port) const;
  // Not told: the library refuses descriptors that select() cannot take, and this one polls.
  socket_t socket() const { return INVALID_SOCKET; }
  time_t duration() const;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  // Whether the socket is ready for the events before `end`. Once the server stops, only an answer
  // is still waited for, and for a moment only.
  bool WaitFor(short events, TimePoint end, bool answering) const;
  // Refills the empty buffer: bytes, 0 at the client's end, -1.
  ssize_t Fill(TimePoint end);

  const socket_t socket_;
  const Limits limits_;
  const std::function<bool()> stopping_;
  const TimePoint opened_ = std::chrono::steady_clock::now();
  TimePoint request_end_ = opened_;
  mutable std::optional<TimePoint> stop_end_;  // set once a write saw that the server stops
  size_t bytes_left_ = 0;
  char buffer_[4096];
  size_t next_ = 0;
  size_t filled_ = 0;
};

}  // namespace millrace
