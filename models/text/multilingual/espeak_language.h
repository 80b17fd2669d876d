#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace::models {

// A language of Kokoro's voices for which espeak-ng finds all phonemes.
struct EspeakLanguage {
  std::string_view tag;    // BCP 47, as requests name it
  std::string_view voice;  // espeak-ng's name
};

inline constexpr std::array<EspeakLanguage, 5> kEspeakLanguages = {{
    {"es", "es"},
    {"fr-FR", "fr-fr"},
    {"hi", "hi"},
    {"it", "it"},
    {"pt-BR", "pt-br"},
}};

// Returns the language with the tag, or null.
inline const EspeakLanguage* FindEspeakLanguage(std::string_view tag) {
  const auto found = std::ranges::find(kEspeakLanguages, tag, &EspeakLanguage::tag);
  return found == kEspeakLanguages.end() ? nullptr : &*found;
}

}  // namespace millrace::models
