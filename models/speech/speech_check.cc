#include "models/speech/speech_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/marked_reading.h"
#include "models/speech/speech_units.h"
#include "models/text/foreign_script.h"
#include "models/text/unicode.h"

namespace millrace::speech {
namespace {

constexpr float kMaxPause = 10;

// Returns an error that names the first symbol that the voice does not know. Line breaks end
// sentences and are allowed.
absl::Status CheckSymbols(std::string_view field, std::string_view phonemes,
                          const SpeechReader& reader) {
  const auto check = [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end;) {
      const models::CodePoint c = models::DecodeAt(phonemes, at);
      if (c.value != '\n' && c.value != '\r') {
        return InvalidArgument(View(field), ": the voice does not know the symbol '",
                               View(phonemes.substr(at, c.bytes)), "' (U+",
                               absl::Hex(static_cast<uint32_t>(c.value), absl::kZeroPad4),
                               ") at byte ", at, "; it knows: ", reader.Symbols());
      }
      at += c.bytes;
    }
    return absl::OkStatus();
  };
  size_t known = 0;  // up to here
  for (const PhonemeSymbol& symbol : reader.ToIds(phonemes).symbols) {
    MILLRACE_RETURN_IF_ERROR(check(known, symbol.begin));
    known = symbol.end;
  }
  return check(known, phonemes.size());
}

absl::Status CheckPause(const char* field, float seconds) {
  if (seconds <= kMaxPause) return absl::OkStatus();  // false for NaN
  return InvalidArgument(field, ": ", seconds, " is not allowed; it is 0..", kMaxPause,
                         ", or unset for the model's own");
}

// Checks what stands between the pronunciations of input.text[begin, end).
absl::Status CheckReadable(const models::SynthesizeInput& input, size_t begin, size_t end,
                           const std::string& language, const SpeechReader& reader) {
  const size_t part = end - begin;
  const auto check = [&](size_t from, size_t to) {
    if (from >= to) return absl::OkStatus();
    const auto text = std::string_view(input.text).substr(from, to - from);
    // Marks between pronunciations are not read by a front end.
    if (text.size() < part && !HasLetterOrDigit(text)) return absl::OkStatus();
    return AtSource(reader.CheckText(text, language), from, input);
  };
  const std::vector<models::SpeechReading>& readings = input.markup.readings;
  auto reading = std::ranges::upper_bound(readings, begin, {}, &models::SpeechReading::end);
  for (; reading != readings.end() && reading->begin < end; ++reading) {
    if (reading->phonemes.empty()) continue;
    MILLRACE_RETURN_IF_ERROR(check(begin, reading->begin));
    begin = reading->end;
  }
  return check(begin, end);
}

absl::Status CheckReadable(const models::SynthesizeInput& input, const SpeechReader& reader) {
  if (input.markup.parts.empty())
    return CheckReadable(input, 0, input.text.size(), input.language, reader);
  for (const models::SpeechPart& part : input.markup.parts) {
    const std::string& own = part.manner.language;
    MILLRACE_RETURN_IF_ERROR(
        CheckReadable(input, part.begin, part.end, own.empty() ? input.language : own, reader));
  }
  return absl::OkStatus();
}

absl::Status CheckLanguage(const std::string& language, const models::ModelInfo& info) {
  const std::vector<std::string>& languages = info.speech().languages;
  if (language.empty() || std::ranges::find(languages, language) != languages.end())
    return absl::OkStatus();
  return InvalidArgument("language: model '", info.name, "' does not speak ", Shown(language),
                         "; it speaks: ", absl::StrJoin(languages, ", "));
}

// Returns an error if all of the text is in scripts that the voice cannot read.
absl::Status CheckScript(const models::SynthesizeInput& input, const models::ModelInfo& info) {
  if (input.is_phonemes) return absl::OkStatus();
  const std::string& language = input.language.empty() ? info.speech().language : input.language;
  const models::ForeignScripts scripts = models::FindForeignScripts(input.text, language);
  if (!scripts.all) return absl::OkStatus();
  for (const models::SpeechPart& part : input.markup.parts) {
    if (!part.manner.language.empty() && part.manner.language != language) return absl::OkStatus();
  }
  return InvalidArgument("text: it has only ", absl::StrJoin(scripts.names, " and "),
                         ", which model '", info.name, "' cannot read in ", language,
                         "; it speaks: ", absl::StrJoin(info.speech().languages, ", "));
}

}  // namespace

absl::Status CheckSpeech(const models::SynthesizeInput& input, const models::ModelInfo& info,
                         const SpeechReader& reader) {
  const char* field = input.is_phonemes ? "phonemes" : "text";
  const bool only_pause = input.part_of_text && input.markup.pause_after > 0;
  if (!HasLetterOrDigit(input.text) && !only_pause) {
    return InvalidArgument(field, ": there is nothing to speak; it needs a letter or a digit");
  }
  MILLRACE_RETURN_IF_ERROR(CheckLanguage(input.language, info));
  MILLRACE_RETURN_IF_ERROR(CheckScript(input, info));
  for (const models::SpeechPart& part : input.markup.parts) {
    MILLRACE_RETURN_IF_ERROR(CheckLanguage(part.manner.language, info));
  }
  for (const models::SpeechReading& reading : input.markup.readings) {
    if (reading.phonemes.empty()) continue;
    const std::string phonemes = PhonemesOf(reading, reader);
    if (absl::Status status =
            CheckSymbols(StrCat("text: ", reading.place, ": <phoneme>: ph"), phonemes, reader);
        !status.ok())
      return status;
  }
  MILLRACE_RETURN_IF_ERROR(CheckPause("sentence_pause_seconds", input.sentence_pause));
  MILLRACE_RETURN_IF_ERROR(CheckPause("paragraph_pause_seconds", input.paragraph_pause));
  return input.is_phonemes ? CheckSymbols("phonemes", input.text, reader)
                           : CheckReadable(input, reader);
}

absl::Status CheckSpeed(const models::SynthesizeInput& input, const models::SpeechInfo& info) {
  const auto check = [&](float factor) {
    const float speed = input.speed * factor;
    if (speed >= info.min_speed && speed <= info.max_speed) return absl::OkStatus();
    return InvalidArgument("speed: ", speed, " is not allowed; it is ", info.min_speed, "..",
                           info.max_speed);
  };
  absl::Status status = check(1);
  for (const models::SpeechPart& part : input.markup.parts) status.Update(check(part.manner.speed));
  return status;
}

}  // namespace millrace::speech
