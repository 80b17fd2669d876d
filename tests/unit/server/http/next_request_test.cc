#include "server/http/next_request.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace millrace {
namespace {

using Next = RequestThreads::Next;
using std::chrono::hours;
using std::chrono::milliseconds;

constexpr std::string_view kHead = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr size_t kMax = 100;

class NextRequestTest : public ::testing::Test {
 protected:
  NextRequestTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    client_ = ends[0];
    connection_ = std::make_unique<Connection>(FileDescriptor(ends[1]));
  }
  ~NextRequestTest() override { Leave(); }

  void Send(std::string_view bytes) {
    EXPECT_EQ(send(client_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void Leave() {
    if (client_ >= 0) close(client_);
    client_ = -1;
  }

  int client_ = -1;
  std::unique_ptr<Connection> connection_;
};

TEST_F(NextRequestTest, IsThereOnceItsHeadHasCome) {
  Send(std::string(kHead) + "more");
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kMax), Next::kRequest);
  EXPECT_EQ(connection_->received, std::string(kHead) + "more");
  // One that came with the request before it needs no wait.
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kMax), Next::kRequest);
}

TEST_F(NextRequestTest, MayNotCome) {
  EXPECT_EQ(AwaitRequest(*connection_, milliseconds(0), kMax), Next::kNothing);
  EXPECT_EQ(connection_->received, "");
}

TEST_F(NextRequestTest, ThatComesInPiecesIsThePollers) {
  Send(kHead.substr(0, 10));
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kMax), Next::kNothing);
  EXPECT_EQ(connection_->received, kHead.substr(0, 10));
}

TEST_F(NextRequestTest, OfALongHeadIsThePollers) {
  Send(kHead);
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kHead.size() - 1), Next::kNothing);
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kHead.size()), Next::kRequest);
}

TEST_F(NextRequestTest, ComesNoMoreOnceTheClientHasGone) {
  Leave();
  EXPECT_EQ(AwaitRequest(*connection_, hours(1), kMax), Next::kGone);
}

}  // namespace
}  // namespace millrace
