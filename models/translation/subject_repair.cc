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
  constexpr size_t kMostInserted = 6;  // tokens
  const std::span<const int32_t> whole = std::span(sentence.tokens).first(subject_tokens);
  const std::span<const int32_t> part = subject.tokens;
  const auto same = static_cast<size_t>(std::ranges::mismatch(whole, part).in2 - part.begin());
  const bool aligned = !sentence.alignment.empty();
  if (same == 0 || part.size() <= whole.size() || part.size() - whole.size() > kMostInserted ||
      aligned != !subject.alignment.empty())
    return std::nullopt;
  const size_t inserted = part.size() - whole.size();
  if (!std::ranges::equal(part.subspan(same + inserted), whole.subspan(same))) return std::nullopt;
  // Words that the sentence has elsewhere are not lost.
  const auto is_known = [&](int32_t token) {
    return std::ranges::find(sentence.tokens, token) != sentence.tokens.end();
  };
  if (std::ranges::any_of(part.subspan(same, inserted), is_known)) return std::nullopt;
  const auto put = [&](std::vector<int32_t> into, const std::vector<int32_t>& from) {
    const auto at = static_cast<std::ptrdiff_t>(same);
    into.insert(into.begin() + at, from.begin() + at,
                from.begin() + at + static_cast<std::ptrdiff_t>(inserted));
    return into;
  };
  AlignedTokens repaired{put(sentence.tokens, subject.tokens), {}};
  if (!aligned) return repaired;
  repaired.alignment = put(sentence.alignment, subject.alignment);
  // The verb behind the subject may be aligned with the word that was lost.
  if (part.size() < repaired.alignment.size()) {
    int32_t& next = repaired.alignment[part.size()];
    next = std::max(next, std::ranges::max(subject.alignment) + 1);
  }
  return repaired;
}

}  // namespace millrace::translation
