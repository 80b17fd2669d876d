#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace millrace::translation {

// Small models often copy a noun that stands alone, or add an article, and yet translate it within
// a sentence. A carrier sentence is such a sentence: "The comma is here."

// Returns a carrier sentence for a word; nullopt if the text is not one word of letters, has a
// capital behind its first letter, or no carrier is known in the language (BCP 47).
std::optional<std::string> CarrierSentence(std::string_view word, std::string_view language);

// Returns true for a word that is a form of a verb by its ending, and so no name: Failed, Pausar.
// Knows English and Portuguese. Thread-safe.
bool IsVerbForm(std::string_view word, std::string_view language);

// Returns a short text that begins with a capital in small letters, which a model may read with
// fewer additions; nullopt where capitals have a meaning.
std::optional<std::string> SmallText(std::string_view text, std::string_view language);
// Returns true if a model did not know the words of a short text that begins with a capital: a word
// of the translation says letters twice in a row, or has a doubled vowel that few languages have, a
// word comes twice, or the first one stays; and all that is not so in the text. "Ativativa
// GPS", "Call for a Call", "Mesclar duplicates". Knows the languages of carrier sentences.
bool LooksMisread(std::string_view text, std::string_view translation,
                  std::string_view target_language);
// Returns the beginning or the end of a translation that has the words of a translation of the same
// text in small letters, and no others: "Privacy Policy" of "Contact Us Privacy Policy". Returns
// all of it if neither has.
std::string_view WithoutAdditions(std::string_view translation, std::string_view small);

// Returns true if a model probably did not know what to do with a word that stood alone: the
// translation is the word itself, begins with an article, or has three words or more.
bool IsUncertainWord(std::string_view word, std::string_view translation,
                     std::string_view target_language);

// Returns a word in small letters, in which models take it for no name; nullopt if no carrier
// sentence is known, the word has no capital, or nouns of its language have one.
std::optional<std::string> SmallWord(std::string_view word, std::string_view language);

// Returns a sentence in which a word in small letters can only be a verb, or the participle of one
// by its ending: "Click here to mute." Interfaces name actions so, and models know the verb there
// that they copy where it stands alone. So for a few words that begin with an infinitive, where
// that has an ending: "Clique aqui para pagar com Pix." Nullopt if none is known, as for
// CarrierSentence. Knows English and Portuguese.
std::optional<std::string> CommandSentence(std::string_view word, std::string_view language);
// Returns the verb of a translation of such a sentence, in small letters, or the words with a
// capital; empty if it is no verb, or the word itself.
std::string CommandVerb(std::string_view word, std::string_view translation,
                        std::string_view target_language);

// Returns the translation of a word that was translated within its carrier sentence; empty if the
// translation is not the carrier of the target language, or has the word or a piece of it.
std::string CarriedWord(std::string_view word, std::string_view translation,
                        std::string_view target_language);

// Returns a translation without the article that it begins with.
std::string_view WithoutArticle(std::string_view translation, std::string_view target_language);

}  // namespace millrace::translation
