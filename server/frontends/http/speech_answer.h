#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/frontends/http/speech_reply.h"
#include "server/http/httplib_fwd.h"
#include "server/scheduling/admission.h"

namespace millrace::server {

// How a protocol answers with speech.
struct SpeechAnswer {
  const char* content_type = "";
  bool may_be_cached = true;
  // Makes the response an error, as long as nothing has been sent.
  std::function<void(httplib::Response&, const absl::Status&)> send_error;
  // Returns what tells of an error behind the first bytes; null: the connection is closed there,
  // which tells the client that something is missing.
  std::function<std::string(const absl::Status&)> error_bytes = nullptr;
};

// Answers with the speech of a reply that was started, while it is made. The HTTP status is sent
// with the first bytes, when the request's outcome is known; waits for these. place: held until the
// connection is done with the reply.
void AnswerWithSpeech(const std::shared_ptr<SpeechReply>& reply,
                      const std::shared_ptr<Ticket>& place, SpeechAnswer answer,
                      httplib::Response& response);

}  // namespace millrace::server
