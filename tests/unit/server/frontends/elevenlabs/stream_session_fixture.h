#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "server/frontends/elevenlabs/stream_session.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// Speaks 8 samples for each byte and the pauses of the markup, and says when each word is heard.
inline testing::ModelHooks Voice(std::function<void()> before = [] {}) {
  return {.complete = [before = std::move(before)](models::Request& request) {
    before();
    const auto& input = std::get<models::SynthesizeInput>(request.input());
    models::SynthesizeOutput part = Sound(input.text.size() * 8, input.text);
    double pause = input.markup.pause_after;
    for (const auto& marked : input.markup.parts) pause += std::max(marked.pause, 0.0);
    part.samples.resize(part.samples.size() + static_cast<size_t>(pause * 8000));
    for (size_t at = 0; at < input.text.size();) {
      const size_t end = std::min(input.text.find(' ', at), input.text.size());
      if (end > at) {
        part.words.push_back({.text = input.text.substr(at, end - at),
                              .begin = static_cast<int64_t>(at * 8),
                              .end = static_cast<int64_t>(end * 8),
                              .character = at});
      }
      at = end + 1;
    }
    request.Emit(std::move(part));
    request.Finish(absl::OkStatus());
  }};
}

class StreamClient {
 public:
  StreamClient(
      Services& services, absl::StatusOr<StreamOptions> options, StreamSession::Client client = {},
      std::function<bool()> started = [] { return true; })
      : session(services, std::move(options), std::move(client), std::move(started),
                [changes = changes_] { ++*changes; }) {}

  void Send(const nlohmann::json& message) { SendText(message.dump()); }
  void SendText(const std::string& text) {
    session.Receive({text});
    session.Advance();
  }
  // Reads the next message, as it comes.
  nlohmann::json Read() {
    for (;;) {
      const int before = *changes_;
      session.Advance();
      if (auto message = session.Take()) {
        EXPECT_FALSE(message->binary);
        session.OnAllSent();
        return nlohmann::json::parse(message->data);
      }
      if (session.end()) return "closed " + std::to_string(static_cast<int>(session.end()->code));
      Await([&] { return *changes_ != before; });
    }
  }
  // Reads up to the last message of a text: its characters, or the error.
  std::string ReadText(std::string id = "") {
    std::string text;
    for (;;) {
      const nlohmann::json message = Read();
      if (message.is_string()) return text + message.get<std::string>();
      if (message.contains("error")) return message["message"];
      EXPECT_EQ(message.value("contextId", ""), id);
      audio_bytes_ +=
          message["audio"].is_null() ? 0 : Decoded(message["audio"].get<std::string>()).size();
      if (!message["alignment"].is_null()) {
        EXPECT_EQ(message["alignment"], message["normalizedAlignment"]);
        text += absl::StrJoin(message["alignment"]["chars"].get<std::vector<std::string>>(), "");
      }
      if (message["isFinal"] == true) return text;
    }
  }
  size_t audio_bytes() const { return audio_bytes_; }

  static std::string Decoded(const std::string& base64) {
    std::string bytes;
    EXPECT_TRUE(absl::Base64Unescape(base64, &bytes));
    return bytes;
  }

 private:
  const std::shared_ptr<std::atomic<int>> changes_ = std::make_shared<std::atomic<int>>(0);
  size_t audio_bytes_ = 0;

 public:
  StreamSession session;
};

class StreamSessionTest : public ::testing::Test {
 protected:
  explicit StreamSessionTest(TestBackend::Options options = {}) : backend_(options) {}

  static StreamOptions Options(bool multi) {
    StreamOptions options;
    options.multi = multi;
    options.speech.model = "joe";
    options.speech.format = models::AudioFormat::kPcmS16;
    options.speech.word_times = true;
    return options;
  }
  double Ended(absl::StatusCode code) {
    const auto method = Method::kElevenLabsTextStream;
    return backend_.Count("joe", method, code) + backend_.Count("", method, code);
  }
  void AwaitQuiet() {
    Await([this] { return backend_.admission.in_flight() == 0; });
  }

  TestBackend backend_;
};

class SpeakingStreamSessionTest : public StreamSessionTest {
 protected:
  SpeakingStreamSessionTest() { backend_.Add(VoiceInfo("joe"), Voice()); }
};

}  // namespace millrace::server
