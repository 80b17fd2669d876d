#include "server/frontends/translation_plugins/plugin_protocols.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"
#include "server/json/json_text.h"
#include "server/requests/field_names.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

// Null is treated as absent. name: empty for a member that the protocol does not have.
const json* Find(const json& members, std::string_view name) {
  const auto member = name.empty() ? members.end() : members.find(name);
  return member == members.end() || member->is_null() ? nullptr : &*member;
}

// Reads the languages; a source that is absent, or "auto" in any case, is detected.
absl::Status TakeLanguages(const json& members, const PluginProtocol& protocol,
                           PluginRequest& request) {
  if (const json* value = Find(members, protocol.source)) {
    MILLRACE_RETURN_IF_ERROR(TakeString(*value, protocol.source, request.source_language));
  }
  if (const json* value = Find(members, protocol.target)) {
    MILLRACE_RETURN_IF_ERROR(TakeString(*value, protocol.target, request.target_language));
  }
  if (request.target_language.empty()) return InvalidArgument(protocol.target, ": is missing");
  if (absl::EqualsIgnoreCase(request.source_language, View(kAutoLanguage)))
    request.source_language.clear();
  models::TranslateInput& input = request.translation.input;
  input.target_language = request.target_language;
  input.source_language =
      request.source_language.empty() ? std::string(kAutoLanguage) : request.source_language;
  return absl::OkStatus();
}

// The language that a text was read in, where it was detected.
std::string LanguageOf(const TranslationText& text, const std::string& asked) {
  return text.read_in ? text.read_in->language : asked;
}

std::string ErrorBody(int, std::string_view message) { return JsonText(Json{{"error", message}}); }

// --- Immersive Translate ---

// Elements of a page are placeholders such as <b0></b0>, which only HTML keeps.
bool HasElements(const std::string& text) {
  return text.find("</") != std::string::npos || text.find("/>") != std::string::npos;
}

absl::Status FindElements(const json*, PluginRequest& request) {
  models::TranslateInput& input = request.translation.input;
  if (!std::ranges::any_of(input.texts, HasElements)) return absl::OkStatus();
  input.format = models::TextFormat::kHtml;
  request.bare_ampersands = std::ranges::none_of(
      input.texts, [](const std::string& text) { return text.find("&amp;") != text.npos; });
  return absl::OkStatus();
}

std::string AnswerImmersive(const PluginRequest& request, HttpTranslator::Result result) {
  Json translations = Json::array();
  for (size_t i = 0; i < result.translations.size(); ++i) {
    if (request.bare_ampersands)
      absl::StrReplaceAll({{"&amp;", "&"}}, &result.translations[i].text);
    translations.push_back(
        {{"detected_source_lang", LanguageOf(result.texts[i], request.source_language)},
         {"text", std::move(result.translations[i].text)}});
  }
  return JsonText(Json{{"translations", std::move(translations)}});
}

// --- KISS Translator ---

std::string AnswerKiss(const PluginRequest& request, HttpTranslator::Result result) {
  Json translations = Json::array();
  for (size_t i = 0; i < result.translations.size(); ++i) {
    translations.push_back({{"text", std::move(result.translations[i].text)},
                            {"src", LanguageOf(result.texts[i], request.source_language)}});
  }
  return JsonText(request.list ? Json{{"translations", std::move(translations)}}
                               : std::move(translations.front()));
}

// --- DeepLX ---

absl::Status TakeTagHandling(const json* value, PluginRequest& request) {
  if (value == nullptr) return absl::OkStatus();
  std::string handling;
  MILLRACE_RETURN_IF_ERROR(TakeString(*value, "tag_handling", handling));
  if (!handling.empty() && handling != "html" && handling != "xml")
    return NotSupported("tag_handling", handling, "html and xml");
  if (!handling.empty()) request.translation.input.format = models::TextFormat::kHtml;
  return absl::OkStatus();
}

std::string AnswerDeepLX(const PluginRequest& request, HttpTranslator::Result result) {
  // A number that tells answers apart, as the original's does.
  static std::atomic<int64_t> next_id{1};
  return JsonText(Json{{"code", 200},
                       {"id", next_id.fetch_add(1, std::memory_order_relaxed)},
                       {"data", std::move(result.translations.front().text)},
                       {"alternatives", Json::array()},
                       {"source_lang", absl::AsciiStrToUpper(LanguageOf(result.texts.front(),
                                                                        request.source_language))},
                       {"target_lang", absl::AsciiStrToUpper(request.target_language)},
                       {"method", "Free"}});
}

std::string ErrorDeepLX(int http_status, std::string_view message) {
  return JsonText(Json{{"code", http_status}, {"message", message}});
}

// --- MTranServer ---

absl::Status TakeHtml(const json* value, PluginRequest& request) {
  bool html = false;
  if (value != nullptr) MILLRACE_RETURN_IF_ERROR(TakeFlag(*value, "html", html));
  if (html) request.translation.input.format = models::TextFormat::kHtml;
  return absl::OkStatus();
}

std::string AnswerMTran(const PluginRequest& request, HttpTranslator::Result result) {
  Json results = Json::array();
  for (TranslationResults::Text& text : result.translations)
    results.push_back(std::move(text.text));
  return JsonText(request.list ? Json{{"results", std::move(results)}}
                               : Json{{"result", std::move(results.front())}});
}

constexpr PluginProtocol DeepLXAt(const char* path) {
  return {path,           "text",          "",           "source_lang", "target_lang",
          "tag_handling", TakeTagHandling, AnswerDeepLX, ErrorDeepLX};
}
constexpr PluginProtocol MTranAt(const char* path, std::string_view text, std::string_view texts) {
  return {path, text, texts, "from", "to", "html", TakeHtml, AnswerMTran, ErrorBody};
}

constexpr PluginProtocol kDeepLX = DeepLXAt("/deeplx");
constexpr PluginProtocol kMTran = MTranAt("/translate", "text", "");
constexpr std::array<PluginProtocol, 5> kProtocols = {
    {{"/imme", "", "text_list", "source_lang", "target_lang", "", FindElements, AnswerImmersive,
      ErrorBody},
     {"/kiss", "text", "texts", "from", "to", "", nullptr, AnswerKiss, ErrorBody},
     kDeepLX,
     // The path of the original's own, with DeepL's free service.
     DeepLXAt("/v1/translate"),
     MTranAt("/translate/batch", "", "texts")}};

}  // namespace

std::span<const PluginProtocol> PluginProtocols() { return kProtocols; }

absl::StatusOr<PluginRequest> ParsePluginRequest(const PluginProtocol& protocol,
                                                 const json& members) {
  PluginRequest request;
  std::vector<std::string>& texts = request.translation.input.texts;
  const json* one = Find(members, protocol.text);
  const json* several = Find(members, protocol.texts);
  if (one == nullptr && several == nullptr)
    return InvalidArgument(protocol.text.empty() ? protocol.texts : protocol.text, ": is missing");
  request.list = several != nullptr;
  MILLRACE_RETURN_IF_ERROR(request.list ? TakeStrings(*several, protocol.texts, texts)
                                        : TakeString(*one, protocol.text, texts.emplace_back()));
  MILLRACE_RETURN_IF_ERROR(TakeLanguages(members, protocol, request));
  if (protocol.take_format != nullptr) {
    MILLRACE_RETURN_IF_ERROR(protocol.take_format(Find(members, protocol.format), request));
  }
  AddIgnored(members,
             {request.list ? protocol.texts : protocol.text, protocol.source, protocol.target,
              protocol.format, kPluginKeyParameters[0], kPluginKeyParameters[1]},
             "", request.ignored);
  return request;
}

std::string PluginErrorMessage(const PluginProtocol& protocol, bool list,
                               const absl::Status& status) {
  const std::string pair = StrCat(protocol.source, ", ", protocol.target);
  const std::pair<std::string_view, std::string_view> names[] = {
      {"source_language, target_language", pair},
      {list ? "texts" : "texts[0]", list ? protocol.texts : protocol.text},
      {"texts", list ? protocol.texts : protocol.text},
      {"source_language", protocol.source},
      {"target_language", protocol.target}};
  return MessageWithNames(status, names);
}

const PluginProtocol* ProtocolOfTranslate(const json& members) {
  if (!members.contains("text") || members.contains("q")) return nullptr;
  if (members.contains("target_lang")) return &kDeepLX;
  return members.contains("to") ? &kMTran : nullptr;
}

}  // namespace millrace::server
