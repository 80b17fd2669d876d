#include "server/requests/field_names.h"

#include <gtest/gtest.h>

#include <utility>

namespace millrace::server {
namespace {

TEST(FieldNamesTest, OnlyTheFieldThatAMessageIsAboutHasTheProtocolsName) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"source, target", "from, to"}, {"source", "from"}, {"voice", "voice_id"}};
  const std::pair<const char*, const char*> cases[] = {
      {"source, target: no model", "from, to: no model"},
      {"source: 'x' and source:", "from: 'x' and source:"},
      {"source[3]: is empty", "from[3]: is empty"},
      {"voice: 'joe' is a voice of no model", "voice_id: 'joe' is a voice of no model"},
      // These are other fields, or none.
      {"voice_settings.speed: 9", "voice_settings.speed: 9"},
      {"voice.name: 'x'", "voice.name: 'x'"},
      {"voice 'joe' is busy", "voice 'joe' is busy"},
      {"the voice: x", "the voice: x"},
      {"voice", "voice"},
  };
  for (const auto& [ours, theirs] : cases)
    EXPECT_EQ(MessageWithNames(absl::InvalidArgumentError(ours), kNames), theirs);
}

}  // namespace
}  // namespace millrace::server
