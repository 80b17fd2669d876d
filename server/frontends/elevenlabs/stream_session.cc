#include "server/frontends/elevenlabs/stream_session.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/speech/speech_units.h"
#include "nlohmann/json.hpp"
#include "server/frontends/elevenlabs/elevenlabs_error.h"
#include "server/json/ignored_members.h"
#include "server/json/json_text.h"
#include "server/logging/logging.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// The most text of a context that waits here until its speech wants it. A client that is further
// ahead is not read until then.
constexpr size_t kMaxWaitingBytes = size_t{64} << 10;
constexpr size_t kMaxReplies = 64;
// The time that a client without a key in its request has for a message with one.
constexpr std::chrono::seconds kKeyTimeout{10};

// Returns the times as ElevenLabs sends them on a WebSocket; null if there are none.
Json AlignmentInMilliseconds(const CharacterTimes& times) {
  if (times.characters.empty()) return nullptr;
  Json begins = Json::array();
  Json durations = Json::array();
  for (const CharacterTimes::Span& span : times.times) {
    const int64_t begin = std::llround(span.begin * 1000);
    begins.push_back(begin);
    durations.push_back(std::llround(span.end * 1000) - begin);
  }
  return {{"chars", times.characters},
          {"charStartTimesMs", std::move(begins)},
          {"charDurationsMs", std::move(durations)}};
}

WebSocketClose CloseOf(const absl::Status& status) {
  if (absl::IsInternal(status) || absl::IsUnknown(status)) return WebSocketClose::kInternalError;
  return absl::IsUnavailable(status) ? WebSocketClose::kGoingAway
                                     : WebSocketClose::kPolicyViolation;
}

}  // namespace

StreamSession::StreamSession(Services& services, absl::StatusOr<StreamOptions> options,
                             Client client, std::function<bool()> started,
                             std::function<void()> changed)
    : services_(services),
      client_(std::move(client)),
      started_(std::move(started)),
      changed_(std::move(changed)),
      authorized_(client_.access.ok()),
      opened_(services.clock.Now()),
      last_message_(opened_) {
  options_status_ = options.status();
  if (options.ok()) options_ = *std::move(options);
  if (client_.sent_key && !authorized_) {
    EndWith(client_.access);
  } else if (authorized_ && !options_status_.ok()) {
    EndWith(options_status_);
  }
}

StreamSession::~StreamSession() {
  for (const Context& context : contexts_)
    context.speech->Fail(absl::CancelledError("the caller went away"));
}

void StreamSession::Receive(WebSocketMessage message) {
  last_message_ = services_.clock.Now();
  const absl::Status status = OrInternal([&]() -> absl::Status {
    if (message.binary) return InvalidArgument("messages must be text, not binary");
    MILLRACE_ASSIGN_OR_RETURN(StreamMessage parsed, ParseStreamMessage(message.data));
    MILLRACE_RETURN_IF_ERROR(Authorize(parsed));
    if (!options_status_.ok()) return options_status_;
    if (!started_()) return Starting();
    for (std::string& name : parsed.ignored) AddIgnored(std::move(name), ignored_);
    Handle(std::move(parsed));
    return absl::OkStatus();
  });
  if (!status.ok()) EndWith(status);
}

absl::Status StreamSession::Authorize(const StreamMessage& message) {
  if (authorized_) return absl::OkStatus();
  if (message.api_key.empty()) {
    return absl::UnauthenticatedError(
        "an API key is needed, as `xi-api-key: <key>`, as `authorization: Bearer <key>`, or as "
        "xi_api_key of the first message");
  }
  const auto principal = services_.keys->Authenticate(message.api_key);
  if (!principal) return absl::UnauthenticatedError("the API key is not known");
  client_.caller.key = principal->name;
  authorized_ = true;
  return absl::OkStatus();
}

bool StreamSession::wants_message() const {
  return !end_ && replies_.size() < kMaxReplies &&
         std::ranges::all_of(contexts_, [](const Context& context) {
           return context.waiting.size() <= kMaxWaitingBytes;
         });
}

void StreamSession::Handle(StreamMessage message) {
  if (!options_.multi) message.context_id.clear();
  auto context = Find(message.context_id);
  if (context != contexts_.end()) context->last_activity = last_message_;
  if (message.close_socket) {
    closing_ = true;
    for (Context& one : contexts_) EndText(one);
    return;
  }
  // The end of the text on stream-input; elsewhere an empty text only shows that the client lives.
  const bool ends = !options_.multi && message.text && message.text->empty();
  if (context == contexts_.end()) {
    if (closing_ || message.close_context || !message.text) return;
    if (options_.multi && message.text->empty()) return;
    context = Open(message);
    if (context == contexts_.end()) return;
  }
  if (context->ended) {
    if (message.text && !message.text->empty()) {
      // Behind the end of a text, whose id is free again once that has been sent.
      replies_.push_back(ErrorMessage("invalid_request", "text: comes behind the end of its text",
                                      static_cast<uint16_t>(WebSocketClose::kPolicyViolation),
                                      &context->id));
    }
    return;
  }
  if (message.close_context) return CloseContext(context);
  Add(*context, message);
  if (ends) EndText(*context);
}

StreamSession::Contexts::iterator StreamSession::Find(const std::string& id) {
  return std::ranges::find(contexts_, id, &Context::id);
}

StreamSession::Contexts::iterator StreamSession::Open(const StreamMessage& message) {
  if (contexts_.size() >= kMaxContexts) {
    replies_.push_back(ErrorMessage(
        "max_active_conversations",
        StrCat("context_id: ", kMaxContexts,
               " texts are spoken at once on a connection, which is the limit; close one first"),
        static_cast<uint16_t>(WebSocketClose::kPolicyViolation), &message.context_id));
    return contexts_.end();
  }
  Context& context = contexts_.emplace_back();
  context.id = message.context_id;
  context.last_activity = last_message_;
  context.speech =
      std::make_shared<TextSpeech>(services_, Method::kElevenLabsTextStream,
                                   Requester{.request_id = {}, .caller = client_.caller}, changed_);
  SpeechRequest speech = options_.speech;
  if (message.speed) speech.speed = message.speed;
  context.speech->Start(std::move(speech));
  return std::prev(contexts_.end());
}

void StreamSession::Add(Context& context, const StreamMessage& message) {
  if (message.text && !message.text->empty()) {
    context.waiting += *message.text;
    if (speech::HasLetterOrDigit(*message.text)) context.all_flushed = false;
  }
  if (message.flush || options_.auto_mode) {
    context.flush = true;
    context.all_flushed = true;
  }
  Push(context);
}

void StreamSession::Push(Context& context) {
  if (context.waiting.empty() && !context.flush) return;
  // Text that does not fit is handed on with what follows it.
  if (!context.speech->WantsText()) return;
  context.speech->Push(std::exchange(context.waiting, {}), std::exchange(context.flush, false));
  if (context.ended) context.speech->EndText();
}

void StreamSession::EndText(Context& context) {
  if (std::exchange(context.ended, true)) return;
  if (context.waiting.empty()) {
    context.flush = false;
    context.speech->EndText();
  } else {
    Push(context);
  }
}

void StreamSession::CloseContext(Contexts::iterator context) {
  // Flushed text is spoken; a client that closes without a flush has been interrupted.
  if (context->all_flushed) return EndText(*context);
  context->speech->Fail(absl::CancelledError("the context was closed"));
  replies_.push_back(FinalMessage(*context));
  contexts_.erase(context);
}

void StreamSession::Advance() {
  if (end_) return;
  for (auto next = contexts_.begin(); next != contexts_.end();) {
    Context& context = *next++;
    Push(context);
    EndOverdue(context);
    if (end_) return;  // and there are no contexts
  }
  const TimePoint now = services_.clock.Now();
  if (!authorized_ && now >= opened_ + kKeyTimeout) {
    EndWith(absl::UnauthenticatedError("no message with an API key came in time"));
  } else if (contexts_.empty() && taken_.empty() && replies_.empty() &&
             now >= last_message_ + options_.inactivity_timeout) {
    EndWith(WebSocketClose::kPolicyViolation, "input_timeout_exceeded",
            "no text came within the inactivity_timeout");
  }
}

TimePoint StreamSession::DueOf(const Context& context) const {
  if (context.overdue) return TimePoint::max();
  TimePoint due = context.speech->deadline();
  const TimePoint waiting = context.speech->waiting_since();
  if (waiting != TimePoint::max() && !context.speech->has_output() && taken_.empty()) {
    due = std::min(due, std::max(waiting, context.last_activity) + options_.inactivity_timeout);
  }
  return due;
}

TimePoint StreamSession::due() const {
  if (end_) return TimePoint::max();
  TimePoint due = TimePoint::max();
  if (!authorized_) due = opened_ + kKeyTimeout;
  if (contexts_.empty() && taken_.empty() && replies_.empty())
    due = std::min(due, last_message_ + options_.inactivity_timeout);
  for (const Context& context : contexts_) due = std::min(due, DueOf(context));
  return due;
}

void StreamSession::EndOverdue(Context& context) {
  const TimePoint now = services_.clock.Now();
  if (now < DueOf(context)) return;
  if (now >= context.speech->deadline()) {
    context.overdue = true;
    return context.speech->Fail(
        absl::DeadlineExceededError("the text has lasted as long as one may"));
  }
  if (options_.multi) return EndText(context);
  EndWith(WebSocketClose::kPolicyViolation, "input_timeout_exceeded",
          "no text came within the inactivity_timeout, and the text was not ended");
}

std::optional<WebSocketMessage> StreamSession::Take() {
  if (!replies_.empty()) {
    std::string reply = std::move(replies_.front());
    replies_.pop_front();
    return WebSocketMessage{std::move(reply)};
  }
  if (end_) return std::nullopt;
  for (auto context = contexts_.begin(); context != contexts_.end(); ++context) {
    while (const std::optional<SpokenPiece> piece = context->speech->Take()) {
      context->last_activity = services_.clock.Now();
      std::string message = PieceMessage(*context, *piece);
      if (message.empty()) continue;
      // The others are next.
      contexts_.splice(contexts_.end(), contexts_, context);
      return WebSocketMessage{std::move(message)};
    }
    const std::optional<absl::Status> end = context->speech->end();
    if (!end) continue;
    const Context ended = std::move(*context);
    contexts_.erase(context);
    taken_.push_back(ended.speech);
    last_message_ = services_.clock.Now();
    if (!end->ok()) {
      FailContext(ended, *end);
      return Take();
    }
    Context last = ended;
    std::string message = FinalMessage(last);
    if (!options_.multi || (closing_ && contexts_.empty())) end_ = End{};
    return WebSocketMessage{std::move(message)};
  }
  if (closing_ && contexts_.empty()) end_ = End{};
  return std::nullopt;
}

std::string StreamSession::PieceMessage(Context& context, const SpokenPiece& piece) {
  if (!context.origin) context.origin = piece.begin;
  if (!piece.words.empty()) {
    AddCharacterTimes(piece.text, piece.words, piece.begin, *context.origin, piece.sample_rate,
                      context.times);
  }
  // Encoders hold back some audio; the times wait for it.
  if (piece.audio.empty()) return "";
  context.origin.reset();
  return AudioMessage(context, absl::Base64Escape(View(piece.audio)), nullptr);
}

std::string StreamSession::AudioMessage(Context& context, Json audio, Json is_final) {
  const Json alignment = AlignmentInMilliseconds(std::exchange(context.times, {}));
  return MessageText({{"audio", std::move(audio)},
                      {"isFinal", std::move(is_final)},
                      {"normalizedAlignment", alignment},
                      {"alignment", alignment}},
                     &context.id);
}

std::string StreamSession::FinalMessage(Context& context) {
  return AudioMessage(context, nullptr, true);
}

std::string StreamSession::MessageText(Json message, const std::string* context_id) {
  if (context_id != nullptr && options_.multi) message["contextId"] = *context_id;
  if (!ignored_.empty()) message["warning"] = IgnoredMembers(std::exchange(ignored_, {}));
  return JsonText(message);
}

void StreamSession::OnAllSent() {
  for (const auto& speech : taken_) speech->Delivered();
  taken_.clear();
}

bool StreamSession::idle() const {
  return replies_.empty() && taken_.empty() &&
         std::ranges::all_of(contexts_, [](const Context& context) {
           return context.all_flushed && context.waiting.empty() && !context.flush &&
                  !context.ended && !context.speech->has_output() &&
                  context.speech->waiting_since() != TimePoint::max();
         });
}

std::string StreamSession::ErrorMessage(std::string_view name, std::string_view message,
                                        uint16_t code, const std::string* context_id) {
  return MessageText({{"message", message}, {"error", name}, {"code", code}}, context_id);
}

void StreamSession::FailContext(const Context& context, const absl::Status& status) {
  if (!options_.multi) return EndWith(status);
  replies_.push_back(ErrorMessage(ElevenLabsErrorName(status.code()), ElevenLabsMessage(status),
                                  static_cast<uint16_t>(CloseOf(status)), &context.id));
}

void StreamSession::EndWith(const absl::Status& status) {
  EndWith(CloseOf(status), ElevenLabsErrorName(status.code()), ElevenLabsMessage(status));
}

void StreamSession::EndWith(WebSocketClose code, std::string_view name, std::string_view message) {
  if (end_) return;
  logging::Debug("connection ends with an error", {{"protocol", "elevenlabs"},
                                                   {"client", client_.caller.address},
                                                   {"code", name},
                                                   {"error", message}});
  replies_.push_back(ErrorMessage(name, message, static_cast<uint16_t>(code), nullptr));
  end_ = End{.code = code, .reason = std::string(message)};
  for (const Context& context : std::exchange(contexts_, {}))
    context.speech->Fail(absl::CancelledError(StrCat("the connection failed: ", message)));
}

void StreamSession::Fail(WebSocketClose code, const std::string& message) {
  EndWith(code, "invalid_request", message);
}

}  // namespace millrace::server
