#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "httplib.h"
#include "models/core/strings.h"
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
      "GET /hello HTTP/1.1\r\nHost: x\r\n" + std::string(70000, 'h') + ": x\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /%00%ff%zz HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /hello HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n"};
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

TEST(HttpBadRequestsTest, HeadsThatTwoReadersCouldTakeDifferentlyAreRefused) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
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

TEST(HttpBadRequestsTest, HeadsThatOnlyLookOddAreServed) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(
        StrCat("[", request.get_param_value("a"), "|", request.get_header_value("A").size(), "]"),
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

TEST(HttpBadRequestsTest, WhatIsNotServedHasItsOwnStatus) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string host = "Host: x\r\n";
  const std::string post = "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 0\r\n";
  const std::pair<std::string, const char*> requests[] = {
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 "},
      {"GET /echo HTTP/3.0\r\n" + host + "\r\n", "505 "},
      {"FETCH /echo HTTP/1.1\r\n" + host + "\r\n", "501 "},
      {post + "Expect: 200-ok\r\n\r\n", "417 "},
      {post + "Expect: 100-continue, 200-ok\r\n\r\n", "417 "},
      {post + "Expect: 100-continue\r\nExpect: 200-ok\r\n\r\n", "417 "},
      {"\x16\x03\x01\x02", "400 "},
      {" GET /echo HTTP/1.1\r\n" + host + "\r\n", "400 "},
  };
  for (const auto& [request, status] : requests) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_TRUE(answer.starts_with(StrCat("HTTP/1.1 ", status))) << request << answer;
    EXPECT_EQ(answer.find("HTTP/1.1 4", 1), std::string::npos) << request << answer;
  }
  const auto counts = server.CountRefusals();
  for (const int status : {400, 417, 501, 505}) {
    EXPECT_TRUE(std::ranges::any_of(counts, [status](const auto& count) {
      return count.first == status && count.second > 0;
    })) << status;
  }
}

// Its client, which waits for an answer of TLS, would not end it.
TEST(HttpBadRequestsTest, BytesThatBeginNoRequestAreAnsweredAtOnce) {
  HttpServer server(AnyPort());
  ASSERT_TRUE(server.Start().ok());
  const int client = Connect(server.port());
  ASSERT_EQ(send(client, "\x16\x03", 2, MSG_NOSIGNAL), 2);
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = recv(client, buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(count));
  close(client);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("TLS is not spoken on this address"), std::string::npos) << answer;
}

TEST(HttpBadRequestsTest, OptionsOfTheWholeServerAreItsMethods) {
  HttpServer server(AnyPort());
  const auto hi = [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  };
  server.routes().Get("/hello", hi);
  server.routes().Post("/hello", hi);
  server.routes().Post("/other", hi);
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(),
                                 "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"
                                 "GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 204 ")) << answer;
  EXPECT_NE(answer.find("Allow: GET, HEAD, POST\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("hi")) << answer;
}

TEST(HttpBadRequestsTest, AnswersSayWhetherTheConnectionStays) {
  HttpServer server(AnyPort());
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
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

TEST(HttpBadRequestsTest, BodiesInChunksAreDecodedAndTheNextRequestFollows) {
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

TEST(HttpBadRequestsTest, APostWithoutABodyIsServed) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content("<" + request.body + ">", "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string answer = Raw(server.port(), "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(answer.find("HTTP/1.1 200 "), size_t{0}) << answer;
  EXPECT_TRUE(answer.ends_with("<>")) << answer;
}

TEST(HttpBadRequestsTest, HostsOfOtherNamesAreRefusedWhereAsked) {
  HttpServer::Options options = AnyPort();
  options.checks_host = true;
  options.allowed_hosts = {"tts.example.org", ".example.net"};
  HttpServer server(options);
  server.routes().Get("/hello", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("hi", "text/plain");
  });
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
      {"127.0.0.1:x", "403"},
      {"[::1].evil.example", "403"},
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

TEST(HttpBadRequestsTest, TheRestOfABodyIsNotTakenForARequest) {
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

// Sends a request and goes on waiting, as a client does that has more to send.
std::string AnswerToUnfinished(int port, const std::string& request) {
  const int descriptor = Connect(port);
  EXPECT_EQ(send(descriptor, request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t count; (count = recv(descriptor, buffer, sizeof(buffer), 0)) > 0;)
    answer.append(buffer, static_cast<size_t>(count));
  close(descriptor);
  return answer;
}

uint64_t Refused(const HttpServer& server, int status) {
  for (const auto& [refused, count] : server.CountRefusals()) {
    if (refused == status) return count;
  }
  return UINT64_MAX;  // the status is not counted
}

TEST(HttpBadRequestsTest, ARequestThatDoesNotComeWholeIsToldSoAndCounted) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::milliseconds(50);
  HttpServer server(options);
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
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

TEST(HttpBadRequestsTest, LinesWithoutCarriageReturnAreToldSoAtOnce) {
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

TEST(HttpBadRequestsTest, WhatIsWrongWithABodysFramingIsNamed) {
  HttpServer server(AnyPort());
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
  ASSERT_TRUE(server.Start().ok());
  const std::string post = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::pair<std::string, const char*> cases[] = {
      {post + "Content-Length: +2\r\n\r\n{}", "Content-Length must be one number"},
      {post + "Content-Length: 2, 2\r\n\r\n{}", "Content-Length must be one number"},
      {post + chunked + "Content-Length: 2\r\n\r\n{}", "exclude each other"},
      {post + chunked + "\r\nx\r\n\r\n", "the body's chunks are malformed"},
      {"POST /echo HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n", "HTTP/1.0 has no"}};
  for (const auto& [request, message] : cases) {
    const std::string answer = Raw(server.port(), request);
    EXPECT_EQ(answer.find("HTTP/1.1 400 "), size_t{0}) << request << answer;
    EXPECT_NE(answer.find(message), std::string::npos) << request << answer;
  }
}

TEST(HttpBadRequestsTest, OnlyAClientThatWaitsIsToldToGoOn) {
  HttpServer::Options options = AnyPort();
  options.request_timeout = std::chrono::milliseconds(100);
  HttpServer server(options);
  server.routes().Post("/echo", [](const httplib::Request& request, httplib::Response& response) {
    response.set_content(request.body, "text/plain");
  });
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
  httplib::Client client("127.0.0.1", server.port());
  for (const char* path : {"/key", "/right", "/right", "/bad", "/none"}) client.Get(path);
  EXPECT_EQ(Refused(server, 401), uint64_t{1});
  EXPECT_EQ(Refused(server, 403), uint64_t{2});
  EXPECT_EQ(Refused(server, 404), uint64_t{1});
  Raw(server.port(), "POST /key HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n");
  EXPECT_NE(Refused(server, 501), UINT64_MAX);
}

TEST(HttpBadRequestsTest, HeadsThatAreTooLongAreToldSo) {
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
