#include "models/synthesis/espeak_english.h"

#include <array>
#include <span>
#include <utility>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

struct Rule {
  std::string_view from;
  std::string_view to;
};

constexpr char32_t kSyllabic = 0x329;  // the stroke below a consonant that is a syllable
constexpr std::string_view kReducedVowel = "ᵊ";

// Of two rules that fit, the first wins: so longer ones stand before their beginnings.
constexpr std::array kAmerican = {
    Rule{"ɜːɹ", "ɜɹ"}, Rule{"ɜː", "ɜɹ"}, Rule{"oʊ", "O"}, Rule{"ɪə", "iə"}, Rule{"ː", ""},
};
constexpr std::array kBritish = {
    Rule{"əʊ", "Q"},
    Rule{"eə", "ɛː"},
    Rule{"iə", "ɪə"},
};
constexpr std::array kBoth = {
    Rule{"ʔˌn\u0329", "tn"}, Rule{"ʔn\u0329", "tn"}, Rule{"c\u0327", "k"}, Rule{"aɪ", "I"},
    Rule{"aʊ", "W"},         Rule{"eɪ", "A"},        Rule{"ɔɪ", "Y"},      Rule{"dʒ", "ʤ"},
    Rule{"tʃ", "ʧ"},         Rule{"ʲo", "jɔ"},       Rule{"ʲə", "jə"},     Rule{"ʲ", ""},
    Rule{"e", "A"},          Rule{"o", "ɔ"},         Rule{"ɚɹ", "əɹ"},     Rule{"ɚ", "əɹ"},
    Rule{"r", "ɹ"},          Rule{"x", "k"},         Rule{"ɐ", "ə"},       Rule{"ɬ", "l"},
    Rule{"ɾ", "T"},          Rule{"ʔ", "t"},         Rule{"\u0303", ""},   Rule{"\u0329", ""},
};

const Rule* FindRule(std::span<const Rule> rules, std::string_view text) {
  for (const Rule& rule : rules) {
    if (text.starts_with(rule.from)) return &rule;
  }
  return nullptr;
}

// Whether a word goes on with a sound that takes the l before it into its own syllable.
bool BeginsWithVowelOrStress(std::string_view text) {
  constexpr std::string_view kSounds = "aeiouyæɑɒɔəɐɚɛɜɪʊʌᵻˈˌ";
  const CodePoint first = DecodeAt(text, 0);
  return first.bytes > 0 && kSounds.find(text.substr(0, first.bytes)) != std::string_view::npos;
}

}  // namespace

std::string RewriteEspeakIpa(std::string_view ipa, EnglishAccent accent) {
  const std::span<const Rule> own = accent == EnglishAccent::kAmerican
                                        ? std::span<const Rule>(kAmerican)
                                        : std::span<const Rule>(kBritish);
  constexpr std::string_view kSchwaL = "əl";
  std::string result;
  while (!ipa.empty()) {
    // As in "little", not as in "collapse".
    if (ipa.starts_with(kSchwaL) && !BeginsWithVowelOrStress(ipa.substr(kSchwaL.size()))) {
      result += kReducedVowel;
      result += 'l';
      ipa.remove_prefix(kSchwaL.size());
      continue;
    }
    const Rule* rule = FindRule(own, ipa);
    if (rule == nullptr) rule = FindRule(kBoth, ipa);
    const size_t length = rule != nullptr ? rule->from.size() : DecodeAt(ipa, 0).bytes;
    const std::string_view to = rule != nullptr ? rule->to : ipa.substr(0, length);
    if (!to.empty() && to != " " && DecodeAt(ipa, length).value == kSyllabic)
      result += kReducedVowel;
    result += to;
    ipa.remove_prefix(length);
  }
  return result;
}

absl::StatusOr<std::unique_ptr<TextToPhonemes>> EspeakEnglish::Create(
    EnglishAccent accent, const TextToPhonemesOptions& options) {
  Phonemizer::Options text;
  text.program = options.espeak_program;
  text.voice = accent == EnglishAccent::kAmerican ? "en-us" : "en-gb";
  text.max_processes = options.max_espeak_processes;
  text.timeout = options.espeak_timeout;
  auto phonemizer = Phonemizer::Create(text);
  if (!phonemizer.ok()) return phonemizer.status();
  return std::unique_ptr<TextToPhonemes>(new EspeakEnglish(accent, *std::move(phonemizer)));
}

absl::StatusOr<std::string> EspeakEnglish::Convert(std::string_view sentence) const {
  const auto ipa = phonemizer_->Phonemize(sentence);
  if (!ipa.ok()) return ipa.status();
  return RewriteEspeakIpa(*ipa, accent_);
}

}  // namespace millrace::models
