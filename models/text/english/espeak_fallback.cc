#include "models/text/english/espeak_fallback.h"

#include <array>
#include <utility>

#include "models/core/errors.h"
#include "models/text/english/phonetics.h"
#include "models/text/espeak_pool.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct Rule {
  std::string_view from;
  std::string_view to;
};

constexpr std::array<Rule, 33> kBoth = {{
    {"ʔˌn\u0329", "tn"}, {"ʔn\u0329", "tn"}, {"aɪ", "I"},       {"aʊ", "W"},  {"dʒ", "ʤ"},
    {"eɪ", "A"},         {"tʃ", "ʧ"},        {"ɔɪ", "Y"},       {"əl", "ᵊl"}, {"n\u0329", "ᵊn"},
    {"l\u0329", "ᵊl"},   {"m\u0329", "ᵊm"},  {"ɹ\u0329", "ᵊɹ"}, {"ʲo", "jɔ"}, {"ʲə", "jə"},
    {"ɚ", "əɹ"},         {"r", "ɹ"},         {"x", "k"},        {"ç", "k"},   {"ɐ", "ə"},
    {"ɬ", "l"},          {"ɾ", "T"},         {"ʔ", "t"},        {"g", "ɡ"},   {"y", "i"},
    {"ø", "ə"},          {"œ", "ə"},         {"ʁ", "ɹ"},        {"β", "b"},   {"ɲ", "nj"},
    {"ɣ", "ɡ"},          {"c", "k"},         {"q", "k"},
}};
constexpr std::array<Rule, 10> kUs = {{{"oʊ", "O"},
                                       {"ʲoʊ", "jO"},
                                       {"ɜːɹ", "ɜɹ"},
                                       {"ɜː", "ɜɹ"},
                                       {"ɪə", "iə"},
                                       {"ː", ""},
                                       {"e", "A"},
                                       {"o", "ɔ"},
                                       {"a", "æ"},
                                       {"ɒ", "ɑ"}}};
constexpr std::array<Rule, 8> kGb = {{{"əʊ", "Q"},
                                      {"ʲəʊ", "jQ"},
                                      {"eə", "ɛː"},
                                      {"iə", "ɪə"},
                                      {"ᵻ", "ɪ"},
                                      {"æ", "a"},
                                      {"e", "A"},
                                      {"o", "ɔ"}}};

// Returns the rule whose `from` is the longest prefix of the text.
const Rule* Find(std::span<const Rule> rules, std::string_view text, const Rule* best) {
  for (const Rule& rule : rules) {
    const bool longer = best == nullptr || rule.from.size() > best->from.size();
    if (longer && text.starts_with(rule.from)) best = &rule;
  }
  return best;
}

}  // namespace

std::string MisakiFromEspeak(std::string_view ipa, EnglishDialect dialect) {
  std::string phonemes;
  for (size_t at = 0; at < ipa.size();) {
    // espeak-ng names the language in which it continues: "(fr)".
    if (ipa[at] == '(') {
      const size_t close = ipa.find(')', at);
      at = close == std::string_view::npos ? ipa.size() : close + 1;
      continue;
    }
    const std::string_view rest = ipa.substr(at);
    const Rule* rule =
        dialect == EnglishDialect::kUs ? Find(kUs, rest, nullptr) : Find(kGb, rest, nullptr);
    rule = Find(kBoth, rest, rule);
    // Only a syllable of its own is short: "apple", not "relative".
    const bool before_vowel =
        rule != nullptr && rule->from == "əl" && IsVowelSymbol(DecodeAt(rest, 3).value);
    if (rule != nullptr && !before_vowel) {
      phonemes += rule->to;
      at += rule->from.size();
      continue;
    }
    const CodePoint c = DecodeAt(ipa, at);
    const bool kept = IsVowelSymbol(c.value) || IsConsonantSymbol(c.value) || c.value == U'ˈ' ||
                      c.value == U'ˌ' || c.value == U'ː' || c.value == U'ᵊ';
    if (kept) phonemes += ipa.substr(at, c.bytes);
    at += c.bytes;
  }
  return phonemes;
}

absl::StatusOr<std::unique_ptr<EspeakFallback>> EspeakFallback::Create(const Options& options) {
  MILLRACE_ASSIGN_OR_RETURN(
      auto pool, EspeakPool::Create(options.espeak,
                                    options.dialect == EnglishDialect::kUs ? "en-us" : "en-gb"));
  auto fallback =
      std::unique_ptr<EspeakFallback>(new EspeakFallback(options.dialect, std::move(pool)));
  const std::array<std::string, 1> trial = {"hello"};
  if (const auto answer = fallback->Phonemize(trial); !answer.ok()) return answer.status();
  return fallback;
}

EspeakFallback::EspeakFallback(EnglishDialect dialect, std::unique_ptr<EspeakPool> pool)
    : dialect_(dialect), pool_(std::move(pool)) {}
EspeakFallback::~EspeakFallback() = default;

absl::StatusOr<std::vector<std::string>> EspeakFallback::Phonemize(
    std::span<const std::string> words) const {
  if (words.empty()) return std::vector<std::string>();
  MILLRACE_ASSIGN_OR_RETURN(auto answers, pool_->Translate(words));
  for (std::string& answer : answers) answer = MisakiFromEspeak(answer, dialect_);
  return answers;
}

}  // namespace millrace::models
