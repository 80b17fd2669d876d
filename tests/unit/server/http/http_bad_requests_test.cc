#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/fakes/http_client.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

TEST(HttpBadRequestsTest, MalformedRequestsDoNotDisturbOthers) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::string requests[] = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET /hello HTTP/9.9\r\n\r\n",
      std::string(100, '\0'),
      "GET /hello HTTP/1.1\r\nHost: x\r\n" + std::string(70000, 'h') + ": x\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /%00%ff%zz HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n"};
  for (const std::string& request : requests) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 200"), std::string::npos) << request.substr(0, 60);
    const auto result = testing::HttpClient(server.port()).Get("/hello");
    ASSERT_TRUE(result);
    EXPECT_EQ(result->body, "hi");
  }
}

TEST(HttpBadRequestsTest, AnswersSayWhetherTheConnectionStays) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::pair<const char*, bool> heads[] = {
      {"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", true},
      {"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", true},
      {"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: TE, Close\r\n\r\n", false},
      {"GET /hello HTTP/1.0\r\n\r\n", false},
      {"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
      {"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", true},
      {"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n", false},
  };
  for (const auto& [head, stays] : heads) {
    const std::string answer =
        Raw(server.port(), std::string(head) + "GET /hello HTTP/1.0\r\n\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1", 1) != std::string::npos, stays) << head << answer;
    const std::string first = answer.substr(0, answer.find("\r\n\r\n"));
    EXPECT_EQ(first.find("Keep-Alive: timeout=75") != std::string::npos, stays) << head << first;
    EXPECT_EQ(first.find("Connection: close") == std::string::npos, stays) << head << first;
  }
}

TEST(HttpBadRequestsTest, ARequestThatDoesNotComeWholeIsToldSoAndCounted) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::milliseconds(50);
  HttpServer server(options);
  server.routes().Post("/echo", SendBack);
  ASSERT_TRUE(server.Start().ok());
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  uint64_t refused = 0;
  for (const std::string& request :
       {std::string("GET / HTTP/1.1\r\nHost:"), std::string("x"),
        post + "Content-Length: 3\r\n\r\na", post + "Transfer-Encoding: chunked\r\n\r\n3\r\na"}) {
    const std::string answer = AnswerToUnfinished(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 408 Request Timeout\r\n"), size_t{0}) << request << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
    EXPECT_EQ(Refused(server, 408), ++refused) << request;
  }
  // One that is idle has asked for nothing.
  EXPECT_EQ(Refused(server, 400), uint64_t{0});
}

TEST(HttpBadRequestsTest, WhatHandlersRefuseForWantOfARightIsCounted) {
  HttpServer server(AnyPort());
  for (const auto& [path, status] :
       {std::pair("/key", 401), std::pair("/right", 403), std::pair("/bad", 422)}) {
    server.routes().Get(path,
                        [status = status](const httplib::Request&, httplib::Response& response) {
                          SendError(response, status, "no");
                        });
  }
  ASSERT_TRUE(server.Start().ok());
  testing::HttpClient client(server.port());
  for (const char* path : {"/key", "/right", "/right", "/bad", "/none"}) client.Get(path);
  EXPECT_EQ(Refused(server, 401), uint64_t{1});
  EXPECT_EQ(Refused(server, 403), uint64_t{2});
  EXPECT_EQ(Refused(server, 404), uint64_t{1});
  Raw(server.port(), "POST /key HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_NE(Refused(server, 501), UINT64_MAX);
}

}  // namespace
}  // namespace millrace
