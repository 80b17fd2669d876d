#include "models/speech/markup/ssml.h"

#include <expat.h>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/speech/markup/markup_builder.h"
#include "models/speech/markup/ssml_elements.h"

namespace millrace::speech {
namespace {

constexpr size_t kMaxDepth = 32;
constexpr size_t kMaxElements = 20'000;

// Parses one document. Expat calls the functions that begin with On, with this as `self`.
class SsmlParser {
 public:
  SsmlParser(std::string_view document, const MarkupContext& context)
      : document_(document),
        builder_(document, context.manner),
        elements_(context, builder_),
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
      const XML_Index at = XML_GetCurrentByteIndex(parser->parser_.get());
      parser->elements_.Text({text, static_cast<size_t>(bytes)}, static_cast<size_t>(at));
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
      parser->place_ = PlaceInSource(parser->document_, begin);
      return absl::InvalidArgumentError("a DOCTYPE is not allowed");
    });
  }
  static void XMLCALL OnInstruction(void* self, const XML_Char* target, const XML_Char*) {
    static_cast<SsmlParser*>(self)->Run([&] {
      return absl::InvalidArgumentError(
          StrCat("the processing instruction ", Shown(target), " is not supported"));
    });
  }

  // Calls a function, and stops the parser when it fails. Nothing may be thrown through expat.
  void Run(absl::FunctionRef<absl::Status()> function) {
    if (!status_.ok() || thrown_) return;
    try {
      if (absl::Status status = function(); !status.ok())
        status_ = absl::InvalidArgumentError(
            StrCat("text: ", place_.empty() ? Place() : place_, ": ", Message(status)));
    } catch (...) {
      thrown_ = std::current_exception();
    }
    if (!status_.ok() || thrown_) XML_StopParser(parser_.get(), XML_FALSE);
  }

  absl::Status Begin(std::string_view name, const XML_Char** attributes) {
    if (++depth_ > kMaxDepth) {
      return absl::InvalidArgumentError(StrCat("element <", Name(name), "> is nested ", depth_,
                                               " deep; ", kMaxDepth, " are allowed"));
    }
    if (++count_ > kMaxElements) {
      return absl::InvalidArgumentError(
          StrCat("there are more than ", kMaxElements, " elements, which is the limit"));
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
    if (error == XML_ERROR_UNDEFINED_ENTITY) {
      const auto at = static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get()));
      const std::string_view rest = std::string_view(document_).substr(at);
      const std::string_view name = rest.substr(0, rest.find(';') + 1);
      return absl::InvalidArgumentError(
          StrCat("text: ", Place(), ": the entity ", Shown(name),
                 " is not allowed; &amp; &lt; &gt; &quot; &apos; and numbers such as &#233; are"));
    }
    return absl::InvalidArgumentError(
        StrCat("text: ", Place(), ": not well-formed SSML: ", XML_ErrorString(error)));
  }

  std::string Place() const {
    return StrCat("line ", XML_GetCurrentLineNumber(parser_.get()), ", column ",
                  XML_GetCurrentColumnNumber(parser_.get()) + 1);
  }
  // Returns a name for a message.
  static std::string Name(std::string_view name) { return std::string(name.substr(0, 64)); }

  const std::string_view document_;
  MarkupBuilder builder_;
  SsmlElements elements_;
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, Free> parser_;
  size_t depth_ = 0;
  size_t count_ = 0;
  std::string place_;  // of the error, if it is not the current one
  absl::Status status_;
  std::exception_ptr thrown_;
};

}  // namespace

absl::StatusOr<MarkedText> ParseSsml(std::string_view document, const MarkupContext& context) {
  return SsmlParser(document, context).Parse();
}

}  // namespace millrace::speech
