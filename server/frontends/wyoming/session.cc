#include "server/frontends/wyoming/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/frontends/wyoming/event.h"
#include "server/frontends/wyoming/synthesize_data.h"
#include "server/frontends/wyoming/voice_list.h"
#include "server/json/json_member.h"
#include "server/logging/logging.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/field_names.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// The most that waits for the client here; more audio waits in its SynthesisReply.
constexpr size_t kMaxUnsentBytes = size_t{64} << 10;
// The most that waits to be handled while a synthesis runs.
constexpr size_t kMaxHeldBytes = size_t{64} << 10;
// A text in pieces of a word may come at once; more is a flood.
constexpr double kEventsPerSecond = 1000;
constexpr double kEventsAtOnce = 20'000;

constexpr char kStart[] = "synthesize-start";
constexpr char kChunk[] = "synthesize-chunk";
constexpr char kStop[] = "synthesize-stop";

absl::Status OutsideOfStream(std::string_view event) {
  return FailedPrecondition(event, ": needs ", kStart, " before it");
}

}  // namespace

Session::Session(const WyomingContext& context, std::string address, std::function<void()> changed)
    : context_(context),
      address_(std::move(address)),
      changed_(std::move(changed)),
      events_(kEventsPerSecond, kEventsAtOnce),
      last_event_(context.services.clock.Now()),
      last_progress_(last_event_) {}

Session::~Session() {
  if (reply_ != nullptr) reply_->Fail(absl::CancelledError("the caller went away"));
}

void Session::Receive(std::string_view bytes) {
  // The time that an event may take begins with its first byte.
  if (!held_ && !reader_.has_part()) last_event_ = context_.services.clock.Now();
  reader_.Push(bytes);
}

bool Session::wants_bytes() const {
  return !over_ && (MayHandleEvents() || reader_.held_bytes() < kMaxHeldBytes);
}

bool Session::MayHandleEvents() const { return !held_ && unsent().size() <= kMaxUnsentBytes; }

std::optional<TimePoint> Session::IdleSince(TimePoint now) const {
  if (idle()) return last_event_;
  if (reply_ == nullptr || !unsent().empty()) return std::nullopt;
  const TimePoint since = reply_->waiting_since();
  return since <= now - context_.text_timeout ? std::optional(since) : std::nullopt;
}

void Session::Advance() {
  const TimePoint now = context_.services.clock.Now();
  TakeOutput();
  // The event that waited may be handled by now.
  if (held_ && !over_) Handle(*std::exchange(held_, std::nullopt));
  int handled = 0;
  while (!over_ && MayHandleEvents() && handled < kEventsOfShare) {
    absl::StatusOr<std::optional<WyomingEvent>> event =
        OrInternal([this] { return reader_.Next(); });
    if (!event.ok()) {
      Fail(event.status());
    } else if (!*event) {
      break;
    } else if (!events_.Add(now)) {
      Fail(Refused(
          Refusal::kTooMany,
          StrCat("events: come faster than ", kEventsPerSecond, " a second, which is the limit"),
          std::chrono::seconds(1)));
    } else {
      last_event_ = now;
      Handle(**std::move(event));
      TakeOutput();
      ++handled;
    }
  }
  has_more_ = handled == kEventsOfShare && !over_ && MayHandleEvents() && reader_.has_part();
  // The client cannot be late with what is not read.
  if (!MayHandleEvents()) last_event_ = now;
  EndOverdue(now);
}

void Session::Handle(WyomingEvent event) {
  if (event.type == "describe") {
    if (!context_.started()) return Fail(Starting());
    return Send(*context_.info.Get());
  }
  if (event.type == "ping") {
    const auto text = event.data.find("text");
    const bool has_text = text != event.data.end() && text->is_string();
    return Send(
        SerializeEvent("pong", {{"text", has_text ? Json(text->get<std::string>()) : Json()}}));
  }
  if (event.type == "select-program") {
    const auto found = event.data.find("name");
    if (found == event.data.end()) return Fail(InvalidArgument("name: is missing"));
    std::string name;
    if (absl::Status status = TakeString(*found, "name", name); !status.ok()) return Fail(status);
    if (name == kWyomingProgram) return;
    return Fail(InvalidArgument("name: ", Shown(name), " is not allowed; the only program is ",
                                kWyomingProgram));
  }
  if (event.type == "synthesize") {
    // The text of a stream once more, for servers that take none in pieces.
    if (text_open_) return;
    return Begin(std::move(event), SynthesisReply::Kind::kWhole);
  }
  if (event.type == kStart) {
    if (text_open_) {
      return Fail(FailedPrecondition(kStart, ": comes before the ", kStop, " of the text before"));
    }
    return Begin(std::move(event), SynthesisReply::Kind::kStreamed);
  }
  if (event.type == kChunk) return Push(std::move(event));
  if (event.type == kStop) {
    if (!text_open_) return Fail(OutsideOfStream(kStop));
    text_open_ = false;
    return reply_->EndText();
  }
  // Later versions of the protocol have events that are not known here, and drop them as well.
}

void Session::Begin(WyomingEvent event, SynthesisReply::Kind kind) {
  if (reply_ != nullptr) {
    held_ = std::move(event);
    return;
  }
  std::string text;
  std::vector<std::string> ignored;
  absl::StatusOr<SpeechRequest> options = OrInternal([&]() -> absl::StatusOr<SpeechRequest> {
    if (!context_.started()) return Starting();
    if (kind == SynthesisReply::Kind::kWhole) {
      MILLRACE_ASSIGN_OR_RETURN(text, ParseEventText(event.data));
    }
    return ParseSpeechOptions(event.data, context_.services.models, text, ignored);
  });
  const bool ok = options.ok();
  reply_ = std::make_unique<SynthesisReply>(context_.services, kind, address_, changed_);
  overdue_ = false;
  reply_->Start(std::move(options), std::move(ignored));
  if (kind == SynthesisReply::Kind::kStreamed) {
    text_open_ = true;
  } else if (ok) {
    reply_->Speak(text);
  }
}

void Session::Push(WyomingEvent event) {
  if (!text_open_) return Fail(OutsideOfStream(kChunk));
  if (!reply_->WantsText()) {
    held_ = std::move(event);
    return;
  }
  const absl::StatusOr<std::string> text = OrInternal([&] { return ParseEventText(event.data); });
  if (!text.ok()) return reply_->Fail(text.status());
  reply_->Push(*text);
}

void Session::TakeOutput() {
  while (!over_ && reply_ != nullptr && !reply_ended_ && unsent().size() < kMaxUnsentBytes) {
    const SynthesisReply::Piece piece = reply_->Take();
    Send(piece.events);
    if (piece.end) {
      reply_ended_ = true;
      if (!piece.end->ok()) Fail(*piece.end);
    } else if (piece.events.empty()) {
      break;
    }
  }
}

void Session::Send(std::string_view event) {
  if (event.empty()) return;
  if (unsent().empty()) last_progress_ = context_.services.clock.Now();
  unsent_.erase(0, std::exchange(sent_, 0));
  unsent_ += event;
}

void Session::Sent(size_t bytes) {
  if (bytes == 0) return;
  last_progress_ = context_.services.clock.Now();
  // The client could not be late with what was not read.
  if (!MayHandleEvents()) last_event_ = last_progress_;
  sent_ += bytes;
  if (!unsent().empty() || !reply_ended_) return;
  // The request is over only now that its client has all of it.
  reply_->Delivered();
  reply_.reset();
  reply_ended_ = false;
  last_event_ = last_progress_;
}

void Session::Fail(const absl::Status& status) {
  if (over_) return;
  if (reply_ != nullptr) {
    reply_->Fail(status);
  } else if (const auto refusal = RefusalOf(status)) {
    context_.services.no_model_metrics.CountRefusal(*refusal);
  }
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"language", "voice.language"}};
  const std::string message = MessageWithNames(status, kNames);
  logging::Debug("connection ends with an error",
                 {{"protocol", "wyoming"},
                  {"client", address_},
                  {"code", absl::StatusCodeToString(status.code())},
                  {"error", message}});
  Send(SerializeEvent("error",
                      {{"text", message}, {"code", absl::StatusCodeToString(status.code())}}));
  over_ = true;
}

bool Session::AwaitsRestOfEvent() const { return MayHandleEvents() && reader_.has_part(); }

TimePoint Session::due() const {
  TimePoint due = TimePoint::max();
  if (!unsent().empty()) due = last_progress_ + context_.stall_timeout;
  if (over_) return due;
  if (reply_ != nullptr && !overdue_) due = std::min(due, reply_->deadline());
  if (AwaitsRestOfEvent()) {
    due = std::min(due, last_event_ + context_.event_timeout);
  } else if (idle()) {
    due = std::min(due, last_event_ + context_.idle_timeout);
  }
  return due;
}

void Session::EndOverdue(TimePoint now) {
  if (now < due()) return;
  if (!unsent().empty() && now >= last_progress_ + context_.stall_timeout) {
    // An error could not be sent either.
    unsent_.clear();
    sent_ = 0;
    over_ = true;
  } else if (reply_ != nullptr && !overdue_ && now >= reply_->deadline()) {
    overdue_ = true;
    // Its end is told once its job has stopped.
    reply_->Fail(absl::DeadlineExceededError("the synthesis has lasted as long as one may"));
  } else if (AwaitsRestOfEvent()) {
    Fail(absl::DeadlineExceededError("event: did not come as a whole in time"));
  } else {
    over_ = true;
  }
}

}  // namespace millrace::server
