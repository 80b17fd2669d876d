#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace millrace::server {

// Fetches published models by name into a folder of the repository, by the program
// millrace-models, and logs how far it is. Models that are there are not fetched again, and without
// a network they suffice. Waits for the end, but only briefly once `stop` returns true, which is
// called several times a second; what was fetched by then is kept for the next time, and the result
// is OK.
absl::Status PullModels(const std::vector<std::string>& names, const std::filesystem::path& folder,
                        const std::function<bool()>& stop);

// Logs what a line of that program reports, or keeps the reason of its failure.
class PullLog {
 public:
  // A line is a JSON object; others are ignored.
  void Take(const std::string& line);

  const std::string& failure() const { return failure_; }  // empty: none was reported

 private:
  std::string failure_;
  std::chrono::steady_clock::time_point next_progress_;
};

}  // namespace millrace::server
