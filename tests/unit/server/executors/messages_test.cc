#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "models/core/strings.h"
#include "models/translation/markup/source_sentences.h"
#include "server/executors/control_messages.h"
#include "server/executors/payload_fields.h"
#include "server/executors/step_messages.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

MessageFrame FrameOf(const FieldWriter& message) {
  MessageFrame frame{.header = message.header(), .behind = {}};
  for (const std::string_view piece : message.behind()) frame.behind += piece;
  return frame;
}

// The bytes of an input. Two inputs are equal if these are.
std::string Bytes(const models::Input& input) {
  FieldWriter written;
  written(input);
  return FrameOf(written).header + FrameOf(written).behind;
}

models::Input SentAndRead(const models::Input& input) {
  FieldWriter written;
  written(input);
  const MessageFrame frame = FrameOf(written);
  FieldReader reader(frame.header, frame.behind);
  models::Input read;
  reader(read);
  EXPECT_TRUE(reader.End().ok()) << reader.End();
  return read;
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

constexpr models::SpokenSoFar kSpoken{.bytes = 4, .sentences = 1};

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

TEST(PayloadFieldsTest, InputsComeBackAsTheyWere) {
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

TEST(PayloadFieldsTest, OutputsComeBackAsTheyWere) {
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

  std::vector<StepResult> sent(1);
  StepResult& result = sent.front();
  result.outputs = {speech, translation, tensors};
  result.outcome = absl::InvalidArgumentError("text: \xff is not allowed");
  result.work_done = 2.5;
  result.work_left = 1;
  const auto results = ReadResults(FrameOf(WriteResults(sent)), 1);
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

TEST(PayloadFieldsTest, ModelsComeBackAsTheyWere) {
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
    const std::string message = WriteControl(LoadedModel{.model = 4, .status = {}, .info = info});
    const auto read = ReadFromExecutor(message);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(WriteControl(*read), message);
    const auto& loaded = std::get<LoadedModel>(*read);
    EXPECT_EQ(loaded.model, 4U);
    EXPECT_EQ(loaded.info->task(), info.task());
    EXPECT_EQ(loaded.info->batching.linger, info.batching.linger);
    EXPECT_EQ(loaded.info->batching.full_work, 12.5);
  }
  EXPECT_THAT(std::string(Message(ReadFromExecutor(WriteControl(LoadedModel{})).status())),
              HasSubstr("a model that was loaded is not described"));
  info.batching.max_batch = 0;
  EXPECT_THAT(std::string(Message(ReadFromExecutor(WriteControl(LoadedModel{
                                                       .model = 4, .status = {}, .info = info}))
                                      .status())),
              HasSubstr("batches of no request"));
}

TEST(ControlMessagesTest, SettingsComeBackAsTheyWere) {
  ServerConfig settings;
  settings.models = "a,b=c";
  settings.device = runtime::DeviceType::kCuda;
  settings.device_numbers = {1};
  settings.workers = 3;
  settings.mode = runtime::ForwardMode::kSerial;
  settings.max_in_flight = 2;
  settings.accept_unsafe_concurrency = true;
  settings.safety_profile = "profile.json";
  settings.intra_op_threads = 4;
  settings.graph_cache_entries = 5;
  settings.graph_cache_bytes = 6;
  settings.graph_cache = runtime::GraphCachePolicy::kFrozen;
  settings.graph_cache_new_shape = runtime::NewShape::kRefuse;
  settings.translation_cache_bytes = 7;
  settings.translation_cache_entries = 8;
  settings.speech_cache_bytes = 9;
  settings.keep_packed_weights = false;
  settings.cpu_isa = kernels::InstructionSet::kAvx2;
  settings.require_libtorch = "2.6";
  settings.log_level = LogLevel::kDebug;
  settings.log_format = LogFormat::kJson;
  const auto read = ReadToExecutor(WriteControl(settings));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(std::get<ServerConfig>(*read), settings);
}

TEST(ControlMessagesTest, RefusesALevelThatThereIsNot) {
  const auto read = ReadToExecutor(WriteControl(PingOrder{static_cast<LogLevel>(77)}));
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr("unknown level of the log 77"));
}

std::vector<StepResult> TwoOutputs() {
  models::SynthesizeOutput speech;
  speech.sample_rate = 24'000;
  speech.samples = {0, 1};
  std::vector<StepResult> results(1);
  results[0].outputs = {speech, models::InferOutput{.outputs = {{.name = "y",
                                                                 .type = models::DataType::kFp32,
                                                                 .shape = {1},
                                                                 .data = "1234"}}}};
  results[0].outcome = absl::OkStatus();
  return results;
}

void ExpectRefused(const MessageFrame& frame, std::string_view says) {
  const auto read = ReadResults(frame, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << says;
  EXPECT_THAT(std::string(Message(read.status())), HasSubstr(std::string(says)));
}

TEST(StepMessagesTest, EachAnswerOutOfRangeIsOneClearError) {
  struct Broken {
    std::string_view says;
    void (*breaks)(std::vector<StepResult>& results);
  };
  static const auto tensor_of = [](std::vector<StepResult>& results) -> models::Tensor& {
    return std::get<models::InferOutput>(results[0].outputs[1]).outputs[0];
  };
  for (const Broken& broken : std::initializer_list<Broken>{
           {"2 results for 1 requests", [](auto& all) { all.emplace_back(); }},
           {"sample rate 0 is out of range",
            [](auto& all) {
              std::get<models::SynthesizeOutput>(all[0].outputs[0]).sample_rate = 0;
            }},
           {"unknown type of a tensor 200",
            [](auto& all) { tensor_of(all).type = static_cast<models::DataType>(200); }},
           {"shape is out of range", [](auto& all) { tensor_of(all).shape.push_back(-1); }},
           {"not those of its shape", [](auto& all) { tensor_of(all).shape.push_back(2); }},
           {"work is out of range", [](auto& all) { all[0].work_left = std::nan(""); }},
           {"work is out of range", [](auto& all) { all[0].work_done = -1; }},
       }) {
    std::vector<StepResult> results = TwoOutputs();
    ASSERT_TRUE(ReadResults(FrameOf(WriteResults(results)), 1).ok());
    broken.breaks(results);
    ExpectRefused(FrameOf(WriteResults(results)), broken.says);
  }
}

TEST(StepMessagesTest, EachBrokenAnswerIsOneClearError) {
  const std::vector<StepResult> results = TwoOutputs();
  const MessageFrame whole = FrameOf(WriteResults(results));
  // Its samples are eight bytes.
  const size_t samples = whole.header.find(std::string("\x8\0\0\0\0\0\0\0", 8));
  ASSERT_NE(samples, std::string::npos);
  const auto with = [&](size_t at, char value) {
    MessageFrame frame = whole;
    frame.header.at(at) = value;
    return frame;
  };
  ExpectRefused(with(samples, '\x7'), "a number is cut");
  ExpectRefused(with(samples + 7, '\xff'), "data are missing");
  // The lengths of the lists of results and of outputs, and the task of the first output.
  ExpectRefused(with(7, '\xff'), "data are missing");
  ExpectRefused(with(15, '\xff'), "data are missing");
  ExpectRefused(with(16, '\x9'), "unknown kind");
  // Behind the outcome's code are an empty message and the two numbers of work.
  ExpectRefused(with(whole.header.size() - 28, 'c'), "unknown status 99");
  MessageFrame frame = whole;
  frame.behind += 'x';
  ExpectRefused(frame, "belongs to nothing");
  frame.behind.resize(whole.behind.size() - 1);
  ExpectRefused(frame, "data are missing");
  frame = whole;
  frame.header += 'x';
  ExpectRefused(frame, "belongs to nothing");
  for (size_t size = 0; size < whole.header.size(); ++size)
    ExpectRefused({.header = whole.header.substr(0, size), .behind = whole.behind},
                  "data are missing");
}

TEST(StepMessagesTest, EachBrokenOrderIsOneClearError) {
  const auto order = [](const models::Input& input, const models::SpokenSoFar& spoken = kSpoken) {
    FieldWriter step;
    step(uint64_t{3});
    WriteRequest(5, TimePoint::max(), &input, step, spoken);
    return ReadStep(FrameOf(step));
  };
  const auto whole = order(FullSpeech());
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->model, 3U);
  EXPECT_EQ(whole->requests.at(0).id, 5U);
  EXPECT_EQ(whole->requests[0].expires, TimePoint::max());
  EXPECT_EQ(std::get<models::SynthesizeInput>(*whole->requests[0].input).spoken, kSpoken);
  const auto says = [](const auto& read) { return std::string(Message(read.status())); };
  const auto broken = [&](const auto& breaks) {
    models::SynthesizeInput input = FullSpeech();
    breaks(input);
    return says(order(input));
  };
  FieldWriter step;
  step(uint64_t{3});
  EXPECT_THAT(says(ReadStep(FrameOf(step))), HasSubstr("it has no request"));
  WriteRequest(5, TimePoint::max(), nullptr, step);
  WriteRequest(5, TimePoint::max(), nullptr, step);
  EXPECT_THAT(says(ReadStep(FrameOf(step))), HasSubstr("is in it twice"));
  EXPECT_THAT(broken([](auto& input) { input.break_before = static_cast<models::SpeechBreak>(9); }),
              HasSubstr("unknown break of a text 9"));
  EXPECT_THAT(says(order(FullSpeech(), {.bytes = 1000, .sentences = 1})),
              HasSubstr("more of a text was spoken than it has"));
  EXPECT_THAT(broken([](auto& input) { input.markup.parts[0].end = 1000; }),
              HasSubstr("a part of a text is out of it"));
  EXPECT_THAT(broken([](auto& input) { input.markup.readings[0].end = 2; }),
              HasSubstr("a reading is out of its text"));
  EXPECT_THAT(broken([](auto& input) { input.markup.anchors[1].byte = 1000; }),
              HasSubstr("an anchor is out of its text"));
  EXPECT_THAT(says(order(models::TranslateInput{.texts = {}})),
              HasSubstr("there is no text to translate"));
}

}  // namespace
}  // namespace millrace::server
