// Looks for documents, fragments and tagged texts of which the parsers make parts, readings or
// anchors that do not fit the text, or pauses beyond the limits; and for SSML that is not whole
// after it came in parts.
//
// usage: ssml_fuzz [-max_total_time=60] tests/fuzz/seeds/ssml

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/core/utf8.h"
#include "models/speech/markup/ssml.h"
#include "models/speech/markup/ssml_stream.h"
#include "models/speech/markup/tagged_text.h"
#include "models/text/unicode.h"
#include "tests/fuzz/require.h"

namespace millrace::speech {
namespace {

models::SpeechInfo MakeInfo() {
  models::SpeechInfo info;
  info.voices = {"joe", "ann"};
  info.language = "en-US";
  info.languages = {"en-US", "fr-FR"};
  info.voice_languages = {"en-US", "fr-FR"};
  return info;
}

void CheckMarkup(const MarkedText& marked, size_t characters) {
  const models::SpeechMarkup& markup = marked.markup;
  Require(models::IsValidUtf8(marked.text), "not UTF-8");
  Require(!markup.parts.empty(), "no part");
  size_t at = 0;
  double pauses = markup.pause_after;
  Require(markup.pause_after >= 0 && markup.pause_after <= kMaxMarkupPause, "a wrong last pause");
  for (const models::SpeechPart& part : markup.parts) {
    // A single space may stand between two parts.
    Require(part.begin == at && part.end >= part.begin, "parts do not follow each other");
    Require(part.pause <= kMaxMarkupPause, "a pause is too long");
    Require(part.manner.speed >= 0.25F && part.manner.speed <= 4.0F, "a wrong speed");
    if (part.pause > 0) pauses += part.pause;
    at = part.end;
  }
  Require(at == marked.text.size(), "the parts are not the text");
  Require(pauses <= kMaxMarkupPauses + 1e-6, "the pauses are too long");
  at = 0;
  for (const models::SpeechReading& reading : markup.readings) {
    Require(reading.begin >= at && reading.end > reading.begin, "readings overlap");
    Require(!reading.written.empty(), "a reading of nothing");
    at = reading.end;
  }
  Require(at <= marked.text.size(), "a reading behind the text");
  at = 0;
  size_t character = 0;
  for (const models::SpeechAnchor& anchor : markup.anchors) {
    Require(anchor.byte >= at && anchor.byte < marked.text.size(), "an anchor at a wrong byte");
    Require(anchor.character >= character && anchor.character < characters, "a wrong character");
    at = anchor.byte;
    character = anchor.character;
  }
}

void CheckStream(std::string_view text, const MarkupContext& context) {
  const bool whole =
      text.size() <= SsmlStream::kMaxTagBytes && ParseSsmlFragment(text, context).ok();
  SsmlStream stream;
  std::string all;
  const auto take = [&](const std::string& piece) {
    Require(!whole || ParseSsmlFragment(piece, context).ok(), "a piece is not whole");
    all += piece;
  };
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(at + 3, text.size());
    while (end < text.size() && IsContinuationByte(text[end])) ++end;
    take(stream.Push(text.substr(at, end - at)));
    if (end % 5 == 0) take(stream.TakeWhole());
    at = end;
  }
  take(stream.TakeRest());
  Require(all == text, "the pieces are not the text");
}

}  // namespace
}  // namespace millrace::speech

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace millrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const models::SpeechInfo kInfo = speech::MakeInfo();
  const speech::MarkupContext context = {
      .info = kInfo, .model = "m", .language = "", .voice = "joe"};
  const auto ssml = speech::ParseSsml(text, context);
  // Requests whose text is not UTF-8 are refused; expat refuses it as well.
  const bool valid = models::IsValidUtf8(text);
  Require(valid || !ssml.ok(), "took what is not UTF-8");
  if (!valid) return 0;
  const size_t characters = models::CountCodePoints(text);
  if (ssml.ok()) speech::CheckMarkup(*ssml, characters);
  const auto fragment = speech::ParseSsmlFragment(text, context);
  if (fragment.ok()) speech::CheckMarkup(*fragment, characters);
  speech::CheckStream(text, context);
  const auto tagged = speech::ParseTaggedText(text, context);
  if (tagged.ok()) speech::CheckMarkup(*tagged, characters);
  return 0;
}
