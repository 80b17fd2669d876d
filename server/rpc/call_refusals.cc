#include "server/rpc/call_refusals.h"

#include "server/logging/logging.h"

namespace millrace::server {

void CallRefusals::Add(absl::StatusCode code, std::string_view method, std::string_view client) {
  constexpr size_t kMostMethod = 200;  // bytes of a method that are logged
  if (const auto held_back = counts_.Add(static_cast<int>(code))) {
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
  for (const auto& [code, count] : counts_.Counts())
    refused.Add(count, {{"code", absl::StatusCodeToString(static_cast<absl::StatusCode>(code))}});
}

}  // namespace millrace::server
