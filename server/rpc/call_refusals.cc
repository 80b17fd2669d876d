#include "server/rpc/call_refusals.h"

#include <algorithm>

#include "server/logging/logging.h"

namespace millrace::server {
namespace {

// The most of a method that is logged.
constexpr size_t kMostMethod = 200;

}  // namespace

void CallRefusals::Add(absl::StatusCode code, std::string_view method, std::string_view client) {
  const auto found = std::ranges::find(kCodes, code);
  if (found == kCodes.end()) return;
  counts_[static_cast<size_t>(found - kCodes.begin())].fetch_add(1, std::memory_order_relaxed);
  if (const auto held_back = lines_.Pass()) {
    logging::Info("gRPC call refused", {{"code", absl::StatusCodeToString(code)},
                                        {"grpc_method", method.substr(0, kMostMethod)},
                                        {"client", client},
                                        {"not_logged", *held_back}});
  }
}

std::vector<std::pair<absl::StatusCode, uint64_t>> CallRefusals::Counts() const {
  std::vector<std::pair<absl::StatusCode, uint64_t>> counts;
  for (size_t i = 0; i < kCodes.size(); ++i)
    counts.emplace_back(kCodes[i], counts_[i].load(std::memory_order_relaxed));
  return counts;
}

}  // namespace millrace::server
