#pragma once

#include "absl/status/statusor.h"
#include "millrace/v1/translation.pb.h"
#include "server/requests/models_answer.h"
#include "server/requests/services.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Serves millrace.v1.TranslationService. Thread-safe. A long list of languages is serialised once
// for all calls.
class TranslationService final : public RpcService {
 public:
  explicit TranslationService(Services& services);

 private:
  void ListLanguages(ByteCall& call);
  absl::Status DetectLanguage(const v1::DetectLanguageRequest& request,
                              v1::DetectLanguageResponse& response) const;

  Services& services_;
  ModelsAnswer<absl::StatusOr<ByteBuffer>> languages_;  // the answer of ListLanguages
};

}  // namespace millrace::server
