#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/speech/phoneme_ids.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// How a voice reads: text to phonemes, phonemes to what its network takes. Immutable, thread-safe.
class SpeechReader {
 public:
  virtual ~SpeechReader() = default;

  // Of a sentence of the input's text; its words only if the input asks for their times. Empty
  // phonemes when there is nothing to speak.
  virtual absl::StatusOr<models::PhonemeText> ToPhonemes(
      std::string_view sentence, const models::SynthesizeInput& input) const = 0;
  // With the marks of the ends. What the voice does not know is left out.
  virtual PhonemeIds ToIds(std::string_view phonemes) const = 0;
  // The symbols that the voice knows, divided by spaces.
  virtual std::string Symbols() const = 0;
  // Symbols that the network takes at once.
  virtual size_t max_symbols() const = 0;
};

}  // namespace millrace::speech
