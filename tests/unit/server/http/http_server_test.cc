#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <string>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

// The listening socket of this process with the port.
int ListeningSocket(int port) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    sockaddr_in address{};
    socklen_t address_size = sizeof(address);
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0 &&
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &address_size) == 0 &&
        ntohs(address.sin_port) == port) {
      return descriptor;
    }
  }
  return -1;
}

TEST(HttpServerTest, ReportsItsPortAndServes) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  EXPECT_GT(server.port(), 0);
  const auto result = httplib::Client("127.0.0.1", server.port()).Get("/hello");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, "hi");
}

TEST(HttpServerTest, PortInUseIsAnErrorThatNamesTheAddress) {
  HttpServer first(AnyPort());
  ASSERT_TRUE(first.Start().ok());
  HttpServer::Options options;
  options.address = "127.0.0.1:" + std::to_string(first.port());
  HttpServer second(options);
  const absl::Status status = second.Start();
  EXPECT_EQ(status.message(),
            "HTTP address " + options.address + ": cannot listen: Address already in use");
  second.Stop();
}

TEST(HttpServerTest, UnknownHostAndBadAddressAreErrors) {
  HttpServer::Options options;
  options.address = "no.such.host.invalid:0";
  EXPECT_FALSE(HttpServer(options).Start().ok());
  options.address = "nonsense";
  EXPECT_EQ(HttpServer(options).Start().code(), absl::StatusCode::kInvalidArgument);
}

TEST(HttpServerTest, StopRightAfterStartAndTwice) {
  for (int i = 0; i < 50; ++i) {
    HttpServer server(AnyPort());
    ASSERT_TRUE(server.Start().ok());
    server.Stop();
    server.Stop();
  }
}

TEST(HttpServerTest, StopWaitsForTheHandlerThatRuns) {
  HttpServer server(AnyPort());
  std::promise<void> entered;
  std::promise<void> release;
  server.routes().Get("/slow", [&](const httplib::Request&, httplib::Response& response) {
    entered.set_value();
    release.get_future().wait();
    response.set_content("whole", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  auto answer = std::async(std::launch::async, [&] {
    const auto result = httplib::Client("127.0.0.1", server.port()).Get("/slow");
    return result ? result->body : "none";
  });
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server.Stop(); });
  release.set_value();
  stopped.wait();
  EXPECT_EQ(answer.get(), "whole");
  EXPECT_FALSE(httplib::Client("127.0.0.1", server.port()).Get("/slow"));
}

TEST(HttpServerTest, StopDoesNotWaitForWhatAClientHasNotSent) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::hours(1);
  options.keep_alive_timeout = std::chrono::hours(1);
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  const int idle = Connect(server.port());
  // Connected here: the thread may run only after the server has stopped.
  auto dripping = std::async(std::launch::async, [descriptor = Connect(server.port())] {
    return SendUntilClosedOn(descriptor, "x", 20);
  });
  // One that is answered came after them.
  EXPECT_EQ(httplib::Client("127.0.0.1", server.port()).Get("/")->status, 404);
  server.Stop();
  dripping.wait();
  close(idle);
}

TEST(HttpServerTest, StopDoesNotWaitForAClientThatReadsNothing) {
  HttpServer::Options options = AnyPort();
  options.write_timeout = std::chrono::hours(1);
  HttpServer server(options);
  std::promise<void> entered;
  server.routes().Get("/large", [&](const httplib::Request&, httplib::Response& response) {
    response.set_content(std::string(size_t{64} << 20, 'x'), "text/plain");
    entered.set_value();
  });
  ASSERT_TRUE(server.Start().ok());
  const int descriptor = Connect(server.port());
  const std::string request = "GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
  ASSERT_GT(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL), 0);
  entered.get_future().wait();
  server.Stop();
  close(descriptor);
}

TEST(HttpServerTest, ListensAgainWhenAcceptFails) {
  HttpServer::Options options = AnyPort();
  options.accept_retry = std::chrono::milliseconds(1);
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(httplib::Client("127.0.0.1", server.port()).Get("/")->status, 404);
    ASSERT_EQ(shutdown(ListeningSocket(server.port()), SHUT_RDWR), 0);  // accept fails from here on
    while (!httplib::Client("127.0.0.1", server.port()).Get("/")) {
    }
  }
}

TEST(HttpServerTest, ListensOnIpv6) {
  HttpServer::Options options;
  options.address = "[::1]:0";
  HttpServer server(options);
  const absl::Status status = server.Start();
  if (!status.ok()) GTEST_SKIP() << status;
  EXPECT_EQ(httplib::Client("::1", server.port()).Get("/")->status, 404);
}

}  // namespace
}  // namespace millrace
