#include "server/http/next_request.h"

#include <poll.h>
#include <sys/socket.h>

#include <exception>

#include "server/http/request_head.h"
#include "server/sockets/nonblocking.h"

namespace millrace {
namespace {

using Next = RequestThreads::Next;

constexpr size_t kReceivedAtOnce = 4096;

Next Await(Connection& connection, std::chrono::milliseconds patience, size_t max_head_bytes) {
  DropEmptyLines(connection.received);
  if (connection.received.empty()) {
    pollfd wait = {.fd = connection.socket.get(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return Next::kNothing;
    char bytes[kReceivedAtOnce];
    const ssize_t count = recv(connection.socket.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count < 0 && WouldBlock()) return Next::kNothing;
    if (count <= 0) return Next::kGone;
    connection.received.assign(bytes, static_cast<size_t>(count));
    DropEmptyLines(connection.received);
  }
  const size_t head = HeadSize(connection.received, 0);
  return head != 0 && head <= max_head_bytes ? Next::kRequest : Next::kNothing;
}

}  // namespace

Next AwaitRequest(Connection& connection, std::chrono::milliseconds patience,
                  size_t max_head_bytes) noexcept {
  try {
    return Await(connection, patience, max_head_bytes);
  } catch (const std::exception&) {  // there is no memory for what came
    return Next::kGone;
  }
}

}  // namespace millrace
