#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "server/rpc/common_trailer.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

// A server whose calls all get a trailer; one of them has a trailer of its own.
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

TEST_F(RpcTrailerTest, StandsUnderEveryCallWhateverItsStatus) {
  const std::string bytes("\0\1\xff", 3);
  trailer_.Publish(bytes);
  EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), bytes);
  EXPECT_EQ(TrailerOf(kReplies, StatusCode::NOT_FOUND), bytes);
  EXPECT_EQ(TrailerOf("/no.Such/Method", StatusCode::UNIMPLEMENTED), bytes);
}

TEST_F(RpcTrailerTest, HasTheValueOfTheCallsEnd) {
  for (const char* value : {"a", "b", "b", "c"}) {
    trailer_.Publish(value);
    EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), value);
  }
}

TEST_F(RpcTrailerTest, IsMissingWithoutAValue) {
  EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), std::nullopt);
  trailer_.Publish("a");
  trailer_.Publish("");
  EXPECT_EQ(TrailerOf(kUnary, StatusCode::OK), std::nullopt);
}

}  // namespace
}  // namespace millrace::server
