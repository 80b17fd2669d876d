#include "server/frontends/http/http_translator.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/frontends/http/translate_reply.h"
#include "server/http/http_server.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// The interval at which a connection without news checks whether its client is still there.
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

HttpTranslator::HttpTranslator(Services& services, Options options)
    : services_(services), options_(std::move(options)), connections_(options_.max_connections) {}

absl::Status HttpTranslator::CheckStarted() const {
  if (options_.started()) return absl::OkStatus();
  return absl::UnavailableError("the server is starting; try again soon");
}

absl::StatusOr<HttpTranslator::Result> HttpTranslator::Translate(
    const httplib::Request& request, httplib::Response& response, std::string_view other_key,
    absl::StatusOr<TranslationRequest> wanted) {
  const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
  response.set_header("X-Request-Id", id);
  const auto reply = std::make_shared<TranslateReply>(
      services_, id, HttpCaller(request, services_.keys, other_key));
  Ticket place;  // held until the connection is done with the reply
  reply->Start(Prepare(std::move(wanted), place));
  std::optional<absl::Status> end;
  while (!(end = reply->Wait(kLook))) {
    if (!HttpClientGone()) continue;
    reply->Abandon();
    return absl::CancelledError("the caller went away");
  }
  if (!end->ok()) return *end;
  return Result{reply->texts(), reply->TakeResults()};
}

absl::StatusOr<std::vector<TranslationWork>> HttpTranslator::Prepare(
    absl::StatusOr<TranslationRequest> wanted, Ticket& place) {
  if (!wanted.ok()) return wanted.status();
  absl::StatusOr<Ticket> entered = connections_.TryEnter();
  if (!entered.ok()) {
    services_.no_model_metrics.CountRefusal(Refusal::kTooMany);
    return Refused(StrCat("the server already translates on ", options_.max_connections,
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
