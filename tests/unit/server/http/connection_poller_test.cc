#include "server/http/connection_poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/http/http_client.h"

namespace millrace {
namespace {

using std::chrono::milliseconds;

// A poller that closes the connection of each request, and refuses those that are late with their
// status.
class ConnectionPollerTest : public ::testing::Test {
 protected:
  ConnectionPollerTest()
      : poller_(
            {.address = {.tcp = {.host = "127.0.0.1", .port = 0}, .socket_file = ""},
             .max_connections = 10,
             .max_connections_of_peer = 10,
             .max_head_bytes = 1000,
             .head_timeout = milliseconds(200),
             .keep_alive_timeout = milliseconds(500),
             .accept_retry = milliseconds(10)},
            [](std::unique_ptr<Connection>& connection) {
              connection.reset();
              return true;
            },
            [](std::string_view, const Peer&, int status) { return std::to_string(status); },
            clock_) {
    EXPECT_TRUE(poller_.Listen().ok());
    EXPECT_TRUE(poller_.Start().ok());
  }
  ~ConnectionPollerTest() override { poller_.Stop(); }

  static void Send(const FileDescriptor& client, std::string_view bytes) {
    EXPECT_EQ(send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Returns what the server sends until it closes.
  static std::string Answer(const FileDescriptor& client) {
    std::string answer;
    char bytes[100];
    for (ssize_t count; (count = recv(client.get(), bytes, sizeof(bytes), 0)) > 0;)
      answer.append(bytes, static_cast<size_t>(count));
    return answer;
  }
  // Waits until what was sent before has been read: a later request has been taken. A turn of the
  // poller has one time for all that it reads.
  void AwaitReading() const {
    const FileDescriptor client(Connect(poller_.port()));
    Send(client, "GET / HTTP/1.1\r\n\r\n");
    EXPECT_EQ(Answer(client), "");
  }

  testing::FakeClock clock_;
  ConnectionPoller poller_;
};

TEST_F(ConnectionPollerTest, AHeadHasOneDeadlineFromItsFirstByte) {
  const FileDescriptor slow(Connect(poller_.port()));
  AwaitReading();
  // It is idle, which takes none of the time.
  clock_.Advance(milliseconds(400));
  for (const char* byte : {"G", "E", "T"}) {
    Send(slow, byte);
    AwaitReading();
    clock_.Advance(milliseconds(90));
  }
  EXPECT_EQ(Answer(slow), "408");
}

TEST_F(ConnectionPollerTest, AnIdleConnectionIsClosedWithoutAWord) {
  const FileDescriptor idle(Connect(poller_.port()));
  AwaitReading();
  clock_.Advance(milliseconds(510));
  EXPECT_EQ(Answer(idle), "");
}

}  // namespace
}  // namespace millrace
