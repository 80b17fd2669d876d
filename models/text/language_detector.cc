#include "models/text/language_detector.h"

// clang-format off: compact_lang_det.h needs FILE and does not include it.
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

// clang-format on

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/ascii.h"
#include "models/text/han_text.h"
#include "models/text/letter_statistics.h"
#include "models/text/protected_spans.h"
#include "models/text/term_index.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Detection does not improve beyond this many bytes.
constexpr size_t kMaxDetectedBytes = 32 << 10;
constexpr size_t kCandidates = 3;

// The library has some codes from before 1989, and names a script even where it is the usual one.
std::string TagOf(CLD2::Language language) {
  using Tag = std::pair<std::string_view, std::string_view>;
  constexpr Tag kTags[] = {{"iw", "he"}, {"jw", "jv"}, {"mo", "ro"}, {"zh-Hans", "zh"}};
  const std::string_view code = CLD2::LanguageCode(language);
  const auto* const known = std::ranges::find(kTags, code, &Tag::first);
  return std::string(known == std::end(kTags) ? code : known->second);
}

// A text of at most this many characters is told by its letters as well: the library alone takes
// many for languages that few people write.
constexpr size_t kShortText = 128;
// A language without a profile of letters is believed from this length on.
constexpr size_t kTellingText = 64;
// The weight of the library's score, in the units of the logarithm of a probability, and by how
// much such a sum decides between two languages.
constexpr float kLibraryWeight = 1;
// For a word or two the score is hardly more than the library's liking for the language that it was
// told, and for English.
constexpr float kLibraryWeightOfWord = 0.4F;
constexpr size_t kFewWords = 2;
constexpr float kDecisive = 8;
// A language whose lists have all words of a text.
constexpr float kAllListed = 20;
// The same for one in whose order of words an adjective stands first, or last.
constexpr float kAdjectiveOrder = 16;
// The same for the Romance languages if one of them has the last of a few words, which English has
// not. The noun before it may come from English: "hot dog completo".
constexpr float kRomanceEnd = 80;
constexpr size_t kMostOfPhrase = 4;
// The same for the English pronoun before a word of English, whatever the object of the verb is.
constexpr float kSubject = 100;
// The same against English for a number as it does not write it.
constexpr float kOtherNumber = 12;
constexpr size_t kEnglish = 0;
constexpr size_t kItalian = 5;
static_assert(kProfiledLanguages[kEnglish] == "en" && kProfiledLanguages[kItalian] == "it");
constexpr std::array<std::string_view, 7> kRomance = {"ca", "es", "fr", "gl", "it", "pt", "ro"};
// The library is asked for so many languages, the likeliest by their letters.
constexpr size_t kAsked = 6;
// A shorter text is believed to be in a language without a profile if the library's score is this
// much, and this much more if it found the language only with kCLDFlagBestEffort.
constexpr float kSurelyFound = 9;
constexpr float kGuessed = 3;
// Its words would be known if they were of a language with a profile: the part of the score of
// letters that comes from lists of words is at most this for each word.
constexpr float kMostListed = 5.4F;
// Languages that are too like one with a profile for the library to tell them in a short text.
constexpr std::array<std::string_view, 9> kAlike = {"af", "be", "bs", "ca",     "gl",
                                                    "mk", "sk", "sr", "xx-Qaai"};
// The library's answer of a Romance language without a profile counts for a short text if the score
// of that language exceeds the score of every language with a profile by this margin.
constexpr float kSurelyUnlike = 12;
// The same for a language without a profile that is like none.
constexpr float kUnlike = 5;
// A text is surely in a language that cannot be meant if it is better by this much; a single word,
// whose letters prove little, by more if such a language does not list it or the other one does.
constexpr float kSurelyOther = 20;
constexpr float kSurelyOtherWord = 44;
// The letters of a longer text, of at most so many bytes, are asked too where the library takes it
// for a language that cannot be meant, such as a list of nouns.
constexpr size_t kDoubtfulBytes = 1024;

using CldLanguages = std::array<CLD2::Language, kCandidates>;

struct CldResult {
  CldLanguages languages{};
  std::array<int, kCandidates> percents{};
  std::array<double, kCandidates> scores{};
  int letters = 0;  // bytes of them
  bool reliable = false;
};

CldResult Ask(std::string_view text, bool is_html, int flags, CLD2::Language hint) {
  const CLD2::CLDHints hints = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, hint};
  CldResult result;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), !is_html, &hints,
                                 flags, result.languages.data(), result.percents.data(),
                                 result.scores.data(), nullptr, &result.letters, &result.reliable);
  return result;
}

// The library's languages of a text, the likeliest first.
struct LibraryAnswer {
  std::vector<DetectedLanguage> languages;
  float score = 0;          // the first language has it
  bool is_guessed = false;  // it found them only with kCLDFlagBestEffort
};

// Returns the library's score of the first language of a result for the whole text.
float ScoreOf(const CldResult& result) {
  return static_cast<float>(result.scores[0] * std::max(result.letters - 1, 0) / 1024);
}

LibraryAnswer Detect(std::string_view text, bool is_html, int flags, float weight) {
  const CldResult result = Ask(text, is_html, flags, CLD2::UNKNOWN_LANGUAGE);
  LibraryAnswer answer{{}, ScoreOf(result), flags != 0};
  for (size_t i = 0; i < kCandidates; ++i) {
    if (result.languages[i] == CLD2::UNKNOWN_LANGUAGE || result.percents[i] <= 0) continue;
    const float certain = result.reliable ? weight : weight / 2;
    answer.languages.push_back(
        {TagOf(result.languages[i]), static_cast<float>(result.percents[i]) / 100 * certain});
  }
  return answer;
}

// Returns the text with a space for each of its tags and for what no translation changes.
std::string WordsOf(std::string_view text, bool is_html) {
  std::string untagged;
  while (is_html && !text.empty()) {
    const size_t begin = text.find('<');
    const size_t end = text.find('>', begin);
    if (end == std::string_view::npos) break;
    untagged.append(text.substr(0, begin));
    untagged.push_back(' ');
    text.remove_prefix(end + 1);
  }
  untagged.append(text);
  std::string words;
  size_t at = 0;
  for (const ProtectedSpan& span : FindProtectedSpans(untagged, TermIndex())) {
    words.append(std::string_view(untagged).substr(at, span.begin - at));
    words.push_back(' ');
    at = span.end;
  }
  words.append(std::string_view(untagged).substr(at));
  return words;
}

bool IsListed(std::string_view text) {
  return std::ranges::max(ReadLetters(text).listed_words) > 0;
}

// Returns a text without the words within its sentences that begin with a capital, which are names
// more often than words of its language; the text itself if too little would be left. Where one
// word would be left, only the names that no language has as words go: "Dear Ana".
std::string WithoutNames(std::string_view text) {
  constexpr size_t kFewestWords = 2;
  constexpr size_t kLongestArticle = 2;  // bytes
  constexpr size_t kLongestTitle = 3;
  std::string rest;
  std::vector<std::string_view> names;
  size_t words = 0;
  size_t small = 0;    // the words in small letters
  bool begins = true;  // a sentence
  bool was_title = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint first = DecodeAt(text, at);
    size_t end = at + first.bytes;
    const bool is_word = IsLetter(first.value);
    for (CodePoint c = DecodeAt(text, end); is_word && c.bytes > 0 && IsLetter(c.value);
         c = DecodeAt(text, end))
      end += c.bytes;
    // Two capitals that begin a sentence are those of a name, too, unless the first is that of an
    // article: "São Paulo subway map".
    const bool begins_name = begins && end - at > kLongestArticle && ByteAt(text, end) == ' ' &&
                             IsUpper(DecodeAt(text, end + 1).value);
    const std::string_view taken = text.substr(at, end - at);
    if (!is_word || (begins && !begins_name) || !IsUpper(first.value)) {
      rest += taken;
      words += is_word ? 1 : 0;
    } else {
      names.push_back(taken);
    }
    if (is_word && IsLower(first.value)) ++small;
    constexpr std::u32string_view kEnds = U".!?:\n";
    // The stop of "Mrs." ends no sentence.
    const bool is_title = is_word && IsUpper(first.value) && end - at <= kLongestTitle;
    if (!(was_title && first.value == U'.'))
      begins = !is_word && (begins || kEnds.find(first.value) != std::u32string_view::npos);
    was_title = is_title;
    at = end;
  }
  if (words >= kFewestWords) return small > 0 ? rest : std::string(text);
  for (const std::string_view name : names) {
    if (IsListed(name)) rest.append(" ").append(name);
  }
  return !names.empty() && IsListed(rest) ? rest : std::string(text);
}

// Returns the library's score of a text for a language, given that it is this one; 0 if it takes it
// for another all the same.
float ScoreFor(const std::string& text, bool is_html, std::string_view language) {
  const CLD2::Language wanted = CLD2::GetLanguageFromName(std::string(language).c_str());
  const CldResult result = Ask(text, is_html, CLD2::kCLDFlagBestEffort, wanted);
  if (result.languages[0] != wanted) return 0;
  return ScoreOf(result);
}

bool IsRomance(std::string_view language) {
  return std::ranges::find(kRomance, language) != kRomance.end();
}

bool HasProfile(std::string_view language) {
  return std::ranges::find(kProfiledLanguages, language) != kProfiledLanguages.end();
}

// The place of an adjective in two words of which the other one is none.
enum class AdjectivePlace : std::uint8_t { kNone, kFirst, kLast };

// Finds an adjective by its ending, or a word that is used like one. It follows its noun in the
// Romance languages and precedes it in English: "menu principal", "monitor gamer", "rural area".
AdjectivePlace FindAdjective(std::string_view words) {
  constexpr std::string_view kEnding = "al";
  constexpr std::string_view kAdjectives = " bluetooth diesel gamer light offline online ";
  constexpr std::string_view kNouns =
      " animal canal capital festival hospital jornal manual material metal portal sinal terminal "
      "tribunal ";
  const auto is_adjective = [&](std::string_view word) {
    const std::string spaced = " " + AsciiLower(word) + " ";
    return kAdjectives.find(spaced) != std::string_view::npos ||
           (word.ends_with(kEnding) && kNouns.find(spaced) == std::string_view::npos);
  };
  const std::string_view text = Trim(words);
  const size_t space = text.find(' ');
  // English has no article between two nouns: "motor a diesel".
  if (text.substr(space + 1).starts_with("a ") && std::ranges::count(text, ' ') == 2)
    return AdjectivePlace::kLast;
  if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
    return AdjectivePlace::kNone;
  const bool is_first = is_adjective(text.substr(0, space));
  if (is_first == is_adjective(text.substr(space + 1))) return AdjectivePlace::kNone;
  return is_first ? AdjectivePlace::kFirst : AdjectivePlace::kLast;
}

// Returns the last word of a text, or the Romance preposition before it, in small letters; an empty
// text if the last word has a capital, as names have.
std::string_view EndOfPhrase(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && !IsLetter(DecodeBefore(text, end).value)) end -= DecodeBefore(text, end).bytes;
  size_t begin = end;
  while (begin > 0 && IsLetter(DecodeBefore(text, begin).value))
    begin -= DecodeBefore(text, begin).bytes;
  if (!IsLower(DecodeAt(text, begin).value)) return {};
  for (const std::string_view preposition : {" de ", " da ", " do "}) {
    if (text.substr(0, begin).ends_with(preposition)) return preposition;
  }
  return text.substr(begin, end - begin);
}

// Returns true for a word of a Romance language that can be meant, which English has not: one of
// its list, or one with an accent whose letters are most like it.
bool IsRomanceEnd(std::string_view word, const MeansLanguage& can_be_meant) {
  const LetterEvidence evidence = ReadLetters(word);
  const float best = std::ranges::max(evidence.scores);
  const bool has_accent =
      std::ranges::any_of(word, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (evidence.words == 0 || evidence.listed[kEnglish] > 0) return false;
  for (size_t i = 0; i < kProfiledLanguages.size(); ++i) {
    const std::string_view language = kProfiledLanguages.at(i);
    if (IsRomance(language) && can_be_meant(std::string(language)) &&
        (evidence.listed[i] > 0 || (has_accent && evidence.scores[i] == best)))
      return true;
  }
  return false;
}

// Returns true for a text that begins with the English pronoun and a word of English, as no other
// language does. "I ragazzi" is Italian.
bool BeginsWithPronoun(std::string_view text) {
  if (!text.starts_with("I ")) return false;
  const std::string_view next = text.substr(2, text.find(' ', 2) - 2);
  return IsAsciiLower(ByteAt(next, 0)) && ReadLetters(next).listed[kEnglish] > 0 &&
         ReadLetters(next).listed[kItalian] == 0;
}

// Returns true if a text has a fraction behind a comma or hours with a letter, as English hardly
// has: R$ 59,90, 24h.
bool HasOtherNumber(std::string_view text) {
  constexpr size_t kMostDigits = 2;
  for (size_t at = text.find('h', 1); at < text.size(); at = text.find('h', at + 1)) {
    if (IsAsciiDigit(text[at - 1]) && !IsLetter(DecodeAt(text, at + 1).value)) return true;
  }
  for (size_t at = text.find(','); at < text.size(); at = text.find(',', at + 1)) {
    const size_t digits = DigitsEnd(text, at + 1) - at - 1;
    if (at > 0 && IsAsciiDigit(text[at - 1]) && digits > 0 && digits <= kMostDigits) return true;
  }
  return false;
}

// The likelihoods of the languages that have a profile of letters.
class ShortText {
 public:
  // The library is asked for the languages that can be meant, and for some of the likeliest.
  ShortText(const std::string& text, bool is_html, const MeansLanguage& can_be_meant) {
    const std::string words = WithoutNames(text);
    evidence_ = ReadLetters(words);
    if (!evidence_.has_known_script()) return;
    std::array<float, kProfiledLanguages.size()> sorted = evidence_.scores;
    std::ranges::sort(sorted, std::greater<>());
    const AdjectivePlace adjective = FindAdjective(words);
    const float weight = evidence_.words <= kFewWords ? kLibraryWeightOfWord : kLibraryWeight;
    if (BeginsWithPronoun(words)) evidence_.scores[kEnglish] += kSubject;
    if (HasOtherNumber(text)) evidence_.scores[kEnglish] -= kOtherNumber;
    const bool is_phrase = evidence_.words > 1 && evidence_.words <= kMostOfPhrase;
    const bool ends_romance = is_phrase && IsRomanceEnd(EndOfPhrase(text), can_be_meant);
    for (size_t i = 0; i < kProfiledLanguages.size(); ++i) {
      const std::string_view language = kProfiledLanguages.at(i);
      if (evidence_.scores[i] >= sorted[kAsked - 1] || can_be_meant(std::string(language)))
        evidence_.scores[i] += weight * ScoreFor(words, is_html, language);
      if (evidence_.words > 1 && evidence_.listed_words[i] == evidence_.words &&
          can_be_meant(std::string(language))) {
        evidence_.scores[i] += kAllListed;
        if ((adjective == AdjectivePlace::kLast && IsRomance(language)) ||
            (adjective == AdjectivePlace::kFirst && i == kEnglish))
          evidence_.scores[i] += kAdjectiveOrder;
      }
      if (ends_romance && IsRomance(language)) evidence_.scores[i] += kRomanceEnd;
    }
  }

  bool is_known() const { return evidence_.has_known_script(); }
  bool is_word() const { return evidence_.words <= 1; }
  float score(size_t language) const { return evidence_.scores[language]; }
  // Returns by how much a language must be better than one that can be meant to be that of the text
  // although it cannot be meant.
  float SurelyOther(size_t language, size_t meant) const {
    const float other = evidence_.listed[language];
    const float own = evidence_.listed[meant];
    // "Nødudgang" is neither English nor Portuguese.
    if (evidence_.strange_letters[language] < evidence_.strange_letters[meant]) return 0;
    const bool is_listed = other > 0 && own == 0;
    // "pause menu" is English and French.
    const bool is_shared = evidence_.words <= kFewWords && own > 0 && own >= other;
    return is_shared || (is_word() && !is_listed) ? kSurelyOtherWord : kSurelyOther;
  }

  // Returns the languages that `fits` accepts, the likeliest first, with their probabilities.
  std::vector<std::pair<size_t, float>> Ranked(const MeansLanguage& fits) const {
    std::vector<std::pair<size_t, float>> ranked;
    for (size_t i = 0; i < kProfiledLanguages.size(); ++i) {
      if (fits(std::string(kProfiledLanguages[i]))) ranked.emplace_back(i, score(i));
    }
    std::ranges::stable_sort(ranked, std::greater<>(),
                             [](const auto& language) { return language.second; });
    float sum = 0;
    const float best = ranked.empty() ? 0 : ranked.front().second;
    for (auto& [language, value] : ranked) sum += value = std::exp((value - best) / kDecisive);
    const float most = is_word() ? 0.5F : 0.99F;
    for (auto& [language, value] : ranked) value = std::min(value / sum, most);
    return ranked;
  }

 private:
  LetterEvidence evidence_;
};

DetectedLanguage Named(const std::pair<size_t, float>& ranked) {
  return {std::string(kProfiledLanguages.at(ranked.first)), ranked.second};
}

LibraryAnswer ByLibrary(std::string_view text, bool is_html) {
  LibraryAnswer answer = Detect(text, is_html, 0, 1.0F);
  // For a word or two the library finds a language only with kCLDFlagBestEffort.
  if (answer.languages.empty()) answer = Detect(text, is_html, CLD2::kCLDFlagBestEffort, 0.5F);
  NameHan(text, answer.languages);
  if (answer.languages.size() > kCandidates) answer.languages.resize(kCandidates);
  return answer;
}

std::string_view Beginning(std::string_view text) {
  if (text.size() <= kMaxDetectedBytes) return text;
  size_t end = kMaxDetectedBytes;
  while (IsContinuationByte(text[end])) --end;
  return text.substr(0, end);
}

// Returns true if the library tells a language from all that have a profile.
bool IsUnlikeProfiled(const std::string& words, bool is_html, std::string_view language,
                      float margin) {
  const float least = ScoreFor(words, is_html, language) - margin;
  return std::ranges::all_of(kProfiledLanguages, [&](std::string_view profiled) {
    return ScoreFor(words, is_html, profiled) <= least;
  });
}

// Returns true if the library's answer counts although the letters could say something: it is sure,
// and has found a language without a profile.
bool IsOther(const LibraryAnswer& answer, const std::string& words, bool is_html, size_t length) {
  if (answer.languages.empty() || HasProfile(answer.languages.front().language)) return false;
  if (length >= kTellingText && answer.languages.front().confidence > 0.5F) return true;
  if (length > kShortText) return false;
  const std::string& language = answer.languages.front().language;
  const LetterEvidence evidence = ReadLetters(words);
  if (std::ranges::max(evidence.listed_words) == evidence.words) return false;
  if (std::ranges::find(kAlike, language) != kAlike.end())
    return IsRomance(language) && !answer.is_guessed &&
           IsUnlikeProfiled(words, is_html, language, kSurelyUnlike);
  // No language with a profile has such a letter.
  if (evidence.known_letters < evidence.letters) return true;
  const float most = answer.is_guessed ? 0 : kMostListed * static_cast<float>(evidence.words);
  return evidence.words > 1 && std::ranges::max(evidence.listed) <= most &&
         answer.score >= kSurelyFound + (answer.is_guessed ? kGuessed : 0) &&
         IsUnlikeProfiled(words, is_html, language, kUnlike);
}

}  // namespace

bool CanDetectLanguages() { return true; }

std::vector<DetectedLanguage> DetectLanguages(std::string_view text, bool is_html) {
  const std::string words = WordsOf(Beginning(text), is_html);
  const LibraryAnswer answer = ByLibrary(words, is_html);
  const size_t length = CountCodePoints(words);
  if (length > kShortText || IsOther(answer, words, is_html, length)) return answer.languages;
  const ShortText letters(words, is_html, [](const std::string&) { return false; });
  if (!letters.is_known()) return answer.languages;
  constexpr float kLeast = 0.05F;
  std::vector<DetectedLanguage> found;
  for (const auto& language : letters.Ranked([](const std::string&) { return true; })) {
    if (found.size() < kCandidates && language.second >= kLeast) found.push_back(Named(language));
  }
  return found;
}

DetectedLanguage DetectLanguageAmong(std::string_view text, bool is_html,
                                     const MeansLanguage& can_be_meant) {
  const std::string words = WordsOf(Beginning(text), is_html);
  const LibraryAnswer answer = ByLibrary(words, is_html);
  const std::vector<DetectedLanguage>& found = answer.languages;
  const auto by_library = [&]() -> DetectedLanguage {
    for (const DetectedLanguage& language : found) {
      if (2 * language.confidence < found.front().confidence) break;
      if (can_be_meant(language.language)) return language;
    }
    return found.empty() ? DetectedLanguage() : found.front();
  };
  const bool other = !found.empty() && !HasProfile(found.front().language);
  const size_t length = CountCodePoints(words);
  const bool is_short = length <= kShortText;
  if (!is_short || IsOther(answer, words, is_html, length) ||
      (other && can_be_meant(found.front().language))) {
    DetectedLanguage language = by_library();
    const bool is_doubtful = !is_short && words.size() <= kDoubtfulBytes &&
                             HasProfile(language.language) && !can_be_meant(language.language);
    if (!is_doubtful) return language;
  }
  const ShortText letters(words, is_html, can_be_meant);
  if (!letters.is_known()) return by_library();
  const auto all = letters.Ranked([](const std::string&) { return true; });
  const auto meant = letters.Ranked(can_be_meant);
  if (meant.empty()) return Named(all.front());
  const float ahead = letters.score(all.front().first) - letters.score(meant.front().first);
  if (ahead > letters.SurelyOther(all.front().first, meant.front().first))
    return Named(all.front());
  return Named(meant.front());
}

}  // namespace millrace::models
