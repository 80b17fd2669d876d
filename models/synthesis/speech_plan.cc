#include "models/synthesis/speech_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/strings.h"
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

absl::Status CheckSpeech(const SynthesizeInput& input, const SpeechReader& reader) {
  const char* field = input.is_phonemes ? "phonemes" : "text";
  if (!HasLetterOrDigit(input.text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": there is nothing to speak; it needs a letter or a digit"));
  }
  return input.is_phonemes ? CheckSymbols(input.text, reader) : absl::OkStatus();
}

SpeechPlan::SpeechPlan(const SynthesizeInput& input)
    : input_(input),
      units_(input.is_phonemes ? SplitPhonemeUnits(input.text) : SplitSpeechUnits(input.text)) {}

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

SynthesizeOutput SpeechPlan::TakePiece(std::vector<float> samples, int sample_rate, bool last) {
  SynthesizeOutput piece;
  piece.sample_rate = sample_rate;
  piece.samples = std::move(samples);
  piece.sentence_index = spoken_;
  piece.sentence_finished = last;
  if (!std::exchange(begun_, true)) piece.text = units_[next_];
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
