#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace::models {

// A language of Kokoro's voices that espeak-ng reads whole.
struct EspeakLanguage {
  std::string_view tag;    // BCP 47, as requests name it
  std::string_view voice;  // of espeak-ng
};

inline constexpr std::array<EspeakLanguage, 5> kEspeakLanguages = {{
    {"es", "es"},
    {"fr-FR", "fr-fr"},
    {"hi", "hi"},
    {"it", "it"},
    {"pt-BR", "pt-br"},
}};

// The one with the tag; null when there is none.
inline const EspeakLanguage* FindEspeakLanguage(std::string_view tag) {
  const auto found = std::ranges::find(kEspeakLanguages, tag, &EspeakLanguage::tag);
  return found == kEspeakLanguages.end() ? nullptr : &*found;
}

}  // namespace millrace::models
