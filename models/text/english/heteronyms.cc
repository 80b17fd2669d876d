#include "models/text/english/heteronyms.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/part_of_speech.h"

namespace millrace::models {
namespace {

// The sounds of a verb and a noun in espeak-ng's mnemonics. The lexicon has those of misaki.
struct VerbAndNoun {
  std::string_view word;
  std::string_view verb;
  std::string_view noun;
};

// Sorted by bytes.
constexpr std::array<VerbAndNoun, 73> kVerbsAndNouns = {{
    {"abuse", "abj'u:z", "abj'u:s"},
    {"advocate", "'adv@k,eIt", "'adv@k@t"},
    {"alternate", "'O:lt3n,eIt", "O:lt'3:n@t"},
    {"animate", "'anIm,eIt", "'anIm@t"},
    {"appropriate", "apr'oUprI2;,eIt", "apr'oUprI2;@t"},
    {"articulate", "A@t'IkjUl,eIt", "A@t'IkjUl@t"},
    {"associate", "as'oUsI2;,eIt", "as'oUsI2;@t"},
    {"attribute", "atr'Ibju:t", "'atrIbj,u:t"},
    {"close", "kl'oUz", "kl'oUz"},
    {"combine", "k@mb'aIn", "k'0mbaIn"},
    {"compact", "k@mp'akt", "k'0mpakt"},
    {"conduct", "k@nd'Vkt", "k'0ndVkt"},
    {"conflict", "k@nfl'Ikt", "k'0nflIkt"},
    {"console", "k@ns'oUl", "k'0nsoUl"},
    {"content", "k@nt'Ent", "k'0ntEnt"},
    {"contents", "k@nt'Ents", "k'0ntEnts"},
    {"contest", "k@nt'Est", "k'0nt2Est"},
    {"contract", "k@ntr'akt", "k'0ntrakt"},
    {"contrast", "k@ntr'aast", "k'0ntraast"},
    {"convert", "k@nv'3:t", "k'0nv3:t"},
    {"convict", "k@nv'Ikt", "k'0nvIkt"},
    {"coordinate", "koU'O@d@n,eIt", "koU'O@d@n@t"},
    {"decrease", "dI2kr'i:s", "d'i:kri:s"},
    {"delegate", "d'ElI2g,eIt", "d'ElI2g@t"},
    {"deliberate", "dIl'Ib3r,eIt", "dIl'Ib3r@t"},
    {"desert", "dI#z'3:t", "d'Ez3t"},
    {"deserts", "dI#z'3:ts", "d'Ez3ts"},
    {"digest", "daIdZ'Est", "d'aIdZEst"},
    {"duplicate", "d'u:plIk,eIt", "d'u:plIk@t"},
    {"elaborate", "Il'ab3r,eIt", "Il'ab3r-@t"},
    {"escort", "Esk'O@t", "'EskO@t"},
    {"estimate", "'EstIm,eIt", "'EstIm@t"},
    {"estimates", "'EstIm,eIts", "'EstIm@ts"},
    {"excuse", "Ekskj'u:z", "Ekskj'u:s"},
    {"export", "Eksp'o@t", "'Ekspo@t"},
    {"exports", "Eksp'o@ts", "'Ekspo@ts"},
    {"extract", "Ekstr'akt", "'Ekstrakt"},
    {"graduate", "gr'adju:,eIt", "gr'adZu:@t"},
    {"house", "h'aUz", "h'aUs"},
    {"houses", "h'aUzI2z", "h'aUzI2z"},
    {"import", "Imp'o@t", "'Impo@t"},
    {"imports", "Imp'o@ts", "'Impo@ts"},
    {"increase", "INkr'i:s", "'INkri:s"},
    {"increases", "INkr'i:sI2z", "'INkri:sI2z"},
    {"insert", "Ins'3:t", "'Ins3:t"},
    {"insult", "Ins'Vlt", "'InsVlt"},
    {"invalid", "Inv'alId", "'Inv@lId"},
    {"live", "l'Iv", "l'aIv"},
    {"moderate", "m'0d3r,eIt", "m'0d3r@t"},
    {"object", "0bdZ'Ekt", "'0bdZEkt"},
    {"objects", "0bdZ'Ekts", "'0bdZEkts"},
    {"perfect", "p3f'Ekt", "p'3:fEkt"},
    {"permit", "p3m'It", "p'3:mIt"},
    {"predicate", "pr'EdIk,eIt", "pr'EdIk@t"},
    {"present", "prIz'Ent", "pr'Ez@nt"},
    {"presents", "prIz'Ents", "pr'Ez@nts"},
    {"produce", "pr@d'u:s", "pr'0du:s"},
    {"progress", "pr@gr'Es", "pr'0grEs"},
    {"project", "pr@dZ'Ekt", "pr'0dZEkt"},
    {"rebel", "rIb'El", "r'Eb@L"},
    {"recall", "rIk'O:l", "r'i:kO:l"},
    {"record", "rIk'o@d", "r'Ek3d"},
    {"records", "rIk'o@dz", "r'Ek3dz"},
    {"refuse", "rIfj'u:z", "r'Efju:s"},
    {"reject", "rIdZ'Ekt", "r'i:dZEkt"},
    {"separate", "s'Ep3r,eIt", "s'Ep@-r@t"},
    {"subject", "s@bdZ'Ekt", "s'VbdZEkt"},
    {"survey", "s3v'eI", "s'3:veI"},
    {"suspect", "s@sp'Ekt", "s'VspEkt"},
    {"transfer", "transf'3:", "tr'ansf3:"},
    {"transport", "transp'o@t", "tr'anspo@t"},
    {"use", "j'u:z", "j'u:s"},
    {"uses", "j'u:zI2z", "j'u:sI2z"},
}};
static_assert(std::ranges::is_sorted(kVerbsAndNouns, {}, &VerbAndNoun::word));

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
  if (IsOneOf(near.Before(), "of", "molten", "like", "contain", "contains") && !IsDeterminer(after))
    return true;
  if (near.Before().empty() && (after == "is" || after == "was")) return true;
  return IsOneOf(after, "pipe", "pipes", "paint", "mine", "mines", "sheet", "roof", "poisoning",
                 "acid", "bullet", "bullets", "pencil", "pencils", "weight", "weights", "ore",
                 "content", "levels", "exposure", "shot", "crystal", "solder") &&
         near.Before() != "to";
}

std::optional<WordSound> FindMeaning(std::string_view word, const Neighbours& near) {
  const std::string before = near.Before();
  const std::string after = near.After();
  if (word == "lead" && IsMetal(near)) return WordSound{"lˈɛd", "l'Ed"};
  if (word == "lead-free") return WordSound{"lˈɛdfɹˌi", "l'Edfr,i:"};
  if (word == "lead-acid") return WordSound{"lˈɛdˌæsəd", "l'Ed,asId"};
  if (word == "lead-lined") return WordSound{"lˈɛdlˌInd", "l'Edl,aInd"};
  if (word == "bass" || word == "basses") {
    const bool fish =
        near.Near({"fish", "lake", "river", "caught", "catch", "pond", "lure", "bait", "angl",
                   "sea", "striped", "largemouth", "smallmouth", "fillet", "grilled", "eat"});
    if (word == "basses") return std::nullopt;
    return fish ? WordSound{"bˈæs", "b'as"} : WordSound{"bˈAs", "b'eIs"};
  }
  if (word == "lives") {
    const bool noun =
        before.empty() || IsDeterminer(before) || before.ends_with("'s") ||
        IsOneOf(before, "all", "both", "change", "changed", "changes", "cost", "costs", "four",
                "human", "lost", "many", "nine", "of", "private", "risked", "save", "saved",
                "saves", "saving", "seven", "several", "take", "taking", "three", "took", "two");
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
          (IsOneOf(after, "about", "over") && near.After(2) != "there")));
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
  if (word == "resent") return WordSound{"ɹəzˈɛnt", "rIz'Ent"};
  if (word == "contents" && !IsSubject(before)) return WordSound{"kˈɑntˌɛnts", "k'0ntEnts"};
  if (word == "refuse" &&
      (IsDeterminer(before) || IsOneOf(before, "household", "more", "of", "some") ||
       IsOneOf(after, "bag", "bags", "bin", "bins", "collection", "collector", "collectors",
               "disposal", "dump", "sacks", "truck", "trucks"))) {
    return WordSound{"ɹˈɛfjˌus", "r'Efju:s"};
  }
  if (word == "refuse") return WordSound{"ɹəfjˈuz", "rIfj'u:z"};
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

// Names and words about which a front end is wrong.
std::optional<WordSound> FindException(std::string_view word) {
  struct Entry {
    std::string_view word;
    WordSound sound;
  };
  // Sorted by bytes.
  static constexpr std::array<Entry, 36> kEntries = {{
      {"cors", {"kˈɔɹz", "k'o@z"}},
      {"covid", {"", "k'oUvId"}},
      {"cuda", {"kˈudə", "k'u:d@"}},
      {"ebit", {"ˈibˌɪt", "'i:bIt"}},
      {"fema", {"fˈimə", "f'i:m@"}},
      {"fifo", {"fˈIfˌO", "f'aIfoU"}},
      {"ftse", {"fˈʊtsi", "f'Utsi"}},
      {"gaap", {"ɡˈæp", "g'ap"}},
      {"gif", {"ɡˈɪf", "g'If"}},
      {"gifs", {"ɡˈɪfs", "g'Ifs"}},
      {"gnocchi", {"", "nj'0ki"}},
      {"goethe", {"ɡˈɜɹTə", "g'3:t@"}},
      {"ikea", {"Ikˈiə", "aIk'i:@"}},
      {"ipv", {"", ",aIp,i:v'i:"}},
      {"jalapeño", {"hˌɑləpˈAnjO", "h,A:l@p'eInjoU"}},
      {"jpeg", {"ʤˈApˌɛɡ", "dZ'eIpEg"}},
      {"jpegs", {"ʤˈApˌɛɡz", "dZ'eIpEgz"}},
      {"json", {"ʤˈAsᵊn", "dZ'eIs@n"}},
      {"ldap", {"ˈɛldˌæp", "'Eldap"}},
      {"lifo", {"lˈIfˌO", "l'aIfoU"}},
      {"mig", {"", "m'Ig"}},
      {"nguyen", {"wˈɪn", "w'In"}},
      {"oauth", {"ˈOˌɔθ", "'oUO:T"}},
      {"quinoa", {"", "k'i:nwA:"}},
      {"ramesses", {"ɹˈæməsˌiz", "r'am@s,i:z"}},
      {"reais", {"", "reI'aIs"}},
      {"reit", {"ɹˈit", "r'i:t"}},
      {"unesco", {"", "ju:n'EskoU"}},
      {"unix", {"jˈunɪks", "j'u:nIks"}},
      {"versailles", {"", "v3s'aI"}},
      {"vlan", {"vˈilˌæn", "v'i:lan"}},
      {"wifi", {"wˈIfˌI", "w'aIfaI"}},
      {"xi", {"ʃˈi", "S'i:"}},
      {"xi'an", {"ʃˈiˈɑn", "S,i:'0n"}},
      {"yaml", {"jˈæmᵊl", "j'am@l"}},
      {"zip", {"zˈɪp", "z'Ip"}},
  }};
  static_assert(std::ranges::is_sorted(kEntries, {}, &Entry::word));
  const auto found = std::ranges::lower_bound(kEntries, word, {}, &Entry::word);
  if (found == kEntries.end() || found->word != word) return std::nullopt;
  return found->sound;
}

}  // namespace

std::optional<WordSound> FindHeteronym(std::span<const SpokenWord> words, size_t at) {
  const std::string word = AsciiLower(words[at].text);
  // The Greek letter is written small.
  if (auto exception = FindException(word); exception && words[at].text != "xi") return exception;
  if (auto meaning = FindMeaning(word, Neighbours(words, at))) return meaning;
  // The lexicon has the noun alone.
  if ((word == "protest" || word == "protests") &&
      GuessPartOfSpeech(words, at) == PartOfSpeech::kVerb) {
    return word == "protest" ? WordSound{"pɹətˈɛst", "pr@t'Est"}
                             : WordSound{"pɹətˈɛsts", "pr@t'Ests"};
  }
  const auto found =
      std::ranges::lower_bound(kVerbsAndNouns, std::string_view(word), {}, &VerbAndNoun::word);
  if (found == kVerbsAndNouns.end() || found->word != word) return std::nullopt;
  switch (GuessPartOfSpeech(words, at)) {
    case PartOfSpeech::kVerb:
      return WordSound{"", found->verb};
    case PartOfSpeech::kNoun:
      return WordSound{"", found->noun};
    case PartOfSpeech::kAdjective:
      if (word == "invalid") return WordSound{"", found->verb};
      return WordSound{"", word == "close" ? "kl'oUs" : found->noun};
    case PartOfSpeech::kPredicate:
      if (word == "content") return WordSound{"", found->verb};
      return std::nullopt;
    case PartOfSpeech::kUnknown:
      // "Use it" and the like, as the lexicon has it.
      if (word == "use" || word == "uses" || word == "estimate" || word == "increase")
        return WordSound{"", found->verb};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace millrace::models
