#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "models/text/language_detector.h"
#include "server/frontends/millrace/translation_service.h"
#include "tests/fakes/needed.h"
#include "tests/unit/server/frontends/millrace/translation_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

using TranslationLanguagesTest = TranslationServiceTest;

TEST_F(TranslationLanguagesTest, LanguagesAreListedWithTheWayBetweenThem) {
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {});
  server_.Add(TranslatorInfo("en-de", "en", "de"), {});
  models::ModelInfo many = TranslatorInfo("many", "en", "de");
  many.translation().source_languages = many.translation().target_languages = {"en", "de", "x-y"};
  server_.Add(many, {});
  v1::ListLanguagesResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::TranslationService::NewStub(server_.channel)
                  ->ListLanguages(&context, {}, &response)
                  .ok());
  std::string all;
  for (const v1::SourceLanguage& source : response.languages()) {
    all += source.language() + "=" + source.name() + ":";
    for (const v1::TargetLanguage& target : source.targets()) {
      all += " " + target.language();
      for (const std::string& model : target.models()) all += "," + model;
      if (!target.pivot_language().empty()) all += " by " + target.pivot_language();
    }
    all += "\n";
  }
  EXPECT_EQ(all,
            "de=German: en,many x-y,many\n"
            "en=English: de,en-de,many x-y,many\n"
            "pt=Portuguese: de,pt-en,en-de by en en,pt-en x-y,pt-en,many by en\n"
            "x-y=x-y: de,many en,many\n");
}

TEST_F(TranslationLanguagesTest, WhatIsLoadedOrRemovedChangesTheList) {
  const auto stub = v1::TranslationService::NewStub(server_.channel);
  const auto sources = [&] {
    v1::ListLanguagesResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(stub->ListLanguages(&context, {}, &response).ok());
    std::string all;
    for (const v1::SourceLanguage& source : response.languages()) all += source.language() + " ";
    return all;
  };
  EXPECT_EQ(sources(), "");
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {});
  EXPECT_EQ(sources(), "pt ");
  server_.Add(TranslatorInfo("en-de", "en", "de"), {});
  EXPECT_EQ(sources(), "en pt ");
  // Nothing that was answered holds the model.
  std::weak_ptr<ServedModel> removed = *server_.directory.Find("pt-en", "");
  server_.directory.Remove("pt-en");
  EXPECT_TRUE(removed.expired());
  EXPECT_EQ(sources(), "en ");
}

TEST_F(TranslationLanguagesTest, TheLanguageIsDetectedWhenAskedFor) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  auto request = Texts({"Where is the nearest station?", "123"});
  request.set_source_language("auto");
  request.set_target_language("pt");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.route().source_language(), "en");
  EXPECT_THAT(response_.translations(0).text(), HasSubstr("enpt("));
  EXPECT_EQ(response_.translations(0).detected_language().language(), "en");
  EXPECT_GT(response_.translations(0).detected_language().confidence(), 0.8F);
  EXPECT_EQ(response_.translations(1).detected_language().language(), "");

  // In the language that is asked for already.
  request = Texts({"Onde fica a esta\xC3\xA7\xC3\xA3o mais pr\xC3\xB3xima?"});
  request.set_source_language("auto");
  request.set_target_language("pt");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.route().source_language(), "pt");
  EXPECT_EQ(response_.translations(0).text(), request.texts(0));

  // Declared as another: translated as declared, with the hint when it is wanted.
  request.set_source_language("en");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_FALSE(response_.translations(0).has_detected_language());
  request.set_detect_language(true);
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_THAT(response_.translations(0).text(), HasSubstr("enpt("));
  EXPECT_EQ(response_.translations(0).detected_language().language(), "pt");

  request = Texts({"123 456"});
  request.set_source_language("auto");
  request.set_target_language("pt");
  const grpc::Status status = Translate(request);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("source_language: 'auto' cannot tell the language"));
}

TEST_F(TranslationLanguagesTest, ATextInALanguageWithoutAModelIsReturnedWithTheReason) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  struct Case {
    std::string text;
    std::string model;
    std::string target;
    std::string language;
  };
  for (const Case& other :
       std::vector<Case>{{"Wo ist der n\u00E4chste Bahnhof, bitte?", "", "pt", "de"},
                         {"Guten Morgen", "", "pt", "de"},
                         {"Onde fica a esta\u00E7\u00E3o?", "en-pt", "pt", "pt"},
                         {"Onde fica a esta\u00E7\u00E3o?", "en-pt", "", "pt"}}) {
    auto request = Texts({other.text});
    request.set_source_language("auto");
    request.set_target_language(other.target);
    request.set_model(other.model);
    ASSERT_TRUE(Translate(request).ok()) << other.text;
    EXPECT_EQ(response_.translations(0).text(), other.text);
    EXPECT_EQ(response_.route().source_language(), other.language);
    EXPECT_EQ(response_.route().target_language(), "pt");
    EXPECT_EQ(response_.translations(0).status().code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_THAT(response_.translations(0).status().message(),
                HasSubstr("takes the text for '" + other.language + "'"));
  }
  auto named = Texts({"Where is the nearest station?"});
  named.set_source_language("auto");
  named.set_model("EN-pt");
  ASSERT_TRUE(Translate(named).ok());
  EXPECT_THAT(response_.translations(0).text(), HasSubstr("("));
  EXPECT_EQ(response_.route().source_language(), "en");
  EXPECT_EQ(response_.translations(0).status().code(), StatusCode::OK);
  // The library alone takes this for Sesotho.
  auto request = Texts({"A casa \u00E9 vermelha."});
  request.set_source_language("auto");
  request.set_target_language("en");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.route().source_language(), "pt");
  EXPECT_EQ(response_.translations(0).status().code(), StatusCode::OK);
}

TEST_F(TranslationLanguagesTest, TagsAreLookedUpAmongTheModels) {
  server_.Add(TranslatorInfo("en-br", "en", "pt-BR"), {.complete = Wrap});
  struct Case {
    std::string source;
    std::string target;
    std::string model;
  };
  for (const Case& asked : std::vector<Case>{{"en", "pt-BR", ""},
                                             {"EN", "pt_br", ""},
                                             {"en-US", "pt", ""},
                                             {"en_GB", "pb", "en-br"},
                                             {"", "pt-PT", "en-br"},
                                             {"en-x-me", "", ""}}) {
    auto request = Texts({"a"});
    request.set_source_language(asked.source);
    request.set_target_language(asked.target);
    request.set_model(asked.model);
    const grpc::Status status = Translate(request);
    ASSERT_TRUE(status.ok()) << asked.source << " " << status.error_message();
    // The model hears its own tags.
    EXPECT_EQ(response_.translations(0).text(),
              (asked.source.empty() ? "" : "en") +
                  std::string(asked.target.empty() ? "" : "pt-BR") + "(a)");
    EXPECT_EQ(response_.route().source_language(), "en");
    EXPECT_EQ(response_.route().target_language(), "pt-BR");
  }
  auto request = Texts({"a"});
  request.set_source_language("pt_PT");
  request.set_target_language("PB");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.translations(0).text(), "a");
}

TEST_F(TranslationLanguagesTest, ATagThatNothingFitsIsRefusedWithWhatThereIs) {
  server_.Add(TranslatorInfo("en-br", "en", "pt-BR"), {.complete = Wrap});
  models::ModelInfo many = TranslatorInfo("many", "en", "de");
  for (int i = 0; i < 20; ++i)
    many.translation().source_languages.push_back("x-l" + std::to_string(i));
  server_.Add(many, {.complete = Wrap});
  auto request = Texts({"a"});
  request.set_source_language("en-US");
  request.set_target_language("fr-CA");
  grpc::Status status = Translate(request);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(
      status.error_message(),
      HasSubstr("no loaded model translates from 'en-US' to 'fr-CA'; loaded ones do en to pt-BR, "
                "x-l0|x-l1"));
  EXPECT_THAT(status.error_message(), HasSubstr("... (20) to de"));
  request.set_model("en-br");
  status = Translate(request);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "target_language: 'fr-CA' is not what model 'en-br' has: 'pt-BR'");
}

TEST_F(TranslationLanguagesTest, AnExactTagGoesBeforeOneThatOnlyFits) {
  server_.Add(TranslatorInfo("a", "en", "pt-PT"), {.complete = Wrap});
  server_.Add(TranslatorInfo("b", "en", "pt-BR"), {.complete = Wrap});
  auto request = Texts({"a"});
  request.set_source_language("en");
  request.set_target_language("pb");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.model(), "b");
}

TEST_F(TranslationLanguagesTest, LanguagesOfTextsAreDetected) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  v1::DetectLanguageRequest request;
  request.add_texts("Where is the nearest station?");
  request.add_texts("123");
  v1::DetectLanguageResponse response;
  const auto stub = v1::TranslationService::NewStub(server_.channel);
  {
    grpc::ClientContext context;
    ASSERT_TRUE(stub->DetectLanguage(&context, request, &response).ok());
  }
  ASSERT_EQ(response.results_size(), 2);
  EXPECT_EQ(response.results(0).candidates(0).language(), "en");
  EXPECT_EQ(response.results(1).candidates_size(), 0);
  request.add_texts("");
  grpc::ClientContext context;
  const grpc::Status status = stub->DetectLanguage(&context, request, &response);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "texts[2]: is empty");
}

}  // namespace
}  // namespace millrace::server
