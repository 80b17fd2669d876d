#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/translation/markup/mark_tree.h"
#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/target_units.h"

namespace millrace::translation {

// Markup at a byte of a translation.
struct PlacedMark {
  size_t at = 0;
  MarkEvent::Kind kind = MarkEvent::Kind::kAlone;
  std::string_view markup;
};

// Finds where the marks of a source belong in its translation. Each pair gets one stretch of units,
// within that of the pair around it: the stretch with the most alignments to the words that the
// pair encloses in the source. Results are in the order of the translation. The units must outlive
// it. One thread at a time.
class MarkPlacer {
 public:
  MarkPlacer(std::string_view source, std::string_view target, std::span<const TargetUnit> units)
      : source_(source), target_(target), units_(units) {}

  std::vector<PlacedMark> Place(std::span<const MarkNode> marks);

 private:
  // The units, or bytes, from `begin` up to `end`.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  struct Placed {
    Range range;
    const MarkNode* mark;
  };

  // Places marks within a range of units, and of bytes, of the translation.
  void PlaceWithin(std::span<const MarkNode> marks, Range range, size_t begin, size_t end);
  // Sets the owner of each unit in the range: the mark that all its sources lie in, or null.
  void FindOwners(std::span<const MarkNode> marks, Range range);
  // Returns 1 if an alignment is evidence that the unit belongs to a mark, -1 if it is evidence
  // against it, and 0 if it is neither. `inside`: the mark encloses the source position.
  int Vote(const TargetUnit& unit, size_t source, bool inside) const;
  bool IsWord(const TargetUnit& unit) const;
  // Returns true if a unit is nearer to where the mark is in its sentence than another.
  bool IsCloser(size_t unit, size_t than, const MarkNode& mark) const;
  // Returns the bytes of the words that a mark encloses, which may begin or end within a word.
  Range WordsOf(const MarkNode& mark) const;
  // Returns the stretch of free units with the greatest sum of votes for the mark. If none has
  // votes, returns the nearest free word; an empty range for a mark that is open at an end of the
  // text, or when no unit is free.
  Range BestStretch(const MarkNode& mark, Range range) const;
  // Returns a stretch without the articles and prepositions that it begins with, unless the mark
  // begins the text or encloses one in the source: "the <b>old box</b>". The word behind takes the
  // place of one alone.
  Range WithoutLeading(const MarkNode& mark, Range stretch, Range range) const;
  // Returns the unit before which a mark without words belongs: where the fewest alignments are on
  // the wrong side of it, and never inside a stretch of `taken`.
  size_t BestPlace(size_t source, Range range, std::span<const Placed> taken) const;
  // Returns the same for a no-break space: the place between the two units that come from the words
  // that it joins.
  size_t BestSpace(size_t source, Range range, std::span<const Placed> taken) const;
  bool IsBlank(const MarkNode& mark) const;
  // Returns true if the mark is attached to the end of a word: nothing separates it from the
  // character before it, and a space or the end of the text follows.
  bool LeansLeft(const MarkNode& mark) const;
  // Returns where a mark without words is in the source; the mark of an accelerator key, which may
  // be any letter, is before its word.
  size_t PlaceOf(const MarkNode& mark) const;
  // Returns the unit that comes from the word of an accelerator key; `otherwise` if there is none.
  size_t AcceleratorPlace(const MarkNode& mark, Range range, size_t otherwise) const;
  // Returns the place behind the words that come from the word whose plural a mark is: file(s);
  // `otherwise` if there is none.
  size_t BehindWordPlace(const MarkNode& mark, Range range, size_t otherwise) const;
  // Returns the unit nearest to `place`, in a range, before which a line may break: none breaks
  // there yet, so that no line is empty, and it begins no block of Markdown; `place` if there is
  // none.
  size_t BreakPlace(size_t place, Range range, std::span<const Placed> taken) const;
  // Returns true if it is attached to the beginning of a word.
  bool LeansRight(const MarkNode& mark) const;
  bool CoversAll(const MarkNode& mark) const;

  const std::string_view source_;
  const std::string_view target_;
  const std::span<const TargetUnit> units_;
  // By unit: true if a mark of the current level covers it, and the mark that it comes from, or
  // null.
  std::vector<bool> taken_;
  std::vector<const MarkNode*> owners_;
  std::vector<bool> has_break_;  // before each unit, and behind the last one
  std::vector<PlacedMark> placed_;
};

}  // namespace millrace::translation
