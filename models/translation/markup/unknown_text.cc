#include "models/translation/markup/unknown_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/character_category.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/numeric_text.h"
#include "models/translation/markup/word_bounds.h"

namespace millrace::translation {
namespace {

// No script has this many marks on one letter; a bound keeps the time linear.
constexpr size_t kMostMarks = 8;
constexpr char32_t kApostrophe = 0x2019;  // ’, which is also a closing quotation mark

bool IsMoney(char32_t c) { return c != 0 && CategoryOf(c) == UTF8PROC_CATEGORY_SC; }
bool IsDash(char32_t c) { return c >= 0x2012 && c <= 0x2015; }
bool IsHyphen(char32_t c) { return c == 0x2010 || c == 0x2011; }
bool IsSingleQuote(char32_t c) { return c >= 0x2018 && c <= 0x201B; }
bool IsDoubleQuote(char32_t c) {
  return (c >= 0x201C && c <= 0x201F) || c == U'«' || c == U'»' || c == U'‹' || c == U'›';
}

// Writes the numbers of a kept sum in the target's format.
void ConvertKept(KeptSpan& kept, const NumberFormats& formats) {
  std::string& written = kept.becomes;
  if (written.find('<') != std::string::npos) return;
  const std::vector<WrittenNumber> numbers = FindNumbers(written);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    const size_t size = number->end - number->begin;
    const auto converted =
        ConvertNumber(std::string_view(written).substr(number->begin, size), formats);
    if (converted) written.replace(number->begin, size, converted->text);
  }
}

class Finder {
  using Events = std::vector<MarkEvent>::const_iterator;

 public:
  Finder(const MarkedText& marked, const UnknownTextOptions& options)
      : marked_(marked),
        events_(marked.events),
        text_(marked.text),
        options_(options),
        words_(text_, options.alphabet) {}

  void Run() {
    size_t at = 0;
    for (const KeptSpan& kept : marked_.kept) {
      Search(at, kept.begin);
      at = kept.end;
    }
    Search(at, text_.size());
  }
  std::vector<KeptSpan>& found() { return found_; }
  // Returns the indices of the marks that became part of found spans, in order.
  const std::vector<size_t>& swallowed() const { return swallowed_; }

 private:
  // A character with its combining marks.
  struct Cluster {
    char32_t base = 0;
    size_t end = 0;
    CharacterFit fit = CharacterFit::kKnown;
  };
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  CharacterFit FitOf(char32_t c) const { return options_.alphabet(c); }
  bool Knows(char32_t c) const { return FitOf(c) == CharacterFit::kKnown; }

  void Search(size_t begin, size_t end) {
    words_.SetRange(begin, end);
    free_ = begin;
    for (size_t at = begin; at < end;) {
      const char c = text_[at];
      // A character without a combining mark.
      const bool alone = static_cast<unsigned char>(models::ByteAt(text_, at + 1)) < 0xCC;
      if (alone && (models::IsAsciiAlnum(c) || c == ' ')) {
        ++at;
        continue;
      }
      const Cluster cluster = ReadCluster(at);
      at = std::max(Take(at, cluster), cluster.end);
    }
  }

  Cluster ReadCluster(size_t at) const {
    const models::CodePoint base = words_.At(at);
    Cluster cluster{base.value, at + base.bytes, FitOf(base.value)};
    std::u32string characters(1, base.value);
    for (models::CodePoint c = words_.At(cluster.end);
         c.value >= 0x300 && characters.size() <= kMostMarks && IsMark(CategoryOf(c.value));
         c = words_.At(cluster.end)) {
      characters += c.value;
      cluster.end += c.bytes;
    }
    if (characters.size() == 1) return cluster;
    std::array<utf8proc_int32_t, kMostMarks + 1> composed{};
    std::ranges::copy(characters, composed.begin());
    utf8proc_ssize_t count = utf8proc_normalize_utf32(
        composed.data(), static_cast<utf8proc_ssize_t>(characters.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    cluster.fit = CharacterFit::kKnown;
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const auto c = static_cast<char32_t>(composed[static_cast<size_t>(i)]);
      if (i == 0) cluster.base = c;
      cluster.fit = std::max(cluster.fit, FitOf(c));
    }
    return cluster;
  }

  // Keeps or respells the cluster at `at`, with what belongs to it. Returns the end, or `at` if it
  // stays.
  size_t Take(size_t at, const Cluster& cluster) {
    const char32_t c = cluster.base;
    if (c == '$' && cluster.fit == CharacterFit::kKnown) return TakeDollar(at, cluster.end);
    if (cluster.fit == CharacterFit::kKnown || models::IsSpace(c)) return at;
    const utf8proc_category_t category = CategoryOf(c);
    if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF)
      return TakeInvisible(at, cluster);
    if (const std::optional<size_t> end = TakeRespelled(at, cluster)) return *end;
    if (cluster.fit == CharacterFit::kRespelled && IsHarmless(category)) return at;
    if (IsLetter(category)) {
      if (!options_.ascii_letters && !Knows(c) && Knows(models::ToLower(c))) return at;
      return KeepWord(at, cluster.end);
    }
    if (IsMark(category)) return KeepWord(at, cluster.end);
    if (IsMoney(c)) return KeepMoney(at, cluster.end);
    if (IsReference(at, c)) return Keep({at, cluster.end});
    if (IsNumber(category)) {
      const Range word = {words_.WordBegin(at, free_), words_.WordEnd(cluster.end)};
      return Keep({words_.NumberBegin(word.begin, free_), word.end});
    }
    return KeepSymbol(at, cluster);
  }

  // Returns true for the number of a note behind a word: note¹. Behind a unit it is a power: km².
  bool IsReference(size_t at, char32_t c) const {
    constexpr std::u32string_view kSuperscripts = U"¹²³⁰⁴⁵⁶⁷⁸⁹";
    constexpr std::string_view kUnits = " cm dm ft hm in km mi mm nm pol yd ";
    if (kSuperscripts.find(c) == std::u32string_view::npos) return false;
    size_t begin = at;
    size_t letters = 0;
    for (; begin > free_; ++letters) {
      const models::CodePoint before = models::DecodeBefore(text_, begin);
      if (!models::IsLower(before.value)) break;
      begin -= before.bytes;
    }
    std::string word = " ";
    word += text_.substr(begin, at - begin);
    word += ' ';
    return letters > 1 && kUnits.find(word) == std::string_view::npos;
  }

  // Returns true for letters, signs and digits: the vocabulary's spelling of them has the same
  // meaning.
  static bool IsHarmless(utf8proc_category_t category) {
    return IsLetter(category) || IsPunctuation(category) || category == UTF8PROC_CATEGORY_ND ||
           category == UTF8PROC_CATEGORY_SM || category == UTF8PROC_CATEGORY_SC;
  }

  // A soft hyphen or a joiner does not matter for the translation, but a vocabulary may take it for
  // the end of a word.
  size_t TakeInvisible(size_t at, const Cluster& cluster) {
    // A zero width space ends a word.
    if (cluster.base == kZeroWidthSpace &&
        (cluster.fit == CharacterFit::kRespelled || words_.Before(at) < kThai))
      return at;
    return Respell(at, cluster.end, "", /*returns=*/false);
  }

  // Returns nullopt if it has no other spelling.
  std::optional<size_t> TakeRespelled(size_t at, const Cluster& cluster) {
    const char32_t c = cluster.base;
    const size_t end = cluster.end;
    const bool behind_word = models::IsWordCharacter(words_.Before(at));
    const bool before_word = models::IsWordCharacter(words_.At(end).value);
    if (IsHyphen(c) && behind_word && before_word && Knows('-'))
      return Respell(at, end, "-", /*returns=*/false);
    if ((IsDash(c) || IsHyphen(c)) && Knows('-')) return TakeDash(at, end);
    if (c == U'…' && Knows('.')) return Respell(at, end, "...", /*returns=*/true);
    if (IsDoubleQuote(c) && Knows('"')) return Respell(at, end, "\"", /*returns=*/true);
    if (!IsSingleQuote(c)) return std::nullopt;
    const bool closes = c == kApostrophe && in_single_quotes_ && !before_word;
    const bool apostrophe = (c == kApostrophe && !closes) || (behind_word && before_word) ||
                            models::IsDigit(words_.At(end).value);
    if (apostrophe) {
      if (!Knows('\'')) return std::nullopt;
      return Respell(at, end, "'", /*returns=*/false);
    }
    if (!Knows('"')) return std::nullopt;
    in_single_quotes_ = !closes;
    return Respell(at, end, "\"", /*returns=*/true);
  }

  // Models read a dash as a hyphen with spaces; between numbers and sums it is part of them.
  size_t TakeDash(size_t at, size_t end) {
    const char32_t before = words_.Before(at);
    const char32_t behind = words_.At(end).value;
    if ((models::IsDigit(before) || IsMoney(before)) &&
        (models::IsDigit(behind) || IsMoney(behind))) {
      size_t begin = words_.NumberBegin(at, free_);
      if (begin > free_ && IsMoney(words_.Before(begin)))
        begin = words_.WordBegin(begin - models::DecodeBefore(text_, begin).bytes, free_);
      return Keep({begin, words_.NumberEnd(IsMoney(behind) ? end + words_.At(end).bytes : end)});
    }
    std::string_view reads = " - ";
    if (before == 0 || models::IsSpace(before)) reads.remove_prefix(1);
    if (behind == 0 || models::IsSpace(behind)) reads.remove_suffix(1);
    return Respell(at, end, reads, /*returns=*/true);
  }

  // Models know a dollar sign before a number; alone it gets lost.
  size_t TakeDollar(size_t at, size_t end) {
    const size_t space = models::IsSpace(words_.At(end).value) ? words_.At(end).bytes : 0;
    if (models::IsDigit(words_.At(end + space).value) || models::IsDigit(words_.Before(at)))
      return at;
    return Keep({at, end});
  }

  // Keeps a currency sign with the number beside it, at most one space away, and what is joined to
  // either. The number gets the separators of the target language.
  size_t KeepMoney(size_t at, size_t end) {
    const size_t kept = Keep(MoneyAround(at, end));
    ConvertKept(found_.back(), options_.formats);
    return kept;
  }

  Range MoneyAround(size_t at, size_t end) const {
    const auto sign = [](char32_t c) { return c == '-' || c == '+' || c == 0x2212; };
    size_t number = end;
    if (sign(words_.At(number).value)) number += words_.At(number).bytes;
    if (models::IsDigit(words_.At(number).value))
      return {words_.WordBegin(at, free_), words_.NumberEnd(number)};
    size_t before = at;
    if (models::IsSpace(words_.Before(at))) before -= models::DecodeBefore(text_, at).bytes;
    if (before > free_ && models::IsDigit(words_.Before(before)))
      return {words_.NumberBegin(before, free_), words_.WordEnd(end)};
    number = end;
    if (models::IsSpace(words_.At(number).value)) number += words_.At(number).bytes;
    if (models::IsDigit(words_.At(number).value))
      return {words_.WordBegin(at, free_), words_.NumberEnd(number)};
    return {words_.WordBegin(at, free_), words_.WordEnd(end)};
  }

  size_t KeepWord(size_t at, size_t end) {
    const Range word = {words_.WordBegin(at, free_), words_.WordEnd(end)};
    // The words of a name in another script become one stand-in.
    if (!found_.empty() && found_.back().end == free_ && !found_.back().reads && ends_with_word_ &&
        word.begin == free_ + 1 && text_[free_] == ' ' && !HasEventIn(free_, word.end)) {
      found_.back().becomes += ' ';
      found_.back().becomes.append(text_.substr(word.begin, word.end - word.begin));
      found_.back().end = free_ = word.end;
      return word.end;
    }
    const size_t kept = Keep(word);
    ends_with_word_ = true;
    return kept;
  }

  size_t KeepSymbol(size_t at, const Cluster& cluster) {
    constexpr std::u32string_view kOfWords = U"®™©℠";
    const char32_t c = cluster.base;
    size_t begin = at;
    size_t end = cluster.end;
    if (c < 0x80 || kOfWords.find(c) != std::u32string_view::npos) {
      begin = words_.WordBegin(begin, free_);
      end = words_.WordEnd(end);
      if (c == '<' && words_.At(end).value == '>') ++end;
      // An address or a name with a stop in it continues: @example.com, C#.NET.
      while (words_.At(end).value == '.' && words_.WordEnd(end + 1) > end + 1)
        end = words_.WordEnd(end + 1);
    }
    if (models::IsDigit(words_.Before(begin))) begin = words_.NumberBegin(begin, free_);
    if (models::IsDigit(words_.At(end).value)) end = words_.NumberEnd(end);
    return Keep({begin, end});
  }

  bool HasEventIn(size_t begin, size_t end) const {
    const auto first = std::ranges::lower_bound(events_, begin, {}, &MarkEvent::at);
    return first != events_.end() && first->at < end;
  }

  size_t Respell(size_t at, size_t end, std::string_view reads, bool returns) {
    const bool goes_on = !found_.empty() && found_.back().end == at && found_.back().reads == "";
    if (goes_on && reads.empty()) {
      found_.back().becomes += Written(at, end);
      found_.back().end = free_ = end;
      return end;
    }
    Add(at, end);
    found_.back().reads = reads;
    found_.back().returns = returns;
    return end;
  }

  // Keeps a range with its marks if each is paired within it; otherwise the marks split the range.
  size_t Keep(Range range) {
    const auto first = std::ranges::upper_bound(events_, range.begin, {}, &MarkEvent::at);
    const auto last = std::ranges::lower_bound(first, events_.end(), range.end, {}, &MarkEvent::at);
    if (first != last && KeepMarked(range, first, last)) return range.end;
    size_t begin = range.begin;
    for (auto event = first; event != last; ++event) {
      if (event->at == begin) continue;
      Add(begin, event->at);
      begin = event->at;
    }
    Add(begin, range.end);
    return range.end;
  }

  // [first, last): the marks within the range. Returns false if one of them is paired with one
  // outside.
  bool KeepMarked(Range range, Events first, Events last) {
    size_t open = 0;
    size_t opened_before = 0;
    for (auto event = first; event != last; ++event) {
      if (event->kind == MarkEvent::Kind::kOpen) ++open;
      if (event->kind == MarkEvent::Kind::kClose && open > 0) {
        --open;
      } else if (event->kind == MarkEvent::Kind::kClose) {
        ++opened_before;
      }
    }
    for (; opened_before > 0; --opened_before) {
      if (first == events_.begin()) return false;
      --first;
      if (first->kind != MarkEvent::Kind::kOpen || first->at != range.begin) return false;
    }
    for (; open > 0; --open, ++last) {
      if (last == events_.end() || last->kind != MarkEvent::Kind::kClose || last->at != range.end)
        return false;
    }
    Add(range.begin, range.begin);
    KeptSpan& kept = found_.back();
    for (auto event = first; event != last; ++event) {
      kept.becomes += Written(kept.end, event->at) + event->markup;
      kept.end = event->at;
      swallowed_.push_back(static_cast<size_t>(event - events_.begin()));
    }
    kept.becomes += Written(kept.end, range.end);
    kept.end = free_ = range.end;
    return true;
  }

  std::string Written(size_t begin, size_t end) const {
    return translation::Written(marked_, begin, end);
  }
  void Add(size_t begin, size_t end) {
    found_.push_back({begin, end, Written(begin, end)});
    free_ = end;
    ends_with_word_ = false;
  }

  const MarkedText& marked_;
  const std::vector<MarkEvent>& events_;
  const std::string_view text_;
  const UnknownTextOptions& options_;
  std::vector<KeptSpan> found_;
  std::vector<size_t> swallowed_;
  WordBounds words_;             // its range lies between two spans that are already kept
  size_t free_ = 0;              // everything before it is searched or kept
  bool ends_with_word_ = false;  // the last of found_
  bool in_single_quotes_ = false;
};

}  // namespace

void ConvertKeptSums(MarkedText& marked, const NumberFormats& formats) {
  const auto has_sign = [](std::string_view text) {
    for (size_t at = 0; at < text.size(); at += models::DecodeAt(text, at).bytes) {
      if (IsMoney(models::DecodeAt(text, at).value)) return true;
    }
    return false;
  };
  for (KeptSpan& kept : marked.kept) {
    const bool is_code = kept.becomes.find('`') != std::string::npos;
    if (!is_code && IsNumericText(kept.becomes) && has_sign(kept.becomes))
      ConvertKept(kept, formats);
  }
}

void KeepUnknownText(MarkedText& marked, const UnknownTextOptions& options) {
  Finder finder(marked, options);
  finder.Run();
  std::vector<KeptSpan>& found = finder.found();
  if (found.empty()) return;
  auto swallowed = finder.swallowed().begin();
  size_t left = 0;
  for (size_t i = 0; i < marked.events.size(); ++i) {
    if (swallowed != finder.swallowed().end() && *swallowed == i) {
      ++swallowed;
    } else if (left++ != i) {
      marked.events[left - 1] = std::move(marked.events[i]);
    }
  }
  marked.events.resize(left);
  std::vector<KeptSpan> all;
  all.reserve(marked.kept.size() + found.size());
  std::ranges::merge(std::make_move_iterator(marked.kept.begin()),
                     std::make_move_iterator(marked.kept.end()),
                     std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()),
                     std::back_inserter(all), {}, &KeptSpan::begin, &KeptSpan::begin);
  marked.kept = std::move(all);
}

}  // namespace millrace::translation
