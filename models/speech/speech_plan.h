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
#include "models/speech/speech_reader.h"
#include "models/speech/speech_units.h"
#include "models/speech/symbol_times.h"

namespace millrace::speech {

// Checks what a request is to say, without its voice and settings. InvalidArgument naming the
// field, the value and what is allowed. Linear time.
absl::Status CheckSpeech(const models::SynthesizeInput& input, const models::ModelInfo& info,
                         const SpeechReader& reader);

// The work of a request, in bytes to say at the usual speed. Constant time.
double EstimateWork(const models::SynthesizeInput& input);

// What is left to say of one request: its text, or its phonemes, unit by unit, and of the unit at
// hand what the network reads and when each part of it is heard. Touched by one worker at a time;
// the input outlives it.
class SpeechPlan {
 public:
  // How a voice speaks its units.
  struct Manner {
    size_t max_bytes = kMaxSpeechUnitBytes;
    bool first_clause_alone = false;  // the first unit of what is streamed ends with it
    // Samples at the beginning and at the end of a unit that are searched for silence: as many as
    // its first and its last piece are sure to have, where it has so many. 0: a unit is one piece,
    // and its times follow what is heard.
    size_t lead_samples = 0;
    size_t tail_samples = 0;
    models::SpeechPauses pauses = {};
  };

  SpeechPlan(const models::SynthesizeInput& input, const Manner& manner);

  // Finds a unit that has something to speak. False when the request is finished instead, was to
  // stop, or has had its share of the step.
  bool Prepare(models::Request& request, const SpeechReader& reader);
  // Of the unit at hand.
  const std::vector<int64_t>& ids() const { return read_.ids; }
  size_t symbols() const { return read_.symbols.size(); }
  // Units that were spoken before it.
  size_t spoken() const { return spoken_; }
  // The work of all units not yet spoken, in the unit of EstimateWork; `spoken_part` (0..1) of the
  // present unit counts as done.
  double WorkLeft(double spoken_part = 0) const;
  // The field that the units come from, for messages.
  const char* field() const { return input_.is_phonemes ? "phonemes" : "text"; }

  // Puts the halves of the unit at hand in its place; false when it is too short for that.
  bool Halve();
  // How long each of ids() lasts.
  void SetFrames(std::span<const int64_t> frames, int64_t samples_per_frame);

  // A piece of the unit's audio, of what the network gave. The network's own silence at the ends of
  // a unit is cut to a little, and the pause before it is added. Its text and times go with the
  // first piece.
  models::SynthesizeOutput TakePiece(std::vector<float> samples, int sample_rate, bool last);
  // Leaves the unit that was spoken; false when it was the last.
  bool Advance();

 private:
  // Forgets what was read of the unit at hand.
  void Forget();
  // Characters of the input's text before the byte, which never goes back behind the unit at hand.
  size_t CharactersBefore(size_t byte) const;
  // Samples of so many seconds that are said as fast as all else.
  int64_t Scaled(float seconds, int sample_rate) const;
  // Samples of silence between the unit at hand and the one before it.
  int64_t PauseBefore(int sample_rate) const;
  // Tells the times of the unit, whose first sample becomes the `shift`th.
  void AddTimes(int64_t shift, models::SynthesizeOutput& piece);

  const models::SynthesizeInput& input_;
  const Manner manner_;
  std::vector<std::string_view> units_;  // of the input's text
  size_t next_ = 0;                      // index of the unit at hand
  size_t spoken_ = 0;
  size_t left_bytes_ = 0;  // of the input's text, before the unit at hand or another before it
  size_t left_characters_ = 0;

  models::PhonemeText text_;  // of the unit at hand, as is all below; empty: not yet found
  PhonemeIds read_;
  SymbolTimes times_;
  bool begun_ = false;  // its first piece was taken
  int64_t given_ = 0;   // samples of the network in the pieces before
};

}  // namespace millrace::speech
