#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/elevenlabs/character_times.h"
#include "server/frontends/elevenlabs/stream_message.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_speech.h"
#include "server/security/caller.h"
#include "server/websocket/session.h"

namespace millrace::server {

// The wishes of the request that opened a session.
struct StreamOptions {
  // multi-stream-input, where a connection speaks several texts, each with a context_id; else
  // stream-input, where it speaks one and is closed with its end.
  bool multi = false;
  SpeechRequest speech;  // has no text
  bool auto_mode =
      false;  // each message is spoken as it is, without waiting for the sentence's end
  Duration inactivity_timeout = std::chrono::seconds(20);
};

// ElevenLabs' text to speech on a WebSocket. What is wrong with a text ends that text alone, where
// there are several; what is wrong with a message ends the session.
class StreamSession final : public WebSocketSession {
 public:
  // The most texts that a session speaks at once.
  static constexpr size_t kMaxContexts = 16;

  struct Client {
    Caller caller;  // for the log
    // OK: it has sent a key that is known, or needs none. Not OK without a key: the first message
    // has it.
    absl::Status access;
    bool sent_key = false;
  };

  // options: an error is told to the client. started: returns true once the models are loaded.
  // changed: see TextSpeech. services: must outlive the session and its work.
  StreamSession(Services& services, absl::StatusOr<StreamOptions> options, Client client,
                std::function<bool()> started, std::function<void()> changed);
  ~StreamSession() override;

  void Receive(WebSocketMessage message) override;
  bool wants_message() const override;
  std::optional<WebSocketMessage> Take() override;
  void OnAllSent() override;
  const std::optional<End>& end() const override { return end_; }
  void Fail(WebSocketClose code, const std::string& message) override;
  bool idle() const override;
  TimePoint due() const override;
  void Advance() override;

 private:
  // A text, and how far its client is with it.
  struct Context {
    std::string id;
    std::shared_ptr<TextSpeech> speech;
    std::string waiting;  // text that the speech does not want yet
    bool flush = false;   // behind what waits
    bool ended = false;   // no text follows
    bool all_flushed = true;
    bool overdue = false;           // the speech has been told to end
    TimePoint last_activity{};      // the last of the client or of its audio
    CharacterTimes times;           // to be sent with audio
    std::optional<int64_t> origin;  // where the audio begins that has not been sent
  };
  using Contexts = std::list<Context>;

  absl::Status Authorize(const StreamMessage& message);
  void Handle(StreamMessage message);
  Contexts::iterator Find(const std::string& id);
  // Begins a text. contexts_.end(): there are too many.
  Contexts::iterator Open(const StreamMessage& message);
  void Add(Context& context, const StreamMessage& message);
  void CloseContext(Contexts::iterator context);
  void EndText(Context& context);
  // Hands on the text that waits, as far as it is wanted.
  void Push(Context& context);
  TimePoint DueOf(const Context& context) const;
  // Ends a context that its client has left, or that has lasted too long.
  void EndOverdue(Context& context);
  // Returns a message with the next piece of a context.
  std::string PieceMessage(Context& context, const SpokenPiece& piece);
  std::string FinalMessage(Context& context);
  std::string AudioMessage(Context& context, nlohmann::ordered_json audio,
                           nlohmann::ordered_json is_final);
  // Tells of an error: of a context, or of the session, which it ends.
  std::string ErrorMessage(std::string_view name, std::string_view message, uint16_t code,
                           const std::string* context_id);
  // Returns a message of a context, or of the session if that is null, with the members that had no
  // effect since the last one.
  std::string MessageText(nlohmann::ordered_json message, const std::string* context_id);
  void EndWith(const absl::Status& status);
  void EndWith(WebSocketClose code, std::string_view name, std::string_view message);
  // Ends a context with an error, and the session if it has no other.
  void FailContext(const Context& context, const absl::Status& status);

  Services& services_;
  Client client_;
  const std::function<bool()> started_;
  const std::function<void()> changed_;
  absl::Status options_status_;  // told to a client whose key is known
  StreamOptions options_;
  bool authorized_ = false;
  bool closing_ = false;  // once all texts are spoken
  Contexts contexts_;
  std::deque<std::string> replies_;                 // messages that go before audio
  std::vector<std::string> ignored_;                // members, to be told with the next message
  std::vector<std::shared_ptr<TextSpeech>> taken_;  // their ends are on the way to the client
  std::optional<End> end_;
  const TimePoint opened_;
  TimePoint last_message_;
};

}  // namespace millrace::server
