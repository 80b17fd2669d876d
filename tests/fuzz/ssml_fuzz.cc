// Looks for documents and tagged texts of which the parsers make parts, readings or anchors that do
// not fit the text, or pauses beyond the limits.
//
// usage: ssml_fuzz [-max_total_time=60] tests/fuzz/seeds/ssml

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "models/speech/markup/ssml.h"
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
  const auto tagged = speech::ParseTaggedText(text, context);
  if (tagged.ok()) speech::CheckMarkup(*tagged, characters);
  return 0;
}
