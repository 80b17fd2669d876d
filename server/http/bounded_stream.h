#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "httplib.h"
#include "server/http/chunked_body.h"
#include "server/sockets/peer_places.h"

namespace millrace {

// One request on a connection as the HTTP library sees it, with what the library lacks: a request
// has a time and a size, and waiting ends soon after the server stops. For one thread. It borrows
// the socket.
//
// Nothing says `override`, because which of these the library declares differs between its
// versions.
//
// NOLINTBEGIN(modernize-use-override)
class BoundedStream final : public httplib::Stream {
 public:
  struct Limits {
    std::chrono::milliseconds body_timeout;  // from now to the last byte of the body
    std::chrono::milliseconds
        write_timeout;  // for one write; 0: it writes what the socket takes at once
  };

  // received: the head of the request, and what came behind it.
  BoundedStream(socket_t socket, std::string received, size_t head_bytes, const Limits& limits,
                std::function<bool()> stopping);
  ~BoundedStream() = default;

  // Lets this request be larger than its head, by a body that was announced.
  void AllowBody(size_t bytes) { bytes_left_ += bytes; }
  // Lets a body in chunks follow the head. What is read of it are chunks again, without extensions
  // and trailers.
  void AllowChunks(size_t max_body_bytes) { chunks_.emplace(max_body_bytes); }
  // Returns why the body is refused while it is read, as an HTTP status; 0: it is not.
  int body_refusal() const {
    if (timed_out_) return 408;
    return chunks_ ? chunks_->refusal() : 0;
  }
  // Returns the bytes behind the head that have come, read or not. Does not wait.
  size_t received_body() const;
  // Keeps the place of a client whose body has not come until it has.
  void HoldUntilDrained(PeerPlaces::Place place) { place_ = std::move(place); }
  // Keeps what is written next, the head of an answer, until its body is written too: one packet
  // instead of two.
  void HoldHead() { hold_next_ = true; }
  // Sends what is kept. Returns false if it could not be sent.
  bool SendHeld();

  // Returns true if the library has read all of this request.
  bool drained() const {
    return bytes_left_ == 0 && (!chunks_ || (chunks_->done() && rechunked_.empty()));
  }
  // Returns the bytes that came and were not read: the beginning of the next request.
  std::string TakeUnread();

  // Returns true if the client has closed its end or reset the connection. Does not wait.
  bool ClientGone() const;

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

  // Returns true if the socket is ready for the events before `end`. Once the server stops, it
  // waits only if `answering`, and only for a moment.
  bool WaitFor(short events, TimePoint end, bool answering) const;
  // Receives more behind what is unread: bytes, 0 at the client's end, -1.
  ssize_t Fill();
  // Makes the next chunks to be read, of what comes. Returns as Fill.
  ssize_t FillChunks();
  ssize_t ReadChunks(char* bytes, size_t size);
  // Sends what is kept and then, as far as the socket takes them, the bytes.
  ssize_t Send(const char* bytes, size_t size);

  const socket_t socket_;
  const Limits limits_;
  const std::function<bool()> stopping_;
  bool timed_out_ = false;  // the client did not send in its time
  const TimePoint opened_ = std::chrono::steady_clock::now();
  mutable std::optional<TimePoint> stop_end_;  // set once a write saw that the server stops
  std::string received_;                       // the client's bytes, read up to next_
  size_t next_ = 0;
  size_t bytes_left_;  // the library may read so many of this request
  std::optional<ChunkedBody> chunks_;
  std::string rechunked_;  // a body in chunks, read up to rechunked_next_
  size_t rechunked_next_ = 0;
  PeerPlaces::Place place_;
  bool hold_next_ = false;
  std::string held_;
};
// NOLINTEND(modernize-use-override)

}  // namespace millrace
