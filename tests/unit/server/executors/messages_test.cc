#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "models/translation/markup/source_sentences.h"
#include "server/executors/model_info_messages.h"
#include "server/executors/payload_messages.h"
#include "server/executors/step_messages.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

std::string Joined(const Behind& behind) {
  std::string all;
  for (const std::string_view piece : behind) all += piece;
  return all;
}

// The message of an input, as sent and read again. Two inputs are equal if their messages are.
std::string Bytes(const models::Input& input) {
  executor::v1::Input message;
  Behind behind;
  WriteInput(input, message, behind);
  return message.SerializeAsString() + Joined(behind);
}

models::Input SentAndRead(const models::Input& input) {
  executor::v1::Input message;
  Behind behind;
  WriteInput(input, message, behind);
  executor::v1::Input parsed;
  EXPECT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
  const std::string data = Joined(behind);
  BehindReader reader(data);
  auto read = ReadInput(parsed, reader);
  EXPECT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(reader.End().ok());
  return read.ok() ? *std::move(read) : models::Input();
}

std::shared_ptr<const models::PivotSentence> Pivot() {
  translation::MarkedText marked;
  marked.text = "Hello X1!";
  marked.events = {{0, translation::MarkEvent::Kind::kOpen, "<b>"},
                   {5, translation::MarkEvent::Kind::kClose, "</b>"}};
  marked.kept = {{6, 8, "{name}", {}, true}, {8, 9, "!", " - ", false}};
  marked.spellings = {{0, 1, "&#72;"}};
  marked.is_html = true;
  return std::make_shared<translation::TranslatedSentence>(marked, "\n");
}

models::TranslateInput FullTranslation() {
  models::TranslateInput input{.texts = {"One. Two.", ""}};
  input.source_language = "en";
  input.target_language = "pt-BR";
  input.search.beam_size = 4;
  input.search.length_penalty = 0.7F;
  input.search.max_target_tokens = 0;
  input.search.sampling = models::SamplingOverride{.temperature = 0.5F, .top_k = 3, .seed = 9};
  input.target_prefixes = {"Um", ""};
  input.format = models::TextFormat::kMarkdown;
  input.glossary = {{"cat", "gato"}};
  input.do_not_translate = {"Millrace"};
  input.partial = true;
  input.use_cache = false;
  input.for_pivot = true;
  input.first_soon = true;
  input.pivot_sentences = {nullptr, Pivot()};
  return input;
}

models::SynthesizeInput FullSpeech() {
  models::SynthesizeInput input;
  input.text = "Good morning.";
  input.is_phonemes = true;
  input.language = "en-GB";
  input.voice = "a:0.3+b:0.7";
  input.speed = 1.5F;
  input.noise_scale = 0.25F;
  input.noise_w = 0.5F;
  input.seed = std::numeric_limits<uint64_t>::max();
  input.streamed = true;
  input.first_sentence = 3;
  input.spoken = {.bytes = 4, .sentences = 1};
  input.part_of_text = true;
  input.break_before = models::SpeechBreak::kClause;
  input.sentence_pause = 0.125F;
  input.paragraph_pause = 2;
  input.word_times = true;
  input.phoneme_times = true;
  input.use_cache = false;
  input.markup.parts = {{.begin = 0,
                         .end = 4,
                         .manner = {.voice = "c",
                                    .language = "fr",
                                    .speed = 2,
                                    .gain_db = -std::numeric_limits<float>::infinity()},
                         .pause = 0.5,
                         .break_before = models::SpeechBreak::kParagraph}};
  input.markup.readings = {{.begin = 5,
                            .end = 12,
                            .written = "a.m.",
                            .phonemes = "m",
                            .is_ipa = true,
                            .place = "line 1"}};
  input.markup.anchors = {{0, 0}, {5, 9}};
  input.markup.pause_after = 1.5;
  return input;
}

TEST(PayloadMessagesTest, InputsComeBackAsTheyWere) {
  const models::InferInput infer{
      .inputs = {{.name = "x", .type = models::DataType::kInt32, .shape = {2}, .data = "12345678"},
                 {.name = "s", .type = models::DataType::kBytes, .shape = {1}, .data = "abcde"},
                 {.name = "none", .type = models::DataType::kFp32, .shape = {0, 3}, .data = ""}},
      .requested_outputs = {"y"}};
  for (const models::Input& input :
       {models::Input(infer), models::Input(FullTranslation()), models::Input(FullSpeech()),
        models::Input(models::TranslateInput{.texts = {"a"}}),
        models::Input(models::SynthesizeInput{})}) {
    EXPECT_EQ(Bytes(SentAndRead(input)), Bytes(input));
  }
  // A field that is written nowhere would be missing in both messages.
  const models::Input read = SentAndRead(FullSpeech());
  const auto& speech = std::get<models::SynthesizeInput>(read);
  EXPECT_EQ(speech.seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(speech.spoken, FullSpeech().spoken);
  EXPECT_EQ(speech.markup.parts.at(0).manner, FullSpeech().markup.parts[0].manner);
  EXPECT_EQ(speech.markup.readings.at(0).phonemes, "m");
  const models::Input translated = SentAndRead(FullTranslation());
  const auto& translation = std::get<models::TranslateInput>(translated);
  EXPECT_EQ(translation.search, FullTranslation().search);
  EXPECT_EQ(translation.glossary, FullTranslation().glossary);
  EXPECT_EQ(translation.pivot_sentences.at(0), nullptr);
  const auto* pivot =
      static_cast<const translation::TranslatedSentence*>(translation.pivot_sentences.at(1).get());
  EXPECT_EQ(pivot->marked.text, "Hello X1!");
  EXPECT_EQ(pivot->marked.kept.at(1).reads, " - ");
  EXPECT_FALSE(pivot->marked.kept.at(0).reads.has_value());
  EXPECT_EQ(pivot->behind, "\n");
}

TEST(PayloadMessagesTest, OutputsComeBackAsTheyWere) {
  models::SynthesizeOutput speech;
  speech.sample_rate = 24'000;
  speech.samples = {0.5F, -1, 1e-30F};
  speech.sentence_index = 4;
  speech.text = "Hi.";
  speech.sentence_finished = false;
  speech.words = {{"Hi", 1, 2, 3}};
  speech.phonemes = {{"h", 1, 2, 0}};
  speech.spoken = {.bytes = 8, .sentences = 5};
  models::TranslateOutput translation;
  translation.text_index = 1;
  translation.text = "Oi. ";
  translation.text_finished = true;
  translation.source_tokens = 3;
  translation.target_tokens = 4;
  translation.sentence_finished = false;
  translation.score = -0.5F;
  translation.alternatives = {{"Ola", -1}, {"Ei", -2}};
  translation.lost = {"*"};
  translation.pivot_sentence = Pivot();
  const models::InferOutput tensors{
      .outputs = {{.name = "y", .type = models::DataType::kFp32, .shape = {1}, .data = "1234"}}};

  StepResult result;
  result.outputs = {speech, translation, tensors};
  result.outcome = absl::InvalidArgumentError("text: \xff is not allowed");
  result.work_done = 2.5;
  result.work_left = 1;
  executor::v1::StepDone message;
  Behind behind;
  WriteResult(result, message, behind);
  executor::v1::StepDone parsed;
  ASSERT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
  const auto results = ReadStepDone(parsed, Joined(behind), 1);
  ASSERT_TRUE(results.ok()) << results.status();
  const StepResult& read = results->at(0);
  EXPECT_EQ(read.outcome, result.outcome);
  EXPECT_EQ(read.work_done, 2.5);
  EXPECT_EQ(read.work_left, 1);
  ASSERT_EQ(read.outputs.size(), 3U);
  const auto& heard = std::get<models::SynthesizeOutput>(read.outputs[0]);
  EXPECT_EQ(heard.samples, speech.samples);
  EXPECT_EQ(heard.words, speech.words);
  EXPECT_EQ(heard.phonemes, speech.phonemes);
  EXPECT_EQ(heard.spoken, speech.spoken);
  EXPECT_EQ(heard.sentence_index, 4U);
  EXPECT_FALSE(heard.sentence_finished);
  const auto& text = std::get<models::TranslateOutput>(read.outputs[1]);
  EXPECT_EQ(text.alternatives, translation.alternatives);
  EXPECT_EQ(text.lost, translation.lost);
  EXPECT_TRUE(text.text_finished);
  EXPECT_NE(text.pivot_sentence, nullptr);
  EXPECT_EQ(std::get<models::InferOutput>(read.outputs[2]).outputs.at(0).data, "1234");
}

TEST(PayloadMessagesTest, ModelsComeBackAsTheyWere) {
  models::ModelInfo info;
  info.name = "voice";
  info.version = 3;
  info.platform = "kokoro";
  info.license = "Apache-2.0";
  info.batching = {.max_batch = 8,
                   .linger = std::chrono::microseconds(250),
                   .queue_size = 9,
                   .continuous = true,
                   .divided = true,
                   .full_work = 12.5};
  models::SpeechInfo speech;
  speech.voices = {"a", "b"};
  speech.language = "en";
  speech.languages = {"en", "fr"};
  speech.voice_languages = {"en", "fr"};
  speech.default_voices = {{"fr", "b"}};
  speech.speech_cost = 3;
  speech.sample_rate = 24'000;
  speech.pronunciation_languages = {"en"};
  speech.min_speed = 0.5F;
  speech.max_speed = 2;
  speech.precision = "int8";
  speech.int8_distance_db = 0.25F;
  models::TranslationInfo translation;
  translation.source_language = "en";
  translation.target_languages = {"pt", "de"};
  translation.max_hypotheses = 5;
  const models::InferInfo infer{.inputs = {{"x", models::DataType::kBf16, {-1, 3}}}, .outputs = {}};
  for (const models::ModelDetails& details : std::initializer_list<models::ModelDetails>{
           speech, translation, infer, models::InferInfo{}}) {
    info.details = details;
    executor::v1::ModelInfo message;
    WriteModelInfo(info, message);
    const auto read = ReadModelInfo(message);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->task(), info.task());
    executor::v1::ModelInfo again;
    WriteModelInfo(*read, again);
    EXPECT_EQ(again.SerializeAsString(), message.SerializeAsString());
    EXPECT_EQ(read->batching.linger, info.batching.linger);
    EXPECT_EQ(read->batching.full_work, 12.5);
  }
}

// A message that something has broken, and a part of what is said of it.
struct Broken {
  std::string_view says;
  void (*breaks)(executor::v1::StepDone& message, std::string& behind);
};

TEST(StepMessagesTest, EachBrokenAnswerIsOneClearError) {
  models::SynthesizeOutput speech;
  speech.sample_rate = 24'000;
  speech.samples = {0, 1};
  StepResult result;
  result.outputs = {speech, models::InferOutput{.outputs = {{.name = "y",
                                                             .type = models::DataType::kFp32,
                                                             .shape = {1},
                                                             .data = "1234"}}}};
  result.outcome = absl::OkStatus();
  for (const Broken& broken : std::initializer_list<Broken>{
           {"2 results for 1 requests", [](auto&m, auto&) { m.add_results(); }},
           {"data are missing", [](auto&, auto&behind) { behind.pop_back(); }},
           {"belong to nothing", [](auto&, auto&behind) { behind += 'x'; }},
           {"has no task",
            [](auto&m, auto&) { m.mutable_results(0)->mutable_outputs(0)->Clear(); }},
           {"sample is cut",
            [](auto&m, auto&behind) {
              m.mutable_results(0)->mutable_outputs(0)->mutable_synthesize()->set_samples_bytes(7);
              behind.pop_back();
            }},
           {"sample rate 0 is out of range",
            [](auto&m, auto&) {
              m.mutable_results(0)->mutable_outputs(0)->mutable_synthesize()->set_sample_rate(0);
            }},
           {"data are missing",
            [](auto&m, auto&) {
              m.mutable_results(0)->mutable_outputs(0)->mutable_synthesize()->set_samples_bytes(
                  UINT64_MAX);
            }},
           {"unknown type of a tensor 200",
            [](auto&m, auto&) {
              m.mutable_results(0)
                  ->mutable_outputs(1)
                  ->mutable_infer()
                  ->mutable_outputs(0)
                  ->set_type(200);
            }},
           {"shape is out of range",
            [](auto&m, auto&) {
              m.mutable_results(0)
                  ->mutable_outputs(1)
                  ->mutable_infer()
                  ->mutable_outputs(0)
                  ->add_shape(-1);
            }},
           {"not those of its shape",
            [](auto&m, auto&) {
              m.mutable_results(0)
                  ->mutable_outputs(1)
                  ->mutable_infer()
                  ->mutable_outputs(0)
                  ->add_shape(2);
            }},
           {"unknown status",
            [](auto&m, auto&) { m.mutable_results(0)->mutable_outcome()->set_code(99); }},
           {"work is out of range",
            [](auto&m, auto&) { m.mutable_results(0)->set_work_left(std::nan("")); }},
           {"work is out of range", [](auto&m, auto&) { m.mutable_results(0)->set_work_done(-1); }},
       }) {
    executor::v1::StepDone message;
    Behind pieces;
    WriteResult(result, message, pieces);
    std::string behind = Joined(pieces);
    ASSERT_TRUE(ReadStepDone(message, behind, 1).ok());
    broken.breaks(message, behind);
    const auto read = ReadStepDone(message, behind, 1);
    EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << broken.says;
    EXPECT_THAT(std::string(Message(read.status())), HasSubstr(std::string(broken.says)));
  }
}

TEST(StepMessagesTest, EachBrokenOrderIsOneClearError) {
  const auto order = [](const auto& breaks) {
    const models::Input input = FullSpeech();
    executor::v1::Step step;
    Behind behind;
    WriteRequest(5, TimePoint::max(), &input, step, behind);
    breaks(step);
    return ReadStep(step, Joined(behind));
  };
  const auto whole = order([](auto&) {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->requests.at(0).id, 5U);
  EXPECT_EQ(whole->requests[0].expires, TimePoint::max());
  const auto says = [&](const auto& breaks) {
    return std::string(Message(order(breaks).status()));
  };
  using Step = executor::v1::Step;
  const auto speech = [](Step& step) {
    return step.mutable_requests(0)->mutable_input()->mutable_synthesize();
  };
  EXPECT_THAT(says([](Step& step) { step.clear_requests(); }), HasSubstr("it has no request"));
  EXPECT_THAT(says([](Step& step) { *step.add_requests() = step.requests(0); }),
              HasSubstr("is in it twice"));
  EXPECT_THAT(says([&](Step& step) { speech(step)->set_break_before(9); }),
              HasSubstr("unknown break of a text 9"));
  EXPECT_THAT(says([&](Step& step) { speech(step)->mutable_spoken()->set_bytes(1000); }),
              HasSubstr("more of a text was spoken than it has"));
  EXPECT_THAT(says([&](Step& step) { speech(step)->mutable_parts(0)->set_end(1000); }),
              HasSubstr("a part of a text is out of it"));
  EXPECT_THAT(says([&](Step& step) { speech(step)->mutable_readings(0)->set_end(2); }),
              HasSubstr("a reading is out of its text"));
  EXPECT_THAT(says([&](Step& step) { speech(step)->mutable_anchors(1)->set_byte(1000); }),
              HasSubstr("an anchor is out of its text"));
  EXPECT_THAT(
      says([](Step& step) { step.mutable_requests(0)->mutable_input()->mutable_translate(); }),
      HasSubstr("there is no text to translate"));
}

}  // namespace
}  // namespace millrace::server
