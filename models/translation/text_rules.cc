#include "models/translation/text_rules.h"

#include <re2/re2.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "models/core/errors.h"

namespace millrace::translation {
namespace {

constexpr size_t kMostRules = 512;
constexpr size_t kMostTimes = 64;  // as long as the original, beyond which no rule is applied
constexpr int kMostGroups = 10;    // with that of the whole match

}  // namespace

absl::StatusOr<TextRules> TextRules::Read(const nlohmann::json& rules) {
  if (!rules.is_array() || rules.size() > kMostRules)
    return DataLoss("rules are a list of at most ", kMostRules);
  re2::RE2::Options options;
  options.set_log_errors(false);
  TextRules read;
  for (const nlohmann::json& rule : rules) {
    if (!rule.is_array() || rule.size() != 2 || !rule[0].is_string() || !rule[1].is_string())
      return DataLoss("a rule is a pattern and a replacement, both text");
    const auto& text = rule[0].get_ref<const std::string&>();
    auto pattern = std::make_shared<const re2::RE2>(text, options);
    std::string error = pattern->error();
    if (pattern->ok() && pattern->NumberOfCapturingGroups() < kMostGroups)
      pattern->CheckRewriteString(rule[1].get<std::string>(), &error);
    if (!error.empty() || pattern->NumberOfCapturingGroups() >= kMostGroups)
      return DataLoss("the rule '", text.substr(0, 80), "' is damaged: ", error);
    read.rules_.push_back({std::move(pattern), rule[1].get<std::string>()});
  }
  return read;
}

PlacedText TextRules::Apply(std::string_view text) const {
  PlacedText placed{std::string(text), std::vector<uint32_t>(text.size())};
  std::iota(placed.places.begin(), placed.places.end(), 0U);
  for (const Rule& rule : rules_)
    if (placed.text.size() <= kMostTimes * text.size()) rule.Apply(placed);
  return placed;
}

void TextRules::Rule::Apply(PlacedText& placed) const {
  const std::string& text = placed.text;
  re2::StringPiece groups[kMostGroups];
  PlacedText changed;
  const auto keep = [&](size_t begin, size_t end) {
    changed.text.append(text, begin, end - begin);
    const uint32_t* const places = placed.places.data();
    changed.places.insert(changed.places.end(), places + begin, places + end);
  };
  const auto begin_of = [&](const re2::StringPiece& group) {
    return static_cast<size_t>(group.data() - text.data());
  };
  size_t at = 0;
  // An empty match would come again at the same place for ever.
  while (pattern->Match(text, at, text.size(), re2::RE2::UNANCHORED, groups, kMostGroups) &&
         !groups[0].empty()) {
    const size_t begin = begin_of(groups[0]);
    keep(at, begin);
    for (size_t i = 0; i < replacement.size(); ++i) {
      if (replacement[i] == '\\' && i + 1 < replacement.size()) {
        const char next = replacement[++i];
        const re2::StringPiece& group = groups[next >= '0' && next <= '9' ? next - '0' : 0];
        if (!group.empty()) keep(begin_of(group), begin_of(group) + group.size());
      } else {
        changed.text += replacement[i];
        changed.places.push_back(placed.places[begin]);
      }
    }
    at = begin + groups[0].size();
  }
  if (at == 0) return;
  keep(at, text.size());
  placed = std::move(changed);
}

}  // namespace millrace::translation
