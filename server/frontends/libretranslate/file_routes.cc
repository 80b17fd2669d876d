#include "server/frontends/libretranslate/file_routes.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/documents/document.h"
#include "server/frontends/http/document_store.h"
#include "server/frontends/http/file_form.h"
#include "server/frontends/http/file_places.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/libretranslate/answers.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/http/http_routes.h"
#include "server/json/ignored_members.h"

namespace millrace::server {
namespace {

constexpr DocumentLimits kLimits;
constexpr size_t kMaxBody = kLimits.file_bytes + kMaxFormBytes;

absl::Status MissingPart(std::string_view name) {
  return InvalidArgument("Invalid request: missing ", name, " parameter");
}

class FileRoutes {
 public:
  FileRoutes(Services& services, std::shared_ptr<HttpTranslator> translator)
      : services_(services), translator_(std::move(translator)) {}

  void Translate(const httplib::Request& request, httplib::Response& response,
                 const httplib::ContentReader& reader) {
    const absl::StatusOr<FilePlaces::Place> place = translator_->file_places().TryEnter(request);
    if (!place.ok()) {
      if (DropBody(reader)) SendStatus(response, place.status());
      return;
    }
    auto read = ReadFileForm(request, reader);
    if (!read) return;  // the HTTP library has answered
    FileForm form;
    if (read->ok()) form = std::move(**read);
    absl::StatusOr<HttpTranslateRequest> wanted =
        read->ok() ? ParseTranslateForm(std::move(form.members)) : read->status();
    const std::string key = wanted.ok() ? wanted->api_key : "";
    if (wanted.ok()) AddWarning(IgnoredMembersWarning(wanted->ignored), response);
    std::unique_ptr<Document> document;
    auto translation = Open(request, std::move(wanted), form, document);
    const std::string target = translation.ok() ? translation->input.target_language : "";
    std::vector<std::string> texts;
    if (!translation.ok() || !translation->input.texts.empty()) {
      auto result = translator_->Translate(request, response, key, std::move(translation));
      if (!result.ok()) return SendStatus(response, result.status());
      for (TranslationResults::Text& text : result->translations)
        texts.push_back(std::move(text.text));
    }
    absl::StatusOr<std::string> bytes = document->Render(std::move(texts));
    if (!bytes.ok()) return SendStatus(response, bytes.status());
    const DocumentType& type = *FindDocumentType(form.file_name);
    const std::string name = documents_.Keep({.file_name = TranslatedName(form.file_name, target),
                                              .media_type = std::string(type.media_type),
                                              .bytes = *std::move(bytes)},
                                             type.extension);
    const nlohmann::json answer = {
        {"translatedFileUrl", AddressOf(request, StrCat("/download_file/", name))}};
    SendJson(response, answer.dump());
  }

  void Send(const httplib::Request& request, httplib::Response& response) {
    const std::string name = request.matches[1];
    const DocumentStore::Found found = documents_.Find({name, ""}, std::chrono::milliseconds(0));
    if (!found.known) {
      return SendError(response, 404,
                       StrCat("there is no file ", Shown(name),
                              "; a translation is kept for 10 minutes, or until newer ones need "
                              "its place"));
    }
    const TranslatedDocument& file = **found.end;
    response.set_header("Content-Disposition", AttachmentNamed(file.file_name));
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_content(file.bytes, file.media_type);
  }

 private:
  // Makes a request of the texts of the file. Authentication errors take precedence over others.
  absl::StatusOr<TranslationRequest> Open(const httplib::Request& request,
                                          absl::StatusOr<HttpTranslateRequest> wanted,
                                          FileForm& form, std::unique_ptr<Document>& document) {
    const std::string_view key = wanted.ok() ? wanted->api_key : std::string_view();
    MILLRACE_RETURN_IF_ERROR(CheckKey(request, services_.keys, key));
    MILLRACE_RETURN_IF_ERROR(translator_->CheckStarted());
    if (!wanted.ok()) return wanted.status();
    TranslationRequest translation = std::move(wanted->translation);
    if (!form.has_file) return MissingPart("file");
    if (translation.input.source_language.empty()) return MissingPart("source");
    if (translation.input.target_language.empty()) return MissingPart("target");
    if (!models::IsValidUtf8(form.file_name))
      return InvalidArgument("file: its name is not valid UTF-8");
    DocumentLimits limits = kLimits;
    limits.characters = services_.max_translate_characters;
    MILLRACE_ASSIGN_OR_RETURN(document, OpenDocument(form.file_name, std::move(form.bytes), limits,
                                                     translation.input.target_language));
    translation.input.texts.assign(document->texts().begin(), document->texts().end());
    translation.input.format = document->format();
    return translation;
  }

  Services& services_;
  const std::shared_ptr<HttpTranslator> translator_;
  DocumentStore documents_{Clock::Real(), {}};
};

}  // namespace

void AddLibreTranslateFileRoutes(HttpServer& server, Services& services,
                                 std::shared_ptr<HttpTranslator> translator) {
  const auto routes = std::make_shared<FileRoutes>(services, std::move(translator));
  server.routes().Post("/translate_file",
                       HttpRoutes::Reader(std::bind_front(&FileRoutes::Translate, routes)),
                       kMaxBody);
  server.routes().Get("/download_file/([^/]+)", std::bind_front(&FileRoutes::Send, routes));
}

}  // namespace millrace::server
