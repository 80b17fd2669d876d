#include "server/frontends/deepl/deepl_message.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_languages.h"
#include "server/frontends/deepl/glossary_entries.h"
#include "server/json/json_member.h"
#include "server/json/json_text.h"
#include "server/requests/translation_terms.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// DeepL's own figure for an account without a limit.
constexpr int64_t kUnlimited = 1'000'000'000'000;

constexpr size_t kMaxTags = 100;
constexpr size_t kMaxGlossaries = 5;  // as DeepL has it
constexpr size_t kMaxGlossaryName = 1024;

// Members that choose what stands in the translation. A client that relies on one must know that it
// has no effect here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRefused = {{
    {"style_id", "this server keeps no style rules"},
    {"translation_memory_id", "this server keeps no translation memories"},
    {"custom_instructions", "the models take no instructions"},
}};

// Members that are kept without doing anything: what they ask for is what is always done, or
// concerns the bill.
constexpr std::array<std::string_view, 3> kAlwaysSo = {"preserve_formatting", "outline_detection",
                                                       "show_billed_characters"};

bool IsEmpty(const json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_array() && value.empty()) || (value.is_boolean() && !value.get<bool>());
}

// Returns true if it is one that is known and has no effect.
absl::StatusOr<bool> TakeSplitting(const json& value) {
  const std::string splitting = value.is_string() ? value.get<std::string>() : value.dump();
  if (splitting == "1") return false;
  if (splitting == "0" || splitting == "nonewlines") return true;
  return NotSupported("split_sentences", splitting, "0, 1 and nonewlines");
}

// The models do not distinguish degrees of formality: a preference is ignored, as DeepL does for
// languages without them, and a demand is refused. Returns true if there was a preference.
absl::StatusOr<bool> TakeFormality(const json& value) {
  std::string formality;
  MILLRACE_RETURN_IF_ERROR(TakeString(value, "formality", formality));
  if (formality.empty() || formality == "default") return false;
  if (formality == "prefer_more" || formality == "prefer_less") return true;
  return NotSupported("formality", formality, "default, prefer_more and prefer_less");
}

// XML is read as HTML: its tags stay, and those that HTML does not know separate sentences.
absl::Status TakeTagHandling(const json& value, models::TextFormat& format) {
  std::string handling;
  MILLRACE_RETURN_IF_ERROR(TakeString(value, "tag_handling", handling));
  if (!handling.empty() && handling != "html" && handling != "xml")
    return NotSupported("tag_handling", handling, "html and xml");
  format = handling.empty() ? models::TextFormat::kText : models::TextFormat::kHtml;
  return absl::OkStatus();
}

// Reads names of elements: a list of them or, as in a form, some with commas between them.
absl::Status TakeTags(const json& value, std::string_view name, std::vector<std::string>& tags) {
  std::vector<std::string> listed;
  MILLRACE_RETURN_IF_ERROR(TakeStrings(value, name, listed));
  for (const std::string& some : listed) {
    for (const absl::string_view tag : absl::StrSplit(some, ',', absl::SkipWhitespace()))
      tags.emplace_back(absl::StripAsciiWhitespace(tag));
  }
  if (tags.size() <= kMaxTags) return absl::OkStatus();
  return InvalidArgument(name, ": has ", tags.size(), " names; at most ", kMaxTags, " are allowed");
}

absl::Status TakeGlossaries(const std::string& name, const json& value, DeepLRequest& request) {
  std::vector<std::string> ids;
  if (name == "glossary_ids") {
    MILLRACE_RETURN_IF_ERROR(TakeTags(value, name, ids));
    if (ids.size() > kMaxGlossaries) {
      return InvalidArgument("glossary_ids: has ", ids.size(), " glossaries; at most ",
                             kMaxGlossaries, " are allowed");
    }
  } else {
    std::string id;
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, id));
    if (!id.empty()) ids.push_back(std::move(id));
  }
  if (ids.empty()) return absl::OkStatus();
  if (!request.glossary_ids.empty()) {
    return InvalidArgument("glossary_id, glossary_ids: are both given; one of them is allowed");
  }
  request.glossary_ids = std::move(ids);
  if (name == "glossary_ids") request.glossary_field = "glossary_ids";
  return absl::OkStatus();
}

absl::Status Take(const std::string& name, const json& value, DeepLRequest& request) {
  models::TranslateInput& input = request.translation.input;
  if (name == "text") return TakeStrings(value, name, input.texts);
  if (name == "ignore_tags") return TakeTags(value, name, request.ignored_tags);
  if (name == "non_splitting_tags") return TakeTags(value, name, request.inline_tags);
  if (name == "target_lang") return TakeString(value, name, input.target_language);
  if (name == "source_lang") return TakeString(value, name, request.source_language);
  if (name == "glossary_id" || name == "glossary_ids") return TakeGlossaries(name, value, request);
  if (name == "tag_handling") return TakeTagHandling(value, input.format);
  if (name == "split_sentences" || name == "formality") {
    MILLRACE_ASSIGN_OR_RETURN(const auto ignored,
                              name == "formality" ? TakeFormality(value) : TakeSplitting(value));
    if (ignored) request.ignored.push_back(name);
    return absl::OkStatus();
  }
  if (std::ranges::find(kAlwaysSo, name) != kAlwaysSo.end()) {
    bool flag = false;
    return TakeFlag(value, name, flag);
  }
  const auto* const refused =
      std::ranges::find(kRefused, name, [](const auto& member) { return member.first; });
  if (refused != kRefused.end()) {
    if (IsEmpty(value)) return absl::OkStatus();
    return InvalidArgument(name, ": is not supported; ", refused->second);
  }
  request.ignored.push_back(name);
  return absl::OkStatus();
}

absl::Status TakeAll(const json& members, DeepLRequest& request) {
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;  // treated as absent
    MILLRACE_RETURN_IF_ERROR(Take(name, value, request));
  }
  return absl::OkStatus();
}

absl::Status TakeLanguages(DeepLRequest& request) {
  models::TranslateInput& input = request.translation.input;
  if (input.target_language.empty()) return InvalidArgument("target_lang: is missing");
  input.source_language =
      request.source_language.empty() ? std::string(kAutoLanguage) : request.source_language;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeepLRequest> ParseDeepLRequest(const json& members) {
  DeepLRequest request;
  models::TranslateInput& input = request.translation.input;
  MILLRACE_RETURN_IF_ERROR(TakeAll(members, request));
  const auto text = members.find("text");
  if (text == members.end() || text->is_null()) return InvalidArgument("text: is missing");
  MILLRACE_RETURN_IF_ERROR(TakeLanguages(request));
  for (const std::string& one : input.texts)
    request.characters.push_back(models::CountCodePoints(one));
  // Without markup there are no elements.
  if (input.format != models::TextFormat::kHtml) {
    if (!request.ignored_tags.empty()) request.ignored.emplace_back("ignore_tags");
    if (!request.inline_tags.empty()) request.ignored.emplace_back("non_splitting_tags");
    return request;
  }
  if (!request.ignored_tags.empty()) {
    request.kept.emplace(std::move(request.ignored_tags));
    for (std::string& one : input.texts) one = request.kept->Hide(one);
  }
  if (!request.inline_tags.empty()) {
    request.inlines.emplace(std::move(request.inline_tags));
    request.inlines->Hide(input.texts);
  }
  return request;
}

absl::StatusOr<DeepLRequest> ParseDeepLDocument(json members, std::string& file_name) {
  DeepLRequest request;
  std::string output_format;
  for (const auto& [name, out] : {std::pair<const char*, std::string*>{"filename", &file_name},
                                  {"output_format", &output_format}}) {
    const auto member = members.find(name);
    if (member == members.end()) continue;
    MILLRACE_RETURN_IF_ERROR(TakeString(*member, name, *out));
    members.erase(member);
  }
  // Members that concern texts alone have no effect.
  for (const char* name : {"text", "ignore_tags", "non_splitting_tags", "tag_handling"}) {
    if (members.erase(name) > 0) request.ignored.emplace_back(name);
  }
  MILLRACE_RETURN_IF_ERROR(TakeAll(members, request));
  MILLRACE_RETURN_IF_ERROR(TakeLanguages(request));
  const std::string_view extension =
      std::string_view(file_name).substr(std::min(file_name.rfind('.'), file_name.size() - 1) + 1);
  if (!output_format.empty() && !absl::EqualsIgnoreCase(View(extension), output_format)) {
    return InvalidArgument("output_format: ", Shown(output_format),
                           " is not supported; a document keeps its format, ", Shown(extension));
  }
  return request;
}

absl::StatusOr<bool> WantsTargets(const json& members) {
  const auto type = members.find("type");
  if (type == members.end() || type->is_null()) return false;
  std::string wanted;
  MILLRACE_RETURN_IF_ERROR(TakeString(*type, "type", wanted));
  if (wanted != "source" && wanted != "target")
    return NotSupported("type", wanted, "source and target");
  return wanted == "target";
}

std::string DeepLTranslateBody(const DeepLRequest& request, HttpTranslator::Result result) {
  nlohmann::ordered_json translations = nlohmann::ordered_json::array();
  for (size_t i = 0; i < result.translations.size(); ++i) {
    const TranslationText& text = result.texts[i];
    const std::string source = text.read_in ? text.read_in->language : request.source_language;
    std::string translated = std::move(result.translations[i].text);
    if (request.inlines) translated = request.inlines->Show(translated);
    if (request.kept) translated = request.kept->Show(translated);
    translations.push_back({{"detected_source_language", DeepLSource(source)},
                            {"text", std::move(translated)},
                            {"billed_characters", request.characters[i]}});
    if (!text.untranslated.empty()) translations.back()["untranslated"] = text.untranslated;
  }
  return JsonText(nlohmann::ordered_json{{"translations", std::move(translations)}});
}

absl::StatusOr<Glossary> ParseGlossary(const json& members) {
  Glossary glossary;
  std::string entries;
  std::string format;
  const std::pair<const char*, std::string*> fields[] = {{"name", &glossary.name},
                                                         {"source_lang", &glossary.source_language},
                                                         {"target_lang", &glossary.target_language},
                                                         {"entries", &entries},
                                                         {"entries_format", &format}};
  for (const auto& [name, out] : fields) {
    const auto member = members.find(name);
    if (member == members.end() || member->is_null())
      return InvalidArgument(std::string_view(name), ": is missing");
    MILLRACE_RETURN_IF_ERROR(TakeString(*member, name, *out));
    if (out->empty()) return InvalidArgument(std::string_view(name), ": is empty");
  }
  if (glossary.name.size() > kMaxGlossaryName) {
    return InvalidArgument("name: has ", glossary.name.size(), " bytes; at most ", kMaxGlossaryName,
                           " are allowed");
  }
  for (const auto& [name, language] : {std::pair("source_lang", &glossary.source_language),
                                       std::pair("target_lang", &glossary.target_language)}) {
    const std::string given = std::exchange(*language, GlossaryLanguage(*language));
    const bool is_code = (language->size() == 2 || language->size() == 3) &&
                         std::ranges::all_of(*language, absl::ascii_islower);
    if (is_code) continue;
    return InvalidArgument(std::string_view(name), ": ", Shown(given),
                           " is not the code of a language, such as EN");
  }
  MILLRACE_ASSIGN_OR_RETURN(glossary.entries, ParseGlossaryEntries(entries, format));
  if (absl::Status status = CheckTerms(glossary.entries, {}); !status.ok()) {
    return InvalidArgument("entries: ", Message(status));
  }
  glossary.created = std::chrono::system_clock::now();
  return glossary;
}

std::string GlossaryLanguage(std::string_view tag) {
  return absl::AsciiStrToLower(View(tag.substr(0, tag.find_first_of("-_"))));
}

nlohmann::ordered_json GlossaryInfo(const std::string& id, const Glossary& glossary) {
  const std::time_t created = std::chrono::system_clock::to_time_t(glossary.created);
  std::tm parts = {};
  gmtime_r(&created, &parts);
  char time[32];
  const size_t bytes = std::strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S.000000Z", &parts);
  return {{"glossary_id", id},
          {"name", glossary.name},
          {"ready", true},
          {"source_lang", glossary.source_language},
          {"target_lang", glossary.target_language},
          {"creation_time", std::string(time, bytes)},
          {"entry_count", glossary.entries.size()}};
}

std::string DeepLUsageBody() {
  return nlohmann::ordered_json{{"character_count", 0}, {"character_limit", kUnlimited}}.dump();
}

}  // namespace millrace::server
