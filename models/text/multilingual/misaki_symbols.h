#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// What EspeakProcess::Options::tie is for MisakiFromTiedIpa.
inline constexpr std::string_view kIpaTie = "^";

// espeak-ng's IPA of any language but English in misaki's symbols: a diphthong or an affricate is
// one letter, ties and hyphens are left out, all else is as it was. Linear time.
std::string MisakiFromTiedIpa(std::string_view ipa);

}  // namespace millrace::models
