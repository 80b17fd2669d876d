#include "models/speech/symbol_times.h"

#include <algorithm>
#include <cstddef>

#include "models/speech/sound_edges.h"
#include "models/text/phoneme_words.h"
#include "models/text/unicode.h"

namespace millrace::speech {
namespace {

constexpr int kLeastPerSecond = 200;    // a symbol lasts at least 5 ms
constexpr int kOverhangPerSecond = 10;  // a sound may begin up to 0.1 s late

}  // namespace

SymbolTimes SymbolTimes::FromFrames(const PhonemeIds& read, std::string_view phonemes,
                                    std::span<const int64_t> frames, int64_t samples_per_frame) {
  SymbolTimes times;
  std::vector<int64_t> starts = {0};  // the start of each id, and the end
  for (const int64_t count : frames) starts.push_back(starts.back() + count * samples_per_frame);
  for (const PhonemeSymbol& symbol : read.symbols) {
    if (times.bounds.empty()) times.bounds.push_back(starts[symbol.first_id]);
    times.bounds.push_back(starts[symbol.end_id]);
    const char32_t c = models::DecodeAt(phonemes, symbol.begin).value;
    times.sounds.push_back(models::IsSound(c));
    times.marks.push_back(!models::IsSound(c) && !models::IsSpace(c));
  }
  return times;
}

int64_t SymbolTimes::SoundsEnd() const {
  for (size_t i = sounds.size(); i-- > 0;) {
    if (sounds[i]) return bounds[i + 1];
  }
  return bounds.empty() ? 0 : bounds.front();
}

void SymbolTimes::EndMarksAt(int64_t end) {
  size_t behind = sounds.size();  // the last sound
  while (behind > 0 && !sounds[behind - 1]) --behind;
  const auto count = static_cast<int64_t>(sounds.size() - behind);
  if (count == 0) return;
  const int64_t begin = bounds[behind];
  for (int64_t i = 1; i <= count; ++i)
    bounds[behind + static_cast<size_t>(i)] = begin + (end - begin) * i / count;
}

size_t SymbolTimes::WordsBegin(size_t last) const {
  size_t begin = last;
  bool second = false;
  while (begin > 0 && !marks[begin - 1] && (sounds[begin - 1] || !second)) {
    second = second || !sounds[begin - 1];
    --begin;
  }
  while (!sounds[begin]) ++begin;
  return begin;
}

void SymbolTimes::EndSoundAt(size_t last, int64_t end, int64_t least) {
  const size_t word = WordsBegin(last);
  // Most of the silence belongs to the last sound; earlier sounds are cut only if the silence
  // begins within them.
  size_t first = last;
  while (first > word && bounds[first] > end - least * static_cast<int64_t>(last - first + 1))
    --first;
  const int64_t begin = bounds[first];
  const int64_t before = bounds[last + 1] - begin;
  if (before <= 0 || end <= begin) return;
  for (size_t i = first + 1; i <= last + 1; ++i)
    bounds[i] = begin + (bounds[i] - begin) * (end - begin) / before;
}

void SymbolTimes::SpreadMarks(size_t last, size_t next) {
  const auto count = static_cast<int64_t>(next - last - 1);
  const int64_t begin = bounds[last + 1];
  const int64_t end = bounds[next];
  for (int64_t i = 1; i < count; ++i)
    bounds[last + 1 + static_cast<size_t>(i)] = begin + (end - begin) * i / count;
}

void SymbolTimes::FollowSound(std::span<const float> samples, int sample_rate) {
  const int64_t least = std::max(sample_rate / kLeastPerSecond, 1);
  const auto size = static_cast<int64_t>(samples.size());
  const auto part = [&](int64_t begin, int64_t end) {
    begin = std::clamp<int64_t>(begin, 0, size);
    end = std::clamp<int64_t>(end, begin, size);
    return samples.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  const auto heard = FirstSound(samples, sample_rate);
  const auto ended = LastSound(samples, sample_rate);
  const size_t first =
      static_cast<size_t>(std::find(sounds.begin(), sounds.end(), true) - sounds.begin());
  if (!heard || !ended || first == sounds.size()) return;
  if (const auto onset = static_cast<int64_t>(*heard); onset < bounds[first + 1]) {
    for (size_t i = 0; i < first; ++i) bounds[i] = std::min(bounds[i], onset);
    bounds[first] = onset;
  }
  for (size_t last = first; last < sounds.size();) {
    size_t next = last + 1;  // the sound after the marks
    bool pauses = false;
    for (; next < sounds.size() && !sounds[next]; ++next) pauses = pauses || marks[next];
    if (next == sounds.size()) {
      EndSoundAt(last, static_cast<int64_t>(*ended), least);
      bounds[next] = std::max(bounds[next], bounds[last + 1]);
      SpreadMarks(last, next);
      return;
    }
    if (pauses) {
      const int64_t begin = bounds[WordsBegin(last)];
      const int64_t most =
          std::min(bounds[next] + sample_rate / kOverhangPerSecond, bounds[next + 1]);
      const auto silence = LongestSilence(part(begin, most), sample_rate);
      const int64_t from = silence ? begin + static_cast<int64_t>(silence->begin) : 0;
      const int64_t to = silence ? begin + static_cast<int64_t>(silence->end) : 0;
      // A silence that ends before that place is within the word.
      if (silence && from < bounds[next] && to >= bounds[last + 1]) {
        EndSoundAt(last, from, least);
        if (to > bounds[last + 1] && to < bounds[next + 1]) bounds[next] = to;
        SpreadMarks(last, next);
      }
    }
    last = next;
  }
}

}  // namespace millrace::speech
