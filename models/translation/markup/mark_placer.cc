#include "models/translation/markup/mark_placer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// The longest mark of a block, the number of an item, is taken to have so many bytes.
constexpr size_t kLongestBlockMark = 5;

// Returns true if a line that begins so would be an item of a list, a heading or a quote of
// Markdown: "- ", "2. ".
bool BeginsBlock(std::string_view line) {
  const size_t digits = models::DigitsEnd(line, 0);
  const char mark = models::ByteAt(line, digits);
  if (digits > 0) return mark == '.' || mark == ')';
  constexpr std::string_view kMarks = "-+*#>=|";
  return kMarks.find(mark) != std::string_view::npos;
}

bool AllSpace(std::string_view text) {
  return std::ranges::all_of(models::DecodeUtf8(text), models::IsSpace);
}

// Returns true if the word at a place is an article or a preposition of English or Portuguese,
// which belongs to what is behind it.
bool LeadsOn(std::string_view text, size_t at) {
  constexpr std::string_view kWords =
      " a an as at by com da das de do dos em for from in na nas no nos o of on one os para por "
      "pela "
      "pelo the to um uma with ";
  constexpr size_t kLongest = 8;  // bytes
  const std::string_view near = text.substr(at, kLongest);
  const size_t end = models::LettersEnd(near, 0);
  return end > 0 && end < near.size() && near[end] == ' ' &&
         kWords.find(" " + models::AsciiLower(near.substr(0, end)) + " ") != std::string_view::npos;
}

// Returns true for the mark of the key of a menu's entry: &Open, _Open.
bool IsAccelerator(const MarkNode& mark) {
  return !mark.is_pair && (mark.opening == "&" || mark.opening == "_");
}

}  // namespace

bool MarkPlacer::IsBlank(const MarkNode& mark) const {
  return AllSpace(source_.substr(mark.begin, mark.end - mark.begin));
}

bool MarkPlacer::LeansLeft(const MarkNode& mark) const {
  if (mark.begin == 0 || models::IsSpace(models::DecodeBefore(source_, mark.begin).value))
    return false;
  return mark.end == source_.size() || models::IsSpace(models::DecodeAt(source_, mark.end).value);
}

size_t MarkPlacer::PlaceOf(const MarkNode& mark) const {
  size_t at = mark.begin;
  while (IsAccelerator(mark) && at > 0 &&
         models::IsWordCharacter(models::DecodeBefore(source_, at).value))
    at -= models::DecodeBefore(source_, at).bytes;
  return at;
}

size_t MarkPlacer::AcceleratorPlace(const MarkNode& mark, Range range, size_t otherwise) const {
  const size_t word = PlaceOf(mark);
  for (size_t i = range.begin; i < range.end; ++i) {
    const auto of_word = [&](size_t source) { return source >= word && source <= mark.begin; };
    if (std::ranges::any_of(units_[i].sources, of_word) && IsWord(units_[i])) return i;
  }
  return otherwise;
}

size_t MarkPlacer::BehindWordPlace(const MarkNode& mark, Range range, size_t otherwise) const {
  size_t word = mark.begin;
  while (word > 0 && models::IsLetter(models::DecodeBefore(source_, word).value))
    word -= models::DecodeBefore(source_, word).bytes;
  const auto of_word = [&](size_t source) { return source >= word && source < mark.begin; };
  for (size_t i = range.end; i-- > range.begin;) {
    if (std::ranges::any_of(units_[i].sources, of_word) && IsWord(units_[i])) return i + 1;
  }
  return otherwise;
}

bool MarkPlacer::LeansRight(const MarkNode& mark) const {
  if (!models::IsWordCharacter(models::DecodeAt(source_, mark.end).value)) return false;
  // The key may be any letter of a word.
  return IsAccelerator(mark) || mark.begin == 0 ||
         models::IsSpace(models::DecodeBefore(source_, mark.begin).value);
}

bool MarkPlacer::CoversAll(const MarkNode& mark) const {
  return AllSpace(source_.substr(0, mark.begin)) && AllSpace(source_.substr(mark.end));
}

std::vector<PlacedMark> MarkPlacer::Place(std::span<const MarkNode> marks) {
  placed_.clear();
  taken_.assign(units_.size(), false);
  owners_.assign(units_.size(), nullptr);
  has_break_.assign(units_.size() + 1, false);
  PlaceWithin(marks, {0, units_.size()}, 0, target_.size());
  return std::move(placed_);
}

int MarkPlacer::Vote(const TargetUnit& unit, size_t source, bool inside) const {
  // Punctuation only counts for the punctuation that it comes from.
  if (models::IsWordCharacter(models::DecodeAt(target_, unit.begin).value)) return inside ? 1 : -1;
  return inside && !models::IsWordCharacter(models::DecodeAt(source_, source).value) ? 1 : 0;
}

bool MarkPlacer::IsWord(const TargetUnit& unit) const {
  return models::IsWordCharacter(models::DecodeAt(target_, unit.begin).value);
}

bool MarkPlacer::IsCloser(size_t unit, size_t than, const MarkNode& mark) const {
  if (than >= units_.size()) return true;
  // Compares the middles, as parts of the two texts.
  const auto middle = [](size_t begin, size_t end, std::string_view text) {
    return static_cast<double>(begin + end) / static_cast<double>(text.size());
  };
  const double wanted = middle(mark.begin, mark.end, source_);
  const auto distance = [&](size_t i) {
    return std::abs(middle(units_[i].begin, units_[i].end, target_) - wanted);
  };
  return distance(unit) < distance(than);
}

MarkPlacer::Range MarkPlacer::WordsOf(const MarkNode& mark) const {
  constexpr size_t kLongestPart = 32;  // a bound keeps the time linear
  Range words = {mark.begin, mark.end};
  const auto divides_word = [&](size_t at) {
    return at > 0 && at < source_.size() && mark.begin <= at + kLongestPart &&
           at <= mark.end + kLongestPart &&
           models::IsLetter(models::DecodeBefore(source_, at).value) &&
           models::IsLetter(models::DecodeAt(source_, at).value);
  };
  while (divides_word(words.begin)) words.begin -= models::DecodeBefore(source_, words.begin).bytes;
  while (divides_word(words.end)) words.end += models::DecodeAt(source_, words.end).bytes;
  return words;
}

MarkPlacer::Range MarkPlacer::BestStretch(const MarkNode& mark, Range range) const {
  // Finds the stretch with the greatest sum in one pass: units that come from the mark's words
  // count for it, all others against it.
  constexpr int kNever = -1'000'000;
  const Range words = WordsOf(mark);
  const bool divides_word = words.begin < mark.begin || words.end > mark.end;
  const bool is_one_word =
      source_.substr(mark.begin, mark.end - mark.begin).find(' ') == std::string_view::npos;
  const auto encloses = [&mark](size_t source) {
    return source >= mark.begin && source < mark.end;
  };
  Range best = {range.begin, range.begin};
  int best_sum = mark.from_before ? -1 : 0;
  int sum = 0;
  bool has_words = false;
  size_t begin = range.begin;
  size_t nearest = range.end;
  size_t least = std::numeric_limits<size_t>::max();
  for (size_t i = range.begin; i < range.end; ++i) {
    int value = 0;
    const bool has_part = divides_word && std::ranges::any_of(units_[i].sources, encloses);
    bool has_rest = false;
    for (const size_t source : units_[i].sources) {
      const bool inside = encloses(source);
      // The rest of a word of which the mark encloses a part says nothing.
      const bool is_rest = has_part && !inside && source >= words.begin && source < words.end;
      has_rest = has_rest || is_rest;
      if (!is_rest) value += Vote(units_[i], source, inside);
      const size_t distance = source < mark.begin ? mark.begin - source
                              : inside            ? 0
                                                  : source - mark.end + 1;
      if (!taken_[i] &&
          (distance < least || (distance == least && least > 0 && IsCloser(i, nearest, mark))) &&
          IsWord(units_[i])) {
        least = distance;
        nearest = i;
      }
    }
    // A word that came from the divided one has the mark alone.
    if (has_rest && !taken_[i] && is_one_word) return {i, i + 1};
    if (taken_[i] || (owners_[i] != nullptr && owners_[i] != &mark)) value = kNever;
    if (sum < 0 && !mark.from_before) {
      sum = 0;
      has_words = false;
    }
    if (!has_words && !mark.from_before) begin = i;
    has_words = has_words || value > 0;
    sum += value;
    const bool longer = value > 0 && begin == best.begin && best.end > best.begin;
    const bool better = mark.goes_on ? i + 1 == range.end && sum > 0
                                     : sum > best_sum || (sum == best_sum && longer);
    if (better) {
      best_sum = sum;
      best = {begin, i + 1};
    }
  }
  if (best.begin < best.end) return best;
  if (mark.from_before) return {range.begin, range.begin};
  if (mark.goes_on) return {range.end, range.end};
  return nearest < range.end ? Range{nearest, nearest + 1} : best;
}

MarkPlacer::Range MarkPlacer::WithoutLeading(const MarkNode& mark, Range stretch,
                                             Range range) const {
  if (mark.from_before || AllSpace(source_.substr(0, mark.begin)) || LeadsOn(source_, mark.begin))
    return stretch;
  while (stretch.begin < stretch.end && LeadsOn(target_, units_[stretch.begin].begin)) {
    if (stretch.end - stretch.begin == 1) {
      if (stretch.end == range.end || taken_[stretch.end] || !IsWord(units_[stretch.end])) break;
      ++stretch.end;
    }
    ++stretch.begin;
  }
  return stretch;
}

size_t MarkPlacer::BestPlace(size_t source, Range range, std::span<const Placed> taken) const {
  // Counts the alignments that are on the wrong side of the mark when it stands before unit i.
  size_t wrong = 0;
  for (size_t i = range.begin; i < range.end; ++i) {
    wrong += static_cast<size_t>(
        std::ranges::count_if(units_[i].sources, [&](size_t from) { return from < source; }));
  }
  size_t best = range.begin;
  size_t least = wrong;
  auto within = taken.begin();
  for (size_t i = range.begin; i < range.end; ++i) {
    for (const size_t from : units_[i].sources) from < source ? --wrong : ++wrong;
    while (within != taken.end() && within->range.end <= i + 1) ++within;
    const bool divides = within != taken.end() && within->range.begin < i + 1;
    if (wrong < least && !divides) {
      least = wrong;
      best = i + 1;
    }
  }
  return best;
}

size_t MarkPlacer::BestSpace(size_t source, Range range, std::span<const Placed> taken) const {
  if (range.end - range.begin < 2) return BestPlace(source, range, taken);
  size_t before = source_.substr(0, source).find_last_not_of(' ');
  before = source_.substr(0, before).rfind(' ') + 1;  // npos + 1 is the beginning
  const auto distance = [this](size_t unit, size_t from) {
    size_t least = std::numeric_limits<size_t>::max() / 2;
    for (const size_t at : units_[unit].sources)
      least = std::min(least, at < from ? from - at : at - from);
    return least;
  };
  size_t best = range.begin;
  size_t least = std::numeric_limits<size_t>::max();
  auto within = taken.begin();
  for (size_t i = range.begin + 1; i < range.end; ++i) {
    while (within != taken.end() && within->range.end <= i) ++within;
    if (within != taken.end() && within->range.begin < i) continue;
    const size_t sum = distance(i - 1, before) + distance(i, source);
    if (sum < least) {
      least = sum;
      best = i;
    }
  }
  return best;
}

size_t MarkPlacer::BreakPlace(size_t place, Range range, std::span<const Placed> taken) const {
  const auto is_free = [&](size_t at) {
    if (at == 0 || has_break_[at]) return false;
    if (at < units_.size()) {
      const size_t begin = units_[at].begin;
      // Not within a word; those of scripts without spaces have other bytes before them.
      const bool within = at != place && begin > 0 && models::IsAsciiAlnum(target_[begin - 1]);
      if (within || BeginsBlock(target_.substr(begin, kLongestBlockMark))) return false;
    }
    return std::ranges::none_of(taken, [at](const Placed& placed) {
      return placed.range.begin < at && at < placed.range.end;
    });
  };
  for (size_t off = 0; off <= range.end - range.begin; ++off) {
    if (place + off < range.end && is_free(place + off)) return place + off;
    if (place >= range.begin + off && is_free(place - off)) return place - off;
  }
  return place;
}

void MarkPlacer::FindOwners(std::span<const MarkNode> marks, Range range) {
  // Marks are in order, so only the first mark that ends after a byte can contain it.
  const auto owner_of = [&](size_t source) -> const MarkNode* {
    const auto mark = std::ranges::upper_bound(marks, source, {}, &MarkNode::end);
    return mark != marks.end() && mark->begin <= source ? &*mark : nullptr;
  };
  for (size_t i = range.begin; i < range.end; ++i) {
    owners_[i] = owner_of(units_[i].sources.front());
    for (const size_t source : units_[i].sources) {
      if (owner_of(source) != owners_[i]) owners_[i] = nullptr;
    }
  }
}

void MarkPlacer::PlaceWithin(std::span<const MarkNode> marks, Range range, size_t begin,
                             size_t end) {
  if (marks.empty()) return;
  FindOwners(marks, range);
  std::vector<Placed> pairs;
  const auto place_pair = [&](const MarkNode& mark) {
    const bool all = CoversAll(mark) || (mark.from_before && mark.goes_on);
    const Range stretch = all ? range : WithoutLeading(mark, BestStretch(mark, range), range);
    std::fill(taken_.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
              taken_.begin() + static_cast<std::ptrdiff_t>(stretch.end), true);
    pairs.push_back({stretch, &mark});
  };
  // Marks that are open at an end of the text go first: their beginning or end is given.
  const auto bound = [](const MarkNode& mark) { return mark.from_before || mark.goes_on; };
  for (const MarkNode& mark : marks) {
    if (bound(mark)) place_pair(mark);
  }
  for (const MarkNode& mark : marks) {
    if (!bound(mark) && !IsBlank(mark)) place_pair(mark);
  }
  const auto by_place = [](const Placed& placed) {
    return std::tuple(placed.range.begin, placed.range.end, placed.mark);
  };
  std::ranges::sort(pairs, {}, by_place);
  const size_t with_words = pairs.size();
  for (const MarkNode& mark : marks) {
    if (bound(mark) || !IsBlank(mark)) continue;
    const bool is_space = IsWrittenSpace(mark.opening);
    const bool breaks = is_space && mark.opening.find_first_of("\n\r") != mark.opening.npos;
    const bool holds_together = is_space && !breaks;
    const auto taken = std::span(pairs).first(with_words);
    size_t place = holds_together ? BestSpace(mark.begin, range, taken)
                                  : BestPlace(PlaceOf(mark), range, taken);
    if (IsAccelerator(mark))
      place = AcceleratorPlace(mark, range, place);
    else if (mark.opening.starts_with('(') && LeansLeft(mark))
      place = BehindWordPlace(mark, range, place);
    if (place == range.end && range.begin < range.end && LeansRight(mark)) --place;
    if (breaks) {
      place = BreakPlace(place, range, taken);
      has_break_[place] = true;
    }
    pairs.push_back({{place, place}, &mark});
  }
  std::ranges::sort(pairs, {}, by_place);
  for (const auto& [stretch, mark] : pairs)
    std::fill(taken_.begin() + static_cast<std::ptrdiff_t>(stretch.begin),
              taken_.begin() + static_cast<std::ptrdiff_t>(stretch.end), false);
  for (const auto& [stretch, mark] : pairs) {
    const bool empty = stretch.begin == stretch.end;
    size_t from = stretch.begin < units_.size() ? units_[stretch.begin].begin : target_.size();
    if (empty && stretch.begin > 0 && LeansLeft(*mark)) from = units_[stretch.begin - 1].end;
    from = mark->from_before ? begin : std::clamp(from, begin, end);
    const size_t to = mark->goes_on ? end : empty ? from : units_[stretch.end - 1].end;
    begin = to;
    if (!mark->is_pair) {
      placed_.push_back({from, MarkEvent::Kind::kAlone, mark->opening});
      continue;
    }
    if (!mark->from_before) placed_.push_back({from, MarkEvent::Kind::kOpen, mark->opening});
    PlaceWithin(mark->inner, stretch, from, to);
    if (!mark->goes_on) placed_.push_back({to, MarkEvent::Kind::kClose, mark->closing});
  }
}

}  // namespace millrace::translation
