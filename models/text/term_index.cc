#include "models/text/term_index.h"

#include <algorithm>
#include <utility>

#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool HasCapital(std::u32string_view characters) { return std::ranges::any_of(characters, IsUpper); }

}  // namespace

void TermIndex::Add(std::string_view term, std::string_view becomes) {
  Term added;
  added.characters = DecodeUtf8(term);
  added.becomes = becomes;
  if (!added.characters.empty()) terms_.push_back(std::move(added));
}

void TermIndex::Build() {
  std::ranges::stable_sort(terms_, {}, [](const Term& term) {
    return std::pair(HasCapital(term.characters), std::u32string_view(term.characters));
  });
  any_case_ = static_cast<size_t>(
      std::ranges::find_if(terms_, [](const Term& term) { return HasCapital(term.characters); }) -
      terms_.begin());
}

TermIndex::Range TermIndex::Narrow(Range range, size_t depth, char32_t c) const {
  // A term that ends here sorts before all that continue.
  const auto at = [depth](const Term& term) {
    return depth < term.characters.size() ? std::optional(term.characters[depth]) : std::nullopt;
  };
  // In most calls all terms continue with `c`, which is seen without a search.
  if (at(terms_[range.begin]) == c && at(terms_[range.end - 1]) == c) return range;
  const auto begin = terms_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  const auto end = terms_.begin() + static_cast<std::ptrdiff_t>(range.end);
  const auto first = std::ranges::lower_bound(begin, end, std::optional(c), {}, at);
  const auto last = std::ranges::upper_bound(first, end, std::optional(c), {}, at);
  return {static_cast<size_t>(first - terms_.begin()), static_cast<size_t>(last - terms_.begin())};
}

std::optional<TermIndex::Match> TermIndex::Find(std::string_view text, size_t at, Range range,
                                                bool any_case) const {
  std::optional<Match> longest;
  CodePoint c = DecodeAt(text, at);
  for (size_t depth = 0; c.bytes > 0 && range.begin < range.end; ++depth) {
    range = Narrow(range, depth, any_case ? ToLower(c.value) : c.value);
    const bool in_word = IsWordCharacter(c.value);
    at += c.bytes;
    c = DecodeAt(text, at);
    if (range.begin == range.end || terms_[range.begin].characters.size() != depth + 1) continue;
    if (!in_word || !IsWordCharacter(c.value)) longest = {at, terms_[range.begin].becomes};
  }
  return longest;
}

std::optional<TermIndex::Match> TermIndex::Find(std::string_view text, size_t at) const {
  if (at > 0 && IsWordCharacter(DecodeAt(text, at).value) &&
      IsWordCharacter(DecodeBefore(text, at).value)) {
    return std::nullopt;
  }
  const auto exact = Find(text, at, {any_case_, terms_.size()}, false);
  const auto any = Find(text, at, {0, any_case_}, true);
  return !exact || (any && any->end > exact->end) ? any : exact;
}

}  // namespace millrace::models
