#include "server/frontends/libretranslate/translate_message.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/language_names.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/documents/document.h"
#include "server/frontends/libretranslate/translate_terms.h"
#include "server/http/form_size.h"
#include "server/http/json_body.h"
#include "server/json/json_member.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// This exceeds what any model gives.
constexpr int kMaxAlternatives = 1'000;

absl::Status TakeFormat(std::string_view format, HttpTranslateRequest& request) {
  models::TextFormat& out = request.translation.input.format;
  if (format.empty() || format == "text") {
    out = models::TextFormat::kText;
  } else if (format == "html") {
    out = models::TextFormat::kHtml;
  } else if (format == "markdown") {
    out = models::TextFormat::kMarkdown;
  } else {
    return NotSupported("format", format, "text, html and markdown");
  }
  return absl::OkStatus();
}

absl::Status TakeAlternatives(std::string_view text, HttpTranslateRequest& request) {
  int64_t count = 0;
  if (!absl::SimpleAtoi(View(text), &count)) {
    return InvalidArgument("alternatives: '", text.substr(0, 64), "' is not a whole number");
  }
  if (count < 0) {
    return InvalidArgument("alternatives: ", count, " is not allowed; it is 0 or more");
  }
  request.alternatives = static_cast<int>(std::min<int64_t>(count, kMaxAlternatives));
  return absl::OkStatus();
}

absl::Status TakeText(std::string_view name, std::string value, HttpTranslateRequest& request) {
  models::TranslateInput& input = request.translation.input;
  if (name == "source") {
    request.auto_source = value == kAutoLanguage;
    input.source_language = std::move(value);
  } else if (name == "target") {
    input.target_language = std::move(value);
  } else if (name == "api_key") {
    request.api_key = std::move(value);
  } else if (name == "format") {
    return TakeFormat(value, request);
  } else if (name == "alternatives") {
    return TakeAlternatives(value, request);
  } else if (name == "glossary") {
    return TakeGlossaryText(value, input.glossary);
  } else if (name == "do_not_translate") {
    input.do_not_translate.push_back(std::move(value));
  } else if (!value.empty()) {
    request.ignored.emplace_back(name);
  }
  return absl::OkStatus();
}

absl::Status TakeQuery(const nlohmann::json& value, HttpTranslateRequest& request) {
  request.has_query = true;
  request.list = value.is_array();
  return TakeStrings(value, "q", request.translation.input.texts);
}

absl::Status TakeJson(std::string_view name, const nlohmann::json& value,
                      HttpTranslateRequest& request) {
  if (name == "q") return TakeQuery(value, request);
  if (name == "glossary") return TakeGlossary(value, request.translation.input.glossary);
  if (name == "do_not_translate")
    return TakeStrings(value, name, request.translation.input.do_not_translate);
  if (name == "alternatives") {
    if (!value.is_number_integer()) return WrongType(name, "a whole number", value);
    return TakeAlternatives(value.dump(), request);
  }
  constexpr std::string_view kTexts[] = {"source", "target", "format", "api_key"};
  if (value.is_string()) return TakeText(name, value.get<std::string>(), request);
  if (std::ranges::find(kTexts, name) != std::end(kTexts))
    return WrongType(name, "a string", value);
  request.ignored.emplace_back(name);
  return absl::OkStatus();
}

absl::StatusOr<HttpTranslateRequest> FromJson(std::string_view body) {
  MILLRACE_ASSIGN_OR_RETURN(const nlohmann::json members, ParseJsonObject(body));
  HttpTranslateRequest request;
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;  // treated as absent
    MILLRACE_RETURN_IF_ERROR(TakeJson(name, value, request));
  }
  return request;
}

absl::Status Missing(std::string_view name) {
  return InvalidArgument("Invalid request: missing ", name, " parameter");
}

Json ToJson(const models::DetectedLanguage& detected) {
  // A language that cannot be detected is English with confidence 0, as in the original.
  if (detected.language.empty()) return {{"confidence", 0.0}, {"language", "en"}};
  return {{"confidence", std::lround(detected.confidence * 100)}, {"language", detected.language}};
}

Json NamedLanguage(const std::string& code) {
  return {{"code", code}, {"name", models::LanguageName(code)}};
}

}  // namespace

absl::StatusOr<HttpTranslateRequest> ParseTranslateBody(std::string_view content_type,
                                                        std::string_view body, Query& query) {
  const bool only_query = body.empty() && !query.empty();
  if (!only_query && IsJsonBody(content_type, body)) return FromJson(body);
  if (body.empty() || IsEncodedForm(content_type)) {
    MILLRACE_RETURN_IF_ERROR(CheckFormSize(body));
    FormMembers members = query.TakeAll();
    std::ranges::move(ParseForm(body), std::back_inserter(members));
    return ParseTranslateForm(std::move(members));
  }
  return NeitherJsonNorForm(content_type);
}

absl::StatusOr<HttpTranslateRequest> ParseTranslateForm(FormMembers members) {
  HttpTranslateRequest request;
  std::vector<std::string>& texts = request.translation.input.texts;
  std::set<std::string> names;
  for (auto& [name, value] : members) {
    if (!models::IsValidUtf8(value)) return InvalidArgument("the body is not valid UTF-8");
    if (name == "q") {
      texts.push_back(std::move(value));
    } else if (name != "do_not_translate" && !names.insert(name).second) {
      return InvalidArgument(Shown(name), " is given twice");
    } else if (absl::Status status = TakeText(name, std::move(value), request); !status.ok()) {
      return status;
    }
  }
  request.has_query = !texts.empty();
  request.list = texts.size() > 1;
  return request;
}

absl::Status CheckTranslate(const HttpTranslateRequest& request) {
  MILLRACE_RETURN_IF_ERROR(CheckDetect(request));
  if (request.translation.input.source_language.empty()) return Missing("source");
  if (request.translation.input.target_language.empty()) return Missing("target");
  return absl::OkStatus();
}

absl::Status CheckDetect(const HttpTranslateRequest& request) {
  const std::vector<std::string>& texts = request.translation.input.texts;
  if (texts.empty() || (!request.list && texts.front().empty())) return Missing("q");
  return absl::OkStatus();
}

std::string TranslateBody(const HttpTranslateRequest& request,
                          const std::vector<TranslationText>& texts,
                          std::vector<TranslationResults::Text> results) {
  Json translated = Json::array();
  Json detected = Json::array();
  Json alternatives = Json::array();
  Json lost = Json::array();
  Json untranslated = Json::array();
  bool any_lost = false;
  bool any_untranslated = false;
  for (size_t i = 0; i < results.size(); ++i) {
    TranslationResults::Text& result = results[i];
    translated.push_back(std::move(result.text));
    detected.push_back(ToJson(texts[i].read_in.value_or(models::DetectedLanguage())));
    any_lost = any_lost || !result.lost.empty();
    lost.push_back(std::move(result.lost));
    any_untranslated = any_untranslated || !texts[i].untranslated.empty();
    untranslated.push_back(texts[i].untranslated);
    Json& others = alternatives.emplace_back(Json::array());
    for (models::TranslationAlternative& other : result.alternatives)
      others.push_back(std::move(other.text));
  }
  const auto shaped = [&request](Json& list) {
    return request.list ? std::move(list) : std::move(list.front());
  };
  Json answer = {{"translatedText", shaped(translated)}};
  if (request.auto_source) answer["detectedLanguage"] = shaped(detected);
  if (request.alternatives > 0) answer["alternatives"] = shaped(alternatives);
  if (any_lost) answer["lost"] = shaped(lost);
  if (any_untranslated) answer["untranslated"] = shaped(untranslated);
  return JsonText(answer);
}

std::string DetectBody(const std::vector<models::DetectedLanguage>& candidates) {
  Json answer = Json::array();
  for (const models::DetectedLanguage& candidate : candidates) answer.push_back(ToJson(candidate));
  if (answer.empty()) answer.push_back(ToJson({}));
  return JsonText(answer);
}

std::string LanguagesBody(const std::vector<TranslationRoute>& routes) {
  // Each language is also listed as a target of itself, as in the original.
  std::map<std::string, std::set<std::string>> targets;
  std::map<std::string, Json> pivots;  // by source: the pivot of each target that has one
  for (const TranslationRoute& route : routes) {
    targets[route.source_language].insert({route.source_language, route.target_language});
    targets[route.target_language].insert(route.target_language);
    if (!route.pivot_language.empty())
      pivots[route.source_language][route.target_language] = route.pivot_language;
  }
  Json answer = Json::array();
  for (const auto& [code, all] : targets) {
    Json& language = answer.emplace_back(NamedLanguage(code));
    language["targets"] = all;
    if (const auto found = pivots.find(code); found != pivots.end())
      language["pivots"] = found->second;
  }
  return JsonText(answer);
}

std::string SettingsBody(const std::vector<TranslationRoute>& routes, bool keys,
                         size_t max_characters) {
  const TranslationRoute* first = routes.empty() ? nullptr : &routes.front();
  for (const TranslationRoute& route : routes) {
    if (route.source_language != "en") continue;
    first = &route;
    break;
  }
  const std::string source = first != nullptr ? first->source_language : "en";
  const std::string target = first != nullptr ? first->target_language : "en";
  Json extensions = Json::array();
  for (const DocumentType& type : DocumentTypes()) extensions.push_back(type.extension);
  return JsonText(
      Json{{"charLimit", max_characters},
           {"frontendTimeout", 500},
           {"apiKeys", keys},
           {"keyRequired", keys},
           {"suggestions", false},
           {"filesTranslation", true},
           {"supportedFilesFormat", extensions},
           {"language", {{"source", NamedLanguage(source)}, {"target", NamedLanguage(target)}}}});
}

}  // namespace millrace::server
