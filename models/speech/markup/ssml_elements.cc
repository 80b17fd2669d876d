#include "models/speech/markup/ssml_elements.h"

#include <algorithm>
#include <array>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/markup/markup_values.h"
#include "models/speech/markup/say_as.h"
#include "models/text/trim.h"

namespace millrace::speech {
namespace {

constexpr std::string_view kLangAttribute = "xml:lang";

struct KnownElement {
  std::string_view name;
  SsmlElement element;
  std::string_view attributes;  // for messages
};

constexpr std::array<KnownElement, 10> kElements = {{
    {"speak", SsmlElement::kSpeak, "version, xml:lang and xmlns"},
    {"p", SsmlElement::kParagraph, "xml:lang"},
    {"s", SsmlElement::kSentence, "xml:lang"},
    {"break", SsmlElement::kBreak, "time and strength"},
    {"prosody", SsmlElement::kProsody, "rate and volume"},
    {"voice", SsmlElement::kVoice, "name and xml:lang"},
    {"lang", SsmlElement::kLang, "xml:lang"},
    {"sub", SsmlElement::kSub, "alias"},
    {"phoneme", SsmlElement::kPhoneme, "ph and alphabet"},
    {"say-as", SsmlElement::kSayAs, "interpret-as and format"},
}};

const KnownElement& Known(SsmlElement element) { return kElements[static_cast<size_t>(element)]; }

std::string Tag(SsmlElement element) { return StrCat("<", Known(element).name, ">"); }

absl::Status Unsupported(SsmlElement element, std::string_view attribute) {
  return InvalidArgument("the attribute ", Shown(attribute), " is not supported; allowed are ",
                         Known(element).attributes);
}

absl::Status Missing(std::string_view attribute) {
  return InvalidArgument(attribute, ": is missing");
}

// Puts a name before a message.
absl::Status In(std::string_view name, const absl::Status& status) {
  if (status.ok()) return status;
  return InvalidArgument(name, ": ", Message(status));
}

absl::Status TakeShort(std::string_view value, std::string& out) {
  const std::string_view trimmed = models::Trim(value);
  if (trimmed.empty()) return InvalidArgument("is empty");
  if (trimmed.size() > kMaxReadingBytes) {
    return InvalidArgument("has ", trimmed.size(), " bytes; at most ", kMaxReadingBytes,
                           " are allowed");
  }
  out = std::string(trimmed);
  return absl::OkStatus();
}

bool Has(const SsmlAttributes& attributes, std::string_view name) {
  return std::ranges::find(attributes, name, &SsmlAttributes::value_type::first) !=
         attributes.end();
}

}  // namespace

bool SsmlElements::IsWithin(SsmlElement element) const {
  return std::ranges::find(open_, element, &Open::element) != open_.end();
}

absl::Status SsmlElements::CheckParent(SsmlElement element) const {
  const bool is_root = open_.empty() || open_.size() == implied_elements_;
  if (element == SsmlElement::kSpeak ? !is_root : open_.empty()) {
    return InvalidArgument(open_.empty() ? "the first element must be <speak>"
                                         : "is not allowed within another element");
  }
  if (open_.empty()) return absl::OkStatus();
  const SsmlElement parent = open_.back().element;
  const bool nested = (element == SsmlElement::kParagraph && IsWithin(SsmlElement::kParagraph)) ||
                      ((element == SsmlElement::kParagraph || element == SsmlElement::kSentence) &&
                       IsWithin(SsmlElement::kSentence));
  if (parent == SsmlElement::kBreak || TakesOnlyText(parent) || nested) {
    return InvalidArgument("is not allowed within ",
                           Tag(!nested                            ? parent
                               : IsWithin(SsmlElement::kSentence) ? SsmlElement::kSentence
                                                                  : SsmlElement::kParagraph));
  }
  return absl::OkStatus();
}

absl::Status SsmlElements::Begin(std::string_view name, const SsmlAttributes& attributes,
                                 std::string place) {
  const auto known = std::ranges::find(kElements, name, &KnownElement::name);
  if (known == kElements.end()) {
    std::string names;
    for (const KnownElement& element : kElements)
      names += StrCat(names.empty() ? "<" : ", <", element.name, ">");
    return InvalidArgument("the element ", Shown(name), " is not supported; these are: ", names);
  }
  Open open;
  open.element = known->element;
  open.manner_before = builder_.manner();
  open.reading.place = std::move(place);
  models::SpeechManner manner = builder_.manner();
  absl::Status status = CheckParent(open.element);
  for (const auto& [attribute, value] : attributes) {
    if (status.ok()) status = TakeAttribute(open, attribute, value, manner);
  }
  if (status.ok()) status = CheckComplete(open, attributes);
  if (status.ok() && open.element == SsmlElement::kBreak) status = AddBreak(attributes);
  if (!status.ok()) return In(Tag(open.element), status);
  if (open.element == SsmlElement::kParagraph) builder_.AddBreak(models::SpeechBreak::kParagraph);
  if (open.element == SsmlElement::kSentence) builder_.AddBreak(models::SpeechBreak::kSentence);
  if (TakesOnlyText(open.element)) open.spaced = std::exchange(space_, false);
  builder_.SetManner(std::move(manner));
  open_.push_back(std::move(open));
  return absl::OkStatus();
}

absl::Status SsmlElements::TakeSpeakAttribute(std::string_view name, std::string_view value,
                                              models::SpeechManner& manner) {
  if (name == kLangAttribute)
    return In(name, SetLanguage(value, context_, context_.has_voice, manner));
  if (name == "version") {
    if (value == "1.0" || value == "1.1") return absl::OkStatus();
    return InvalidArgument(name, ": ", Shown(value), " is not allowed; it is 1.0 or 1.1");
  }
  // These name XML's vocabularies, of which only elements without a prefix are known.
  if (name == "xmlns" || name.starts_with("xmlns:") || name == "xsi:schemaLocation")
    return absl::OkStatus();
  return Unsupported(SsmlElement::kSpeak, name);
}

absl::Status SsmlElements::TakeAttribute(Open& open, std::string_view name, std::string_view value,
                                         models::SpeechManner& manner) {
  switch (open.element) {
    case SsmlElement::kSpeak:
      return TakeSpeakAttribute(name, value, manner);
    case SsmlElement::kBreak:
      if (name == "time" || name == "strength") return absl::OkStatus();  // see AddBreak
      break;
    case SsmlElement::kProsody:
      if (name == "rate") return In(name, SetRate(value, context_, manner));
      if (name == "volume") return In(name, SetVolume(value, manner));
      break;
    case SsmlElement::kVoice:
      if (name == "name") return In(name, SetVoice(value, context_, manner));
      [[fallthrough]];
    case SsmlElement::kParagraph:
    case SsmlElement::kSentence:
    case SsmlElement::kLang:
      if (name == kLangAttribute)
        return In(name, SetLanguage(value, context_, /*keep_voice=*/false, manner));
      break;
    case SsmlElement::kSub:
      if (name == "alias") return In(name, TakeShort(value, open.alias));
      break;
    case SsmlElement::kPhoneme:
      if (name == "ph") return In(name, TakeShort(value, open.reading.phonemes));
      if (name == "alphabet") {
        open.reading.is_ipa = value == "ipa";
        if (open.reading.is_ipa || value == "x-voice") return absl::OkStatus();
        return InvalidArgument(
            name, ": ", Shown(value),
            " is not supported; it is ipa, or x-voice for the voice's own symbols");
      }
      break;
    case SsmlElement::kSayAs:
      if (name == "interpret-as") return In(name, TakeShort(value, open.interpret_as));
      if (name == "format") return In(name, TakeShort(value, open.format));
      break;
  }
  return Unsupported(open.element, name);
}

absl::Status SsmlElements::CheckComplete(const Open& open, const SsmlAttributes& attributes) const {
  switch (open.element) {
    case SsmlElement::kVoice:
      if (!attributes.empty()) return absl::OkStatus();
      return Missing("name");
    case SsmlElement::kProsody:
      return attributes.empty() ? Missing("rate or volume") : absl::OkStatus();
    case SsmlElement::kLang:
      return attributes.empty() ? Missing(kLangAttribute) : absl::OkStatus();
    case SsmlElement::kSub:
      return open.alias.empty() ? Missing("alias") : absl::OkStatus();
    case SsmlElement::kPhoneme:
      if (open.reading.phonemes.empty()) return Missing("ph");
      // A default alphabet would be a guess.
      return Has(attributes, "alphabet") ? absl::OkStatus() : Missing("alphabet");
    case SsmlElement::kSayAs:
      return open.interpret_as.empty() ? Missing("interpret-as") : absl::OkStatus();
    default:
      return absl::OkStatus();
  }
}

absl::Status SsmlElements::AddBreak(const SsmlAttributes& attributes) {
  // A time says exactly what a strength only names.
  absl::StatusOr<double> seconds = ParseStrength("medium");
  for (const auto& [name, value] : attributes) {
    if (name == "time") continue;
    seconds = ParseStrength(value);
    if (!seconds.ok()) return In(name, seconds.status());
  }
  for (const auto& [name, value] : attributes) {
    if (name != "time") continue;
    seconds = ParsePause(value);
    if (!seconds.ok()) return In(name, seconds.status());
  }
  return builder_.AddPause(*seconds);
}

void SsmlElements::Text(std::string_view text, size_t source_byte) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(models::kAsciiSpace, at);
    if (begin != at) space_ = true;
    if (begin == std::string_view::npos) return;
    at = std::min(text.find_first_of(models::kAsciiSpace, begin), text.size());
    const std::string_view word = text.substr(begin, at - begin);
    const bool spaced = std::exchange(space_, false);
    if (open_.empty() || !TakesOnlyText(open_.back().element)) {
      builder_.Append(word, source_byte + begin, spaced);
      continue;
    }
    Open& open = open_.back();
    std::string& written = open.reading.written;
    if (written.empty()) {
      open.reading_byte = source_byte + begin;
      open.spaced = open.spaced || spaced;
    } else if (spaced) {
      written += ' ';
    }
    written += word;
  }
}

absl::Status SsmlElements::EndReading(Open& open) {
  models::SpeechReading& reading = open.reading;
  std::string checked;
  if (absl::Status status = TakeShort(reading.written, checked); !status.ok())
    return In("its text", status);
  std::string spoken = std::move(open.alias);
  if (open.element == SsmlElement::kSayAs) {
    std::string_view language = open.manner_before.language;
    if (language.empty()) language = context_.language;
    if (language.empty()) language = context_.info.language;
    MILLRACE_ASSIGN_OR_RETURN(auto words,
                              SayAs(open.interpret_as, open.format, reading.written, language));
    if (words.empty()) return InvalidArgument("its text: there is nothing to say");
    spoken = std::move(words);
  }
  builder_.AppendReading(spoken, std::move(reading), open.reading_byte, open.spaced);
  return absl::OkStatus();
}

std::string SsmlElements::Unclosed() const {
  const Open& open = open_.back();
  return StrCat(open.reading.place, ": ", Tag(open.element), ": is not closed");
}

absl::Status SsmlElements::End() {
  Open open = std::move(open_.back());
  open_.pop_back();
  if (TakesOnlyText(open.element)) {
    if (absl::Status status = EndReading(open); !status.ok()) return In(Tag(open.element), status);
  }
  if (open.element == SsmlElement::kParagraph) builder_.AddBreak(models::SpeechBreak::kParagraph);
  if (open.element == SsmlElement::kSentence) builder_.AddBreak(models::SpeechBreak::kSentence);
  builder_.SetManner(std::move(open.manner_before));
  return absl::OkStatus();
}

}  // namespace millrace::speech
