#include "server/websocket/websocket_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "tests/fakes/http_client.h"
#include "tests/fakes/socket_client.h"
#include "tests/fakes/websocket_client.h"

namespace millrace {
namespace {

using testing::ClientFrame;

// Sends back what it gets, and is busy from "begin" to "end".
class EchoSession final : public WebSocketSession {
 public:
  static inline std::atomic<int> advances = 0;  // by all clocks

  void Receive(WebSocketMessage message) override {
    if (message.data == "begin") busy_ = true;
    if (message.data == "end") busy_ = false;
    output_.push_back(std::move(message));
  }
  bool wants_message() const override { return output_.size() < 10; }
  std::optional<WebSocketMessage> Take() override {
    if (output_.empty()) return std::nullopt;
    WebSocketMessage message = std::move(output_.front());
    output_.erase(output_.begin());
    return message;
  }
  void OnAllSent() override {}
  const std::optional<End>& end() const override { return end_; }
  void Fail(WebSocketClose code, const std::string& message) override { end_ = End{code, message}; }
  bool idle() const override { return !busy_; }
  TimePoint due() const override { return TimePoint::max(); }
  void Advance() override { ++advances; }

 private:
  std::vector<WebSocketMessage> output_;
  std::optional<End> end_;
  bool busy_ = false;
};

std::string OpeningRequest(const std::string& headers = "") {
  return "GET /echo HTTP/1.1\r\nHost: a:1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
         headers + "\r\n";
}

class Client : public testing::SocketClient {
 public:
  using SocketClient::SocketClient;
  std::string ReadHead() { return ReceiveUntil("\r\n\r\n"); }
  std::string Read() {
    for (;;) {
      if (const auto frame = testing::TakeServerFrame(bytes_)) {
        if (frame->opcode == testing::kClose) return "close " + std::to_string(frame->code());
        return frame->payload;
      }
      const std::string bytes = Receive();
      if (bytes.empty()) return "end";
      bytes_ += bytes;
    }
  }

 private:
  std::string bytes_;
};

class WebSocketServerTest : public ::testing::Test {
 protected:
  explicit WebSocketServerTest(WebSocketServer::Options options = {.max_connections = 10})
      : web_sockets_(loop_, options),
        http_({.address = "127.0.0.1:0",
               .max_requests = 2,
               .max_connections = 5,
               .cors_origins = {"https://allowed.example"}}) {
    http_.routes().Get(
        "/echo", [this](const httplib::Request& request, httplib::Response& response) {
          const auto refusal = web_sockets_.Upgrade(http_, request, response, [](const auto&) {
            return std::make_unique<EchoSession>();
          });
          if (refusal) SendError(response, refusal->http_status, refusal->message);
        });
    EXPECT_TRUE(web_sockets_.Start().ok());
    EXPECT_TRUE(http_.Start().ok());
  }
  ~WebSocketServerTest() override { http_.Stop(); }

  PollLoop loop_;
  WebSocketServer web_sockets_;
  HttpServer http_;
};

TEST_F(WebSocketServerTest, ARequestBecomesAWebSocket) {
  Client client(http_.port());
  // A frame may come right behind the request.
  client.Send(OpeningRequest() + ClientFrame(testing::kText, "first"));
  const std::string head = client.ReadHead();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
  EXPECT_NE(head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), head.npos) << head;
  EXPECT_EQ(head.find("Content-Length"), head.npos) << head;
  EXPECT_EQ(head.find("Keep-Alive"), head.npos) << head;
  EXPECT_EQ(client.Read(), "first");
  client.Send(ClientFrame(testing::kText, "second"));
  EXPECT_EQ(client.Read(), "second");
  client.Send(ClientFrame(testing::kClose, "\x03\xe8"));
  EXPECT_EQ(client.Read(), "close 1000");
  EXPECT_EQ(client.Read(), "end");
}

TEST_F(WebSocketServerTest, WebSocketsTakeNoPlaceOfHttp) {
  std::vector<std::unique_ptr<Client>> clients;
  // More than HTTP has threads or connections.
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<Client>(http_.port()));
    clients.back()->Send(OpeningRequest());
    EXPECT_TRUE(clients.back()->ReadHead().starts_with("HTTP/1.1 101 ")) << i;
  }
  EXPECT_EQ(web_sockets_.open(), 8U);
  const auto other = testing::HttpClient(http_.port()).Get("/none");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 404);
  for (const auto& client : clients) {
    client->Send(ClientFrame(testing::kText, "still here"));
    EXPECT_EQ(client->Read(), "still here");
  }
}

TEST_F(WebSocketServerTest, APlainRequestIsToldToUpgrade) {
  const auto result = testing::HttpClient(http_.port()).Get("/echo");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 426);
  EXPECT_EQ(result->get_header_value("Upgrade"), "websocket");
  EXPECT_EQ(result->get_header_value("Connection"), "Upgrade");
  EXPECT_EQ(result->body, R"({"error":"this path takes WebSocket connections only"})");
}

TEST_F(WebSocketServerTest, OnlyPagesOfAllowedOriginsConnect) {
  const std::pair<const char*, const char*> cases[] = {
      {"Origin: https://allowed.example\r\n", "HTTP/1.1 101 "},
      {"Origin: http://a:1\r\n", "HTTP/1.1 101 "},
      {"Origin: https://evil.example\r\n", "HTTP/1.1 403 "},
      {"Origin: null\r\n", "HTTP/1.1 403 "},
  };
  for (const auto& [header, answer] : cases) {
    Client client(http_.port());
    client.Send(OpeningRequest(header));
    EXPECT_TRUE(client.ReadHead().starts_with(answer)) << header;
  }
}

TEST_F(WebSocketServerTest, ADrainClosesWhatIsIdleAndThenWhatWasBusy) {
  Client idle(http_.port());
  idle.Send(OpeningRequest() + ClientFrame(testing::kText, "hello"));
  idle.ReadHead();
  EXPECT_EQ(idle.Read(), "hello");
  Client busy(http_.port());
  busy.Send(OpeningRequest() + ClientFrame(testing::kText, "begin"));
  busy.ReadHead();
  EXPECT_EQ(busy.Read(), "begin");
  web_sockets_.Drain();
  EXPECT_EQ(idle.Read(), "close 1001");
  busy.Send(ClientFrame(testing::kText, "end"));
  EXPECT_EQ(busy.Read(), "end");
  EXPECT_EQ(busy.Read(), "close 1001");
  Client late(http_.port());
  late.Send(OpeningRequest());
  EXPECT_TRUE(late.ReadHead().starts_with("HTTP/1.1 503 "));
}

TEST_F(WebSocketServerTest, ADrainWaitsForABusyConnectionWithoutWork) {
  Client busy(http_.port());
  busy.Send(OpeningRequest() + ClientFrame(testing::kText, "begin"));
  busy.ReadHead();
  EXPECT_EQ(busy.Read(), "begin");
  web_sockets_.Drain();
  const int before = EchoSession::advances;
  for (int i = 0; i < 50; ++i) {
    busy.Send(ClientFrame(testing::kText, "more"));
    EXPECT_EQ(busy.Read(), "more");
  }
  EXPECT_LE(EchoSession::advances - before, 150);
}

TEST_F(WebSocketServerTest, AStopTellsClients) {
  Client client(http_.port());
  client.Send(OpeningRequest() + ClientFrame(testing::kText, "begin"));
  client.ReadHead();
  EXPECT_EQ(client.Read(), "begin");
  // Before the stop, so that it need not wait for the confirmation.
  client.Send(ClientFrame(testing::kClose, "\x03\xe8"));
  web_sockets_.Stop();
  EXPECT_TRUE(client.Read().starts_with("close 1"));
}

class FullWebSocketServerTest : public WebSocketServerTest {
 protected:
  FullWebSocketServerTest() : WebSocketServerTest({.max_connections = 1}) {}
};

TEST_F(FullWebSocketServerTest, RefusesUntilAPlaceIsFree) {
  auto first = std::make_unique<Client>(http_.port());
  first->Send(OpeningRequest());
  EXPECT_TRUE(first->ReadHead().starts_with("HTTP/1.1 101 "));
  Client second(http_.port());
  second.Send(OpeningRequest());
  const std::string head = second.ReadHead();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 503 ")) << head;
  EXPECT_EQ(head.find("Sec-WebSocket-Accept"), head.npos);
  EXPECT_EQ(web_sockets_.open(), 1U);
  first->Send(ClientFrame(testing::kClose, "\x03\xe8"));
  while (first->Read() != "end") {
  }
  Client third(http_.port());
  third.Send(OpeningRequest());
  EXPECT_TRUE(third.ReadHead().starts_with("HTTP/1.1 101 "));
}

class FullPeerTest : public WebSocketServerTest {
 protected:
  FullPeerTest() : WebSocketServerTest({.max_connections = 3, .max_connections_of_peer = 2}) {}
};

TEST_F(FullPeerTest, RefusesAnAddressUntilAPlaceOfItsOwnIsFree) {
  auto first = std::make_unique<Client>(http_.port());
  Client second(http_.port());
  for (Client* client : {first.get(), &second}) {
    client->Send(OpeningRequest());
    EXPECT_TRUE(client->ReadHead().starts_with("HTTP/1.1 101 "));
  }
  Client third(http_.port());
  third.Send(OpeningRequest());
  const std::string head = third.ReadHead();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 429 ")) << head;
  EXPECT_NE(head.find("Retry-After: 1\r\n"), head.npos) << head;
  EXPECT_EQ(head.find("Sec-WebSocket-Accept"), head.npos) << head;
  EXPECT_EQ(web_sockets_.open(), 2U);
  first->Send(ClientFrame(testing::kClose, "\x03\xe8"));
  while (first->Read() != "end") {
  }
  Client fourth(http_.port());
  fourth.Send(OpeningRequest());
  EXPECT_TRUE(fourth.ReadHead().starts_with("HTTP/1.1 101 "));
}

#ifdef __linux__
// Other systems have one loopback address.
TEST_F(FullPeerTest, LeavesPlacesToOtherAddresses) {
  Client first(http_.port());
  Client second(http_.port());
  for (Client* client : {&first, &second}) {
    client->Send(OpeningRequest());
    EXPECT_TRUE(client->ReadHead().starts_with("HTTP/1.1 101 "));
  }
  Client other(http_.port(), "127.0.0.2");
  other.Send(OpeningRequest());
  EXPECT_TRUE(other.ReadHead().starts_with("HTTP/1.1 101 "));
  // All places together are still bounded.
  Client third(http_.port(), "127.0.0.3");
  third.Send(OpeningRequest());
  EXPECT_TRUE(third.ReadHead().starts_with("HTTP/1.1 503 "));
}
#endif

}  // namespace
}  // namespace millrace
