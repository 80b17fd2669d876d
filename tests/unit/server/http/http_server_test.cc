#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <stdexcept>
#include <string>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/http/http_routes.h"

namespace millrace {
namespace {

HttpServer::Options AnyPort() {
  HttpServer::Options options;
  options.address = "127.0.0.1:0";
  return options;
}

int Connect(int port) {
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
std::string SendUntilClosedOn(int descriptor, const std::string& bytes, int wait_ms) {
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

std::string SendUntilClosed(int port, const std::string& bytes, int wait_ms) {
  return SendUntilClosedOn(Connect(port), bytes, wait_ms);
}

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

// Sends bytes as they are and returns all of the answer.
std::string Raw(int port, const std::string& request) {
  const int descriptor = Connect(port);
  EXPECT_EQ(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  shutdown(descriptor, SHUT_WR);
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = recv(descriptor, buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(count));
  close(descriptor);
  return answer;
}

std::string ErrorOf(const httplib::Result& result) {
  return result ? nlohmann::json::parse(result->body).value("error", "") : "no answer";
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

TEST(HttpServerTest, StreamsInChunks) {
  HttpServer server(AnyPort());
  server.routes().Get("/stream", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain",
                                          [n = 0](size_t, httplib::DataSink& sink) mutable {
                                            const std::string chunk = std::to_string(n);
                                            sink.write(chunk.data(), chunk.size());
                                            if (++n == 5) sink.done();
                                            return true;
                                          });
  });
  ASSERT_TRUE(server.Start().ok());
  const auto result = httplib::Client("127.0.0.1", server.port()).Get("/stream");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->body, "01234");
}

TEST(HttpServerTest, ErrorsAreJson) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  server.routes().Get("/throws", [](const httplib::Request&, httplib::Response&) {
    throw std::runtime_error("secret detail");
  });
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  auto result = client.Get("/nowhere");
  EXPECT_EQ(result->status, 404);
  EXPECT_EQ(ErrorOf(result), "no such path");
  result = client.Get("/throws");
  EXPECT_EQ(result->status, 500);
  EXPECT_EQ(ErrorOf(result), "internal error");
  result = client.Post("/echo", std::string(101, 'x'), "text/plain");
  EXPECT_EQ(result->status, 413);
  EXPECT_EQ(ErrorOf(result), "body is larger than the 100 bytes allowed");
  EXPECT_EQ(client.Post("/echo", std::string(100, 'x'), "text/plain")->status, 200);
  result = client.Get("/" + std::string(2000, 'a'));
  EXPECT_EQ(result->status, 414);
  result = client.Get("/" + std::string(20000, 'a'));
  EXPECT_EQ(result->status, 414);
}

TEST(HttpServerTest, ARouteMayTakeALargerBodyThanOthers) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  const auto size_of_body = [](const httplib::Request&, httplib::Response& response,
                               const httplib::ContentReader& reader) {
    size_t size = 0;
    reader([&size](const char*, size_t more) {
      size += more;
      return true;
    });
    response.set_content(std::to_string(size), "text/plain");
  };
  server.routes().Post("/small", size_of_body);
  server.routes().Post("/large/([^/]+)", size_of_body, 10'000);
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  EXPECT_EQ(client.Post("/large/one", std::string(10'000, 'x'), "text/plain")->body, "10000");
  auto result = client.Post("/large/one", std::string(10'001, 'x'), "text/plain");
  EXPECT_EQ(result->status, 413);
  EXPECT_EQ(ErrorOf(result), "body is larger than the 10000 bytes allowed");
  EXPECT_EQ(client.Post("/small", std::string(100, 'x'), "text/plain")->body, "100");
  for (const char* path : {"/small", "/nowhere"}) {
    result = client.Post(path, std::string(101, 'x'), "text/plain");
    EXPECT_EQ(result->status, 413) << path;
    EXPECT_EQ(ErrorOf(result), "body is larger than the 100 bytes allowed");
  }
}

TEST(HttpServerTest, APathThatIsSpelledOutIsNotAPatterns) {
  HttpServer server(AnyPort());
  const auto named = [](const char* name) {
    return [name](const httplib::Request&, httplib::Response& response) {
      response.set_content(name, "text/plain");
    };
  };
  server.routes().Get("/things/list", named("list"));
  server.routes().Get("/things/([^/]+)", named("one"));
  server.routes().Post("/things/([^/]+)", named("posted"));
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  for (const char* path : {"/things/list", "/things/list/"}) {
    EXPECT_EQ(client.Get(path)->body, "list");
    const auto refused = client.Post(path, "", "text/plain");
    EXPECT_EQ(refused->status, 405) << path;
    EXPECT_EQ(refused->get_header_value("Allow"), "GET, HEAD");
  }
  EXPECT_EQ(client.Get("/things/a")->body, "one");
  EXPECT_EQ(client.Post("/things/a/", "", "text/plain")->body, "posted");
  EXPECT_EQ(client.Get("/things/a//")->status, 404);
}

TEST(HttpServerTest, MalformedRequestsDoNotDisturbOthers) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string requests[] = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET /hello HTTP/9.9\r\n\r\n",
      std::string(100, '\0'),
      "GET /hello HTTP/1.1\r\n" + std::string(20000, 'h') + ": x\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /%00%ff%zz HTTP/1.1\r\n\r\n",
      "POST /hello HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST /hello HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /hello HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n"};
  for (const std::string& request : requests) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos) << request.substr(0, 60);
    const auto result = httplib::Client("127.0.0.1", server.port()).Get("/hello");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->body, "hi");
  }
}

TEST(HttpServerTest, BodiesWithoutABoundAreRefusedUnread) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::pair<const char*, const char*> cases[] = {
      {"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "411"},
      {"POST /echo HTTP/1.1\r\n\r\nabc", "411"},
      {"POST /echo HTTP/1.1\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n", "413"},
      {"POST /echo HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\nabc", "400"},
      {"POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\nabc", "400"},
      {"POST /echo HTTP/1.1\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc", "415"}};
  for (const auto& [request, status] : cases) {
    // The bytes behind it must not be taken for a request.
    const std::string answer = Raw(server.port(), std::string(request) + "GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 " + std::string(status)), size_t{0}) << request << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << request << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  }
  const std::string whole = Raw(server.port(),
                                "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
                                "POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\ndef");
  EXPECT_NE(whole.find("abc"), std::string::npos);
  EXPECT_NE(whole.find("def"), std::string::npos);
}

TEST(HttpServerTest, TheRestOfABodyIsNotTakenForARequest) {
  HttpServer server(AnyPort());
  server.routes().Post(
      "/ignores", [](const httplib::Request&, httplib::Response& response,
                     const httplib::ContentReader&) { response.set_content("hi", "text/plain"); });
  ASSERT_TRUE(server.Start().ok());
  const std::string body = "GET /ignores HTTP/1.1\r\n\r\n";
  const std::string answer = Raw(
      server.port(), "POST /ignores HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) +
                         "\r\n\r\n" + body);
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << answer;
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST(HttpServerTest, EndlessLinesAndHeadersEnd) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const std::string endless_line = SendUntilClosed(server.port(), std::string(4096, 'a'), 0);
  EXPECT_EQ(endless_line.find("HTTP/1.1 200"), std::string::npos);
  const std::string headers = SendUntilClosed(server.port(), "GET: /\r\n", 0);
  EXPECT_EQ(headers.find("HTTP/1.1 200"), std::string::npos);
}

TEST(HttpServerTest, ARequestHasOneDeadline) {
  HttpServer::Options options = AnyPort();
  options.max_requests = 1;
  options.request_timeout = std::chrono::milliseconds(200);
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  SendUntilClosed(server.port(), "x", 20);  // returns
  EXPECT_EQ(httplib::Client("127.0.0.1", server.port()).Get("/")->status, 404);
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
  const std::string request = "GET /large HTTP/1.1\r\n\r\n";
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

TEST(HttpServerTest, HeadsThatAreTooLongAreToldSo) {
  HttpServer::Options options = AnyPort();
  options.max_head_bytes = 1000;
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer =
      Raw(server.port(), "GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 431 "), size_t{0}) << answer;
  EXPECT_NE(answer.find("\r\n\r\n{\"error\""), std::string::npos) << answer;
}

TEST(HttpServerTest, ARangeIsIgnored) {
  HttpServer server(AnyPort());
  const std::string whole(1000, 'x');
  server.routes().Get("/whole", [&whole](const httplib::Request&, httplib::Response& response) {
    response.set_content(whole, "text/plain");
  });
  server.routes().Get("/stream", [](const httplib::Request&, httplib::Response& response) {
    response.set_chunked_content_provider("text/plain", [](size_t, httplib::DataSink& sink) {
      sink.write("abc", 3);
      sink.done();
      return true;
    });
  });
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  std::string many = "bytes=0-";
  for (int i = 0; i < 2500; ++i) many += ",0-";
  for (const std::string& range :
       {std::string("bytes=0-9"), std::string("bytes=9-0,nonsense"), many}) {
    const auto result = client.Get("/whole", {{"rAnGe", range}, {"X-Last", "kept"}});
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, 200);
    EXPECT_EQ(result->body, whole);
    EXPECT_FALSE(result->has_header("Content-Range"));
    EXPECT_EQ(client.Get("/stream", {{"Range", range}})->status, 200);
  }
}

TEST(HttpServerTest, AMethodThatAPathLacksIsToldWhichItHas) {
  HttpServer server(AnyPort());
  const auto hello = [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  };
  server.routes().Get("/hello", hello);
  server.routes().Post("/said", hello);
  server.routes().Get("/both/([^/]+)", hello);
  server.routes().Post("/both/([^/]+)", hello);
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  client.set_keep_alive(true);
  auto result = client.Post("/hello", "body", "text/plain");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "GET, HEAD");
  EXPECT_EQ(ErrorOf(result), "the method POST is not allowed here; GET, HEAD are");
  result = client.Get("/said");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "POST");
  EXPECT_EQ(client.Head("/said")->status, 405);
  result = client.Delete("/both/x");
  EXPECT_EQ(result->status, 405);
  EXPECT_EQ(result->get_header_value("Allow"), "GET, HEAD, POST");
  EXPECT_EQ(client.Options("/hello")->status, 405);
  EXPECT_EQ(client.Post("/nowhere", "body", "text/plain")->status, 404);
}

TEST(HttpServerTest, HeadHasTheHeadersOfGetAndNoBody) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(), "HEAD /hello HTTP/1.1\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0});
  EXPECT_NE(answer.find("Content-Length: 2\r\n"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("Accept-Ranges"), std::string::npos) << answer;
  EXPECT_EQ(answer.substr(answer.size() - 4), "\r\n\r\n");
}

TEST(HttpServerTest, APathMayEndWithASlash) {
  HttpServer server(AnyPort());
  server.routes().Get("/models/([^/]+)",
                      [](const httplib::Request& request, httplib::Response& response) {
                        response.set_content(request.matches[1].str(), "text/plain");
                      });
  ASSERT_TRUE(server.Start().ok());
  httplib::Client client("127.0.0.1", server.port());
  EXPECT_EQ(client.Get("/models/one/")->body, "one");
  EXPECT_EQ(client.Get("/models/one")->body, "one");
  EXPECT_EQ(client.Get("/models/one//")->status, 404);
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
