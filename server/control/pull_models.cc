#include "server/control/pull_models.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/config/models_program.h"
#include "server/control/run_models_program.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kProgressInterval{5};
// The entry of a published model has some hundred bytes.
constexpr size_t kMostPublished = 10'000;

std::string Text(const Json& event, const char* member) {
  const auto found = event.find(member);
  if (found == event.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>()
                            : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns a count, which is 0 where it is not known.
int64_t Count(const Json& event, const char* member) {
  const auto found = event.find(member);
  return found != event.end() && found->is_number_integer()
             ? std::max<int64_t>(found->get<int64_t>(), 0)
             : 0;
}

// Returns the code for an exit status of the program, which docs/models.md lists.
absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 3:
      return absl::StatusCode::kUnavailable;
    case 4:
      return absl::StatusCode::kNotFound;
    case 5:
      return absl::StatusCode::kPermissionDenied;
    case 8:
      return absl::StatusCode::kAborted;
    default:
      return absl::StatusCode::kFailedPrecondition;
  }
}

}  // namespace

void PullLog::Take(const std::string& line) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return;
  const std::string kind = Text(event, "event");
  if (kind == "error") {
    const auto status = event.find("status");
    failure_ = absl::Status(
        CodeOf(status != event.end() && status->is_number_integer() ? status->get<int>() : 1),
        Text(event, "message"));
  } else if (kind == "progress") {
    if (listener_) {
      listener_({.file = Text(event, "file"),
                 .bytes = Count(event, "model_bytes"),
                 .size = Count(event, "model_size")});
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_progress_) return;
    next_progress_ = now + kProgressInterval;
    logging::Info("fetching", {{"file", Text(event, "file")},
                               {"bytes", Text(event, "bytes")},
                               {"of", Text(event, "size")}});
  } else if (kind == "converting") {
    if (listener_) listener_({.converting = true});
  } else if (kind == "pull") {
    if (listener_) listener_({.size = Count(event, "size")});
    logging::Info("pulling model", {{"model", Text(event, "name")},
                                    {"bytes", Text(event, "size")},
                                    {"license", Text(event, "license")},
                                    {"revision", Text(event, "revision")}});
  } else if (kind == "present" || kind == "installed") {
    logging::Info(kind == "present" ? "model is there" : "model was pulled",
                  {{"model", Text(event, "name")}});
  } else if (kind == "unverified" || kind == "weak" || kind == "retry") {
    logging::Warning("pulling", {{"notice", Text(event, "message")}});
  }
}

absl::Status PullModels(const PullRequest& request, const std::function<bool()>& stop,
                        const PullListener& listener) {
  std::vector<std::string> arguments = {"pull", "--json",
                                        StrCat("--models=", request.folder.string())};
  if (!request.as.empty()) arguments.push_back(StrCat("--as=", request.as));
  if (request.license_ok) arguments.emplace_back("--license-ok");
  if (request.only_missing) arguments.emplace_back("--only-missing");
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), request.names.begin(), request.names.end());
  PullLog log(listener);
  const auto status = RunModelsProgram(
      arguments, [&log](const std::string& line) { log.Take(line); }, stop);
  if (absl::IsCancelled(status.status()))
    return absl::CancelledError("the transfer was interrupted");
  if (!status.ok()) return status.status();
  if (*status == 0) return absl::OkStatus();
  if (!log.failure().ok()) return log.failure();
  return absl::FailedPreconditionError(StrCat(kModelsProgram, " ended with status ", *status));
}

absl::StatusOr<PublishedModels> ListPublished(const std::filesystem::path& folder,
                                              const std::function<bool()>& stop) {
  PublishedModels published;
  const auto take = [&published](const std::string& line) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object()) return;
    if (entry.contains("event")) {
      if (!published.notice.empty()) published.notice += "; ";
      published.notice += Text(entry, "message");
    } else if (published.models.size() < kMostPublished) {
      published.models.push_back(entry.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  };
  const auto status =
      RunModelsProgram({"available", "--json", StrCat("--models=", folder.string())}, take, stop);
  if (absl::IsCancelled(status.status()))
    return absl::UnavailableError("the hubs did not answer in time");
  if (!status.ok()) return status.status();
  if (*status != 0 && published.models.empty() && published.notice.empty()) {
    return absl::FailedPreconditionError(StrCat(kModelsProgram, " ended with status ", *status));
  }
  return published;
}

}  // namespace millrace::server
