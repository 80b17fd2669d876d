#include "models/seq2seq/seq2seq_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/kernels/packed_linear.h"
#include "models/kernels/target.h"
#include "models/translation/load_piece_model.h"
#include "mps_runtime/base/log_sink.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/fakes/run_model.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sink = testing::Collector<models::TranslateOutput>;

std::string ConfigJson(const std::string& languages) {
  return R"({"dim": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_heads": 4,
    "decoder_heads": 2, "norm_first": true, "activation": "relu", "embedding_scale": 8,
    "norm_epsilon": 1e-5, "start": 2, "end": 2, "unknown": 3, "forced_end": false,
    "suppressed": [1], )" +
         languages + "}";
}

constexpr char kManyLanguages[] =
    R"("language_tokens": "source_and_target", "languages": [
      {"tag": "en", "code": "__en__", "word": 60}, {"tag": "pt", "code": "__pt__", "word": 61},
      {"tag": "de", "code": "__de__", "word": 62}])";

// A package with the tiny M2M-100 network. Tokens 4 to 59 are pieces of tiny.spm.
class Seq2SeqModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    options_.weights_file = folder_.path() / "weights.safetensors";
    options_.config_file = folder_.path() / "config.json";
    options_.pieces_file = folder_.path() / "source.spm";
    options_.words_file = folder_.path() / "words.txt";
    options_.max_source_tokens = 32;
    bergamot::WriteSafetensors(options_.weights_file, MakeTinySeq2Seq(TinyKind::kM2m100));
    std::filesystem::copy_file(bergamot::TestDataFolder() / "tiny.spm", options_.pieces_file);
    Write(options_.config_file, ConfigJson(kManyLanguages));
    const auto pieces = translation::LoadPieceModel(options_.pieces_file);
    ASSERT_TRUE(pieces.ok()) << pieces.status();
    std::string tokens(4, '\n');
    for (int32_t id = 2; id < 58; ++id) tokens += (*pieces)->TextOf(id) + "\n";
    Write(options_.words_file, tokens + std::string(14, '\n'));
    info_.name = "tiny";
    info_.details = models::TranslationInfo{.source_language = "en", .target_language = "pt"};
  }

  static void Write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::unique_ptr<models::Model> Load() {
    auto model = Seq2SeqModel::Load(options_, info_);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : nullptr;
  }
  std::string LoadError() {
    const auto model = Seq2SeqModel::Load(options_, info_);
    return model.ok() ? "no error" : std::string(model.status().message());
  }
  std::string Translate(const models::Model& model, models::TranslateInput input) {
    std::string text;
    for (const models::TranslateOutput& part : Outputs(model, std::move(input))) text += part.text;
    return text;
  }
  std::vector<models::TranslateOutput> Outputs(const models::Model& model,
                                               models::TranslateInput input) {
    EXPECT_TRUE(model.Validate(input).ok()) << model.Validate(input);
    Sink sink;
    models::Request request(std::move(input), TimePoint::max(), sink);
    const absl::Status status = testing::RunToEnd(model, request);
    EXPECT_TRUE(status.ok()) << status;
    return std::move(sink.parts);
  }

  const testing::TemporaryFolder folder_;
  Seq2SeqOptions options_;
  models::ModelInfo info_;
  models::FakeWorkerContext context_;
};

// A package of one pair of languages with a vocabulary of each: tokens 3 to 59 of the source are
// pieces of tiny.spm, tokens 3 to 46 of the target those of tiny-de.spm.
class TwoVocabulariesTest : public Seq2SeqModelTest {
 protected:
  void SetUp() override {
    Seq2SeqModelTest::SetUp();
    options_.target_words_file = folder_.path() / "target_words.txt";
    options_.target_pieces_file = folder_.path() / "target.spm";
    bergamot::WriteSafetensors(options_.weights_file, MakeTinySeq2Seq(TinyKind::kMarianTwo));
    Write(options_.config_file, Config(""));
    std::filesystem::copy_file(bergamot::TestDataFolder() / "tiny-de.spm",
                               options_.target_pieces_file);
    Write(options_.words_file, Table(options_.pieces_file, 3, 57) + "\n");
    Write(options_.target_words_file, Table(options_.target_pieces_file, 4, 44) + "\n\n\n");
  }

  static std::string Config(const std::string& more) {
    return R"({"dim": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_heads": 4,
      "decoder_heads": 2, "norm_first": false, "activation": "swish", "embedding_scale": 8,
      "norm_epsilon": 1e-5, "start": 49, "end": 0, "unknown": 1, "forced_end": true,
      "suppressed": [1, 49], "language_tokens": "none", "languages": [])" +
           more + "}";
  }
  // Three tokens that no text has, then the pieces.
  static std::string Table(const std::filesystem::path& file, int32_t first, int32_t count) {
    const auto pieces = translation::LoadPieceModel(file);
    EXPECT_TRUE(pieces.ok()) << pieces.status();
    std::string lines(3, '\n');
    for (int32_t id = first; id < first + count; ++id) lines += (*pieces)->TextOf(id) + "\n";
    return lines;
  }
};

constexpr char kText[] = "the cat sat on the mat.";
// Random weights may say one word over and over, for which the guard writes the source, unless the
// request bounds the translation.
constexpr models::SearchOverrides kBounded = {.max_target_tokens = 24};

TEST_F(Seq2SeqModelTest, SaysWhatItIsAndSpeaks) {
  const auto model = Load();
  EXPECT_EQ(model->info().platform, "seq2seq");
  EXPECT_EQ(model->info().task(), models::Task::kTranslation);
  EXPECT_THAT(models::SourceLanguages(model->info().translation()), ElementsAre("en", "pt", "de"));
  EXPECT_THAT(models::TargetLanguages(model->info().translation()), ElementsAre("en", "pt", "de"));
}

TEST_F(Seq2SeqModelTest, TheLanguagesOfARequestDecide) {
  const auto model = Load();
  const std::string usual = Translate(*model, {.texts = {kText}, .search = kBounded});
  EXPECT_FALSE(usual.empty());
  EXPECT_EQ(Translate(*model, {{kText}, "en", "PT", kBounded}), usual);
  EXPECT_NE(Translate(*model, {{kText}, "en", "de", kBounded}), usual);
  EXPECT_NE(Translate(*model, {{kText}, "de", "pt", kBounded}), usual);
}

TEST_F(Seq2SeqModelTest, ARequestHasItsOwnSearch) {
  const auto model = Load();
  EXPECT_EQ(model->info().translation().max_hypotheses, 16);
  const auto usual = Outputs(*model, {.texts = {kText}});
  ASSERT_EQ(usual.size(), 1u);
  EXPECT_TRUE(usual[0].alternatives.empty());
  EXPECT_GT(usual[0].target_tokens, 3);

  options_.search.beam_size = 4;
  const std::string beam_text = Translate(*Load(), {.texts = {kText}});
  const auto beam =
      Outputs(*model, {.texts = {kText}, .search = {.beam_size = 4, .hypotheses = 3}});
  ASSERT_EQ(beam.size(), 1u);
  EXPECT_EQ(beam[0].text, beam_text);
  ASSERT_EQ(beam[0].alternatives.size(), 2u);
  EXPECT_NE(beam[0].alternatives[0].text, beam[0].text);
  EXPECT_GE(beam[0].score, beam[0].alternatives[0].score);
  EXPECT_GE(beam[0].alternatives[0].score, beam[0].alternatives[1].score);

  const auto tokens = [&](models::SearchOverrides search) {
    return Outputs(*model, {.texts = {kText}, .search = search})[0].target_tokens;
  };
  EXPECT_EQ(tokens({.max_target_tokens = 3}), 3);
  EXPECT_EQ(tokens({.min_target_tokens = 40, .max_target_tokens = 40}), 40);
  EXPECT_GE(tokens({.min_target_tokens = 45}), 45);

  const auto drawn = [&](uint64_t seed) {
    return Translate(
        *model, {.texts = {kText}, .search = {.sampling = {{.temperature = 2, .seed = seed}}}});
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST_F(Seq2SeqModelTest, ATranslationMayBeMadeToBeginWithAText) {
  const auto model = Load();
  const std::string two = "the cat.\n\nthe mat.";
  const auto begun = Outputs(
      *model,
      {.texts = {two, kText}, .search = {.hypotheses = 2}, .target_prefixes = {"the old", ""}});
  ASSERT_EQ(begun.size(), 3u);
  EXPECT_TRUE(begun[0].text.starts_with("the old")) << begun[0].text;
  ASSERT_EQ(begun[0].alternatives.size(), 1u);
  EXPECT_TRUE(begun[0].alternatives[0].text.starts_with("the old"));
  EXPECT_FALSE(begun[1].text.starts_with("the old"));
  EXPECT_FALSE(begun[2].text.starts_with("the old"));
  // Text that is not translated cannot begin so: the sentence behind it does.
  const auto behind = Outputs(*model, {.texts = {"\xF0\x9F\x98\x80\n\n" + two, "\xF0\x9F\x98\x80"},
                                       .target_prefixes = {"the old", "the"}});
  ASSERT_EQ(behind.size(), 4u);
  EXPECT_EQ(behind[0].text, "\xF0\x9F\x98\x80\n\n");
  EXPECT_TRUE(behind[1].text.starts_with("the old")) << behind[1].text;
  EXPECT_FALSE(behind[2].text.starts_with("the old"));
  EXPECT_EQ(behind[3].text, "\xF0\x9F\x98\x80");
  // Longer than any translation may be.
  std::string longest;
  for (int i = 0; i < 200; ++i) longest += "the old cat ";
  EXPECT_FALSE(Translate(*model, {.texts = {kText}, .target_prefixes = {longest}}).empty());
  EXPECT_TRUE(Translate(*model, {.texts = {kText},
                                 .search = {.max_target_tokens = 2},
                                 .target_prefixes = {longest}})
                  .starts_with("the"));
}

TEST_F(Seq2SeqModelTest, ASearchOutOfRangeIsRefused) {
  const auto model = Load();
  EXPECT_THAT(
      std::string(
          model->Validate(models::TranslateInput{.texts = {kText}, .search = {.beam_size = 17}})
              .message()),
      HasSubstr("beam_size: 17 is out of range, allowed 1..16"));
}

TEST_F(Seq2SeqModelTest, ATokenOfTheTargetMayStandInTheSource) {
  std::string config = ConfigJson(kManyLanguages);
  config.replace(config.find("source_and_target"), 17, "target_in_source");
  Write(options_.config_file, config);
  const auto model = Load();
  EXPECT_THAT(models::SourceLanguages(model->info().translation()), ElementsAre("en"));
  EXPECT_NE(Translate(*model, {{kText}, "", "de", kBounded}),
            Translate(*model, {{kText}, "", "pt", kBounded}));
}

TEST_F(Seq2SeqModelTest, AnUnknownLanguageIsRefused) {
  const auto model = Load();
  EXPECT_THAT(std::string(model->Validate(models::TranslateInput{{kText}, "", "fr"}).message()),
              HasSubstr("target_language: 'fr' is not among the model's 3 languages"));
  EXPECT_TRUE(model->Validate(models::TranslateInput{{kText}, "de", "en"}).ok());
  EXPECT_FALSE(model->Validate(models::TranslateInput{}).ok());
  EXPECT_FALSE(model->Validate(models::SynthesizeInput{}).ok());
}

TEST_F(Seq2SeqModelTest, TextWithoutKnownTokensComesOutAsItWentIn) {
  const auto model = Load();
  EXPECT_EQ(Translate(*model, {.texts = {"\xF0\x9F\x98\x80 "}}), "\xF0\x9F\x98\x80 ");
}

TEST_F(Seq2SeqModelTest, SentencesThatAreTooLongAreCut) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the old cat ";
  EXPECT_FALSE(Translate(*Load(), {.texts = {text}}).empty());
}

TEST_F(Seq2SeqModelTest, WeightsThatGiveNoNumbersFailTheRequest) {
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(TinyKind::kM2m100);
  tensors.at("decoder.norm.weight") = bergamot::FloatTensor(std::vector<float>(64, NAN));
  bergamot::WriteSafetensors(options_.weights_file, tensors);
  for (const kernels::Precision precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBfloat16, kernels::Precision::kInt8}) {
    if (!kernels::IsNative(precision)) continue;
    options_.precision = precision;
    for (const int beam : {1, 4}) {
      options_.search.beam_size = beam;
      const auto model = Load();
      Sink sink;
      models::Request request(models::TranslateInput{.texts = {kText}}, TimePoint::max(), sink);
      models::Request* const requests[] = {&request};
      EXPECT_THROW(model->Prepare(requests)->Forward(context_), std::runtime_error);
    }
  }
}

TEST_F(Seq2SeqModelTest, WhatIsWrongIsNamed) {
  info_.translation().target_language = "xx";
  EXPECT_THAT(LoadError(), HasSubstr("target_language: 'xx'"));
  info_.translation().target_language = "pt";
  options_.max_source_tokens = 65;
  EXPECT_THAT(LoadError(), HasSubstr("max_source_tokens: 65 is out of range, allowed 16..64"));
  options_.max_source_tokens = 32;
  options_.search.beam_size = 0;
  EXPECT_THAT(LoadError(), HasSubstr("beam_size: 0"));
  options_.search.beam_size = 2;
  Write(options_.words_file, "a\nb\n");
  EXPECT_THAT(LoadError(), HasSubstr("words.txt: 2 lines, but the weights have 74 tokens"));
}

TEST_F(TwoVocabulariesTest, ATranslationIsOfTheTargetsTokens) {
  const auto model = Load();
  const models::TranslateInput input = {.texts = {kText}, .search = kBounded};
  const std::string text = Translate(*model, input);
  std::ifstream file(options_.target_words_file);
  std::string known = " ";  // every character that its tokens have
  for (std::string line; std::getline(file, line);) known += line;
  EXPECT_GT(text.size(), 3u);
  EXPECT_EQ(text.find_first_not_of(known), std::string::npos) << text;
  // With the other table the same network writes other tokens.
  Write(options_.target_words_file, Table(options_.pieces_file, 3, 44) + "\n\n\n");
  EXPECT_NE(Translate(*Load(), input), text);
}

TEST_F(TwoVocabulariesTest, WhatATranslationBeginsWithIsReadByTheTargetsPieces) {
  const auto model = Load();
  const auto begun = Outputs(
      *model,
      {.texts = {"the cat."}, .search = {.max_target_tokens = 2}, .target_prefixes = {"ich habe"}});
  // Four pieces, of which two have room.
  EXPECT_EQ(begun[0].text, "ic");
  EXPECT_EQ(begun[0].target_tokens, 2);
  EXPECT_TRUE(
      Translate(*model, {.texts = {"the cat."}, .target_prefixes = {"habe"}}).starts_with("habe"));
}

TEST_F(Seq2SeqModelTest, ASharedVocabularyMayHaveThePiecesOfEachSide) {
  // Pieces of tiny.spm, then those of tiny-de.spm.
  const auto source = translation::LoadPieceModel(options_.pieces_file);
  const auto target = translation::LoadPieceModel(bergamot::TestDataFolder() / "tiny-de.spm");
  ASSERT_TRUE(source.ok() && target.ok());
  std::string tokens(4, '\n');
  for (int32_t id = 2; id < 28; ++id) tokens += (*source)->TextOf(id) + "\n";
  for (int32_t id = 4; id < 48; ++id) tokens += (*target)->TextOf(id) + "\n";
  Write(options_.words_file, tokens);
  const models::TranslateInput input = {
      .texts = {kText}, .search = {.max_target_tokens = 4}, .target_prefixes = {"ich habe"}};
  EXPECT_NE(Translate(*Load(), input), "ich habe");
  options_.target_pieces_file = bergamot::TestDataFolder() / "tiny-de.spm";
  EXPECT_EQ(Translate(*Load(), input), "ich habe");  // four pieces
}

TEST_F(TwoVocabulariesTest, EachSideHasItsOwnEndAndUnknownToken) {
  const models::TranslateInput input = {.texts = {kText}, .search = kBounded};
  const std::string usual = Translate(*Load(), input);
  Write(options_.config_file, Config(R"(, "source_end": 2)"));
  EXPECT_NE(Translate(*Load(), input), usual);
  // A digit, and the space before it, which the target has not alone; token 22 is a piece of text.
  Write(options_.config_file, Config(R"(, "target_unknown": 22)"));
  EXPECT_EQ(
      Translate(*Load(),
                {.texts = {kText}, .search = {.max_target_tokens = 2}, .target_prefixes = {"7"}}),
      "habe habe");
  // A source token may have a number that the target lacks, and only a source token.
  Write(options_.config_file, Config(R"(, "source_end": 60)"));
  EXPECT_NE(Load(), nullptr);
  Write(options_.config_file, Config(R"(, "source_end": 61)"));
  EXPECT_THAT(LoadError(), HasSubstr("source_end: 61 is not a token, allowed 0..60"));
  Write(options_.config_file, Config(R"(, "target_unknown": 50)"));
  EXPECT_THAT(LoadError(), HasSubstr("target_unknown: 50 is not a token, allowed 0..49"));
  Write(options_.config_file, Config(R"(, "target_unknown": -1)"));
  EXPECT_THAT(LoadError(), HasSubstr("target_unknown: -1 is out of range"));
}

TEST_F(TwoVocabulariesTest, TablesThatDoNotFitTheWeightsAreNamed) {
  Write(options_.target_words_file, Table(options_.target_pieces_file, 4, 44));
  EXPECT_THAT(LoadError(), HasSubstr("target_words.txt: 47 lines, but the weights have 50 tokens"));
  std::filesystem::remove(options_.target_words_file);
  EXPECT_THAT(LoadError(), HasSubstr("target_words.txt: cannot be read"));
  options_.target_words_file.clear();
  EXPECT_THAT(LoadError(),
              HasSubstr("weights.safetensors: has embeddings of 61 source tokens and 50 target "
                        "tokens: these need a vocabulary each, and target_words_file names none"));
}

TEST_F(Seq2SeqModelTest, RoundedPrecisionsAreForTheCpu) {
  options_.device = runtime::DeviceType::kCuda;
  options_.precision = kernels::Precision::kInt8;
  EXPECT_THAT(LoadError(), HasSubstr("precision: bfloat16 and int8 are for the CPU"));
}

// ctest runs this with instruction sets that have products of bfloat16 and with some that have not.
TEST_F(Seq2SeqModelTest, Bfloat16IsRefusedWhereFloat32IsFaster) {
  options_.precision = kernels::Precision::kBfloat16;
  if (kernels::CanRun(kernels::Target::kAvx512Bf16)) {
    EXPECT_NE(Load(), nullptr);
  } else {
    EXPECT_THAT(LoadError(), HasSubstr("precision: PRECISION_BFLOAT16 would be slower than float32 "
                                       "on this processor"));
  }
}

TEST_F(Seq2SeqModelTest, AutomaticPrecisionIsLoggedAndServes) {
  static std::string* const logged = new std::string;
  SetLogSink([](LogSeverity, std::string_view line) { *logged = line; });
  info_.name = "opus";
  options_.precision = std::nullopt;
  const auto model = Load();
  SetLogSink(nullptr);
  EXPECT_EQ(*logged, kernels::CanRun(kernels::Target::kAvx512Bf16)
                         ? "model 'opus': PRECISION_AUTO is bfloat16, because this processor "
                           "multiplies bfloat16"
                         : "model 'opus': PRECISION_AUTO is float32, because this processor does "
                           "not multiply bfloat16");
  EXPECT_FALSE(Translate(*model, {.texts = {kText}}).empty());
}

TEST_F(Seq2SeqModelTest, TokensThatTheWeightsLackAreRefused) {
  std::string config = ConfigJson(kManyLanguages);
  config.replace(config.find("62"), 2, "74");
  Write(options_.config_file, config);
  EXPECT_THAT(LoadError(), HasSubstr("languages: 74 is not a token, allowed 0..73"));
}

TEST_F(Seq2SeqModelTest, DamagedConfigsAreErrorsThatNameTheField) {
  const std::string good = ConfigJson(kManyLanguages);
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string config = good;
    config.replace(config.find(from), from.size(), to);
    Write(options_.config_file, config);
    return LoadError();
  };
  EXPECT_THAT(error_with("\"dim\": 64", "\"dim\": 65"), HasSubstr("dim: 65"));
  EXPECT_THAT(error_with("\"encoder_heads\": 4", "\"encoder_heads\": 5"),
              HasSubstr("encoder_heads: 5 heads do not divide"));
  EXPECT_THAT(error_with("\"relu\"", "\"tanh\""), HasSubstr("activation"));
  EXPECT_THAT(error_with("[1]", "[-1]"), HasSubstr("suppressed"));
  EXPECT_THAT(error_with("\"pt\"", "\"en\""), HasSubstr("languages[1].tag: 'en' is there twice"));
  EXPECT_THAT(error_with("{\"dim\"", "[\"dim\""), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_with("\"encoder_layers\": 2", "\"encoder_layers\": 3"),
              HasSubstr("encoder.2.self.query.weight"));
}

}  // namespace
}  // namespace millrace::seq2seq
