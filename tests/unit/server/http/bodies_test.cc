#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "server/http/form.h"
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
    EXPECT_EQ(parsed.status().message(), "the body has more than 100000 values of JSON");
  }
}

TEST(JsonBody, WhatIsWrongIsNamedWithItsPlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "the body is empty; it must be a JSON object"},
      {"[1]", "the body must be a JSON object, not array '[1]'"},
      {R"({"a":1,})", "the body is not valid JSON at byte 8, where '}' stands"},
      {R"({"a":NaN})", "the body is not valid JSON at byte 6, where 'N' stands"},
      {R"({"a":1)", "the body is not valid JSON at byte 7, where it ends"},
      {"{\"a\":\xC3\xA9}", "the body is not valid JSON at byte 6, where '\xC3\xA9' stands"},
      {"{\"a\":\"\n\"}", "the body is not valid JSON at byte 7, where the byte 10 stands"},
      {std::string("{}\0{", 4), "the body is not valid JSON at byte 3, where the byte 0 stands"},
      {R"({"a":1e999})", "the body is not valid JSON: a number is out of range: '1e999'"},
      {"{\"a\":\"\xFF\"}", "the body is not valid UTF-8"},
      {std::string("{\0}\0", 4), "the body is not valid JSON at byte 2, where the byte 0 stands"},
  };
  for (const auto& [body, message] : cases)
    EXPECT_EQ(ParseJsonObject(body).status().message(), message) << body;
  EXPECT_TRUE(ParseJsonObject("\xEF\xBB\xBF{}").ok());
}

TEST(JsonBody, AnotherTypeIsRefusedUnlessTheBodyIsJson) {
  constexpr char kForm[] = "application/x-www-form-urlencoded; charset=utf-8";
  for (const char* json : {"{}", " {\"a\":1}", "\xEF\xBB\xBF{}", " [1]", ""})
    EXPECT_TRUE(CheckJsonType(kForm, json).ok()) << json;
  EXPECT_TRUE(CheckJsonType("", "a").ok());
  EXPECT_TRUE(CheckJsonType("application/json", "a").ok());
  EXPECT_EQ(CheckJsonType(kForm, "a=1").message(),
            "Content-Type: 'application/x-www-form-urlencoded' is not supported; "
            "application/json is");
}

TEST(JsonBody, ATypeThatIsMissingIsToldSo) {
  EXPECT_EQ(NeitherJsonNorForm("").message(),
            "Content-Type: is missing; application/json, application/x-www-form-urlencoded and "
            "multipart/form-data are supported");
}

TEST(JsonBody, ATypeIsNamedInSmallLettersWithoutItsParameters) {
  EXPECT_EQ(NeitherJsonNorForm("Multipart/Mixed; boundary=X").message(),
            "Content-Type: 'multipart/mixed' is not supported; application/json, "
            "application/x-www-form-urlencoded and multipart/form-data are");
}

TEST(Form, RefusesMoreMembersThanRequestsNeed) {
  EXPECT_TRUE(CheckFormSize(Repeated("a=1&", 19'999) + "a").ok());
  const absl::Status refused = CheckFormSize(Repeated("a&", 20'000) + "a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(), "the form has more than 20000 members");
}

}  // namespace
}  // namespace millrace
