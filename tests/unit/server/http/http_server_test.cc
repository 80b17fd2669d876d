#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <future>
#include <map>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "httplib.h"
#include "server/http/http_routes.h"
#include "tests/fakes/http_client.h"
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
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  EXPECT_GT(server.port(), 0);
  const auto result = testing::HttpClient(server.port()).Get("/hello");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, "hi");
}

TEST(HttpServerTest, AnswersHaveTheirDateAndNoLengthOfABodyThatTheyNeverHave) {
  HttpServer server(AnyPort());
  for (const int status : {200, 204, 304, 404}) {
    server.routes().Get("/" + std::to_string(status),
                        [status](const httplib::Request&, httplib::Response& response) {
                          response.status = status;
                        });
  }
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  for (const int status : {200, 204, 304, 404}) {
    const auto result = client.Get("/" + std::to_string(status));
    ASSERT_EQ(result->status, status);
    EXPECT_EQ(result->has_header("Content-Length"), status != 204 && status != 304) << status;
    absl::Time date;
    EXPECT_TRUE(absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", result->get_header_value("Date"),
                                &date, nullptr))
        << result->get_header_value("Date");
    EXPECT_LT(absl::AbsDuration(absl::Now() - date), absl::Hours(1));
  }
  EXPECT_NE(Raw(server.port(), "nonsense\r\n\r\n").find("\r\nDate: "), std::string::npos);
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

// The next request of a client that keeps its connection would break.
TEST(HttpServerTest, AnswersSayThatTheirConnectionsAreClosedOnceTheyAre) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  server.routes().Get("/stream", [&](const httplib::Request&, httplib::Response& response) {
    server.CloseConnections();  // while this request is under way
    response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
      sink.write("hi", 2);
      sink.done();
      return true;
    });
  });
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  client.set_keep_alive(true);
  EXPECT_EQ(client.Get("/hello")->get_header_value("Connection"), "");
  for (const char* path : {"/stream", "/hello", "/unknown"}) {
    const auto result = client.Get(path);
    ASSERT_TRUE(result) << path;
    EXPECT_EQ(result->get_header_value("Connection"), "close") << path;
    EXPECT_FALSE(result->has_header("Keep-Alive")) << path;
  }
  // The server closes, though the client does not say that it will.
  EXPECT_TRUE(Raw(server.port(),
                  "GET /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\n"
                  "Host: a\r\n\r\n")
                  .ends_with("\r\n\r\nhi"));
}

TEST(HttpServerTest, AMalformedRequestIsToldThatItsConnectionIsClosed) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(), "NONSENSE\r\n\r\n");
  EXPECT_NE(answer.find(" 400 "), std::string::npos) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Keep-Alive"), std::string::npos) << answer;
}

TEST(HttpServerTest, CountsWhatNoHandlerSees) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 10;
  HttpServer server(options);
  server.routes().Post("/take", [](const httplib::Request&, httplib::Response&) {});
  ASSERT_TRUE(server.Start().ok());
  const int port = server.port();
  Raw(port, "GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n");
  Raw(port, "GET /take HTTP/1.1\r\nHost: a\r\n\r\n");
  Raw(port, "POST /take HTTP/1.1\r\nHost: a\r\n\r\na");
  Raw(port, "POST /take HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n");
  Raw(port, "POST /" + std::string(1100, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n");
  Raw(port,
      "POST /take HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\na");
  Raw(port, "GET /take HTTP/1.1\r\nA: " + std::string(70'000, 'a') + "\r\n\r\n");
  Raw(port, "NONSENSE\r\n\r\n");
  // This one reaches its handler.
  Raw(port, "POST /take HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na");
  std::map<int, uint64_t> counts;
  for (const auto& [status, count] : server.CountRefusals()) counts[status] = count;
  for (const int status : {400, 404, 405, 411, 413, 414, 415, 431})
    EXPECT_EQ(counts[status], 1U) << status;
  EXPECT_EQ(counts[429], 0U);
  EXPECT_EQ(counts[503], 0U);
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
    const auto result = testing::HttpClient(server.port()).Get("/slow");
    return result ? result->body : "none";
  });
  entered.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server.Stop(); });
  release.set_value();
  stopped.wait();
  EXPECT_EQ(answer.get(), "whole");
  EXPECT_FALSE(testing::HttpClient(server.port()).Get("/slow"));
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
  EXPECT_EQ(testing::HttpClient(server.port()).Get("/")->status, 404);
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
    EXPECT_EQ(testing::HttpClient(server.port()).Get("/")->status, 404);
    ASSERT_EQ(shutdown(ListeningSocket(server.port()), SHUT_RDWR), 0);  // accept fails from here on
    while (!testing::HttpClient(server.port()).Get("/")) {
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
