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

void CallRefusals::Collect(MetricWriter& writer) const {
  MetricWriter::Family refused = writer.Counters(
      "millrace_grpc_refused_total",
      "gRPC calls that were refused for want of a key or a right, or before they reached a "
      "service, by code: unknown methods, messages that are not taken.");
  for (size_t i = 0; i < kCodes.size(); ++i) {
    refused.Add(counts_[i].load(std::memory_order_relaxed),
                {{"code", absl::StatusCodeToString(kCodes[i])}});
  }
}

}  // namespace millrace::server
