#include "server/frontends/libretranslate/file_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "mps_runtime/base/joining_thread.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/http_client.h"
#include "tests/fakes/open_keys.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Each text in angle quotes.
void Quote(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    models::TranslateOutput part;
    part.text_index = i;
    part.text = "«" + input.texts[i] + "»";
    part.text_finished = true;
    request.Emit(std::move(part));
  }
  request.Finish(absl::OkStatus());
}

class FileRoutesTest : public ::testing::Test {
 protected:
  void Serve(HttpTranslator::Options options = {}, TestBackend::Options server = {},
             const testing::ModelHooks& hooks = {.complete = Quote}) {
    backend_ = std::make_unique<TestBackend>(server);
    HttpServer::Options http;
    http.address = "127.0.0.1:0";
    http.max_body_bytes = 1'000;
    http_ = std::make_unique<HttpServer>(http);
    AddLibreTranslateFileRoutes(
        *http_, backend_->services(),
        std::make_shared<HttpTranslator>(backend_->services(), std::move(options)));
    ASSERT_TRUE(http_->Start().ok());
    backend_->Add(TranslatorInfo("en-pt", "en", "pt"), hooks);
    client_ = std::make_unique<testing::HttpClient>(http_->port());
  }
  void TearDown() override {
    client_.reset();
    if (backend_ == nullptr) return;
    backend_->CloseScheduler();
    backend_->JoinWorkers();
    http_->Stop();
  }

  static httplib::MultipartFormDataItems Form(const std::string& name, const std::string& bytes) {
    return {{"file", bytes, name, "application/octet-stream"},
            {"source", "en", "", ""},
            {"target", "pt", "", ""}};
  }
  struct Answer {
    int status = 0;
    json body;

    std::string error() const { return body.value("error", ""); }
    // The path of the translation.
    std::string path(int port) const {
      const std::string url = body.value("translatedFileUrl", "");
      const std::string before = "http://127.0.0.1:" + std::to_string(port);
      return url.starts_with(before) ? url.substr(before.size()) : "";
    }
  };
  Answer Post(const httplib::MultipartFormDataItems& form, const httplib::Headers& headers = {}) {
    const httplib::Result result = client_->Post("/translate_file", headers, form);
    if (!result) return {};
    return {result->status, json::parse(result->body)};
  }

  std::unique_ptr<TestBackend> backend_;
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<testing::HttpClient> client_;
};

TEST_F(FileRoutesTest, ATranslationIsFetchedByItsAddress) {
  Serve();
  const Answer answer = Post(Form("Olá.srt", "1\n0 --> 1\nHello.\n"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const std::string path = answer.path(http_->port());
  EXPECT_THAT(path, ::testing::MatchesRegex("/download_file/[0-9a-f-]{36}\\.srt"));
  for (int i = 0; i < 2; ++i) {
    const httplib::Result file = client_->Get(path);
    ASSERT_EQ(file->status, 200);
    EXPECT_EQ(file->body, "1\n0 --> 1\n«Hello.»\n");
    EXPECT_EQ(file->get_header_value("Content-Type"), "application/x-subrip");
    // The client decodes what is encoded.
    EXPECT_EQ(file->get_header_value("Content-Disposition"),
              "attachment; filename=\"Ol___pt.srt\"; filename*=UTF-8''Olá_pt.srt");
  }
}

TEST_F(FileRoutesTest, AFileMayBeLongerThanOtherBodies) {
  Serve();
  EXPECT_EQ(Post(Form("a.txt", std::string(50'000, 'a'))).status, 200);
  const Answer refused = Post(Form("a.txt", std::string((10 << 20) + 1, 'a')));
  EXPECT_EQ(refused.status, 413);
  EXPECT_EQ(refused.error(), "file: has 10485761 bytes; at most 10485760 are allowed");
}

TEST_F(FileRoutesTest, AFileWithoutTextComesBackAsItIs) {
  Serve();
  const Answer answer = Post(Form("a.txt", ""));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(client_->Get(answer.path(http_->port()))->body, "");
}

TEST_F(FileRoutesTest, ErrorsNameTheMember) {
  Serve();
  httplib::MultipartFormDataItems form = Form("a.txt", "Hello.");
  form.erase(form.begin());
  EXPECT_EQ(Post(form).error(), "Invalid request: missing file parameter");
  form = Form("a.txt", "Hello.");
  form.erase(form.begin() + 1);
  EXPECT_EQ(Post(form).error(), "Invalid request: missing source parameter");
  form = Form("a.txt", "Hello.");
  form.pop_back();
  EXPECT_EQ(Post(form).error(), "Invalid request: missing target parameter");
  EXPECT_THAT(Post(Form("a.pdf", "x")).error(), StartsWith("file: the name 'a.pdf' ends with no"));
  EXPECT_THAT(Post(Form("\xFF.txt", "x")).error(), StartsWith("file: its name is not valid"));
  EXPECT_THAT(Post(Form("a.docx", "x")).error(), StartsWith("file: is not a zip archive"));
  form = Form("a.txt", "Hello.");
  form[1].content = "xx";
  EXPECT_THAT(Post(form).error(), HasSubstr("'xx'"));
  const httplib::Result no_form = client_->Post("/translate_file", "{}", "application/json");
  EXPECT_EQ(no_form->status, 400);
  EXPECT_THAT(no_form->body, HasSubstr("multipart/form-data"));
}

TEST_F(FileRoutesTest, AnUnknownNameIsNotFound) {
  Serve();
  const httplib::Result result = client_->Get("/download_file/abc.txt");
  EXPECT_EQ(result->status, 404);
  EXPECT_THAT(result->body, HasSubstr("there is no file 'abc.txt'"));
}

TEST_F(FileRoutesTest, UntilTheModelsAreLoadedIs503) {
  Serve({.started = [] { return false; }});
  EXPECT_EQ(Post(Form("a.txt", "Hello.")).status, 503);
}

TEST_F(FileRoutesTest, AnOverloadedServerSaysWhenToComeBack) {
  Gate gate;
  Serve({.files = {.all = 1}}, {},
        {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Quote});
  {
    const JoiningThread first([&] {
      testing::HttpClient client(http_->port());
      EXPECT_EQ(client.Post("/translate_file", Form("a.txt", "Hello."))->status, 200);
    });
    gate.AwaitInside();
    const httplib::Result refused = client_->Post("/translate_file", Form("a.txt", "Hello."));
    EXPECT_EQ(refused->status, 429);
    EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
    EXPECT_THAT(refused->body, HasSubstr("already translates 1 files"));
    gate.Open();
  }
  EXPECT_EQ(Post(Form("a.txt", "Hello.")).status, 200);
}

TEST_F(FileRoutesTest, AnAddressDoesNotTakeAllPlaces) {
  Gate gate;
  Serve({.files = {.of_peer = 1}}, {},
        {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Quote});
  {
    const JoiningThread first([&] {
      testing::HttpClient client(http_->port());
      EXPECT_EQ(client.Post("/translate_file", Form("a.txt", "Hello."))->status, 200);
    });
    gate.AwaitInside();
    const Answer refused = Post(Form("a.txt", "Hello."));
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.error(),
              "the server already translates 1 files of this address, which is the limit");
    gate.Open();
  }
  EXPECT_EQ(Post(Form("a.txt", "Hello.")).status, 200);
}

TEST_F(FileRoutesTest, AClientThatLeavesStopsItsTranslation) {
  std::atomic<bool> began{false};
  std::atomic<bool> cancelled{false};
  // It ends only if it is told to.
  Serve({}, {}, {.complete = [&](models::Request& request) {
          began = true;
          Await([&] { return request.cancelled(); });
          cancelled = true;
          request.Finish(absl::CancelledError("the caller went away"));
        }});
  testing::HttpClient client(http_->port());
  const JoiningThread sending(
      [&] { EXPECT_FALSE(client.Post("/translate_file", Form("a.txt", "Hello."))); });
  Await([&] { return began.load(); });
  client.stop();
  Await([&] { return cancelled.load(); });
  Await([&] {
    return backend_->Count("en-pt", Method::kHttpTranslate, absl::StatusCode::kCancelled) == 1;
  });
  // Its place is free again.
  Await([&] { return backend_->admission.in_flight() == 0; });
}

TEST_F(FileRoutesTest, TranslatingNeedsAKeyAndFetchingDoesNot) {
  const auto keys = testing::OpenKeys({{"alice", Role::kUser, "the-key-of-alice"}});
  Serve({}, {.keys = keys.get()});
  httplib::MultipartFormDataItems form = Form("a.pdf", "Hello.");
  EXPECT_EQ(Post(form).status, 403);
  form = Form("a.txt", "Hello.");
  form.push_back({"api_key", "the-key-of-alice", "", ""});
  const Answer answer = Post(form);
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(client_->Get(answer.path(http_->port()))->body, "«Hello.»");
  form.back().content = "wrong";
  EXPECT_EQ(Post(form).status, 403);
}

}  // namespace
}  // namespace millrace::server
