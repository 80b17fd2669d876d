#include <cstdio>
#include <string>

#include "absl/strings/str_join.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {
namespace {

using Stub = v1::TranslationService::Stub;

v1::TextFormat WireFormatOf(const std::string& name) {
  if (name == "html") return v1::TEXT_FORMAT_HTML;
  if (name == "markdown") return v1::TEXT_FORMAT_MARKDOWN;
  return v1::TEXT_FORMAT_UNSPECIFIED;
}

void PrintLine(const std::string& text) {
  std::printf("%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
}

int ListLanguages(const TranslateCommand& command, Stub& stub) {
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::ListLanguagesResponse response;
  const grpc::Status status = stub.ListLanguages(&context, {}, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  constexpr const char* kRow = "%-10s %-10s %-8s %s\n";
  std::printf(kRow, "SOURCE", "TARGET", "PIVOT", "MODELS");
  for (const v1::SourceLanguage& source : response.languages()) {
    for (const v1::TargetLanguage& target : source.targets()) {
      const std::string& pivot = target.pivot_language();
      std::printf(kRow, source.language().c_str(), target.language().c_str(),
                  pivot.empty() ? "-" : pivot.c_str(),
                  absl::StrJoin(target.models(), ", ").c_str());
    }
  }
  return kExitOk;
}

int Detect(const TranslateCommand& command, const std::string& text, Stub& stub) {
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::DetectLanguageRequest request;
  request.add_texts(text);
  v1::DetectLanguageResponse response;
  const grpc::Status status = stub.DetectLanguage(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  if (response.results_size() != 1 || response.results(0).candidates().empty())
    return Fail("the language cannot be told");
  for (const v1::DetectedLanguage& candidate : response.results(0).candidates())
    std::printf("%s %.2f\n", candidate.language().c_str(), candidate.confidence());
  return kExitOk;
}

}  // namespace

int RunTranslate(const TranslateCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  const auto stub = v1::TranslationService::NewStub(*channel);
  if (command.list_languages) return ListLanguages(command, *stub);
  const absl::StatusOr<std::string> text = Utf8TextOrInput(command.text);
  if (!text.ok()) return Fail(std::string(text.status().message()));
  if (command.detect) return Detect(command, *text, *stub);
  v1::TranslateRequest request;
  request.set_model(command.model);
  request.set_source_language(command.source_language);
  request.set_target_language(command.target_language);
  request.add_texts(*text);
  request.set_format(WireFormatOf(command.format));
  if (command.beam_size > 0) request.mutable_search()->set_beam_size(command.beam_size);
  if (command.alternatives > 0) request.mutable_search()->set_hypotheses(command.alternatives + 1);
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::TranslateResponse response;
  const grpc::Status status = stub->Translate(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  for (const v1::Translation& translation : response.translations()) {
    if (translation.status().code() != 0)
      std::fprintf(stderr, "millrace: %s\n", translation.status().message().c_str());
    for (const std::string& lost : translation.lost())
      std::fprintf(stderr, "millrace: not in the translation: %s\n", lost.c_str());
    if (command.alternatives == 0) {
      PrintLine(translation.text());
      continue;
    }
    std::printf("%.3f ", translation.score());
    PrintLine(translation.text());
    for (const v1::Alternative& alternative : translation.alternatives()) {
      std::printf("%.3f ", alternative.score());
      PrintLine(alternative.text());
    }
  }
  return kExitOk;
}

}  // namespace millrace
