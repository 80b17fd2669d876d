#pragma once

#include "millrace/v1/synthesis.grpc.pb.h"
#include "server/services/services.h"

namespace millrace::server {

// millrace.v1.SynthesisService. Thread-safe.
class SynthesisService final
    : public v1::SynthesisService::WithRawCallbackMethod_Synthesize<
          v1::SynthesisService::WithRawCallbackMethod_StreamSynthesize<
              v1::SynthesisService::WithRawCallbackMethod_SynthesizeTextStream<
                  v1::SynthesisService::Service>>> {
 public:
  explicit SynthesisService(Services& services) : services_(services) {}

  grpc::ServerUnaryReactor* Synthesize(grpc::CallbackServerContext* rpc,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamSynthesize(
      grpc::CallbackServerContext* rpc, const grpc::ByteBuffer* request) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* SynthesizeTextStream(
      grpc::CallbackServerContext* rpc) override;

 private:
  Services& services_;
};

}  // namespace millrace::server
