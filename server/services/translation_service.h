#pragma once

#include "absl/status/statusor.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "server/services/models_answer.h"
#include "server/services/services.h"

namespace millrace::server {

// millrace.v1.TranslationService. Thread-safe. Calls take the bytes as they came, so that text that
// is no UTF-8 is refused by its field, and a long list of languages is serialised once for all.
class TranslationService final
    : public v1::TranslationService::WithRawCallbackMethod_Translate<
          v1::TranslationService::WithRawCallbackMethod_StreamTranslate<
              v1::TranslationService::WithRawCallbackMethod_ListLanguages<
                  v1::TranslationService::WithRawCallbackMethod_DetectLanguage<
                      v1::TranslationService::Service>>>> {
 public:
  explicit TranslationService(Services& services);

  grpc::ServerUnaryReactor* Translate(grpc::CallbackServerContext* rpc,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamTranslate(
      grpc::CallbackServerContext* rpc, const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* ListLanguages(grpc::CallbackServerContext* rpc,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DetectLanguage(grpc::CallbackServerContext* rpc,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;

 private:
  Services& services_;
  ModelsAnswer<absl::StatusOr<grpc::ByteBuffer>> languages_;  // of ListLanguages
};

}  // namespace millrace::server
