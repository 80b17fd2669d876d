#pragma once

#include <utility>

#include "absl/status/status.h"
#include "grpcpp/support/byte_buffer.h"
#include "server/rpc/rpc.h"
#include "server/rpc/rpc_service.h"
#include "server/services/message_codec.h"
#include "server/services/status_mapping.h"

namespace millrace::server {

// Ends a unary call: with the reply when the status is OK.
inline void Answer(Rpc& rpc, const absl::Status& status, grpc::ByteBuffer reply) {
  status.ok() ? rpc.Finish(std::move(reply)) : rpc.Finish(ToGrpcStatus(status));
}

template <typename Response>
void Answer(Rpc& rpc, const absl::Status& status, const Response& response) {
  grpc::ByteBuffer reply;
  const absl::Status end = status.ok() ? SerializeMessage(response, reply) : status;
  Answer(rpc, end, std::move(reply));
}

// The function of a unary method that needs no work: answers with what
// `absl::Status answer(const Rpc&, const Request&, Response&)` makes of the request.
template <typename Request, typename Response, typename MakeAnswer>
RpcService::Function Answering(MakeAnswer answer) {
  return [answer = std::move(answer)](Rpc& rpc) {
    Request request;
    Response response;
    absl::Status status = ParseMessage(rpc.request(), request);
    if (status.ok()) status = answer(std::as_const(rpc), request, response);
    Answer(rpc, status, response);
  };
}

}  // namespace millrace::server
