#pragma once

#include <utility>

#include "absl/status/status.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Ends a unary call, with the reply if the status is OK.
inline void Answer(ByteCall& call, const absl::Status& status, ByteBuffer reply) {
  status.ok() ? call.Finish(std::move(reply)) : call.Finish(status);
}

template <typename Response>
void Answer(ByteCall& call, const absl::Status& status, const Response& response) {
  ByteBuffer reply;
  const absl::Status end = status.ok() ? SerializeMessage(response, reply) : status;
  Answer(call, end, std::move(reply));
}

// Returns the function of a unary method that needs no work. It answers with what `absl::Status
// answer(const ByteCall&, const Request&, Response&)` makes of the request.
template <typename Request, typename Response, typename MakeAnswer>
RpcService::Function Answering(MakeAnswer answer) {
  return [answer = std::move(answer)](ByteCall& call) {
    Request request;
    Response response;
    absl::Status status = ParseMessage(call.request(), request);
    if (status.ok()) status = answer(std::as_const(call), request, response);
    Answer(call, status, response);
  };
}

// The same for a function of a service, for callers of a role. The service must outlive it.
template <typename Service, typename Request, typename Response>
RpcService::Function Answering(const ApiKeyStore* keys, Role role, const Service& service,
                               absl::Status (Service::*answer)(const Request&, Response&) const) {
  return Answering<Request, Response>([keys, role, &service, answer](const ByteCall& call,
                                                                     const Request& request,
                                                                     Response& response) {
    const absl::Status status = Authenticate(keys, call, role);
    return status.ok() ? (service.*answer)(request, response) : status;
  });
}

}  // namespace millrace::server
