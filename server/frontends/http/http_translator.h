#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/services.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"
#include "server/scheduling/admission.h"

namespace httplib {
struct Request;
struct Response;
}  // namespace httplib

namespace millrace::server {

// Translates for the protocols over HTTP, which share its connections. Thread-safe.
class HttpTranslator {
 public:
  struct Options {
    // The number of concurrent translations over HTTP, each of which occupies a connection's
    // thread. Further ones get 429.
    int max_connections = 48;
    // Returns true once the models are loaded; until then requests get 503.
    std::function<bool()> started = [] { return true; };
  };
  // The state and the translation of each text, in the order of the request.
  struct Result {
    std::vector<TranslationText> texts;
    std::vector<TranslationResults::Text> translations;
  };

  // The services, and what they borrow, must outlive it.
  HttpTranslator(Services& services, Options options);

  // Unavailable until the models are loaded.
  absl::Status CheckStarted() const;

  // Waits for a translation, or until the client has gone. `wanted` is what a protocol has read, or
  // why it refuses; both are counted and logged. None of the protocols can name a model, so it is
  // chosen, and a text whose language cannot be detected is taken for English. other_key: a key
  // that came in a way of that protocol. Gives the response its X-Request-Id.
  absl::StatusOr<Result> Translate(const httplib::Request& request, httplib::Response& response,
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
  absl::StatusOr<std::vector<TranslationWork>> Prepare(absl::StatusOr<TranslationRequest> wanted,
                                                       Ticket& place);

  Services& services_;
  const Options options_;
  Admission connections_;
};

}  // namespace millrace::server
