#pragma once

#include <chrono>
#include <cstddef>

#include "server/http/connection.h"
#include "server/http/request_threads.h"

namespace millrace {

// Waits at most that long for the head of a connection's next request, which may have come already.
// The bytes that came are in the connection's `received`. A head that is longer than it may be is
// the poller's to refuse, as is one that comes in pieces.
RequestThreads::Next AwaitRequest(Connection& connection, std::chrono::milliseconds patience,
                                  size_t max_head_bytes) noexcept;

}  // namespace millrace
