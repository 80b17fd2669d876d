#include "models/translation/subject_repair.h"

#include <algorithm>
#include <span>
#include <string>

#include "models/text/ascii.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// A subject and how many words it has.
struct Subject {
  size_t bytes = 0;
  size_t words = 0;
  bool is_known = false;  // whatever follows, there is this one or none
};

Subject FindSubject(std::string_view sentence, std::string_view language) {
  constexpr size_t kMostWords = 6;
  constexpr std::string_view kSigns = ",;:.!?()[]\"";
  const std::string verbs = "verbs " + PrimarySubtag(language);
  const bool is_known = HasList(verbs);
  Subject subject;
  for (size_t at = 0; at < sentence.size() && is_known;) {
    const size_t end = std::min(sentence.find(' ', at), sentence.size());
    const std::string_view word = sentence.substr(at, end - at);
    // A negation before the verb is no part of the subject.
    const std::string_view rest = sentence.substr(std::min(end + 1, sentence.size()));
    const bool negates = at > 0 && (word == "não" || word == "no" || word == "non") &&
                         IsListed(verbs, rest.substr(0, rest.find(' ')));
    if (negates || IsListed(verbs, word)) {
      subject.bytes = at == 0 ? 0 : at - 1;
      subject.is_known = end < sentence.size();
      return subject;
    }
    if (++subject.words > kMostWords || word.find_first_of(kSigns) != std::string_view::npos)
      return {.is_known = true};
    at = end + 1;
  }
  return {.is_known = !is_known};
}

constexpr size_t kMostInserted = 6;  // tokens

// Puts `count` tokens of a subject, from its token `from` on, before the token `at` of a sentence;
// nothing if the sentence has one of them, because words that it has elsewhere are not lost.
std::optional<AlignedTokens> Inserted(const AlignedTokens& sentence, size_t at,
                                      const AlignedTokens& subject, size_t from, size_t count) {
  const auto is_known = [&](int32_t token) {
    return std::ranges::find(sentence.tokens, token) != sentence.tokens.end();
  };
  if (std::ranges::any_of(std::span(subject.tokens).subspan(from, count), is_known))
    return std::nullopt;
  const auto put = [&](std::vector<int32_t> into, const std::vector<int32_t>& words) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(from);
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(at), begin,
                begin + static_cast<std::ptrdiff_t>(count));
    return into;
  };
  AlignedTokens repaired{put(sentence.tokens, subject.tokens), {}};
  if (!sentence.alignment.empty()) repaired.alignment = put(sentence.alignment, subject.alignment);
  return repaired;
}

// Returns the translation of a sentence with the end of that of its subject, which the sentence
// lacks, where their beginnings differ: "Nossos novos e baratos" and "Os nossos novos e baratos
// telefones".
std::optional<AlignedTokens> WithEndOfSubject(const AlignedTokens& sentence, size_t subject_tokens,
                                              const AlignedTokens& subject) {
  constexpr size_t kFewestCommon = 2;      // tokens
  constexpr size_t kLongestBeginning = 3;  // tokens
  const std::span<const int32_t> whole = std::span(sentence.tokens).first(subject_tokens);
  const std::span<const int32_t> part = subject.tokens;
  for (size_t skipped = 1; skipped <= kLongestBeginning && skipped + kFewestCommon <= whole.size();
       ++skipped) {
    const std::span<const int32_t> common = whole.subspan(skipped);
    // std::ranges::search does not compile with clang 14.
    const auto found = std::search(part.begin(), part.end(), common.begin(), common.end());
    const auto begin = static_cast<size_t>(found - part.begin());
    if (found == part.end() || begin > kLongestBeginning) continue;
    const size_t end = begin + common.size();
    const size_t lost = part.size() - end;
    if (lost == 0 || lost > kMostInserted) return std::nullopt;
    return Inserted(sentence, subject_tokens, subject, end, lost);
  }
  return std::nullopt;
}

}  // namespace

size_t SubjectBytes(std::string_view sentence, std::string_view language) {
  return FindSubject(sentence, language).bytes;
}

bool HasSubjectVerb(std::string_view text, std::string_view language) {
  const std::string verbs = "verbs " + PrimarySubtag(language);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    std::string_view word = text.substr(at, end - at);
    word = word.substr(0, word.find_last_not_of(".,;:!?") + 1);
    if (IsListed(verbs, models::AsciiLower(word))) return true;
    at = end + 1;
  }
  return false;
}

bool LacksSubjectWord(std::string_view source, std::string_view source_language,
                      std::string_view target, std::string_view target_language) {
  // Questions have other words before the verb.
  if (source.find('?') != std::string_view::npos) return false;
  const Subject wanted = FindSubject(source, source_language);
  if (wanted.words < 2) return false;
  const Subject got = FindSubject(target, target_language);
  return got.words > 0 && got.words < wanted.words;
}

bool MayLackSubjectWord(std::string_view source, std::string_view source_language,
                        std::string_view beginning, std::string_view target_language) {
  return source.find('?') == std::string_view::npos &&
         FindSubject(source, source_language).words > 1 &&
         (!FindSubject(beginning, target_language).is_known ||
          LacksSubjectWord(source, source_language, beginning, target_language));
}

std::optional<AlignedTokens> WithSubject(const AlignedTokens& sentence, size_t subject_tokens,
                                         const AlignedTokens& subject) {
  const std::span<const int32_t> whole = std::span(sentence.tokens).first(subject_tokens);
  const std::span<const int32_t> part = subject.tokens;
  const auto same = static_cast<size_t>(std::ranges::mismatch(whole, part).in2 - part.begin());
  const bool aligned = !sentence.alignment.empty();
  if (aligned == subject.alignment.empty()) return std::nullopt;
  if (same == 0) return WithEndOfSubject(sentence, subject_tokens, subject);
  if (part.size() <= whole.size() || part.size() - whole.size() > kMostInserted)
    return std::nullopt;
  const size_t inserted = part.size() - whole.size();
  if (!std::ranges::equal(part.subspan(same + inserted), whole.subspan(same))) return std::nullopt;
  std::optional<AlignedTokens> repaired = Inserted(sentence, same, subject, same, inserted);
  if (!repaired || !aligned) return repaired;
  // The verb behind the subject may be aligned with the word that was lost.
  if (part.size() < repaired->alignment.size()) {
    int32_t& next = repaired->alignment[part.size()];
    next = std::max(next, std::ranges::max(subject.alignment) + 1);
  }
  return repaired;
}

}  // namespace millrace::translation
