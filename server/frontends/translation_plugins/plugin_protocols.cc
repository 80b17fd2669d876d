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
#include "server/json/json_member.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;
using Name = std::pair<std::string_view, std::string_view>;

// Null is treated as absent.
const json* Find(const json& members, const char* name) {
  const auto member = members.find(name);
  return member == members.end() || member->is_null() ? nullptr : &*member;
}

// Reads the languages; a source that is absent, or "auto" in any case, is detected.
absl::Status TakeLanguages(const json& members, const char* source, const char* target,
                           PluginRequest& request) {
  if (const json* value = Find(members, source)) {
    MILLRACE_RETURN_IF_ERROR(TakeString(*value, source, request.source_language));
  }
  if (const json* value = Find(members, target)) {
    MILLRACE_RETURN_IF_ERROR(TakeString(*value, target, request.target_language));
  }
  if (request.target_language.empty()) return InvalidArgument(target, ": is missing");
  if (absl::EqualsIgnoreCase(request.source_language, View(kAutoLanguage)))
    request.source_language.clear();
  models::TranslateInput& input = request.translation.input;
  input.target_language = request.target_language;
  input.source_language =
      request.source_language.empty() ? std::string(kAutoLanguage) : request.source_language;
  return absl::OkStatus();
}

// Reads one text, or the list of another member if that is there.
absl::StatusOr<PluginRequest> Parse(const json& members, const char* text, const char* texts,
                                    const char* source, const char* target) {
  PluginRequest request;
  const json* one = text == nullptr ? nullptr : Find(members, text);
  const json* several = texts == nullptr ? nullptr : Find(members, texts);
  if (one == nullptr && several == nullptr) {
    return InvalidArgument(std::string_view(text != nullptr ? text : texts), ": is missing");
  }
  if (several != nullptr) {
    request.list = true;
    MILLRACE_RETURN_IF_ERROR(TakeStrings(*several, texts, request.translation.input.texts));
  } else {
    std::string& only = request.translation.input.texts.emplace_back();
    MILLRACE_RETURN_IF_ERROR(TakeString(*one, text, only));
  }
  MILLRACE_RETURN_IF_ERROR(TakeLanguages(members, source, target, request));
  return request;
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

absl::StatusOr<PluginRequest> ParseImmersive(const json& members) {
  auto request = Parse(members, nullptr, "text_list", "source_lang", "target_lang");
  if (!request.ok()) return request;
  models::TranslateInput& input = request->translation.input;
  if (!std::ranges::any_of(input.texts, HasElements)) return request;
  input.format = models::TextFormat::kHtml;
  request->bare_ampersands = std::ranges::none_of(
      input.texts, [](const std::string& text) { return text.find("&amp;") != text.npos; });
  return request;
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

constexpr std::array<Name, 4> kImmersiveNames = {
    {{"source_language, target_language", "source_lang, target_lang"},
     {"texts", "text_list"},
     {"source_language", "source_lang"},
     {"target_language", "target_lang"}}};

// --- KISS Translator ---

absl::StatusOr<PluginRequest> ParseKiss(const json& members) {
  return Parse(members, "text", "texts", "from", "to");
}

std::string AnswerKiss(const PluginRequest& request, HttpTranslator::Result result) {
  Json translations = Json::array();
  for (size_t i = 0; i < result.translations.size(); ++i) {
    translations.push_back({{"text", std::move(result.translations[i].text)},
                            {"src", LanguageOf(result.texts[i], request.source_language)}});
  }
  return JsonText(request.list ? Json{{"translations", std::move(translations)}}
                               : std::move(translations.front()));
}

constexpr std::array<Name, 4> kFromToNames = {{{"source_language, target_language", "from, to"},
                                               {"texts", "text"},
                                               {"source_language", "from"},
                                               {"target_language", "to"}}};
constexpr std::array<Name, 4> kFromToBatchNames = {
    {{"source_language, target_language", "from, to"},
     {"texts", "texts"},
     {"source_language", "from"},
     {"target_language", "to"}}};

// --- DeepLX ---

absl::StatusOr<PluginRequest> ParseDeepLX(const json& members) {
  auto request = Parse(members, "text", nullptr, "source_lang", "target_lang");
  if (!request.ok()) return request;
  if (const json* value = Find(members, "tag_handling")) {
    std::string handling;
    MILLRACE_RETURN_IF_ERROR(TakeString(*value, "tag_handling", handling));
    if (!handling.empty() && handling != "html" && handling != "xml")
      return NotSupported("tag_handling", handling, "html and xml");
    if (!handling.empty()) request->translation.input.format = models::TextFormat::kHtml;
  }
  return request;
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

constexpr std::array<Name, 4> kDeepLXNames = {
    {{"source_language, target_language", "source_lang, target_lang"},
     {"texts", "text"},
     {"source_language", "source_lang"},
     {"target_language", "target_lang"}}};

// --- MTranServer ---

absl::StatusOr<PluginRequest> WithHtml(const json& members, absl::StatusOr<PluginRequest> request) {
  const json* value = Find(members, "html");
  if (!request.ok() || value == nullptr) return request;
  bool html = false;
  MILLRACE_RETURN_IF_ERROR(TakeFlag(*value, "html", html));
  if (html) request->translation.input.format = models::TextFormat::kHtml;
  return request;
}

absl::StatusOr<PluginRequest> ParseMTran(const json& members) {
  return WithHtml(members, Parse(members, "text", nullptr, "from", "to"));
}

absl::StatusOr<PluginRequest> ParseMTranBatch(const json& members) {
  return WithHtml(members, Parse(members, nullptr, "texts", "from", "to"));
}

std::string AnswerMTran(const PluginRequest& request, HttpTranslator::Result result) {
  Json results = Json::array();
  for (TranslationResults::Text& text : result.translations)
    results.push_back(std::move(text.text));
  return JsonText(request.list ? Json{{"results", std::move(results)}}
                               : Json{{"result", std::move(results.front())}});
}

constexpr PluginProtocol kDeepLX = {"/deeplx", ParseDeepLX, AnswerDeepLX, ErrorDeepLX,
                                    kDeepLXNames};
// The path of the original's own, with DeepL's free service.
constexpr PluginProtocol kDeepLXFree = {"/v1/translate", ParseDeepLX, AnswerDeepLX, ErrorDeepLX,
                                        kDeepLXNames};
constexpr PluginProtocol kMTran = {"/translate", ParseMTran, AnswerMTran, ErrorBody, kFromToNames};
constexpr std::array<PluginProtocol, 5> kProtocols = {
    {{"/imme", ParseImmersive, AnswerImmersive, ErrorBody, kImmersiveNames},
     {"/kiss", ParseKiss, AnswerKiss, ErrorBody, kFromToNames},
     kDeepLX,
     kDeepLXFree,
     {"/translate/batch", ParseMTranBatch, AnswerMTran, ErrorBody, kFromToBatchNames}}};

}  // namespace

std::span<const PluginProtocol> PluginProtocols() { return kProtocols; }

const PluginProtocol* ProtocolOfTranslate(const json& members) {
  if (!members.contains("text") || members.contains("q")) return nullptr;
  if (members.contains("target_lang")) return &kDeepLX;
  return members.contains("to") ? &kMTran : nullptr;
}

}  // namespace millrace::server
