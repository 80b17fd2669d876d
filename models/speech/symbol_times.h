#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/speech/phoneme_ids.h"

namespace millrace::speech {

// The times at which each symbol of a unit is heard, in samples of the network: symbol i lasts from
// bounds[i] to bounds[i + 1]. Bounds never decrease.
struct SymbolTimes {
  std::vector<int64_t> bounds;  // one more than there are symbols; empty without symbols
  std::vector<bool> sounds;     // true for sounds, false for spaces and marks
  std::vector<bool> marks;      // true for marks of pauses

  // Makes the times from the frames of each of the network's ids.
  static SymbolTimes FromFrames(const PhonemeIds& read, std::string_view phonemes,
                                std::span<const int64_t> frames, int64_t samples_per_frame);

  // Returns where the last sound ends; the beginning if there is no sound.
  int64_t SoundsEnd() const;
  // Makes the marks after the last sound end at `end`, which must not be before that sound's end.
  void EndMarksAt(int64_t end);

  // A network attributes the silence of a pause to the sound before it as well as to the mark. This
  // function moves the sounds next to a pause to where they are heard in the unit's samples; sounds
  // between two pauses stay. Linear time.
  void FollowSound(std::span<const float> samples, int sample_rate);

 private:
  // Returns where the word that ends with symbol `last` begins, or the word before it if there is
  // no mark between them: where words are run together, a network is late by a short one ("had
  // it").
  size_t WordsBegin(size_t last) const;
  // Ends the sound at `end`. It keeps at least `least` samples, as do the sounds of its word that
  // would begin later.
  void EndSoundAt(size_t last, int64_t end, int64_t least);
  // Distributes the time between two sounds over the marks there.
  void SpreadMarks(size_t last, size_t next);
};

}  // namespace millrace::speech
