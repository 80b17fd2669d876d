#include "models/text/english/spoken_abbreviations.h"

#include <algorithm>
#include <array>

namespace millrace::models {
namespace {

using When = SpokenAbbreviation::When;

struct AbbreviationEntry {
  std::string_view word;
  std::string_view spoken;
  When when;
};

// Sorted by bytes; two entries of one word are its two meanings.
constexpr std::array<AbbreviationEntry, 119> kEntries = {{
    {"acct", "account", When::kStop},
    {"amt", "amount", When::kStop},
    {"approx", "approximately", When::kStop},
    {"apr", "april", When::kStopAndCapital},
    {"apt", "apartment", When::kStopAndDigit},
    {"art", "article", When::kStopAndDigit},
    {"assn", "association", When::kStop},
    {"asst", "assistant", When::kStop},
    {"attn", "attention", When::kStop},
    {"aug", "august", When::kStop},
    {"ave", "avenue", When::kStopAfterName},
    {"b", "born", When::kStopAndDigit},
    {"bldg", "building", When::kStop},
    {"blvd", "boulevard", When::kAlways},
    {"bros", "brothers", When::kStop},
    {"c", "circa", When::kStopAndDigit},
    {"ca", "circa", When::kStopAndDigit},
    {"capt", "captain", When::kStop},
    {"cf", "compare", When::kStop},
    {"ch", "chapter", When::kStopAndDigit},
    {"co", "company", When::kStop},
    {"col", "colonel", When::kStop},
    {"corp", "corporation", When::kStop},
    {"ct", "court", When::kStopAfterName},
    {"d", "died", When::kStopAndDigit},
    {"dec", "december", When::kStop},
    {"dept", "department", When::kStop},
    {"dr", "doctor", When::kStopAndName},
    {"dr", "drive", When::kStopAfterName},
    {"e.g", "for example", When::kStop},
    {"ed", "edition", When::kStopAfterOrdinal},
    {"eg", "for example", When::kStop},
    {"eq", "equation", When::kStopAndDigit},
    {"esp", "especially", When::kStop},
    {"est", "established", When::kStopAndDigit},
    {"est", "estimated", When::kStop},
    {"etc", "etc.", When::kAlways},
    {"ext", "extension", When::kStopAndDigit},
    {"feb", "february", When::kStop},
    {"fig", "figure", When::kStopAndDigit},
    {"figs", "figures", When::kStopAndDigit},
    {"fl", "flourished", When::kStopAndDigit},
    {"fri", "friday", When::kStop},
    {"ft", "fort", When::kStopAndName},
    {"ft", "feet", When::kStop},
    {"gen", "general", When::kStop},
    {"gov", "governor", When::kStop},
    {"govt", "government", When::kStop},
    {"hon", "honorable", When::kStop},
    {"hr", "hour", When::kStop},
    {"hrs", "hours", When::kStop},
    {"hwy", "highway", When::kStopAfterName},
    {"i.e", "that is", When::kStop},
    {"ie", "that is", When::kStop},
    {"inc", "incorporated", When::kStop},
    {"incl", "including", When::kStop},
    {"intl", "international", When::kStop},
    {"jan", "january", When::kStop},
    {"jr", "junior", When::kAlways},
    {"jul", "july", When::kStopAndCapital},
    {"jun", "june", When::kStopAndCapital},
    {"ln", "lane", When::kStopAfterName},
    {"lt", "lieutenant", When::kStop},
    {"ltd", "limited", When::kAlways},
    {"mar", "march", When::kStopAndCapital},
    {"max", "maximum", When::kStopAndMore},
    {"messrs", "messieurs", When::kStop},
    {"mgmt", "management", When::kStop},
    {"min", "minimum", When::kStopAndMore},
    {"misc", "miscellaneous", When::kStop},
    {"mon", "monday", When::kStop},
    {"mr", "mister", When::kAlways},
    {"mrs", "Mrs", When::kAlways},
    {"ms", "Ms.", When::kStop},
    {"mt", "mount", When::kStopAndName},
    {"natl", "national", When::kStop},
    {"no", "number", When::kStopAndDigit},
    {"nos", "numbers", When::kStopAndDigit},
    {"nov", "november", When::kStop},
    {"oct", "october", When::kStop},
    {"oz", "ounces", When::kStop},
    {"p", "page", When::kStopAndDigit},
    {"para", "paragraph", When::kStopAndDigit},
    {"ph.d", "P.H.D.", When::kStop},
    {"pkwy", "parkway", When::kStopAfterName},
    {"pl", "place", When::kStopAfterName},
    {"pp", "pages", When::kStopAndDigit},
    {"pres", "president", When::kStop},
    {"prof", "professor", When::kStop},
    {"pvt", "private", When::kStop},
    {"qty", "quantity", When::kStop},
    {"rd", "road", When::kStopAfterName},
    {"ref", "reference", When::kStopAndDigit},
    {"rep", "representative", When::kStop},
    {"rev", "reverend", When::kStop},
    {"rm", "room", When::kStopAndDigit},
    {"rte", "route", When::kStopAndDigit},
    {"sat", "saturday", When::kStopAndCapital},
    {"sec", "section", When::kStopAndDigit},
    {"sen", "senator", When::kStop},
    {"sep", "september", When::kStopAndCapital},
    {"sept", "september", When::kStop},
    {"sgt", "sergeant", When::kStop},
    {"sq", "square", When::kStop},
    {"sr", "senior", When::kStop},
    {"st", "saint", When::kStopAndName},
    {"st", "street", When::kStopAfterName},
    {"ste", "suite", When::kStopAndDigit},
    {"sun", "sunday", When::kStopAndMore},
    {"tel", "telephone", When::kStop},
    {"thu", "thursday", When::kStop},
    {"thurs", "thursday", When::kStop},
    {"tue", "tuesday", When::kStop},
    {"tues", "tuesday", When::kStop},
    {"ver", "version", When::kStopAndDigit},
    {"vol", "volume", When::kStopAndDigit},
    {"vs", "versus", When::kAlways},
    {"wed", "wednesday", When::kStopAndCapital},
    {"yrs", "years", When::kStop},
}};
static_assert(std::ranges::is_sorted(kEntries, {}, &AbbreviationEntry::word));

}  // namespace

std::optional<SpokenAbbreviation> FindSpokenAbbreviation(std::string_view word, bool second) {
  auto found = std::ranges::lower_bound(kEntries, word, {}, &AbbreviationEntry::word);
  if (second && found != kEntries.end()) ++found;
  if (found == kEntries.end() || found->word != word) return std::nullopt;
  return SpokenAbbreviation{found->spoken, found->when};
}

}  // namespace millrace::models
