#include <gtest/gtest.h>

#include <string>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

TEST(HttpBadRequestsTest, MalformedRequestsDoNotDisturbOthers) {
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

TEST(HttpBadRequestsTest, BodiesWithoutABoundAreRefusedUnread) {
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

TEST(HttpBadRequestsTest, TheRestOfABodyIsNotTakenForARequest) {
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

TEST(HttpBadRequestsTest, EndlessLinesAndHeadersEnd) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const std::string endless_line = SendUntilClosed(server.port(), std::string(4096, 'a'), 0);
  EXPECT_EQ(endless_line.find("HTTP/1.1 200"), std::string::npos);
  const std::string headers = SendUntilClosed(server.port(), "GET: /\r\n", 0);
  EXPECT_EQ(headers.find("HTTP/1.1 200"), std::string::npos);
}

TEST(HttpBadRequestsTest, ARequestHasOneDeadline) {
  HttpServer::Options options = AnyPort();
  options.max_requests = 1;
  options.request_timeout = std::chrono::milliseconds(200);
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  SendUntilClosed(server.port(), "x", 20);  // returns
  EXPECT_EQ(httplib::Client("127.0.0.1", server.port()).Get("/")->status, 404);
}

TEST(HttpBadRequestsTest, HeadsThatAreTooLongAreToldSo) {
  HttpServer::Options options = AnyPort();
  options.max_head_bytes = 1000;
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer =
      Raw(server.port(), "GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 431 "), size_t{0}) << answer;
  EXPECT_NE(answer.find("\r\n\r\n{\"error\""), std::string::npos) << answer;
}

}  // namespace
}  // namespace millrace
