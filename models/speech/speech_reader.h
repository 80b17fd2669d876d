#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/speech/phoneme_ids.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// Reads for a voice: turns text into phonemes, and phonemes into the input of its network.
// Immutable, thread-safe.
class SpeechReader {
 public:
  virtual ~SpeechReader() = default;

  // Reads a sentence. language: BCP 47; empty: the voice's own. The result has words only if
  // with_words is set, and empty phonemes if there is nothing to speak.
  virtual absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                         std::string_view language,
                                                         bool with_words) const = 0;
  // Returns an error if it is known at little cost that a text of many sentences has something that
  // ToPhonemes cannot read, so that a request is refused before half of it was heard.
  virtual absl::Status CheckText(std::string_view /*text*/, std::string_view /*language*/) const {
    return absl::OkStatus();
  }
  // Returns a pronunciation in IPA in the voice's symbols. What it has no symbol for stays.
  virtual std::string FromIpa(std::string_view ipa) const = 0;
  // The result includes the marks of the ends. Symbols that the voice does not know are left out.
  virtual PhonemeIds ToIds(std::string_view phonemes) const = 0;
  // Returns the symbols that the voice knows, separated by spaces.
  virtual std::string Symbols() const = 0;
  // Returns the most symbols that the network takes at once.
  virtual size_t max_symbols() const = 0;
};

}  // namespace millrace::speech
