#include "models/text/english/phonetics.h"

#include <cstddef>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// ɐ, of "a" and "an", is missing: in the training data the sound after it decides how "to" is
// spoken before it.
constexpr std::u32string_view kVowels = U"AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ";
constexpr std::u32string_view kConsonants = U"bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθTʔ";
constexpr std::u32string_view kHeavy = U"AIOQWYʤʧ";
// After these symbols American English taps a t between vowels.
constexpr std::u32string_view kTapping = U"AIOWYiuæɑəɛɪɹʊʌ";

bool In(std::u32string_view set, char32_t symbol) {
  return set.find(symbol) != std::u32string_view::npos;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string_view::npos;
       found = text.find(from, at)) {
    result += text.substr(at, found - at);
    result += to;
    at = found + from.size();
  }
  result += text.substr(at);
  return result;
}

std::string BeforeFirstVowel(std::string_view phonemes, std::string_view mark) {
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    if (IsVowelSymbol(c.value)) {
      return std::string(phonemes.substr(0, at)) + std::string(mark) +
             std::string(phonemes.substr(at));
    }
    at += c.bytes;
  }
  return std::string(phonemes);
}

// The last symbol of a stem and the one before it; 0 where there is none.
struct Tail {
  explicit Tail(std::string_view stem) {
    if (stem.empty()) return;
    const CodePoint last_point = DecodeBefore(stem, stem.size());
    last = last_point.value;
    last_bytes = last_point.bytes;
    if (stem.size() > last_bytes) before = DecodeBefore(stem, stem.size() - last_bytes).value;
  }
  char32_t last = 0;
  char32_t before = 0;
  size_t last_bytes = 0;
};

std::string Tapped(std::string_view stem, const Tail& tail) {
  return std::string(stem.substr(0, stem.size() - tail.last_bytes)) + "T";
}

}  // namespace

bool IsVowelSymbol(char32_t symbol) { return In(kVowels, symbol); }
bool IsConsonantSymbol(char32_t symbol) { return In(kConsonants, symbol); }

std::string DemoteStress(std::string_view phonemes) {
  if (!Contains(phonemes, kPrimaryStress)) return std::string(phonemes);
  return Replaced(Replaced(phonemes, kSecondaryStress, ""), kPrimaryStress, kSecondaryStress);
}

std::string EnsureSecondaryStress(std::string_view phonemes) {
  if (Contains(phonemes, kPrimaryStress) || Contains(phonemes, kSecondaryStress)) {
    return std::string(phonemes);
  }
  return BeforeFirstVowel(phonemes, kSecondaryStress);
}

std::string EnsurePrimaryStress(std::string_view phonemes) {
  if (Contains(phonemes, kPrimaryStress)) return std::string(phonemes);
  if (Contains(phonemes, kSecondaryStress)) {
    return Replaced(phonemes, kSecondaryStress, kPrimaryStress);
  }
  return BeforeFirstVowel(phonemes, kPrimaryStress);
}

std::string WithS(std::string_view stem, EnglishDialect dialect) {
  if (stem.empty()) return {};
  const char32_t last = Tail(stem).last;
  if (In(U"ptkfθ", last)) return std::string(stem) + "s";
  if (In(U"szʃʒʧʤ", last)) {
    return std::string(stem) + (dialect == EnglishDialect::kGb ? "ɪz" : "ᵻz");
  }
  return std::string(stem) + "z";
}

std::string WithEd(std::string_view stem, EnglishDialect dialect) {
  if (stem.empty()) return {};
  const Tail tail(stem);
  if (In(U"pkfθʃsʧ", tail.last)) return std::string(stem) + "t";
  if (tail.last != 't' && tail.last != 'd') return std::string(stem) + "d";
  if (dialect == EnglishDialect::kGb || tail.before == 0) return std::string(stem) + "ɪd";
  if (tail.last == 't' && In(kTapping, tail.before)) return Tapped(stem, tail) + "ᵻd";
  return std::string(stem) + "ᵻd";
}

std::string WithIng(std::string_view stem, EnglishDialect dialect, bool linking_r) {
  if (stem.empty()) return {};
  const Tail tail(stem);
  if (dialect == EnglishDialect::kGb) {
    const bool needs_r = linking_r && (tail.last == U'ə' || tail.last == U'ː');
    return std::string(stem) + (needs_r ? "ɹɪŋ" : "ɪŋ");
  }
  if (tail.last == 't' && tail.before != 0 && In(kTapping, tail.before)) {
    return Tapped(stem, tail) + "ɪŋ";
  }
  return std::string(stem) + "ɪŋ";
}

size_t StressWeight(std::string_view phonemes) {
  size_t weight = 0;
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    weight += In(kHeavy, c.value) ? 2 : 1;
    at += c.bytes;
  }
  return weight;
}

}  // namespace millrace::models
