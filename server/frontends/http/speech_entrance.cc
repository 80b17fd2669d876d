#include "server/frontends/http/speech_entrance.h"

#include <chrono>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/http/http_server.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {

absl::Status SpeechEntrance::Check(const httplib::Request& request,
                                   std::string_view other_key) const {
  absl::Status status = AuthenticateHttp(request, services_.keys, other_key);
  return !status.ok() || options_.started() ? status : Starting();
}

absl::StatusOr<Ticket> SpeechEntrance::Enter(const httplib::Request& request,
                                             std::string_view other_key) {
  MILLRACE_RETURN_IF_ERROR(Check(request, other_key));
  if (request.version == "HTTP/1.0")
    return InvalidArgument("the answer is chunked, which needs HTTP/1.1");
  absl::StatusOr<Ticket> place = connections_.TryEnter();
  if (place.ok()) return place;
  return Refused(Refusal::kTooMany,
                 StrCat("the server already speaks on ", options_.max_connections, " ",
                        options_.connections_name, ", which is its limit"),
                 std::chrono::seconds(1));
}

std::shared_ptr<SpeechReply> SpeechEntrance::NewReply(const httplib::Request& request,
                                                      httplib::Response& response,
                                                      std::string_view other_key) const {
  const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
  response.set_header("X-Request-Id", id);
  return std::make_shared<SpeechReply>(services_, id,
                                       HttpCaller(request, services_.keys, other_key));
}

absl::StatusOr<SpeechWork> SpeechEntrance::MakeWork(SpeechRequest speech, bool whole) const {
  return MakeSpeechWork(std::move(speech),
                        whole ? models::AudioContainer::kFile : models::AudioContainer::kStream,
                        whole ? kMaxWholeCharacters : kMaxStreamCharacters, services_);
}

}  // namespace millrace::server
