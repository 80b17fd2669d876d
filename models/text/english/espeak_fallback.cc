#include "models/text/english/espeak_fallback.h"

#include <array>
#include <utility>

#include "models/core/embedded_table.h"
#include "models/core/errors.h"
#include "models/text/english/espeak_symbols_text.h"
#include "models/text/english/phonetics.h"
#include "models/text/espeak_pool.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

using Rule = TableRow<3>;

// Returns the rule of a dialect whose symbols are the longest ones that the text begins with.
const Rule* FindRule(std::string_view text, std::string_view dialect) {
  static const auto& rules = *new auto(ReadTable<3>(kEspeakSymbolsText));
  const Rule* best = nullptr;
  for (const Rule& rule : rules) {
    const bool longer = best == nullptr || rule[0].size() > best->front().size();
    if (longer && text.starts_with(rule[0]) && (rule[2].empty() || rule[2] == dialect))
      best = &rule;
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
    const Rule* const rule = FindRule(rest, dialect == EnglishDialect::kUs ? "us" : "gb");
    // Only a syllable of its own is short: "apple", not "relative".
    const bool before_vowel =
        rule != nullptr && rule->front() == "əl" && IsVowelSymbol(DecodeAt(rest, 3).value);
    if (rule != nullptr && !before_vowel) {
      phonemes += (*rule)[1];
      at += rule->front().size();
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
