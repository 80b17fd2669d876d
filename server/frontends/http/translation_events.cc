#include "server/frontends/http/translation_events.h"

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

std::string Event(const Json& event) { return StrCat("data: ", JsonText(event), "\n\n"); }

}  // namespace

std::string TranslationPartEvent(const TranslateReply::Part& part) {
  return Event({{"type", "translation.delta"},
                {"text_index", part.text_index},
                {"text", part.text},
                {"sentence_finished", part.sentence_finished},
                {"text_finished", part.text_finished}});
}

std::string TranslationEndEvent(std::string_view answer) {
  return StrCat(R"(data: {"type":"translation.done","answer":)", answer, "}\n\n");
}

std::string TranslationErrorEvent(std::string_view message) {
  return Event({{"type", "error"}, {"error", message}});
}

}  // namespace millrace::server
