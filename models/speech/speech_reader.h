#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/speech/phoneme_ids.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// Reads for a voice: turns text into phonemes, and phonemes into the input of its network.
// Immutable, thread-safe.
class SpeechReader {
 public:
  virtual ~SpeechReader() = default;

  // Reads a sentence of the input's text. The result has words only if the input asks for their
  // times, and empty phonemes if there is nothing to speak.
  virtual absl::StatusOr<models::PhonemeText> ToPhonemes(
      std::string_view sentence, const models::SynthesizeInput& input) const = 0;
  // The result includes the marks of the ends. Symbols that the voice does not know are left out.
  virtual PhonemeIds ToIds(std::string_view phonemes) const = 0;
  // Returns the symbols that the voice knows, separated by spaces.
  virtual std::string Symbols() const = 0;
  // Returns the most symbols that the network takes at once.
  virtual size_t max_symbols() const = 0;
};

}  // namespace millrace::speech
