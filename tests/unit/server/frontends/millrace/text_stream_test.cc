// Speech of a text that is still being written, over a real connection.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/millrace/text_stream_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

TEST_F(TextStreamTest, ASentenceIsSpokenWhenTheNextBegins) {
  TextStreamClient client(server_);
  client.Configure("second");
  client.Say("It is ");
  client.Say("done. We");
  EXPECT_EQ(client.Read(), "0 It is done. ");
  client.Say(" can go");
  client.Done();
  EXPECT_EQ(client.Read(), "1 We can go");
  EXPECT_EQ(client.Read(), "");
  EXPECT_EQ(client.bytes, 2 * std::string("It is done. We can go").size());
  const grpc::Status status = client.Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  const auto seen = voice_.seen();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].voice, "second");
  EXPECT_TRUE(seen[0].streamed);
  EXPECT_EQ(seen[0].first_sentence, 0U);
  EXPECT_EQ(seen[1].first_sentence, 1U);
}

TEST_F(TextStreamTest, TimesAndPlacesOfWordsAreOfTheWholeCall) {
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_word_times(true);
  client.Write(request);
  // Marks alone are dropped, but counted.
  for (int i = 0; i < 2; ++i) client.Say(std::string(2500, '.'), true);
  client.Say("\n\u00dcber. We go.", true);
  EXPECT_EQ(client.Read(), "0 \n\u00dcber. We go.");
  client.Say("End.", true);
  EXPECT_EQ(client.Read(), "1 End.");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  ASSERT_EQ(client.words.size(), 2U);
  EXPECT_EQ(client.words[0].character_offset(), 5000 + 2);
  EXPECT_EQ(client.words[0].start_seconds(), 8 / 8000.0);
  EXPECT_EQ(client.words[1].character_offset(), 5000 + 13 + 2);
  EXPECT_EQ(client.words[1].sentence_index(), 1);
  EXPECT_EQ(client.words[1].start_seconds(), (14 + 8) / 8000.0);
}

TEST_F(TextStreamTest, AFlushSpeaksAnUnfinishedSentence) {
  TextStreamClient client(server_);
  client.Configure();
  client.Say("Hello there", true);
  EXPECT_EQ(client.Read(), "0 Hello there");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
}

TEST_F(TextStreamTest, TheConfigMayComeWithTheWholeText) {
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.set_text("One. Two.");
  client.Write(request);
  client.Done();
  const Strings all = client.ReadAll();
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(client.Finish().ok());
  std::string spoken;
  for (const auto& input : voice_.seen()) spoken += input.text;
  EXPECT_EQ(spoken, "One. Two.");
}

TEST_F(TextStreamTest, TagsHoldForTheTextBehindThem) {
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_TAGS);
  client.Write(request);
  client.Say("[voice:second]One.", true);
  EXPECT_EQ(client.Read(), "0 One.");
  client.Say("[rate:2]", true);  // speaks nothing
  client.Say("Two.[pause:1s]", true);
  EXPECT_EQ(client.Read(), "1 Two.");
  client.Say("Three.", true);
  EXPECT_EQ(client.Read(), "2 Three.");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  const auto seen = voice_.seen();
  ASSERT_EQ(seen.size(), 3U);
  for (const auto& input : seen) EXPECT_EQ(input.markup.parts.at(0).manner.voice, "second");
  EXPECT_EQ(seen[0].markup.parts[0].manner.speed, 1);
  EXPECT_EQ(seen[1].markup.parts[0].manner.speed, 2);
  EXPECT_EQ(seen[1].markup.pause_after, 1);
  EXPECT_EQ(seen[1].break_before, models::SpeechBreak::kSentence);
  // The pause of the tag is in place of the usual one.
  EXPECT_EQ(seen[2].break_before, models::SpeechBreak::kNone);
}

TEST_F(TextStreamTest, APauseThatStandsAloneIsHeard) {
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_TAGS);
  client.Write(request);
  client.Say("[pause:1s]", true);
  client.Say("Two.", true);
  client.Done();
  EXPECT_EQ(client.ReadAll(), (Strings{"0 ", "1 Two."}));
  EXPECT_EQ(client.bytes, 2U * (8000 + std::string("Two.").size()));
  EXPECT_TRUE(client.Finish().ok());
  // By itself it is a text too.
  TextStreamClient alone(server_);
  alone.Write(request);
  alone.Say("[pause:1s]");
  alone.Done();
  EXPECT_EQ(alone.ReadAll(), Strings{"0 "});
  EXPECT_EQ(alone.bytes, 2U * 8000);
  EXPECT_TRUE(alone.Finish().ok());
}

TEST_F(TextStreamTest, SsmlIsOneDocument) {
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("joe");
  request.mutable_config()->set_text_format(v1::SPEECH_TEXT_FORMAT_SSML);
  client.Write(request);
  for (const char* piece : {"<speak>One. Tw", "o. <break ti", "me='1s'/>Three.</spe", "ak>"})
    client.Say(piece);
  client.Done();
  EXPECT_EQ(client.ReadAll(), Strings{"0 One. Two.Three."});
  EXPECT_TRUE(client.Finish().ok());
  ASSERT_EQ(voice_.seen().size(), 1U);
  EXPECT_EQ(voice_.seen()[0].markup.parts.at(1).pause, 1);
}

TEST_F(TextStreamTest, MarksAreSpokenWithWhatFollows) {
  TextStreamClient client(server_);
  client.Configure();
  client.Say("... ", true);
  client.Say("Yes", true);
  EXPECT_EQ(client.Read(), "0 ... Yes");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
}

TEST_F(TextStreamTest, BadMessagesNameTheField) {
  struct Case {
    std::function<void(TextStreamClient&)> send;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](TextStreamClient& c) { c.Say("x"); }, "config: the first message must have it"},
      {[](TextStreamClient& c) { c.Done(); }, "config: the first message must have it"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Configure();
       },
       "config: is for the first message only"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Done();
       },
       "text: there is nothing to speak"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Say("?!");
         c.Done();
       },
       "text: there is nothing to speak"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Say(std::string("a\0", 2));
       },
       "text: has a NUL at byte 1"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Say(std::string(5001, 'x'));
       },
       "text: has 5001 characters; at most 5000"},
      {[](TextStreamClient& c) {
         c.Configure();
         c.Say(std::string(100'000, 'x'));
       },
       "text: the message has 100004 bytes; at most 65536"},
      {[](TextStreamClient& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_text("x");
         c.Write(request);
       },
       "config.text: must be empty"},
      {[](TextStreamClient& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_phonemes("x");
         c.Write(request);
       },
       "config.phonemes: must be empty"},
      {[](TextStreamClient& c) {
         v1::SynthesizeTextStreamRequest request;
         request.mutable_config()->set_sample_rate(7);
         c.Write(request);
       },
       "sample_rate: 7 is not allowed"},
  };
  for (const Case& bad : cases) {
    TextStreamClient client(server_);
    bad.send(client);
    const grpc::Status status = client.Finish();
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << bad.message;
    EXPECT_THAT(status.error_message(), HasSubstr(bad.message));
  }
  EXPECT_TRUE(voice_.seen().empty());
}

TEST_F(TextStreamTest, ABadVoiceIsToldBeforeAnyText) {
  server_.Add(VoiceInfo("strict"), {.validate = [](const models::Input&) {
                return absl::InvalidArgumentError("voice: has none");
              }});
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("strict");
  client.Write(request);
  EXPECT_EQ(client.Finish().error_message(), "voice: has none");
}

}  // namespace
}  // namespace millrace::server
