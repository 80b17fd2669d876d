#include "server/requests/request_span.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

// Returns true if a request that ends so is the server's error, by the conventions for gRPC.
bool IsServersError(absl::StatusCode code) {
  using Code = absl::StatusCode;
  static constexpr Code kErrors[] = {Code::kUnknown,  Code::kDeadlineExceeded, Code::kUnimplemented,
                                     Code::kInternal, Code::kUnavailable,      Code::kDataLoss};
  return std::ranges::find(kErrors, code) != std::end(kErrors);
}

void AddClient(std::string_view client, std::vector<tracing::Attribute>& attributes) {
  const size_t colon = client.rfind(':');
  int port = 0;
  if (colon == client.npos || !absl::SimpleAtoi(View(client.substr(colon + 1)), &port)) return;
  std::string_view host = client.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  attributes.push_back({"client.address", std::string(host)});
  attributes.push_back({"client.port", int64_t{port}});
}

}  // namespace

std::unique_ptr<RequestSpan> RequestSpan::Begin(const tracing::Tracer& tracer,
                                                const tracing::Arrival& arrival, TimePoint now) {
  std::unique_ptr<tracing::RequestTrace> trace = tracer.Begin(arrival, now);
  if (trace == nullptr) return nullptr;
  return std::unique_ptr<RequestSpan>(new RequestSpan(std::move(trace), arrival));
}

void RequestSpan::Finish(Method method, const absl::Status& status, TimePoint now, Facts facts) {
  tracing::RequestTrace::End end;
  end.time = now;
  const std::string code = absl::StatusCodeToString(status.code());
  const std::string_view rpc = RpcMethod(method);
  if (!rpc.empty()) {
    end.name = rpc;
    end.attributes.push_back({"rpc.system.name", std::string("grpc")});
    end.attributes.push_back({"rpc.method", std::string(rpc)});
    end.attributes.push_back({"rpc.response.status_code", code});
  } else if (!arrival_.http_method.empty()) {
    end.name = arrival_.http_route.empty() ? arrival_.http_method
                                           : StrCat(arrival_.http_method, " ", arrival_.http_route);
    end.attributes.push_back({"http.request.method", arrival_.http_method});
    end.attributes.push_back({"http.route", arrival_.http_route});
    end.attributes.push_back({"url.path", arrival_.url_path});
    end.attributes.push_back({"url.scheme", std::string("http")});
  } else {
    end.name = ToString(method);
  }
  AddClient(facts.client, end.attributes);
  if (!facts.model.empty()) end.attributes.push_back({"millrace.model", std::move(facts.model)});
  end.attributes.push_back({"millrace.method", std::string(ToString(method))});
  end.attributes.push_back({"millrace.request_id", std::move(facts.request_id)});
  if (rpc.empty()) end.attributes.push_back({"millrace.status", code});
  if (!status.ok()) end.attributes.push_back({"error.type", code});
  end.failed = IsServersError(status.code());
  if (end.failed) end.error = Message(status);
  trace_->Finish(std::move(end));
}

}  // namespace millrace::server
