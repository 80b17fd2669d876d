#include "server/frontends/http/http_translator.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/http/translate_reply.h"
#include "server/http/http_server.h"
#include "server/json/json_text.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

std::string Event(const Json& event) { return StrCat("data: ", JsonText(event), "\n\n"); }

// translation.delta: a piece of the translation of a text.
std::string TranslationPartEvent(const TranslateReply::Part& part) {
  return Event({{"type", "translation.delta"},
                {"text_index", part.text_index},
                {"text", part.text},
                {"sentence_finished", part.sentence_finished},
                {"text_finished", part.text_finished}});
}

// translation.done, the last one: `answer` is the JSON object of the whole answer.
std::string TranslationEndEvent(std::string_view answer) {
  return StrCat(R"(data: {"type":"translation.done","answer":)", answer, "}\n\n");
}

// error, the last one of a translation that failed halfway.
std::string TranslationErrorEvent(std::string_view message) {
  return Event({{"type", "error"}, {"error", message}});
}

// An answer by events. The connection's thread owns it, and with it the place of the request.
struct EventStream {
  std::shared_ptr<TranslateReply> reply;
  Ticket place;
  HttpTranslator::EventForm form;
  std::optional<absl::Status> end;  // once it is known and not yet sent
  std::string pending;              // the first events, until the answer begins
  bool ended = false;
};

// Waits a while for news, and adds its events to `out`.
void Next(EventStream& stream, std::string& out) {
  std::optional<absl::Status> end = stream.reply->Wait(kClientCheckInterval);
  for (const TranslateReply::Part& part : stream.reply->TakeParts())
    out += TranslationPartEvent(part);
  if (!end) return;
  stream.ended = true;
  out += end->ok() ? TranslationEndEvent(
                         stream.form.end({stream.reply->texts(), stream.reply->TakeResults()}))
                   : TranslationErrorEvent(stream.form.message(*end));
  stream.end = std::move(end);
}

}  // namespace

HttpTranslator::HttpTranslator(Services& services, Options options)
    : services_(services),
      options_(std::move(options)),
      connections_(options_.max_connections),
      file_places_(services, options_.files) {}

HttpTranslator::Begun::Begun(std::shared_ptr<TranslateReply> reply, Ticket place)
    : reply_(std::move(reply)), place_(std::move(place)) {}

HttpTranslator::Begun::~Begun() {
  if (!ended_) reply_->Abandon();
}

std::optional<absl::StatusOr<HttpTranslator::Result>> HttpTranslator::Begun::Wait(
    std::chrono::milliseconds patience) {
  const std::optional<absl::Status> end = reply_->Wait(patience);
  if (!end) return std::nullopt;
  ended_ = true;
  if (!end->ok()) return *end;
  return Result{reply_->texts(), reply_->TakeResults()};
}

void HttpTranslator::Begun::SetRateLimits(httplib::Response& response) const {
  SetRateLimitHeaders(reply_->run(), response);
}

absl::Status HttpTranslator::CheckStarted() const {
  return options_.started() ? absl::OkStatus() : Starting();
}

absl::StatusOr<HttpTranslator::Result> HttpTranslator::Translate(
    const httplib::Request& request, httplib::Response& response, std::string_view other_key,
    absl::StatusOr<TranslationRequest> wanted) {
  const std::unique_ptr<Begun> begun = Begin(request, response, other_key, std::move(wanted));
  while (true) {
    auto end = begun->Wait(kClientCheckInterval);
    if (end) {
      begun->SetRateLimits(response);
      return *std::move(end);
    }
    if (HttpClientGone()) return absl::CancelledError("the caller went away");
  }
}

std::unique_ptr<HttpTranslator::Begun> HttpTranslator::Begin(
    const httplib::Request& request, httplib::Response& response, std::string_view other_key,
    absl::StatusOr<TranslationRequest> wanted) {
  const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
  response.set_header("X-Request-Id", id);
  auto reply = std::make_shared<TranslateReply>(services_, id,
                                                HttpCaller(request, services_.keys, other_key));
  Ticket place;  // held until nobody waits for the reply any longer
  reply->Start(Prepare(request, other_key, std::move(wanted), place));
  return std::make_unique<Begun>(std::move(reply), std::move(place));
}

absl::Status HttpTranslator::Stream(const httplib::Request& request, httplib::Response& response,
                                    std::string_view other_key,
                                    absl::StatusOr<TranslationRequest> wanted, EventForm form) {
  const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
  response.set_header("X-Request-Id", id);
  const auto stream = std::make_shared<EventStream>();
  stream->reply = std::make_shared<TranslateReply>(
      services_, id, HttpCaller(request, services_.keys, other_key), TranslateReply::Form::kParts);
  stream->form = std::move(form);
  if (wanted.ok()) {
    wanted->streamed = true;
    if (request.version == "HTTP/1.0")
      wanted = InvalidArgument("the answer is chunked, which needs HTTP/1.1");
  }
  stream->reply->Start(Prepare(request, other_key, std::move(wanted), stream->place));
  // If memory runs out before the answer owns the stream, nothing else would end the work.
  absl::Cleanup abandon = [&stream] { stream->reply->Abandon(); };
  // The HTTP status is sent with the first event, when the request's outcome is known.
  while (stream->pending.empty()) {
    if (HttpClientGone()) return absl::CancelledError("the caller went away");
    Next(*stream, stream->pending);
    if (!stream->pending.empty()) SetRateLimitHeaders(stream->reply->run(), response);
    if (stream->end && !stream->end->ok()) {
      std::move(abandon).Cancel();
      return *stream->end;
    }
  }
  response.set_header("Cache-Control", "no-cache");
  response.set_chunked_content_provider(
      "text/event-stream",
      [stream](size_t, httplib::DataSink& sink) {
        std::string events = std::exchange(stream->pending, {});
        if (events.empty() && !stream->ended) Next(*stream, events);
        if (!events.empty()) {
          if (!sink.write(events.data(), events.size())) return false;
        } else if (!stream->ended) {
          return !HttpClientGone();
        }
        if (stream->ended) sink.done();
        return true;
      },
      [stream](bool complete) {
        if (!complete) stream->reply->Abandon();
      });
  std::move(abandon).Cancel();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TranslationWork>> HttpTranslator::Prepare(
    const httplib::Request& request, std::string_view other_key,
    absl::StatusOr<TranslationRequest> wanted, Ticket& place) {
  if (!absl::IsUnauthenticated(wanted.status())) {
    MILLRACE_RETURN_IF_ERROR(AuthenticateHttp(request, services_.keys, other_key));
    MILLRACE_RETURN_IF_ERROR(CheckStarted());
  }
  if (!wanted.ok()) return wanted.status();
  absl::StatusOr<Ticket> entered = connections_.TryEnter();
  if (!entered.ok()) {
    return Refused(Refusal::kTooMany,
                   StrCat("the server already translates on ", options_.max_connections,
                          " HTTP connections, which is its limit"),
                   std::chrono::seconds(1));
  }
  place = *std::move(entered);
  wanted->choose_model = true;
  wanted->fallback_language = "en";
  wanted->detect_each = true;
  auto works = MakeTranslationWorks(*std::move(wanted), services_);
  if (!works.ok()) return works;
  // The answers have no place for a status, so a text that is not empty must be fit to be
  // translated.
  for (const TranslationText& text : works->front().texts) {
    if (!text.status.ok() && text.characters > 0) return text.status;
  }
  return works;
}

}  // namespace millrace::server
