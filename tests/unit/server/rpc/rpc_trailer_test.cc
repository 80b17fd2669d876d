#include <gtest/gtest.h>

#include <latch>
#include <optional>
#include <string>

#include "server/rpc/common_trailer.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

// A server with a common trailer; one of its methods has a trailer of its own.
class RpcTrailerTest : public ::testing::Test {
 protected:
  // Makes a call, and returns the value of its common trailer.
  std::optional<std::string> TrailerOf(const char* path, StatusCode code) {
    Context context;
    EXPECT_EQ(Call(server_.channel(), context, "x", nullptr, path).error_code(), code);
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto found = trailers.find("load-bin");
    if (found == trailers.end()) return std::nullopt;
    EXPECT_EQ(trailers.count("load-bin"), 1U);
    return std::string(found->second.data(), found->second.size());
  }

  CommonTrailer trailer_{"load-bin"};
  RpcTestServer server_{{{"Synthesize", Echo},
                         {"StreamSynthesize",
                          [](ByteCall& rpc) {
                            rpc.AddTrailingMetadata("own", "1");
                            rpc.Finish(absl::NotFoundError("no"));
                          }}},
                        {.trailer = &trailer_}};
};

TEST_F(RpcTrailerTest, StandsUnderACallWhateverItsStatus) {
  const auto check = [this](const char* path, StatusCode code) {
    const std::string bytes("\0\1\xff", 3);
    trailer_.Publish(bytes);
    EXPECT_EQ(TrailerOf(path, code), bytes);
  };
  check(kUnary, StatusCode::OK);
  check(kReplies, StatusCode::NOT_FOUND);
  check("/no.Such/Method", StatusCode::UNIMPLEMENTED);
}

TEST_F(RpcTrailerTest, ComesOnceToAConnectionFromEachPollingThread) {
  constexpr int kMostPollingThreads = 4;
  trailer_.Publish("a");
  int values = 0;
  for (int i = 0; i < 20; ++i) values += TrailerOf(kUnary, StatusCode::OK).has_value() ? 1 : 0;
  EXPECT_GE(values, 1);
  EXPECT_LE(values, kMostPollingThreads);
}

TEST(CommonTrailerTest, EachConnectionGetsEachValueOnce) {
  CommonTrailer trailer("load-bin");
  trailer.Publish("a");
  CommonTrailer::Reader reader(trailer);
  for (const char* peer : {"ipv4:127.0.0.1:1", "ipv4:127.0.0.1:2"}) {
    const std::string* value = reader.ValueFor(peer);
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, "a");
    EXPECT_EQ(reader.ValueFor(peer), nullptr);
  }
  trailer.Publish("b");
  const std::string* value = reader.ValueFor("ipv4:127.0.0.1:1");
  ASSERT_NE(value, nullptr);
  EXPECT_EQ(*value, "b");
  EXPECT_EQ(reader.ValueFor("ipv4:127.0.0.1:1"), nullptr);
}

TEST_F(RpcTrailerTest, HasTheValueOfTheCallsEnd) {
  for (const char* value : {"a", "b", "b", "c"}) {
    trailer_.Publish(value);
    EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), value);
  }
}

TEST(RpcTrailerStreamTest, AStreamThatEndsBehindItsLastMessageHasTheValueOfItsEnd) {
  class Stream final : public Recorder {
   public:
    void Begin(ByteCall& rpc) {
      rpc.SetHandler(*this);
      rpc.StartWrite(&message_);
      rpc.Finish(absl::OkStatus());
      begun.count_down();
    }

    std::latch begun{1};

   private:
    // Longer than what the client has room for while it does not read.
    const ByteBuffer message_{std::string(20 << 20, 'x')};
  };
  CommonTrailer trailer("load-bin");
  trailer.Publish("before");
  Stream stream;
  RpcTestServer server(
      {{"Synthesize", Echo}, {"StreamSynthesize", [&](ByteCall& rpc) { stream.Begin(rpc); }}},
      {.trailer = &trailer});
  Context context;
  const auto channel = server.NewChannel();
  const Reader reader = StartReplies(*channel, context);
  stream.begun.wait();
  // Its end is posted behind the stream's.
  RoundTrips(server.channel(), 1);
  trailer.Publish("after");
  grpc::ByteBuffer message;
  EXPECT_TRUE(reader->Read(&message));
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("load-bin");
  ASSERT_NE(found, trailers.end());
  EXPECT_EQ(std::string(found->second.data(), found->second.size()), "after");
  stream.AwaitDone();
}

TEST_F(RpcTrailerTest, IsMissingWithoutAValue) {
  EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), std::nullopt);
  trailer_.Publish("a");
  trailer_.Publish("");
  EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), std::nullopt);
}

}  // namespace
}  // namespace millrace::server
