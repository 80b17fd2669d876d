#include "models/vits/speakers.h"

#include <gtest/gtest.h>

namespace millrace::vits {
namespace {

TEST(SpeakersTest, StandInTheOrderOfTheirIds) {
  VoiceConfig voice;
  voice.speaker_ids = {{"anna", 2}, {"ben", 0}, {"carl", 1}};
  const std::vector<Speaker> speakers = ListSpeakers(voice, "voice");
  ASSERT_EQ(speakers.size(), 3u);
  EXPECT_EQ(speakers[0].name, "voice:ben");
  EXPECT_EQ(speakers[1].name, "voice:carl");
  EXPECT_EQ(speakers[2].id, 2);
}

TEST(SpeakersTest, AreFoundByName) {
  const std::vector<Speaker> speakers = {{"voice:ben", "ben", 0}, {"voice:anna", "anna", 2}};
  EXPECT_EQ(FindSpeaker(speakers, "voice:anna"), &speakers[1]);
  EXPECT_EQ(FindSpeaker(speakers, "anna"), &speakers[1]);
  EXPECT_EQ(FindSpeaker(speakers, ""), &speakers[0]);
  EXPECT_EQ(FindSpeaker(speakers, "dora"), nullptr);
}

TEST(SpeakersTest, TheNameInRequestsComesBeforeTheVoicesOwn) {
  const std::vector<Speaker> speakers = {{"b:a", "a", 0}, {"b:b:a", "b:a", 1}};
  EXPECT_EQ(FindSpeaker(speakers, "b:a"), &speakers[0]);
}

TEST(SpeakersTest, AnOnlySpeakerHasTheNameOfTheVoice) {
  VoiceConfig voice;
  voice.speaker_ids = {{"default", 0}};
  const std::vector<Speaker> speakers = ListSpeakers(voice, "joe");
  EXPECT_EQ(speakers, (std::vector<Speaker>{{"joe", "default", 0}}));
  EXPECT_EQ(FindSpeaker(speakers, "default"), &speakers[0]);
}

TEST(SpeakersTest, SpeakersWithoutNamesHaveTheirNumbers) {
  VoiceConfig voice;
  voice.speakers = 3;
  const std::vector<Speaker> speakers = ListSpeakers(voice, "vctk");
  ASSERT_EQ(speakers.size(), 3U);
  EXPECT_EQ(speakers[2], (Speaker{"vctk:2", "2", 2}));
}

TEST(SpeakersTest, AVoiceThatListsNoneHasOneOfItsOwnName) {
  const std::vector<Speaker> speakers = ListSpeakers({}, "joe");
  ASSERT_EQ(speakers.size(), 1u);
  EXPECT_EQ(speakers[0].name, "joe");
  EXPECT_EQ(speakers[0].id, 0);
}

}  // namespace
}  // namespace millrace::vits
