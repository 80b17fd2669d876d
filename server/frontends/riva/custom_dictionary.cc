#include "server/frontends/riva/custom_dictionary.h"

#include <algorithm>
#include <cstddef>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/core/utf8.h"
#include "models/text/trim.h"

namespace millrace::server {
namespace {

constexpr std::string_view kFieldSeparator = "  ";
constexpr size_t kMaxEntries = 1'000;
// They bound how much longer a text becomes.
constexpr size_t kMaxWordBytes = 100;
constexpr size_t kMaxPhonemeBytes = 100;
// These characters would end the pronunciation, or begin another one.
constexpr std::string_view kReserved = "[]()/";

absl::Status BadEntry(std::string_view entry, std::string_view what) {
  return InvalidArgument("custom_dictionary: the entry ", Shown(entry), " ", what);
}

absl::Status CheckSide(std::string_view entry, std::string_view side, size_t most,
                       std::string_view name) {
  if (side.empty()) return BadEntry(entry, "is not a word, two spaces and its phonemes");
  if (side.size() > most)
    return BadEntry(
        entry, StrCat("has ", name, " of ", side.size(), " bytes; at most ", most, " are allowed"));
  if (side.find_first_of(kReserved) != std::string_view::npos ||
      side.find('\0') != std::string_view::npos)
    return BadEntry(entry, StrCat("has one of ", kReserved, " or a NUL in ", name));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CustomDictionary> CustomDictionary::Parse(std::string_view list) {
  CustomDictionary result;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view entry = models::Trim(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (entry.empty()) continue;
    const size_t middle = entry.find(kFieldSeparator);
    const bool has_both = middle != std::string_view::npos;
    const std::string_view word = has_both ? models::Trim(entry.substr(0, middle)) : "";
    const std::string_view phonemes = has_both ? models::Trim(entry.substr(middle)) : "";
    absl::Status status = CheckSide(entry, word, kMaxWordBytes, "a word");
    status.Update(CheckSide(entry, phonemes, kMaxPhonemeBytes, "phonemes"));
    if (!status.ok()) return status;
    if (result.entries_.size() == kMaxEntries) {
      return InvalidArgument("custom_dictionary: has more than ", kMaxEntries,
                             " entries, which is the most allowed");
    }
    result.entries_.emplace_back(word, phonemes);
  }
  for (const auto& [word, phonemes] : result.entries_) result.words_.Add(word, phonemes);
  result.words_.Build();
  return result;
}

std::string CustomDictionary::Apply(std::string_view text) const {
  if (empty()) return std::string(text);
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    if (const auto word = words_.Find(text, at)) {
      result += StrCat("[", text.substr(at, word->end - at), "](/", word->becomes, "/)");
      at = word->end;
      continue;
    }
    do {
      result += text[at++];
    } while (at < text.size() && IsContinuationByte(text[at]));
  }
  return result;
}

}  // namespace millrace::server
