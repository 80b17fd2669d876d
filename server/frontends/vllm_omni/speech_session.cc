#include "server/frontends/vllm_omni/speech_session.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/audio/audio_encoder.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"
#include "server/json/json_parse.h"
#include "server/json/json_text.h"
#include "server/logging/logging.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxReplies = 64;

// Returns 16-bit samples as a file.
absl::StatusOr<std::string> MakeFile(std::string_view samples, models::AudioFormat format,
                                     int rate) {
  if (format == models::AudioFormat::kPcmS16) return std::string(samples);
  MILLRACE_ASSIGN_OR_RETURN(auto encoder,
                            models::MakeAudioEncoder({.format = format,
                                                      .container = models::AudioContainer::kFile,
                                                      .input_rate = rate,
                                                      .output_rate = rate}));
  std::vector<float> floats(samples.size() / 2);
  for (size_t i = 0; i < floats.size(); ++i) {
    const auto low = static_cast<uint8_t>(samples[2 * i]);
    const auto high = static_cast<uint8_t>(samples[2 * i + 1]);
    floats[i] = static_cast<float>(static_cast<int16_t>(high << 8 | low)) / 32'768;
  }
  std::string file = encoder->Push(floats);
  MILLRACE_ASSIGN_OR_RETURN(const std::string rest, encoder->Close());
  return file + rest;
}

}  // namespace

SpeechSession::SpeechSession(Context context, Caller caller, const absl::Status& access,
                             std::function<void()> changed)
    : context_(std::move(context)),
      caller_(std::move(caller)),
      changed_(std::move(changed)),
      last_activity_(context_.services.clock.Now()) {
  if (!access.ok()) Fail(WebSocketClose::kPolicyViolation, std::string(Message(access)));
}

SpeechSession::~SpeechSession() {
  if (utterance_ != nullptr) utterance_->Fail(absl::CancelledError("the caller went away"));
}

void SpeechSession::Receive(WebSocketMessage message) {
  last_activity_ = context_.services.clock.Now();
  const absl::Status status = OrInternal([&]() -> absl::Status {
    if (message.binary) return InvalidArgument("messages must be text, not binary");
    const absl::StatusOr<nlohmann::json> parsed = ParseObject("the message", message.data);
    return parsed.ok() ? Handle(*parsed) : parsed.status();
  });
  if (!status.ok()) ReplyError(Message(status));
}

absl::Status SpeechSession::Handle(const nlohmann::json& message) {
  std::string type;
  const auto found = message.find("type");
  if (found == message.end()) return InvalidArgument("type: is missing");
  MILLRACE_RETURN_IF_ERROR(TakeString(*found, "type", type));
  if (!context_.started()) return Starting();
  if (type == "session.config") {
    if (utterance_ != nullptr) {
      return FailedPrecondition("session.config: comes before the input.done of the text before");
    }
    if (failed_) AddEnd(absl::OkStatus());
    MILLRACE_ASSIGN_OR_RETURN(SessionConfig config, ParseSessionConfig(message, *context_.names));
    MILLRACE_RETURN_IF_ERROR(CheckStreamOptions(config.speech, context_.services).status());
    for (std::string& name : config.ignored) AddIgnored(std::move(name), ignored_);
    config_ = std::move(config);
    return absl::OkStatus();
  }
  const bool is_text = type == "input.text";
  AddIgnored(message, {"type", is_text ? "text" : "type"}, "", ignored_);
  if (is_text) return AddText(message);
  if (type == "input.done") return EndUtterance();
  if (type == "session.close") {
    end_ = End{};
    return absl::OkStatus();
  }
  return InvalidArgument(
      "type: ", Shown(type),
      " is not known; it is session.config, input.text, input.done or session.close");
}

absl::Status SpeechSession::AddText(const nlohmann::json& message) {
  if (!config_) return FailedPrecondition("input.text: needs session.config before it");
  std::string text;
  const auto found = message.find("text");
  if (found == message.end()) return InvalidArgument("text: is missing");
  MILLRACE_RETURN_IF_ERROR(TakeString(*found, "text", text));
  if (failed_) return absl::OkStatus();
  if (utterance_ == nullptr) {
    utterance_ =
        std::make_shared<TextSpeech>(context_.services, Method::kVllmOmniTextStream,
                                     Requester{.request_id = {}, .caller = caller_}, changed_);
    utterance_->Start(config_->speech);
  }
  utterance_->Push(text, /*flush=*/false);
  return absl::OkStatus();
}

absl::Status SpeechSession::EndUtterance() {
  if (utterance_ != nullptr) {
    utterance_ended_ = true;
    utterance_->EndText();
    return absl::OkStatus();
  }
  if (!config_) return FailedPrecondition("input.done: needs session.config before it");
  AddEnd(absl::OkStatus());
  return absl::OkStatus();
}

bool SpeechSession::wants_message() const {
  if (end_ || replies_.size() >= kMaxReplies) return false;
  // The next utterance waits for the end of this one, and more text until it is wanted.
  return utterance_ == nullptr || (!utterance_ended_ && utterance_->WantsText());
}

std::optional<WebSocketMessage> SpeechSession::Take() {
  while (replies_.empty() && utterance_ != nullptr && !end_) {
    last_activity_ = context_.services.clock.Now();
    if (const std::optional<SpokenPiece> piece = utterance_->Take()) {
      AddPiece(*piece);
      continue;
    }
    const std::optional<absl::Status> end = utterance_->end();
    if (!end) break;
    taken_.push_back(std::move(utterance_));
    AddEnd(*end);
  }
  if (replies_.empty()) return std::nullopt;
  WebSocketMessage message = std::move(replies_.front());
  replies_.pop_front();
  return message;
}

void SpeechSession::AddPiece(const SpokenPiece& piece) {
  if (!in_sentence_) {
    // The resampler holds back a moment of silence of the last sentence, which is told by its lack
    // of times. A pause between or behind sentences has no text either, and is heard.
    if (piece.text.empty() && (piece.sample_rate == 0 || piece.audio.empty())) return;
    in_sentence_ = true;
    sentence_bytes_ = 0;
    rate_ = piece.encoded_rate;
    Reply({{"type", "audio.start"},
           {"utterance_index", utterances_},
           {"sentence_index", sentences_},
           {"sentence_text", piece.text},
           {"format", config_->format_name},
           {"sample_rate", rate_}});
    ++sentences_;
  }
  if (config_->stream_audio) {
    sentence_bytes_ += piece.audio.size();
    if (!piece.audio.empty()) replies_.push_back({piece.audio, true});
  } else {
    sentence_audio_ += piece.audio;
  }
  if (piece.sentence_finished) EndSentence(/*error=*/false);
}

void SpeechSession::EndSentence(bool error) {
  if (!std::exchange(in_sentence_, false)) return;
  const std::string samples = std::exchange(sentence_audio_, {});
  if (!config_->stream_audio && !error) {
    absl::StatusOr<std::string> file = MakeFile(samples, config_->format, rate_);
    if (file.ok()) {
      sentence_bytes_ = file->size();
      replies_.push_back({*std::move(file), true});
    } else {
      error = true;
      ReplyError(Message(file.status()));
    }
  }
  Reply({{"type", "audio.done"},
         {"utterance_index", utterances_},
         {"sentence_index", sentences_ - 1},
         {"total_bytes", sentence_bytes_},
         {"error", error}});
}

void SpeechSession::AddEnd(const absl::Status& status) {
  EndSentence(!status.ok());
  if (!status.ok()) ReplyError(Message(status));
  overdue_ = false;
  // The client, which does not know yet, still sends the rest of the text.
  failed_ = !status.ok() && !utterance_ended_;
  if (failed_) return;
  Reply({{"type", "session.done"},
         {"utterance_index", utterances_},
         {"total_sentences", sentences_}});
  ++utterances_;
  sentences_ = 0;
  utterance_ended_ = false;
}

void SpeechSession::OnAllSent() {
  for (const auto& utterance : taken_) utterance->Delivered();
  taken_.clear();
}

TimePoint SpeechSession::due() const {
  if (end_) return TimePoint::max();
  if (utterance_ == nullptr) return last_activity_ + context_.idle_timeout;
  if (overdue_) return TimePoint::max();
  TimePoint due = utterance_->deadline();
  const TimePoint waiting = utterance_->waiting_since();
  if (waiting != TimePoint::max() && !utterance_->has_output())
    due = std::min(due, std::max(waiting, last_activity_) + context_.idle_timeout);
  return due;
}

void SpeechSession::Advance() {
  const TimePoint now = context_.services.clock.Now();
  if (now < due()) return;
  if (utterance_ == nullptr)
    return Fail(WebSocketClose::kNormal, "the connection was idle for too long");
  overdue_ = true;
  utterance_->Fail(now >= utterance_->deadline()
                       ? absl::DeadlineExceededError("the text has lasted as long as one may")
                       : absl::DeadlineExceededError("no text or input.done came for too long"));
}

void SpeechSession::Reply(Json message) {
  if (!ignored_.empty()) message["warning"] = IgnoredMembers(std::exchange(ignored_, {}));
  replies_.push_back({JsonText(message), false});
}

void SpeechSession::ReplyError(std::string_view message) {
  Reply({{"type", "error"}, {"message", message}});
}

void SpeechSession::Fail(WebSocketClose code, const std::string& message) {
  if (end_) return;
  logging::Debug("connection ends with an error",
                 {{"protocol", "vllm-omni"}, {"client", caller_.address}, {"error", message}});
  ReplyError(message);
  end_ = End{.code = code, .reason = message};
}

}  // namespace millrace::server
