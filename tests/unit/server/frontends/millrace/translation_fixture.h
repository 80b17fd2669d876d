#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {

inline models::TranslateOutput Part(size_t index, std::string text, bool finished) {
  models::TranslateOutput part;
  part.text_index = index;
  part.text = std::move(text);
  part.text_finished = finished;
  part.source_tokens = 2;
  part.target_tokens = 3;
  return part;
}

// "<source><target>(<text>)" as one sentence for each text.
inline void Wrap(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  for (size_t i = 0; i < input.texts.size(); ++i) {
    std::string text = input.source_language + input.target_language + "(" + input.texts[i] + ")";
    for (const models::GlossaryEntry& entry : input.glossary) text += " g:" + entry.target;
    for (const std::string& kept : input.do_not_translate) text += " k:" + kept;
    request.Emit(Part(i, text, true));
  }
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

}  // namespace millrace::server
