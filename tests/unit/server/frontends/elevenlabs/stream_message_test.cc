#include "server/frontends/elevenlabs/stream_message.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace millrace::server {
namespace {

TEST(StreamMessageTest, ReadsWhatClientsSend) {
  const auto first = ParseStreamMessage(
      R"({"text":" ","voice_settings":{"stability":0.5,"speed":1.1},"xi_api_key":"k",)"
      R"("generation_config":{"chunk_length_schedule":[50]},"try_trigger_generation":true})");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->text, " ");
  EXPECT_EQ(first->speed, 1.1F);
  EXPECT_EQ(first->api_key, "k");
  EXPECT_FALSE(first->flush);
  const auto next = ParseStreamMessage(R"({"text":"a","context_id":"c","flush":true,"new":[1]})");
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->context_id, "c");
  EXPECT_TRUE(next->flush);
  EXPECT_TRUE(ParseStreamMessage(R"({"context_id":"c","close_context":true})")->close_context);
  EXPECT_TRUE(ParseStreamMessage(R"({"close_socket":true})")->close_socket);
  EXPECT_EQ(ParseStreamMessage(R"({"authorization":"Bearer k"})")->api_key, "k");
  // A client that has no settings sends null.
  EXPECT_FALSE(ParseStreamMessage(R"({"text":"","voice_settings":null})")->speed);
}

TEST(StreamMessageTest, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense", "the message is not valid JSON at byte 2, where 'o' stands"},
      {"[]", "the message must be a JSON object, not array '[]'"},
      {"{}",
       "the message has none of text, flush, close_context, close_socket, voice_settings and "
       "xi_api_key"},
      {R"({"event":"of-the-future"})",
       "the message has none of text, flush, close_context, close_socket, voice_settings and "
       "xi_api_key"},
      {R"({"text":5})", "text: must be a string, not number '5'"},
      {R"({"text":"a","flush":1})", "flush: must be true or false, not number '1'"},
      {R"({"text":"a","context_id":[]})", "context_id: must be a string, not array '[]'"},
      {R"({"text":"a","voice_settings":[]})", "voice_settings: must be an object, not array '[]'"},
      {R"({"text":"a","pronunciation_dictionary_locators":[{}]})",
       "pronunciation_dictionary_locators: dictionaries are not available"},
  };
  for (const auto& [json, error] : cases)
    EXPECT_EQ(ParseStreamMessage(json).status().message(), error) << json;
  EXPECT_EQ(
      ParseStreamMessage(R"({"context_id":")" + std::string(257, 'c') + "\"}").status().message(),
      "context_id: has 257 bytes; at most 256 are allowed");
}

}  // namespace
}  // namespace millrace::server
