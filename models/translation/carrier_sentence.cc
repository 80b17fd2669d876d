#include "models/translation/carrier_sentence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

// The text before and behind the word; a source has the first of each.
struct Carrier {
  std::string_view language;
  std::array<std::string_view, 7> articles;  // some are empty
  std::array<std::string_view, 3> ends;
};

constexpr std::array<Carrier, 6> kCarriers = {{
    {"en", {"The ", "A ", "An "}, {" is here.", " are here.", " is right here."}},
    {"pt", {"O ", "A ", "Os ", "As "}, {" está aqui.", " estão aqui."}},
    {"es", {"El ", "La ", "Los ", "Las "}, {" está aquí.", " están aquí."}},
    {"fr", {"Le ", "La ", "Les ", "L'", "L’"}, {" est ici.", " sont ici.", " est là."}},
    {"it", {"Il ", "La ", "Lo ", "I ", "Le ", "Gli ", "L'"}, {" è qui.", " sono qui."}},
    {"de", {"Der ", "Die ", "Das "}, {" ist hier.", " sind hier."}},
}};

const Carrier* CarrierOf(std::string_view language) {
  const std::string tag = PrimarySubtag(language);
  const auto* const found = std::ranges::find(kCarriers, tag, &Carrier::language);
  return found == kCarriers.end() ? nullptr : found;
}

// Returns the bytes of the article that a text begins with, in letters of any case; 0 if it begins
// with none.
size_t ArticleSize(const Carrier& carrier, std::string_view text) {
  const std::string small = LowerText(text);
  size_t longest = 0;
  for (const std::string_view article : carrier.articles) {
    if (small.starts_with(LowerText(article))) longest = std::max(longest, article.size());
  }
  return longest;
}

}  // namespace

std::optional<std::string> CarrierSentence(std::string_view word, std::string_view language) {
  constexpr size_t kFewestLetters = 3;
  const Carrier* const carrier = CarrierOf(language);
  if (carrier == nullptr || !models::IsValidUtf8(word) ||
      models::CountCodePoints(word) < kFewestLetters)
    return std::nullopt;
  for (size_t at = 0; at < word.size();) {
    const models::CodePoint c = models::DecodeAt(word, at);
    const bool is_joint = c.value == '-' && at > 0 && at + 1 < word.size();
    if (!is_joint && (!models::IsLetter(c.value) || (at > 0 && models::IsUpper(c.value))))
      return std::nullopt;
    at += c.bytes;
  }
  std::string sentence(carrier->articles.front());
  sentence += word;
  sentence += carrier->ends.front();
  return sentence;
}

std::optional<std::string> SmallWord(std::string_view word, std::string_view language) {
  const bool is_named = models::IsUpper(models::DecodeAt(word, 0).value);
  if (!is_named || PrimarySubtag(language) == "de" || !CarrierSentence(word, language))
    return std::nullopt;
  return LowerText(word);
}

bool IsVerbForm(std::string_view word, std::string_view language) {
  constexpr size_t kShortest = 5;
  constexpr std::array<std::string_view, 1> kEnglish = {"ed"};
  constexpr std::array<std::string_view, 5> kPortuguese = {"ar", "er", "ir", "ado", "ido"};
  const auto ends = [word](std::string_view ending) { return word.ends_with(ending); };
  if (word.size() < kShortest) return false;
  const std::string tag = PrimarySubtag(language);
  return (tag == "en" && std::ranges::any_of(kEnglish, ends)) ||
         (tag == "pt" && std::ranges::any_of(kPortuguese, ends));
}

namespace {

// The sentences in which a word is a verb, up to the word.
struct Command {
  std::string_view language;
  std::string_view infinitive;
  std::string_view participle;
  std::array<std::string_view, 4> endings_of_infinitives;  // empty: any word may be one
  std::array<std::string_view, 3> endings_of_participles;
};

constexpr std::array<Command, 2> kCommands = {{
    {"en", "Click here to ", "The file was ", {}, {"ed"}},
    {"pt", "Clique aqui para ", "O arquivo foi ", {"ar", "er", "ir", "or"}, {"ado", "ido", "to"}},
}};

const Command* CommandOf(std::string_view language) {
  const std::string tag = PrimarySubtag(language);
  const auto* const found = std::ranges::find(kCommands, tag, &Command::language);
  return found == kCommands.end() ? nullptr : found;
}

template <typename Endings>
bool HasEnding(std::string_view word, const Endings& endings) {
  return std::ranges::any_of(endings, [word](std::string_view ending) {
    return !ending.empty() && word.ends_with(ending);
  });
}

}  // namespace

std::optional<std::string> CommandSentence(std::string_view word, std::string_view language) {
  const Command* const command = CommandOf(language);
  const size_t space = std::min(word.find(' '), word.size());
  const bool is_phrase = space < word.size();
  if (command == nullptr || (!is_phrase && !CarrierSentence(word, language))) return std::nullopt;
  const std::string verb = LowerText(word.substr(0, space));
  const bool is_participle = !is_phrase && HasEnding(verb, command->endings_of_participles);
  const bool any_infinitive = !is_phrase && command->endings_of_infinitives.front().empty();
  if (!is_participle && !any_infinitive && !HasEnding(verb, command->endings_of_infinitives))
    return std::nullopt;
  std::string sentence(is_participle ? command->participle : command->infinitive);
  sentence += verb;
  sentence += word.substr(space);
  sentence += '.';
  return sentence;
}

std::string CommandVerb(std::string_view word, std::string_view translation,
                        std::string_view target_language) {
  const Command* const command = CommandOf(target_language);
  if (command == nullptr || !translation.ends_with('.')) return {};
  translation.remove_suffix(1);
  const bool is_participle = translation.starts_with(command->participle);
  if (!is_participle && !translation.starts_with(command->infinitive)) return {};
  translation.remove_prefix((is_participle ? command->participle : command->infinitive).size());
  if (word.find(' ') != std::string_view::npos) {
    if (is_participle) return {};
    const models::CodePoint first = models::DecodeAt(translation, 0);
    return models::EncodeUtf8(models::ToUpper(first.value)) +
           std::string(translation.substr(first.bytes));
  }
  // English participles may have any ending.
  const bool is_verb = command->endings_of_infinitives.front().empty() ||
                       (is_participle ? HasEnding(translation, command->endings_of_participles)
                                      : HasEnding(translation, command->endings_of_infinitives));
  const bool is_one_word = !translation.empty() && translation.find(' ') == std::string_view::npos;
  if (!is_verb || !is_one_word || LowerText(translation) == LowerText(word)) return {};
  return std::string(translation);
}

std::optional<std::string> SmallText(std::string_view text, std::string_view language) {
  if (!models::IsUpper(models::DecodeAt(text, 0).value) || PrimarySubtag(language) == "de" ||
      !models::IsValidUtf8(text))
    return std::nullopt;
  return LowerText(text);
}

namespace {

bool HasStutter(std::string_view text) {
  constexpr size_t kFewest = 3;  // letters that come twice
  constexpr std::array<std::string_view, 3> kDoubled = {"aa", "ii", "uu"};
  for (size_t at = 0; at < text.size(); ++at) {
    if (std::ranges::find(kDoubled, text.substr(at, 2)) != kDoubled.end()) return true;
    const size_t end = models::LettersEnd(text, at);
    if (end >= at + 3 && text[at] == text[at + 1] && text[at] == text[at + 2]) return true;
    for (size_t size = kFewest; at + 2 * size <= end; ++size) {
      if (text.substr(at, size) == text.substr(at + size, size)) return true;
    }
  }
  return false;
}

bool SaysWordTwice(std::string_view text) {
  constexpr size_t kShortest = 4;  // bytes
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" .,;:!?", at), text.size());
    if (end >= at + kShortest) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::sort(words);
  return std::ranges::adjacent_find(words) != words.end();
}

// Returns the first word in small letters if it is no short one and another follows that does not
// begin with a capital, as those of names do; else an empty text.
std::string FirstOfPhrase(std::string_view text) {
  constexpr size_t kShortest = 4;  // bytes
  const size_t space = std::min(text.find(' '), text.size());
  return space >= kShortest && models::IsLower(models::DecodeAt(text, space + 1).value)
             ? LowerText(text.substr(0, space))
             : std::string();
}

}  // namespace

bool LooksMisread(std::string_view text, std::string_view translation,
                  std::string_view target_language) {
  if (CarrierOf(target_language) == nullptr) return false;
  const std::string source = LowerText(text);
  const std::string target = LowerText(translation);
  const std::string first = FirstOfPhrase(text);
  return (!first.empty() && (" " + target + " ").find(" " + first + " ") != std::string::npos) ||
         (HasStutter(target) && !HasStutter(source)) ||
         (SaysWordTwice(target) && !SaysWordTwice(source));
}

std::string_view WithoutAdditions(std::string_view translation, std::string_view small) {
  constexpr std::string_view kMarks = ".!? ";
  const auto bare = [kMarks](std::string_view text) {
    return LowerText(text.substr(0, text.find_last_not_of(kMarks) + 1));
  };
  const std::string all = bare(translation);
  const std::string part = bare(small);
  // Places are the same in both, but for letters that are longer in one case.
  const bool fits = LowerText(translation).size() == translation.size();
  if (part.empty() || !fits) return translation;
  if (all.starts_with(part + " ")) return translation.substr(0, part.size());
  if (all.ends_with(" " + part)) return translation.substr(all.size() - part.size());
  return translation;
}

bool IsUncertainWord(std::string_view word, std::string_view translation,
                     std::string_view target_language) {
  constexpr std::ptrdiff_t kManySpaces = 2;
  if (word.find(' ') != std::string_view::npos) return false;  // as of almost all sentences
  if (std::ranges::count(translation, ' ') >= kManySpaces) return true;
  if (LowerText(word) == LowerText(translation)) return true;
  const Carrier* const carrier = CarrierOf(target_language);
  return carrier != nullptr && ArticleSize(*carrier, translation) > 0;
}

std::string CarriedWord(std::string_view word, std::string_view translation,
                        std::string_view target_language) {
  constexpr std::ptrdiff_t kMostSpaces = 3;
  const Carrier* const carrier = CarrierOf(target_language);
  if (carrier == nullptr) return {};
  const auto* const end = std::ranges::find_if(carrier->ends, [translation](std::string_view tail) {
    return !tail.empty() && translation.ends_with(tail);
  });
  if (end == carrier->ends.end()) return {};
  std::string_view carried = translation.substr(0, translation.size() - end->size());
  carried.remove_prefix(ArticleSize(*carrier, carried));
  const bool is_piece = LowerText(word).starts_with(LowerText(carried));
  const bool is_word = models::IsLetter(models::DecodeAt(carried, 0).value);
  if (is_piece || !is_word || std::ranges::count(carried, ' ') > kMostSpaces) return {};
  return std::string(models::Trim(carried));
}

std::string_view WithoutArticle(std::string_view translation, std::string_view target_language) {
  const Carrier* const carrier = CarrierOf(target_language);
  if (carrier == nullptr) return translation;
  return translation.substr(std::min(ArticleSize(*carrier, translation), translation.size()));
}

}  // namespace millrace::translation
