#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace millrace::testing {

// A client's connection to a port of this machine.
class SocketClient {
 public:
  // from: the address of this machine that it has.
  explicit SocketClient(int port, const char* from = "127.0.0.1") {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, from, &address.sin_addr);
    EXPECT_EQ(bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  SocketClient(const SocketClient&) = delete;
  SocketClient& operator=(const SocketClient&) = delete;
  ~SocketClient() { close(descriptor_); }

  void Send(const std::string& bytes) {
    EXPECT_EQ(send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void SendNoMore() { shutdown(descriptor_, SHUT_WR); }
  // Waits for some bytes; empty: the connection has ended. Its reset is an end that loses bytes.
  std::string Receive() {
    char bytes[4096];
    const ssize_t count = recv(descriptor_, bytes, sizeof(bytes), 0);
    reset_ = count < 0;
    return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : std::string();
  }
  // Returns the bytes up to this text, or to the end of all.
  std::string ReceiveUntil(const std::string& end) {
    std::string received;
    char byte;
    while (!received.ends_with(end) && recv(descriptor_, &byte, 1, 0) == 1) received += byte;
    return received;
  }
  // Waits for the server's end of the connection.
  bool Closed() { return Receive().empty(); }
  // Returns true if the server has reset the connection.
  bool was_reset() const { return reset_; }

 private:
  const int descriptor_ = socket(AF_INET, SOCK_STREAM, 0);
  bool reset_ = false;
};

}  // namespace millrace::testing
