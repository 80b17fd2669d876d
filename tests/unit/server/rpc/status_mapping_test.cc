#include "server/rpc/status_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "models/text/unicode.h"

namespace millrace::server {
namespace {

using ::testing::EndsWith;

TEST(ToGrpcStatusTest, KeepsCodeAndMessage) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  for (int code = 1; code <= 16; ++code) {
    const grpc::Status status =
        ToGrpcStatus(absl::Status(static_cast<absl::StatusCode>(code), "why"));
    EXPECT_EQ(static_cast<int>(status.error_code()), code);
    EXPECT_EQ(status.error_message(), "why");
  }
}

TEST(ToGrpcStatusTest, MessageOfTheLimitIsWhole) {
  const std::string message(1024, 'x');
  EXPECT_EQ(ToGrpcStatus(absl::InternalError(message)).error_message(), message);
}

TEST(ToGrpcStatusTest, LongMessageIsCut) {
  const std::string message =
      ToGrpcStatus(absl::InternalError(std::string(5000, 'x'))).error_message();
  EXPECT_EQ(message, std::string(1024, 'x').append("..."));
}

// Wherever the cut falls, no half character is sent.
TEST(ToGrpcStatusTest, CutsBetweenCharacters) {
  for (const std::string character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, 'x');
      while (text.size() < 3000) text += character;
      const std::string message = ToGrpcStatus(absl::InternalError(text)).error_message();
      EXPECT_TRUE(models::IsValidUtf8(message)) << character << " shifted by " << shift;
      EXPECT_THAT(message, EndsWith("..."));
      EXPECT_LE(message.size(), 1024U + 3);
      EXPECT_GT(message.size(), 1024U - 8);
      EXPECT_EQ(text.compare(0, message.size() - 3, message, 0, message.size() - 3), 0);
    }
  }
}

}  // namespace
}  // namespace millrace::server
