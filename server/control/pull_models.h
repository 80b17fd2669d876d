#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/pull_action.h"

namespace millrace::server {

struct PullRequest {
  std::vector<std::string> names;  // such as "firefox/en-de"
  std::filesystem::path folder;    // the repository's
  std::string as = {};             // name of the only model there; empty: by its own
  bool license_ok = false;         // a licence may allow no commercial use
  bool only_missing =
      false;  // models that are there suffice, in any revision, so without a network
};

// Fetches published models by name into a folder of the repository, by the program
// millrace-models, and logs how far it is. Waits for the end, but only briefly once `stop` returns
// true, which is called several times a second: the result is then CANCELLED, and what was fetched
// is kept for the next time. `listener` is called from within this call.
absl::Status PullModels(const PullRequest& request, const std::function<bool()>& stop,
                        const PullListener& listener = nullptr);

// Lists the published models by the same program, which asks the hubs. UNAVAILABLE once `stop`
// returns true.
absl::StatusOr<PublishedModels> ListPublished(const std::filesystem::path& folder,
                                              const std::function<bool()>& stop);

// Logs what a line of that program reports, or keeps the reason of its failure.
class PullLog {
 public:
  explicit PullLog(PullListener listener = nullptr) : listener_(std::move(listener)) {}

  // A line is a JSON object; others are ignored.
  void Take(const std::string& line);

  const absl::Status& failure() const { return failure_; }  // OK: none was reported

 private:
  const PullListener listener_;
  absl::Status failure_;
  std::chrono::steady_clock::time_point next_progress_;
};

}  // namespace millrace::server
