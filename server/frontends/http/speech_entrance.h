#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/frontends/http/speech_reply.h"
#include "server/http/httplib_fwd.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"
#include "server/scheduling/admission.h"

namespace millrace::server {

// The way of a request for speech over HTTP up to its work, which is the same for all protocols.
// Thread-safe.
class SpeechEntrance {
 public:
  struct Options {
    // The number of concurrent requests, each of which occupies a connection's thread from its
    // first byte to the last. Further ones are refused.
    int max_connections = 48;
    std::string connections_name = "HTTP connections";  // in the message then
    std::function<bool()> started;                      // returns true once the models are loaded
  };

  // The services, and what they borrow, must outlive it.
  SpeechEntrance(Services& services, Options options)
      : services_(services), options_(std::move(options)), connections_(options_.max_connections) {}

  // Returns an error without a known key, and until the models are loaded. other_key: a key that
  // came in a way of the protocol.
  absl::Status Check(const httplib::Request& request, std::string_view other_key = {}) const;
  // Checks the same, and that speech can be sent while it is made; takes a place.
  absl::StatusOr<Ticket> Enter(const httplib::Request& request, std::string_view other_key = {});

  // Returns the reply to a request, and gives the response its X-Request-Id.
  std::shared_ptr<SpeechReply> NewReply(const httplib::Request& request,
                                        httplib::Response& response,
                                        std::string_view other_key = {}) const;

  // Makes the work of speech that is sent while it is made, or as a whole.
  absl::StatusOr<SpeechWork> MakeWork(SpeechRequest speech, bool whole) const;

 private:
  Services& services_;
  const Options options_;
  Admission connections_;
};

}  // namespace millrace::server
