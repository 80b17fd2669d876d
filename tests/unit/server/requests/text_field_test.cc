#include "server/requests/text_field.h"

#include <gtest/gtest.h>

#include <string>

#include "models/core/too_long.h"

namespace millrace::server {
namespace {

TEST(CheckTextTest, NamesTheField) {
  EXPECT_TRUE(CheckText("text", "Hello").ok());
  EXPECT_TRUE(CheckText("text", " ").ok());
  EXPECT_EQ(CheckText("texts[3]", ""), absl::InvalidArgumentError("texts[3]: is empty"));
  EXPECT_EQ(CheckText("text", std::string("ab\0c", 4)),
            absl::InvalidArgumentError("text: has a NUL at byte 2, which is not allowed"));
}

TEST(CheckTotalTest, AllowsTheLimitItself) {
  EXPECT_TRUE(CheckTotal("texts", 100, 100).ok());
  const absl::Status long_one = CheckTotal("texts", 101, 100);
  EXPECT_EQ(long_one.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(long_one.message(), "texts: has 101 characters; at most 100 are allowed in a request");
  EXPECT_TRUE(IsTooLong(long_one));
  EXPECT_FALSE(IsTooLong(CheckText("text", "")));
}

}  // namespace
}  // namespace millrace::server
