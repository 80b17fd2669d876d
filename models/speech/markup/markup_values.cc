#include "models/speech/markup/markup_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxNumberBytes = 16;
constexpr float kMinGain = -60;  // dB
constexpr float kMaxGain = 12;

struct NamedValue {
  std::string_view name;
  double value;
};

constexpr NamedValue kStrengths[] = {{"none", 0},     {"x-weak", 0.1}, {"weak", 0.2},
                                     {"medium", 0.4}, {"strong", 0.8}, {"x-strong", 1.2}};
constexpr NamedValue kRates[] = {{"x-slow", 0.5}, {"slow", 0.75},  {"medium", 1},
                                 {"fast", 1.25},  {"x-fast", 1.5}, {"default", 1}};
constexpr NamedValue kVolumes[] = {{"silent", -std::numeric_limits<double>::infinity()},
                                   {"x-soft", -12},
                                   {"soft", -6},
                                   {"medium", 0},
                                   {"loud", 3},
                                   {"x-loud", 6},
                                   {"default", 0}};

std::optional<double> Find(std::span<const NamedValue> values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &NamedValue::name);
  if (found == values.end()) return std::nullopt;
  return found->value;
}

std::string Names(std::span<const NamedValue> values) {
  std::string names;
  for (const NamedValue& value : values) names += StrCat(names.empty() ? "" : ", ", value.name);
  return names;
}

// Parses digits with at most one point among them, and nothing else.
std::optional<double> ParseNumber(std::string_view text) {
  const bool plain =
      !text.empty() && text.size() <= kMaxNumberBytes &&
      std::ranges::all_of(text, [](char c) { return models::IsAsciiDigit(c) || c == '.'; });
  double number = 0;
  if (!plain || !absl::SimpleAtod(View(text), &number)) return std::nullopt;
  return number;
}

// Parses a number behind which the unit stands.
std::optional<double> ParseWithUnit(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  return ParseNumber(text.substr(0, text.size() - unit.size()));
}

absl::Status NotAllowed(std::string_view value, std::string_view allowed) {
  return InvalidArgument(Shown(value), " is not allowed; it is ", allowed);
}

// Returns the factor of a rate relative to the manner's.
std::optional<double> ParseFactor(std::string_view value) {
  const bool faster = value.starts_with('+');
  if (faster || value.starts_with('-')) {
    const auto percent = ParseWithUnit(value.substr(1), "%");
    if (!percent) return std::nullopt;
    return 1 + (faster ? *percent : -*percent) / 100;
  }
  if (const auto percent = ParseWithUnit(value, "%")) return *percent / 100;
  return ParseNumber(value);
}

}  // namespace

absl::StatusOr<double> ParsePause(std::string_view value) {
  auto seconds = ParseWithUnit(value, "ms");
  if (seconds) {
    *seconds /= 1000;
  } else {
    seconds = ParseWithUnit(value, "s");
  }
  if (seconds && *seconds <= kMaxMarkupPause) return *seconds;
  return NotAllowed(value, StrCat("a time of 0s to ", kMaxMarkupPause, "s, such as 1.5s or 500ms"));
}

absl::StatusOr<double> ParseStrength(std::string_view value) {
  if (const auto seconds = Find(kStrengths, value)) return *seconds;
  return NotAllowed(value, StrCat("one of ", Names(kStrengths)));
}

absl::Status SetRate(std::string_view value, const MarkupContext& context,
                     models::SpeechManner& manner) {
  auto speed = Find(kRates, value);
  if (!speed) {
    speed = ParseFactor(value);
    if (!speed || *speed <= 0) {
      return NotAllowed(
          value, StrCat("one of ", Names(kRates), ", or more than 0 as 80%, 1.2, +10% or -10%"));
    }
    *speed *= manner.speed;
  }
  const double all = *speed * context.speed;
  if (!(all >= context.info.min_speed && all <= context.info.max_speed)) {
    return InvalidArgument(Shown(value), " makes the speed ", all, "; model '", context.model,
                           "' has ", context.info.min_speed, "..", context.info.max_speed);
  }
  manner.speed = static_cast<float>(*speed);
  return absl::OkStatus();
}

absl::Status SetVolume(std::string_view value, models::SpeechManner& manner) {
  std::optional<double> gain = Find(kVolumes, value);
  if (!gain) {
    const bool louder = value.starts_with('+');
    if (louder || value.starts_with('-')) gain = ParseWithUnit(value.substr(1), "dB");
    if (!gain) return NotAllowed(value, StrCat("one of ", Names(kVolumes), ", or as +3dB or -6dB"));
    gain = manner.gain_db + (louder ? *gain : -*gain);
    if (std::isfinite(*gain) && (*gain < kMinGain || *gain > kMaxGain)) {
      return InvalidArgument(Shown(value), " makes the volume ", *gain, " dB; it is ", kMinGain,
                             "..", kMaxGain, " dB");
    }
  }
  manner.gain_db = static_cast<float>(*gain);
  return absl::OkStatus();
}

absl::Status SetVoice(std::string_view value, const MarkupContext& context,
                      models::SpeechManner& manner) {
  std::string voice(value);
  if (context.voice_named)
    voice =
        context.voice_named(voice, manner.language.empty() ? context.language : manner.language);
  if (!models::HasVoice(context.info, voice) || voice.empty()) {
    return InvalidArgument("model '", context.model, "' has no voice ", Shown(value),
                           "; it has: ", absl::StrJoin(context.info.voices, ", "));
  }
  manner.voice = std::move(voice);
  return absl::OkStatus();
}

absl::Status SetLanguage(std::string_view value, const MarkupContext& context, bool keep_voice,
                         models::SpeechManner& manner) {
  std::string language = models::LookUpLanguage(context.info.languages, value);
  if (language.empty()) {
    return InvalidArgument("model '", context.model, "' does not speak ", Shown(value),
                           "; it speaks: ", absl::StrJoin(context.info.languages, ", "));
  }
  manner.language = std::move(language);
  if (keep_voice || !models::IsMadeFor(context.info, value)) return absl::OkStatus();
  const std::vector<std::string> voices = models::VoicesFor(context.info, value);
  const std::string_view voice = manner.voice.empty() ? context.voice : manner.voice;
  if (std::ranges::find(voices, voice) == voices.end())
    manner.voice = models::DefaultVoice(context.info, value);
  return absl::OkStatus();
}

}  // namespace millrace::speech
