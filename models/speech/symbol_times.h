#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/speech/phoneme_ids.h"

namespace millrace::speech {

// When each symbol of a unit is heard, in samples of what the network gives: symbol i lasts from
// bounds[i] to bounds[i + 1]. Bounds never fall.
struct SymbolTimes {
  std::vector<int64_t> bounds;  // one more than there are symbols; empty without symbols
  std::vector<bool> sounds;     // whether the symbol is one, rather than a space or a mark
  std::vector<bool> marks;      // of pauses

  // By the frames of each of the network's ids.
  static SymbolTimes FromFrames(const PhonemeIds& read, std::string_view phonemes,
                                std::span<const int64_t> frames, int64_t samples_per_frame);

  // Where the last sound ends by them; the beginning without one.
  int64_t SoundsEnd() const;
  // Lets the marks behind the last sound end with `end`, which is not before that sound's end.
  void EndMarksAt(int64_t end);

  // A network gives the silence of a pause to the sound before it as well as to the mark. Moves the
  // sounds next to a pause to where they are heard in all of the unit's samples; what lies between
  // two pauses stays. Linear time.
  void FollowSound(std::span<const float> samples, int sample_rate);

 private:
  // Returns where the word that ends with symbol `last` begins, or the one before it if no mark is
  // between: where words are run together, a network is late by a short one ("had it").
  size_t WordsBegin(size_t last) const;
  // The sound lasts at least `least` samples then, as do those of its words that would begin later.
  void EndSoundAt(size_t last, int64_t end, int64_t least);
  // Spreads the marks between two sounds.
  void SpreadMarks(size_t last, size_t next);
};

}  // namespace millrace::speech
