#include "server/frontends/http/request_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kForm[] = "application/x-www-form-urlencoded; charset=utf-8";

TEST(RequestMembersTest, AFormReadsAsJsonDoes) {
  const auto form = ParseMembers(kForm, "text=a+b&to=pt&text=%C3%A9&text=c");
  ASSERT_TRUE(form.ok()) << form.status();
  EXPECT_EQ(*form, json::parse(R"({"text": ["a b", "é", "c"], "to": "pt"})"));
  EXPECT_EQ(*ParseMembers("application/json", R"({"text": "a"})"), json({{"text", "a"}}));
  EXPECT_EQ(*ParseMembers("", ""), json::object());
  const char* const siblings = R"({"a": [{"b": 1}, {"b": 2}], "c": {"a": {}}})";
  EXPECT_EQ(*ParseMembers("application/json", siblings), json::parse(siblings));
}

TEST(RequestMembersTest, WhatIsNoBodyOfMembersIsToldSo) {
  const auto error = [](std::string_view type, std::string_view body) {
    return std::string(ParseMembers(type, body).status().message());
  };
  EXPECT_THAT(error("application/json", "{"), HasSubstr("not valid JSON at byte"));
  EXPECT_THAT(error("application/json", "[]"), HasSubstr("must be a JSON object, not array"));
  EXPECT_THAT(error("application/json", "{\"a\": \"\xff\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(error("application/json", R"({"a": 1, "b": {"a": 2}, "a": 3})"),
              HasSubstr("the body has the member 'a' twice"));
  EXPECT_THAT(error("application/json", R"([{"b": {"c": 1, "c": 1}}])"),
              HasSubstr("has the member 'c' twice"));
  EXPECT_THAT(error("application/json", R"({"a": "\ud83d."})"), HasSubstr("stand in pairs"));
  EXPECT_THAT(error("application/json", R"({"a": "\ude00"})"), HasSubstr("stand in pairs"));
  EXPECT_THAT(error(kForm, "a=%ff"), HasSubstr("UTF-8"));
  EXPECT_THAT(error(kForm, "%ff=a"), HasSubstr("UTF-8"));
  EXPECT_THAT(error("text/plain", "a"), HasSubstr("'text/plain' is not supported"));
}

}  // namespace
}  // namespace millrace::server
