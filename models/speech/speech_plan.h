#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_reader.h"
#include "models/speech/speech_units.h"
#include "models/speech/symbol_times.h"
#include "models/text/phoneme_text.h"

namespace millrace::speech {

// For SpeechPlan::Manner::stretched_symbols: every unit is stretched.
inline constexpr size_t kAllSymbols = std::numeric_limits<size_t>::max();

// Returns the slowest speed that the input asks for, in any part of its text.
float SlowestSpeed(const models::SynthesizeInput& input);
// Returns the work of a request, in bytes to speak at normal speed. Constant time.
double EstimateWork(const models::SynthesizeInput& input);

// The units of a request, text or phonemes, that are left to speak. For the current unit it holds
// the network's input and the times at which each part of it is heard. Used by one worker at a
// time; the input must outlive it.
class SpeechPlan {
 public:
  // The way in which a voice speaks units.
  struct Manner {
    size_t max_bytes = kMaxSpeechUnitBytes;
    // The first unit of a streamed request ends with its first clause.
    bool first_clause_alone = false;
    // The samples at the beginning and at the end of a unit that are searched for silence; its
    // first and its last chunk have at least as many, if the unit has. 0: a unit is one chunk. The
    // times of a unit follow its sound if it is one chunk.
    size_t lead_samples = 0;
    size_t tail_samples = 0;
    models::SpeechPauses pauses = {};
    int sample_rate = 0;  // used for a text that has only pauses
    // The network speaks units of at most so many phoneme symbols at normal speed, and their audio
    // is stretched to the speed that is asked for. Such a unit must be one chunk.
    size_t stretched_symbols = 0;
  };

  SpeechPlan(const models::SynthesizeInput& input, const Manner& manner);

  // Advances to a unit that can be spoken. Returns false if the request is finished or must stop,
  // or has used its share of the step. Emits the silence behind the last unit.
  bool Prepare(models::Request& request, const SpeechReader& reader);
  // Returns true if Prepare would first read the text of the current unit.
  bool WantsReading() const {
    return next_ < units_.size() && read_.ids.empty() && !ahead_ && !input_.is_phonemes;
  }
  // Reads that text for Prepare, for which WantsReading returned true.
  void ReadAhead(const SpeechReader& reader) { ahead_ = Read(reader); }
  // The network's input for the current unit.
  const std::vector<int64_t>& ids() const { return read_.ids; }
  size_t symbols() const { return read_.symbols.size(); }
  // The voice of the current unit; empty: the model's default. Its speed.
  const std::string& voice() const;
  float speed() const { return input_.speed * manner_of_unit().speed; }
  // Returns true if the network speaks the current unit at normal speed, to be stretched.
  bool Stretches() const { return speed() != 1 && symbols() <= manner_.stretched_symbols; }
  // The speed at which the network speaks the current unit.
  float network_speed() const { return Stretches() ? 1 : speed(); }
  // Returns the number of units that were spoken before.
  size_t spoken() const { return spoken_; }
  // Returns the work of all units that are not spoken yet, in the unit of EstimateWork;
  // `spoken_part` (0..1) of the current unit counts as done.
  double WorkLeft(double spoken_part = 0) const;
  // The name of the field that the units come from, for messages.
  const char* field() const { return input_.is_phonemes ? "phonemes" : "text"; }

  // Replaces the current unit with its halves. Returns false when it is too short for that.
  bool Halve();
  // Returns the frames at network_speed() of ids() that last so many frames at normal speed.
  std::vector<int64_t> ScaledFrames(std::span<const int64_t> frames) const;
  // Sets the number of frames that each of ids() lasts.
  void SetFrames(std::span<const int64_t> frames, int64_t samples_per_frame);

  // Makes a chunk of the unit's audio from the network's samples. The network's own silence at the
  // ends of a unit is cut to a little, and the pause before the unit is added. The first chunk has
  // the unit's text and times. A chunk before the first sound, which is silence, has nothing.
  models::SynthesizeOutput TakeChunk(std::vector<float> samples, int sample_rate, bool last);
  // Advances to the next unit. Returns false when nothing is left.
  bool Advance();

 private:
  // Goes on behind what an earlier run has spoken.
  void GoBehind(const models::SpokenSoFar& spoken);
  // Clears the phonemes and ids of the current unit.
  void Forget();
  size_t BeginOfUnit() const { return units_[next_].data() - input_.text.data(); }
  size_t EndOfUnit() const { return BeginOfUnit() + units_[next_].size(); }
  // Returns the index of the part of the markup that has the byte; 0 if there is no markup.
  size_t PartAt(size_t byte) const;
  const models::SpeechManner& manner_of_unit() const;
  // Returns the phonemes of the current unit.
  absl::StatusOr<models::PhonemeText> Read(const SpeechReader& reader) const;
  // Returns the number of samples of that many seconds at the request's speed.
  int64_t Scaled(float seconds, int sample_rate) const;
  // Returns the pause of the markup between the last unit that was spoken and the part, in samples;
  // nullopt: the usual one, which is at least `least`.
  std::optional<int64_t> MarkedPause(size_t part, int sample_rate,
                                     models::SpeechBreak& least) const;
  // Returns the same before the network's samples are stretched.
  int64_t NetworkSamples(float seconds, int sample_rate) const;
  // Returns the number of samples of silence between the current unit and the previous one.
  int64_t PauseBefore(int sample_rate) const;
  // Returns the same between the last unit and the end.
  int64_t PauseAfter() const;
  // Keeps what is needed of silent samples at the beginning of a unit.
  void KeepSilence(std::vector<float> samples, int sample_rate);
  // Adds the times of the unit; the network's sample `origin` is heard `before` samples after the
  // beginning of the chunk.
  void AddTimes(const SymbolTimes& times, int64_t origin, int64_t before,
                models::SynthesizeOutput& chunk);

  const models::SynthesizeInput& input_;
  const Manner manner_;
  std::vector<std::string_view> units_;  // parts of the input's text
  size_t next_ = 0;                      // index of the current unit
  size_t spoken_ = 0;
  size_t parts_begun_ = 0;  // the parts of the markup up to that of the last unit that was spoken
  size_t halved_end_ = 0;   // where the last unit that was halved ends
  bool ended_ = false;      // the silence behind the last unit was emitted
  size_t left_bytes_ = 0;   // bytes of the input's text before the current unit or an earlier one
  size_t left_characters_ = 0;

  std::optional<absl::StatusOr<models::PhonemeText>> ahead_;  // the result of ReadAhead
  models::PhonemeText text_;  // the current unit's, as everything below; empty: not read yet
  PhonemeIds read_;
  SymbolTimes times_;
  bool begun_ = false;       // its first chunk was taken
  int64_t given_ = 0;        // samples of the network in the chunks before
  std::vector<float> kept_;  // the end of the silence in the chunks before
};

}  // namespace millrace::speech
