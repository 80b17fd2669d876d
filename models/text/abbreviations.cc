#include "models/text/abbreviations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace millrace::models {
namespace {

// Sorted by bytes, in lower case (ASCII; other letters as they are written).
constexpr std::array<std::string_view, 87> kAlwaysList = {
    "a.k.a", "adm",    "adv",  "assoc", "asst",  "attn", "atty", "avv",      "br",      "brig",
    "capt",  "cel",    "cf",   "cmdr",  "comdt", "cpl",  "d.ª",  "det",      "dott",    "dott.ssa",
    "dr",    "dra",    "dras", "drs",   "dª",    "ee",   "eng",  "engª",     "engº",    "exma",
    "exmo",  "gen",    "gov",  "gral",  "hon",   "ilmo", "ing",  "insp",     "lic",     "lt",
    "maj",   "messrs", "mgr",  "mlle",  "mlles", "mme",  "mmes", "mons",     "mr",      "mrs",
    "ms",    "mx",     "ofc",  "pe",    "pfc",   "pres", "prof", "prof.ssa", "profa",   "profs",
    "pvt",   "rep",    "rev",  "rt",    "sen",   "sgt",  "sig",  "sig.na",   "sig.ra",  "sigg",
    "sr",    "sra",    "sras", "srs",   "srta",  "sta",  "sto",  "supt",     "ten.cel", "v",
    "v.exa", "vs",     "vv",   "डॉ",    "पं",     "प्रो",  "श्री"};
static_assert(std::ranges::is_sorted(kAlwaysList));

constexpr std::array<std::string_view, 74> kUnlessStarterList = {
    "al",   "alm",  "apdo",  "aprox", "ariz",  "atte", "av",  "avda", "ave",  "avg",  "bd",
    "boul", "bros", "ca",    "calif", "cia",   "civ",  "co",  "col",  "conn", "corp", "crim",
    "cía",  "dept", "depto", "dpto",  "ecc",   "ed",   "eds", "encl", "env",  "esp",  "est",
    "etc",  "exa",  "excl",  "exec",  "feat",  "fed",  "fla", "fr",   "hab",  "hr",   "inc",
    "incl", "intl", "jr",    "lda",   "ltd",   "ltda", "med", "min",  "mm",   "mt",   "natl",
    "obs",  "okla", "op",    "ph",    "rodov", "st",   "ste", "supp", "tel",  "tex",  "trad",
    "ud",   "uds",  "univ",  "uu",    "vd",    "vda",  "vds", "wyo"};
static_assert(std::ranges::is_sorted(kUnlessStarterList));

constexpr std::array<std::string_view, 140> kBeforeNumberList = {
    "abr",  "acct", "agg",  "amend", "amt",  "app",   "approx", "apr",  "apt",   "art",   "arts",
    "aug",  "b",    "bk",   "bldg",  "c",    "cap",   "cat",    "ch",   "chap",  "chron", "cir",
    "cl",   "cor",  "ct",   "d",     "dec",  "deut",  "dez",    "eccl", "elev",  "eph",   "eq",
    "est",  "evid", "ex",   "exod",  "ext",  "ezek",  "feb",    "fev",  "fig",   "figs",  "fl",
    "fn",   "fri",  "ft",   "gal",   "gr",   "heb",   "hob",    "hrs",  "ht",    "hwy",   "isa",
    "iss",  "jan",  "jas",  "jer",   "josh", "judg",  "jul",    "jun",  "kgs",   "kr",    "l",
    "lat",  "lb",   "lbs",  "lev",   "lk",   "ll",    "lv",     "mar",  "matt",  "max",   "min",
    "mk",   "mon",  "n",    "neh",   "no",   "nos",   "nov",    "nr",   "num",   "núm",   "oct",
    "out",  "oz",   "p",    "pag",   "pagg", "par",   "para",   "pet",  "pg",    "pgs",   "phil",
    "pop",  "pp",   "prop", "prov",  "ps",   "pt",    "pág",    "págs", "qty",   "r",     "ref",
    "rm",   "rom",  "rs",   "rte",   "sat",  "sc",    "sec",    "sep",  "sept",  "set",   "stat",
    "ste",  "sun",  "tab",  "tbl",   "temp", "thess", "thu",    "thur", "thurs", "tim",   "tue",
    "tues", "ver",  "vol",  "vols",  "wed",  "wk",    "wt",     "zech"};
static_assert(std::ranges::is_sorted(kBeforeNumberList));

constexpr std::array<std::string_view, 145> kStarters = {
    "A",       "After", "Also",    "Although", "An",     "And",       "Are",      "As",
    "At",      "Be",    "Because", "Both",     "Bring",  "But",       "Call",     "Can",
    "Com",     "Come",  "Como",    "Dans",     "Depois", "Did",       "Do",       "Does",
    "E",       "Each",  "El",      "Ela",      "Elas",   "Ele",       "Eles",     "Ella",
    "Ellas",   "Elle",  "Elles",   "Ellos",    "Em",     "Era",       "Es",       "Essa",
    "Esse",    "Esta",  "Este",    "Et",       "Eu",     "Every",     "Everyone", "For",
    "Get",     "Gli",   "Have",    "He",       "Here",   "How",       "However",  "I",
    "If",      "Il",    "Ils",     "In",       "Io",     "Is",        "Isso",     "It",
    "Its",     "Je",    "Join",    "Las",      "Les",    "Let",       "Loro",     "Los",
    "Lui",     "Mais",  "Make",    "Many",     "Mas",    "Meanwhile", "Meet",     "Mi",
    "Most",    "My",    "Na",      "Nel",      "Never",  "No",        "Non",      "Not",
    "Nous",    "Now",   "Não",     "Nós",      "O",      "On",        "Os",       "Our",
    "Para",    "Pero",  "Please",  "Por",      "Quand",  "Quando",    "Questa",   "Questo",
    "Se",      "She",   "Si",      "Since",    "So",     "Some",      "Sorry",    "Take",
    "Thanks",  "That",  "The",     "Then",     "There",  "These",     "They",     "This",
    "Though",  "Thus",  "Today",   "Tomorrow", "Um",     "Uma",       "Un",       "Una",
    "Une",     "Until", "Vous",    "Was",      "We",     "What",      "When",     "Where",
    "Whether", "Which", "While",   "Why",      "With",   "Yes",       "You",      "Your",
    "È"};
static_assert(std::ranges::is_sorted(kStarters));

constexpr size_t kLongestWord = 16;

bool Contains(std::span<const std::string_view> sorted, std::string_view word) {
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

}  // namespace

Abbreviation FindAbbreviation(std::string_view word) {
  if (word.empty() || word.size() > kLongestWord) return Abbreviation::kNone;
  std::array<char, kLongestWord> buffer;
  const auto end = std::transform(word.begin(), word.end(), buffer.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view lower(buffer.data(), static_cast<size_t>(end - buffer.begin()));
  if (Contains(kAlwaysList, lower)) return Abbreviation::kAlways;
  if (Contains(kUnlessStarterList, lower)) return Abbreviation::kUnlessStarter;
  if (Contains(kBeforeNumberList, lower)) return Abbreviation::kBeforeNumber;
  return Abbreviation::kNone;
}

bool IsSentenceStarter(std::string_view word) { return Contains(kStarters, word); }

}  // namespace millrace::models
