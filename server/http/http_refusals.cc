#include "server/http/http_refusals.h"

#include <algorithm>

#include "server/logging/logging.h"

namespace millrace {
namespace {

// The most of a path that is logged.
constexpr size_t kMostPath = 200;

}  // namespace

void HttpRefusals::Add(int status, std::string_view method, std::string_view path,
                       std::string_view address, std::string_view reason) {
  const auto found = std::ranges::find(kStatuses, status);
  if (found == kStatuses.end()) return;
  counts_[static_cast<size_t>(found - kStatuses.begin())].fetch_add(1, std::memory_order_relaxed);
  if (const auto held_back = lines_.Pass()) {
    logging::Info("HTTP request refused", {{"status", status},
                                           {"http_method", method.substr(0, 16)},
                                           {"path", path.substr(0, kMostPath)},
                                           {"client", address},
                                           {"reason", reason},
                                           {"not_logged", *held_back}});
  }
}

std::vector<std::pair<int, uint64_t>> HttpRefusals::Counts() const {
  std::vector<std::pair<int, uint64_t>> counts;
  for (size_t i = 0; i < kStatuses.size(); ++i)
    counts.emplace_back(kStatuses[i], counts_[i].load(std::memory_order_relaxed));
  return counts;
}

}  // namespace millrace
