#include "server/frontends/libretranslate/libretranslate_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/text/language_detector.h"
#include "nlohmann/json.hpp"
#include "server/security/api_key_store.h"
#include "tests/fakes/joining_thread.h"
#include "tests/fakes/needed.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::JoiningThread;

// "<model's pair>(<text>)", and as many alternatives as are wanted.
void Wrap(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    models::TranslateOutput part;
    part.text_index = i;
    part.text = input.source_language + input.target_language + "(" + input.texts[i] + ")";
    if (input.format == models::TextFormat::kHtml) part.text += "html";
    part.text_finished = true;
    for (int k = 1; k < input.search.hypotheses.value_or(1); ++k)
      part.alternatives.push_back({std::to_string(k), 0});
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

class LibreTranslateRoutesTest : public ::testing::Test {
 protected:
  void Serve(HttpTranslator::Options options = {}, TestServer::Options server = {}) {
    server_ = std::make_unique<TestServer>(server);
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http_ = std::make_unique<HttpServer>(http);
    AddLibreTranslateRoutes(
        *http_, server_->services(),
        std::make_shared<HttpTranslator>(server_->services(), std::move(options)));
    ASSERT_TRUE(http_->Start().ok());
  }
  void AddModels(const testing::ModelHooks& hooks = {.complete = Wrap}) {
    models::ModelInfo info = TranslatorInfo("en-pt", "en", "pt");
    info.translation().max_hypotheses = 3;
    server_->Add(info, hooks);
    server_->Add(TranslatorInfo("pt-en", "pt", "en"), hooks);
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Stop();
    if (http_ != nullptr) http_->Stop();
  }

  struct Answer {
    int status = 0;
    httplib::Headers headers;
    json body;

    std::string error() const { return body.at("error"); }
  };
  static Answer Of(const httplib::Result& result) {
    if (!result) return {};
    return {result->status, result->headers, json::parse(result->body)};
  }
  Answer Post(const std::string& path, const json& body, const httplib::Headers& headers = {}) {
    httplib::Client client("127.0.0.1", http_->port());
    return Of(client.Post(path, headers, body.dump(), "application/json"));
  }
  Answer PostForm(const std::string& path, const std::string& body) {
    httplib::Client client("127.0.0.1", http_->port());
    return Of(client.Post(path, body, "application/x-www-form-urlencoded"));
  }
  Answer Get(const std::string& path) {
    httplib::Client client("127.0.0.1", http_->port());
    return Of(client.Get(path));
  }

  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HttpServer> http_;
};

TEST_F(LibreTranslateRoutesTest, TranslatesATextAndAList) {
  Serve();
  AddModels();
  const Answer one = Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}});
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.body, json::parse(R"json({"translatedText": "enpt(a)"})json"));
  const Answer list = Post("/translate", {{"q", {"a", "", "b"}},
                                          {"source", "en"},
                                          {"target", "pt"},
                                          {"format", "html"},
                                          {"alternatives", 9}});
  EXPECT_EQ(list.body, json::parse(R"({"translatedText": ["enpt(a)html", "", "enpt(b)html"],
                                       "alternatives": [["1", "2"], [], ["1", "2"]]})"));
}

TEST_F(LibreTranslateRoutesTest, AFormMayBeLong) {
  Serve();
  AddModels();
  const std::string text(50'000, 'x');
  const Answer answer = PostForm("/translate", "q=" + text + "&source=pt&target=en");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["translatedText"], "pten(" + text + ")");
}

TEST_F(LibreTranslateRoutesTest, AModelWithoutAlternativesGivesNone) {
  Serve();
  AddModels();
  const Answer answer =
      Post("/translate", {{"q", "a"}, {"source", "pt"}, {"target", "en"}, {"alternatives", 3}});
  EXPECT_EQ(answer.body,
            json::parse(R"json({"translatedText": "pten(a)", "alternatives": []})json"));
}

TEST_F(LibreTranslateRoutesTest, TheModelOfThePairGoesBeforeOneOfManyLanguages) {
  Serve();
  models::ModelInfo many = TranslatorInfo("a-many", "en", "pt");
  many.translation().source_languages = many.translation().target_languages = {"en", "pt", "de"};
  server_->Add(many, {.complete = [](models::Request&) { FAIL() << "the wrong model"; }});
  AddModels();
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).status, 200);
}

TEST_F(LibreTranslateRoutesTest, TheLanguageIsDetected) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const Answer answer = Post(
      "/translate", {{"q", "Where is the nearest station?"}, {"source", "auto"}, {"target", "pt"}});
  EXPECT_EQ(answer.body["translatedText"], "enpt(Where is the nearest station?)");
  EXPECT_EQ(answer.body["detectedLanguage"]["language"], "en");
  EXPECT_GT(answer.body["detectedLanguage"]["confidence"], 80);
  // As the original, it takes what it cannot tell for English.
  const Answer number = Post("/translate", {{"q", "42"}, {"source", "auto"}, {"target", "pt"}});
  EXPECT_EQ(number.body["translatedText"], "enpt(42)");
  EXPECT_EQ(number.body["detectedLanguage"], json::parse(R"({"confidence": 0, "language": "en"})"));
  const Answer detected = PostForm("/detect", "q=Onde+fica+a+rua%3F+Obrigado.");
  EXPECT_EQ(detected.status, 200);
  EXPECT_EQ(detected.body[0]["language"], "pt");
}

TEST_F(LibreTranslateRoutesTest, ALanguageWithoutAModelIsEnglishForSureNot) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const json french = "Où se trouve la gare la plus proche, s'il vous plaît ?";
  const Answer answer = Post("/translate", {{"q", french}, {"source", "auto"}, {"target", "pt"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["detectedLanguage"], json::parse(R"({"confidence": 0, "language": "en"})"));
}

TEST_F(LibreTranslateRoutesTest, EachTextOfAListHasALanguageOfItsOwn) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  server_->Add(TranslatorInfo("en-de", "en", "de"), {.complete = Wrap});
  const std::string english = "Where is the nearest station, please?";
  const std::string portuguese = "Onde fica a estação mais próxima, por favor?";
  const Answer answer =
      Post("/translate",
           {{"q", {english, portuguese, "", "ok", english}}, {"source", "auto"}, {"target", "de"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::string wrapped = "ende(" + english + ")";
  EXPECT_EQ(answer.body["translatedText"][0], wrapped);
  EXPECT_EQ(answer.body["translatedText"][1], "ende(pten(" + portuguese + "))");
  EXPECT_EQ(answer.body["translatedText"][2], "");
  EXPECT_EQ(answer.body["translatedText"][4], wrapped);
  const json& detected = answer.body["detectedLanguage"];
  EXPECT_EQ(detected[0]["language"], "en");
  EXPECT_EQ(detected[1]["language"], "pt");
  EXPECT_GT(detected[0]["confidence"], 80);
  EXPECT_GT(detected[1]["confidence"], 80);
  Await([&] { return server_->admission.in_flight() == 0; });
}

TEST_F(LibreTranslateRoutesTest, TextsThatAreInTheTargetLanguageStayBesideOthers) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const std::string english = "Where is the nearest station, please?";
  const std::string portuguese = "Onde fica a estação mais próxima, por favor?";
  for (const bool first : {true, false}) {
    json q = {portuguese, english};
    if (!first) q = {english, portuguese};
    const Answer answer = Post("/translate", {{"q", q}, {"source", "auto"}, {"target", "pt"}});
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.body["translatedText"][first ? 0 : 1], portuguese);
    EXPECT_EQ(answer.body["translatedText"][first ? 1 : 0], "enpt(" + english + ")");
  }
}

TEST_F(LibreTranslateRoutesTest, LanguagesMayHaveTheOriginalsCodes) {
  Serve();
  server_->Add(TranslatorInfo("en-br", "en", "pt-BR"), {.complete = Wrap});
  for (const char* target : {"pb", "pt-BR", "pt", "PT_br"}) {
    const Answer answer = Post("/translate", {{"q", "a"}, {"source", "en-US"}, {"target", target}});
    EXPECT_EQ(answer.body["translatedText"], "enpt-BR(a)") << target;
  }
}

TEST_F(LibreTranslateRoutesTest, LanguagesAndSettingsNeedNothing) {
  Serve();
  AddModels();
  EXPECT_EQ(Get("/languages").body, json::parse(R"([
      {"code": "en", "name": "English", "targets": ["en", "pt"]},
      {"code": "pt", "name": "Portuguese", "targets": ["en", "pt"]}])"));
  EXPECT_EQ(Get("/frontend/settings").body["charLimit"], 100'000);
}

TEST_F(LibreTranslateRoutesTest, ErrorsHaveTheOriginalsShape) {
  Serve();
  AddModels();
  const Answer missing = Post("/translate", {{"source", "en"}, {"target", "pt"}});
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(missing.error(), "Invalid request: missing q parameter");
  const Answer unknown = Post("/translate", {{"q", "a"}, {"source", "xx"}, {"target", "pt"}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.error(), HasSubstr("no loaded model translates from 'xx' to 'pt'"));
  const Answer nul =
      Post("/translate", {{"q", {"a", std::string("b\0", 2)}}, {"source", "en"}, {"target", "pt"}});
  EXPECT_EQ(nul.status, 400);
  EXPECT_THAT(nul.error(), HasSubstr("q[1]: has a NUL at byte 1"));
  const Answer empty = Post("/translate", {{"q", {"", ""}}, {"source", "en"}, {"target", "pt"}});
  EXPECT_EQ(empty.error(), "q[0]: is empty");
  const Answer large =
      Post("/translate", {{"q", std::string(100'001, 'x')}, {"source", "en"}, {"target", "pt"}});
  EXPECT_EQ(large.status, 400);
  EXPECT_THAT(large.error(), HasSubstr("q: has 100001 characters; at most 100000"));
}

TEST_F(LibreTranslateRoutesTest, AnOverloadedServerSaysWhenToComeBack) {
  Gate gate;
  Serve({.max_connections = 1});
  AddModels({.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Wrap});
  const json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}};
  {
    const JoiningThread first([&] { EXPECT_EQ(Post("/translate", body).status, 200); });
    gate.AwaitInside();
    const Answer refused = Post("/translate", body);
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.headers.find("Retry-After")->second, "1");
    EXPECT_THAT(refused.error(), HasSubstr("1 HTTP connections"));
    gate.Open();
  }
  server_->admission.Close();
  EXPECT_EQ(Post("/translate", body).status, 503);
}

TEST_F(LibreTranslateRoutesTest, SuggestionsAreOffWhateverTheFormOfTheBody) {
  Serve();
  EXPECT_EQ(Post("/suggest", {{"q", "a"}}).status, 403);
  EXPECT_EQ(PostForm("/suggest", "q=a").status, 403);
  httplib::Client client("127.0.0.1", http_->port());
  const httplib::MultipartFormDataItems form = {{"q", "a", "", ""}};
  EXPECT_EQ(client.Post("/suggest", form)->status, 403);
}

TEST_F(LibreTranslateRoutesTest, BeforeItHasStartedItIsNotThere) {
  Serve({.started = [] { return false; }});
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).status, 503);
}

TEST_F(LibreTranslateRoutesTest, ADeadlineIsHeld) {
  TestServer::Options options;
  options.max_request_time = std::chrono::milliseconds(1);
  Serve({}, options);
  AddModels({.complete = [](models::Request&) {}});
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).status, 504);
}

TEST_F(LibreTranslateRoutesTest, KeysAreThoseOfTheOtherEndpoints) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "keys";
  std::ofstream(file) << ApiKeyLine("alice", Role::kUser, "the-key-of-alice").value() << "\n";
  const auto keys = ApiKeyStore::Open(file, {.poll_interval = std::chrono::milliseconds(0)});
  ASSERT_TRUE(keys.ok()) << keys.status();
  Serve({}, {.keys = keys->get()});
  AddModels();
  json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}};
  EXPECT_EQ(Post("/translate", body).status, 403);
  EXPECT_EQ(Post("/detect", body).status, 403);
  EXPECT_EQ(Post("/translate", body, {{"Authorization", "Bearer the-key-of-alice"}}).status, 200);
  EXPECT_THAT(Post("/translate", body).error(), HasSubstr("api_key: is missing; a key is needed"));
  body["api_key"] = "wrong";
  EXPECT_EQ(Post("/translate", body).status, 403);
  EXPECT_EQ(Post("/translate", body).error(), "api_key: the API key is not known");
  body["api_key"] = "the-key-of-alice";
  EXPECT_EQ(Post("/translate", body).status, 200);
  EXPECT_EQ(PostForm("/translate", "q=a&source=en&target=pt&api_key=the-key-of-alice").status, 200);
  EXPECT_EQ(Get("/languages").status, 200);
  EXPECT_EQ(Get("/frontend/settings").body["keyRequired"], true);
}

}  // namespace
}  // namespace millrace::server
