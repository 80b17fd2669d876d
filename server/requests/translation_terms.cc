#include "server/requests/translation_terms.h"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/requests/text_field.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxTerms = 1'000;
constexpr size_t kMaxCharacters = 200;

absl::Status CheckCount(std::string_view field, size_t count) {
  if (count <= kMaxTerms) return absl::OkStatus();
  return InvalidArgument(field, ": has ", count, " entries; at most ", kMaxTerms, " are allowed");
}

absl::Status CheckTerm(const std::string& field, std::string_view term) {
  MILLRACE_RETURN_IF_ERROR(CheckText(field, term));
  const size_t characters = models::CountCodePoints(term);
  if (characters <= kMaxCharacters) return absl::OkStatus();
  return InvalidArgument(field, ": has ", characters, " characters; at most ", kMaxCharacters,
                         " are allowed");
}

}  // namespace

absl::Status CheckTerms(std::vector<models::GlossaryEntry>& glossary,
                        const std::vector<std::string>& do_not_translate) {
  absl::Status status = CheckCount("glossary", glossary.size());
  status.Update(CheckCount("do_not_translate", do_not_translate.size()));
  if (!status.ok()) return status;
  std::vector<models::GlossaryEntry> entries;
  std::map<std::string_view, size_t> places;  // index in the glossary, by source
  for (size_t i = 0; i < glossary.size(); ++i) {
    const models::GlossaryEntry& entry = glossary[i];
    status.Update(CheckTerm(StrCat("glossary[", i, "].source"), entry.source));
    status.Update(CheckTerm(StrCat("glossary[", i, "].target"), entry.target));
    if (!status.ok()) return status;
    const auto [found, is_new] = places.emplace(entry.source, i);
    if (is_new) {
      entries.push_back(entry);
    } else if (const models::GlossaryEntry& first = glossary[found->second];
               first.target != entry.target) {
      return InvalidArgument("glossary[", i, "]: '", entry.source, "' is '", entry.target,
                             "' here and '", first.target, "' in glossary[", found->second,
                             "]; a term has one translation");
    }
  }
  for (size_t i = 0; i < do_not_translate.size(); ++i) {
    const std::string field = StrCat("do_not_translate[", i, "]");
    if (status = CheckTerm(field, do_not_translate[i]); !status.ok()) return status;
    if (const auto found = places.find(do_not_translate[i]); found != places.end()) {
      return InvalidArgument(field, ": '", do_not_translate[i], "' is translated by glossary[",
                             found->second, "]; it can be in one of the two");
    }
  }
  glossary = std::move(entries);
  return absl::OkStatus();
}

}  // namespace millrace::server
