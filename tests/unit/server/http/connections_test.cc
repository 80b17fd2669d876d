// Many connections, slow ones and idle ones: who is served, and who has to go.

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <semaphore>
#include <string>
#include <vector>

#include "httplib.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "tests/fakes/socket_client.h"

namespace millrace {
namespace {

constexpr char kGet[] = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

class HttpClient : public testing::SocketClient {
 public:
  using SocketClient::SocketClient;
  std::string Ask(const std::string& request) {
    Send(request);
    return ReceiveUntil("hi");
  }
};

class ConnectionsTest : public ::testing::Test {
 protected:
  void Serve(HttpServer::Options options) {
    options.address = "127.0.0.1:0";
    server_ = std::make_unique<HttpServer>(options);
    const auto hello = [](const httplib::Request&, httplib::Response& response) {
      response.set_content("hi", "text/plain");
    };
    server_->routes().Get("/hello", hello);
    server_->routes().Get("/health/live", hello);
    server_->ReserveThreadsFor("/health/");
    server_->routes().Post("/echo", hello);
    server_->routes().Post(
        "/read", HttpRoutes::Reader([this](const httplib::Request&, httplib::Response& response,
                                           const httplib::ContentReader& reader) {
          entered_.release();
          const bool whole = reader([](const char*, size_t) { return true; });
          if (!whole) return;
          read_.release();
          release_.acquire();
          response.set_content("hi", "text/plain");
        }));
    server_->routes().Get("/held", [this](const httplib::Request&, httplib::Response& response) {
      entered_.release();
      release_.acquire();
      response.set_content("hi", "text/plain");
    });
    server_->routes().Get(
        "/fails", [](const httplib::Request&, httplib::Response&) { throw std::bad_alloc(); });
    server_->routes().Get("/fails-later", [](const httplib::Request&, httplib::Response& response) {
      response.set_chunked_content_provider("text/plain",
                                            [](size_t offset, httplib::DataSink& sink) -> bool {
                                              if (offset > 0) throw std::bad_alloc();
                                              return sink.write("some", 4);
                                            });
    });
    ASSERT_TRUE(server_->Start().ok());
  }
  std::unique_ptr<HttpClient> Open() { return std::make_unique<HttpClient>(server_->port()); }
  bool IsServed() { return Open()->Ask(kGet).starts_with("HTTP/1.1 200"); }

  std::unique_ptr<HttpServer> server_;
  std::counting_semaphore<> entered_{0};
  std::counting_semaphore<> read_{0};
  std::counting_semaphore<> release_{0};
};

TEST_F(ConnectionsTest, AConnectionServesAnyNumberOfRequests) {
  Serve({});
  const auto peer = Open();
  for (int i = 0; i < 200; ++i) {
    const std::string answer = peer->Ask(kGet);
    ASSERT_TRUE(answer.starts_with("HTTP/1.1 200")) << i;
    EXPECT_NE(answer.find("Keep-Alive: timeout=75\r\n"), std::string::npos) << answer;
  }
}

TEST_F(ConnectionsTest, AnAddressThatHasAllItsConnectionsReplacesItsOwn) {
  Serve({.max_connections = 10, .max_connections_of_peer = 3});
  HttpClient honest(server_->port(), "127.0.0.2");  // silent for longest
  EXPECT_TRUE(honest.Ask(kGet).starts_with("HTTP/1.1 200"));
  std::vector<std::unique_ptr<HttpClient>> many;
  for (size_t i = 0; i < 20; ++i) {
    many.push_back(Open());
    if (i < 3) continue;
    EXPECT_TRUE(many[i - 3]->Closed()) << i;
  }
  EXPECT_TRUE(many.back()->Ask(kGet).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(honest.Ask(kGet).starts_with("HTTP/1.1 200"));
  many.clear();
  EXPECT_TRUE(IsServed());
}

TEST_F(ConnectionsTest, RequestsThatComeTogetherAreServedInTurn) {
  Serve({.max_requests = 1, .max_waiting = 0});
  const auto peer = Open();
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += kGet;
  peer->Send(requests);
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(peer->ReceiveUntil("hi").starts_with("HTTP/1.1 200")) << i;
}

TEST_F(ConnectionsTest, ARequestMayComeByteByByte) {
  Serve({});
  const auto peer = Open();
  const std::string request = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  for (const char byte : request) peer->Send(std::string(1, byte));
  EXPECT_TRUE(peer->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(peer->Ask(kGet).starts_with("HTTP/1.1 200"));
}

TEST_F(ConnectionsTest, IdleConnectionsGiveWayTheOldestFirst) {
  Serve({.max_requests = 1, .max_waiting = 1, .max_connections = 4});
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(Open());
    EXPECT_TRUE(idle.back()->Ask(kGet).starts_with("HTTP/1.1 200"));
  }
  const auto fresh = Open();
  EXPECT_TRUE(fresh->Ask(kGet).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(idle[0]->Closed());
  for (int i = 1; i < 4; ++i) EXPECT_TRUE(idle[i]->Ask(kGet).starts_with("HTTP/1.1 200")) << i;
}

TEST_F(ConnectionsTest, HalfSentRequestsHoldNobodyUp) {
  Serve({.max_requests = 1, .max_waiting = 4, .max_connections = 64});
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 60; ++i) {
    slow.push_back(Open());
    slow.back()->Send("GET /hello HTTP/1.1\r\nHost:");
  }
  EXPECT_TRUE(IsServed());
  slow.back()->Send(" x\r\n\r\n");
  EXPECT_TRUE(slow.back()->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
  // Others come, more than there are places.
  for (int i = 0; i < 200; ++i) {
    slow.push_back(Open());
    slow.back()->Send("GET /hello HTTP/1.1\r\nHost:");
  }
  EXPECT_TRUE(IsServed());
}

TEST_F(ConnectionsTest, HealthIsAnsweredWhileAllThreadsAreTaken) {
  Serve({.max_requests = 2, .max_waiting = 1, .max_connections = 8});
  const auto held = Open();
  held->Send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
  entered_.acquire();
  const auto slow = Open();
  slow->Send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  EXPECT_TRUE(
      Open()->Ask("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(Open()
                  ->Ask("HEAD /health/live?x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                  .starts_with("HTTP/1.1 200"));
  const auto waiting = Open();
  waiting->Send(kGet);
  // The answer to a later connection shows that it has been seen.
  EXPECT_TRUE(
      Open()->Ask("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200"));
  // The fourth is told at once that it is one too many.
  const auto refused = Open();
  const std::string answer = refused->Ask(kGet);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(
      Open()->Ask("GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 200"));
  release_.release();
  EXPECT_TRUE(held->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(waiting->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
  slow->Send("bc");
  EXPECT_TRUE(slow->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
}

TEST_F(ConnectionsTest, BodiesThatDoNotComeHoldFewPlacesOfAnAddress) {
  // Connections that were closed hold a thread for a moment longer, for which there is room.
  Serve({.max_requests = 16, .max_bodies_of_peer = 2, .max_waiting = 0});
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 2; ++i) {
    slow.push_back(Open());
    slow.back()->Send("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
    entered_.acquire();
  }
  const auto refused = Open();
  refused->Send(
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  const std::string answer = refused->ReceiveUntil("}");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 429 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("requests of this address"), std::string::npos) << answer;
  // A body that is here already waits for nothing.
  EXPECT_TRUE(IsServed());
  EXPECT_TRUE(Open()
                  ->Ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
                  .starts_with("HTTP/1.1 200"));
  // A place is for the time of the body, not of the request.
  slow[0]->Send("bc");
  read_.acquire();
  slow.push_back(Open());
  slow.back()->Send("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  entered_.acquire();
  for (const auto& peer : slow) {
    if (peer != slow[0]) peer->Send("bc");
    release_.release();
  }
  for (const auto& peer : slow) EXPECT_TRUE(peer->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
}

#ifdef __linux__
// Other systems have one loopback address.
TEST_F(ConnectionsTest, BodiesThatDoNotComeLeavePlacesToOtherAddresses) {
  Serve({.max_requests = 2, .max_bodies_of_peer = 1, .max_waiting = 0});
  const auto slow = Open();
  slow->Send("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  entered_.acquire();
  HttpClient other(server_->port(), "127.0.0.2");
  other.Send("POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  entered_.acquire();
  release_.release(2);
  slow->Send("bc");
  other.Send("bc");
  EXPECT_TRUE(slow->ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(other.ReceiveUntil("hi").starts_with("HTTP/1.1 200"));
}
#endif

TEST_F(ConnectionsTest, AnIdleConnectionEndsInTheEnd) {
  Serve({.keep_alive_timeout = std::chrono::seconds(0)});
  EXPECT_TRUE(Open()->Closed());
}

TEST_F(ConnectionsTest, ForWantOfMemoryOneRequestIsLost) {
  Serve({.max_requests = 1});
  EXPECT_TRUE(Open()
                  ->Ask("GET /fails HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                  .starts_with("HTTP/1.1 500"));
  // A reply that fails after its beginning ends without its last chunk.
  const auto cut = Open();
  cut->Send("GET /fails-later HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = cut->ReceiveUntil("never");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\nsome\r\n")) << answer;
  EXPECT_TRUE(IsServed());
}

TEST_F(ConnectionsTest, StopDoesNotWaitForIdleConnections) {
  Serve({.request_timeout = std::chrono::hours(1), .keep_alive_timeout = std::chrono::hours(1)});
  const auto used = Open();
  EXPECT_TRUE(used->Ask(kGet).starts_with("HTTP/1.1 200"));
  const auto slow = Open();
  slow->Send("GET /hello");
  EXPECT_TRUE(IsServed());
  server_->Stop();
  EXPECT_TRUE(used->Closed());
  EXPECT_TRUE(slow->Closed());
}

}  // namespace
}  // namespace millrace
