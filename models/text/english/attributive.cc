#include "models/text/english/attributive.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxBracketBytes = 24;
constexpr size_t kMaxNounBytes = 32;

// Words that may follow an amount which stands for itself.
constexpr std::string_view kNoNouns =
    " above across after ago ahead all and apart are around as at away back because before "
    "behind below but by down during each earlier every extra for from had has have here if in "
    "into is later left less more now of off on only or out over per please remaining she since "
    "so than that then there they through to today tomorrow tonight total under until up was "
    "were when which while will with yesterday ";

// Nouns in the singular to which an amount before them belongs, with or without an article: "100m
// sprint", "€50 million deal".
constexpr std::string_view kMeasuredNouns =
    " acquisition ad adapter airport amplifier angle antenna backpack backstroke bag bar "
    "barrel battery beaker beam bench bet bid bike bill block board boat bolt bond bonus "
    "bottle bowl box breaststroke bribe bucket budget bulb bullet butterfly buyout cable "
    "cake camera can cannon capsule car card carton cell charger check cheque chip coat "
    "coffee coin commute container contract crate cruise cube cup curtain cylinder dam dash "
    "day deal delay deposit discount disk distance dive donation dose drill drive drop "
    "engine estate exclusion facility fan fare fee fence file film filter final fine flask "
    "flight freestyle fund fuse gap gift goal grant guarantee gun gym haircut hamburger "
    "heat heater hike hole home hose house hurdle icon incision investment item jackpot jar "
    "jog journey jug kettle kit ladder lamp laptop lawsuit lease lens lift limit loan "
    "lottery lunch machine mansion margin market mattress meal medley membership membrane "
    "memory merger model module monitor mortgage motor movie mug nail needle network note "
    "novel offer outlet oven pack package packet panel particle pass payment phone photo "
    "picture piece pill pipe pistol pizza plank plate pole pool pore pot price print prize profit "
    "project pump purchase python queue race radio radius raise range reactor relay rent "
    "resistor ride rifle ring road rod rope round run sack salad salary sale sandwich scale "
    "screen screw sculpture seat settlement shark ship shirt shot signal slab slice slope "
    "snack speaker sphere sprint stake stamp statue steak stick stretch strip subscription "
    "subsidy suitcase swim switch syringe tablet tank tax television thread ticket tin tip "
    "tire tower toy track trade trail train transaction transfer transformer tray treadmill "
    "treasury trek trip truck tube tunnel turbine turn tyre upgrade valuation vial video vinyl "
    "voucher wafer wager walk wall warranty wave window wing wire yacht zone ";

// Words that end as plurals do and may follow an amount which stands for itself.
constexpr std::string_view kNoPlurals =
    " acts afterwards always backwards besides corresponds costs does downwards equals exceeds "
    "falls feels flows gets gives goes has hits holds keeps lasts leaves lets lies makes means "
    "minus needs onwards passes perhaps plus reaches remains seems separates sometimes stays "
    "suffices takes this thus towards unless upwards versus was works yields ";

std::string WordBehindSpace(std::string_view text, size_t at) {
  return ByteAt(text, at) == ' ' ? std::string(LettersAt(text, at + 1, kMaxNounBytes)) : "";
}

}  // namespace

bool NounFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ')') ++at;
  if (ByteAt(text, at) == ' ' && ByteAt(text, at + 1) == '(') {
    const size_t close = text.substr(0, at + kMaxBracketBytes).find(')', at);
    if (close == std::string_view::npos) return false;
    at = close + 1;
  }
  // "A 12V 100Ah battery".
  if (ByteAt(text, at) == ' ' && IsAsciiDigit(ByteAt(text, at + 1))) {
    const std::string_view measure = text.substr(at + 1, text.substr(at + 1).find(' '));
    return measure.size() < kMaxNounBytes && std::ranges::any_of(measure, IsAsciiLetter) &&
           NounFollows(text, at + 1 + measure.size());
  }
  const std::string word = WordBehindSpace(text, at);
  // "A 3L V6".
  if (word.size() == 1 && IsAsciiUpper(word[0]) && IsAsciiDigit(ByteAt(text, at + 2))) return true;
  if (word.size() == 2 && IsAsciiUpper(word[0]) && IsAsciiUpper(word[1])) return true;  // "TV"
  return (word.size() >= 3 && !IsListed(word, kNoNouns)) || word == "ad";
}

bool MeasuredFollows(std::string_view text, size_t at) {
  if (ByteAt(text, at) == ')') ++at;  // "1 (14 oz) can"
  std::string word = WordBehindSpace(text, at);
  for (char& c : word) c = AsciiLower(c);
  const bool plural = word.size() > 3 && word.ends_with('s') && !word.ends_with("ss");
  if (plural && word != "lens") return !IsListed(word, kNoPlurals);
  return IsListed(word, kMeasuredNouns);
}

bool PluralFollows(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  if (word.size() < 4 || !IsAsciiLower(word[0])) return false;
  if (word == "people" || word == "children") return true;
  return word.ends_with('s') && !word.ends_with("ss") &&
         !IsOneOf(word, "always", "does", "hours", "has", "is", "its", "less", "pass", "plus",
                  "this", "was");
}

bool PrecedesYear(std::string_view word) {
  return IsOneOf(word, "after", "around", "before", "by", "circa", "during", "early", "fall",
                 "from", "in", "late", "mid", "of", "since", "spring", "summer", "the", "till",
                 "to", "until", "winter", "year");
}

bool RatesBehind(std::string_view text, size_t at) {
  const std::string word = WordBehindSpace(text, at);
  return IsOneOf(word, "marks", "people", "points", "rating", "score", "stars", "students",
                 "votes");
}

}  // namespace millrace::models
