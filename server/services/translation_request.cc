#include "server/services/translation_request.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/services/text_field.h"
#include "server/services/translation_terms.h"
#include "server/services/utf8.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxTexts = 256;
constexpr size_t kMaxCharacters = 100'000;

absl::Status CheckLanguage(std::string_view field, const std::string& asked,
                           const std::vector<std::string>& have, const std::string& model) {
  constexpr size_t kMaxShown = 32;
  if (asked.empty() || models::HasLanguage(have, asked)) return absl::OkStatus();
  std::string allowed;
  for (size_t i = 0; i < std::min(have.size(), kMaxShown); ++i)
    absl::StrAppend(&allowed, i == 0 ? "'" : ", '", have[i], "'");
  if (have.size() > kMaxShown)
    absl::StrAppend(&allowed, " and ", have.size() - kMaxShown, " more, which the model list has");
  return absl::InvalidArgumentError(StrCat(field, ": '", asked.substr(0, 64),
                                           "' is not what model '", model, "' has: ", allowed));
}

}  // namespace

absl::StatusOr<Work> MakeTranslationWork(TranslationRequest request, const Services& services) {
  models::TranslateInput& input = request.input;
  if (input.texts.empty())
    return absl::InvalidArgumentError("texts: is empty; 1 to 256 are allowed");
  if (input.texts.size() > kMaxTexts) {
    return absl::InvalidArgumentError(
        StrCat("texts: has ", input.texts.size(), " entries; at most ", kMaxTexts, " are allowed"));
  }
  size_t characters = 0;
  for (size_t i = 0; i < input.texts.size(); ++i) {
    if (absl::Status status = CheckText(StrCat("texts[", i, "]"), input.texts[i]); !status.ok())
      return status;
    characters += CountCharacters(input.texts[i]);
  }
  absl::Status status = CheckTotal("texts", characters, kMaxCharacters);
  status.Update(CheckTerms(input.glossary, input.do_not_translate));
  status.Update(CheckVersion(request.model, request.model_version));
  if (!status.ok()) return status;
  auto model = request.model.empty()
                   ? services.models.FindTranslator(input.source_language, input.target_language)
                   : services.models.FindForTask(models::Task::kTranslation, request.model,
                                                 request.model_version);
  if (!model.ok()) return model.status();
  const models::ModelInfo& info = (*model)->info();
  status.Update(
      CheckLanguage("source_language", input.source_language, SourceLanguages(info), info.name));
  status.Update(
      CheckLanguage("target_language", input.target_language, TargetLanguages(info), info.name));
  if (!status.ok()) return status;
  return Work{*std::move(model), std::move(input), characters};
}

}  // namespace millrace::server
