#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Small models drop an adjective of the subject now and then: "The red house is big." becomes "A
// casa é grande.", although they translate "The red house" alone rightly. Such a subject is
// translated alone, and the word put back from there.

// Returns the bytes of the subject that a sentence begins with: a few words before a form of "be",
// "have" or a modal verb. 0: none is known (known are English, French, German, Italian, Portuguese
// and Spanish).
size_t SubjectBytes(std::string_view sentence, std::string_view language);

// Returns true if a text has one of these verbs.
bool HasSubjectVerb(std::string_view text, std::string_view language);

// Returns true if a translation has a subject with fewer words than that of its source. Languages
// are BCP 47.
bool LacksSubjectWord(std::string_view source, std::string_view source_language,
                      std::string_view target, std::string_view target_language);

// Returns false if LacksSubjectWord is false of every translation with this beginning.
bool MayLackSubjectWord(std::string_view source, std::string_view source_language,
                        std::string_view beginning, std::string_view target_language);

// The tokens of a translation, each with the source token that it comes from; the alignment may be
// empty.
struct AlignedTokens {
  std::vector<int32_t> tokens;
  std::vector<int32_t> alignment;
};

// Returns the translation of a sentence, whose subject is its first `subject_tokens` tokens, with
// what that of the subject alone has besides; nothing: they differ in more than a few tokens in one
// place.
std::optional<AlignedTokens> WithSubject(const AlignedTokens& sentence, size_t subject_tokens,
                                         const AlignedTokens& subject);

}  // namespace millrace::translation
