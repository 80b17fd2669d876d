#include "models/speech/markup/ssml.h"

#include <expat.h>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/markup/markup_builder.h"
#include "models/speech/markup/ssml_elements.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxElements = 20'000;
// They stand around a fragment.
constexpr std::string_view kRoot = "<speak>";
constexpr std::string_view kRootEnd = "</speak>";

// Parses one document, or a fragment within a root. Expat calls the functions that begin with On,
// with this as `self`.
class SsmlParser {
 public:
  // root_bytes: of the root before a fragment; 0: it is a document.
  SsmlParser(std::string_view document, size_t root_bytes, std::string_view source,
             const MarkupContext& context)
      : document_(document),
        root_bytes_(root_bytes),
        begin_(context.begin),
        builder_(source, context.manner),
        elements_(context, builder_, /*implied_elements=*/root_bytes == 0 ? 0 : 1),
        parser_(XML_ParserCreate("UTF-8")) {}

  absl::StatusOr<MarkedText> Parse() {
    XML_Parser parser = parser_.get();
    if (parser == nullptr) return absl::ResourceExhaustedError("there is no memory for SSML");
    XML_SetUserData(parser, this);
    XML_SetElementHandler(parser, OnStart, OnEnd);
    XML_SetCharacterDataHandler(parser, OnText);
    XML_SetStartDoctypeDeclHandler(parser, OnDoctype);
    XML_SetProcessingInstructionHandler(parser, OnInstruction);
    const bool good = XML_Parse(parser, document_.data(), static_cast<int>(document_.size()),
                                /*isFinal=*/1) == XML_STATUS_OK;
    if (thrown_) std::rethrow_exception(thrown_);
    if (!status_.ok()) return status_;
    if (!good) return Malformed();
    return builder_.Finish();
  }

 private:
  struct Free {
    void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
  };

  static void XMLCALL OnStart(void* self, const XML_Char* name, const XML_Char** attributes) {
    auto* parser = static_cast<SsmlParser*>(self);
    parser->Run([&] { return parser->Begin(name, attributes); });
  }
  static void XMLCALL OnEnd(void* self, const XML_Char* /*name*/) {
    auto* parser = static_cast<SsmlParser*>(self);
    --parser->depth_;
    parser->Run([&] { return parser->elements_.End(); });
  }
  static void XMLCALL OnText(void* self, const XML_Char* text, int bytes) {
    auto* parser = static_cast<SsmlParser*>(self);
    parser->Run([&] {
      const auto at = static_cast<size_t>(XML_GetCurrentByteIndex(parser->parser_.get()));
      parser->elements_.Text({text, static_cast<size_t>(bytes)}, at - parser->root_bytes_);
      return absl::OkStatus();
    });
  }
  static void XMLCALL OnDoctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*,
                                int) {
    auto* parser = static_cast<SsmlParser*>(self);
    parser->Run([&] {
      // Expat calls this at its end.
      const auto end = static_cast<size_t>(XML_GetCurrentByteIndex(parser->parser_.get()));
      const size_t begin = parser->document_.rfind("<!DOCTYPE", end);
      parser->place_ = PlaceBehind(parser->document_.substr(0, begin)).ToString();
      return InvalidArgument("a DOCTYPE is not allowed");
    });
  }
  static void XMLCALL OnInstruction(void* self, const XML_Char* target, const XML_Char*) {
    static_cast<SsmlParser*>(self)->Run([&] {
      return InvalidArgument("the processing instruction ", Shown(target), " is not supported");
    });
  }

  // Calls a function, and stops the parser when it fails. Nothing may be thrown through expat.
  void Run(absl::FunctionRef<absl::Status()> function) {
    if (!status_.ok() || thrown_) return;
    try {
      if (absl::Status status = function(); !status.ok())
        status_ =
            InvalidArgument("text: ", place_.empty() ? Place() : place_, ": ", Message(status));
    } catch (...) {
      thrown_ = std::current_exception();
    }
    if (!status_.ok() || thrown_) XML_StopParser(parser_.get(), XML_FALSE);
  }

  absl::Status Begin(std::string_view name, const XML_Char** attributes) {
    if (++depth_ > kMaxDepth) {
      return InvalidArgument("element <", Name(name), "> is nested ", depth_, " deep; ", kMaxDepth,
                             " are allowed");
    }
    if (++count_ > kMaxElements) {
      return InvalidArgument("there are more than ", kMaxElements, " elements, which is the limit");
    }
    SsmlAttributes pairs;
    for (; *attributes != nullptr; attributes += 2)
      pairs.emplace_back(attributes[0], attributes[1]);
    return elements_.Begin(name, pairs, Place());
  }

  // Returns what expat found wrong.
  absl::Status Malformed() const {
    const XML_Error error = XML_GetErrorCode(parser_.get());
    if (error == XML_ERROR_NO_MEMORY)
      return absl::ResourceExhaustedError("there is no memory for SSML");
    const auto at = static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get()));
    if (error == XML_ERROR_TAG_MISMATCH && root_bytes_ != 0 &&
        at + kRootEnd.size() >= document_.size())
      return InvalidArgument("text: ", elements_.Unclosed());
    if (error == XML_ERROR_NO_ELEMENTS && root_bytes_ != 0) {
      // The end of the root closed a <speak> of the fragment.
      const std::string_view fragment =
          document_.substr(root_bytes_, document_.size() - root_bytes_ - kRootEnd.size());
      return InvalidArgument("text: ", PlaceBehind(fragment, begin_).ToString(),
                             ": <speak>: is not closed");
    }
    if (error == XML_ERROR_UNDEFINED_ENTITY) {
      const std::string_view rest = std::string_view(document_).substr(at);
      const std::string_view name = rest.substr(0, rest.find(';') + 1);
      return InvalidArgument(
          "text: ", Place(), ": the entity ", Shown(name),
          " is not allowed; &amp; &lt; &gt; &quot; &apos; and numbers such as &#233; are");
    }
    return InvalidArgument("text: ", Place(), ": not well-formed SSML: ", XML_ErrorString(error));
  }

  std::string Place() const {
    SourcePlace place{XML_GetCurrentLineNumber(parser_.get()),
                      XML_GetCurrentColumnNumber(parser_.get()) + 1};
    if (place.line == 1) place.column = place.column + begin_.column - 1 - root_bytes_;
    place.line += begin_.line - 1;
    return place.ToString();
  }
  // Returns a name for a message.
  static std::string Name(std::string_view name) { return std::string(name.substr(0, 64)); }

  const std::string_view document_;
  const size_t root_bytes_;
  const SourcePlace begin_;
  MarkupBuilder builder_;
  SsmlElements elements_;
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_;
  size_t depth_ = 0;
  size_t count_ = 0;
  std::string place_;  // the place of the error, if it is not the current one
  absl::Status status_;
  std::exception_ptr thrown_;
};

}  // namespace

absl::StatusOr<MarkedText> ParseSsml(std::string_view document, const MarkupContext& context) {
  return SsmlParser(document, 0, document, context).Parse();
}

absl::StatusOr<MarkedText> ParseSsmlFragment(std::string_view fragment,
                                             const MarkupContext& context) {
  const std::string document = StrCat(kRoot, fragment, kRootEnd);
  return SsmlParser(document, kRoot.size(), fragment, context).Parse();
}

}  // namespace millrace::speech
