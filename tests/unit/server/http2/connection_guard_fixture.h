#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "server/http2/connection_guard.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {

inline constexpr int kFd = 1000;
inline constexpr int kUnwatched = kFd - 1;  // no test watches it
inline const std::string kTooLong = kPreface + Frame(kHeadersFrame, 0, 1, 5000);

// The process has one guard; each test watches the descriptor anew.
class ConnectionGuardTest : public ::testing::Test {
 protected:
  ConnectionGuardTest() {
    guard_.Configure({.header_bytes = 1000}, /*tls=*/false);
    guard_.SetHooked();
  }

  // In two pieces, as gRPC reads.
  bool Receive(int fd, std::string bytes) {
    const size_t half = bytes.size() / 2;
    const std::array<iovec, 2> pieces = {
        {{bytes.data(), half}, {bytes.data() + half, bytes.size() - half + 100}}};
    return guard_.OnReceived(fd, pieces, bytes.size()) == bytes.size();
  }

  ConnectionGuard& guard_ = ConnectionGuard::Process();
};

}  // namespace millrace::server
