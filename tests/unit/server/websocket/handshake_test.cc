#include "server/websocket/handshake.h"

#include <gtest/gtest.h>

#include <string>

#include "httplib.h"

namespace millrace {
namespace {

httplib::Request Opening() {
  httplib::Request request;
  request.method = "GET";
  request.headers = {{"Upgrade", "WebSocket"},
                     {"Connection", "keep-alive, Upgrade"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  return request;
}

void Set(httplib::Request& request, const std::string& name, const std::string& value) {
  request.headers.erase(name);
  request.headers.emplace(name, value);
}

TEST(HandshakeTest, AcceptIsThatOfTheStandardsExample) {
  EXPECT_EQ(AcceptOf("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(HandshakeTest, NothingIsAgreedToButTheProtocol) {
  httplib::Request request = Opening();
  request.headers.emplace("Sec-WebSocket-Extensions", "permessage-deflate");
  request.headers.emplace("Sec-WebSocket-Protocol", "chat");
  httplib::Response response;
  std::string error;
  ASSERT_TRUE(AnswerHandshake(request, response, error)) << error;
  EXPECT_EQ(response.status, 101);
  EXPECT_EQ(response.get_header_value("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_FALSE(response.has_header("Sec-WebSocket-Extensions"));
  EXPECT_FALSE(response.has_header("Sec-WebSocket-Protocol"));
}

TEST(HandshakeTest, WhatIsWrongIsNamed) {
  const struct {
    const char* name;
    const char* value;
    int status;
    const char* error;
  } cases[] = {
      {"Upgrade", "h2c", 426, "this path takes WebSocket connections only"},
      {"Connection", "keep-alive", 426, "this path takes WebSocket connections only"},
      {"Sec-WebSocket-Version", "8", 426, "Sec-WebSocket-Version: must be 13, not '8'"},
      {"Sec-WebSocket-Key", "short", 400,
       "Sec-WebSocket-Key: must be 16 bytes in base64, not 'short'"},
      {"Sec-WebSocket-Key", "", 400, "Sec-WebSocket-Key: must be 16 bytes in base64, not ''"},
  };
  for (const auto& wrong : cases) {
    httplib::Request request = Opening();
    Set(request, wrong.name, wrong.value);
    httplib::Response response;
    std::string error;
    EXPECT_FALSE(AnswerHandshake(request, response, error)) << wrong.name;
    EXPECT_EQ(response.status, wrong.status);
    EXPECT_EQ(error, wrong.error);
    EXPECT_EQ(response.get_header_value("Upgrade"), wrong.status == 426 ? "websocket" : "");
  }
}

TEST(HandshakeTest, OnlyGetOpensAWebSocket) {
  httplib::Request request = Opening();
  request.method = "HEAD";
  httplib::Response response;
  std::string error;
  EXPECT_FALSE(AnswerHandshake(request, response, error));
  EXPECT_EQ(response.status, 426);
}

TEST(HandshakeTest, AConnectionThatWillBeClosedIsNoWebSocket) {
  const auto status_of = [](const char* version, const char* name, const char* value) {
    httplib::Request request = Opening();
    request.version = version;
    Set(request, name, value);
    httplib::Response response;
    std::string error;
    const bool answered = AnswerHandshake(request, response, error);
    EXPECT_EQ(answered, error.empty());
    return response.status;
  };
  EXPECT_EQ(status_of("HTTP/1.1", "Content-Length", "0"), 101);
  EXPECT_EQ(status_of("HTTP/1.1", "Content-Length", "5"), 400);
  EXPECT_EQ(status_of("HTTP/1.1", "Transfer-Encoding", "chunked"), 400);
  EXPECT_EQ(status_of("HTTP/1.1", "Connection", "Upgrade, Close"), 400);
  EXPECT_EQ(status_of("HTTP/1.0", "Connection", "Upgrade"), 400);
}

}  // namespace
}  // namespace millrace
