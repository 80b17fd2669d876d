#include "models/translation/markup/respelled.h"

#include <algorithm>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// Classes of signs that models exchange for one another.
enum class Sign : unsigned char { kQuote, kDash, kDots };

Sign SignOf(std::string_view reads) {
  if (reads == "\"") return Sign::kQuote;
  return reads == "..." ? Sign::kDots : Sign::kDash;
}

bool IsSpaceAt(std::string_view text, size_t at) {
  return models::IsSpace(models::DecodeAt(text, at).value);
}
bool IsSpaceBefore(std::string_view text, size_t at) {
  return at == 0 || models::IsSpace(models::DecodeBefore(text, at).value);
}
bool IsSpaceBehind(std::string_view text, size_t at) {
  return at >= text.size() || IsSpaceAt(text, at);
}

// Returns the end of the sign at a place, or the place if there is none.
size_t SignEnd(std::string_view text, size_t at, Sign sign) {
  const char c = text[at];
  switch (sign) {
    case Sign::kQuote: {
      if (c == '"') return at + 1;
      // An apostrophe between letters is no quotation mark.
      const bool within = at > 0 && models::IsWordCharacter(models::DecodeBefore(text, at).value) &&
                          models::IsWordCharacter(models::DecodeAt(text, at + 1).value);
      return c == '\'' && !within ? at + 1 : at;
    }
    case Sign::kDash:
      return c == '-' && IsSpaceBefore(text, at) && IsSpaceBehind(text, at + 1) ? at + 1 : at;
    case Sign::kDots: {
      size_t end = at;
      while (end < text.size() && text[end] == '.') ++end;
      return end >= at + 3 ? end : at;
    }
  }
  return at;
}

struct Place {
  size_t begin = 0;
  size_t end = 0;
  const KeptSpan* kept = nullptr;  // the span of a source that is put back there, or null
  bool taken = false;
};

std::vector<Place> FindSigns(std::string_view text, Sign sign) {
  std::vector<Place> places;
  for (size_t at = 0; at < text.size();) {
    const size_t end = SignEnd(text, at, sign);
    if (end > at) places.push_back({at, end});
    at = std::max(end, at + 1);
  }
  return places;
}

bool Opens(std::string_view text, const Place& quote) {
  return IsSpaceBefore(text, quote.begin) && !IsSpaceBehind(text, quote.end);
}

class Placer {
 public:
  Placer(const MarkedText& source, std::string_view target, std::span<const TargetUnit> units)
      : source_(source), target_(target), units_(units) {}

  std::vector<RespelledEdit> Run() {
    for (const Sign sign : {Sign::kQuote, Sign::kDash, Sign::kDots}) {
      const auto is_of = [sign](const KeptSpan& kept) {
        return kept.reads && SignOf(*kept.reads) == sign;
      };
      if (std::ranges::any_of(source_.kept, is_of)) PutBack(sign);
    }
    return std::move(edits_);
  }

 private:
  void PutBack(Sign sign) {
    std::vector<Place> wanted = FindSigns(source_.text, sign);
    auto place = wanted.begin();
    for (const KeptSpan& kept : source_.kept) {
      if (!kept.reads || SignOf(*kept.reads) != sign) continue;
      while (place != wanted.end() && place->end <= kept.begin) ++place;
      // The kept span of a dash includes the spaces around it.
      if (place != wanted.end() && place->begin < kept.end) {
        place->kept = &kept;
      } else {
        place = wanted.insert(place, {kept.begin, kept.end, &kept});
      }
    }
    std::vector<Place> got = FindSigns(target_, sign);
    if (wanted.size() == got.size()) {
      for (size_t i = 0; i < got.size(); ++i) Replace(wanted[i], got[i], sign);
      return;
    }
    for (Place& one : wanted) TakeAligned(one, got, sign);
    for (Place& one : wanted) TakeNext(one, got, sign);
    for (const Place& one : wanted) {
      if (!one.taken && one.kept != nullptr) Insert(*one.kept, sign);
    }
  }

  static bool ComesFrom(const TargetUnit& unit, size_t begin, size_t end) {
    return std::ranges::any_of(unit.sources,
                               [=](size_t source) { return source >= begin && source < end; });
  }

  // Pairs `wanted` with the free sign of the translation that is aligned with it.
  void TakeAligned(Place& wanted, std::vector<Place>& got, Sign sign) {
    auto unit = units_.begin();
    for (Place& place : got) {
      while (unit != units_.end() && unit->end <= place.begin) ++unit;
      if (unit == units_.end()) return;
      if (place.taken || unit->begin > place.begin) continue;
      if (!ComesFrom(*unit, wanted.begin, wanted.end)) continue;
      wanted.taken = place.taken = true;
      return Replace(wanted, place, sign);
    }
  }

  // Pairs `wanted` with the first free sign; a quotation mark, with one that opens or closes as it
  // does.
  void TakeNext(Place& wanted, std::vector<Place>& got, Sign sign) {
    if (wanted.taken) return;
    const auto fits = [&](const Place& place) {
      return !place.taken &&
             (sign != Sign::kQuote || Opens(target_, place) == Opens(source_.text, wanted));
    };
    const auto found = std::ranges::find_if(got, fits);
    if (found == got.end()) return;
    wanted.taken = found->taken = true;
    Replace(wanted, *found, sign);
  }

  void Replace(const Place& wanted, const Place& got, Sign sign) {
    if (wanted.kept == nullptr) return;
    if (sign == Sign::kDash) return PutDash(*wanted.kept, got.begin, got.end);
    edits_.push_back({got.begin, got.end, wanted.kept->becomes});
  }

  void PutDash(const KeptSpan& kept, size_t begin, size_t end) {
    const bool attached_left = kept.reads->starts_with(' ');
    const bool attached_right = kept.reads->ends_with(' ');
    while (begin > 0 && target_[begin - 1] == ' ') --begin;
    while (end < target_.size() && target_[end] == ' ') ++end;
    std::string dash = attached_left || begin == 0 ? "" : " ";
    dash += kept.becomes;
    // A mark that touches the dash in the source may have gone: "ele —, antes".
    constexpr std::string_view kMarks = ",.;:!?";
    const char behind = models::ByteAt(source_.text, kept.end);
    const bool lacks_mark =
        kMarks.find(behind) != std::string_view::npos && models::ByteAt(target_, end) != behind;
    if ((!attached_right || lacks_mark) && end < target_.size()) dash += ' ';
    edits_.push_back({begin, end, std::move(dash)});
  }

  bool IsFree(size_t begin, size_t end) const {
    return std::ranges::none_of(
        edits_, [=](const RespelledEdit& edit) { return edit.begin < end && begin < edit.end; });
  }

  // Puts back a sign that the model left out. A dash replaces another sign that comes from its
  // place.
  void Insert(const KeptSpan& kept, Sign sign) {
    const auto is_sign = [&](const TargetUnit& unit) {
      return !models::IsWordCharacter(models::DecodeAt(target_, unit.begin).value) &&
             ComesFrom(unit, kept.begin, kept.end) && IsFree(unit.begin, unit.end);
    };
    const auto instead = std::ranges::find_if(units_, is_sign);
    if (instead != units_.end() && sign == Sign::kDash)
      return PutDash(kept, instead->begin, instead->end);
    const auto is_behind = [&](const TargetUnit& unit) {
      return !unit.sources.empty() &&
             std::ranges::all_of(unit.sources, [&](size_t source) { return source >= kept.end; });
    };
    const auto next = std::ranges::find_if(units_, is_behind);
    size_t at = next == units_.end() ? target_.size() : next->begin;
    if (sign == Sign::kDash) return PutDash(kept, at, at);
    // A closing sign is attached to the word before it.
    const bool opens = sign == Sign::kQuote && !IsSpaceBehind(source_.text, kept.end) &&
                       IsSpaceBefore(source_.text, kept.begin);
    while (!opens && at > 0 && target_[at - 1] == ' ') --at;
    edits_.push_back({at, at, kept.becomes});
  }

  const MarkedText& source_;
  const std::string_view target_;
  const std::span<const TargetUnit> units_;
  std::vector<RespelledEdit> edits_;
};

}  // namespace

std::vector<RespelledEdit> PutBackRespelled(const MarkedText& source, std::string_view target,
                                            std::span<const TargetUnit> units) {
  return Placer(source, target, units).Run();
}

}  // namespace millrace::translation
