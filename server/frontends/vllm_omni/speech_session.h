#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/vllm_omni/session_config.h"
#include "server/requests/services.h"
#include "server/requests/speech_names.h"
#include "server/requests/text_speech.h"
#include "server/security/caller.h"
#include "server/websocket/session.h"

namespace millrace::server {

// vLLM-Omni's /v1/audio/speech/stream on a WebSocket: one utterance after another, each spoken
// while its text comes. Errors do not end the session.
class SpeechSession final : public WebSocketSession {
 public:
  struct Context {
    Services& services;
    std::shared_ptr<const SpeechNames> names;
    std::function<bool()> started;  // returns true once the models are loaded
    Duration idle_timeout = std::chrono::minutes(5);
  };

  // access: an error is told to the client and ends the session. changed: see TextSpeech. What the
  // context refers to must outlive the session and its work.
  SpeechSession(Context context, Caller caller, const absl::Status& access,
                std::function<void()> changed);
  ~SpeechSession() override;

  void Receive(WebSocketMessage message) override;
  bool wants_message() const override;
  std::optional<WebSocketMessage> Take() override;
  void OnAllSent() override;
  const std::optional<End>& end() const override { return end_; }
  void Fail(WebSocketClose code, const std::string& message) override;
  bool idle() const override { return utterance_ == nullptr && replies_.empty(); }
  TimePoint due() const override;
  void Advance() override;

 private:
  absl::Status Handle(const nlohmann::json& message);
  absl::Status AddText(const nlohmann::json& message);
  absl::Status EndUtterance();
  // Adds the messages of a piece to the replies.
  void AddPiece(const SpokenPiece& piece);
  void EndSentence(bool error);
  // Adds the messages that end the utterance; those of one that fails before its text is complete
  // in two parts, as the client waits for the end behind its input.done.
  void AddEnd(const absl::Status& status);
  // Adds a message, with the members that had no effect since the last one.
  void Reply(nlohmann::ordered_json message);
  void ReplyError(std::string_view message);

  const Context context_;
  const Caller caller_;
  const std::function<void()> changed_;
  std::optional<SessionConfig> config_;
  std::shared_ptr<TextSpeech> utterance_;
  bool utterance_ended_ = false;  // its text is complete
  bool overdue_ = false;          // it has been told to end
  bool failed_ = false;           // its error was told, and its input.done has not come
  size_t utterances_ = 0;         // complete utterances
  size_t sentences_ = 0;          // sentences of the utterance that were begun
  bool in_sentence_ = false;
  size_t sentence_bytes_ = 0;
  std::string sentence_audio_;  // waits for the end of its sentence
  int rate_ = 0;                // the sample rate of that audio
  std::deque<WebSocketMessage> replies_;
  std::vector<std::string> ignored_;  // members of messages, to be told with the next reply
  std::vector<std::shared_ptr<TextSpeech>> taken_;  // their ends are on the way to the client
  std::optional<End> end_;
  TimePoint last_activity_;
};

}  // namespace millrace::server
