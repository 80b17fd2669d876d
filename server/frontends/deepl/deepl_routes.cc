#include "server/frontends/deepl/deepl_routes.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/documents/document.h"
#include "server/frontends/deepl/deepl_error.h"
#include "server/frontends/deepl/deepl_languages.h"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/deepl/glossary_entries.h"
#include "server/frontends/deepl/glossary_store.h"
#include "server/frontends/http/document_store.h"
#include "server/frontends/http/file_form.h"
#include "server/frontends/http/file_places.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/http/response_headers.h"
#include "server/http/form.h"
#include "server/http/http_routes.h"
#include "server/http/query.h"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"
#include "server/json/json_text.h"
#include "server/requests/models_answer.h"
#include "server/requests/translation_route.h"
#include "server/security/api_key_store.h"

namespace millrace::server {
namespace {

constexpr const char* kPrefixes[] = {"/v2/translate", "/v2/languages", "/v2/usage", "/v2/glossar",
                                     "/v2/document"};

constexpr char kDocumentKey[] = "document_key";

// Returns the key that DeepL's clients send, or an empty string.
std::string DeepLKey(const httplib::Request& request) {
  return std::string(BearerToken(request.get_header_value("Authorization"), "DeepL-Auth-Key"));
}

std::string NoGlossary(std::string_view id) {
  return StrCat("there is no glossary ", Shown(id), "; they are kept until the server stops");
}

void SendJson(httplib::Response& response, const std::string& body) {
  response.set_content(body, "application/json");
}

// A document that is being translated. One thread at a time.
struct DocumentWork {
  using End = absl::StatusOr<HttpTranslator::Result>;

  FilePlaces::Place place;
  std::unique_ptr<HttpTranslator::Begun> begun;  // null: the document has no texts
  std::optional<End> end;                        // once it has ended
  std::shared_ptr<Document> document;
  std::string file_name;
  std::string target;

  DocumentStore::Result Finish(const DocumentStore::GoOn& go_on) {
    constexpr std::chrono::milliseconds kCheckInterval{100};
    if (begun == nullptr) end = HttpTranslator::Result();
    while (!end) {
      MILLRACE_RETURN_IF_ERROR(go_on());
      end = begun->Wait(kCheckInterval);
    }
    if (!end->ok()) return end->status();
    TranslatedDocument translated;
    for (const TranslationText& text : (*end)->texts) translated.characters += text.characters;
    std::vector<std::string> texts;
    for (TranslationResults::Text& text : (*end)->translations)
      texts.push_back(std::move(text.text));
    MILLRACE_ASSIGN_OR_RETURN(translated.bytes, document->Render(std::move(texts)));
    translated.file_name = TranslatedName(file_name, target);
    translated.media_type = FindDocumentType(file_name)->media_type;
    return translated;
  }
};

class DeepLRoutes {
 public:
  using Members = absl::StatusOr<nlohmann::json>;

  DeepLRoutes(Services& services, std::shared_ptr<HttpTranslator> translator)
      : services_(services),
        translator_(std::move(translator)),
        sources_(services.models,
                 [](const ModelDirectory& models) { return DeepLSourcesBody(AllRoutes(models)); }),
        targets_(services.models,
                 [](const ModelDirectory& models) { return DeepLTargetsBody(AllRoutes(models)); }) {
  }

  void Translate(const httplib::Request& request, httplib::Response& response,
                 const Members& members) {
    absl::StatusOr<DeepLRequest> wanted = Take(request, members);
    ApplyGlossaries(request, wanted);
    auto result = translator_->Translate(
        request, response, DeepLKey(request),
        wanted.ok() ? absl::StatusOr<TranslationRequest>(std::move(wanted->translation))
                    : wanted.status());
    if (!result.ok()) return SendDeepLError(response, result.status());
    AddWarning(IgnoredMembersWarning(wanted->ignored), response);
    SendJson(response, DeepLTranslateBody(*wanted, *std::move(result)));
  }

  void Languages(const httplib::Request& request, httplib::Response& response,
                 const Members& members) {
    absl::Status status = Check(request, members);
    if (status.ok()) status = translator_->CheckStarted();
    absl::StatusOr<bool> targets = false;
    if (status.ok()) {
      // The type may stand in the query or in the body, which the Python client sends with GET.
      std::string type;
      status = HttpQuery().TakeText("type", type);
      if (status.ok()) {
        targets = type.empty() ? WantsTargets(*members) : WantsTargets({{"type", type}});
        status = targets.status();
      }
    }
    if (!status.ok()) return SendDeepLError(response, status);
    AddWarningOfOthers(*members, {"type"}, response);
    SendJson(response, *(*targets ? targets_ : sources_).Get());
  }

  void CreateGlossary(const httplib::Request& request, httplib::Response& response,
                      const Members& members) {
    absl::Status status = Check(request, members);
    if (!status.ok()) return SendDeepLError(response, status);
    AddWarningOfOthers(
        *members, {"name", "source_lang", "target_lang", "entries", "entries_format"}, response);
    absl::StatusOr<Glossary> glossary = ParseGlossary(*members);
    if (!glossary.ok()) return SendDeepLError(response, glossary.status());
    if (status = CheckPair(*glossary); !status.ok()) return SendDeepLError(response, status);
    const std::string owner = OwnerOf(request);
    const auto id = glossaries_.Add(owner, *std::move(glossary));
    if (!id.ok()) return SendDeepLError(response, id.status());
    response.status = 201;
    SendJson(response, JsonText(GlossaryInfo(*id, *glossaries_.Find(owner, *id))));
  }

  void ListGlossaries(const httplib::Request& request, httplib::Response& response) {
    if (!IsKnown(request, response)) return;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [id, glossary] : glossaries_.List(OwnerOf(request)))
      list.push_back(GlossaryInfo(id, *glossary));
    SendJson(response, JsonText(nlohmann::ordered_json{{"glossaries", std::move(list)}}));
  }

  void GetGlossary(const httplib::Request& request, httplib::Response& response) {
    if (const auto glossary = FindGlossary(request, response))
      SendJson(response, JsonText(GlossaryInfo(request.matches[1].str(), *glossary)));
  }

  void GlossaryEntries(const httplib::Request& request, httplib::Response& response) {
    if (const auto glossary = FindGlossary(request, response))
      response.set_content(GlossaryAsTsv(glossary->entries), "text/tab-separated-values");
  }

  void DeleteGlossary(const httplib::Request& request, httplib::Response& response) {
    if (FindGlossary(request, response) == nullptr) return;
    glossaries_.Remove(OwnerOf(request), request.matches[1].str());
    response.status = 204;
  }

  void GlossaryPairs(const httplib::Request& request, httplib::Response& response) {
    if (!IsKnown(request, response)) return;
    if (absl::Status status = translator_->CheckStarted(); !status.ok())
      return SendDeepLError(response, status);
    std::set<std::pair<std::string, std::string>> pairs;
    for (const TranslationRoute& route : AllRoutes(services_.models))
      pairs.emplace(GlossaryLanguage(route.source_language),
                    GlossaryLanguage(route.target_language));
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [source, target] : pairs)
      list.push_back({{"source_lang", source}, {"target_lang", target}});
    SendJson(response, JsonText(nlohmann::ordered_json{{"supported_languages", std::move(list)}}));
  }

  void UploadDocument(const httplib::Request& request, httplib::Response& response,
                      const httplib::ContentReader& reader) {
    absl::StatusOr<FilePlaces::Place> place = translator_->file_places().TryEnter(request);
    if (!place.ok()) {
      if (DropBody(reader)) SendDeepLError(response, place.status());
      return;
    }
    auto form = ReadFileForm(request, reader);
    if (!form) return;  // the HTTP library has answered
    std::shared_ptr<Document> document;
    absl::StatusOr<DeepLRequest> wanted = OpenInto(request, *form, document);
    ApplyGlossaries(request, wanted);
    const auto work = std::make_shared<DocumentWork>();
    work->place = *std::move(place);
    if (form->ok()) work->file_name = std::move((*form)->file_name);
    if (wanted.ok()) work->target = wanted->translation.input.target_language;
    if (!wanted.ok() || !wanted->translation.input.texts.empty()) {
      work->begun = translator_->Begin(
          request, response, DeepLKey(request),
          wanted.ok() ? absl::StatusOr<TranslationRequest>(std::move(wanted->translation))
                      : wanted.status());
      work->end = work->begun->Wait(std::chrono::milliseconds(0));
      work->begun->SetRateLimits(response);
      // A failure that is known already is told now, rather than to a client that asks for the
      // status.
      if (work->end && !work->end->ok()) return SendDeepLError(response, work->end->status());
    }
    work->document = std::move(document);
    AddWarning(IgnoredMembersWarning(wanted->ignored), response);
    const DocumentStore::Handle handle =
        documents_.Add([work](const DocumentStore::GoOn& go_on) { return work->Finish(go_on); });
    SendJson(response, JsonText(nlohmann::ordered_json{{"document_id", handle.id},
                                                       {"document_key", handle.key}}));
  }

  void TellDocumentStatus(const httplib::Request& request, httplib::Response& response,
                          const Members& members) {
    // DeepL's client asks every 5 s, so that a short document would seem to take as long.
    constexpr std::chrono::seconds kPatience{2};
    const auto found = FindTranslated(request, response, members, kPatience);
    if (!found) return;
    nlohmann::ordered_json state = {{"document_id", request.matches[1].str()}};
    if (found->end == nullptr) {
      state["status"] = "translating";
    } else if (found->end->ok()) {
      state["status"] = "done";
      state["billed_characters"] = (*found->end)->characters;
    } else {
      state["status"] = "error";
      state["error_message"] = DeepLErrorMessage(found->end->status());
    }
    SendJson(response, JsonText(state));
  }

  void SendDocument(const httplib::Request& request, httplib::Response& response,
                    const Members& members) {
    const auto found = FindTranslated(request, response, members, std::chrono::milliseconds(0));
    if (!found) return;
    if (found->end == nullptr)
      return SendDeepLError(response, Unavailable("the document is not translated yet"));
    if (!found->end->ok()) return SendDeepLError(response, found->end->status());
    const TranslatedDocument& document = **found->end;
    response.set_header("Content-Disposition", AttachmentNamed(document.file_name));
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_content(document.bytes, document.media_type);
  }

  void RemoveDocument(const httplib::Request& request, httplib::Response& response) {
    FormMembers key;
    for (std::string& value : HttpQuery().TakeValues(kDocumentKey))
      key.emplace_back(kDocumentKey, std::move(value));
    const auto handle = DocumentNamed(request, response, MembersOfForm(key));
    if (!handle) return;
    if (!documents_.Remove(*handle)) return SendNoDocument(response, handle->id);
    response.status = 204;
  }

  void Usage(const httplib::Request& request, httplib::Response& response, const Members& members) {
    if (absl::Status status = Check(request, members); !status.ok())
      return SendDeepLError(response, status);
    AddWarningOfOthers(*members, {}, response);
    SendJson(response, DeepLUsageBody());
  }

 private:
  // Glossaries are of the API key that created them; without keys, of everybody.
  std::string OwnerOf(const httplib::Request& request) const {
    return HttpCaller(request, services_.keys, DeepLKey(request)).key;
  }

  bool IsKnown(const httplib::Request& request, httplib::Response& response) const {
    const absl::Status status = Check(request, nlohmann::json::object());
    if (!status.ok()) SendDeepLError(response, status);
    return status.ok();
  }

  std::shared_ptr<const Glossary> FindGlossary(const httplib::Request& request,
                                               httplib::Response& response) const {
    if (!IsKnown(request, response)) return nullptr;
    const std::string id = request.matches[1];
    auto glossary = glossaries_.Find(OwnerOf(request), id);
    if (glossary != nullptr) return glossary;
    response.status = 404;
    SendJson(response, DeepLErrorBody(NoGlossary(id)));
    return nullptr;
  }

  // Refuses a glossary that no request could name.
  absl::Status CheckPair(const Glossary& glossary) {
    MILLRACE_RETURN_IF_ERROR(translator_->CheckStarted());
    MILLRACE_ASSIGN_OR_RETURN(const TranslationRoute route,
                              FindRoute(services_.models, glossary.source_language,
                                        glossary.target_language, /*choose=*/true));
    if (!route.models.empty()) return absl::OkStatus();
    return InvalidArgument("target_lang: is ", Shown(glossary.target_language),
                           ", the language of source_lang; a glossary is for another one");
  }

  void ApplyGlossaries(const httplib::Request& request,
                       absl::StatusOr<DeepLRequest>& wanted) const {
    if (!wanted.ok() || wanted->glossary_ids.empty()) return;
    if (wanted->source_language.empty()) {
      wanted = InvalidArgument("source_lang: is missing, which a request with a glossary needs");
      return;
    }
    const std::string owner = OwnerOf(request);
    std::set<std::string, std::less<>> sources;
    for (const std::string& id : wanted->glossary_ids) {
      if (absl::Status status = ApplyGlossary(owner, id, sources, *wanted); !status.ok()) {
        wanted = status;
        return;
      }
    }
  }

  // sources: the phrases that earlier glossaries have.
  absl::Status ApplyGlossary(const std::string& owner, const std::string& id,
                             std::set<std::string, std::less<>>& sources,
                             DeepLRequest& wanted) const {
    const auto glossary = glossaries_.Find(owner, id);
    if (glossary == nullptr) {
      return InvalidArgument(wanted.glossary_field, ": ", NoGlossary(id));
    }
    models::TranslateInput& input = wanted.translation.input;
    if (GlossaryLanguage(wanted.source_language) != glossary->source_language ||
        GlossaryLanguage(input.target_language) != glossary->target_language) {
      return InvalidArgument(wanted.glossary_field, ": the glossary ", Shown(id), " is from ",
                             glossary->source_language, " to ", glossary->target_language,
                             ", not from ", wanted.source_language, " to ", input.target_language);
    }
    for (const models::GlossaryEntry& entry : glossary->entries) {
      if (sources.insert(entry.source).second) input.glossary.push_back(entry);
    }
    return absl::OkStatus();
  }

  // Opens the document and makes its texts those of the request.
  absl::StatusOr<DeepLRequest> OpenInto(const httplib::Request& request,
                                        absl::StatusOr<FileForm>& read,
                                        std::shared_ptr<Document>& document) const {
    const Members members = read.ok() ? MembersOfForm(read->members) : Members(read.status());
    MILLRACE_RETURN_IF_ERROR(CheckReady(request, members));
    FileForm& form = *read;
    absl::StatusOr<DeepLRequest> wanted = ParseDeepLDocument(*members, form.file_name);
    if (!wanted.ok()) return wanted;
    if (!form.has_file) return InvalidArgument("file: is missing");
    if (!models::IsValidUtf8(form.file_name))
      return InvalidArgument("file: its name is not valid UTF-8");
    DocumentLimits limits;
    limits.characters = services_.max_translate_characters;
    MILLRACE_ASSIGN_OR_RETURN(document, OpenDocument(form.file_name, std::move(form.bytes), limits,
                                                     wanted->translation.input.target_language));
    models::TranslateInput& input = wanted->translation.input;
    input.texts.assign(document->texts().begin(), document->texts().end());
    input.format = document->format();
    return wanted;
  }

  // Authentication errors take precedence over errors of parsing.
  absl::Status Check(const httplib::Request& request, const Members& members) const {
    const std::string key = DeepLKey(request);
    if (!AuthenticateHttp(request, services_.keys, key).ok()) {
      return absl::UnauthenticatedError(
          request.has_header("Authorization") || request.has_header("X-Api-Key")
              ? "the API key is not known"
              : "an API key is needed, as `authorization: DeepL-Auth-Key <key>`");
    }
    return members.status();
  }

  // The same, and that the models are loaded.
  absl::Status CheckReady(const httplib::Request& request, const Members& members) const {
    absl::Status status = Check(request, members);
    if (absl::IsUnauthenticated(status)) return status;
    MILLRACE_RETURN_IF_ERROR(translator_->CheckStarted());
    return status;
  }

  absl::StatusOr<DeepLRequest> Take(const httplib::Request& request, const Members& members) const {
    MILLRACE_RETURN_IF_ERROR(CheckReady(request, members));
    return ParseDeepLRequest(*members);
  }

  // Returns the document that the path and the members name; null: the error is sent.
  std::optional<DocumentStore::Handle> DocumentNamed(const httplib::Request& request,
                                                     httplib::Response& response,
                                                     const Members& members) const {
    absl::Status status = Check(request, members);
    DocumentStore::Handle handle{request.matches[1].str(), ""};
    if (status.ok()) {
      AddWarningOfOthers(*members, {kDocumentKey}, response);
      const auto member = members->find(kDocumentKey);
      status = member == members->end() ? InvalidArgument("document_key: is missing")
                                        : TakeString(*member, kDocumentKey, handle.key);
    }
    if (status.ok()) return handle;
    SendDeepLError(response, status);
    return std::nullopt;
  }

  static void SendNoDocument(httplib::Response& response, std::string_view id) {
    response.status = 404;
    SendJson(response, DeepLErrorBody(StrCat("there is no document ", Shown(id),
                                             " with this document_key; a translation is kept for "
                                             "10 minutes, or until newer ones need its place")));
  }

  // Returns what is known of such a document; null: the error is sent.
  std::optional<DocumentStore::Found> FindTranslated(const httplib::Request& request,
                                                     httplib::Response& response,
                                                     const Members& members,
                                                     std::chrono::milliseconds patience) {
    const auto handle = DocumentNamed(request, response, members);
    if (!handle) return std::nullopt;
    DocumentStore::Found found = documents_.Find(*handle, patience);
    if (found.known) return found;
    SendNoDocument(response, handle->id);
    return std::nullopt;
  }

  Services& services_;
  const std::shared_ptr<HttpTranslator> translator_;
  ModelsAnswer<std::string> sources_;
  ModelsAnswer<std::string> targets_;
  GlossaryStore glossaries_{{}};
  DocumentStore documents_{Clock::Real(), {}};
};

}  // namespace

void AddDeepLRoutes(HttpServer& server, Services& services,
                    std::shared_ptr<HttpTranslator> translator) {
  const auto routes = std::make_shared<DeepLRoutes>(services, std::move(translator));
  const auto post = [&](const char* path, auto handler) {
    server.routes().Post(
        path, [routes, handler](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) {
          if (const auto members = ReadMembers(request, reader))
            (*routes.*handler)(request, response, *members);
        });
  };
  const auto get = [&](const char* path, auto handler) {
    server.routes().GetWithBody(
        path, [routes, handler](const httplib::Request& request, httplib::Response& response) {
          (*routes.*handler)(request, response,
                             ParseMembers(request.get_header_value("Content-Type"), request.body));
        });
  };
  constexpr char kGlossary[] = "/v2/glossaries/([^/]+)";
  post("/v2/translate", &DeepLRoutes::Translate);
  post("/v2/glossaries", &DeepLRoutes::CreateGlossary);
  server.routes().Get("/v2/glossaries", std::bind_front(&DeepLRoutes::ListGlossaries, routes));
  server.routes().Get(kGlossary, std::bind_front(&DeepLRoutes::GetGlossary, routes));
  server.routes().Get(StrCat(kGlossary, "/entries"),
                      std::bind_front(&DeepLRoutes::GlossaryEntries, routes));
  server.routes().Delete(kGlossary, std::bind_front(&DeepLRoutes::DeleteGlossary, routes));
  server.routes().Get("/v2/glossary-language-pairs",
                      std::bind_front(&DeepLRoutes::GlossaryPairs, routes));
  server.routes().Post("/v2/document",
                       HttpRoutes::Reader(std::bind_front(&DeepLRoutes::UploadDocument, routes)),
                       DocumentLimits().file_bytes + kMaxFormBytes);
  constexpr char kDocument[] = "/v2/document/([^/]+)";
  post(kDocument, &DeepLRoutes::TellDocumentStatus);
  server.routes().Delete(kDocument, std::bind_front(&DeepLRoutes::RemoveDocument, routes));
  post(StrCat(kDocument, "/result").c_str(), &DeepLRoutes::SendDocument);
  post("/v2/languages", &DeepLRoutes::Languages);
  post("/v2/usage", &DeepLRoutes::Usage);
  get("/v2/languages", &DeepLRoutes::Languages);
  get("/v2/usage", &DeepLRoutes::Usage);
  const auto body = [](int, const std::string& message) { return DeepLErrorBody(message); };
  for (const char* prefix : kPrefixes) server.ShapeErrorsBelow(prefix, body);
  // Its other paths, which are not served, too.
  server.ShapeErrorsOf([](const httplib::Request& request) { return !DeepLKey(request).empty(); },
                       body);
}

}  // namespace millrace::server
