#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/http/http_server.h"

namespace millrace {

// Handlers of requests.
inline void SayHi(const httplib::Request& /*request*/, httplib::Response& response) {
  response.set_content("hi", "text/plain");
}
inline void SendBack(const httplib::Request& request, httplib::Response& response) {
  response.set_content(request.body, "text/plain");
}

inline HttpServer::Options AnyPort() {
  HttpServer::Options options;
  options.address = "127.0.0.1:0";
  return options;
}

inline int Connect(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return descriptor;
}

// Sends `bytes` over and over, a little at a time, until the server closes, and closes too. The
// answer.
inline std::string SendUntilClosedOn(int descriptor, const std::string& bytes, int wait_ms) {
  std::string answer;
  for (;;) {
    if (send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) break;
    pollfd wait = {.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, wait_ms) <= 0) continue;
    char buffer[4096];
    const ssize_t count = recv(descriptor, buffer, sizeof(buffer), 0);
    if (count <= 0) break;
    answer.append(buffer, static_cast<size_t>(count));
  }
  close(descriptor);
  return answer;
}

inline std::string SendUntilClosed(int port, const std::string& bytes, int wait_ms) {
  return SendUntilClosedOn(Connect(port), bytes, wait_ms);
}

// Sends a request and goes on waiting, as a client does that has more to send. Returns all of the
// answer.
inline std::string AnswerToUnfinished(int port, const std::string& request, bool finish = false) {
  const int descriptor = Connect(port);
  EXPECT_EQ(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  if (finish) shutdown(descriptor, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = recv(descriptor, buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(count));
  close(descriptor);
  return answer;
}

// Sends bytes as they are and returns all of the answer.
inline std::string Raw(int port, const std::string& request) {
  return AnswerToUnfinished(port, request, /*finish=*/true);
}

inline std::string ErrorOf(const httplib::Result& result) {
  return result ? nlohmann::json::parse(result->body).value("error", "") : "no answer";
}

inline uint64_t Refused(const HttpServer& server, int status) {
  for (const auto& [refused, count] : server.CountRefusals()) {
    if (refused == status) return count;
  }
  return UINT64_MAX;  // the status is not counted
}

}  // namespace millrace
