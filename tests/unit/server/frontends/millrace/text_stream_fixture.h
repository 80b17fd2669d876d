#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {

class TextStreamClient {
 public:
  explicit TextStreamClient(const TestServer& server)
      : stub_(v1::SynthesisService::NewStub(server.NewChannel())) {
    context.set_wait_for_ready(true);
    stream_ = stub_->SynthesizeTextStream(&context);
  }
  ~TextStreamClient() {
    if (stream_ == nullptr) return;
    context.TryCancel();
    Finish();
  }

  void Configure(const std::string& voice = "") {
    v1::SynthesizeTextStreamRequest request;
    request.mutable_config()->set_model("joe");
    request.mutable_config()->set_voice(voice);
    Write(request);
  }
  void Say(const std::string& text, bool flush = false) {
    v1::SynthesizeTextStreamRequest request;
    request.set_text(text);
    request.set_flush(flush);
    Write(request);
  }
  void Write(const v1::SynthesizeTextStreamRequest& request) { stream_->Write(request); }
  void Done() { stream_->WritesDone(); }
  // The next message's sentence and its text, "" at the end.
  std::string Read() {
    v1::StreamSynthesizeResponse response;
    if (!stream_->Read(&response)) return "";
    bytes += response.audio().size();
    for (const v1::SpokenSpan& word : response.words()) words.push_back(word);
    return std::to_string(response.sentence_index()) + " " + response.text();
  }
  std::vector<std::string> ReadAll() {
    std::vector<std::string> all;
    for (std::string part = Read(); !part.empty(); part = Read()) all.push_back(part);
    return all;
  }
  grpc::Status Finish() {
    while (!Read().empty()) {
    }
    return std::exchange(stream_, nullptr)->Finish();
  }

  grpc::ClientContext context;
  size_t bytes = 0;  // the audio's
  std::vector<v1::SpokenSpan> words;

 private:
  const std::unique_ptr<v1::SynthesisService::Stub> stub_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::SynthesizeTextStreamRequest, v1::StreamSynthesizeResponse>>
      stream_;
};

class TextStreamTest : public ::testing::Test {
 protected:
  TextStreamTest() { server_.Add(VoiceInfo("joe"), voice_.Hooks()); }

  FakeVoice voice_;
  TestServer server_;
};

using Strings = std::vector<std::string>;

}  // namespace millrace::server
