#include "models/speech/markup/markup_builder.h"

#include <algorithm>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::speech {

std::string SourcePlace::ToString() const { return StrCat("line ", line, ", column ", column); }

SourcePlace PlaceBehind(std::string_view text, SourcePlace begin) {
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
  const size_t line_begin = text.rfind('\n') + 1;  // npos + 1 is 0
  const size_t columns = models::CountCodePoints(text.substr(line_begin));
  return {begin.line + lines, columns + (lines == 0 ? begin.column : 1)};
}

void MarkupBuilder::Continue(bool spaced) {
  std::string& text = result_.text;
  std::vector<models::SpeechPart>& parts = result_.markup.parts;
  if (parts.empty() || pause_ >= 0 || break_ != models::SpeechBreak::kNone ||
      parts.back().manner != manner_) {
    parts.push_back({text.size(), text.size(), manner_, pause_, break_});
    pause_ = -1;
    break_ = models::SpeechBreak::kNone;
  } else if (spaced && parts.back().end > parts.back().begin) {
    text += ' ';
  }
}

void MarkupBuilder::Anchor(size_t source_byte) {
  std::vector<models::SpeechAnchor>& anchors = result_.markup.anchors;
  const size_t byte = result_.text.size();
  // Finish turns bytes of the source into characters.
  if (anchored_ && byte - anchors.back().byte == source_byte - anchors.back().character) return;
  anchors.push_back({byte, source_byte});
  anchored_ = true;
}

void MarkupBuilder::Append(std::string_view text, size_t source_byte, bool spaced) {
  if (text.empty()) return;
  Continue(spaced);
  Anchor(source_byte);
  result_.text += text;
  result_.markup.parts.back().end = result_.text.size();
}

void MarkupBuilder::AppendReading(std::string_view text, models::SpeechReading reading,
                                  size_t source_byte, bool spaced) {
  Continue(spaced);
  anchored_ = false;
  Anchor(source_byte);
  reading.begin = result_.text.size();
  result_.text += text.empty() ? std::string_view(reading.written) : text;
  reading.end = result_.text.size();
  result_.markup.parts.back().end = reading.end;
  result_.markup.readings.push_back(std::move(reading));
  anchored_ = false;  // the text is not as in the source
}

absl::Status MarkupBuilder::AddPause(double seconds) {
  pause_ = std::max(pause_, 0.0) + seconds;
  pauses_ += seconds;
  if (pause_ > kMaxMarkupPause) {
    return InvalidArgument("the pause there is ", pause_, " s in all; at most ", kMaxMarkupPause,
                           " s are allowed between two pieces of speech");
  }
  if (pauses_ > kMaxMarkupPauses) {
    return InvalidArgument("the pauses up to there are ", pauses_, " s in all; at most ",
                           kMaxMarkupPauses, " s are allowed in a text");
  }
  return absl::OkStatus();
}

void MarkupBuilder::AddBreak(models::SpeechBreak least) { break_ = std::max(break_, least); }

MarkedText MarkupBuilder::Finish() {
  models::SpeechMarkup& markup = result_.markup;
  if (markup.parts.empty()) markup.parts.push_back({0, 0, manner_, -1, break_});
  markup.pause_after = std::max(pause_, 0.0);
  size_t byte = 0;
  size_t characters = 0;
  for (models::SpeechAnchor& anchor : markup.anchors) {
    characters += models::CountCodePoints(source_.substr(byte, anchor.character - byte));
    byte = anchor.character;
    anchor.character = characters;
  }
  result_.manner_after = manner_;
  result_.break_after = break_;
  return std::move(result_);
}

}  // namespace millrace::speech
