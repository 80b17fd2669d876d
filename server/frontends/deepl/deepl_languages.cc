#include "server/frontends/deepl/deepl_languages.h"

#include <array>
#include <map>

#include "absl/strings/ascii.h"
#include "models/core/language_names.h"
#include "models/core/language_tag.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"

namespace millrace::server {
namespace {

struct Variant {
  std::string_view language;
  std::string_view code;
  std::string_view name;
};
// The targets that stand for a language without a region.
constexpr std::array<Variant, 4> kVariants = {{{"en", "EN-GB", "English (British)"},
                                               {"en", "EN-US", "English (American)"},
                                               {"pt", "PT-BR", "Portuguese (Brazilian)"},
                                               {"pt", "PT-PT", "Portuguese (European)"}}};

std::string Upper(std::string_view tag) { return absl::AsciiStrToUpper(View(tag)); }

std::string_view WithoutSubtags(std::string_view tag) { return tag.substr(0, tag.find('-')); }

std::string NameOf(const std::string& code, const std::string& tag) {
  for (const Variant& variant : kVariants) {
    if (variant.code == code) return std::string(variant.name);
  }
  return models::LanguageName(tag);
}

}  // namespace

std::string DeepLSource(std::string_view tag) {
  return Upper(WithoutSubtags(models::CanonicalLanguage(tag)));
}

std::string DeepLSourcesBody(const std::vector<TranslationRoute>& routes) {
  std::map<std::string, std::string> names;
  for (const TranslationRoute& route : routes) {
    const std::string tag = models::CanonicalLanguage(route.source_language);
    names.emplace(DeepLSource(tag), models::LanguageName(WithoutSubtags(tag)));
  }
  nlohmann::ordered_json answer = nlohmann::ordered_json::array();
  for (const auto& [code, name] : names) answer.push_back({{"language", code}, {"name", name}});
  return answer.dump();
}

std::string DeepLTargetsBody(const std::vector<TranslationRoute>& routes) {
  std::map<std::string, std::string> names;
  for (const TranslationRoute& route : routes) {
    const std::string tag = models::CanonicalLanguage(route.target_language);
    bool has_variants = false;
    for (const Variant& variant : kVariants) {
      if (variant.language != tag) continue;
      has_variants = true;
      names.emplace(variant.code, variant.name);
    }
    if (!has_variants) names.emplace(Upper(tag), NameOf(Upper(tag), tag));
  }
  nlohmann::ordered_json answer = nlohmann::ordered_json::array();
  for (const auto& [code, name] : names)
    answer.push_back({{"language", code}, {"name", name}, {"supports_formality", false}});
  return answer.dump();
}

}  // namespace millrace::server
