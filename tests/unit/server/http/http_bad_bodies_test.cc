#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

TEST(HttpBadBodiesTest, BodiesWithoutABoundAreRefusedUnread) {
  HttpServer::Options options = AnyPort();
  options.max_body_bytes = 100;
  HttpServer server(options);
  server.routes().Post("/echo", SendBack);
  ASSERT_TRUE(server.Start().ok());
  const std::string chunks = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {chunks + "\r\n65\r\n" + std::string(101, 'a') + "\r\n0\r\n\r\n", "413"},
      {chunks + "\r\n60\r\n" + std::string(96, 'a') + "\r\n5\r\nabcde\r\n0\r\n\r\n", "413"},
      {chunks + "\r\n10000000000000003\r\nabc\r\n0\r\n\r\n", "413"},
      {chunks + "\r\n-3\r\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n0x3\r\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n3\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n3\r\nabcd\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n3 \r\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n3;" + std::string(2000, 'e') + "\r\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "\r\n3\r\nabc\r\n0\r\nTrailer without colon\r\n\r\n", "400"},
      {chunks + "Content-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "400"},
      {chunks + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "501"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
       "501"},
      {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
      {"GET /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "405"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\n\r\nabc", "411"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\nExpect: 100-continue\r\n\r\n",
       "413"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 9\r\n\r\nabc",
       "400"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\nabc", "400"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Encoding: gzip\r\n\r\nabc",
       "415"}};
  for (const auto& [request, status] : cases) {
    // The bytes behind it must not be taken for a request.
    const std::string answer = Raw(server.port(), request + "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 " + std::string(status)), size_t{0}) << request << answer;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << request << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  }
  const std::string whole = Raw(server.port(),
                                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
                                "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\ndef");
  EXPECT_NE(whole.find("abc"), std::string::npos);
  EXPECT_NE(whole.find("def"), std::string::npos);
}

TEST(HttpBadBodiesTest, BodiesInChunksAreDecodedAndTheNextRequestFollows) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content("<" + request.body + ">", "text/plain");
  });
  server.routes().Post("/read", [](const httplib::Request&, httplib::Response& response,
                                   const httplib::ContentReader& reader) {
    std::string body;
    reader([&body](const char* data, size_t size) {
      body.append(data, size);
      return true;
    });
    response.set_content("<" + body + ">", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  std::string letters;  // each in a chunk of its own
  std::string alphabet;
  for (int i = 0; i < 300; ++i) {
    const char letter = static_cast<char>('a' + i % 26);
    alphabet += letter;
    letters += StrCat("1\r\n", std::string(1, letter), "\r\n");
  }
  const std::pair<std::string, std::string> bodies[] = {
      {"3\r\nabc\r\n0\r\n\r\n", "abc"},
      {"0\r\n\r\n", ""},
      {"000003;ext=\"a;b\" ; more\r\nabc\r\n00\r\nX-Sum: 1\r\nB:\r\n\r\n", "abc"},
      {"A\r\n0123456789\r\na\r\nabcdefghij\r\n0\r\n\r\n", "0123456789abcdefghij"},
      {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n"},
      {letters + "0\r\n\r\n", alphabet},
      {StrCat(absl::Hex(50'000), "\r\n", std::string(50'000, 'x'), "\r\n0\r\n\r\n"),
       std::string(50'000, 'x')},
  };
  for (const char* path : {"/echo", "/read"}) {
    for (const auto& [chunks, body] : bodies) {
      const std::string answer =
          Raw(server.port(), StrCat("POST ", path, " HTTP/1.1\r\nHost: x\r\n",
                                    "Transfer-Encoding: Chunked\r\n\r\n", chunks,
                                    "POST /echo HTTP/1.0\r\nContent-Length: 4\r\n\r\nnext"));
      EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << answer;
      EXPECT_NE(answer.find("\r\n\r\n<" + body + ">"), std::string::npos) << answer;
      EXPECT_TRUE(answer.ends_with("<next>")) << answer;
    }
  }
}

TEST(HttpBadBodiesTest, APostWithoutABodyIsServed) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content("<" + request.body + ">", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(), "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << answer;
  EXPECT_TRUE(answer.ends_with("<>")) << answer;
}

TEST(HttpBadBodiesTest, TheRestOfABodyIsNotTakenForARequest) {
  HttpServer server(AnyPort());
  server.routes().Post(
      "/ignores", [](const httplib::Request&, httplib::Response& response,
                     const httplib::ContentReader&) { response.set_content("hi", "text/plain"); });
  ASSERT_TRUE(server.Start().ok());
  const std::string body = "GET /ignores HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string answer =
      Raw(server.port(), "POST /ignores HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << answer;
  EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << answer;
}

TEST(HttpBadBodiesTest, WhatIsWrongWithABodysFramingIsNamed) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", SendBack);
  ASSERT_TRUE(server.Start().ok());
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {post + "Content-Length: +2\r\n\r\n{}", "Content-Length must be one number"},
      {post + "Content-Length: 2, 2\r\n\r\n{}", "Content-Length must be one number"},
      {post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
       "Content-Length must be one number, not '2, 2'"},
      {post + chunked + "Content-Length: 2\r\n\r\n{}", "exclude each other"},
      {post + chunked + "\r\nx\r\n\r\n", "the body's chunks are malformed"},
      {"POST /echo HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", "HTTP/1.0 has no"}};
  for (const auto& [request, message] : cases) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 400 "), size_t{0}) << request << answer;
    EXPECT_NE(answer.find(message), std::string::npos) << request << answer;
  }
}

TEST(HttpBadBodiesTest, OnlyAClientThatWaitsIsToldToGoOn) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::milliseconds(100);
  HttpServer server(options);
  server.routes().Post("/echo", SendBack);
  ASSERT_TRUE(server.Start().ok());
  const std::string rest = "Content-Length: 2\r\n\r\n";
  const std::string go_on = "HTTP/1.1 100 Continue\r\n";
  for (const char* expected : {"100-continue", "100-Continue"}) {
    const std::string answer = AnswerToUnfinished(
        server.port(),
        StrCat("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: ", expected, "\r\n", rest));
    EXPECT_EQ(answer.find(go_on), size_t{0}) << answer;
  }
  const std::pair<std::string, const char*> others[] = {
      {"POST /echo HTTP/1.0\r\nExpect: 100-continue\r\n" + rest + "ab", "200"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: magic\r\n" + rest + "ab", "417"},
      {"GET /none HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n", "404"},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n",
       "200"}};
  for (const auto& [request, status] : others) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_EQ(answer.find(StrCat("HTTP/1.1 ", status, " ")), size_t{0}) << request << answer;
  }
}

}  // namespace
}  // namespace millrace
