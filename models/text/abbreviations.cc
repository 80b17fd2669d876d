#include "models/text/abbreviations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace millrace::models {
namespace {

// Sorted by bytes, in lower case (ASCII; other letters as they are written).
constexpr std::array<std::string_view, 51> kAlways = {
    "adm",  "adv",    "brig",  "capt", "cel",     "cf",    "cmdr", "comdt", "dr",  "dra",  "dras",
    "drs",  "eng",    "engª",  "engº", "exma",    "exmo",  "gen",  "gov",   "hon", "ilmo", "lt",
    "maj",  "messrs", "mlle",  "mme",  "mons",    "mr",    "mrs",  "ms",    "mx",  "pe",   "pres",
    "prof", "profa",  "profs", "rep",  "rev",     "sen",   "sgt",  "sr",    "sra", "sras", "srs",
    "srta", "sta",    "sto",   "supt", "ten.cel", "v.exa", "vs"};
static_assert(std::ranges::is_sorted(kAlways));

constexpr std::array<std::string_view, 35> kUnlessStarter = {
    "al",  "alm", "av",  "bros", "ca",    "cia", "co",  "col", "corp", "dept", "ed",  "eds",
    "esp", "est", "etc", "exa",  "hr",    "inc", "jr",  "lda", "ltd",  "ltda", "med", "min",
    "mt",  "obs", "op",  "ph",   "rodov", "st",  "ste", "tel", "trad", "univ", "vda"};
static_assert(std::ranges::is_sorted(kUnlessStarter));

constexpr std::array<std::string_view, 39> kBeforeNumber = {
    "abr", "apr",  "apt", "art", "arts", "aug", "cap", "ch",  "dec", "dez",  "eq",  "feb", "fev",
    "fig", "figs", "fl",  "jan", "jul",  "jun", "mar", "n",   "no",  "nos",  "nov", "nr",  "num",
    "oct", "out",  "p",   "pag", "par",  "pp",  "pág", "sec", "sep", "sept", "set", "vol", "vols"};
static_assert(std::ranges::is_sorted(kBeforeNumber));

constexpr std::array<std::string_view, 58> kStarters = {
    "A",     "After", "An",     "And", "As",      "At",  "But",  "Com",  "Como", "Depois",
    "E",     "Ela",   "Elas",   "Ele", "Eles",    "Em",  "Essa", "Esse", "Esta", "Este",
    "Eu",    "For",   "He",     "How", "However", "I",   "If",   "In",   "Isso", "It",
    "Its",   "Mas",   "My",     "Na",  "No",      "Não", "Nós",  "O",    "On",   "Os",
    "Our",   "Para",  "Quando", "Se",  "She",     "So",  "That", "The",  "Then", "There",
    "These", "They",  "This",   "Um",  "Uma",     "We",  "When", "You"};
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
  if (Contains(kAlways, lower)) return Abbreviation::kAlways;
  if (Contains(kUnlessStarter, lower)) return Abbreviation::kUnlessStarter;
  if (Contains(kBeforeNumber, lower)) return Abbreviation::kBeforeNumber;
  return Abbreviation::kNone;
}

bool IsSentenceStarter(std::string_view word) { return Contains(kStarters, word); }

}  // namespace millrace::models
