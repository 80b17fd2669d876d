#include "models/translation/bpe_model.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/utf8.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kEnd = "</w>";
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581
// A longer word, in bytes, is divided as several are, because each merge looks at all of a word.
constexpr size_t kMostOfWord = 512;

}  // namespace

absl::StatusOr<std::shared_ptr<const PieceModel>> BpeModel::Read(std::string_view json) {
  const nlohmann::json read = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return DataLoss("is no JSON object");
  for (const char* field : {"dividing", "joining", "merges"})
    if (!read.contains(field) || !read[field].is_array()) return DataLoss("has no ", field);
  MILLRACE_ASSIGN_OR_RETURN(auto dividing, TextRules::Read(read["dividing"]));
  MILLRACE_ASSIGN_OR_RETURN(auto joining, TextRules::Read(read["joining"]));
  std::shared_ptr<BpeModel> model(new BpeModel(std::move(dividing), std::move(joining)));
  model->own_end_ = read.value("own_end", nlohmann::json()) == true;
  for (const nlohmann::json& merge : read["merges"]) {
    if (!merge.is_string()) return DataLoss("a merge is no text");
    model->ranks_.emplace(merge.get<std::string>(), model->ranks_.size());
  }
  return model;
}

void BpeModel::ShowIds(std::string_view text,
                       absl::FunctionRef<void(std::span<const int32_t>)> take) const {
  const int32_t id = 0;
  take({&id, text.empty() ? size_t{0} : size_t{1}});
}

void BpeModel::ShowPieces(std::string_view text,
                          absl::FunctionRef<void(std::string_view, size_t)> take) const {
  const PlacedText words = dividing_.Apply(text);
  for (size_t at = 0; at < words.text.size();) {
    size_t end = std::min(words.text.find(' ', at), words.text.size());
    if (end - at > kMostOfWord) {
      end = at + kMostOfWord;
      while (end > at + 1 && IsContinuationByte(words.text[end])) --end;
    }
    const bool last = end == words.text.size() || words.text[end] == ' ';
    if (end > at) {
      std::vector<std::string> pieces = Divide({words.text.data() + at, end - at});
      for (size_t i = 0; i < pieces.size(); ++i) {
        const size_t bytes = pieces[i].size();
        if (last && i + 1 == pieces.size()) pieces[i] += kSpaceMark;
        take(pieces[i], words.places[at]);
        at += bytes;
      }
    }
    at = last ? end + 1 : end;
  }
}

void BpeModel::ShowJoined(std::string_view words, TakeText take) const {
  take(joining_.Apply(words).text);
}

std::vector<std::string> BpeModel::Divide(std::string_view word) const {
  std::vector<std::string> parts;
  for (size_t at = 0; at < word.size(); at += models::DecodeAt(word, at).bytes)
    parts.emplace_back(word.substr(at, models::DecodeAt(word, at).bytes));
  if (own_end_) {
    parts.emplace_back(kEnd);
  } else {
    parts.back() += kEnd;
  }
  while (parts.size() > 1) {
    size_t best = std::numeric_limits<size_t>::max();
    size_t first = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks_.find(absl::StrCat(parts[i], " ", parts[i + 1]));
      if (found == ranks_.end() || found->second >= best) continue;
      best = found->second;
      first = i;
    }
    if (best == std::numeric_limits<size_t>::max()) break;
    const std::string left = parts[first];
    const std::string right = parts[first + 1];
    std::vector<std::string> merged;
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool both = i + 1 < parts.size() && parts[i] == left && parts[i + 1] == right;
      merged.push_back(both ? left + right : std::move(parts[i]));
      if (both) ++i;
    }
    parts = std::move(merged);
  }
  if (parts.back() == kEnd) {
    parts.pop_back();
  } else if (parts.back().ends_with(kEnd)) {
    parts.back().resize(parts.back().size() - kEnd.size());
  }
  return parts;
}

}  // namespace millrace::translation
