#include "server/frontends/prometheus/metrics_routes.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "httplib.h"
#include "server/metrics/open_metrics.h"
#include "tests/fakes/http_client.h"

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

// A server of the page, or why there is none.
absl::StatusOr<std::unique_ptr<HttpServer>> Expose(const Metrics& metrics,
                                                   const std::string& address = "127.0.0.1:0") {
  auto server = std::make_unique<HttpServer>(MetricsServerOptions(address));
  AddMetricsRoute(*server, metrics);
  if (absl::Status status = server->Start(); !status.ok()) return status;
  return server;
}

TEST(MetricsRoutesTest, ServesThePageOnAFreePort) {
  Metrics metrics{BuildInfo{}};
  metrics.ForModel("null")->characters.Increment(7);
  metrics.AddOwner(
      [](MetricWriter& writer) { writer.Gauge("millrace_requests_in_flight", "Requests.", 42); });
  const auto server = Expose(metrics);
  ASSERT_TRUE(server.ok()) << server.status();
  const int port = (*server)->port();
  EXPECT_GT(port, 0);
  const std::string answer = Get(port, "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer, HasSubstr("millrace_characters_total{model=\"null\"} 7\n"));
  EXPECT_THAT(answer, HasSubstr("millrace_requests_in_flight 42\n"));
  EXPECT_THAT(answer, HasSubstr("process_cpu_seconds_total"));
  EXPECT_THAT(Get(port, "/"), StartsWith("HTTP/1.1 404"));
}

TEST(MetricsRoutesTest, ThePageIsCompressedForWhoeverTakesIt) {
  Metrics metrics{BuildInfo{}};
  const auto server = Expose(metrics);
  ASSERT_TRUE(server.ok()) << server.status();
  testing::HttpClient client((*server)->port());
  const auto answer = client.Get("/metrics", {{"Accept-Encoding", "gzip"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(answer->get_header_value("Vary"), "Accept, Accept-Encoding");
  EXPECT_THAT(answer->body, HasSubstr("millrace_build_info"));
  for (const char* others : {"gzip;q=0, identity", "br", "identity;q=1, *;q=0"}) {
    const auto plain = client.Get("/metrics", {{"Accept-Encoding", others}});
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->has_header("Content-Encoding")) << others;
  }
}

TEST(MetricsRoutesTest, BusyPortIsOneClearLine) {
  Metrics metrics{BuildInfo{}};
  const auto first = Expose(metrics);
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const absl::Status status = Expose(metrics, address).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "--metrics-address " + address + ": cannot listen: Address already in use");
  // The first is not disturbed.
  EXPECT_THAT(Get((*first)->port(), "/metrics"), StartsWith("HTTP/1.1 200"));
}

TEST(MetricsRoutesTest, AddressThatIsNoneIsRefused) {
  Metrics metrics{BuildInfo{}};
  EXPECT_THAT(Expose(metrics, "nowhere").status().ToString(),
              HasSubstr("--metrics-address nowhere"));
}

TEST(MetricsRoutesTest, EveryAddressThatTheOptionsAllow) {
  for (const char* address : {":0", "*:0", "[::1]:0"}) {
    Metrics metrics{BuildInfo{}};
    const auto server = Expose(metrics, address);
    if (!server.ok() && address[0] == '[') continue;  // a machine without version 6
    ASSERT_TRUE(server.ok()) << address << ": " << server.status();
    if (address[0] == '[') continue;  // Get is for version 4
    EXPECT_THAT(Get((*server)->port(), "/metrics"), StartsWith("HTTP/1.1 200")) << address;
  }
}

TEST(MetricsRoutesTest, HalfSentRequestsDoNotHoldUpAScrape) {
  Metrics metrics{BuildInfo{}};
  const auto server = Expose(metrics);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string half = "GET /metrics HTTP/1.1\r\nHost:";
  std::vector<int> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(Connect((*server)->port()));
    ASSERT_GE(slow.back(), 0);
    send(slow.back(), half.data(), half.size(), MSG_NOSIGNAL);
  }
  EXPECT_THAT(Get((*server)->port(), "/metrics"), StartsWith("HTTP/1.1 200"));
  for (const int fd : slow) close(fd);
}

TEST(MetricsRoutesTest, EndsWithTheServer) {
  Metrics metrics{BuildInfo{}};
  int port = 0;
  {
    const auto server = Expose(metrics);
    ASSERT_TRUE(server.ok()) << server.status();
    port = (*server)->port();
  }
  EXPECT_EQ(Get(port, "/metrics"), "");
}

TEST(MetricsRoutesTest, ServesOpenMetricsToThoseWhoAskForIt) {
  Metrics metrics{BuildInfo{}};
  auto server = Expose(metrics);
  ASSERT_TRUE(server.ok()) << server.status();
  testing::HttpClient client((*server)->port());
  auto page = client.Get("/metrics", {{"Accept", "application/openmetrics-text; version=1.0.0"}});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->get_header_value("Content-Type"), kOpenMetricsType);
  EXPECT_THAT(page->body, ::testing::EndsWith("# EOF\n"));
  page = client.Get("/metrics", {{"Accept", "text/plain"}});
  ASSERT_TRUE(page);
  EXPECT_THAT(page->get_header_value("Content-Type"), StartsWith("text/plain; version=0.0.4"));
}

}  // namespace
}  // namespace millrace::server
