#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "server/metrics/metrics.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A connection to a port of this machine; -1 when nobody listens there.
int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  close(fd);
  return -1;
}

// The whole answer to GET of a path on a port of this machine; empty when nobody listens there.
std::string Get(int port, const std::string& path) {
  const int fd = Connect(port);
  std::string answer;
  if (fd >= 0) {
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    char bytes[4096];
    for (ssize_t size; (size = read(fd, bytes, sizeof(bytes))) > 0;)
      answer.append(bytes, static_cast<size_t>(size));
  }
  close(fd);
  return answer;
}

TEST(Expose, ServesThePageOnAFreePort) {
  Metrics metrics{BuildInfo{}};
  metrics.ForModel("null")->characters.Increment(7);
  metrics.SetSnapshot([] { return Snapshot{.models = {}, .requests_in_flight = 42}; });
  const auto port = metrics.Expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_GT(*port, 0);
  const std::string answer = Get(*port, "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("millrace_characters_total{model=\"null\"} 7\n"));
  EXPECT_THAT(answer, HasSubstr("millrace_requests_in_flight 42\n"));
  EXPECT_THAT(answer, HasSubstr("process_cpu_seconds_total"));
  EXPECT_THAT(Get(*port, "/"), StartsWith("HTTP/1.1 404"));
}

TEST(Expose, BusyPortIsOneClearLine) {
  Metrics first{BuildInfo{}};
  const auto port = first.Expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok());
  Metrics second{BuildInfo{}};
  const std::string address = "127.0.0.1:" + std::to_string(*port);
  const absl::Status status = second.Expose(address).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(), HasSubstr("--metrics-address " + address));
  EXPECT_THAT(status.ToString(), HasSubstr("port in use"));
  EXPECT_THAT(Get(*port, "/metrics"), StartsWith("HTTP/1.1 200"));  // the first is not disturbed
}

TEST(Expose, AddressThatIsNoneIsRefused) {
  Metrics metrics{BuildInfo{}};
  EXPECT_FALSE(metrics.Expose("nowhere").ok());
}

TEST(Expose, EveryAddressThatTheOptionsAllow) {
  for (const char* address : {":0", "*:0", "[::1]:0"}) {
    Metrics metrics{BuildInfo{}};
    const auto port = metrics.Expose(address);
    if (!port.ok() && address[0] == '[') continue;  // a machine without version 6
    ASSERT_TRUE(port.ok()) << address << ": " << port.status();
    if (address[0] == '[') continue;  // Get is for version 4
    EXPECT_THAT(Get(*port, "/metrics"), StartsWith("HTTP/1.1 200")) << address;
  }
}

TEST(Expose, IdleConnectionsDoNotHoldUpAScrape) {
  Metrics metrics{BuildInfo{}};
  const auto port = metrics.Expose("127.0.0.1:0");
  ASSERT_TRUE(port.ok()) << port.status();
  int idle[3];
  for (int& fd : idle) fd = Connect(*port);
  EXPECT_THAT(Get(*port, "/metrics"), StartsWith("HTTP/1.1 200"));
  // The server gives up on them first.
  char byte;
  for (const int fd : idle) {
    EXPECT_LE(read(fd, &byte, 1), 0);
    close(fd);
  }
}

TEST(Expose, EndsWithTheMetrics) {
  int port = 0;
  {
    Metrics metrics{BuildInfo{}};
    port = *metrics.Expose("127.0.0.1:0");
  }
  EXPECT_EQ(Get(port, "/metrics"), "");
}

}  // namespace
}  // namespace millrace::server
