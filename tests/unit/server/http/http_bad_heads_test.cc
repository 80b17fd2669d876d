#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "server/http/query.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

TEST(HttpBadHeadsTest, HeadsThatTwoReadersCouldTakeDifferentlyAreRefused) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::string get = "GET /hello HTTP/1.1\r\n";
  const std::string host = "Host: x\r\n";
  const std::string heads[] = {
      get,
      get + host + host,
      get + host + "no colon\r\n",
      get + host + ": x\r\n",
      get + host + std::string("A: b\0c\r\n", 8),
      get + host + "A: b\r\n c\r\n",
      get + host + "A: b\r\n\tc\r\n",
      get + " A: b\r\n" + host,
      get + host + "Transfer-Encoding : chunked\r\n",
      get + host + "A\x01: b\r\n",
      get + host + "A: b\nC: d\r\n",
      get + host + "A: b\rC: d\r\n",
      get + "Host: x/y\r\n",
      get + "Host: x y\r\n",
      get + "Host: u@x\r\n",
      "GET  /hello HTTP/1.1\r\n" + host,
      "GET /hello  HTTP/1.1\r\n" + host,
      "GET /hello HTTP/1.1 \r\n" + host,
      "GET /hello HTTP/1.1\n" + host,
      "GET hello HTTP/1.1\r\n" + host,
      "GET http:///hello HTTP/1.1\r\n" + host,
      "GET ftp://x/hello HTTP/1.1\r\n" + host,
      "GET /hel\x01lo HTTP/1.1\r\n" + host,
      "G(T /hello HTTP/1.1\r\n" + host,
      "GET /hello http/1.1\r\n" + host,
      "GET * HTTP/1.1\r\n" + host,
      "CONNECT x:80 HTTP/1.1\r\n" + host,
      "GET /hello\r\n" + host,
      get + host + "Authorization: Bearer a\r\nauthorization: Bearer b\r\n",
      get + host + "X-Api-Key: a\r\nA: b\r\nX-API-Key: \r\n",
      get + host + "X-Priority: low\r\nX-Priority: high\r\n",
      get + host + "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n",
  };
  for (const std::string& head : heads) {
    const std::string answer = Raw(server.port(), head + "\r\n" + get + host + "\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 400 "), size_t{0}) << head << answer;
    EXPECT_EQ(answer.find("HTTP/1.1 200 "), std::string::npos) << head << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("Keep-Alive"), std::string::npos) << answer;
    EXPECT_NE(answer.find("{\"error\":\"malformed request: "), std::string::npos) << answer;
  }
}

TEST(HttpBadHeadsTest, HeadsThatOnlyLookOddAreServed) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request& request, httplib::Response& response) {
    std::string value;
    EXPECT_TRUE(HttpQuery().TakeText("a", value).ok());
    response.set_content(StrCat("[", value, "|", request.get_header_value("A").size(), "]"),
                         "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string host = "Host: x\r\n";
  const std::string long_value(60'000, 'c');
  const std::pair<std::string, const char*> heads[] = {
      {"GET /hello?a=b?c HTTP/1.1\r\n" + host, "[b?c|0]"},
      {"GET /hello?a=http://h/?q HTTP/1.1\r\n" + host, "[http://h/?q|0]"},
      {"GET /hello?? HTTP/1.1\r\n" + host, "[|0]"},
      {"GET http://x/hello?a=1 HTTP/1.1\r\n" + host, "[1|0]"},
      {"GET HTTP://other:80/hello HTTP/1.1\r\n" + host, "[|0]"},
      {"GET /hello HTTP/1.1\r\n" + host + "A:\t b\tc \t\r\n", "[|3]"},
      {"GET /hello HTTP/1.1\r\n" + host + "A: \xc3\xa9%zz\r\n", "[|5]"},
      {"GET /hello HTTP/1.1\r\n" + host + "A:\r\n", "[|0]"},
      {"GET /hello HTTP/1.1\r\n" + host + "A: " + long_value + "\r\n", "[|60000]"},
      {"GET /hello HTTP/1.1\r\n" + host + "Cookie: " + std::string(8192, 'a') + "\r\n", "[|0]"},
      {"GET /hello?a=" + std::string(7900, 'q') + " HTTP/1.1\r\n" + host, "q|0]"},
      {"GET /hello HTTP/1.1\r\nHost: [::1]:80\r\n", "[|0]"},
      {"GET /hello HTTP/1.1\r\nHost:\r\n", "[|0]"},
      {"\r\nGET /hello HTTP/1.1\r\n" + host, "[|0]"},
      {"\r\n\r\n\r\nGET /hello HTTP/1.1\r\n" + host, "[|0]"},
      {"GET /hello HTTP/1.2\r\n" + host, "[|0]"},
      {"GET /hello HTTP/1.1\r\nExpect:\r\n" + host, "[|0]"},
      {"GET /hello HTTP/1.0\r\nExpect: 200-ok\r\n", "[|0]"},
      {"GET /hello HTTP/1.0\r\n", "[|0]"},
      {"GET /hello HTTP/1.1\r\nContent-Type: a/b\r\nA: c\r\nContent-type: a/b \r\n" + host, "[|1]"},
  };
  for (const auto& [head, body] : heads) {
    const std::string answer = Raw(server.port(), head + "\r\n");
    EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << head.substr(0, 80) << answer;
    EXPECT_TRUE(answer.ends_with(body)) << head.substr(0, 80) << answer;
  }
  const std::string too_long = Raw(
      server.port(), "GET /hello?a=" + std::string(8000, 'q') + " HTTP/1.1\r\n" + host + "\r\n");
  EXPECT_EQ(too_long.find("HTTP/1.1 414 "), size_t{0}) << too_long;
}

TEST(HttpBadHeadsTest, WhatIsNotServedHasItsOwnStatus) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::string host = "Host: x\r\n";
  const std::string post = "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 0\r\n";
  struct Case {
    std::string request;
    const char* status;
    const char* words;  // The message has them.
  };
  const Case requests[] = {
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 ", "HTTP/2.0 is not served here"},
      {"GET /echo HTTP/3.0\r\n" + host + "\r\n", "505 ", "HTTP/3.0"},
      {"FETCH /echo HTTP/1.1\r\n" + host + "\r\n", "501 ", "no method 'FETCH'"},
      {post + "Expect: 200-ok\r\n\r\n", "417 ", "Expect: '200-ok' is not allowed; 100-continue is"},
      {post + "Expect: 100-continue, 200-ok\r\n\r\n", "417 ", "'100-continue, 200-ok'"},
      {post + "Expect: 100-continue\r\nExpect: 200-ok\r\n\r\n", "417 ", "'200-ok'"},
      {post + "Content-Encoding: br\r\n\r\n", "415 ",
       "Content-Encoding: 'br' is not allowed; a body must not be compressed"},
      {"POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", "501 ",
       "Transfer-Encoding: 'gzip' is not allowed; chunked alone is"},
      {"POST /echo HTTP/1.1\r\n" + host + "Content-Length: 1,1\r\n\r\n", "400 ", "not '1,1'"},
      {"GET / HTTP/1.1\r\n" + host + "a\x01: b\r\n\r\n", "400 ", "NAME: VALUE"},
      {"GET / HTTP/1.1\r\n" + host + "Key: a secret\x01\r\n\r\n", "400 ", "unlike 'Key'"},
      {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "400 ", "Host: 'a b'"},
      {"G(T / HTTP/1.1\r\n" + host + "\r\n", "400 ", "'G(T'"},
      {"GET nowhere HTTP/1.1\r\n" + host + "\r\n", "400 ", "'nowhere'"},
      {"GET / http/1.1\r\n" + host + "\r\n", "400 ", "'http/1.1'"},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(70'000, 'a') + "\r\n\r\n", "431 ",
       "longer than the 65536 bytes allowed"},
      {"\x16\x03\x01\x02", "400 ", "TLS is not spoken"},
      {" GET /echo HTTP/1.1\r\n" + host + "\r\n", "400 ", "no request of HTTP/1.1"},
  };
  for (const auto& [request, status, words] : requests) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_TRUE(answer.starts_with(StrCat("HTTP/1.1 ", status))) << request << answer;
    EXPECT_NE(answer.find(words), std::string::npos) << request << answer;
    EXPECT_EQ(answer.find("HTTP/1.1 4", 1), std::string::npos) << request << answer;
  }
  const auto counts = server.CountRefusals();
  for (const int status : {400, 415, 417, 431, 501, 505}) {
    EXPECT_TRUE(std::ranges::any_of(counts, [status](const auto& count) {
      return count.first == status && count.second > 0;
    })) << status;
  }
}

// Its client, which waits for an answer of TLS, would not end it.
TEST(HttpBadHeadsTest, BytesThatBeginNoRequestAreAnsweredAtOnce) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const std::pair<const char*, const char*> cases[] = {
      {"\x16\x03", "TLS is not spoken on this address"},
      {"HELO x\r\n", "malformed request: the first line is not METHOD TARGET HTTP/1.1"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "the first line is not METHOD TARGET HTTP/1.1"},
      {"\r\nGET /\r\nHost: x\r\n", "the first line is not METHOD TARGET HTTP/1.1"},
      {"{\"type\":\"describe\"}\n", "these bytes are no request of HTTP/1.1"},
  };
  for (const auto& [bytes, words] : cases) {
    const std::string answer = AnswerToUnfinished(server.port(), bytes);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << bytes << answer;
    EXPECT_NE(answer.find(words), std::string::npos) << bytes << answer;
  }
}

TEST(HttpBadHeadsTest, OptionsOfTheWholeServerAreItsMethods) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", SayHi);
  server.routes().Post("/hello", SayHi);
  server.routes().Post("/other", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(),
                                 "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"
                                 "GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 204 ")) << answer;
  EXPECT_NE(answer.find("Allow: GET, HEAD, POST, OPTIONS\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("hi")) << answer;
}

TEST(HttpBadHeadsTest, HostsOfOtherNamesAreRefusedWhereAsked) {
  HttpServer::Options options = AnyPort();
  options.checks_host = true;
  options.allowed_hosts = {"tts.example.org", ".example.net"};
  HttpServer server(options);
  server.routes().Get("/hello", SayHi);
  ASSERT_TRUE(server.Start().ok());
  const std::pair<const char*, const char*> cases[] = {
      {"127.0.0.1", "200"},
      {"127.0.0.1:46000", "200"},
      {"192.0.2.7:80", "200"},
      {"[::1]:8000", "200"},
      {"[::1]", "200"},
      {"[fe80::1%25eth0]:80", "200"},
      {"localhost", "200"},
      {"LocalHost.:8000", "200"},
      {"app.localhost:80", "200"},
      {"tts.example.org", "200"},
      {"TTS.Example.Org.:1", "200"},
      {"a.example.net", "200"},
      {"evil.example:46000", "403"},
      {"example.net", "403"},
      {"tts.example.org.evil.example", "403"},
      {"localhost.evil.example", "403"},
      {"127.0.0.1.evil.example", "403"},
      {"evil-localhost", "403"},
      {"", "403"},
      {"127.1", "403"},
      {"[evil.example]", "403"},
      {"127.0.0.1:x", "400"},
      {"[::1].evil.example", "400"},
      {"localhost..", "403"},
  };
  for (const auto& [host, status] : cases) {
    for (const std::string path : {"/hello", "/nothing"}) {
      const std::string answer =
          Raw(server.port(), "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
      const std::string want = path == "/nothing" && status == std::string("200") ? "404" : status;
      EXPECT_EQ(answer.find("HTTP/1.1 " + want), size_t{0}) << host << answer;
    }
  }
  // The host of a whole URL counts.
  const std::string url =
      Raw(server.port(), "GET http://evil.example/hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(url.find("HTTP/1.1 403"), size_t{0}) << url;
  // A browser always names a host, so nobody else need do so in HTTP/1.0.
  EXPECT_EQ(Raw(server.port(), "GET /hello HTTP/1.0\r\n\r\n").find("HTTP/1.1 200"), size_t{0});
}

TEST(HttpBadHeadsTest, EndlessLinesAndHeadersEnd) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const std::string endless_line = SendUntilClosed(server.port(), std::string(4096, 'a'), 0);
  EXPECT_EQ(endless_line.find("HTTP/1.1 200"), std::string::npos);
  const std::string headers = SendUntilClosed(server.port(), "GET: /\r\n", 0);
  EXPECT_EQ(headers.find("HTTP/1.1 200"), std::string::npos);
}

TEST(HttpBadHeadsTest, LinesWithoutCarriageReturnAreToldSoAtOnce) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::hours(1);
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  for (const char* request :
       {"GET / HTTP/1.1\nHost: x\n\n", "GET / HTTP/1.1\r\nHost: x\n\n", "\n\n"}) {
    const std::string answer = AnswerToUnfinished(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 400 "), size_t{0}) << request << answer;
    EXPECT_NE(answer.find("each line must end with CR LF"), std::string::npos) << answer;
  }
}

TEST(HttpBadHeadsTest, HeadsThatAreTooLongAreToldSo) {
  HttpServer::Options options = AnyPort();
  options.max_head_bytes = 1000;
  HttpServer server(options);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer =
      Raw(server.port(), "GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 431 "), size_t{0}) << answer;
  EXPECT_NE(answer.find("\r\n\r\n{\"error\""), std::string::npos) << answer;
}

}  // namespace
}  // namespace millrace
