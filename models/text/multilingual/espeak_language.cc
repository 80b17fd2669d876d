#include "models/text/multilingual/espeak_language.h"

#include <algorithm>

namespace millrace::models {

const EspeakLanguage* FindEspeakLanguage(std::string_view tag) {
  const auto found = std::ranges::find(kEspeakLanguages, tag, &EspeakLanguage::tag);
  return found == kEspeakLanguages.end() ? nullptr : &*found;
}

}  // namespace millrace::models
