#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "server/frontends/millrace/translation_service.h"
#include "tests/unit/server/frontends/millrace/translation_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

using TranslationPivotTest = TranslationServiceTest;

TEST_F(TranslationPivotTest, APairWithoutAModelGoesThroughEnglish) {
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  server_.Add(TranslatorInfo("en-de", "en", "de"), {.complete = Wrap});
  auto request = Texts({"a", "", "b"});
  request.set_source_language("pt");
  request.set_target_language("de");
  auto& entry = *request.add_glossary();
  entry.set_source("rio");
  entry.set_target("Fluss");
  request.add_do_not_translate("X");
  const grpc::Status status = Translate(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response_.translations(0).text(), "ende(pten(a) g:Fluss k:X) g:Fluss k:X");
  EXPECT_EQ(response_.translations(1).status().code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(response_.translations(2).text(), "ende(pten(b) g:Fluss k:X) g:Fluss k:X");
  EXPECT_EQ(response_.translations(2).source_tokens(), 2);
  EXPECT_EQ(response_.translations(2).target_tokens(), 3);
  EXPECT_EQ(response_.model(), "en-de");
  EXPECT_EQ(response_.route().pivot_language(), "en");
  EXPECT_EQ(response_.route().source_language(), "pt");
  EXPECT_EQ(response_.route().target_language(), "de");
  EXPECT_EQ(std::vector<std::string>(response_.route().models().begin(),
                                     response_.route().models().end()),
            (std::vector<std::string>{"pt-en", "en-de"}));
  EXPECT_EQ(server_.metrics.ForModel("en-de")->target_tokens.Value(), 6);
  Await([&] { return server_.admission.in_flight() == 0; });

  const auto stub = v1::TranslationService::NewStub(server_.channel);
  grpc::ClientContext context;
  const auto reader = stub->StreamTranslate(&context, request);
  std::string all;
  std::string pivot;
  for (v1::StreamTranslateResponse part; reader->Read(&part);) {
    all += std::to_string(part.text_index()) + part.text() + "|";
    pivot += part.route().pivot_language();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(all,
            "1|0ende(pten(a) g:Fluss k:X) g:Fluss k:X|2ende(pten(b) g:Fluss k:X) g:Fluss k:X|");
  EXPECT_EQ(pivot, "en");
}

TEST_F(TranslationPivotTest, WhatTheFirstModelGivesNothingOfIsDone) {
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = [](models::Request& request) {
                request.Emit(Part(0, "", true));
                request.Finish(absl::OkStatus());
              }});
  server_.Add(TranslatorInfo("en-de", "en", "de"), {.complete = Wrap});
  auto request = Texts({"a"});
  request.set_source_language("pt");
  request.set_target_language("de");
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.translations(0).text(), "");
  EXPECT_EQ(response_.translations(0).source_tokens(), 2);
}

TEST_F(TranslationPivotTest, WhatTheSecondModelCannotDoIsToldAtOnce) {
  server_.Add(TranslatorInfo("pt-en", "pt", "en"),
              {.complete = [](models::Request&) { FAIL() << "the first model was run"; }});
  server_.Add(TranslatorInfo("en-de", "en", "de"), {.validate = [](const models::Input&) {
                return absl::InvalidArgumentError("hypotheses: no");
              }});
  auto request = Texts({"a"});
  request.set_source_language("pt");
  request.set_target_language("de");
  const grpc::Status status = Translate(request);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "hypotheses: no");
}

TEST_F(TranslationPivotTest, ACallThatIsCancelledInItsSecondHalfEnds) {
  Gate gate;
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  server_.Add(
      TranslatorInfo("en-de", "en", "de"),
      {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = [](models::Request&) {}});
  auto request = Texts({"a"});
  request.set_source_language("pt");
  request.set_target_language("de");
  grpc::ClientContext context;
  std::thread client([&] {
    v1::TranslateResponse response;
    EXPECT_EQ(v1::TranslationService::NewStub(server_.channel)
                  ->Translate(&context, request, &response)
                  .error_code(),
              StatusCode::CANCELLED);
  });
  gate.AwaitInside();
  EXPECT_EQ(server_.admission.in_flight(), 1);
  context.TryCancel();
  client.join();
  gate.Open();  // a request that never finishes goes on until nobody is seen to want it
  Await([&] { return server_.admission.in_flight() == 0; });
}

TEST_F(TranslationPivotTest, TextInTheTargetLanguageComesBackAsItIs) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {});
  auto request = Texts({"Ol\xC3\xA1.", ""});
  request.set_source_language("pt");
  request.set_target_language("PT");
  request.mutable_search()->set_hypotheses(2'000'000'000);  // there are none
  ASSERT_TRUE(Translate(request).ok());
  EXPECT_EQ(response_.translations(0).text(), "Ol\xC3\xA1.");
  EXPECT_EQ(response_.translations(0).alternatives_size(), 0);
  EXPECT_EQ(response_.translations(0).target_characters(), 4);
  EXPECT_EQ(response_.translations(1).status().code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(response_.model(), "");
  EXPECT_EQ(response_.route().models_size(), 0);

  const auto stub = v1::TranslationService::NewStub(server_.channel);
  grpc::ClientContext context;
  const auto reader = stub->StreamTranslate(&context, request);
  std::string all;
  for (v1::StreamTranslateResponse part; reader->Read(&part);)
    all += std::to_string(part.text_index()) + part.text() + "|";
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(all, "1|0Ol\xC3\xA1.|");

  request.set_source_language("xx");
  request.set_target_language("xx");
  EXPECT_EQ(Translate(request).error_code(), StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace millrace::server
