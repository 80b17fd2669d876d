#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/frontends/http/file_places.h"
#include "server/http/httplib_fwd.h"
#include "server/requests/services.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"
#include "server/scheduling/admission.h"

namespace millrace::server {

class TranslateReply;

// Translates for the protocols over HTTP, which share its connections. Thread-safe.
class HttpTranslator {
 public:
  struct Options {
    // The number of concurrent translations over HTTP, each of which occupies a connection's
    // thread. Further ones get 429.
    int max_connections = 48;
    // Returns true once the models are loaded; until then requests get 503.
    std::function<bool()> started = [] { return true; };
    FilePlaces::Limits files = {};
  };
  // The state and the translation of each text, in the order of the request.
  struct Result {
    std::vector<TranslationText> texts;
    std::vector<TranslationResults::Text> translations;
  };

  // A translation that has begun. Destroyed before its end, it is stopped. One thread at a time;
  // the HttpTranslator must outlive it.
  class Begun {
   public:
    Begun(std::shared_ptr<TranslateReply> reply, Ticket place);
    Begun(const Begun&) = delete;
    Begun& operator=(const Begun&) = delete;
    ~Begun();

    // Waits for the end at most that long. Must not be called again once it has returned the end.
    std::optional<absl::StatusOr<Result>> Wait(std::chrono::milliseconds patience);
    // Tells the client what the limits of its key leave.
    void SetRateLimits(httplib::Response& response) const;

   private:
    const std::shared_ptr<TranslateReply> reply_;
    const Ticket place_;
    bool ended_ = false;
  };

  // The services, and what they borrow, must outlive it.
  HttpTranslator(Services& services, Options options);

  // Unavailable until the models are loaded.
  absl::Status CheckStarted() const;
  // The places of files, which the protocols share.
  FilePlaces& file_places() { return file_places_; }

  // Waits for a translation, or until the client has gone. `wanted` is what a protocol has read, or
  // why it refuses; both are counted and logged. A request without a known key, or that comes
  // before the models are loaded, ends with that error, whatever `wanted` is, unless `wanted` is
  // UNAUTHENTICATED in the protocol's own words. None of the protocols can name a model, so it is
  // chosen, and a text whose language cannot be detected is taken for English. other_key: a key
  // that came in a way of that protocol. Gives the response its X-Request-Id.
  absl::StatusOr<Result> Translate(const httplib::Request& request, httplib::Response& response,
                                   std::string_view other_key,
                                   absl::StatusOr<TranslationRequest> wanted);
  // The same without waiting: the translation goes on after the request was answered.
  std::unique_ptr<Begun> Begin(const httplib::Request& request, httplib::Response& response,
                               std::string_view other_key,
                               absl::StatusOr<TranslationRequest> wanted);

  // The form of an answer by server-sent events.
  struct EventForm {
    // Returns the JSON object of the last event.
    std::function<std::string(Result)> end;
    // Returns the message for a failure.
    std::function<std::string(const absl::Status&)> message;
  };
  // Answers while it translates: an event for each piece as TranslationPartEvent makes it, then the
  // end. Waits for the first of them, so that a request that fails at once gets that error and no
  // answer.
  absl::Status Stream(const httplib::Request& request, httplib::Response& response,
                      std::string_view other_key, absl::StatusOr<TranslationRequest> wanted,
                      EventForm form);

 private:
  absl::StatusOr<std::vector<TranslationWork>> Prepare(const httplib::Request& request,
                                                       std::string_view other_key,
                                                       absl::StatusOr<TranslationRequest> wanted,
                                                       Ticket& place);

  Services& services_;
  const Options options_;
  Admission connections_;
  FilePlaces file_places_;
};

}  // namespace millrace::server
