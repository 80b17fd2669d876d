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

// Finds where the marks of a source stand in its translation: in order, each pair within that
// around it. The units must outlive it. One thread at a time.
class MarkPlacer {
 public:
  MarkPlacer(std::string_view source, std::string_view target, std::span<const TargetUnit> units)
      : source_(source), target_(target), units_(units) {}

  std::vector<PlacedMark> Place(std::span<const MarkNode> marks);

 private:
  // Units from the first up to the second.
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
  // Finds the marks whose words units come from.
  void FindOwners(std::span<const MarkNode> marks, Range range);
  // What a piece of a unit says for a mark: that the unit is in it, that it is not, or nothing.
  int Vote(const TargetUnit& unit, size_t source, bool inside) const;
  // The stretch of free units that comes from the mark's most; empty when none does.
  Range BestStretch(const MarkNode& mark, Range range) const;
  // Where a mark without words stands: the place that has least of what stood behind it before it,
  // and the other way round.
  size_t BestPlace(size_t source, Range range, std::span<const Placed> taken) const;
  // The same of a no-break space: between the words that come from those that it holds together.
  size_t BestSpace(size_t source, Range range, std::span<const Placed> taken) const;
  bool IsBlank(const MarkNode& mark) const;
  // Whether it stands at the end of a word.
  bool LeansLeft(const MarkNode& mark) const;
  bool CoversAll(const MarkNode& mark) const;

  const std::string_view source_;
  const std::string_view target_;
  const std::span<const TargetUnit> units_;
  // For each unit: whether a mark of the current level has it, and which mark it comes from.
  std::vector<bool> taken_;
  std::vector<const MarkNode*> owners_;
  std::vector<PlacedMark> placed_;
};

}  // namespace millrace::translation
