#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "models/speech/markup/marked_text.h"
#include "models/speech/markup/markup_builder.h"

namespace millrace::speech {

enum class SsmlElement : uint8_t {
  kSpeak,
  kParagraph,
  kSentence,
  kBreak,
  kProsody,
  kVoice,
  kLang,
  kSub,
  kPhoneme,
  kSayAs
};

// Attributes in their order.
using SsmlAttributes = std::vector<std::pair<std::string_view, std::string_view>>;

// Obeys the elements of an SSML document, one after another, as a parser of XML finds them. Errors
// are InvalidArgument and name element, attribute and value, but not the place. Used by one thread.
class SsmlElements {
 public:
  // Both must outlive it. implied_elements: the outermost <speak> of which the client wrote none,
  // so that another one may stand within.
  SsmlElements(const MarkupContext& context, MarkupBuilder& builder, size_t implied_elements)
      : context_(context), builder_(builder), implied_elements_(implied_elements) {}

  // place: where the element begins, for errors that come later.
  absl::Status Begin(std::string_view name, const SsmlAttributes& attributes, std::string place);
  // Takes a piece of the text, which begins at a byte of the document.
  void Text(std::string_view text, size_t source_byte);
  // Ends the innermost element.
  absl::Status End();
  // Returns the error that the innermost element, of those that are open, was not closed.
  std::string Unclosed() const;

 private:
  struct Open {
    SsmlElement element = SsmlElement::kSpeak;
    models::SpeechManner manner_before;
    models::SpeechReading reading = {};  // for kSub, kPhoneme and kSayAs; collects what is written
    size_t reading_byte = 0;             // where that begins in the document
    bool spaced = false;                 // there was a space before it
    std::string alias = {};              // for kSub
    std::string interpret_as = {};       // for kSayAs
    std::string format = {};
  };

  static bool TakesOnlyText(SsmlElement element) { return element >= SsmlElement::kSub; }
  // Returns true if an element of that kind is open.
  bool IsWithin(SsmlElement element) const;
  absl::Status CheckParent(SsmlElement element) const;
  // Obeys an attribute. `manner` becomes that of the content.
  absl::Status TakeAttribute(Open& open, std::string_view name, std::string_view value,
                             models::SpeechManner& manner);
  absl::Status TakeSpeakAttribute(std::string_view name, std::string_view value,
                                  models::SpeechManner& manner);
  absl::Status CheckComplete(const Open& open, const SsmlAttributes& attributes) const;
  absl::Status AddBreak(const SsmlAttributes& attributes);
  absl::Status EndReading(Open& open);

  const MarkupContext& context_;
  MarkupBuilder& builder_;
  const size_t implied_elements_;
  std::vector<Open> open_;
  bool space_ = false;  // white space came behind what was appended
};

}  // namespace millrace::speech
