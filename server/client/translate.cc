#include <cstdio>

#include "millrace/v1/translation.grpc.pb.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {

int RunTranslate(const TranslateCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  v1::TranslateRequest request;
  request.set_model(command.model);
  request.set_source_language(command.source_language);
  request.set_target_language(command.target_language);
  request.add_texts(TextOrInput(command.text));
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::TranslateResponse response;
  const grpc::Status status =
      v1::TranslationService::NewStub(*channel)->Translate(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  for (const v1::Translation& translation : response.translations()) {
    const bool line_ended = translation.text().ends_with('\n');
    std::printf("%s%s", translation.text().c_str(), line_ended ? "" : "\n");
  }
  return kExitOk;
}

}  // namespace millrace
