#pragma once

#include <string>

#include "models/core/strings.h"
#include "models/speech/markup/marked_text.h"

namespace millrace::speech {

// A model with three voices for two languages.
inline models::SpeechInfo TwoLanguages() {
  models::SpeechInfo info;
  info.voices = {"joe", "ann", "luc"};
  info.language = "en-US";
  info.languages = {"en-US", "fr-FR"};
  info.voice_languages = {"en-US", "en-US", "fr-FR"};
  return info;
}

// Shows the parts of a text: "{0.5s paragraph ann fr-FR x2 -6dB|their text}", of which a part has
// what is not usual.
inline std::string Shown(const MarkedText& marked) {
  std::string shown;
  for (const models::SpeechPart& part : marked.markup.parts) {
    std::string head;
    const auto add = [&head](const std::string& text) { head += (head.empty() ? "" : " ") + text; };
    if (part.pause >= 0) add(StrCat(part.pause, "s"));
    if (part.break_before == models::SpeechBreak::kSentence) add("sentence");
    if (part.break_before == models::SpeechBreak::kParagraph) add("paragraph");
    if (!part.manner.voice.empty()) add(part.manner.voice);
    if (!part.manner.language.empty()) add(part.manner.language);
    if (part.manner.speed != 1) add(StrCat("x", part.manner.speed));
    if (part.manner.gain_db != 0) add(StrCat(part.manner.gain_db, "dB"));
    shown += StrCat("{", head, "|", marked.text.substr(part.begin, part.end - part.begin), "}");
  }
  if (marked.markup.pause_after > 0) shown += StrCat(marked.markup.pause_after, "s");
  return shown;
}

}  // namespace millrace::speech
