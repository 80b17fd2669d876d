#pragma once

#include "millrace/v1/translation.grpc.pb.h"
#include "server/services/services.h"

namespace millrace::server {

// millrace.v1.TranslationService. Thread-safe.
class TranslationService final : public v1::TranslationService::WithRawCallbackMethod_Translate<
                                     v1::TranslationService::WithRawCallbackMethod_StreamTranslate<
                                         v1::TranslationService::Service>> {
 public:
  explicit TranslationService(Services& services) : services_(services) {}

  grpc::ServerUnaryReactor* Translate(grpc::CallbackServerContext* rpc,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamTranslate(
      grpc::CallbackServerContext* rpc, const grpc::ByteBuffer* request) override;

 private:
  Services& services_;
};

}  // namespace millrace::server
