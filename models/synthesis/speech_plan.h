#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/synthesis/speech_reader.h"
#include "models/synthesis/speech_units.h"

namespace millrace::models {

// Checks what a request is to say, without its voice and settings. InvalidArgument naming the
// field, the value and what is allowed. Linear time.
absl::Status CheckSpeech(const SynthesizeInput& input, const ModelInfo& info,
                         const SpeechReader& reader);

// What is left to say of one request: its text, or its phonemes, unit by unit, and of the unit at
// hand what the network reads and when each part of it is heard. Touched by one worker at a time;
// the input outlives it.
class SpeechPlan {
 public:
  // How a voice wants its units.
  struct Cuts {
    size_t max_bytes = kMaxSpeechUnitBytes;
    bool first_clause_alone = false;  // the first unit of what is streamed ends with it
  };

  SpeechPlan(const SynthesizeInput& input, const Cuts& cuts);

  // Finds a unit that has something to speak. False when the request is finished instead, was to
  // stop, or has had its share of the step.
  bool Prepare(Request& request, const SpeechReader& reader);
  // Of the unit at hand.
  const std::vector<int64_t>& ids() const { return read_.ids; }
  size_t symbols() const { return read_.symbols.size(); }
  // Units that were spoken before it.
  size_t spoken() const { return spoken_; }
  // The field that the units come from, for messages.
  const char* field() const { return input_.is_phonemes ? "phonemes" : "text"; }

  // Puts the halves of the unit at hand in its place; false when it is too short for that.
  bool Halve();
  // How long each of ids() lasts.
  void SetFrames(std::span<const int64_t> frames, int64_t samples_per_frame);

  // A piece of the unit's audio. Its text and times go with the first.
  SynthesizeOutput TakePiece(std::vector<float> samples, int sample_rate, bool last);
  // Leaves the unit that was spoken; false when it was the last.
  bool Advance();

 private:
  // Forgets what was read of the unit at hand.
  void Forget();
  // Characters of the input's text before the byte, which never goes back behind the unit at hand.
  size_t CharactersBefore(size_t byte) const;

  const SynthesizeInput& input_;
  std::vector<std::string_view> units_;  // of the input's text
  size_t next_ = 0;                      // index of the unit at hand
  size_t spoken_ = 0;
  size_t left_bytes_ = 0;  // of the input's text, before the unit at hand or another before it
  size_t left_characters_ = 0;

  PhonemeText text_;  // of the unit at hand, as is all below; empty: not yet found
  PhonemeIds read_;
  bool begun_ = false;  // its first piece was taken
  std::vector<SpeechTime> words_;
  std::vector<SpeechTime> phonemes_;
};

}  // namespace millrace::models
