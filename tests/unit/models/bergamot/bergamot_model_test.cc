#include "models/bergamot/bergamot_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "models/bergamot/bergamot_weights.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/run_model.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::bergamot {
namespace {

using ::testing::HasSubstr;

using Sink = testing::Collector<models::TranslateOutput>;

std::string TextOf(const Sink& sink, size_t index) {
  std::string text;
  for (const models::TranslateOutput& part : sink.parts) {
    if (part.text_index == index) text += part.text;
  }
  return text;
}

class BergamotModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.weights_file = folder_.path() / "weights.safetensors";
    options_.vocabulary_file = folder_.path() / "vocab.spm";
    options_.max_length_factor = 1.5F;
    WriteSafetensors(options_.weights_file, MakeTinyTensors(3));
    std::filesystem::copy_file(TestDataFolder() / "tiny.spm", options_.vocabulary_file);
  }

  std::unique_ptr<models::Model> Load() {
    models::ModelInfo info;
    info.name = "tiny";
    info.details = models::TranslationInfo();
    info.batching.max_batch = 4;
    auto model = BergamotModel::Load(options_, info);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
  std::string LoadError() {
    const auto model = BergamotModel::Load(options_, {});
    return model.ok() ? "no error" : std::string(model.status().message());
  }

  std::unique_ptr<models::Request> MakeRequest(std::vector<std::string> texts, Sink& sink,
                                               TimePoint deadline = TimePoint::max()) {
    return std::make_unique<models::Request>(models::TranslateInput{std::move(texts)}, deadline,
                                             sink, clock_);
  }

  const testing::TemporaryFolder folder_;
  BergamotOptions options_;
  millrace::testing::FakeClock clock_;
  models::FakeWorkerContext context_;
};

TEST_F(BergamotModelTest, SaysWhatItIs) {
  const auto model = Load();
  EXPECT_EQ(model->info().task(), models::Task::kTranslation);
  EXPECT_EQ(model->info().platform, "bergamot");
  EXPECT_EQ(model->info().name, "tiny");
}

TEST_F(BergamotModelTest, DamagedFilesAreErrorsThatNameThem) {
  std::filesystem::resize_file(options_.vocabulary_file, 100);
  EXPECT_THAT(LoadError(), HasSubstr("vocab.spm"));
  std::filesystem::remove(options_.vocabulary_file);
  EXPECT_THAT(LoadError(), HasSubstr("vocab.spm"));
  std::ofstream(options_.weights_file, std::ios::trunc) << "not weights at all";
  EXPECT_THAT(LoadError(), HasSubstr("weights.safetensors"));
}

TEST_F(BergamotModelTest, AVocabularyOfAnotherSizeIsAnError) {
  TinyTensors tensors = MakeTinyTensors(3);
  tensors["Wemb"].shape = {kTinyTokens - 1, kTinyDim};
  tensors["Wemb"].bytes.resize((kTinyTokens - 1) * kTinyDim);
  tensors["decoder_ff_logit_out_b"] = FloatTensor(std::vector<float>(kTinyTokens - 1));
  tensors["shortlist.offsets"] = IntTensor(std::vector<int32_t>(kTinyTokens));
  tensors["shortlist.ids"] = IntTensor({1});
  WriteSafetensors(options_.weights_file, tensors);
  EXPECT_THAT(LoadError(), HasSubstr("72 pieces, but the weights have 71 tokens"));
}

class TwoVocabulariesTest : public BergamotModelTest {
 protected:
  static constexpr int32_t kSourceTokens = 48;  // the size of tiny-de.spm

  void SetUp() override {
    BergamotModelTest::SetUp();
    TinyTensors tensors = MakeTinyTensors(3);
    std::vector<int32_t> rows(kSourceTokens);
    std::iota(rows.begin(), rows.end(), 0);
    SplitVocabulary(rows, tensors);
    WriteSafetensors(options_.weights_file, tensors);
    std::filesystem::rename(options_.vocabulary_file, folder_.path() / "target.spm");
    options_.target_vocabulary_file = folder_.path() / "target.spm";
    std::filesystem::copy_file(TestDataFolder() / "tiny-de.spm", options_.vocabulary_file);
  }
};

TEST_F(TwoVocabulariesTest, TheTextIsReadInOneAndTheTranslationWrittenInTheOther) {
  const auto target = translation::Vocabulary::Load(options_.target_vocabulary_file, kTinyTokens);
  const auto source = translation::Vocabulary::Load(options_.vocabulary_file, kSourceTokens);
  ASSERT_TRUE(target.ok() && source.ok());
  const std::string text = "der hund";
  ASSERT_TRUE((*source)->AnyKnown((*source)->Encode(text, 80).tokens));
  const auto weights = BergamotWeights::Load(options_.weights_file);
  ASSERT_TRUE(weights.ok()) << weights.status();
  translation::SentenceJob job = MakeSentenceJob((*source)->Encode(text, 80).tokens, 1.5F);
  job.max_target = 6;
  MakeEngine(options_.engine, **weights)
      ->Translate(
          {&job, 1}, [](size_t) { return false; }, context_);
  ASSERT_FALSE(job.target.empty());

  const auto model = Load();
  Sink sink;
  models::TranslateInput input{{text}};
  input.search.max_target_tokens = 6;
  models::Request request(std::move(input), TimePoint::max(), sink, clock_);
  EXPECT_TRUE(testing::RunToEnd(*model, request).ok());
  std::string translated = TextOf(sink, 0);
  std::string expected = (*target)->Decode(job.target);
  // A translation begins as its source does.
  for (std::string* shown : {&translated, &expected}) *shown = absl::AsciiStrToLower(*shown);
  EXPECT_EQ(translated, expected);
}

TEST_F(TwoVocabulariesTest, OneThatIsMissingOrOfTheOtherSideIsAnError) {
  std::swap(options_.vocabulary_file, options_.target_vocabulary_file);
  EXPECT_THAT(LoadError(), HasSubstr("72 pieces, but the weights have 48 tokens"));
  options_.vocabulary_file = options_.target_vocabulary_file;
  EXPECT_THAT(LoadError(), HasSubstr("48 pieces, but the weights have 72 tokens"));
  options_.target_vocabulary_file.clear();
  EXPECT_THAT(LoadError(), HasSubstr("target_vocabulary_file: is needed, because the weights have "
                                     "48 tokens of the source and 72 of the target"));
}

TEST_F(BergamotModelTest, ValidatesInput) {
  const auto model = Load();
  EXPECT_TRUE(model->Validate(models::TranslateInput{{"the cat"}}).ok());
  EXPECT_TRUE(model->Validate(models::TranslateInput{{" ", "\xF0\x9F\x98\x80"}}).ok());
  EXPECT_THAT(std::string(model->Validate(models::TranslateInput{}).message()), HasSubstr("texts"));
  EXPECT_THAT(std::string(model->Validate(models::TranslateInput{{"a", ""}}).message()),
              HasSubstr("texts[1]"));
  EXPECT_EQ(model->Validate(models::SynthesizeInput{}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(BergamotModelTest, EmitsOnePartASentenceInOrder) {
  const auto model = Load();
  Sink sink;
  // With a limit of its own a translation is taken as it is, however the random weights loop.
  models::TranslateInput input{{"the cat sat. the dog ran.\n\nwe eat soup", "one two"}};
  input.search.max_target_tokens = 24;
  models::Request request(input, TimePoint::max(), sink);
  EXPECT_TRUE(testing::RunToEnd(*model, request).ok());
  ASSERT_EQ(sink.parts.size(), 3u);  // a small letter starts no sentence
  EXPECT_EQ(sink.parts[0].text_index, 0u);
  EXPECT_FALSE(sink.parts[0].text_finished);
  EXPECT_TRUE(sink.parts[0].text.ends_with("\n\n"));
  EXPECT_EQ(sink.parts[1].text_index, 0u);
  EXPECT_TRUE(sink.parts[1].text_finished);
  EXPECT_EQ(sink.parts[2].text_index, 1u);
  EXPECT_TRUE(sink.parts[2].text_finished);
  for (const models::TranslateOutput& part : sink.parts) {
    EXPECT_GT(part.source_tokens, 0);
    EXPECT_GE(part.target_tokens, 0);
  }
}

TEST_F(BergamotModelTest, WhatHoldsNothingKnownComesOutAsItWentIn) {
  const auto model = Load();
  Sink sink;
  const std::string unknown = "  \xE6\x97\xA5\xE6\x9C\xAC \n";
  const auto request = MakeRequest({unknown, " ", "\t\n"}, sink);
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  EXPECT_EQ(TextOf(sink, 0), unknown);
  EXPECT_EQ(TextOf(sink, 1), " ");
  EXPECT_EQ(TextOf(sink, 2), "\t\n");
  std::map<size_t, int> finished;
  for (const models::TranslateOutput& part : sink.parts)
    finished[part.text_index] += part.text_finished;
  EXPECT_EQ(finished, (std::map<size_t, int>{{0, 1}, {1, 1}, {2, 1}}));
}

TEST_F(BergamotModelTest, SentencesThatHoldNothingKnownFillAStepAsOthersDo) {
  const auto model = Load();
  Sink sink;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xF0\x9F\x98\x80\n";
  const auto request = MakeRequest({text}, sink);
  testing::RunStep(*model, {request.get()});
  EXPECT_FALSE(request->outcome());
  EXPECT_EQ(sink.parts.size(), 32u);
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  EXPECT_EQ(sink.parts.size(), 1000u);
  EXPECT_EQ(TextOf(sink, 0), text);
}

TEST_F(BergamotModelTest, TheTokensOfSentencesThatHoldNothingToTranslateCount) {
  const auto model = Load();
  Sink sink;
  std::string line;
  for (int i = 0; i < 200; ++i) line += "1 ";
  line += "\xF0\x9F\x98\x80";
  std::string text;
  for (int i = 0; i < 30; ++i) text += line + "\n";
  const auto request = MakeRequest({text}, sink);
  testing::RunStep(*model, {request.get()});
  constexpr size_t kTokensOfPass = 80;  // the default of max_source_tokens
  EXPECT_GE(sink.parts.size(), 768u / 256);
  EXPECT_LE(sink.parts.size(), 768u / kTokensOfPass + 2);
}

TEST_F(BergamotModelTest, AFileThatIsOverwrittenOrCutShortDoesNotMatterOnceLoaded) {
  const auto model = Load();
  const auto translate = [&] {
    Sink sink;
    const auto request = MakeRequest({"the cat sat on the mat"}, sink);
    EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
    return TextOf(sink, 0);
  };
  const std::string expected = translate();
  const auto size = std::filesystem::file_size(options_.weights_file);
  std::filesystem::resize_file(options_.weights_file, 0);
  EXPECT_EQ(translate(), expected);
  std::filesystem::resize_file(options_.weights_file, size);
  EXPECT_EQ(translate(), expected);
}

TEST_F(BergamotModelTest, TextsWithNulBytesAndBrokenUtf8DoNoHarm) {
  const auto model = Load();
  Sink sink;
  const auto request =
      MakeRequest({std::string("the\0cat", 7), "the \xFF\xC3 cat", "\xF0\x9F"}, sink);
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  EXPECT_EQ(sink.parts.size(), 3u);
}

TEST_F(BergamotModelTest, ASentenceTooLongIsCutAtWords) {
  options_.max_source_tokens = 16;
  const auto model = Load();
  Sink sink;
  std::string text;
  for (int i = 0; i < 50; ++i) text += "the cat ";
  const auto request = MakeRequest({text}, sink);
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  ASSERT_GT(sink.parts.size(), 5u);
  int64_t tokens = 0;
  for (const models::TranslateOutput& part : sink.parts) {
    EXPECT_LE(part.source_tokens, 15);
    EXPECT_TRUE(part.text.ends_with(' '));
    tokens += part.source_tokens;
  }
  EXPECT_EQ(tokens, 100);  // "the" and "cat" are a token each: nothing was cut inside
}

TEST_F(BergamotModelTest, ASentenceTooLongWithoutSpacesIsCutAnywhere) {
  options_.max_source_tokens = 16;
  const auto model = Load();
  Sink sink;
  std::string text;
  for (int i = 0; i < 170; ++i) text += "cat";
  const auto request = MakeRequest({text}, sink);
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  EXPECT_GT(sink.parts.size(), text.size() / 16 / 8);
}

TEST_F(BergamotModelTest, ALongTextSharesStepsWithAShortOne) {
  const auto model = Load();
  std::string long_text;
  for (int i = 0; i < 200; ++i) long_text += "The cat sat.\n";
  Sink long_sink;
  Sink short_sink;
  const auto long_request = MakeRequest({long_text}, long_sink);
  const auto short_request = MakeRequest({"the dog ran."}, short_sink);
  testing::RunStep(*model, {long_request.get(), short_request.get()});
  EXPECT_TRUE(short_request->outcome());
  EXPECT_FALSE(long_request->outcome());
  EXPECT_LT(long_sink.parts.size(), 64u);
  EXPECT_TRUE(testing::RunToEnd(*model, *long_request).ok());
  EXPECT_EQ(long_sink.parts.size(), 200u);
}

TEST_F(BergamotModelTest, CompanyDoesNotChangeATranslation) {
  const auto model = Load();
  const std::vector<std::string> texts = {"the cat sat on the mat", "one two three. Four!", "a",
                                          "we eat bread and soup with good friends every day"};
  std::vector<std::string> alone;
  for (const std::string& text : texts) {
    Sink sink;
    const auto request = MakeRequest({text}, sink);
    EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
    alone.push_back(TextOf(sink, 0));
  }
  std::vector<Sink> sinks(texts.size());
  std::vector<std::unique_ptr<models::Request>> requests;
  std::vector<models::Request*> pointers;
  for (size_t i = 0; i < texts.size(); ++i) {
    requests.push_back(MakeRequest({texts[i]}, sinks[i]));
    pointers.push_back(requests.back().get());
  }
  // A sentence that lost something is translated again, which takes further steps.
  while (!pointers.empty()) {
    testing::RunStep(*model, pointers);
    std::erase_if(pointers, [](const models::Request* request) { return request->outcome(); });
  }
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(TextOf(sinks[i], 0), alone[i]);
}

TEST_F(BergamotModelTest, ABatchThatIsDroppedBeforeCompleteConsumesNothing) {
  const auto model = Load();
  Sink sink;
  const auto request = MakeRequest({"The cat sat.\nThe dog ran."}, sink);
  models::Request* const pointer = request.get();
  model->Prepare({&pointer, 1})->Forward(context_);  // as when another request made it throw
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_TRUE(testing::RunToEnd(*model, *request).ok());
  EXPECT_EQ(sink.parts.size(), 2u);
}

TEST_F(BergamotModelTest, ACancelledRequestStopsAndTheOthersGoOn) {
  const auto model = Load();
  Sink cancelled_sink;
  Sink other_sink;
  const auto cancelled = MakeRequest({"The cat sat.\nThe dog ran."}, cancelled_sink);
  const auto other = MakeRequest({"the cat sat on the mat"}, other_sink);
  std::vector<models::Request*> requests = {cancelled.get(), other.get()};
  const auto batch = model->Prepare(requests);
  cancelled_sink.Cancel();
  batch->Forward(context_);
  batch->Complete();
  ASSERT_TRUE(cancelled->outcome());
  EXPECT_EQ(cancelled->outcome()->code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(cancelled_sink.parts.empty());
  ASSERT_TRUE(other->outcome());
  EXPECT_TRUE(other->outcome()->ok());
  EXPECT_EQ(other_sink.parts.size(), 1u);
}

TEST_F(BergamotModelTest, AnExpiredRequestStops) {
  const auto model = Load();
  Sink sink;
  const auto request = MakeRequest({"the cat sat"}, sink, clock_.Now() + std::chrono::seconds(1));
  models::Request* const pointer = request.get();
  const auto batch = model->Prepare({&pointer, 1});
  clock_.Advance(std::chrono::seconds(2));
  batch->Forward(context_);
  batch->Complete();
  ASSERT_TRUE(request->outcome());
  EXPECT_EQ(request->outcome()->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(BergamotModelTest, WarmupDoesNotGrowWithTheSquareOfTheBatch) {
  models::ModelInfo info;
  info.details = models::TranslationInfo();
  info.batching.max_batch = 1024;
  const auto model = BergamotModel::Load(options_, info);
  ASSERT_TRUE(model.ok()) << model.status();
  size_t bytes = 0;
  for (const models::Input& input : (*model)->WarmupInputs()) {
    for (const std::string& text : std::get<models::TranslateInput>(input).texts)
      bytes += text.size();
  }
  EXPECT_LT(bytes, 128u * 1024);
}

TEST_F(BergamotModelTest, WarmupInputsAreValidAndRun) {
  const auto model = Load();
  const auto inputs = model->WarmupInputs();
  ASSERT_FALSE(inputs.empty());
  for (const models::Input& input : inputs) {
    EXPECT_TRUE(model->Validate(input).ok());
    Sink sink;
    models::Request request(input, TimePoint::max(), sink, clock_);
    EXPECT_TRUE(testing::RunToEnd(*model, request).ok());
  }
}

TEST_F(BergamotModelTest, SearchesThatItDoesNotKnowAreRefused) {
  const auto model = Load();
  EXPECT_TRUE(
      model->Validate(models::TranslateInput{.texts = {"a"}, .search = {.beam_size = 1}}).ok());
  EXPECT_THAT(
      std::string(
          model->Validate(models::TranslateInput{.texts = {"a"}, .search = {.beam_size = 4}})
              .message()),
      ::testing::HasSubstr("beam_size: this model takes the likeliest word each time"));
  EXPECT_THAT(
      std::string(model->Validate(models::TranslateInput{.texts = {"a"}, .target_prefixes = {"b"}})
                      .message()),
      ::testing::HasSubstr("target_prefixes: model"));
  EXPECT_TRUE(
      model->Validate(models::TranslateInput{.texts = {"a"}, .target_prefixes = {""}}).ok());
}

}  // namespace
}  // namespace millrace::bergamot
