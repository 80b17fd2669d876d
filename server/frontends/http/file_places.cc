#include "server/frontends/http/file_places.h"

#include <chrono>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/http/http_server.h"
#include "server/http/multipart_form.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {

absl::StatusOr<FilePlaces::Place> FilePlaces::TryEnter(const httplib::Request& request) {
  PeerPlaces::Place of_peer = of_peer_.TryEnter(HttpClientPeer());
  if (!of_peer.held()) {
    return TooMany(StrCat("the server already translates ", limits_.of_peer,
                          " files of this address, which is the limit"));
  }
  absl::StatusOr<Ticket> of_all = all_.TryEnter();
  if (!of_all.ok()) {
    return TooMany(
        StrCat("the server already translates ", limits_.all, " files, which is its limit"));
  }
  if (!IsMultipartForm(request)) {
    const std::string type = request.get_header_value("Content-Type");
    return InvalidArgument("Content-Type: '", type.substr(0, 64),
                           "' is not supported; multipart/form-data is");
  }
  return Place{std::move(of_peer), *std::move(of_all)};
}

absl::Status FilePlaces::TooMany(const std::string& message) {
  services_.no_model_metrics.CountRefusal(Refusal::kTooMany);
  return Refused(Refusal::kTooMany, message, std::chrono::seconds(1));
}

}  // namespace millrace::server
