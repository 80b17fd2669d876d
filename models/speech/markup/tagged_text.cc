#include "models/speech/markup/tagged_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/core/errors.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "models/speech/markup/markup_builder.h"
#include "models/speech/markup/markup_values.h"
#include "models/text/ascii.h"
#include "models/text/trim.h"

namespace millrace::speech {
namespace {

constexpr std::string_view kDefault = "default";
constexpr size_t kMaxTagBytes = 256;

struct BracketTag {
  std::string_view name;
  std::string_view value;
  size_t bytes = 0;  // with its brackets
};

// Returns the tag that begins with the text's first byte, a bracket.
std::optional<BracketTag> TagAt(std::string_view text) {
  const std::string_view head = text.substr(0, kMaxTagBytes);
  const size_t end = head.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view inner = head.substr(1, end - 1);
  const size_t colon = inner.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const BracketTag tag{inner.substr(0, colon), inner.substr(colon + 1), end + 1};
  if (!std::ranges::all_of(tag.name, models::IsAsciiLetter) || tag.value.empty() ||
      tag.value.find_first_of(models::kAsciiSpace) != std::string_view::npos) {
    return std::nullopt;
  }
  // A pronunciation, "[word:x](/.../)", is no tag.
  if (text.substr(end + 1).starts_with("(/")) return std::nullopt;
  return tag;
}

absl::Status Obey(const BracketTag& tag, const MarkupContext& context, MarkupBuilder& builder) {
  if (tag.name == "pause") {
    const absl::StatusOr<double> seconds = ParsePause(tag.value);
    return seconds.ok() ? builder.AddPause(*seconds) : seconds.status();
  }
  models::SpeechManner manner = builder.manner();
  absl::Status status;
  if (tag.name == "voice") {
    if (tag.value == kDefault && !models::HasVoice(context.info, tag.value)) {
      manner.voice.clear();
    } else {
      status = SetVoice(tag.value, context, manner);
    }
  } else if (tag.name == "rate") {
    manner.speed = 1;  // a tag replaces the one before
    status = SetRate(tag.value, context, manner);
  } else if (tag.name == "volume") {
    manner.gain_db = 0;
    status = SetVolume(tag.value, manner);
  } else {
    return InvalidArgument("is not supported; pause, voice, rate and volume are");
  }
  if (status.ok()) builder.SetManner(std::move(manner));
  return status;
}

}  // namespace

absl::StatusOr<MarkedText> ParseTaggedText(std::string_view text, const MarkupContext& context) {
  MarkupBuilder builder(text, context.manner);
  size_t plain = 0;  // where the text begins that was not appended yet
  size_t at = 0;
  while ((at = text.find('[', at)) != std::string_view::npos) {
    const std::optional<BracketTag> tag = TagAt(text.substr(at));
    if (!tag) {
      ++at;
      continue;
    }
    builder.Append(text.substr(plain, at - plain), plain);
    if (absl::Status status = Obey(*tag, context, builder); !status.ok()) {
      return InvalidArgument("text: ", PlaceBehind(text.substr(0, at), context.begin).ToString(),
                             ": the tag [", tag->name, ":", tag->value, "]: ", Message(status));
    }
    at += tag->bytes;
    plain = at;
  }
  builder.Append(text.substr(plain), plain);
  return builder.Finish();
}

}  // namespace millrace::speech
