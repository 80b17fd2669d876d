#include "server/frontends/libretranslate/translate_terms.h"

#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_member.h"
#include "server/json/json_parse.h"

namespace millrace::server {

using nlohmann::json;

absl::Status TakeGlossary(const json& value, std::vector<models::GlossaryEntry>& out) {
  if (!value.is_array()) return WrongType("glossary", "a list of objects", value);
  for (const json& entry : value) {
    const std::string place = StrCat("glossary[", out.size(), "]");
    if (!entry.is_object()) return WrongType(place, "an object with a source and a target", entry);
    models::GlossaryEntry& taken = out.emplace_back();
    for (const auto& [name, text] :
         {std::pair("source", &taken.source), std::pair("target", &taken.target)}) {
      const std::string field = StrCat(place, ".", std::string_view(name));
      const auto member = entry.find(name);
      if (member == entry.end()) return InvalidArgument(field, ": is missing");
      MILLRACE_RETURN_IF_ERROR(TakeString(*member, field, *text));
    }
  }
  return absl::OkStatus();
}

absl::Status TakeGlossaryText(std::string_view text, std::vector<models::GlossaryEntry>& out) {
  if (text.empty()) return absl::OkStatus();
  MILLRACE_ASSIGN_OR_RETURN(const json value, ParseJson("glossary:", text));
  return TakeGlossary(value, out);
}

}  // namespace millrace::server
