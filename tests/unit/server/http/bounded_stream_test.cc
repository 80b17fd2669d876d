#include "server/http/bounded_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/base/joining_thread.h"

namespace millrace {
namespace {

using std::chrono::minutes;

// A stream whose client sees where one send ends.
class BoundedStreamTest : public ::testing::Test {
 protected:
  void Open(int type) {
    ASSERT_EQ(socketpair(AF_UNIX, type, 0, ends_), 0);
    stream_ = std::make_unique<BoundedStream>(
        ends_[0], "", 0,
        BoundedStream::Limits{.body_timeout = minutes(1), .write_timeout = minutes(1)},
        [] { return false; });
  }
  ~BoundedStreamTest() override {
    for (const int end : ends_) close(end);
  }
  ssize_t Write(std::string_view bytes) { return stream_->write(bytes.data(), bytes.size()); }
  // Sends each piece by itself, as a body that has this length together.
  void SendBody(const std::vector<std::string>& pieces) {
    for (const std::string& piece : pieces) {
      stream_->AllowBody(piece.size());
      ASSERT_EQ(send(ends_[1], piece.data(), piece.size(), 0), static_cast<ssize_t>(piece.size()));
    }
  }
  std::string Read() {
    char bytes[1000];
    const ssize_t count = stream_->read(bytes, sizeof(bytes));
    return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : "";
  }
  // Returns the bytes of one send; empty: there was none.
  std::string Received() {
    char bytes[100];
    const ssize_t count = recv(ends_[1], bytes, sizeof(bytes), MSG_DONTWAIT);
    return count > 0 ? std::string(bytes, static_cast<size_t>(count)) : "";
  }

  int ends_[2] = {-1, -1};
  std::unique_ptr<BoundedStream> stream_;
};

TEST_F(BoundedStreamTest, SendsWhatIsWrittenAtOnce) {
  Open(SOCK_SEQPACKET);
  EXPECT_EQ(Write("head"), 4);
  EXPECT_EQ(Received(), "head");
  EXPECT_TRUE(stream_->SendHeld());
  EXPECT_EQ(Received(), "");
}

TEST_F(BoundedStreamTest, SendsAHeadThatIsHeldWithItsBody) {
  Open(SOCK_SEQPACKET);
  stream_->HoldHead();
  EXPECT_EQ(Write("head"), 4);
  EXPECT_EQ(Received(), "");
  EXPECT_EQ(Write("body"), 4);
  EXPECT_EQ(Received(), "headbody");
  EXPECT_EQ(Write("more"), 4);
  EXPECT_EQ(Received(), "more");
}

TEST_F(BoundedStreamTest, SendsAHeadThatNothingFollows) {
  Open(SOCK_SEQPACKET);
  stream_->HoldHead();
  EXPECT_EQ(Write("head"), 4);
  EXPECT_TRUE(stream_->SendHeld());
  EXPECT_EQ(Received(), "head");
}

TEST_F(BoundedStreamTest, ReadsABodyAsItComes) {
  Open(SOCK_SEQPACKET);
  SendBody({"a", "bc", "d"});
  for (const char* piece : {"a", "bc", "d", ""}) EXPECT_EQ(Read(), piece);
}

TEST_F(BoundedStreamTest, SendsMoreThanTheSocketTakes) {
  Open(SOCK_STREAM);
  const std::string head(1 << 20, 'h');
  const std::string body(1 << 20, 'b');
  std::string received;
  {
    const JoiningThread client([&] {
      char bytes[4096];
      while (received.size() < head.size() + body.size()) {
        const ssize_t count = recv(ends_[1], bytes, sizeof(bytes), 0);
        if (count <= 0) return;
        received.append(bytes, static_cast<size_t>(count));
      }
    });
    stream_->HoldHead();
    EXPECT_EQ(Write(head), static_cast<ssize_t>(head.size()));
    for (size_t sent = 0; sent < body.size();) {
      const ssize_t count = Write(std::string_view(body).substr(sent));
      EXPECT_GT(count, 0);
      if (count <= 0) break;
      sent += static_cast<size_t>(count);
    }
    shutdown(ends_[0], SHUT_WR);
  }
  EXPECT_TRUE(received == head + body);
}

}  // namespace
}  // namespace millrace
