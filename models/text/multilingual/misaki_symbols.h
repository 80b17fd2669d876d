#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// The value of EspeakProcess::Options::tie for MisakiFromTiedIpa.
inline constexpr std::string_view kIpaTie = "^";

// Converts espeak-ng's IPA of any language but English to misaki's symbols: a diphthong or an
// affricate becomes one letter, ties and hyphens are left out, and everything else stays. Linear
// time.
std::string MisakiFromTiedIpa(std::string_view ipa);
// Does the same for IPA as authors write it: ties (U+0361) are optional, and g is IPA's ɡ.
std::string MisakiFromIpa(std::string_view ipa);

}  // namespace millrace::models
