#include "models/translation/markup/restore.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/unicode.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/mark_placer.h"
#include "models/translation/markup/mark_tree.h"
#include "models/translation/markup/money_signs.h"
#include "models/translation/markup/number_repair.h"
#include "models/translation/markup/respelled.h"
#include "models/translation/markup/speller.h"
#include "models/translation/markup/target_units.h"

namespace millrace::translation {
namespace {

// A replacement of some bytes of a translation.
struct Edit {
  size_t begin = 0;
  size_t end = 0;
  std::string becomes;           // as the source writes it
  bool is_kept = false;          // a kept span, not text
  std::string_view before = {};  // spaces to add around it
  std::string_view behind = {};
};

// Returns where a stand-in occurs, in either case. Letters of other scripts may touch it, such as a
// suffix.
std::vector<size_t> FindStandIn(std::string_view lower_target, std::string_view stand_in) {
  std::vector<size_t> places;
  const std::string name = models::AsciiLower(stand_in);
  for (size_t at = lower_target.find(name); at != std::string_view::npos;
       at = lower_target.find(name, at + 1)) {
    const bool begins = at == 0 || !models::IsAsciiAlnum(lower_target[at - 1]);
    if (begins && !models::IsAsciiAlnum(models::ByteAt(lower_target, at + name.size())))
      places.push_back(at);
  }
  return places;
}

class Restorer {
 public:
  Restorer(const MarkedText& source, std::string_view target, std::span<const AlignedPiece> pieces,
           const NumberFormats& formats)
      : source_(source),
        target_(target),
        formats_(formats),
        units_(FindUnits(target, pieces, source.text.size())),
        is_edited_(target.size(), false),
        speller_(source) {
    out_.is_html = source.is_html;
  }

  MarkedText Run() {
    PutBackKept();
    TakeFromStandIns();
    PutBackNumbers();
    std::ranges::stable_sort(edits_, {}, &Edit::begin);
    JoinUnits();
    const std::vector<MarkNode> marks = MarksOf(source_);
    MarkPlacer placer(source_.text, target_, units_);
    const std::vector<PlacedMark> placed = placer.Place(marks);
    for (const PlacedMark& mark : placed) {
      PutUntil(mark.at);
      out_.events.push_back({out_.text.size(), mark.kind, std::string(mark.markup)});
    }
    PutUntil(target_.size());
    return std::move(out_);
  }

 private:
  bool IsEdited(const TargetUnit& unit) const {
    return std::find(At(unit.begin), At(unit.end), true) != At(unit.end);
  }
  std::vector<bool>::const_iterator At(size_t byte) const {
    return is_edited_.begin() + static_cast<std::ptrdiff_t>(byte);
  }
  void Put(Edit edit) {
    for (size_t at = edit.begin; at < edit.end; ++at) is_edited_[at] = true;
    edits_.push_back(std::move(edit));
  }

  void PutBackKept() {
    const std::string lower = models::AsciiLower(target_);
    std::vector<const KeptSpan*> lost;
    for (RespelledEdit& edit : PutBackRespelled(source_, target_, units_))
      Put({edit.begin, edit.end, std::move(edit.becomes)});
    for (const KeptSpan& kept : source_.kept) {
      if (kept.reads) continue;
      const std::string_view stand_in =
          std::string_view(source_.text).substr(kept.begin, kept.end - kept.begin);
      const std::vector<size_t> places = FindStandIn(lower, stand_in);
      if (places.empty()) {
        lost.push_back(&kept);
        continue;
      }
      Put({places[0], places[0] + stand_in.size(), kept.becomes, /*is_kept=*/true});
      JoinSigns(kept, places[0], places[0] + stand_in.size());
      // The model repeated the stand-in: repetitions are removed, each with the space before it.
      for (size_t i = 1; i < places.size(); ++i) {
        const size_t begin = places[i] - (target_[places[i] - 1] == ' ' ? 1 : 0);
        Put({begin, places[i] + stand_in.size(), {}});
      }
    }
    for (const KeptSpan* kept : lost) PutBackLost(*kept);
  }

  // Removes spaces between a stand-in at [begin, end) and signs that touch it in the source.
  void JoinSigns(const KeptSpan& kept, size_t begin, size_t end) {
    constexpr std::string_view kSigns = "'\"-.,/()[]+*=&#@_~^|\\<>";
    const std::string_view source = source_.text;
    const char behind = models::ByteAt(source, kept.end);
    const char before = kept.begin > 0 ? source[kept.begin - 1] : '\0';
    const auto is_sign = [kSigns](char c) { return c != '\0' && kSigns.find(c) != kSigns.npos; };
    const size_t next = std::min(target_.find_first_not_of(' ', end), target_.size());
    if (next > end && is_sign(behind) && models::ByteAt(target_, next) == behind &&
        !is_edited_[end])
      Put({end, next, {}});
    const size_t last = target_.substr(0, begin).find_last_not_of(' ') + 1;  // npos + 1 is 0
    if (last < begin && last > 0 && is_sign(before) && target_[last - 1] == before &&
        !is_edited_[begin - 1])
      Put({last, begin, {}});
  }

  // A word that comes from a stand-in of the source besides the stand-in itself, such as an
  // article, belongs to the words beside it: no mark around the stand-in alone takes it in.
  void TakeFromStandIns() {
    for (const KeptSpan& kept : source_.kept) {
      if (kept.reads) continue;
      const auto from_kept = [&](size_t source) {
        return source >= kept.begin && source < kept.end;
      };
      const bool is_found = std::ranges::any_of(units_, [&](const TargetUnit& unit) {
        return IsEdited(unit) && std::ranges::any_of(unit.sources, from_kept);
      });
      const size_t neighbour = kept.begin > 0 ? kept.begin - 1 : kept.end;
      if (!is_found || neighbour >= source_.text.size()) continue;
      for (TargetUnit& unit : units_) {
        if (!IsEdited(unit)) std::ranges::replace_if(unit.sources, from_kept, neighbour);
      }
    }
  }

  // Puts a kept span whose stand-in the model dropped in place of the words that are aligned with
  // it, else before the first word that is aligned with later text, else at the end.
  void PutBackLost(const KeptSpan& kept) {
    const auto comes_from = [&](const TargetUnit& unit) {
      return std::ranges::any_of(
                 unit.sources,
                 [&](size_t source) { return source >= kept.begin && source < kept.end; }) &&
             !IsEdited(unit);
    };
    const auto first = std::ranges::find_if(units_, comes_from);
    if (first != units_.end()) {
      const auto behind = std::find_if_not(first, units_.end(), comes_from);
      Put({first->begin, (behind - 1)->end, kept.becomes, /*is_kept=*/true});
      return;
    }
    const auto next = std::ranges::find_if(units_, [&](const TargetUnit& unit) {
      return std::ranges::all_of(unit.sources, [&](size_t from) { return from >= kept.end; }) &&
             !IsEdited(unit);
    });
    if (next != units_.end()) {
      Put({next->begin, next->begin, kept.becomes, /*is_kept=*/true, /*before=*/"",
           /*behind=*/" "});
    } else {
      Put({target_.size(), target_.size(), kept.becomes, /*is_kept=*/true, /*before=*/" "});
    }
  }

  void PutBackNumbers() {
    // The digits of stand-ins and of edits are no numbers of the text.
    constexpr char kNoNumber = '_';
    std::string source = source_.text;
    for (const KeptSpan& kept : source_.kept)
      std::fill_n(source.begin() + static_cast<std::ptrdiff_t>(kept.begin), kept.end - kept.begin,
                  kNoNumber);
    std::string target(target_);
    for (const Edit& edit : edits_)
      std::fill_n(target.begin() + static_cast<std::ptrdiff_t>(edit.begin), edit.end - edit.begin,
                  kNoNumber);
    for (const auto& repairs :
         {RepairNumbers(source, target, formats_), RepairMoneySigns(source, target)}) {
      for (const NumberRepair& repair : repairs)
        Put({repair.target.begin, repair.target.end, repair.becomes});
    }
  }

  // Joins the units that one edit replaces, so that no mark divides the replacement.
  void JoinUnits() {
    std::vector<TargetUnit> joined;
    auto edit = edits_.begin();
    for (TargetUnit& unit : units_) {
      while (edit != edits_.end() && edit->end <= unit.begin) ++edit;
      const bool goes_on = !joined.empty() && edit != edits_.end() &&
                           edit->begin < joined.back().end && edit->end > unit.begin;
      if (!goes_on) {
        joined.push_back(std::move(unit));
        continue;
      }
      joined.back().end = unit.end;
      joined.back().sources.insert(joined.back().sources.end(), unit.sources.begin(),
                                   unit.sources.end());
    }
    units_ = std::move(joined);
  }

  // Writes the translation, with its edits, up to a byte that is inside no edit.
  void PutUntil(size_t end) {
    while (next_edit_ < edits_.size() && edits_[next_edit_].end <= end &&
           (edits_[next_edit_].begin < end || end == target_.size())) {
      const Edit& edit = edits_[next_edit_++];
      if (edit.begin > at_) PutText(target_.substr(at_, edit.begin - at_));
      PutEdit(edit);
      at_ = std::max(at_, edit.end);
    }
    if (end > at_) {
      PutText(target_.substr(at_, end - at_));
      at_ = end;
    }
  }

  void PutText(std::string_view text) {
    for (Spelling& spelling : speller_.Spell(text)) {
      spelling.begin += out_.text.size();
      spelling.end += out_.text.size();
      out_.spellings.push_back(std::move(spelling));
    }
    out_.text += text;
  }

  void PutEdit(const Edit& edit) {
    if (!edit.is_kept) return PutWritten(edit.becomes);
    out_.text += edit.before;
    const bool touches = !out_.kept.empty() && out_.kept.back().end == out_.text.size();
    if (touches && !TouchInSource(out_.kept.back().becomes, edit.becomes)) out_.text += ' ';
    const size_t begin = out_.text.size();
    out_.text += edit.becomes;
    out_.kept.push_back({begin, out_.text.size(), edit.becomes});
    out_.text += edit.behind;
  }

  // Returns true if nothing is between two kept spans of the source.
  bool TouchInSource(std::string_view first, std::string_view second) const {
    const auto touch = [&](const KeptSpan& one, const KeptSpan& next) {
      return one.end == next.begin && one.becomes == first && next.becomes == second;
    };
    return std::ranges::adjacent_find(source_.kept, touch) != source_.kept.end();
  }

  // Writes text that is in the source's format, decoding its entities.
  void PutWritten(std::string_view written) {
    const bool has_entities = source_.is_html || !source_.spellings.empty();
    for (size_t at = 0; at < written.size();) {
      std::string character;
      size_t bytes = has_entities ? ReadEntity(written.substr(at), character) : 0;
      if (bytes == 0) {
        bytes = models::DecodeAt(written, at).bytes;
        character = written.substr(at, bytes);
      }
      const size_t begin = out_.text.size();
      out_.text += character;
      if (Escaped(character, source_.is_html) != written.substr(at, bytes)) {
        out_.spellings.push_back({begin, out_.text.size(), std::string(written.substr(at, bytes))});
      }
      at += bytes;
    }
  }

  const MarkedText& source_;
  const std::string_view target_;
  const NumberFormats formats_;
  std::vector<TargetUnit> units_;
  std::vector<Edit> edits_;
  std::vector<bool> is_edited_;  // each byte of the translation
  Speller speller_;
  MarkedText out_;
  size_t at_ = 0;  // the translation is written up to here
  size_t next_edit_ = 0;
};

}  // namespace

MarkedText RestoreMarks(const MarkedText& source, std::string_view target,
                        std::span<const AlignedPiece> pieces, const NumberFormats& formats) {
  return Restorer(source, target, pieces, formats).Run();
}

std::string Restore(const MarkedText& source, std::string_view target,
                    std::span<const AlignedPiece> pieces, const NumberFormats& formats) {
  return Untouched(RestoreMarks(source, target, pieces, formats));
}

}  // namespace millrace::translation
