#include "server/requests/unread_scripts.h"

#include <variant>

#include "absl/strings/str_join.h"
#include "models/core/payload.h"
#include "models/core/strings.h"
#include "models/text/foreign_script.h"

namespace millrace::server {

std::string UnreadScriptsWarning(const SpeechWork& work) {
  const auto& input = std::get<models::SynthesizeInput>(work.work.input);
  if (input.is_phonemes) return {};
  const models::SpeechInfo& info = work.work.model->info().speech();
  const models::ForeignScripts scripts = models::FindForeignScripts(
      input.text, input.language.empty() ? info.language : input.language);
  if (scripts.names.empty()) return {};
  return StrCat("299 millrace \"not read: ", absl::StrJoin(scripts.names, ", "), "\"");
}

}  // namespace millrace::server
