#include "models/text/english/heteronyms.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/part_of_speech.h"
#include "models/text/english/verbs_and_nouns_text.h"
#include "models/text/english/word_sounds_text.h"

namespace millrace::models {
namespace {

// The words around one, in lower case; empty where there is none.
class Neighbours {
 public:
  Neighbours(std::span<const SpokenWord> words, size_t at) : words_(words), at_(at) {}

  std::string Before(size_t steps = 1) const {
    return at_ >= steps ? AsciiLower(words_[at_ - steps].text) : "";
  }
  std::string After(size_t steps = 1) const {
    return at_ + steps < words_.size() ? AsciiLower(words_[at_ + steps].text) : "";
  }
  // Returns true if one of the words near it begins with one of these.
  bool Near(std::initializer_list<std::string_view> beginnings) const {
    constexpr size_t kFarthest = 12;
    const size_t begin = at_ > kFarthest ? at_ - kFarthest : 0;
    for (size_t i = begin; i < std::min(words_.size(), at_ + kFarthest); ++i) {
      if (i == at_) continue;
      const std::string word = AsciiLower(words_[i].text);
      for (const std::string_view beginning : beginnings) {
        if (word.starts_with(beginning)) return true;
      }
    }
    return false;
  }

 private:
  const std::span<const SpokenWord> words_;
  const size_t at_;
};

struct VerbAndNoun {
  std::string_view word;
  std::string_view verb;
  std::string_view noun;
};

std::optional<VerbAndNoun> FindVerbAndNoun(std::string_view word) {
  static const WordTable<3> words(kVerbsAndNounsText);
  const auto* const row = words.Find(word);
  if (row == nullptr) return std::nullopt;
  return VerbAndNoun{(*row)[0], (*row)[1], (*row)[2]};
}

// Returns the mnemonics of the "s" behind a word.
std::string_view EndingOf(std::string_view word) {
  if (word.ends_with("se") || word.ends_with("ge") || word.ends_with("ch")) return "I2z";
  const char last = word[word.size() - (word.ends_with('e') ? 2 : 1)];
  return std::string_view("fkpt").find(last) != std::string_view::npos ? "s" : "z";
}

bool IsSubject(std::string_view word) {
  return IsOneOf(word, "i", "you", "he", "she", "it", "we", "they", "who");
}

bool IsDeterminer(std::string_view word) {
  return IsOneOf(word, "a", "an", "the", "this", "that", "her", "his", "my", "our", "their", "your",
                 "its", "every", "each", "no");
}

// Returns true for the last word of a number.
bool EndsNumber(std::string_view word) {
  return word.ends_with("teen") ||
         IsOneOf(word, "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty",
                 "ninety") ||
         IsOneOf(word, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
                 "ten", "eleven", "twelve", "hundred", "thousand");
}

// Returns true where "lead" is the metal.
bool IsMetal(const Neighbours& near) {
  const std::string after = near.After();
  if (near.Before() == "pencil" && after != "to") return true;
  if (IsOneOf(near.Before(), "of", "molten", "like", "contain", "contains") && !IsDeterminer(after))
    return true;
  if (near.Before().empty() && (after == "is" || after == "was")) return true;
  // "Get the lead out", "zinc and lead".
  if (near.Before() == "the" && after == "out" &&
      IsOneOf(near.Before(2), "get", "gets", "getting", "got"))
    return true;
  if ((IsOneOf(near.Before(), "and", "or", "for", "from", "as") || IsOneOf(after, "and", "or")) &&
      near.Near({"arsenic", "asbestos", "cadmium", "copper", "mercury", "silver", "tin", "zinc"}))
    return true;
  return IsOneOf(after, "pipe", "pipes", "paint", "mine", "mines", "sheet", "roof", "poisoning",
                 "acid", "bullet", "bullets", "pencil", "pencils", "weight", "weights", "ore",
                 "content", "contamination", "levels", "exposure", "shot", "crystal", "solder") &&
         near.Before() != "to";
}

// Returns true where "axes" are those of a graph or of rotation rather than tools.
bool AreLines(const Neighbours& near) {
  if (IsOneOf(near.After(), "of", "are", "intersect", "cross")) return true;
  return !near.Near({"battle", "blade", "blacksmith", "chop", "firem", "handle", "hatchet",
                     "knives", "lumber", "pick", "saw", "sharp", "shield", "spear", "sword",
                     "throw", "tree", "wood"});
}

// Returns true where "tear" pulls something apart.
bool RipsApart(const Neighbours& near) {
  const std::string before = near.Before();
  const std::string after = near.After();
  if (before == "and" && near.Before(2) == "wear") return true;
  if (IsOneOf(after, "apart", "away", "down", "her", "him", "it", "off", "open", "out", "them",
              "through", "up", "us", "along", "this", "that"))
    return before.empty() || !IsDeterminer(before);
  const bool body = near.Near(
      {"muscle", "ligament", "meniscus", "cartilage", "tendon", "cuff", "fabric", "jeans", "knee"});
  return (body && !near.Near({"eye", "cheek"})) ||
         IsOneOf(before, "to", "can", "could", "don't", "not", "will", "would");
}

// Returns true where "wind" or "winds" turns.
bool Turns(std::string_view word, const Neighbours& near) {
  const std::string before = near.Before();
  const std::string after = near.After();
  const bool along = IsOneOf(after, "around", "back", "down", "its", "round", "through", "up");
  if (along && IsSubject(before)) return true;
  if (word == "wind") return before.empty() && (along || IsOneOf(after, "it", "the", "your"));
  return along && near.After(2) != "to" && near.Before(2) == "the" &&
         !IsOneOf(before, "cold", "gusty", "heavy", "high", "light", "strong", "trade", "westerly");
}

// Returns true where "Reading" and "Nice" are cities: "in Reading", "Nice, France".
bool IsPlace(const SpokenWord& word, const Neighbours& near) {
  return IsAsciiUpper(word.text[0]) && !near.Before().empty() &&
         IsOneOf(near.Before(), "in", "near", "to") && near.Before(2) != "chapter";
}

// Words whose sound FindMeaning tells. Sorted by bytes.
constexpr auto kMeanings = std::to_array<std::string_view>(
    {"abuse",    "aged",      "analyses",  "august",     "axes",     "bases",   "bass",
     "basses",   "blessed",   "bow",       "bowed",      "close",    "content", "contents",
     "contract", "deserts",   "does",      "dove",       "frequent", "houses",  "job",
     "lead",     "lead-acid", "lead-free", "lead-lined", "learned",  "live",    "lives",
     "minute",   "minutes",   "mobile",    "nice",       "number",   "polish",  "present",
     "putting",  "read",      "reading",   "refuse",     "refuses",  "resent",  "resume",
     "resumes",  "row",       "sake",      "sow",        "tear",     "use",     "used",
     "wind",     "winds",     "wound"});
static_assert(std::ranges::is_sorted(kMeanings));

// Finds the sound of a word whose meanings differ in their company.
std::optional<WordSound> FindMeaning(const SpokenWord& written, std::string_view word,
                                     const Neighbours& near) {
  if (!std::ranges::binary_search(kMeanings, word)) return std::nullopt;
  const std::string before = near.Before();
  const std::string after = near.After();
  if (word == "lead" && IsMetal(near)) return WordSound{"lˈɛd", "l'Ed"};
  if (word == "axes" && !AreLines(near)) return WordSound{"ˈæksᵻz", "'aksI2z"};
  if (word == "axes") return WordSound{"ˈæksˌiz", "'aksi:z"};
  if (word == "bases") {
    const bool grounds = after == "of" || (after == "for" && IsDeterminer(near.After(2)));
    return grounds ? WordSound{"bˈAsˌiz", "b'eIsi:z"} : WordSound{"bˈAsᵻz", "b'eIsI2z"};
  }
  if (word == "analyses" && !IsSubject(before) && before != "which" && before != "that")
    return WordSound{"ənˈæləsˌiz", "a#n'al@si:z"};
  if (word == "houses") return WordSound{"hˈWzᵻz", "h'aUzI2z"};
  if (word == "number" &&
      (IsOneOf(before, "feel", "feels", "felt", "get", "gets", "getting", "got", "grew")) &&
      (after.empty() || after == "than"))
    return WordSound{"nˈʌməɹ", "n'Vm3"};
  if ((word == "putting") && (after == "green" || after == "greens"))
    return WordSound{"pˈʌTɪŋ", "p'VtIN"};
  if (word == "sake" &&
      (IsOneOf(before, "cold", "drank", "drink", "drinking", "hot", "japanese", "warm") ||
       (before == "of" && IsOneOf(near.Before(2), "bottle", "cup", "glass"))))
    return WordSound{"sˈɑki", "s'A:ki"};
  if (word == "reading" && (IsPlace(written, near) || IsOneOf(after, "england", "berkshire")))
    return WordSound{"ɹˈɛdɪŋ", "r'EdIN"};
  if (word == "nice" && (IsPlace(written, near) || after == "france"))
    return WordSound{"nˈis", "n'i:s"};
  if (word == "mobile" && after == "alabama") return WordSound{"mObˈil", "moUb'i:l"};
  if (word == "job" && before == "of" && near.Before(2) == "book")
    return WordSound{"ʤˈOb", "dZ'oUb"};
  if (word == "learned" && !after.empty() && !IsDeterminer(after) &&
      (IsDeterminer(before) || before == "most") && !IsOneOf(after, "that", "to", "from", "how"))
    return WordSound{"lˈɜɹnɪd", "l'3:nI2d"};
  if ((word == "wind" || word == "winds") && Turns(word, near))
    return word == "wind" ? WordSound{"wˈInd", "w'aInd"} : WordSound{"wˈIndz", "w'aIndz"};
  // "Strong winds up to 50 mph".
  if (word == "winds" && after == "up") return WordSound{"wˈɪndz", "w'Indz"};
  if (word == "wind" && after == "up" && IsDeterminer(before)) return WordSound{"wˈɪnd", "w'Ind"};
  if (word == "tear" && RipsApart(near)) return WordSound{"tˈɛɹ", "t'e@"};
  if (word == "use" && (after == "case" || after == "cases") && !IsSubject(before) &&
      before != "to")
    return WordSound{"jˈus", "j'u:s"};
  if (word == "live") {
    if (IsOneOf(before, "aired", "airs", "broadcast", "going", "go", "goes", "gone", "stream",
                "streamed", "streaming", "went") &&
        after != "with")
      return WordSound{"lˈIv", "l'aIv"};
    const bool verb = (before.empty() && IsOneOf(after, "and", "each", "every", "in", "life",
                                                 "like", "long", "well", "with", "your")) ||
                      (before == "let" && near.Before(2) == "and");
    if (verb) return WordSound{"lˈɪv", "l'Iv"};
  }
  if (word == "frequent" && (IsSubject(before) || before == "to") && IsDeterminer(after))
    return WordSound{"fɹikwˈɛnt", "fri:kw'Ent"};
  if (word == "lead-free") return WordSound{"lˈɛdfɹˌi", "l'Edfr,i:"};
  if (word == "lead-acid") return WordSound{"lˈɛdˌæsəd", "l'Ed,asId"};
  if (word == "lead-lined") return WordSound{"lˈɛdlˌInd", "l'Edl,aInd"};
  if (word == "bass" || word == "basses") {
    const bool fish =
        near.Near({"fish", "lake", "river", "caught", "catch", "pond", "lure", "bait", "angl",
                   "sea", "striped", "largemouth", "smallmouth", "fillet", "grilled", "eat"});
    if (word == "basses") return std::nullopt;
    const bool low = IsOneOf(after, "clarinet", "clef", "drum", "guitar", "guitarist", "line",
                             "note", "part", "player", "singer", "solo", "voice");
    return fish && !low ? WordSound{"bˈæs", "b'as"} : WordSound{"bˈAs", "b'eIs"};
  }
  if (word == "lives") {
    const bool noun =
        before.empty() || IsDeterminer(before) || before.ends_with("'s") ||
        IsOneOf(before, "all", "both", "change", "changed", "changes", "cost", "costs", "four",
                "human", "lost", "many", "nine", "of", "private", "risked", "save", "saved",
                "saves", "saving", "seven", "several", "take", "taking", "three", "took", "two") ||
        (!IsSubject(before) &&
         IsOneOf(near.Before(2), "lead", "leading", "leads", "led", "live", "lived", "living"));
    return noun ? WordSound{"lˈIvz", "l'aIvz"} : WordSound{"lˈɪvz", "l'Ivz"};
  }
  if (word == "bow") {
    const bool taken = IsOneOf(near.Before(2), "take", "takes", "took", "taking", "taken") ||
                       IsOneOf(near.Before(3), "take", "takes", "took", "taking", "taken");
    const bool bends = taken || (before.empty() && after == "to") ||
                       IsOneOf(before, "to", "will", "must", "they", "we", "i", "you") ||
                       IsOneOf(after, "down", "before", "out") ||
                       near.Near({"ship", "stern", "curtain", "applau"});
    return bends ? WordSound{"bˈW", "b'aU"} : WordSound{"bˈO", "b'oU"};
  }
  if (word == "bowed") return WordSound{"bˈWd", "b'aUd"};
  // A tear in a cloth is no tear of an eye.
  if (word == "tear" && (before == "a" || before == "the") &&
      (IsOneOf(after, "in", "through", "across") && !near.Near({"eye", "cheek", "cry", "wept"})))
    return WordSound{"tˈɛɹ", "t'e@r"};
  if (word == "sow") {
    const bool pig = IsDeterminer(before) ||
                     IsOneOf(before, "big", "fat", "old", "pregnant", "wild", "young") ||
                     near.Near({"pig", "boar", "farrow"});
    return pig ? WordSound{"sˈW", "s'aU"} : WordSound{"sˈO", "s'oU"};
  }
  if (word == "dove") {
    const bool dives = !IsDeterminer(before) && before != "white" && before != "turtle" &&
                       IsOneOf(after, "in", "into", "off", "down", "under", "deep", "straight",
                               "headfirst", "right", "from", "for", "through", "back");
    return dives ? WordSound{"dˈOv", "d'oUv"} : WordSound{"dˈʌv", "d'Vv"};
  }
  if (word == "wound" && IsOneOf(after, "clock", "coil", "spring", "tight", "tightly", "wire"))
    return WordSound{"wˈWnd", "w'aUnd"};
  if (word == "wound") {
    const bool coils = !IsDeterminer(before) && before != "to" &&
                       (IsSubject(before) || IsOneOf(after, "up", "down", "around", "through")) &&
                       !IsOneOf(near.Before(2), "did", "can", "will", "could", "would");
    if (coils) return WordSound{"wˈWnd", "w'aUnd"};
    return std::nullopt;
  }
  if (word == "minute") {
    const bool tiny =
        IsOneOf(before, "very", "so", "too", "extremely", "most", "are", "is") ||
        IsOneOf(after, "amount", "amounts", "change", "changes", "crack", "cracks", "creature",
                "creatures", "detail", "details", "difference", "differences", "dose", "doses",
                "examination", "fraction", "fragments", "hole", "holes", "particle", "particles",
                "piece", "pieces", "quantities", "quantity", "scale", "size", "traces",
                "variations");
    return tiny ? WordSound{"mInˈut", "maIn'u:t"} : WordSound{"mˈɪnət", "m'InIt"};
  }
  // "Polish the shoes" begins with a capital.
  if (word == "polish" && before.empty() && IsDeterminer(after))
    return WordSound{"pˈɑlɪʃ", "p'0lIS"};
  if (word == "deserts" && before == "just") return WordSound{"dəzˈɜɹts", "dI#z'3:ts"};
  // Tiny things are not counted: "six minutes forty".
  if (word == "minutes") return WordSound{"mˈɪnəts", ""};
  // "From 2019 to present".
  if (word == "present" && before == "to" && EndsNumber(near.Before(2)))
    return WordSound{"pɹˈɛzᵊnt", "pr'Ez@nt"};
  // An adjective, or the month in small letters.
  if (word == "august") {
    const bool noble = IsDeterminer(before) && !after.empty() && !IsOneOf(after, "of", "the");
    return noble ? WordSound{"ɔɡˈʌst", "O:g'Vst"} : WordSound{"ˈɔɡəst", "'O:g@st"};
  }
  // A quarrel; people sit in the other row.
  if (word == "row") {
    const bool quarrel =
        IsOneOf(before, "almighty", "angry", "bitter", "blazing", "diplomatic", "flaming",
                "furious", "heated", "huge", "political", "terrible") ||
        (IsDeterminer(before) &&
         ((IsOneOf(near.Before(2), "had", "have", "having") &&
           (after.empty() || IsOneOf(after, "again", "last", "with", "yesterday"))) ||
          IsOneOf(after, "broke", "erupted") ||
          (IsOneOf(after, "about", "over") && near.After(2) != "there") ||
          (IsOneOf(after, "among", "between") &&
           IsOneOf(near.Before(2), "was", "is", "had", "a"))));
    if (quarrel) return WordSound{"ɹˈW", "r'aU"};
    return std::nullopt;
  }
  // Female deer.
  if (word == "does") {
    const bool counted = IsOneOf(before, "two", "three", "four", "five", "six", "several") &&
                         !IsDeterminer(after) && !IsOneOf(after, "not", "it");
    if (counted || before == "the") return WordSound{"dˈOz", "d'oUz"};
    return std::nullopt;
  }
  if (word == "content" &&
      IsOneOf(near.Before(2), "keep", "keeps", "kept", "made", "make", "makes") &&
      IsOneOf(before, "her", "him", "me", "them", "us", "you"))
    return WordSound{"kəntˈɛnt", "k@nt'Ent"};
  // Muscles shorten.
  if (word == "contract" && before.ends_with('s') && !IsDeterminer(before) &&
      !before.ends_with("'s") &&
      near.Near({"muscle", "heart", "lung", "pupil", "metal", "cool", "expand"}))
    return WordSound{"kəntɹˈækt", "k@ntr'akt"};
  // A document of one's career; the verb has an object or a subject.
  if (word == "resume" || word == "resumes") {
    const bool noun =
        (IsDeterminer(before) && before != "that" && !IsDeterminer(after)) ||
        IsOneOf(before, "all", "attached", "few", "five", "four", "hundred", "impressive", "many",
                "more", "of", "send", "sent", "several", "strong", "submit", "submitted", "ten",
                "these", "those", "three", "two", "updated") ||
        IsOneOf(after, "builder", "template", "writing");
    if (!noun) return std::nullopt;
    return word == "resume" ? WordSound{"ɹˈɛzəmˌA", "r'Ez@m,eI"}
                            : WordSound{"ɹˈɛzəmˌAz", "r'Ez@m,eIz"};
  }
  // Adjectives that end in a syllable of their own.
  if (word == "blessed" && (((IsDeterminer(before) || before == "most") && !after.empty()) ||
                            (before.empty() && IsOneOf(after, "are", "be", "is"))))
    return WordSound{"blˈɛsᵻd", "bl'EsI2d"};
  if (word == "aged" && IsOneOf(after, "aunt", "couple", "father", "grandfather", "grandmother",
                                "lady", "man", "men", "mother", "parent", "parents", "people",
                                "relative", "relatives", "uncle", "woman", "women"))
    return WordSound{"ˈAʤᵻd", "'eIdZI2d"};
  if (word == "resent") return WordSound{"ɹəzˈɛnt", "rIz'Ent"};
  if (word == "contents" && !IsSubject(before)) return WordSound{"kˈɑntˌɛnts", "k'0ntEnts"};
  if (word == "refuse" &&
      (IsDeterminer(before) || IsOneOf(before, "household", "more", "of", "some") ||
       IsOneOf(after, "bag", "bags", "bin", "bins", "collection", "collector", "collectors",
               "disposal", "dump", "sacks", "truck", "trucks"))) {
    return WordSound{"ɹˈɛfjˌus", "r'Efju:s"};
  }
  if (word == "refuse") return WordSound{"ɹəfjˈuz", "rIfj'u:z"};
  if (word == "refuses") return WordSound{"", "rIfj'u:z", "I2z"};
  if (word == "close") {
    // "So close it", "the close of day".
    const bool verb = before == "so" && (after == "it" || after == "the" || after == "them");
    const bool end = before == "the" && after == "of";
    if (verb || end) return WordSound{"klˈOz", "kl'oUz"};
    // "He stood close by".
    const bool near_by =
        IsOneOf(before, "came", "come", "comes", "draw", "drew", "gets", "got", "hold", "holds",
                "keep", "keeps", "kept", "lived", "lives", "sat", "sit", "sits", "stand", "stands",
                "stay", "stayed", "stays", "stood") ||
        IsOneOf(after, "by", "enough", "together");
    if (near_by && !IsSubject(before) && before != "to") return WordSound{"klˈOs", "kl'oUs"};
  }
  if (word == "read" && IsSubject(before) &&
      IsOneOf(near.Before(2), "have", "has", "had", "haven't", "hasn't", "hadn't")) {
    return WordSound{"ɹˈɛd", "r'Ed"};
  }
  if (word == "used" && after == "to" &&
      !IsOneOf(before, "is", "are", "was", "were", "be", "been", "being")) {
    return WordSound{"jˈust", "j'u:st"};
  }
  if ((word == "use" || word == "abuse") && before.empty() && after == "of")
    return word == "use" ? WordSound{"jˈus", "j'u:s"} : WordSound{"əbjˈus", "abj'u:s"};
  return std::nullopt;
}

// Returns true for an adjective in "-ate" before its noun, and for goods that are traded, where no
// article shows it: "Deliberate attempts", "import duties".
bool StandsBeforeNoun(std::string_view word, std::span<const SpokenWord> words, size_t at) {
  const Neighbours near(words, at);
  const std::string after = near.After();
  if (words.size() == 1) return word.ends_with("ate");
  if (word == "import" || word == "export")
    return IsOneOf(after, "ban", "business", "controls", "duties", "duty", "license", "market",
                   "price", "prices", "quota", "quotas", "restrictions", "tariffs", "tax", "taxes");
  return near.Before().empty() && !after.empty() && words[at].after == " " &&
         !IsDeterminer(after) && !IsSubject(after) && !after.ends_with("s") &&
         !IsOneOf(after, "and", "all", "them", "him", "with", "for", "or", "us", "from", "on",
                  "in") &&
         IsOneOf(word, "aggregate", "alternate", "appropriate", "approximate", "associate",
                 "deliberate", "duplicate", "elaborate", "intimate", "legitimate", "moderate",
                 "separate", "subordinate");
}

// Returns the sound of such a word in misaki's symbols where its lexicon has the verb's alone.
std::string_view SoundBeforeNoun(std::string_view word) {
  if (word == "deliberate") return "dəlˈɪbəɹət";
  if (word == "elaborate") return "əlˈæbəɹət";
  return word == "import" ? "ˈɪmpˌɔɹt" : "";
}

// Names and words about which a front end is wrong.
std::optional<WordSound> FindException(std::string_view word) {
  static const WordTable<3> words(kWordSoundsText);
  const auto* const row = words.Find(word);
  if (row == nullptr) return std::nullopt;
  return WordSound{(*row)[1], (*row)[2]};
}

}  // namespace

std::optional<WordSound> FindHeteronym(std::span<const SpokenWord> words, size_t at) {
  const std::string word = AsciiLower(words[at].text);
  // The Greek letter is written small.
  if (auto exception = FindException(word); exception && words[at].text != "xi") return exception;
  if (auto meaning = FindMeaning(words[at], word, Neighbours(words, at))) return meaning;
  // The lexicon has the noun alone.
  if ((word == "protest" || word == "protests") &&
      GuessPartOfSpeech(words, at) == PartOfSpeech::kVerb) {
    return word == "protest" ? WordSound{"pɹətˈɛst", "pr@t'Est"}
                             : WordSound{"pɹətˈɛsts", "pr@t'Ests"};
  }
  std::string_view ending;
  std::optional<VerbAndNoun> found = FindVerbAndNoun(word);
  if (!found && word.ends_with('s')) {
    found = FindVerbAndNoun(std::string_view(word).substr(0, word.size() - 1));
    ending = !found ? "" : EndingOf(found->word);
  }
  if (!found) return std::nullopt;
  switch (GuessPartOfSpeech(words, at)) {
    case PartOfSpeech::kVerb:
      return WordSound{"", found->verb, ending};
    case PartOfSpeech::kNoun:
      return WordSound{"", found->noun, ending};
    case PartOfSpeech::kAdjective:
      if (word == "deliberate" || word == "elaborate")
        return WordSound{SoundBeforeNoun(word), found->noun, ending};
      if (word == "invalid") return WordSound{"", found->verb, ending};
      return WordSound{"", word == "close" ? "kl'oUs" : found->noun, ending};
    case PartOfSpeech::kPredicate:
      if (word == "content") return WordSound{"", found->verb, ending};
      return std::nullopt;
    case PartOfSpeech::kUnknown:
      // "Import duties", "Deliberate attempts".
      if (StandsBeforeNoun(word, words, at))
        return WordSound{SoundBeforeNoun(word), found->noun, ending};
      // "Use it" and the like, as the lexicon has it.
      if (word == "use" || word == "uses" || word == "estimate" || word == "increase")
        return WordSound{"", found->verb, ending};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::models
