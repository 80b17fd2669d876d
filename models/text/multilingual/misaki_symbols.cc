#include "models/text/multilingual/misaki_symbols.h"

#include <algorithm>
#include <array>
#include <span>

namespace millrace::models {
namespace {

struct Pair {
  std::string_view ipa;
  std::string_view symbol;
};

constexpr std::array<Pair, 12> kPairs = {{
    {"a^ɪ", "I"},
    {"a^ʊ", "W"},
    {"e^ɪ", "A"},
    {"o^ʊ", "O"},
    {"ə^ʊ", "Q"},
    {"ɔ^ɪ", "Y"},
    {"d^z", "ʣ"},
    {"d^ʒ", "ʤ"},
    {"s^s", "S"},
    {"t^s", "ʦ"},
    {"t^ʃ", "ʧ"},
    // This is the flap of Hindi, for which espeak-ng 1.51 has no IPA; the dot would be a pause.
    {"r.", "ɽ"},
}};

}  // namespace

std::string MisakiFromTiedIpa(std::string_view ipa) {
  std::string symbols;
  while (!ipa.empty()) {
    const auto pair =
        std::ranges::find_if(kPairs, [&](const Pair& p) { return ipa.starts_with(p.ipa); });
    if (pair != kPairs.end()) {
      symbols += pair->symbol;
      ipa.remove_prefix(pair->ipa.size());
      continue;
    }
    // A hyphen marks a French schwa that may be dropped.
    if (ipa.front() != kIpaTie.front() && ipa.front() != '-') symbols += ipa.front();
    ipa.remove_prefix(1);
  }
  return symbols;
}

std::string MisakiFromIpa(std::string_view ipa) {
  constexpr std::string_view kTie = "\u0361";
  constexpr size_t kLast = kPairs.size() - 1;  // the flap, which only espeak-ng writes so
  std::string plain;
  for (; !ipa.empty(); ipa.remove_prefix(1)) {
    if (ipa.starts_with(kTie)) {
      ipa.remove_prefix(kTie.size() - 1);
    } else if (ipa.front() == 'g') {
      plain += "ɡ";
    } else {
      plain += ipa.front();
    }
  }
  std::string symbols;
  for (std::string_view rest = plain; !rest.empty();) {
    size_t bytes = 1;
    std::string_view symbol = rest.substr(0, 1);
    for (const Pair& pair : std::span(kPairs).first(kLast)) {
      std::string untied(pair.ipa);
      std::erase(untied, kIpaTie.front());
      if (!rest.starts_with(untied) || untied == "ss") continue;
      bytes = untied.size();
      symbol = pair.symbol;
    }
    symbols += symbol;
    rest.remove_prefix(bytes);
  }
  return symbols;
}

}  // namespace millrace::models
