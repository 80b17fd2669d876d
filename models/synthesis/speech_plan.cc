#include "models/synthesis/speech_plan.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/strings.h"
#include "models/synthesis/first_clause.h"
#include "models/synthesis/speech_units.h"
#include "models/text/phoneme_words.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxUnitsTried = 8;  // in a step, until one has something to speak

// The first symbol that the voice does not know, but for line breaks, which end sentences.
absl::Status CheckSymbols(std::string_view phonemes, const SpeechReader& reader) {
  const auto check = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      const CodePoint c = DecodeAt(phonemes, at);
      if (c.value != '\n' && c.value != '\r') {
        return absl::InvalidArgumentError(absl::StrCat(
            "phonemes: the voice does not know the symbol '", View(phonemes.substr(at, c.bytes)),
            "' (U+", absl::Hex(static_cast<uint32_t>(c.value), absl::kZeroPad4), ") at byte ", at,
            "; it knows: ", reader.Symbols()));
      }
      at += c.bytes;
    }
    return absl::OkStatus();
  };
  size_t known = 0;  // up to here
  for (const PhonemeSymbol& symbol : reader.ToIds(phonemes).symbols) {
    if (absl::Status status = check(known, symbol.begin); !status.ok()) return status;
    known = symbol.end;
  }
  return check(known, phonemes.size());
}

}  // namespace

absl::Status CheckSpeech(const SynthesizeInput& input, const ModelInfo& info,
                         const SpeechReader& reader) {
  const char* field = input.is_phonemes ? "phonemes" : "text";
  if (!HasLetterOrDigit(input.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": there is nothing to speak; it needs a letter or a digit"));
  }
  if (!input.language.empty() &&
      std::ranges::find(info.languages, input.language) == info.languages.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("language: model '", info.name, "' does not speak '", input.language,
                     "'; it speaks: ", absl::StrJoin(info.languages, ", ")));
  }
  return input.is_phonemes ? CheckSymbols(input.text, reader) : absl::OkStatus();
}

SpeechPlan::SpeechPlan(const SynthesizeInput& input, const Cuts& cuts)
    : input_(input),
      units_(input.is_phonemes ? SplitPhonemeUnits(input.text, cuts.max_bytes)
                               : SplitSpeechUnits(input.text, cuts.max_bytes)) {
  if (cuts.first_clause_alone && input.streamed && input.first_sentence == 0)
    CutFirstClause(units_);
}

bool SpeechPlan::Prepare(Request& request, const SpeechReader& reader) {
  for (size_t tried = 0; next_ < units_.size(); ++tried) {
    if (!read_.ids.empty()) return true;
    if (tried == kMaxUnitsTried || request.ShouldStop()) return false;
    const std::string_view unit = units_[next_];
    if (input_.is_phonemes) {
      text_ = {std::string(HasLetterOrDigit(unit) ? unit : ""), SplitPhonemeWords(unit)};
    } else {
      auto text = reader.ToPhonemes(unit, input_);
      if (!text.ok()) {
        request.Finish(text.status());
        return false;
      }
      text_ = *std::move(text);
    }
    read_ = reader.ToIds(text_.phonemes);
    if (read_.symbols.empty()) {
      Forget();
      ++next_;
    } else if (const size_t count = symbols(); count > reader.max_symbols() && !Halve()) {
      request.Finish(absl::InvalidArgumentError(
          absl::StrCat(field(), ": '", View(unit), "' has ", count,
                       " phonemes without a place to cut it, allowed are ", reader.max_symbols())));
      return false;
    }
  }
  request.Finish(spoken_ > 0 || input_.part_of_text
                     ? absl::OkStatus()
                     : absl::InvalidArgumentError(absl::StrCat(
                           field(), ": there is nothing in it that the voice can speak")));
  return false;
}

bool SpeechPlan::Halve() {
  if (!HalveSpeechUnit(units_, next_)) return false;
  Forget();
  return true;
}

size_t SpeechPlan::CharactersBefore(size_t byte) const {
  return left_characters_ +
         CountCodePoints(std::string_view(input_.text).substr(left_bytes_, byte - left_bytes_));
}

void SpeechPlan::SetFrames(std::span<const int64_t> frames, int64_t samples_per_frame) {
  words_.clear();
  phonemes_.clear();
  std::vector<int64_t> starts = {0};  // of each of ids(), and the end
  for (const int64_t count : frames) starts.push_back(starts.back() + count * samples_per_frame);
  const std::string_view phonemes = text_.phonemes;
  if (input_.phoneme_times) {
    for (const PhonemeSymbol& symbol : read_.symbols) {
      phonemes_.push_back({std::string(phonemes.substr(symbol.begin, symbol.end - symbol.begin)),
                           starts[symbol.first_id], starts[symbol.end_id]});
    }
  }
  if (!input_.word_times) return;
  const std::string_view unit = units_[next_];
  const auto unit_begin = static_cast<size_t>(unit.data() - input_.text.data());
  left_characters_ = CharactersBefore(unit_begin);
  left_bytes_ = unit_begin;
  auto symbol = read_.symbols.begin();
  for (const PhonemeWord& word : text_.words) {
    while (symbol != read_.symbols.end() && symbol->begin < word.phonemes_begin) ++symbol;
    const auto first = symbol;
    while (symbol != read_.symbols.end() && symbol->end <= word.phonemes_end) ++symbol;
    if (symbol == first) continue;  // the voice knows none of its sounds
    words_.push_back({std::string(unit.substr(word.begin, word.end - word.begin)),
                      starts[first->first_id], starts[std::prev(symbol)->end_id],
                      CharactersBefore(unit_begin + word.begin)});
  }
}

SynthesizeOutput SpeechPlan::TakePiece(std::vector<float> samples, int sample_rate, bool last) {
  SynthesizeOutput piece;
  piece.sample_rate = sample_rate;
  piece.samples = std::move(samples);
  piece.sentence_index = spoken_;
  piece.sentence_finished = last;
  if (!std::exchange(begun_, true)) {
    piece.text = units_[next_];
    piece.words = std::move(words_);
    piece.phonemes = std::move(phonemes_);
  }
  return piece;
}

bool SpeechPlan::Advance() {
  Forget();
  ++spoken_;
  return ++next_ < units_.size();
}

void SpeechPlan::Forget() {
  text_ = {};
  read_ = {};
  begun_ = false;
}

}  // namespace millrace::models
