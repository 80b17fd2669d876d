#include "server/frontends/wyoming/event_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads all events of the bytes, which come in parts of that size: "type data".
std::vector<std::string> ReadAll(const std::string& bytes, size_t part = 1'000'000) {
  EventReader reader;
  std::vector<std::string> events;
  for (size_t at = 0; at < bytes.size(); at += part) {
    reader.Push(std::string_view(bytes).substr(at, part));
    for (;;) {
      auto event = reader.Next();
      if (!event.ok()) {
        events.emplace_back(event.status().message());
        return events;
      }
      if (!*event) break;
      events.push_back((*event)->type + " " + (*event)->data.dump());
    }
  }
  if (reader.has_part()) events.emplace_back("a part");
  return events;
}

std::string OneError(const std::string& bytes) {
  const auto events = ReadAll(bytes);
  return events.size() == 1 ? events.front() : "not one error";
}

TEST(EventReaderTest, DataStandsInTheLineOrBehindIt) {
  for (const size_t part : {size_t{1}, size_t{7}, size_t{1'000'000}}) {
    EXPECT_THAT(
        ReadAll("{\"type\":\"a\",\"data\":{\"x\":1}}\n"
                "{\"type\":\"b\",\"data_length\":7}\n{\"y\":2}"
                "{\"type\":\"c\",\"data\":null,\"data_length\":null,\"payload_length\":null}\r\n"
                "{\"type\":\"d\",\"data\":{\"x\":1,\"y\":1},\"data_length\":7}\n{\"y\":2}"
                "{\"type\":\"e\",\"version\":\"1.10.2\",\"data_length\":0,\"payload_length\":0}\n",
                part),
        ElementsAre("a {\"x\":1}", "b {\"y\":2}", "c {}", "d {\"x\":1,\"y\":2}", "e {}"))
        << part;
  }
}

// It has no end of a line, so that its client would wait.
TEST(EventReaderTest, TlsIsToldAtItsFirstByte) {
  EXPECT_THAT(OneError("\x16\x03\x01"), HasSubstr("TLS is not spoken on this address"));
  EXPECT_THAT(ReadAll("{\"type\":\"a\"}\n\x16"),
              ElementsAre("a {}", HasSubstr("TLS is not spoken on this address")));
  EXPECT_THAT(ReadAll("{\"type\":\"a\",\"payload_length\":1}\n\x16"), ElementsAre("a {}"));
}

TEST(EventReaderTest, PayloadsAreSkippedAndNotHeld) {
  EventReader reader;
  reader.Push("{\"type\":\"audio-chunk\",\"data_length\":2,\"payload_length\":1000000}\n{}xy");
  for (int i = 0; i < 9; ++i) {
    const auto event = reader.Next();
    ASSERT_TRUE(event.ok());
    ASSERT_FALSE(*event);
    EXPECT_LE(reader.held_bytes(), 100U);
    reader.Push(std::string(111'000, 'z'));
  }
  reader.Push(std::string(1'000'000 - 2 - 9 * 111'000, 'z') + "{\"type\":\"ping\"}\n");
  EXPECT_EQ((**reader.Next()).type, "audio-chunk");
  EXPECT_EQ((**reader.Next()).type, "ping");
  EXPECT_FALSE(reader.has_part());
}

TEST(EventReaderTest, APartOfAnEventIsToldFromNone) {
  EXPECT_THAT(ReadAll("{\"type\""), ElementsAre("a part"));
  EXPECT_THAT(ReadAll("{\"type\":\"a\",\"data_length\":2}\n"), ElementsAre("a part"));
  EXPECT_THAT(ReadAll("{\"type\":\"a\",\"payload_length\":2}\nx"), ElementsAre("a part"));
  EXPECT_THAT(ReadAll("{\"type\":\"a\"}\n"), ElementsAre("a {}"));
}

TEST(EventReaderTest, EveryLengthHasALimit) {
  const EventReader::Limits limits;
  const std::string longest = "{\"type\":\"a\"}" + std::string(limits.line_bytes - 12, ' ');
  EXPECT_THAT(ReadAll(longest + "\n"), ElementsAre("a {}"));
  EXPECT_THAT(OneError(longest + " \n"), HasSubstr("line: is longer than 65536 bytes"));
  // Without an end it is refused as well.
  EXPECT_THAT(OneError(longest + "  "), HasSubstr("line: is longer than 65536 bytes"));
  for (const char* length :
       {"1048577", "18446744073709551616", "1e99", "-1", "2.5", "\"2\"", "[]"}) {
    for (const std::string name : {"data_length", "payload_length"}) {
      EXPECT_THAT(OneError("{\"type\":\"a\",\"" + name + "\":" + length + "}\n"),
                  ::testing::StartsWith(name + ": "))
          << length;
    }
  }
}

TEST(EventReaderTest, WhatIsNoEventIsNamed) {
  EXPECT_EQ(OneError("\n"), "line: is not valid JSON at byte 1, where it ends");
  EXPECT_EQ(OneError("GET / HTTP/1.1\r\n"), "line: is not valid JSON at byte 1, where 'G' stands");
  EXPECT_EQ(OneError("[]\n"), "line: must be a JSON object, not array '[]'");
  EXPECT_EQ(OneError("{\"type\":\"\xff\"}\n"), "line: is not valid UTF-8");
  EXPECT_EQ(OneError("{\"type\":1e999}\n"),
            "line: is not valid JSON: a number is out of range: '1e999'");
  EXPECT_EQ(OneError("{}\n"), "type: is missing");
  EXPECT_EQ(OneError("{\"type\":7}\n"), "type: must be a string, not number '7'");
  EXPECT_EQ(OneError("{\"type\":\"a\",\"data\":[]}\n"),
            "data: must be a JSON object, not array '[]'");
  EXPECT_EQ(OneError("{\"type\":\"a\",\"data_length\":4}\nnull"),
            "data: must be a JSON object, not null");
  EXPECT_EQ(OneError("{\"type\":\"a\",\"data_length\":2}\n{\xff"), "data: is not valid UTF-8");
  EXPECT_EQ(OneError("{\"type\":\"a\",\"data_length\":9}\n{\"x\":\"\\ud8\"}"),
            "data: is not valid JSON at byte 10, where it ends");
}

TEST(EventReaderTest, DeeplyNestedDataIsTakenAndFreed) {
  const std::string deep = "{\"x\":" + std::string(90'000, '[') + std::string(90'000, ']') + "}";
  EventReader reader;
  reader.Push("{\"type\":\"a\",\"data_length\":" + std::to_string(deep.size()) + "}\n" + deep);
  const auto event = reader.Next();
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_TRUE(*event);
}

}  // namespace
}  // namespace millrace::server
