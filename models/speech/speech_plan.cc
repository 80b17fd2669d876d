#include "models/speech/speech_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/text_work.h"
#include "models/speech/first_clause.h"
#include "models/speech/frame_scaling.h"
#include "models/speech/marked_reading.h"
#include "models/speech/sound_edges.h"
#include "models/speech/speech_units.h"
#include "models/speech/time_stretch.h"
#include "models/speech/voice_level.h"
#include "models/text/phoneme_words.h"
#include "models/text/unicode.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxUnitsTried = 8;  // in a step, until one of them can be spoken
// Seconds at a speed of 1: the pause between two clauses that are spoken apart, the silence that is
// kept before the first sound of a unit and after its last, and the least time of the marks there.
constexpr float kClausePause = 0.15F;
constexpr float kLead = 0.03F;
constexpr float kTail = 0.1F;
constexpr float kMarkSilence = 0.02F;

// Splits each part of the text by itself.
std::vector<std::string_view> SplitParts(const models::SynthesizeInput& input, size_t max_bytes) {
  std::vector<std::string_view> units;
  for (const models::SpeechPart& part : input.markup.parts) {
    const std::string_view text =
        std::string_view(input.text).substr(part.begin, part.end - part.begin);
    for (const std::string_view unit : SplitSpeechUnits(text, max_bytes)) units.push_back(unit);
  }
  return units;
}

std::vector<std::string_view> SplitUnits(const models::SynthesizeInput& input, size_t max_bytes) {
  if (!input.markup.parts.empty()) return SplitParts(input, max_bytes);
  return input.is_phonemes ? SplitPhonemeUnits(input.text, max_bytes)
                           : SplitSpeechUnits(input.text, max_bytes);
}

// Returns where the first sound begins. With `lead` samples, which a streamed chunk has a multiple
// of, it searches so many at a time, so that the result is the same however a unit is cut.
std::optional<size_t> FirstSoundByLeads(std::span<const float> samples, size_t lead,
                                        int sample_rate) {
  if (lead == 0) return FirstSound(samples, sample_rate);
  for (size_t at = 0; at < samples.size(); at += lead) {
    const auto part = samples.subspan(at, std::min(lead, samples.size() - at));
    if (const auto sound = FirstSound(part, sample_rate)) return at + *sound;
  }
  return std::nullopt;
}

// Returns the samples of a pause of exactly that many seconds.
int64_t ExactSamples(double seconds, int sample_rate) { return std::lround(seconds * sample_rate); }

}  // namespace

float SlowestSpeed(const models::SynthesizeInput& input) {
  float slowest = input.markup.parts.empty() ? 1.0F : input.markup.parts.front().manner.speed;
  for (const models::SpeechPart& part : input.markup.parts)
    slowest = std::min(slowest, part.manner.speed);
  return slowest * input.speed;
}

double EstimateWork(const models::SynthesizeInput& input) {
  return (models::kSentenceWork + static_cast<double>(input.text.size())) / input.speed;
}

SpeechPlan::SpeechPlan(const models::SynthesizeInput& input, const Manner& manner)
    : input_(input), manner_(manner), units_(SplitUnits(input, manner.max_bytes)) {
  if (manner.first_clause_alone && input.streamed && input.first_sentence == 0)
    CutFirstClause(units_);
  if (input.spoken.sentences > 0) GoBehind(input.spoken);
}

void SpeechPlan::GoBehind(const models::SpokenSoFar& spoken) {
  while (next_ < units_.size() && BeginOfUnit() < spoken.bytes) ++next_;
  spoken_ = spoken.sentences;
  if (!input_.markup.parts.empty() && spoken.bytes > 0) parts_begun_ = PartAt(spoken.bytes - 1) + 1;
}

bool SpeechPlan::Prepare(models::Request& request, const SpeechReader& reader) {
  for (size_t tried = 0; next_ < units_.size(); ++tried) {
    if (!read_.ids.empty()) return true;
    if (tried == kMaxUnitsTried || request.ShouldStop()) return false;
    const std::string_view unit = units_[next_];
    if (input_.is_phonemes) {
      text_ = {std::string(HasLetterOrDigit(unit) ? unit : ""), models::SplitPhonemeWords(unit)};
    } else {
      auto text = ahead_ ? *std::exchange(ahead_, std::nullopt) : Read(reader);
      if (!text.ok()) {
        request.Finish(AtSource(text.status(), BeginOfUnit(), input_));
        return false;
      }
      text_ = *std::move(text);
    }
    read_ = reader.ToIds(text_.phonemes);
    if (read_.symbols.empty()) {
      Forget();
      ++next_;
    } else if (const size_t count = symbols(); count > reader.max_symbols() && !Halve()) {
      request.Finish(InvalidArgument(field(), ": '", View(unit), "' has ", count,
                                     " phonemes without a place to cut it, allowed are ",
                                     reader.max_symbols()));
      return false;
    }
  }
  if (const int64_t silence = PauseAfter(); silence > 0 && (spoken_ > 0 || input_.part_of_text)) {
    models::SynthesizeOutput chunk;
    chunk.sample_rate = manner_.sample_rate;
    chunk.samples.assign(static_cast<size_t>(silence), 0.0F);
    chunk.sentence_index = spoken_ > 0 ? spoken_ - 1 : 0;
    ended_ = true;
    request.Emit(std::move(chunk));
  }
  request.Finish(
      spoken_ > 0 || input_.part_of_text
          ? absl::OkStatus()
          : InvalidArgument(field(), ": there is nothing in it that the voice can speak"));
  return false;
}

double SpeechPlan::WorkLeft(double spoken_part) const {
  if (next_ >= units_.size()) return 0;
  const std::string_view unit = units_[next_];
  const char* end = input_.text.data() + input_.text.size();
  const double work = models::kSentenceWork * static_cast<double>(units_.size() - next_) +
                      static_cast<double>(end - unit.data());
  const double spoken = spoken_part * (models::kSentenceWork + static_cast<double>(unit.size()));
  return (work - spoken) / (manner_.stretched_symbols == kAllSymbols ? 1 : input_.speed);
}

bool SpeechPlan::Halve() {
  halved_end_ = std::max(halved_end_, EndOfUnit());
  if (!HalveSpeechUnit(units_, next_)) return false;
  Forget();
  return true;
}

const models::SpeechManner& SpeechPlan::manner_of_unit() const {
  static const models::SpeechManner kUsual;
  if (input_.markup.parts.empty() || next_ >= units_.size()) return kUsual;
  return input_.markup.parts[PartAt(BeginOfUnit())].manner;
}

const std::string& SpeechPlan::voice() const {
  const std::string& voice = manner_of_unit().voice;
  return voice.empty() ? input_.voice : voice;
}

size_t SpeechPlan::PartAt(size_t byte) const {
  const std::vector<models::SpeechPart>& parts = input_.markup.parts;
  const auto behind = std::ranges::upper_bound(parts, byte, {}, &models::SpeechPart::begin);
  return behind == parts.begin() ? 0 : static_cast<size_t>(behind - parts.begin()) - 1;
}

absl::StatusOr<models::PhonemeText> SpeechPlan::Read(const SpeechReader& reader) const {
  const std::string& own = manner_of_unit().language;
  return ReadMarked(units_[next_], BeginOfUnit(), input_.markup.readings,
                    own.empty() ? input_.language : own, input_.word_times, reader);
}

std::vector<int64_t> SpeechPlan::ScaledFrames(std::span<const int64_t> frames) const {
  std::vector<bool> sounds(frames.size(), false);
  for (const PhonemeSymbol& symbol : read_.symbols) {
    sounds[symbol.first_id] = models::IsSound(models::DecodeAt(text_.phonemes, symbol.begin).value);
  }
  return ScaleFrames(frames, sounds, network_speed());
}

void SpeechPlan::SetFrames(std::span<const int64_t> frames, int64_t samples_per_frame) {
  times_ = SymbolTimes::FromFrames(read_, text_.phonemes, frames, samples_per_frame);
}

int64_t SpeechPlan::Scaled(float seconds, int sample_rate) const {
  return std::lround(static_cast<double>(seconds) * sample_rate / speed());
}

int64_t SpeechPlan::NetworkSamples(float seconds, int sample_rate) const {
  return std::lround(static_cast<double>(seconds) * sample_rate / network_speed());
}

std::optional<int64_t> SpeechPlan::MarkedPause(size_t part, int sample_rate,
                                               models::SpeechBreak& least) const {
  const std::vector<models::SpeechPart>& parts = input_.markup.parts;
  double seconds = -1;
  for (size_t i = parts_begun_; i < parts.size() && i <= part; ++i) {
    if (parts[i].pause >= 0) seconds = std::max(seconds, 0.0) + parts[i].pause;
    least = std::max(least, parts[i].break_before);
  }
  if (seconds < 0) return std::nullopt;
  return ExactSamples(seconds, sample_rate);
}

int64_t SpeechPlan::PauseAfter() const {
  const models::SpeechMarkup& markup = input_.markup;
  if (ended_ || markup.parts.empty()) return 0;
  models::SpeechBreak unused = models::SpeechBreak::kNone;
  const int64_t skipped =
      MarkedPause(markup.parts.size() - 1, manner_.sample_rate, unused).value_or(0);
  return skipped + ExactSamples(markup.pause_after, manner_.sample_rate);
}

int64_t SpeechPlan::PauseBefore(int sample_rate) const {
  models::SpeechBreak before = input_.break_before;
  const size_t begin = BeginOfUnit();
  if (spoken_ > 0) before = BreakBehind(std::string_view(input_.text).substr(0, begin));
  models::SpeechBreak least = models::SpeechBreak::kNone;
  if (const auto marked = MarkedPause(PartAt(begin), sample_rate, least)) return *marked;
  if (before != models::SpeechBreak::kNone) before = std::max(before, least);
  const auto pause = [&](float asked, float usual) {
    return asked < 0 ? Scaled(usual, sample_rate)
                     : std::lround(static_cast<double>(asked) * sample_rate);
  };
  int64_t samples = 0;
  switch (before) {
    case models::SpeechBreak::kNone:
      return 0;
    case models::SpeechBreak::kClause:
      samples = Scaled(kClausePause, sample_rate);
      break;
    case models::SpeechBreak::kSentence:
      samples = pause(input_.sentence_pause, manner_.pauses.sentence);
      break;
    case models::SpeechBreak::kParagraph:
      samples = pause(input_.paragraph_pause, manner_.pauses.paragraph);
      break;
  }
  // The silence that is kept at the ends of both units is part of the pause.
  return std::max<int64_t>(samples - Scaled(kLead, sample_rate) - Scaled(kTail, sample_rate), 0);
}

void SpeechPlan::AddTimes(const SymbolTimes& times, int64_t origin, int64_t before,
                          models::SynthesizeOutput& chunk) {
  const std::vector<int64_t>& bounds = times.bounds;
  if (bounds.empty()) return;
  const std::string_view phonemes = text_.phonemes;
  const bool stretches = Stretches();
  const auto heard = [&](int64_t sample) {
    sample -= origin;
    return before + (stretches ? std::llround(static_cast<double>(sample) / speed()) : sample);
  };
  // Sound that was cut off at the beginning has no time of its own.
  const auto add = [&](std::string text, int64_t begin, int64_t end, size_t character,
                       std::vector<models::SpokenSpan>& spans) {
    begin = std::max<int64_t>(heard(begin), 0);
    end = heard(end);
    if (end > begin) spans.push_back({std::move(text), begin, end, character});
  };
  if (input_.phoneme_times) {
    for (size_t i = 0; i < read_.symbols.size(); ++i) {
      const PhonemeSymbol& symbol = read_.symbols[i];
      add(std::string(phonemes.substr(symbol.begin, symbol.end - symbol.begin)), bounds[i],
          bounds[i + 1], 0, chunk.phonemes);
    }
  }
  if (!input_.word_times) return;
  const std::string_view unit = units_[next_];
  const size_t unit_begin = BeginOfUnit();
  left_characters_ = CharactersBefore(unit_begin, input_, left_bytes_, left_characters_);
  left_bytes_ = unit_begin;
  size_t symbol = 0;
  const std::vector<PhonemeSymbol>& symbols = read_.symbols;
  const std::vector<WrittenSpan> written =
      WrittenSpans(unit, unit_begin, text_.words, input_.markup.readings);
  for (const WrittenSpan& word : written) {
    while (symbol < symbols.size() && symbols[symbol].begin < word.phonemes_begin) ++symbol;
    const size_t first = symbol;
    while (symbol < symbols.size() && symbols[symbol].end <= word.phonemes_end) ++symbol;
    if (symbol == first) continue;  // the voice knows none of its symbols
    add(word.text, bounds[first], bounds[symbol],
        CharactersBefore(word.begin, input_, left_bytes_, left_characters_), chunk.words);
  }
}

models::SynthesizeOutput SpeechPlan::TakeChunk(std::vector<float> samples, int sample_rate,
                                               bool last) {
  models::SynthesizeOutput chunk;
  chunk.sample_rate = sample_rate;
  chunk.sentence_index = spoken_;
  chunk.sentence_finished = last;
  const bool first = !begun_;
  std::optional<size_t> onset;
  if (first) {
    onset = FirstSoundByLeads(samples, manner_.lead_samples, sample_rate);
    if (!onset && !last && manner_.lead_samples > 0) {
      KeepSilence(std::move(samples), sample_rate);
      return chunk;
    }
    begun_ = true;
    if (onset) *onset += kept_.size();
    given_ -= static_cast<int64_t>(kept_.size());
    samples.insert(samples.begin(), kept_.begin(), kept_.end());
  }
  const auto size = static_cast<int64_t>(samples.size());
  const std::span<const float> all(samples);
  const bool whole = manner_.lead_samples == 0;
  const auto tail = all.last(whole ? all.size() : std::min(all.size(), manner_.tail_samples));
  int64_t begin = 0;   // the begin of the chunk, in samples; if negative, silence is added
  int64_t before = 0;  // samples of the pause
  if (first) {
    chunk.text = units_[next_];
    if (whole) times_.FollowSound(all, sample_rate);
    before = PauseBefore(sample_rate);
    if (onset) begin = static_cast<int64_t>(*onset) - NetworkSamples(kLead, sample_rate);
  }
  int64_t end = size;
  if (last) {
    const auto searched = static_cast<int64_t>(all.size() - tail.size());  // where the tail begins
    const auto sound = LastSound(tail, sample_rate);
    if (sound || searched > 0)
      end = searched + static_cast<int64_t>(sound.value_or(0)) + NetworkSamples(kTail, sample_rate);
    // The times of a unit are emitted with its first chunk, which may come before the end of its
    // sound is known.
    if (!times_.bounds.empty())
      end = std::max(end, times_.SoundsEnd() + NetworkSamples(kMarkSilence, sample_rate) - given_);
  }
  if (first) {
    SymbolTimes heard = times_;
    // Where the audio ends does not depend on this, so that a stream has the same samples.
    if (last && !whole && given_ == 0) heard.FollowSound(all, sample_rate);
    heard.EndMarksAt(heard.SoundsEnd() + NetworkSamples(kMarkSilence, sample_rate));
    AddTimes(heard, begin + given_, before, chunk);
  }
  // Another run comes to the halves of a unit only by way of the whole.
  if (last && EndOfUnit() >= halved_end_)
    chunk.spoken = {.bytes = EndOfUnit(), .sentences = spoken_ + 1};
  given_ += size;
  const auto lead = static_cast<size_t>(-std::min<int64_t>(begin, 0));
  begin = std::max<int64_t>(begin, 0);
  std::vector<float> sound(lead, 0.0F);
  sound.insert(sound.end(), samples.begin() + begin,
               samples.begin() + std::clamp(end, begin, size));
  if (end > size) sound.insert(sound.end(), static_cast<size_t>(end - size), 0.0F);
  if (Stretches()) sound = StretchTime(sound, speed(), sample_rate);
  chunk.samples.assign(static_cast<size_t>(before), 0.0F);
  chunk.samples.insert(chunk.samples.end(), sound.begin(), sound.end());
  ApplyGain(manner_of_unit().gain_db, chunk.samples);
  return chunk;
}

void SpeechPlan::KeepSilence(std::vector<float> samples, int sample_rate) {
  kept_.insert(kept_.end(), samples.begin(), samples.end());
  const auto most = static_cast<size_t>(Scaled(kLead, sample_rate));
  if (kept_.size() > most) kept_.erase(kept_.begin(), kept_.end() - static_cast<ptrdiff_t>(most));
  given_ += static_cast<int64_t>(samples.size());
}

bool SpeechPlan::Advance() {
  if (!input_.markup.parts.empty()) parts_begun_ = PartAt(BeginOfUnit()) + 1;
  Forget();
  ++spoken_;
  return ++next_ < units_.size() || PauseAfter() > 0;
}

void SpeechPlan::Forget() {
  text_ = {};
  read_ = {};
  times_ = {};
  begun_ = false;
  given_ = 0;
  kept_.clear();
}

}  // namespace millrace::speech
