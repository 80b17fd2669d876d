#include "models/vits/speakers.h"

#include <gtest/gtest.h>

namespace millrace::vits {
namespace {

TEST(SpeakersTest, StandInTheOrderOfTheirIds) {
  VoiceConfig voice;
  voice.speaker_ids = {{"anna", 2}, {"ben", 0}, {"carl", 1}};
  const std::vector<Speaker> speakers = ListSpeakers(voice, "voice");
  ASSERT_EQ(speakers.size(), 3u);
  EXPECT_EQ(speakers[0].name, "ben");
  EXPECT_EQ(speakers[1].name, "carl");
  EXPECT_EQ(speakers[2].id, 2);
}

TEST(SpeakersTest, AreFoundByName) {
  const std::vector<Speaker> speakers = {{"ben", 0}, {"anna", 2}};
  EXPECT_EQ(FindSpeaker(speakers, "anna"), &speakers[1]);
  EXPECT_EQ(FindSpeaker(speakers, ""), &speakers[0]);
  EXPECT_EQ(FindSpeaker(speakers, "dora"), nullptr);
}

TEST(SpeakersTest, AVoiceThatListsNoneHasOneOfItsOwnName) {
  const std::vector<Speaker> speakers = ListSpeakers({}, "joe");
  ASSERT_EQ(speakers.size(), 1u);
  EXPECT_EQ(speakers[0].name, "joe");
  EXPECT_EQ(speakers[0].id, 0);
}

}  // namespace
}  // namespace millrace::vits
