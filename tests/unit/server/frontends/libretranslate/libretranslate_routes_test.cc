#include "server/frontends/libretranslate/libretranslate_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "httplib.h"
#include "models/text/language_detector.h"
#include "mps_runtime/base/joining_thread.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/http_client.h"
#include "tests/fakes/needed.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/frontends/http/translation_routes_fixture.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class LibreTranslateRoutesTest : public TranslationRoutesTest {
 protected:
  void AddRoutes(HttpServer& http, Services& services,
                 std::shared_ptr<HttpTranslator> translator) override {
    AddLibreTranslateRoutes(http, services, std::move(translator));
  }
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
  backend_->Add(many, {.complete = [](models::Request&) { FAIL() << "the wrong model"; }});
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

TEST_F(LibreTranslateRoutesTest, ATextInALanguageWithoutAModelIsReturned) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  const json french = "Où se trouve la gare la plus proche, s'il vous plaît ?";
  const Answer answer = Post("/translate", {{"q", french}, {"source", "auto"}, {"target", "pt"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body["detectedLanguage"]["language"], "fr");
  EXPECT_EQ(answer.body["translatedText"], french);
  EXPECT_FALSE(answer.body["untranslated"].get<std::string>().empty());
}

TEST_F(LibreTranslateRoutesTest, EachTextOfAListHasALanguageOfItsOwn) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "built without a detector");
  Serve();
  AddModels();
  backend_->Add(TranslatorInfo("en-de", "en", "de"), {.complete = WrapTexts});
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
  Await([&] { return backend_->admission.in_flight() == 0; });
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
  backend_->Add(TranslatorInfo("en-br", "en", "pt-BR"), {.complete = WrapTexts});
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
  EXPECT_EQ(large.status, 413);
  EXPECT_THAT(large.error(), HasSubstr("q: has 100001 characters; at most 100000"));
}

TEST_F(LibreTranslateRoutesTest, AnOverloadedServerSaysWhenToComeBack) {
  Gate gate;
  Serve({.max_connections = 1});
  AddModels({.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = WrapTexts});
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
  backend_->admission.Close();
  EXPECT_EQ(Post("/translate", body).status, 503);
}

TEST_F(LibreTranslateRoutesTest, SuggestionsAreOffWhateverTheFormOfTheBody) {
  Serve();
  EXPECT_EQ(Post("/suggest", {{"q", "a"}}).status, 403);
  EXPECT_EQ(PostForm("/suggest", "q=a").status, 403);
  testing::HttpClient client(http_->port());
  const httplib::MultipartFormDataItems form = {{"q", "a", "", ""}};
  EXPECT_EQ(client.Post("/suggest", form)->status, 403);
}

TEST_F(LibreTranslateRoutesTest, BeforeItHasStartedItIsNotThere) {
  Serve({.started = [] { return false; }});
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).status, 503);
  // A client would keep a list without languages.
  EXPECT_EQ(Get("/languages").status, 503);
}

TEST_F(LibreTranslateRoutesTest, ADeadlineIsHeld) {
  TestBackend::Options options;
  options.max_request_time = std::chrono::milliseconds(1);
  Serve({}, options);
  AddModels({.complete = [](models::Request&) {}});
  EXPECT_EQ(Post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "pt"}}).status, 504);
}

// The events of an answer.
std::vector<json> EventsOf(const std::string& body) {
  std::vector<json> events;
  for (const absl::string_view line : absl::StrSplit(body, "\n\n", absl::SkipEmpty())) {
    EXPECT_TRUE(absl::StartsWith(line, "data: ")) << line;
    events.push_back(json::parse(line.substr(6)));
  }
  return events;
}

TEST_F(LibreTranslateRoutesTest, AStreamHasThePiecesAndThenTheAnswer) {
  Serve();
  Gate gate;
  models::ModelInfo info = TranslatorInfo("en-pt", "en", "pt");
  info.translation().max_hypotheses = 2;
  backend_->Add(info, {.complete = [&gate](models::Request& request) {
                  request.Emit(models::TranslateOutput{.text = "um ", .sentence_finished = false});
                  gate.Pass();
                  models::TranslateOutput rest{.text = "dois", .text_finished = true};
                  rest.alternatives.push_back({"tres", 0});
                  request.Emit(std::move(rest));
                  request.Finish(absl::OkStatus());
                }});
  const json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}, {"alternatives", 1}};
  httplib::Request request;
  request.method = "POST";
  request.path = "/translate/stream";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body.dump();
  std::string received;
  request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
    received.append(data, size);
    gate.Open();  // the first piece comes while the model still works
    return true;
  };
  testing::HttpClient client(http_->port());
  const auto answer = client.send(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->get_header_value("Content-Type"), "text/event-stream");
  const std::vector<json> events = EventsOf(received);
  ASSERT_EQ(events.size(), 3U) << received;
  EXPECT_EQ(events[0], json::parse(R"({"type": "translation.delta", "text_index": 0, "text": "um ",
                                       "sentence_finished": false, "text_finished": false})"));
  EXPECT_EQ(events[1]["text"], "dois");
  EXPECT_EQ(events[1]["text_finished"], true);
  EXPECT_EQ(events[2], json::parse(R"({"type": "translation.done", "answer":
                                       {"translatedText": "um dois", "alternatives": ["tres"]}})"));
  Await(
      [&] { return backend_->Count("en-pt", Method::kHttpTranslate, absl::StatusCode::kOk) == 1; });
}

TEST_F(LibreTranslateRoutesTest, AStreamThatIsRefusedIsAnError) {
  Serve();
  AddModels();
  const json body = {{"q", "a"}, {"source", "en"}, {"target", "xx"}};
  EXPECT_EQ(Post("/translate/stream", body).status, 400);
  EXPECT_THAT(Post("/translate/stream", {{"source", "en"}}).error(), HasSubstr("missing q"));
}

TEST_F(LibreTranslateRoutesTest, AStreamThatFailsHalfwayEndsWithTheError) {
  Serve();
  backend_->Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = [](models::Request& request) {
                  request.Emit(models::TranslateOutput{.text = "um"});
                  request.Finish(absl::InternalError("it broke"));
                }});
  testing::HttpClient client(http_->port());
  const json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}};
  const auto answer = client.Post("/translate/stream", body.dump(), "application/json");
  ASSERT_TRUE(answer);
  // The end may be known before anything was sent.
  if (answer->status == 500) return;
  EXPECT_EQ(EventsOf(answer->body).back(),
            json::parse(R"({"type": "error", "error": "it broke"})"));
}

TEST_F(LibreTranslateRoutesTest, AStreamWhoseClientLeavesIsCancelled) {
  Serve();
  // It never ends by itself.
  backend_->Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = [](models::Request& request) {
                  request.Emit(models::TranslateOutput{.text = "um ", .sentence_finished = false});
                }});
  const json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}};
  httplib::Request request;
  request.method = "POST";
  request.path = "/translate/stream";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = body.dump();
  request.content_receiver = [](const char*, size_t, uint64_t, uint64_t) { return false; };
  {
    testing::HttpClient client(http_->port());
    EXPECT_FALSE(client.send(request));
  }
  Await([&] {
    return backend_->Count("en-pt", Method::kHttpTranslate, absl::StatusCode::kCancelled) == 1;
  });
  Await([&] { return backend_->admission.in_flight() == 0; });
}

TEST_F(LibreTranslateRoutesTest, ATextThatNeedsNoModelIsInTheEndOfTheStream) {
  Serve();
  AddModels();
  testing::HttpClient client(http_->port());
  const json body = {{"q", "olá"}, {"source", "pt"}, {"target", "pt"}};
  const auto answer = client.Post("/translate/stream", body.dump(), "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(EventsOf(answer->body).back()["answer"]["translatedText"], "olá");
}

TEST_F(LibreTranslateRoutesTest, KeysAreThoseOfTheOtherEndpoints) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "the-key-of-alice"}});
  Serve({}, {.keys = keys.get()});
  AddModels();
  json body = {{"q", "a"}, {"source", "en"}, {"target", "pt"}};
  EXPECT_EQ(Post("/translate", body).status, 403);
  EXPECT_EQ(Post("/detect", body).status, 403);
  EXPECT_EQ(Post("/translate/stream", body).status, 403);
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
