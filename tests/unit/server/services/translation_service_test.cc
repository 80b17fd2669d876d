#include "server/services/translation_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/services/test_server.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

models::TranslateOutput Part(size_t index, std::string text, bool finished) {
  models::TranslateOutput part;
  part.text_index = index;
  part.text = std::move(text);
  part.text_finished = finished;
  part.source_tokens = 2;
  part.target_tokens = 3;
  return part;
}

// Two texts whose sentences come interleaved, the second's first.
void Interleaved(models::Request& request) {
  request.Emit(Part(1, "B1 ", false));
  request.Emit(Part(0, "A1.", true));
  request.Emit(Part(1, "B2.", true));
  request.Finish(absl::OkStatus());
}

class TranslationServiceTest : public ::testing::Test {
 protected:
  grpc::Status Translate(const v1::TranslateRequest& request) {
    grpc::ClientContext context;
    return v1::TranslationService::NewStub(server_.channel)
        ->Translate(&context, request, &response_);
  }
  static v1::TranslateRequest Texts(const std::vector<std::string>& texts) {
    v1::TranslateRequest request;
    for (const std::string& text : texts) request.add_texts(text);
    return request;
  }

  TestServer server_;
  v1::TranslateResponse response_;
};

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
      {[](auto& r) { r.add_texts(""); }, StatusCode::INVALID_ARGUMENT, "texts[1]: is empty"},
      {[](auto& r) { r.add_texts(std::string("a\0b", 3)); }, StatusCode::INVALID_ARGUMENT,
       "texts[1]: has a NUL at byte 1"},
      {[](auto& r) {
         for (int i = 0; i < 256; ++i) r.add_texts("x");
       },
       StatusCode::INVALID_ARGUMENT, "texts: has 257 entries; at most 256"},
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
  info.source_languages = {"en"};
  info.target_languages = {"pt", "de"};
  for (int i = 0; i < 40; ++i) info.target_languages.push_back("x" + std::to_string(i));
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
  EXPECT_TRUE(Translate(Texts(std::vector<std::string>(256, "x"))).ok());
  std::string long_text;
  for (int i = 0; i < 100'000; ++i) long_text += "\xC3\xA9";  // characters, not bytes
  EXPECT_TRUE(Translate(Texts({long_text})).ok());
}

}  // namespace
}  // namespace millrace::server
