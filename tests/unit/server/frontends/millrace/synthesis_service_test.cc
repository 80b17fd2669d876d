#include "server/frontends/millrace/synthesis_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/models/audio/sound.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

// Emits a sentence of that many samples, all of them 0.5.
testing::ModelHooks::Hook Speak(std::vector<size_t> sentences) {
  return [sentences](models::Request& request) {
    for (size_t i = 0; i < sentences.size(); ++i) {
      models::SynthesizeOutput part = Sound(sentences[i]);
      part.sentence_index = i;
      part.text = "sentence " + std::to_string(i);
      request.Emit(std::move(part));
    }
    request.Finish(absl::OkStatus());
  };
}

// Emits a sentence in two pieces, then one in one, with a word and a phoneme each.
void SpeakWithTimes(models::Request& request) {
  for (size_t i = 0; i < 3; ++i) {
    models::SynthesizeOutput part = Sound(4000);
    part.sentence_index = i / 2;
    part.sentence_finished = i > 0;
    if (i != 1) {
      part.text = "sentence";
      part.words = {{"word", 800, 1600, 10 * i}};
      part.phonemes = {{"w", 0, 400}};
    }
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

// Spans as "text start-end/sentence@character".
std::string Shown(const google::protobuf::RepeatedPtrField<v1::SpokenSpan>& spans) {
  std::ostringstream shown;
  for (const v1::SpokenSpan& span : spans) {
    shown << span.text() << " " << span.start_seconds() << "-" << span.end_seconds() << "/"
          << span.sentence_index() << "@" << span.character_offset() << " ";
  }
  return shown.str();
}

class SynthesisServiceTest : public ::testing::Test {
 protected:
  grpc::Status Synthesize(const v1::SynthesizeRequest& request) {
    grpc::ClientContext context;
    return v1::SynthesisService::NewStub(server_.channel)
        ->Synthesize(&context, request, &response_);
  }
  std::vector<v1::StreamSynthesizeResponse> Stream(const v1::SynthesizeRequest& request,
                                                   grpc::Status& status) {
    const auto stub = v1::SynthesisService::NewStub(server_.channel);
    grpc::ClientContext context;
    const auto reader = stub->StreamSynthesize(&context, request);
    std::vector<v1::StreamSynthesizeResponse> all;
    for (v1::StreamSynthesizeResponse part; reader->Read(&part);) all.push_back(part);
    status = reader->Finish();
    return all;
  }
  static v1::SynthesizeRequest Say(const std::string& text) {
    v1::SynthesizeRequest request;
    request.set_text(text);
    return request;
  }

  TestServer server_;
  v1::SynthesizeResponse response_;
};

TEST_F(SynthesisServiceTest, AnswersWithAWaveFileOfAllSentences) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({4000, 8000})});
  const grpc::Status status = Synthesize(Say("One. Two."));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.model(), "joe");
  EXPECT_EQ(response_.voice(), "first");
  EXPECT_EQ(response_.encoding(), v1::AUDIO_ENCODING_WAV);
  EXPECT_EQ(response_.sample_rate(), 8000U);
  EXPECT_DOUBLE_EQ(response_.duration_seconds(), 1.5);
  EXPECT_EQ(response_.audio().size(), 44U + 2 * 12000);
  EXPECT_EQ(response_.audio().substr(0, 4), "RIFF");
  const auto metrics = server_.metrics.ForModel("joe");
  EXPECT_DOUBLE_EQ(metrics->audio_seconds.Value(), 1.5);
  EXPECT_EQ(metrics->first_audio_seconds.Collect().histogram.sample_count, 1U);
  EXPECT_EQ(metrics->characters.Value(), 20);
}

TEST_F(SynthesisServiceTest, WithoutAudioTheDurationIsZero) {
  server_.Add(VoiceInfo("joe"), {});
  ASSERT_TRUE(Synthesize(Say("?")).ok());
  EXPECT_EQ(response_.duration_seconds(), 0);
  EXPECT_EQ(response_.sample_rate(), 8000U);
  EXPECT_EQ(response_.audio().size(), 44U);
}

// Slow speech of a text within the limits can be longer than what one reply should hold.
TEST_F(SynthesisServiceTest, SpeechThatIsTooLongForOneReplyIsRefused) {
  constexpr size_t kHalf = 17 << 20;  // in 16-bit samples
  server_.Add(VoiceInfo("joe"), {.complete = Speak({kHalf, kHalf, 1})});
  const grpc::Status status = Synthesize(Say("x"));
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("use StreamSynthesize"));
}

TEST_F(SynthesisServiceTest, EncodesAsAsked) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({3})});
  auto request = Say("x");
  request.set_encoding(v1::AUDIO_ENCODING_PCM_S16LE);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(response_.audio().size(), 6U);
  request.set_encoding(v1::AUDIO_ENCODING_PCM_F32LE);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(response_.audio().size(), 12U);
}

TEST_F(SynthesisServiceTest, RequestReachesTheModel) {
  models::SynthesizeInput seen;
  models::ModelInfo info = VoiceInfo("joe");
  info.speech().languages = {"en", "ja"};
  server_.Add(info, {.prepare = [&](models::Request& request) {
                seen = std::get<models::SynthesizeInput>(request.input());
              }});
  auto request = Say("Ol\xC3\xA1");
  request.set_voice("second");
  request.set_language("ja");
  request.set_speed(2);
  request.set_noise_scale(0);
  request.set_noise_w(0.25F);
  request.set_seed(std::numeric_limits<uint64_t>::max());
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(seen.text, "Ol\xC3\xA1");
  EXPECT_EQ(seen.voice, "second");
  EXPECT_EQ(seen.language, "ja");
  EXPECT_EQ(seen.speed, 2);
  EXPECT_EQ(seen.noise_scale, 0);
  EXPECT_EQ(seen.noise_w, 0.25F);
  EXPECT_EQ(seen.seed, std::numeric_limits<uint64_t>::max());
  ASSERT_TRUE(Synthesize(Say("x")).ok());
  EXPECT_EQ(seen.voice, "first");
  EXPECT_EQ(seen.language, "");
  EXPECT_EQ(seen.speed, 1);
  EXPECT_LT(seen.noise_scale, 0);  // the voice's own
}

TEST_F(SynthesisServiceTest, TheLanguageIsLookedUpAmongTheModels) {
  models::SynthesizeInput seen;
  models::ModelInfo info = VoiceInfo("joe");
  info.speech().language = "en";
  info.speech().languages = {"en", "pt-BR", "fr-FR"};
  server_.Add(info, {.prepare = [&](models::Request& request) {
                seen = std::get<models::SynthesizeInput>(request.input());
              }});
  for (const auto& [asked, meant] : std::vector<std::pair<std::string, std::string>>{
           {"en-US", "en"}, {"EN", "en"}, {"pt_br", "pt-BR"}, {"pb", "pt-BR"}, {"fr", "fr-FR"}}) {
    auto request = Say("x");
    request.set_language(asked);
    ASSERT_TRUE(Synthesize(request).ok());
    EXPECT_EQ(seen.language, meant) << asked;
  }
  auto request = Say("x");
  request.set_language("de");
  EXPECT_THAT(Synthesize(request).error_message(),
              HasSubstr("language: no loaded model speaks 'de'"));
}

TEST_F(SynthesisServiceTest, PhonemesReachTheModelInPlaceOfTheText) {
  models::SynthesizeInput seen;
  server_.Add(VoiceInfo("joe"), {.prepare = [&](models::Request& request) {
                seen = std::get<models::SynthesizeInput>(request.input());
              }});
  v1::SynthesizeRequest request;
  request.set_phonemes("həlˈO.");
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(seen.text, "həlˈO.");
  EXPECT_TRUE(seen.is_phonemes);
  ASSERT_TRUE(Synthesize(Say("x")).ok());
  EXPECT_FALSE(seen.is_phonemes);
}

TEST_F(SynthesisServiceTest, TimesAreOfTheWholeAudio) {
  models::SynthesizeInput seen;
  server_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                seen = std::get<models::SynthesizeInput>(request.input());
                SpeakWithTimes(request);
              }});
  auto request = Say("x");
  request.set_sample_rate(16000);  // changes no time
  request.set_word_times(true);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_TRUE(seen.word_times);
  EXPECT_FALSE(seen.phoneme_times);
  EXPECT_EQ(Shown(response_.words()), "word 0.1-0.2/0@0 word 1.1-1.2/1@20 ");
  EXPECT_EQ(Shown(response_.phonemes()), "w 0-0.05/0@0 w 1-1.05/1@0 ");
  request.set_phoneme_times(true);
  request.set_sample_rate(0);
  grpc::Status status;
  const auto parts = Stream(request, status);
  EXPECT_TRUE(seen.phoneme_times);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(Shown(parts[0].words()), "word 0.1-0.2/0@0 ");
  EXPECT_EQ(Shown(parts[0].phonemes()), "w 0-0.05/0@0 ");
  EXPECT_EQ(Shown(parts[1].words()), "");
  EXPECT_EQ(Shown(parts[2].words()), "word 1.1-1.2/1@20 ");
}

TEST_F(SynthesisServiceTest, TimesComeWithTheFirstMessageOfAPieceThatIsCut) {
  server_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                models::SynthesizeOutput part = Sound(40'000);
                part.words = {{"word", 800, 1600, 0}};
                request.Emit(std::move(part));
                request.Finish(absl::OkStatus());
              }});
  grpc::Status status;
  const auto parts = Stream(Say("x"), status);
  ASSERT_GT(parts.size(), 1U);
  for (const auto& part : parts) EXPECT_EQ(part.words_size(), &part == &parts.front() ? 1 : 0);
}

TEST_F(SynthesisServiceTest, BadRequestsNameTheField) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({1})});
  server_.Add(InferInfo("null"), {});
  struct Case {
    std::function<void(v1::SynthesizeRequest&)> spoil;
    StatusCode code;
    std::string message;
  };
  const float nan = std::nanf("");
  const std::vector<Case> cases = {
      {[](auto& r) { r.clear_text(); }, StatusCode::INVALID_ARGUMENT, "text: is empty"},
      {[](auto& r) { r.set_text(std::string("a\0", 2)); }, StatusCode::INVALID_ARGUMENT,
       "text: has a NUL at byte 1"},
      {[](auto& r) { r.set_phonemes("x"); }, StatusCode::INVALID_ARGUMENT,
       "phonemes: must be empty when there is a text"},
      {[](auto& r) {
         r.clear_text();
         r.set_phonemes(std::string("a\0", 2));
       },
       StatusCode::INVALID_ARGUMENT, "phonemes: has a NUL at byte 1"},
      {[](auto& r) { r.set_encoding(static_cast<v1::AudioEncoding>(99)); },
       StatusCode::INVALID_ARGUMENT, "encoding: 99"},
      {[](auto& r) { r.set_sample_rate(7999); }, StatusCode::INVALID_ARGUMENT,
       "sample_rate: 7999 is not allowed; it is 0 (the voice's own) or 8000..48000"},
      {[](auto& r) {
         r.set_encoding(v1::AUDIO_ENCODING_OGG_OPUS);
         r.set_sample_rate(22050);
       },
       StatusCode::INVALID_ARGUMENT, "sample_rate: 22050 is not allowed; OGG_OPUS has"},
      {[](auto& r) { r.set_noise_scale(-1); }, StatusCode::INVALID_ARGUMENT, "noise_scale: is -1"},
      {[=](auto& r) { r.set_noise_w(nan); }, StatusCode::INVALID_ARGUMENT, "noise_w: is nan"},
      {[](auto& r) { r.set_model("nil"); }, StatusCode::NOT_FOUND, "'nil' is not loaded"},
      {[](auto& r) { r.set_model("null"); }, StatusCode::FAILED_PRECONDITION, "for infer"}};
  for (const Case& bad : cases) {
    auto request = Say("x");
    bad.spoil(request);
    const grpc::Status unary = Synthesize(request);
    EXPECT_EQ(unary.error_code(), bad.code) << bad.message;
    EXPECT_THAT(unary.error_message(), HasSubstr(bad.message));
    grpc::Status stream;
    EXPECT_TRUE(Stream(request, stream).empty());
    EXPECT_EQ(stream.error_message(), unary.error_message());
  }
}

// A stream may be longer: it is not held in memory.
TEST_F(SynthesisServiceTest, LengthOfATextIsLimited) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({1})});
  EXPECT_TRUE(Synthesize(Say(std::string(5'000, 'x'))).ok());
  EXPECT_EQ(Synthesize(Say(std::string(5'001, 'x'))).error_message(),
            "text: has 5001 characters; at most 5000 are allowed in a request");
  EXPECT_EQ(Synthesize(Say(std::string(1 << 20, 'x'))).error_code(), StatusCode::INVALID_ARGUMENT);
  grpc::Status status;
  EXPECT_EQ(Stream(Say(std::string(200'000, 'x')), status).size(), 1U);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(Stream(Say(std::string(200'001, 'x')), status).empty());
  EXPECT_EQ(status.error_message(),
            "text: has 200001 characters; at most 200000 are allowed in a request");
}

TEST_F(SynthesisServiceTest, StreamIsCutIntoPiecesThatAddUp) {
  constexpr size_t kSamples = 16'384 * 2 + 100;
  server_.Add(VoiceInfo("joe"), {.complete = Speak({kSamples, 10})});
  grpc::Status status;
  const auto parts = Stream(Say("One. Two."), status);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(parts.size(), 4U);
  size_t bytes = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].sentence_index(), 0U);
    EXPECT_EQ(parts[i].text(), i == 0 ? "sentence 0" : "");
    EXPECT_EQ(parts[i].sentence_finished(), i == 2);
    EXPECT_EQ(parts[i].sample_rate(), 8000U);
    EXPECT_EQ(parts[i].encoding(), v1::AUDIO_ENCODING_PCM_S16LE);
    bytes += parts[i].audio().size();
  }
  EXPECT_EQ(bytes, 2 * kSamples);
  EXPECT_EQ(parts[3].sentence_index(), 1U);
  EXPECT_EQ(parts[3].text(), "sentence 1");
  EXPECT_TRUE(parts[3].sentence_finished());
  const auto metrics = server_.metrics.ForModel("joe");
  EXPECT_EQ(metrics->first_audio_seconds.Collect().histogram.sample_count, 1U);
}

std::string AudioOf(const std::vector<v1::StreamSynthesizeResponse>& parts) {
  std::string audio;
  for (const auto& part : parts) audio += part.audio();
  return audio;
}

TEST_F(SynthesisServiceTest, EveryEncodingIsAFileAndAStreamOfTheWholeSpeech) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({8000, 8000})});
  const std::vector<std::pair<v1::AudioEncoding, int>> encodings = {
      {v1::AUDIO_ENCODING_WAV, SF_FORMAT_WAV},
      {v1::AUDIO_ENCODING_FLAC, SF_FORMAT_FLAC},
      {v1::AUDIO_ENCODING_MP3, SF_FORMAT_MPEG},
      {v1::AUDIO_ENCODING_OGG_OPUS, SF_FORMAT_OGG}};
  for (const auto& [encoding, format] : encodings) {
    auto request = Say("One. Two.");
    request.set_encoding(encoding);
    ASSERT_TRUE(Synthesize(request).ok());
    EXPECT_EQ(response_.encoding(), encoding);
    EXPECT_EQ(response_.sample_rate(), 8000U);
    EXPECT_DOUBLE_EQ(response_.duration_seconds(), 2);
    const models::Decoded file = models::Decode(response_.audio());
    EXPECT_EQ(file.format & SF_FORMAT_TYPEMASK, format) << encoding;
    EXPECT_EQ(file.frames, 16000) << encoding;

    grpc::Status status;
    const auto parts = Stream(request, status);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(parts.front().text(), "sentence 0");
    EXPECT_EQ(parts.back().sentence_index(), 1U);
    EXPECT_TRUE(parts.back().sentence_finished());
    for (const auto& part : parts) EXPECT_EQ(part.encoding(), encoding);
    const models::Decoded stream = models::Decode(AudioOf(parts));
    EXPECT_EQ(stream.rate, 8000);
    EXPECT_GE(stream.samples.size(), 16000U) << encoding;
    EXPECT_LE(stream.samples.size(), 18500U) << encoding;  // an MP3 keeps its padding
  }
}

TEST_F(SynthesisServiceTest, AStreamedWaveHasOneHeaderWithAnOpenLength) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({100, 50})});
  auto request = Say("One. Two.");
  request.set_encoding(v1::AUDIO_ENCODING_WAV);
  grpc::Status status;
  const std::string audio = AudioOf(Stream(request, status));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(audio.size(), 44U + 2 * 150);
  EXPECT_EQ(audio.substr(0, 8), "RIFF\xFF\xFF\xFF\xFF");
  EXPECT_EQ(audio.substr(36, 8), "data\xFF\xFF\xFF\xFF");
}

TEST_F(SynthesisServiceTest, SampleRateIsTheOneAskedFor) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({8000, 8000})});
  auto request = Say("One. Two.");
  request.set_encoding(v1::AUDIO_ENCODING_PCM_S16LE);
  request.set_sample_rate(24000);
  ASSERT_TRUE(Synthesize(request).ok());
  EXPECT_EQ(response_.sample_rate(), 24000U);
  EXPECT_EQ(response_.audio().size(), 2U * 48000);
  EXPECT_DOUBLE_EQ(response_.duration_seconds(), 2);
  grpc::Status status;
  const auto parts = Stream(request, status);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(AudioOf(parts).size(), 2U * 48000);
  for (const auto& part : parts) EXPECT_EQ(part.sample_rate(), 24000U);
  // The end that the resampler held back belongs to the last sentence.
  EXPECT_EQ(parts.back().sentence_index(), 1U);
  EXPECT_TRUE(parts.back().sentence_finished());
}

TEST_F(SynthesisServiceTest, LoudnessIsNormalizedWhenAsked) {
  server_.Add(VoiceInfo("joe"), {.complete = [](models::Request& request) {
                models::SynthesizeOutput part;
                part.sample_rate = 8000;
                part.samples = models::Sine(997, 8000, 2, 0.02F);
                request.Emit(std::move(part));
                request.Finish(absl::OkStatus());
              }});
  auto request = Say("x");
  const auto peak = [&] {
    EXPECT_TRUE(Synthesize(request).ok());
    const auto samples = models::Decode(response_.audio()).samples;
    return *std::max_element(samples.begin(), samples.end());
  };
  EXPECT_NEAR(peak(), 0.02, 0.001);
  request.set_normalize_loudness(true);
  EXPECT_NEAR(peak(), 0.159, 0.005);
}

TEST_F(SynthesisServiceTest, OneOfSeveralVoicesSpeaksForWhoNamesNone) {
  server_.Add(VoiceInfo("joe"), {.complete = Speak({1})});
  server_.Add(VoiceInfo("amy"), {.complete = Speak({1})});
  EXPECT_TRUE(Synthesize(Say("x")).ok());
}

}  // namespace
}  // namespace millrace::server
