// The unary calls of RivaSpeechSynthesis.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "tests/unit/server/frontends/riva/riva_fixture.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

class RivaSynthesisTest : public RivaSpeechTest {
 protected:
  absl::Status Synthesize(const Request& request) {
    testing::FakeCall call(request.SerializeAsString());
    call.Begin(service_, "Synthesize");
    const absl::Status status = call.RunToEnd();
    EXPECT_TRUE(!status.ok() || response_.ParseFromString(call.reply()));
    return status;
  }

  Response response_;
};

TEST_F(RivaSynthesisTest, AnswersWithSamplesWithoutAHeader) {
  Request request = Say("Hello there.");
  request.set_encoding(nvidia::riva::LINEAR_PCM);
  request.mutable_id()->set_value("mine");
  ASSERT_TRUE(Synthesize(request).ok());
  ASSERT_EQ(response_.audio().size(), 2 * std::string("Hello there.").size());
  EXPECT_EQ(response_.audio().substr(0, 2), std::string("\x00\x40", 2));  // a half
  EXPECT_EQ(response_.id().value(), "mine");
  EXPECT_EQ(response_.meta().text(), "Hello there.");
  EXPECT_EQ(response_.meta().words_size(), 0);
  const auto seen = voice_.seen();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].voice, "joe");
  EXPECT_EQ(seen[0].language, "en-US");
  EXPECT_FALSE(seen[0].word_times);
}

TEST_F(RivaSynthesisTest, ResamplesToTheRateThatIsAskedFor) {
  Request request = Say(std::string(800, 'a'));
  request.set_sample_rate_hz(44100);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_NEAR(static_cast<double>(response_.audio().size()), 2 * 4410, 4);
}

TEST_F(RivaSynthesisTest, LawsHaveAByteASample) {
  for (const auto& [encoding, half] :
       {std::pair{nvidia::riva::MULAW, '\x8F'}, {nvidia::riva::ALAW, '\xA5'}}) {
    Request request = Say("Hello.");
    request.set_encoding(encoding);
    ASSERT_TRUE(Synthesize(request).ok());
    EXPECT_EQ(response_.audio(), std::string(6, half)) << encoding;
  }
}

TEST_F(RivaSynthesisTest, FlacIsAWholeFile) {
  Request request = Say("Hello.");
  request.set_encoding(nvidia::riva::FLAC);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(response_.audio().substr(0, 4), "fLaC");
}

TEST_F(RivaSynthesisTest, OpusIsPacketsAfterTheirLengths) {
  Request request = Say(std::string(FakeVoice::kRate / 2, 'a'));
  request.set_encoding(nvidia::riva::OGGOPUS);
  ASSERT_TRUE(Synthesize(request).ok());
  const std::string& audio = response_.audio();
  size_t packets = 0;
  size_t at = 0;
  while (at + 4 <= audio.size()) {
    ASSERT_EQ(audio.substr(at + 2, 2), std::string(2, '\0')) << at;  // all are short
    at += 4 + static_cast<unsigned char>(audio[at]) +
          256U * static_cast<unsigned char>(audio[at + 1]);
    ++packets;
  }
  EXPECT_EQ(at, audio.size());
  EXPECT_NEAR(static_cast<double>(packets), 26, 2);  // packets of 20 ms
}

TEST_F(RivaSynthesisTest, WordsHaveTheirTimesInMilliseconds) {
  Request request = Say("Hello.");
  request.set_enable_word_time_offsets(true);
  ASSERT_TRUE(Synthesize(request).ok());
  ASSERT_EQ(response_.meta().words_size(), 1);
  const auto& word = response_.meta().words(0);
  EXPECT_EQ(word.word(), "Hello.");
  EXPECT_EQ(word.start_time(), 1);
  EXPECT_EQ(word.end_time(), 2);
}

TEST_F(RivaSynthesisTest, PronouncesWordsOfTheDictionary) {
  Request request = Say("A tomato.");
  request.set_voice_name("kokoro.heart");
  request.set_custom_dictionary("tomato  təmˈɑtO");
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(voice_.seen().at(0).text, "A [tomato](/təmˈɑtO/).");
  // A model that cannot is not asked to read the marks.
  request.set_voice_name("joe");
  const absl::Status piper = Synthesize(request);
  EXPECT_EQ(std::string(piper.message()),
            "custom_dictionary: model 'joe' takes no pronunciations in the language 'en-US'");
  request.set_voice_name("kokoro.alpha");
  request.set_language_code("ja-JP");
  EXPECT_EQ(Synthesize(request).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(voice_.seen().size(), 1U);
}

TEST_F(RivaSynthesisTest, ATextInSpeakIsSsml) {
  for (const char* begin : {"<speak>", "\n<speak version='1.0'>", "<?xml version='1.0'?><speak>"}) {
    ASSERT_TRUE(Synthesize(Say(StrCat(begin, "One.<break time='1s'/>Two.</speak>"))).ok()) << begin;
    const models::SynthesizeInput input = voice_.seen().back();
    EXPECT_EQ(input.text, "One.Two.");
    ASSERT_EQ(input.markup.parts.size(), 2U);
    EXPECT_EQ(input.markup.parts[1].pause, 1);
    EXPECT_EQ(response_.meta().text(), "One.Two.");
  }
  for (const char* plain : {"<speaker> One.", "One <speak>.", "[pause:1s] One."}) {
    ASSERT_TRUE(Synthesize(Say(plain)).ok());
    EXPECT_EQ(voice_.seen().back().text, plain);
  }
}

TEST_F(RivaSynthesisTest, TheConfigurationSaysWhatATextIs) {
  Request request = Say("<speak>[pause:1s]One.</speak>");
  auto& format = (*request.mutable_custom_configuration())["text_format"];
  format = "text";
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(voice_.seen().back().text, request.text());
  format = "tags";
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(voice_.seen().back().text, "<speak>One.</speak>");
  format = "ssml";
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(voice_.seen().back().text, "[pause:1s]One.");
  request.set_text("One.");
  EXPECT_THAT(std::string(Synthesize(request).message()), HasSubstr("text: line 1, column 1"));
  // A word may stand in a tag, where it is not pronounced.
  request = Say("<speak>A break.</speak>");
  request.set_voice_name("kokoro");
  request.set_custom_dictionary("break  b");
  EXPECT_THAT(std::string(Synthesize(request).message()),
              HasSubstr("custom_dictionary: must be empty for a text with markup"));
}

TEST_F(RivaSynthesisTest, WrongFieldsAreNamedAsRivaNamesThem) {
  using Change = std::function<void(Request&)>;
  const std::pair<Change, std::string> bad[] = {
      {[](Request& r) { r.clear_text(); }, "text: is empty"},
      {[](Request& r) { r.set_text(std::string("a\0b", 3)); }, "text: has a NUL"},
      {[](Request& r) { r.set_text(std::string(5001, 'a')); }, "text: has 5001 characters"},
      {[](Request& r) { r.set_encoding(static_cast<nvidia::riva::AudioEncoding>(7)); },
       "encoding: 7 is not supported; LINEAR_PCM (1), FLAC (2), MULAW (3), OGGOPUS (4)"},
      {[](Request& r) {
         r.set_encoding(nvidia::riva::OGGOPUS);
         r.set_sample_rate_hz(44100);
       },
       "sample_rate_hz: 44100 is not allowed; OGG_OPUS has 0 (the next to the voice's own) or "
       "8000, 12000, 16000, 24000, 48000 hertz"},
      {[](Request& r) { r.set_sample_rate_hz(-1); }, "sample_rate_hz: -1 is not allowed"},
      {[](Request& r) { r.set_sample_rate_hz(96000); }, "sample_rate_hz: 96000 is not allowed"},
      {[](Request& r) { r.set_voice_name("aria"); }, "voice_name: 'aria' is not available"},
      {[](Request& r) { r.mutable_zero_shot_data()->set_audio_prompt("x"); },
       "zero_shot_data.audio_prompt: must be empty"},
      {[](Request& r) { (*r.mutable_custom_configuration())["pitch"] = "2"; },
       "custom_configuration: has the key 'pitch'; only text_format is known here"},
      {[](Request& r) { (*r.mutable_custom_configuration())["text_format"] = "SSML"; },
       "custom_configuration.text_format: 'SSML' is not allowed; it is text, tags or ssml"},
      {[](Request& r) { r.set_custom_dictionary("word"); }, "custom_dictionary: the entry 'word'"}};
  for (const auto& [change, words] : bad) {
    Request request = Say("Hello.");
    change(request);
    const absl::Status status = Synthesize(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << words;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
  EXPECT_TRUE(voice_.seen().empty());
  EXPECT_EQ(backend_.Count("", Method::kRivaSynthesize, absl::StatusCode::kInvalidArgument),
            std::size(bad));
}

TEST_F(RivaSynthesisTest, AnEmptyPromptIsNone) {
  Request request = Say("Hello.");
  request.mutable_zero_shot_data()->set_quality(20);
  EXPECT_TRUE(Synthesize(request).ok());
}

TEST_F(RivaSynthesisTest, AnErrorOfTheModelNamesRivasField) {
  TestBackend backend;
  backend.Add(PiperInfo(), {.validate = [](const models::Input&) {
                return absl::InvalidArgumentError("language: 'xx' is not allowed");
              }});
  RivaSynthesisService service(backend.services());
  testing::FakeCall call(Say("Hello.").SerializeAsString());
  call.Begin(service, "Synthesize");
  EXPECT_EQ(std::string(call.RunToEnd().message()), "language_code: 'xx' is not allowed");
}

TEST_F(RivaSynthesisTest, ListsItsVoices) {
  testing::FakeCall call("");
  call.Begin(service_, "GetRivaSynthesisConfig");
  ASSERT_TRUE(call.RunToEnd().ok());
  nvidia::riva::tts::RivaSynthesisConfigResponse response;
  ASSERT_TRUE(response.ParseFromString(call.reply()));
  EXPECT_EQ(response.model_config_size(), 3);
}

}  // namespace
}  // namespace millrace::server
