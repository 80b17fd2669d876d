#include "models/text/multilingual/misaki_symbols.h"

#include <algorithm>
#include <array>

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

}  // namespace millrace::models
