#include "server/frontends/millrace/translation_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/server/frontends/millrace/translation_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

// Two texts whose sentences come interleaved, the second's first.
void Interleaved(models::Request& request) {
  request.Emit(Part(1, "B1 ", false));
  request.Emit(Part(0, "A1.", true));
  request.Emit(Part(1, "B2.", true));
  request.Finish(absl::OkStatus());
}

TEST_F(TranslationServiceTest, CollectsTheSentencesOfEachText) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Interleaved});
  const grpc::Status status = Translate(Texts({"a", "b"}));
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.model(), "en-pt");
  EXPECT_EQ(response_.model_version(), "1");
  ASSERT_EQ(response_.translations_size(), 2);
  EXPECT_EQ(response_.translations(0).text(), "A1.");
  EXPECT_EQ(response_.translations(0).source_tokens(), 2);
  EXPECT_EQ(response_.translations(1).text(), "B1 B2.");
  EXPECT_EQ(response_.translations(1).source_tokens(), 4);
  EXPECT_EQ(response_.translations(1).target_tokens(), 6);
  const auto metrics = server_.metrics.ForModel("en-pt");
  EXPECT_EQ(metrics->source_tokens.Value(), 6);
  EXPECT_EQ(metrics->target_tokens.Value(), 9);
  EXPECT_EQ(metrics->characters.Value(), 2);
}

TEST_F(TranslationServiceTest, ABadTextHasItsStatusAndTheOthersTheirTranslations) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  auto request = Texts({"a", "", std::string("b\0", 2), "d"});
  request.set_source_language("en");
  request.set_target_language("pt");
  for (const char* prefix : {"1", "2", "3", "4"}) request.add_target_prefixes(prefix);
  ASSERT_TRUE(Translate(request).ok());
  ASSERT_EQ(response_.translations_size(), 4);
  EXPECT_EQ(response_.translations(0).text(), "enpt(a)");
  EXPECT_EQ(response_.translations(0).status().code(), 0);
  EXPECT_EQ(response_.translations(0).source_characters(), 1);
  EXPECT_EQ(response_.translations(0).target_characters(), 7);
  EXPECT_EQ(response_.translations(1).status().code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(response_.translations(1).status().message(), "texts[1]: is empty");
  EXPECT_THAT(response_.translations(2).status().message(), HasSubstr("texts[2]: has a NUL"));
  EXPECT_EQ(response_.translations(2).text(), "");
  EXPECT_EQ(response_.translations(3).text(), "enpt(d)");

  const auto stub = v1::TranslationService::NewStub(server_.channel);
  grpc::ClientContext context;
  const auto reader = stub->StreamTranslate(&context, request);
  std::string all;
  for (v1::StreamTranslateResponse part; reader->Read(&part);)
    all += std::to_string(part.text_index()) + ":" + part.text() + part.status().message() + "|";
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(all,
            "1:texts[1]: is empty|2:texts[2]: has a NUL at byte 1, which is not allowed|"
            "0:enpt(a)|3:enpt(d)|");
}

TEST_F(TranslationServiceTest, TheOptionsReachTheModel) {
  models::TranslateInput seen;
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = [&seen](models::Request& request) {
                seen = std::get<models::TranslateInput>(request.input());
                request.Finish(absl::OkStatus());
              }});
  auto request = Texts({"a"});
  v1::TranslateSearch& search = *request.mutable_search();
  search.set_beam_size(5);
  search.set_hypotheses(3);
  search.set_length_penalty(0.5F);
  search.set_no_repeat_ngram_size(2);
  search.set_repetition_penalty(1.5F);
  search.set_min_target_tokens(0);
  search.set_max_target_tokens(9);
  search.mutable_sampling()->set_top_k(4);
  search.mutable_sampling()->set_seed(7);
  request.add_target_prefixes("Ol");
  request.set_format(v1::TEXT_FORMAT_HTML);
  request.add_do_not_translate("Millrace");
  request.set_partial(true);
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(seen.search, (models::SearchOverrides{.beam_size = 5,
                                                  .hypotheses = 3,
                                                  .length_penalty = 0.5F,
                                                  .no_repeat_ngram_size = 2,
                                                  .repetition_penalty = 1.5F,
                                                  .min_target_tokens = 0,
                                                  .max_target_tokens = 9,
                                                  .sampling = {{.top_k = 4, .seed = 7}}}));
  EXPECT_EQ(seen.target_prefixes, std::vector<std::string>{"Ol"});
  EXPECT_EQ(seen.format, models::TextFormat::kHtml);
  EXPECT_EQ(seen.do_not_translate, std::vector<std::string>{"Millrace"});
  EXPECT_TRUE(seen.partial);
  ASSERT_TRUE(Translate(Texts({"a"})).ok());
  EXPECT_EQ(seen.search, models::SearchOverrides{});
}

TEST_F(TranslationServiceTest, AlternativesOfATextAreMadeOfThoseOfItsSentences) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = [](models::Request& request) {
                models::TranslateOutput first = Part(0, "A. ", false);
                first.score = -1;
                first.alternatives = {{"B. ", -2}, {"C. ", -3}};
                request.Emit(first);
                models::TranslateOutput piece = Part(0, "x", false);
                piece.sentence_finished = false;
                request.Emit(piece);
                models::TranslateOutput rest = Part(0, "y", true);
                rest.score = -1;
                rest.alternatives = {{"z", -4}};
                request.Emit(rest);
                request.Finish(absl::OkStatus());
              }});
  auto request = Texts({"a"});
  request.mutable_search()->set_hypotheses(4);
  ASSERT_TRUE(Translate(request).ok());
  const v1::Translation& translation = response_.translations(0);
  EXPECT_EQ(translation.text(), "A. xy");
  EXPECT_FLOAT_EQ(translation.score(), -2);
  ASSERT_EQ(translation.alternatives_size(), 2);
  EXPECT_EQ(translation.alternatives(0).text(), "B. z");
  EXPECT_FLOAT_EQ(translation.alternatives(0).score(), -6);
  EXPECT_EQ(translation.alternatives(1).text(), "C. xy");
  EXPECT_FLOAT_EQ(translation.alternatives(1).score(), -4);
}

TEST_F(TranslationServiceTest, StreamsEachSentence) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Interleaved});
  const auto stub = v1::TranslationService::NewStub(server_.channel);
  grpc::ClientContext context;
  const auto reader = stub->StreamTranslate(&context, Texts({"a", "b"}));
  std::string all;
  for (v1::StreamTranslateResponse part; reader->Read(&part);) {
    all += std::to_string(part.text_index()) + part.text() + (part.text_finished() ? "|" : "");
    EXPECT_EQ(part.source_tokens(), 2);
    EXPECT_EQ(part.target_tokens(), 3);
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(all, "1B1 0A1.|1B2.|");
}

TEST_F(TranslationServiceTest, PicksTheModelByItsLanguages) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {});
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {});
  auto request = Texts({"x"});
  request.set_source_language("pt");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.model(), "pt-en");
  request.clear_source_language();
  request.set_target_language("PT");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.model(), "en-pt");
}

TEST_F(TranslationServiceTest, CharactersCountOnceTheyAreAdmitted) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Interleaved});
  const auto metrics = server_.metrics.ForModel("en-pt");
  ASSERT_TRUE(Translate(Texts({"abc", "de"})).ok());
  EXPECT_EQ(metrics->characters.Value(), 5);
  server_.admission.Close();
  EXPECT_EQ(Translate(Texts({"abc"})).error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(metrics->characters.Value(), 5);
}

TEST_F(TranslationServiceTest, BadRequestsNameTheField) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {});
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {});
  struct Case {
    std::function<void(v1::TranslateRequest&)> spoil;
    StatusCode code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](auto& r) { r.clear_texts(); }, StatusCode::INVALID_ARGUMENT, "texts: is empty"},
      {[](auto& r) { r.set_texts(0, ""); }, StatusCode::INVALID_ARGUMENT, "texts[0]: is empty"},
      {[](auto& r) { r.set_texts(0, std::string("a\0b", 3)); }, StatusCode::INVALID_ARGUMENT,
       "texts[0]: has a NUL at byte 1"},
      {[](auto& r) {
         for (int i = 0; i < 10'000; ++i) r.add_texts("x");
       },
       StatusCode::INVALID_ARGUMENT, "texts: has 10001 entries; at most 10000"},
      {[](auto& r) { r.set_format(static_cast<v1::TextFormat>(7)); }, StatusCode::INVALID_ARGUMENT,
       "format: 7 is none of HTML (1), MARKDOWN (2)"},
      {[](auto& r) {
         r.add_target_prefixes("a");
         r.add_target_prefixes("b");
       },
       StatusCode::INVALID_ARGUMENT,
       "target_prefixes: has 2 entries for 1 texts; none or one for each"},
      {[](auto& r) { r.add_target_prefixes(std::string(1001, 'x')); }, StatusCode::INVALID_ARGUMENT,
       "target_prefixes[0]: has 1001 characters; at most 1000"},
      {[](auto& r) {
         for (const char* target : {"x", "y"}) {
           auto& entry = *r.add_glossary();
           entry.set_source("bank");
           entry.set_target(target);
         }
       },
       StatusCode::INVALID_ARGUMENT, "glossary[1]: 'bank' is 'y' here and 'x' in glossary[0]"},
      {[](auto& r) { r.add_texts(std::string(1 << 20, 'x')); }, StatusCode::INVALID_ARGUMENT,
       "texts: has 1048577 characters; at most 100000"},
      {[](auto& r) { r.clear_model(); }, StatusCode::INVALID_ARGUMENT, "en-pt, pt-en"},
      {[](auto& r) {
         r.clear_model();
         r.set_target_language("de");
       },
       StatusCode::NOT_FOUND, "to 'de'"},
      {[](auto& r) { r.set_source_language("de"); }, StatusCode::INVALID_ARGUMENT,
       "source_language: 'de' is not what model 'en-pt' has: 'en'"},
      {[](auto& r) { r.set_target_language("en"); }, StatusCode::INVALID_ARGUMENT,
       "target_language: 'en' is not"},
      {[](auto& r) { r.set_model_version("3"); }, StatusCode::NOT_FOUND, "model_version: '3'"},
      {[](auto& r) {
         r.clear_model();
         r.set_model_version("1");
       },
       StatusCode::INVALID_ARGUMENT, "model_version: needs model"}};
  for (const Case& bad : cases) {
    auto request = Texts({"x"});
    request.set_model("en-pt");
    bad.spoil(request);
    const grpc::Status status = Translate(request);
    EXPECT_EQ(status.error_code(), bad.code) << bad.message;
    EXPECT_THAT(status.error_message(), HasSubstr(bad.message));
  }
}

TEST_F(TranslationServiceTest, AModelOfManyLanguagesTakesEachAndNamesThem) {
  models::ModelInfo info = TranslatorInfo("many", "en", "pt");
  info.translation().source_languages = {"en"};
  info.translation().target_languages = {"pt", "de"};
  for (int i = 0; i < 40; ++i)
    info.translation().target_languages.push_back("x" + std::to_string(i));
  server_.Add(info, {});
  auto request = Texts({"x"});
  request.set_source_language("EN");
  request.set_target_language("de");
  EXPECT_TRUE(Translate(request).ok());
  request.set_target_language("fr");
  EXPECT_EQ(Translate(request).error_code(), StatusCode::NOT_FOUND);
  request.set_model("many");
  const grpc::Status status = Translate(request);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("target_language: 'fr' is not what model 'many' has: 'pt', 'de', 'x0'"));
  EXPECT_THAT(status.error_message(), HasSubstr("'x29' and 10 more, which the model list has"));
}

TEST_F(TranslationServiceTest, LimitsThemselvesAreAllowed) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {});
  EXPECT_TRUE(Translate(Texts(std::vector<std::string>(10'000, "x"))).ok());
  std::string long_text;
  for (int i = 0; i < 100'000; ++i) long_text += "\xC3\xA9";  // characters, not bytes
  EXPECT_TRUE(Translate(Texts({long_text})).ok());
}

}  // namespace
}  // namespace millrace::server
