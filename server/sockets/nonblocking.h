#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace millrace {

// Systems differ in these, for sockets that a thread polls and never waits for.

// Flags of send().
#ifdef MSG_NOSIGNAL
inline constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
#else
inline constexpr int kSendFlags = MSG_DONTWAIT;
#endif

// The event of poll() for a client that has closed its end behind bytes that are not read yet.
#ifdef POLLRDHUP
inline constexpr short kPollClosed = POLLRDHUP;
#else
inline constexpr short kPollClosed = 0;
#endif

// Returns true if a call failed, by errno, only because the socket is not ready.
inline bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace millrace
