#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "riva/nmt.pb.h"
#include "server/frontends/riva/riva_translation_service.h"
#include "tests/fakes/fake_call.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "<source><target>(<text>)" as one sentence for each text, with its terms.
void Wrap(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    models::TranslateOutput part;
    part.text_index = i;
    part.text = input.source_language + input.target_language + "(" + input.texts[i] + ")";
    for (const auto& [source, target] : input.glossary) part.text += " " + source + "=" + target;
    for (const std::string& kept : input.do_not_translate) part.text += " " + kept;
    part.text_finished = true;
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

class RivaTranslationTest : public ::testing::Test {
 protected:
  using Request = nvidia::riva::nmt::TranslateTextRequest;

  RivaTranslationTest() {
    backend_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
    backend_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  }

  static Request Texts(const std::vector<std::string>& texts) {
    Request request;
    for (const std::string& text : texts) request.add_texts(text);
    request.set_source_language("en");
    request.set_target_language("pt");
    return request;
  }
  absl::Status Translate(const Request& request) {
    testing::FakeCall call(request.SerializeAsString());
    call.Begin(service_, "TranslateText");
    const absl::Status status = call.RunToEnd();
    EXPECT_TRUE(!status.ok() || response_.ParseFromString(call.reply()));
    return status;
  }
  std::vector<std::string> Results() const {
    std::vector<std::string> results;
    for (const auto& one : response_.translations())
      results.push_back(one.language() + ":" + one.text());
    return results;
  }

  TestBackend backend_;
  RivaTranslationService service_{backend_.services()};
  nvidia::riva::nmt::TranslateTextResponse response_;
};

TEST_F(RivaTranslationTest, TranslatesTextsInOrder) {
  Request request = Texts({"One.", "", "Two."});
  request.mutable_id()->set_value("mine");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_THAT(Results(), ElementsAre("pt:enpt(One.)", "pt:", "pt:enpt(Two.)"));
  EXPECT_EQ(response_.id().value(), "mine");
  EXPECT_EQ(backend_.Count("en-pt", Method::kRivaTranslateText, absl::StatusCode::kOk), 1);
}

TEST_F(RivaTranslationTest, LanguagesAreLookedUp) {
  Request request = Texts({"One."});
  request.set_source_language("en-US");
  request.set_target_language("pt-BR");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_THAT(Results(), ElementsAre("pt:enpt(One.)"));
}

TEST_F(RivaTranslationTest, PhrasesBecomeTerms) {
  Request request = Texts({"One."});
  request.add_dnt_phrases("cat##gato,Millrace##");
  request.add_dnt_phrases("mill");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_THAT(Results(), ElementsAre("pt:enpt(One.) cat=gato Millrace mill"));
}

TEST_F(RivaTranslationTest, WrongFieldsAreNamed) {
  Request no_texts = Texts({});
  Request other_model = Texts({"One."});
  other_model.set_model("other");
  Request language = Texts({"One."});
  language.set_target_language("xx");
  Request length = Texts({"One."});
  length.set_max_len_variation("20");
  Request phrases = Texts({"One."});
  phrases.add_dnt_phrases("fine");
  phrases.add_dnt_phrases("##gato");
  Request twice = Texts({"One."});
  twice.add_dnt_phrases("a##b,a##c");
  Request lengthy = Texts({"One."});
  lengthy.add_dnt_phrases(std::string(201, 'a'));
  const struct {
    Request request;
    absl::StatusCode code;
    std::string words;
  } bad[] = {
      {no_texts, absl::StatusCode::kInvalidArgument, "texts: is empty"},
      {Texts({std::string("a\0b", 3), "Two."}), absl::StatusCode::kInvalidArgument,
       "texts[0]: has a NUL"},
      {Texts({std::string(100'001, 'a')}), absl::StatusCode::kInvalidArgument, "texts: has 100001"},
      {Texts({""}), absl::StatusCode::kInvalidArgument, "texts[0]: is empty"},
      {other_model, absl::StatusCode::kNotFound, "other"},
      {language, absl::StatusCode::kNotFound, "xx"},
      {length, absl::StatusCode::kInvalidArgument, "max_len_variation: '20' is not supported"},
      {phrases, absl::StatusCode::kInvalidArgument, "dnt_phrases[1]: '##gato' has no term"},
      {twice, absl::StatusCode::kInvalidArgument, "dnt_phrases, glossary[1]: 'a' is 'c' here"},
      {lengthy, absl::StatusCode::kInvalidArgument,
       "dnt_phrases, do_not_translate[0]: has 201 characters"}};
  for (const auto& [request, code, words] : bad) {
    const absl::Status status = Translate(request);
    EXPECT_EQ(status.code(), code) << words;
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
}

TEST_F(RivaTranslationTest, ListsLanguagesByModel) {
  const auto list = [&](const std::string& model, absl::StatusCode code) {
    nvidia::riva::nmt::AvailableLanguageRequest request;
    request.set_model(model);
    testing::FakeCall call(request.SerializeAsString());
    call.Begin(service_, "ListSupportedLanguagePairs");
    EXPECT_EQ(call.RunToEnd().code(), code);
    nvidia::riva::nmt::AvailableLanguageResponse response;
    EXPECT_TRUE(response.ParseFromString(call.reply()));
    return response;
  };
  const auto all = list("", absl::StatusCode::kOk).languages();
  EXPECT_EQ(all.size(), 2U);
  EXPECT_THAT(all.at("en-pt").src_lang(), ElementsAre("en"));
  EXPECT_THAT(all.at("en-pt").tgt_lang(), ElementsAre("pt"));
  EXPECT_EQ(list("pt-en", absl::StatusCode::kOk).languages().size(), 1U);
  list("other", absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::server
