// SynthesizeOnline of RivaSpeechSynthesis.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/frontends/riva/riva_fixture.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

class RivaTextStreamTest : public RivaSpeechTest {
 protected:
  // Sends the messages and returns the end; what was spoken is in responses_.
  absl::Status Speak(const std::vector<Request>& requests) {
    testing::FakeCall call;
    for (const Request& request : requests) call.Send(request.SerializeAsString());
    call.EndMessages();
    call.Begin(service_, "SynthesizeOnline");
    absl::Status status = call.RunToEnd();
    responses_.clear();
    for (const std::string& message : call.written())
      EXPECT_TRUE(responses_.emplace_back().ParseFromString(message));
    return status;
  }
  std::string Spoken() const {
    std::string text;
    for (const models::SynthesizeInput& input : voice_.seen()) text += input.text;
    return text;
  }

  size_t AudioBytes() const {
    size_t bytes = 0;
    for (const Response& response : responses_) bytes += response.audio().size();
    return bytes;
  }

  std::vector<Response> responses_;
};

TEST_F(RivaTextStreamTest, OneMessageIsSpokenAtTheEndOfTheStream) {
  ASSERT_TRUE(Speak({Say("Hello there.")}).ok());
  ASSERT_EQ(responses_.size(), 1U);
  EXPECT_EQ(responses_[0].audio().size(), 2 * std::string("Hello there.").size());
  EXPECT_EQ(responses_[0].meta().text(), "Hello there.");
  EXPECT_EQ(backend_.Count("joe", Method::kRivaSynthesizeOnline, absl::StatusCode::kOk), 1);
}

TEST_F(RivaTextStreamTest, PiecesAreJoinedByASpace) {
  ASSERT_TRUE(Speak({Say("This is cut"), Say("at its white space."), Say("It goes on.")}).ok());
  EXPECT_EQ(Spoken(), "This is cut at its white space. It goes on.");
}

TEST_F(RivaTextStreamTest, WhiteSpaceOfAPieceIsKeptAndNoneAdded) {
  Request empty;
  ASSERT_TRUE(Speak({Say("One "), Say("two"), empty, Say("\nthree")}).ok());
  EXPECT_EQ(Spoken(), "One two\nthree");
}

TEST_F(RivaTextStreamTest, ASentenceIsSpokenWhenTheNextBegins) {
  testing::FakeCall call;
  call.Send(Say("It is done. We").SerializeAsString());
  call.Begin(service_, "SynthesizeOnline");
  const auto first = call.ReadOne();
  ASSERT_TRUE(first);
  Response response;
  ASSERT_TRUE(response.ParseFromString(*first));
  EXPECT_EQ(response.meta().text(), "It is done. ");
  call.EndMessages();
  EXPECT_TRUE(call.RunToEnd().ok());
  EXPECT_EQ(Spoken(), "It is done. We");
}

TEST_F(RivaTextStreamTest, LaterMessagesMayRepeatTheSettingsOrLeaveThemOut) {
  Request first = Say("One.");
  first.set_voice_name("kokoro.heart");
  first.set_sample_rate_hz(16000);
  first.mutable_id()->set_value("a");
  Request repeated = first;
  repeated.set_text("Two.");
  repeated.mutable_id()->set_value("b");
  Request bare;
  bare.set_text("Three.");
  ASSERT_TRUE(Speak({first, repeated, bare}).ok());
  EXPECT_EQ(Spoken(), "One. Two. Three.");
  for (const Response& response : responses_) EXPECT_EQ(response.id().value(), "a");
  Request other = first;
  other.set_voice_name("kokoro.alpha");
  const absl::Status status = Speak({first, other});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("must be those of the first"));
}

TEST_F(RivaTextStreamTest, TimesCountFromTheBeginningOfTheCall) {
  Request request = Say("It is done. We go.");
  request.set_enable_word_time_offsets(true);
  ASSERT_TRUE(Speak({request}).ok());
  std::vector<int> starts;
  for (const Response& response : responses_) {
    for (const auto& word : response.meta().words()) starts.push_back(word.start_time());
  }
  ASSERT_FALSE(starts.empty());
  EXPECT_TRUE(std::ranges::is_sorted(starts));
  EXPECT_EQ(starts.front(), 1);
}

TEST_F(RivaTextStreamTest, TheDictionaryIsForAllPieces) {
  Request first = Say("A tomato");
  first.set_voice_name("kokoro");
  first.set_custom_dictionary("tomato  t");
  Request second = first;
  second.set_text("and a tomato.");
  ASSERT_TRUE(Speak({first, second}).ok());
  EXPECT_EQ(Spoken(), "A [tomato](/t/) and a [tomato](/t/).");
}

TEST_F(RivaTextStreamTest, SsmlIsOneDocumentOfAllPieces) {
  Request settings = Say("");
  // Clients cut at white space, that within a tag too, and may send settings before the text.
  for (const std::vector<Request>& requests :
       {std::vector{Say("<speak"), Say("version='1.0'>It is done.<break"), Say("time='1s'/>"),
                    Say("We go.</speak>")},
        std::vector{settings, Say(" "),
                    Say("<speak>It is done.<break time='1s'/>We go.</speak>")}}) {
    ASSERT_TRUE(Speak(requests).ok());
    EXPECT_EQ(voice_.seen().back().text, "It is done.We go.");
    ASSERT_EQ(voice_.seen().back().markup.parts.size(), 2U);
    EXPECT_EQ(voice_.seen().back().markup.parts[1].pause, 1);
  }
  EXPECT_EQ(voice_.seen().size(), 2U);
  const absl::Status open = Speak({Say("<speak>It is"), Say("done.")});
  EXPECT_THAT(std::string(open.message()), HasSubstr("text: line 1, column"));
  // The beginning of a text has decided what it is.
  EXPECT_TRUE(Speak({Say("It is"), Say("<speak>.")}).ok());
  EXPECT_EQ(voice_.seen().back().text, "It is <speak>.");
}

TEST_F(RivaTextStreamTest, APauseThatStandsAloneIsHeard) {
  constexpr size_t kBytesOfPause = 2 * FakeVoice::kRate;
  Request tag = Say("[pause:1s]");
  (*tag.mutable_custom_configuration())["text_format"] = "tags";
  for (const Request& alone : {tag, Say("<speak><break time=\"1s\"/></speak>")}) {
    ASSERT_TRUE(Speak({alone}).ok()) << alone.text();
    EXPECT_EQ(AudioBytes(), kBytesOfPause) << alone.text();
  }
  // So is one between two texts.
  Request first = tag;
  first.set_text("One.");
  Request last = tag;
  last.set_text("Two.");
  ASSERT_TRUE(Speak({first, tag, last}).ok());
  EXPECT_EQ(AudioBytes(), 2 * Spoken().size() + kBytesOfPause);
}

TEST_F(RivaTextStreamTest, TagsHoldForThePiecesBehindThem) {
  Request first = Say("It is done. [voice:alpha]We");
  first.set_voice_name("kokoro.heart");
  (*first.mutable_custom_configuration())["text_format"] = "tags";
  Request second = first;
  second.set_text("go. On.");
  ASSERT_TRUE(Speak({first, second}).ok());
  EXPECT_EQ(Spoken(), "It is done. We go. On.");
  EXPECT_EQ(voice_.seen().back().markup.parts.back().manner.voice, "alpha");
  first.set_custom_dictionary("done  d");
  EXPECT_THAT(std::string(Speak({first}).message()),
              HasSubstr("custom_dictionary: must be empty for a text with markup"));
}

TEST_F(RivaTextStreamTest, WrongSettingsDoNotWaitForText) {
  testing::FakeCall call;
  Request html = Say("");
  (*html.mutable_custom_configuration())["text_format"] = "html";
  call.Send(html.SerializeAsString());
  call.Begin(service_, "SynthesizeOnline");
  EXPECT_THAT(std::string(call.RunToEnd().message()),
              HasSubstr("custom_configuration.text_format: 'html' is not allowed"));
}

TEST_F(RivaTextStreamTest, LongAudioComesInSeveralMessages) {
  ASSERT_TRUE(Speak({Say(std::string(20'000, 'a'))}).ok());
  size_t bytes = 0;
  for (const Response& response : responses_) {
    EXPECT_LE(response.audio().size(), 32U << 10);
    bytes += response.audio().size();
  }
  EXPECT_EQ(bytes, 40'000U);
  EXPECT_GE(responses_.size(), 2U);
}

TEST_F(RivaTextStreamTest, WrongMessagesEndTheCall) {
  Request opus = Say("Hello.");
  opus.set_encoding(nvidia::riva::OGGOPUS);
  opus.set_sample_rate_hz(22050);
  Request aria = Say("Hello.");
  aria.set_voice_name("aria");
  Request rate = Say("Hello.");
  rate.set_sample_rate_hz(7);
  const std::pair<std::vector<Request>, std::string> bad[] = {
      {{}, "text: there is nothing to speak"},
      {{Say("")}, "text: there is nothing to speak"},
      {{Say("...")}, "text: there is nothing to speak"},
      {{Say(std::string(100'000, 'a'))}, "text: the message has 100"},
      {{Say(std::string("a\0b", 3))}, "text: has a NUL"},
      {{opus}, "sample_rate_hz: 22050 is not allowed; OGG_OPUS has 0"},
      {{aria}, "voice_name: 'aria' is not available"},
      {{rate}, "sample_rate_hz: 7 is not allowed"}};
  for (const auto& [requests, words] : bad) {
    const absl::Status status = Speak(requests);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    EXPECT_TRUE(responses_.empty());
  }
}

TEST_F(RivaTextStreamTest, AClientThatLeavesEndsItsCall) {
  testing::FakeCall call;
  call.Send(Say("It is done. We").SerializeAsString());
  call.Begin(service_, "SynthesizeOnline");
  ASSERT_TRUE(call.ReadOne());
  call.Leave();
  call.RunToEnd().IgnoreError();  // nobody hears of it
  EXPECT_EQ(backend_.Count("joe", Method::kRivaSynthesizeOnline, absl::StatusCode::kCancelled), 1);
}

}  // namespace
}  // namespace millrace::server
