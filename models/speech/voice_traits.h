#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "models/speech/speech_units.h"

namespace millrace::speech {

// How a kind of voice speaks units. The defaults are those of a network that makes a whole unit at
// once.
struct VoiceTraits {
  int64_t samples_per_frame = 1;
  size_t max_unit_bytes = kMaxSpeechUnitBytes;
  int64_t max_unit_seconds = 300;
  // The most frames of an id at normal speed. More are an error of the network, as is none.
  int64_t max_id_frames = std::numeric_limits<int64_t>::max();
  // See SpeechPlan::Manner.
  bool first_clause_alone = false;
  size_t stretched_symbols = 0;
  // The first chunk of a unit has this many frames, and silence is searched in as many.
  int64_t first_chunk_frames = 0;
  // The most frames of a later chunk of a streamed unit. 0: a unit is one chunk.
  int64_t max_chunk_frames = 0;
  // The reader reads so many texts in little more time than one, because it waits for programs.
  size_t readings_at_once = 1;
  // The fields besides the text on which the length of a unit depends, for messages.
  std::string_view length_fields = "";
};

}  // namespace millrace::speech
