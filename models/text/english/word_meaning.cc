#include "models/text/english/word_meaning.h"

#include <algorithm>
#include <array>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// Returns true for the last word of a number.
bool EndsNumber(std::string_view word) {
  return word.ends_with("teen") ||
         IsOneOf(word, "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty",
                 "ninety") ||
         IsOneOf(word, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
                 "ten", "eleven", "twelve", "hundred", "thousand");
}

// Returns true where "lead" is the metal.
bool IsMetal(const WordsAround& near) {
  const std::string after = near.After();
  if (near.Before() == "pencil" && after != "to") return true;
  if (IsOneOf(near.Before(), "of", "molten", "like", "contain", "contains") && !PrecedesNoun(after))
    return true;
  if (near.Before().empty() && (after == "is" || after == "was")) return true;
  if (near.Before() == "with" && after.empty()) return true;
  // "Get the lead out", "zinc and lead".
  if (near.Before() == "the" && after == "out" &&
      IsOneOf(near.Before(2), "get", "gets", "getting", "got"))
    return true;
  if ((IsOneOf(near.Before(), "and", "or", "for", "from", "as") || IsOneOf(after, "and", "or")) &&
      near.Near({"arsenic", "asbestos", "cadmium", "copper", "mercury", "silver", "tin", "zinc"}))
    return true;
  return IsOneOf(after, "pipe", "pipes", "paint", "mine", "mines", "sheet", "roof", "poisoning",
                 "acid", "bullet", "bullets", "pencil", "pencils", "weight", "weights", "ore",
                 "content", "contamination", "levels", "exposure", "shot", "crystal", "solder",
                 "apron", "aprons", "foil", "shield", "shielding", "sinker", "sinkers", "vest",
                 "vests") &&
         near.Before() != "to";
}

// Returns true where "axes" are those of a graph or of rotation rather than tools.
bool AreLines(const WordsAround& near) {
  if (near.Before().size() == 1 || IsOneOf(near.After(), "of", "intersect", "cross")) return true;
  return !near.Near({"battle", "blade", "blacksmith", "chop", "firem", "handle", "hatchet",
                     "knives", "lumber", "pick", "saw", "sharp", "shield", "spear", "sword",
                     "throw", "tree", "wood"});
}

// Returns true where "tear" pulls something apart.
bool RipsApart(const WordsAround& near) {
  const std::string before = near.Before();
  const std::string after = near.After();
  if (before == "and" && near.Before(2) == "wear") return true;
  if (IsOneOf(after, "apart", "away", "down", "her", "him", "it", "off", "open", "out", "them",
              "through", "up", "us", "along", "this", "that"))
    return before.empty() || !PrecedesNoun(before);
  const bool body = near.Near(
      {"muscle", "ligament", "meniscus", "cartilage", "tendon", "cuff", "fabric", "jeans", "knee"});
  return (body && !near.Near({"eye", "cheek"})) ||
         IsOneOf(before, "to", "can", "could", "don't", "not", "will", "would");
}

// Returns true where "wind" or "winds" turns.
bool Turns(std::string_view word, const WordsAround& near) {
  const std::string before = near.Before();
  const std::string after = near.After();
  const bool along = IsOneOf(after, "around", "back", "down", "its", "round", "through", "up");
  if (along && IsSubject(before)) return true;
  if (word == "wind") return before.empty() && (along || IsOneOf(after, "it", "the", "your"));
  return along && near.After(2) != "to" && near.Before(2) == "the" &&
         !IsOneOf(before, "cold", "gusty", "heavy", "high", "light", "strong", "trade", "westerly");
}

// Returns true where "Reading" and "Nice" are cities: "in Reading", "Nice, France".
bool IsPlace(const SpokenWord& word, const WordsAround& near) {
  return IsAsciiUpper(word.text[0]) && !near.Before().empty() &&
         IsOneOf(near.Before(), "in", "near", "to") && near.Before(2) != "chapter";
}

// Returns true where "Job" is the man of the Bible: "the patience of Job", "Job's comforter".
bool IsNameOfJob(const SpokenWord& word, const WordsAround& near) {
  if (!IsAsciiUpper(word.text[0]) || word.text == "JOB") return false;
  const bool sufferer = near.Near({"bible", "comforter", "genesis", "god", "patience", "prophet",
                                   "psalm", "satan", "suffer", "trials"});
  const std::string before = near.Before();
  if (IsOneOf(near.After(), "creation", "interviews", "market", "satisfaction", "search",
              "seekers"))
    return false;
  return (before == "of" && !near.Before(2).empty()) || (sufferer && !PrecedesNoun(before));
}

// Words whose sound FindMeaning tells. Sorted by bytes.
constexpr auto kMeanings = std::to_array<std::string_view>(
    {"abuse",   "act",      "aged",     "analyses", "august",    "axes",      "bases",
     "bass",    "basses",   "blessed",  "bologna",  "bow",       "bowed",     "close",
     "content", "contents", "contract", "deserts",  "does",      "dove",      "frequent",
     "houses",  "job",      "job's",    "lead",     "lead-acid", "lead-free", "lead-lined",
     "learned", "live",     "lives",    "minute",   "minutes",   "mobile",    "moped",
     "nice",    "number",   "polish",   "present",  "putting",   "read",      "reading",
     "refuse",  "refuses",  "resent",   "resume",   "resumes",   "row",       "sake",
     "sewer",   "sewers",   "slough",   "sow",      "tear",      "use",       "used",
     "wind",    "winds",    "wound"});
static_assert(std::ranges::is_sorted(kMeanings));

}  // namespace

std::optional<WordSound> FindMeaning(const SpokenWord& written, std::string_view word,
                                     const WordsAround& near) {
  if (!std::ranges::binary_search(kMeanings, word)) return std::nullopt;
  const std::string before = near.Before();
  const std::string after = near.After();
  if (word == "lead" && IsMetal(near)) return WordSound{"lˈɛd", "l'Ed"};
  if (word == "axes" && !AreLines(near)) return WordSound{"ˈæksᵻz", "'aksI2z"};
  if (word == "axes") return WordSound{"ˈæksˌiz", "'aksi:z"};
  if (word == "bases") {
    const bool grounds = after == "of" || (after == "for" && PrecedesNoun(near.After(2)));
    return grounds ? WordSound{"bˈAsˌiz", "b'eIsi:z"} : WordSound{"bˈAsᵻz", "b'eIsI2z"};
  }
  if (word == "analyses" && !IsSubject(before) && before != "which" && before != "that")
    return WordSound{"ənˈæləsˌiz", "a#n'al@si:z"};
  if (word == "houses") return WordSound{"hˈWzᵻz", "h'aUzI2z"};
  if (word == "number" &&
      (IsOneOf(before, "feel", "feels", "felt", "get", "gets", "getting", "got", "grew")) &&
      (after.empty() || after == "than"))
    return WordSound{"nˈʌməɹ", "n'Vm3"};
  // "My hands are number".
  if (word == "number" && IsOneOf(before, "are", "is", "were") &&
      (after.empty() || after == "than") &&
      near.Near({"arm", "finger", "feet", "foot", "hand", "leg", "lip", "toe"}))
    return WordSound{"nˈʌməɹ", "n'Vm3"};
  // "Made it number".
  if (word == "number" && after.empty() && IsOneOf(near.Before(2), "made", "make", "makes") &&
      IsOneOf(before, "her", "him", "it", "me", "them", "us"))
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
  if (word == "mobile" && (after == "alabama" || (IsPlace(written, near) && after.empty())))
    return WordSound{"mObˈil", "moUb'i:l"};
  if ((word == "job" || word == "job's") && IsNameOfJob(written, near))
    return word == "job" ? WordSound{"ʤˈOb", "dZ'oUb"} : WordSound{"ʤˈObz", "dZ'oUbz"};
  // The examination is spelled, the emphasised verb is not.
  if (written.text == "ACT") {
    const bool exam = before == "sat" || near.Near({"college", "exam", "prep", "scor", "student",
                                                    "takes", "taking", "test", "took"});
    return exam ? WordSound{"ˌAsˌitˈi", ",eIs,i:t'i:"} : WordSound{"ˈækt", "'akt"};
  }
  if (word == "bologna")
    return IsAsciiUpper(written.text[0]) && after != "sandwich" ? WordSound{"bəlˈOnjə", "b@l'oUnj@"}
                                                                : WordSound{"bəlˈOni", "b@l'oUni"};
  // The town; what a snake does with its skin.
  if (word == "slough" && IsAsciiUpper(written.text[0]) && after != "off")
    return WordSound{"slˈW", "sl'aU"};
  if (word == "slough" && (after == "off" || before == "to" || IsSubject(before)))
    return WordSound{"slˈʌf", "sl'Vf"};
  if (word.starts_with("sewer") &&
      near.Near({"cloth", "dress", "fabric", "garment", "needle", "quilt", "seamstress", "sew",
                 "stitch", "thread"}) &&
      !IsOneOf(after, "cover", "grate", "line", "lines", "main", "system", "systems") &&
      !near.Near({"drain", "pipe", "sewage", "water"}))
    return word == "sewer" ? WordSound{"sˈOəɹ", "s'oU3"} : WordSound{"sˈOəɹz", "s'oU3z"};
  if (word == "learned" && !after.empty() && !PrecedesNoun(after) &&
      (PrecedesNoun(before) || before == "most") && !IsOneOf(after, "that", "to", "from", "how"))
    return WordSound{"lˈɜɹnɪd", "l'3:nI2d"};
  if ((word == "wind" || word == "winds") && Turns(word, near))
    return word == "wind" ? WordSound{"wˈInd", "w'aInd"} : WordSound{"wˈIndz", "w'aIndz"};
  // "Strong winds up to 50 mph".
  if (word == "winds" && after == "up") return WordSound{"wˈɪndz", "w'Indz"};
  if (word == "wind" && after == "up" && PrecedesNoun(before)) return WordSound{"wˈɪnd", "w'Ind"};
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
  if (word == "frequent" && (IsSubject(before) || before == "to") && PrecedesNoun(after))
    return WordSound{"fɹikwˈɛnt", "fri:kw'Ent"};
  if (word == "lead-free") return WordSound{"lˈɛdfɹˌi", "l'Edfr,i:"};
  if (word == "lead-acid") return WordSound{"lˈɛdˌæsəd", "l'Ed,asId"};
  if (word == "lead-lined") return WordSound{"lˈɛdlˌInd", "l'Edl,aInd"};
  if (word == "bass" || word == "basses") {
    const bool fish = near.Near({"fish", "lake", "river", "caught", "catch", "pond", "lure", "bait",
                                 "angl", "sea", "striped", "largemouth", "smallmouth", "fillet",
                                 "grilled", "eat", "swam", "swim"});
    if (word == "basses") return std::nullopt;
    const bool low = IsOneOf(after, "clarinet", "clef", "drum", "guitar", "guitarist", "line",
                             "note", "part", "player", "singer", "solo", "voice");
    return fish && !low ? WordSound{"bˈæs", "b'as"} : WordSound{"bˈAs", "b'eIs"};
  }
  if (word == "lives") {
    const bool noun =
        before.empty() || PrecedesNoun(before) || before.ends_with("'s") ||
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
                       IsOneOf(near.After(2), "head", "heads") ||
                       IsOneOf(before, "to", "will", "must", "they", "we", "i", "you") ||
                       IsOneOf(after, "down", "before", "out") ||
                       near.Near({"ship", "stern", "curtain", "applau"}) ||
                       (after == "of" && near.Near({"boat", "canoe", "ferry", "vessel", "yacht"}));
    return bends ? WordSound{"bˈW", "b'aU"} : WordSound{"bˈO", "b'oU"};
  }
  if (word == "bowed") return WordSound{"bˈWd", "b'aUd"};
  // A tear in a cloth is no tear of an eye.
  if (word == "tear" && (before == "a" || before == "the") &&
      IsOneOf(after, "in", "through", "across") &&
      !IsOneOf(near.After(2), "cheeks", "eye", "eyes") &&
      !IsOneOf(near.After(3), "cheek", "cheeks", "eye", "eyes") && !near.Near({"cry", "wept"}))
    return WordSound{"tˈɛɹ", "t'e@r"};
  if (word == "sow") {
    const bool pig = PrecedesNoun(before) ||
                     IsOneOf(before, "big", "fat", "old", "pregnant", "wild", "young") ||
                     near.Near({"pig", "boar", "farrow"});
    return pig ? WordSound{"sˈW", "s'aU"} : WordSound{"sˈO", "s'oU"};
  }
  if (word == "dove") {
    const bool dives = before == "dove" || IsSubject(before) ||
                       (!PrecedesNoun(before) && before != "white" && before != "turtle" &&
                        IsOneOf(after, "in", "into", "off", "down", "under", "deep", "straight",
                                "headfirst", "right", "from", "for", "through", "back"));
    return dives ? WordSound{"dˈOv", "d'oUv"} : WordSound{"dˈʌv", "d'Vv"};
  }
  if (word == "wound" && IsOneOf(after, "clock", "coil", "spring", "tight", "tightly", "wire"))
    return WordSound{"wˈWnd", "w'aUnd"};
  if (word == "wound") {
    const bool coils = !PrecedesNoun(before) && before != "to" &&
                       (IsSubject(before) || IsOneOf(after, "up", "down", "around", "through")) &&
                       !IsOneOf(near.Before(2), "did", "can", "will", "could", "would");
    if (coils) return WordSound{"wˈWnd", "w'aUnd"};
    return std::nullopt;
  }
  if (word == "minute") {
    // "Found minute clues", but "every minute counts" and "30 minute walks".
    const bool things =
        after.size() > 4 && after.ends_with('s') && !after.ends_with("ss") && !EndsNumber(before) &&
        !PrecedesNoun(before) && !IsOneOf(after, "always", "counts", "hours", "later", "passes") &&
        !IsOneOf(before, "", "last", "per", "half", "first", "final", "by", "point");
    if (before == "last") return WordSound{"mˈɪnət", "m'InIt"};
    const bool tiny =
        things || IsOneOf(before, "very", "so", "too", "extremely", "most", "are", "is") ||
        IsOneOf(after, "amount", "amounts", "change", "changes", "crack", "cracks", "creature",
                "creatures", "detail", "details", "difference", "differences", "dose", "doses",
                "examination", "fraction", "fragments", "hole", "holes", "particle", "particles",
                "piece", "pieces", "quantities", "quantity", "scale", "size", "traces",
                "variations", "adjustments", "attention", "bubbles", "crystals", "droplets", "dust",
                "fish", "flaw", "flaws", "grain", "grains", "insect", "insects", "inspection",
                "organism", "organisms", "proportion", "speck", "trace");
    return tiny ? WordSound{"mInˈut", "maIn'u:t"} : WordSound{"mˈɪnət", "m'InIt"};
  }
  // "Polish the shoes" begins with a capital.
  if (word == "polish" && before.empty() && PrecedesNoun(after))
    return WordSound{"pˈɑlɪʃ", "p'0lIS"};
  if (word == "deserts" && before == "just") return WordSound{"dəzˈɜɹts", "dI#z'3:ts"};
  // Tiny things are not counted: "six minutes forty".
  if (word == "minutes") return WordSound{"mˈɪnəts", ""};
  // "From 2019 to present".
  if (word == "present" && before == "to" && EndsNumber(near.Before(2)))
    return WordSound{"pɹˈɛzᵊnt", "pr'Ez@nt"};
  // An adjective, or the month in small letters.
  if (word == "august") {
    const bool noble = PrecedesNoun(before) && !after.empty() && !IsOneOf(after, "of", "the");
    return noble ? WordSound{"ɔɡˈʌst", "O:g'Vst"} : WordSound{"ˈɔɡəst", "'O:g@st"};
  }
  // A quarrel; people sit in the other row.
  if (word == "row") {
    const bool quarrel =
        IsOneOf(before, "almighty", "angry", "bitter", "blazing", "diplomatic", "flaming",
                "furious", "heated", "huge", "political", "terrible") ||
        (PrecedesNoun(before) &&
         ((near.Before(2) == "what" && after.empty()) ||
          (IsOneOf(near.Before(2), "had", "have", "having") &&
           (after.empty() || IsOneOf(after, "again", "last", "with", "yesterday"))) ||
          IsOneOf(after, "broke", "erupted") ||
          (IsOneOf(after, "about", "over") && near.After(2) != "there") ||
          (IsOneOf(after, "among", "between") &&
           IsOneOf(near.Before(2), "was", "is", "had", "a"))));
    if (quarrel) return WordSound{"ɹˈW", "r'aU"};
    return std::nullopt;
  }
  // A vehicle, but "he moped around".
  if (word == "moped" && (IsOneOf(after, "about", "along", "around") || IsSubject(before)))
    return WordSound{"mˈOpt", "m'oUpt"};
  // Female deer.
  if (word == "does") {
    const bool counted = IsOneOf(before, "two", "three", "four", "five", "six", "several") &&
                         !PrecedesNoun(after) && !IsOneOf(after, "not", "it");
    if (counted || before == "the") return WordSound{"dˈOz", "d'oUz"};
    return std::nullopt;
  }
  if (word == "content" &&
      (IsOneOf(after, "creation", "creator", "creators", "delivery", "filter", "management",
               "marketing", "moderation", "moderator", "moderators", "policy", "provider",
               "providers", "strategy", "type", "types", "warning", "writer", "writers") ||
       (before.empty() && (after == "is" || after == "of"))))
    return WordSound{"kˈɑntˌɛnt", "k'0ntEnt"};
  if (word == "content" &&
      IsOneOf(near.Before(2), "keep", "keeps", "kept", "made", "make", "makes") &&
      IsOneOf(before, "her", "him", "me", "them", "us", "you"))
    return WordSound{"kəntˈɛnt", "k@nt'Ent"};
  // Muscles shorten.
  if (word == "contract" && before.ends_with('s') && !PrecedesNoun(before) &&
      !before.ends_with("'s") &&
      near.Near({"muscle", "heart", "lung", "pupil", "metal", "cool", "expand"}))
    return WordSound{"kəntɹˈækt", "k@ntr'akt"};
  // A document of one's career; the verb has an object or a subject.
  if (word == "resume" || word == "resumes") {
    const bool noun =
        (PrecedesNoun(before) && before != "that" && !PrecedesNoun(after)) ||
        IsOneOf(before, "all", "attached", "few", "five", "four", "hundred", "impressive", "many",
                "more", "of", "send", "sent", "several", "strong", "submit", "submitted", "ten",
                "these", "those", "three", "two", "updated") ||
        IsOneOf(after, "builder", "template", "writing");
    if (!noun) return std::nullopt;
    return word == "resume" ? WordSound{"ɹˈɛzəmˌA", "r'Ez@m,eI"}
                            : WordSound{"ɹˈɛzəmˌAz", "r'Ez@m,eIz"};
  }
  // Adjectives that end in a syllable of their own.
  if (word == "blessed" && (((PrecedesNoun(before) || before == "most") && !after.empty()) ||
                            (before.empty() && IsOneOf(after, "are", "be", "is"))))
    return WordSound{"blˈɛsᵻd", "bl'EsI2d"};
  if (word == "aged" && IsOneOf(after, "aunt", "couple", "father", "grandfather", "grandmother",
                                "lady", "man", "men", "mother", "parent", "parents", "people",
                                "relative", "relatives", "uncle", "woman", "women"))
    return WordSound{"ˈAʤᵻd", "'eIdZI2d"};
  if (word == "resent") return WordSound{"ɹəzˈɛnt", "rIz'Ent"};
  if (word == "contents" && !IsSubject(before)) return WordSound{"kˈɑntˌɛnts", "k'0ntEnts"};
  if (word == "refuse" && (PrecedesNoun(before) || before == "refuses" ||
                           IsOneOf(before, "burn", "collect", "domestic", "dump", "household",
                                   "more", "of", "some", "street", "touch") ||
                           IsOneOf(after, "bag", "bags", "bin", "bins", "collection", "collector",
                                   "collectors", "disposal", "dump", "sacks", "truck", "trucks"))) {
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
    // "The window close to me".
    const bool beside = after == "to" && !before.empty() &&
                        !IsOneOf(before, "can", "could", "don't", "not", "will", "would");
    if ((near_by || beside) && !IsSubject(before) && before != "to")
      return WordSound{"klˈOs", "kl'oUs"};
  }
  if (word == "read" && IsSubject(before) &&
      IsOneOf(near.Before(2), "have", "has", "had", "haven't", "hasn't", "hadn't")) {
    return WordSound{"ɹˈɛd", "r'Ed"};
  }
  if (word == "used" && after == "to" &&
      !IsOneOf(before, "is", "are", "was", "were", "be", "been", "being")) {
    return WordSound{"jˈust", "j'u:st"};
  }
  // "Abuse is wrong", "drug abuse".
  const bool wrong =
      word == "abuse" &&
      ((before.empty() && IsOneOf(after, "can", "has", "is", "may", "was", "will")) ||
       IsOneOf(before, "alcohol", "animal", "child", "domestic", "drug", "is", "physical", "sexual",
               "substance", "verbal"));
  if (wrong) return WordSound{"əbjˈus", "abj'u:s"};
  if ((word == "use" || word == "abuse") && before.empty() && after == "of")
    return word == "use" ? WordSound{"jˈus", "j'u:s"} : WordSound{"əbjˈus", "abj'u:s"};
  return std::nullopt;
}

}  // namespace millrace::models
