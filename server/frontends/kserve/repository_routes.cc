#include "server/frontends/kserve/repository_routes.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/frontends/http/response_headers.h"
#include "server/http/admin_access.h"
#include "server/http/http_routes.h"
#include "server/http/json_body.h"
#include "server/json/json_member.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// Each load that waits occupies a connection's thread.
constexpr int kMaxConnections = 16;

// The outcome of a load. Shared by the connection, which may leave, and by the load. Thread-safe.
class Outcome {
 public:
  void Set(const absl::Status& status) MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      status_ = status;
    }
    changed_.NotifyAll();
  }
  // Waits for it at most that long.
  std::optional<absl::Status> Wait(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_) {
    const auto until = std::chrono::steady_clock::now() + patience;
    MutexLock lock(mu_);
    while (!status_ && changed_.WaitUntil(mu_, until)) {
    }
    return status_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::optional<absl::Status> status_ MILLRACE_GUARDED_BY(mu_);
};

LoadValue ValueOf(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>();
  return {};
}

// Calls `take` with each parameter of the body, which may be empty.
template <typename Take>
absl::Status ReadParameters(const httplib::Request& request, httplib::Response& response,
                            const Take& take) {
  if (request.body.empty()) return absl::OkStatus();
  MILLRACE_RETURN_IF_ERROR(CheckJsonType(request.get_header_value("Content-Type"), request.body));
  MILLRACE_ASSIGN_OR_RETURN(const auto members, ParseJsonObject(request.body));
  AddWarningOfOthers(members, {"parameters"}, response);
  const auto parameters = members.find("parameters");
  if (parameters == members.end() || parameters->is_null()) return absl::OkStatus();
  if (!parameters->is_object()) return WrongType("parameters", "an object", *parameters);
  for (const auto& [name, value] : parameters->items()) {
    MILLRACE_RETURN_IF_ERROR(take(name, value));
  }
  return absl::OkStatus();
}

class RepositoryRoutes {
 public:
  RepositoryRoutes(RepositoryActions actions, const ApiKeyStore* keys)
      : actions_(std::move(actions)), keys_(keys), connections_(kMaxConnections) {}

  void Load(const httplib::Request& request, httplib::Response& response) {
    absl::Status status = Check(request);
    PullOrder order;
    if (status.ok()) {
      status =
          ReadParameters(request, response, [&order](const std::string& name, const auto& value) {
            return TakeLoadParameter(name, ValueOf(value), order);
          });
    }
    if (!status.ok()) return Answer(response, status);
    const absl::StatusOr<Ticket> place = connections_.TryEnter();
    if (!place.ok()) {
      actions_.on_too_many();
      return Answer(response,
                    Refused(Refusal::kTooMany, "too many requests wait for a model to be loaded",
                            std::chrono::seconds(1)));
    }
    const auto outcome = std::make_shared<Outcome>();
    const auto cancel = BeginLoad(actions_, request.matches[1].str(), std::move(order),
                                  [outcome](const absl::Status& end) { outcome->Set(end); });
    if (!cancel.ok()) return Answer(response, cancel.status());
    std::optional<absl::Status> end;
    while (!(end = outcome->Wait(kClientCheckInterval))) {
      if (!HttpClientGone()) continue;
      (*cancel)();
      return Answer(response, absl::CancelledError("the caller went away"));
    }
    Answer(response, *end);
  }

  void Unload(const httplib::Request& request, httplib::Response& response) {
    absl::Status status = Check(request);
    bool remove = false;
    if (status.ok()) {
      status =
          ReadParameters(request, response, [&remove](const std::string& name, const auto& value) {
            return TakeUnloadParameter(name, ValueOf(value), remove);
          });
    }
    if (status.ok()) status = server::Unload(actions_, request.matches[1].str(), remove);
    Answer(response, status);
  }

 private:
  absl::Status Check(const httplib::Request& request) const {
    const absl::Status status = AuthorizeHttpAdmin(request, keys_);
    return !status.ok() || actions_.started() ? status : Starting();
  }

  static void Answer(httplib::Response& response, const absl::Status& status) {
    if (status.ok()) return response.set_content("{}", "application/json");
    SendErrorStatus(response, status);
  }

  const RepositoryActions actions_;
  const ApiKeyStore* const keys_;
  Admission connections_;
};

}  // namespace

void AddRepositoryRoutes(HttpServer& server, RepositoryActions actions, const ApiKeyStore* keys) {
  const auto routes = std::make_shared<RepositoryRoutes>(std::move(actions), keys);
  constexpr char kModel[] = "/v2/repository/models/([^/]+)";
  server.routes().Post(StrCat(kModel, "/load"), std::bind_front(&RepositoryRoutes::Load, routes));
  server.routes().Post(StrCat(kModel, "/unload"),
                       std::bind_front(&RepositoryRoutes::Unload, routes));
}

}  // namespace millrace::server
