#include <gtest/gtest.h>

#include <string>

#include "server/http/form_size.h"
#include "server/http/json_body.h"

namespace millrace {
namespace {

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(JsonBody, TakesAsManyValuesAsRequestsNeed) {
  EXPECT_TRUE(ParseJsonObject("{\"a\":[" + Repeated("1,", 99'000) + "1]}").ok());
  // Separators within a string count nothing.
  EXPECT_TRUE(ParseJsonObject("{\"a\":\"" + Repeated("\\\"[{,", 200'000) + "\"}").ok());
}

TEST(JsonBody, RefusesMoreValuesBeforeTheyTakeMemory) {
  const std::string bodies[] = {
      "{\"a\":[" + Repeated("1,", 100'000) + "1]}",
      "{\"a\":" + Repeated("[", 100'000),
      "{\"a\":" + Repeated("{\"a\":", 100'000),
      "{" + Repeated("\"a\":\"\\\\\",", 100'000),
  };
  for (const std::string& body : bodies) {
    const auto parsed = ParseJsonObject(body);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(parsed.status().message(), "the body: has more than 100000 values of JSON");
  }
}

TEST(Form, RefusesMoreMembersThanRequestsNeed) {
  EXPECT_TRUE(CheckFormSize(Repeated("a=1&", 19'999) + "a").ok());
  const absl::Status refused = CheckFormSize(Repeated("a&", 20'000) + "a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), "the form has more than 20000 members");
}

}  // namespace
}  // namespace millrace
