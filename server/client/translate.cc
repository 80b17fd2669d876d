#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/client/json_text.h"
#include "server/client/progress.h"
#include "server/client/text_parts.h"
#include "server/config/command_line.h"
#include "server/documents/document.h"

namespace millrace {
namespace {

// Reads a file of --glossary: on each line a source, a tab and its translation. Blank lines are
// skipped. InvalidArgument names the file and the line.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadGlossaryFile(
    const std::filesystem::path& file) {
  const absl::StatusOr<std::string> text = Utf8Text("", file);
  if (!text.ok()) {
    return absl::Status(text.status().code(), StrCat("--glossary: ", text.status().message()));
  }
  std::vector<std::pair<std::string, std::string>> entries;
  size_t number = 0;
  absl::string_view rest = *text;
  absl::ConsumePrefix(&rest, "\xEF\xBB\xBF");  // a byte order mark
  for (absl::string_view line : absl::StrSplit(rest, '\n')) {
    ++number;
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty()) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return InvalidArgument("--glossary: line ", number, " of ", file.string(),
                             " is not a source, a tab and its translation");
    }
    entries.emplace_back(parts[0], parts[1]);
  }
  return entries;
}

using Stub = v1::TranslationService::Stub;

// A longer text is sent in parts of so many characters. A request may have five times as many, but
// parts are printed as they are done, and each has the server's time for a request.
constexpr size_t kMostCharacters = 20'000;
// The texts of a document are sent so many at a time.
constexpr int kMostTexts = 256;

// Returns true for a file that is a document rather than a text, as a format makes any file. One of
// a kind that is not known is no text either: its keys would be translated, too. A file of text is
// a document unless its translation is printed part by part or in another form than the file's.
bool IsDocument(const TranslateCommand& command) {
  if (!command.format.empty() || command.detect) return false;
  const server::DocumentType* type = server::FindDocumentType(command.file.string());
  if (type == nullptr) return command.file.has_extension();
  const bool is_text = type->extension == ".txt" || type->extension == ".md";
  if (!is_text && type->extension != ".html") return true;
  std::error_code error;
  const bool is_short =
      !is_text || std::filesystem::file_size(command.file, error) <= kMostCharacters;
  return is_short && command.alternatives == 0 && !command.json;
}

models::TextFormat FormatOf(const TranslateCommand& command) {
  const server::DocumentType* type = server::FindDocumentType(command.file.string());
  const std::string_view ending = type == nullptr ? "" : type->extension;
  if (command.format == "html" || (command.format.empty() && ending == ".html"))
    return models::TextFormat::kHtml;
  if (command.format == "markdown" || (command.format.empty() && ending == ".md"))
    return models::TextFormat::kMarkdown;
  return models::TextFormat::kText;
}

v1::TextFormat WireFormatOf(models::TextFormat format) {
  if (format == models::TextFormat::kHtml) return v1::TEXT_FORMAT_HTML;
  if (format == models::TextFormat::kMarkdown) return v1::TEXT_FORMAT_MARKDOWN;
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
  if (command.json) return PrintJson(response);
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

// Returns what is wrong with a text or document; with the name of its file if it is in one.
std::string Explained(const TranslateCommand& command, const std::string& message) {
  for (const std::string_view field : {"file: ", "text: "}) {
    if (!command.file.empty() && message.starts_with(field))
      return StrCat(command.file.string(), ": ", message.substr(field.size()));
  }
  return message;
}

int Detect(const TranslateCommand& command, const std::string& text, Stub& stub) {
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::DetectLanguageRequest request;
  request.add_texts(text);
  v1::DetectLanguageResponse response;
  const grpc::Status status = stub.DetectLanguage(&context, request, &response);
  if (!status.ok()) return Fail(Explained(command, Explain(status, command.client)));
  if (command.json) return PrintJson(response);
  if (response.results_size() != 1 || response.results(0).candidates().empty())
    return Fail("the language cannot be told");
  for (const v1::DetectedLanguage& candidate : response.results(0).candidates())
    std::printf("%s %.2f\n", candidate.language().c_str(), candidate.confidence());
  return kExitOk;
}

absl::StatusOr<v1::TranslateRequest> RequestOf(const TranslateCommand& command) {
  v1::TranslateRequest request;
  request.set_model(command.model);
  request.set_source_language(command.source_language);
  request.set_target_language(command.target_language);
  request.set_format(WireFormatOf(FormatOf(command)));
  if (command.beam_size > 0) request.mutable_search()->set_beam_size(command.beam_size);
  if (command.alternatives > 0) request.mutable_search()->set_hypotheses(command.alternatives + 1);
  if (command.glossary.empty()) return request;
  MILLRACE_ASSIGN_OR_RETURN(const auto entries, ReadGlossaryFile(command.glossary));
  for (const auto& [source, target] : entries) {
    v1::GlossaryEntry& entry = *request.add_glossary();
    entry.set_source(source);
    entry.set_target(target);
  }
  return request;
}

// Says what is wrong with a translation.
void PrintNotes(const v1::Translation& translation) {
  if (translation.status().code() != 0)
    std::fprintf(stderr, "millrace: %s\n", translation.status().message().c_str());
  for (const std::string& lost : translation.lost())
    std::fprintf(stderr, "millrace: not in the translation: %s\n", lost.c_str());
}

// Prints the translations of a text that is sent as a whole.
void Print(const TranslateCommand& command, const v1::Translation& translation) {
  if (command.alternatives == 0) return PrintLine(translation.text());
  std::printf("%.3f ", translation.score());
  PrintLine(translation.text());
  for (const v1::Alternative& alternative : translation.alternatives()) {
    std::printf("%.3f ", alternative.score());
    PrintLine(alternative.text());
  }
}

// Returns the parts in which a text is sent. What is printed as a whole, and HTML, whose elements
// reach over paragraphs, is sent as a whole.
std::vector<TextPart> PartsOf(const TranslateCommand& command, std::string_view text) {
  const bool whole = command.alternatives > 0 || command.json ||
                     FormatOf(command) == models::TextFormat::kHtml ||
                     models::CountCodePoints(text) <= kMostCharacters;
  if (whole) return {{text, ""}};
  return DivideText(text, kMostCharacters, FormatOf(command) == models::TextFormat::kMarkdown);
}

int TranslateText(const TranslateCommand& command, const std::string& text, Stub& stub) {
  absl::StatusOr<v1::TranslateRequest> asked = RequestOf(command);
  if (!asked.ok()) return Fail(std::string(asked.status().message()));
  v1::TranslateRequest request = *std::move(asked);
  const std::vector<TextPart> parts = PartsOf(command, text);
  Progress progress;
  bool ended_line = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts.size() > 1) progress.Show(StrCat("part ", i + 1, " of ", parts.size()));
    grpc::ClientContext context;
    Prepare(command.client, context);
    request.clear_texts();
    request.add_texts(std::string(parts[i].text));
    v1::TranslateResponse response;
    // A part of white space alone needs no translation.
    const grpc::Status status = parts.size() > 1 && parts[i].text.empty()
                                    ? grpc::Status::OK
                                    : stub.Translate(&context, request, &response);
    progress.Clear();
    if (!status.ok()) {
      std::string why = Explained(command, Explain(status, command.client));
      if (i > 0) absl::StrAppend(&why, "; ", i, " of ", parts.size(), " parts were translated");
      return Fail(why);
    }
    if (command.json) return PrintJson(response);
    for (const v1::Translation& translation : response.translations()) {
      PrintNotes(translation);
      // The language of a text is that of its first part.
      if (translation.has_detected_language() && request.model().empty() &&
          !translation.detected_language().language().empty())
        request.set_source_language(translation.detected_language().language());
      if (parts.size() == 1) {
        Print(command, translation);
      } else {
        std::fputs(translation.text().c_str(), stdout);
        ended_line = translation.text().ends_with('\n');
      }
    }
    if (parts.size() == 1) continue;
    std::fputs(std::string(parts[i].space).c_str(), stdout);
    if (!parts[i].space.empty()) ended_line = parts[i].space.ends_with('\n');
    if (last && !ended_line) std::fputs("\n", stdout);
    if (std::fflush(stdout) != 0) return Fail("standard output cannot be written");
  }
  return kExitOk;
}

// Prints the document with its texts translated, once all of them are.
int TranslateDocument(const TranslateCommand& command, Stub& stub) {
  if (command.json || command.detect || command.alternatives > 0) {
    return Fail(StrCat("--json, --detect and --alternatives are for texts, and ",
                       command.file.string(), " is a document"));
  }
  absl::StatusOr<std::string> bytes = ReadFile(command.file);
  if (!bytes.ok()) return Fail(std::string(bytes.status().message()));
  server::DocumentLimits limits;
  limits.characters = std::numeric_limits<size_t>::max();  // the limit of all requests together
  const auto document = server::OpenDocument(command.file.filename().string(), *std::move(bytes),
                                             limits, command.target_language);
  if (!document.ok()) {
    const bool is_known = server::FindDocumentType(command.file.string()) != nullptr;
    return Fail(StrCat(Explained(command, std::string(document.status().message())),
                       is_known ? "" : "; --format text translates any file as a text"));
  }
  absl::StatusOr<v1::TranslateRequest> request = RequestOf(command);
  if (!request.ok()) return Fail(std::string(request.status().message()));
  request->set_format(WireFormatOf((*document)->format()));
  const std::span<const std::string> texts = (*document)->texts();
  std::vector<std::string> translations;
  Progress progress;
  while (translations.size() < texts.size()) {
    progress.Show(StrCat("text ", translations.size() + 1, " of ", texts.size()));
    request->clear_texts();
    size_t characters = 0;
    for (const std::string& text : texts.subspan(translations.size())) {
      characters += models::CountCodePoints(text);
      const int count = request->texts_size();
      if (count == kMostTexts || (count > 0 && characters > kMostCharacters)) break;
      request->add_texts(text);
    }
    grpc::ClientContext context;
    Prepare(command.client, context);
    v1::TranslateResponse response;
    const grpc::Status status = stub.Translate(&context, *request, &response);
    progress.Clear();
    if (!status.ok()) return Fail(Explain(status, command.client));
    if (response.translations_size() != request->texts_size())
      return Fail("the server did not answer for each text");
    for (v1::Translation& translation : *response.mutable_translations()) {
      PrintNotes(translation);
      // A text that failed has no translation, and would be missing in the document.
      if (translation.text().empty() && translation.status().code() != 0) return kExitFailed;
      translations.push_back(std::move(*translation.mutable_text()));
    }
  }
  const absl::StatusOr<std::string> translated = (*document)->Render(std::move(translations));
  if (!translated.ok()) return Fail(Explained(command, std::string(translated.status().message())));
  const size_t written = std::fwrite(translated->data(), 1, translated->size(), stdout);
  if (written != translated->size() || std::fflush(stdout) != 0)
    return Fail("standard output cannot be written");
  return kExitOk;
}

}  // namespace

int RunTranslate(const TranslateCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  const auto stub = v1::TranslationService::NewStub(*channel);
  if (command.list_languages) return ListLanguages(command, *stub);
  if (IsDocument(command)) return TranslateDocument(command, *stub);
  const absl::StatusOr<std::string> text = TextToSend(command.text, command.file);
  if (!text.ok()) return Fail(std::string(text.status().message()));
  if (command.detect) return Detect(command, *text, *stub);
  return TranslateText(command, *text, *stub);
}

}  // namespace millrace
