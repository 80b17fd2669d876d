#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_block.h"

namespace millrace::translation {

// Collects the blocks of a reader in reading order, and pairs opening with closing markup. Markup
// without a counterpart, and a pair that crosses another, stands alone.
class BlockBuilder {
 public:
  struct Options {
    bool is_html = false;
    bool flows = true;            // as in MarkedBlock
    bool crosses_blocks = false;  // a pair may open in one block and close in a later one
  };

  explicit BlockBuilder(const Options& options) : options_(options) {}

  // Adds text. What FindBoundary finds in it stays as it is.
  void Text(std::string_view text);
  // Adds a character and how the source writes it.
  void Character(std::string_view character, std::string_view written);
  // Adds markup without a counterpart within a sentence.
  void Alone(std::string_view markup);
  void Open(std::string_view name, std::string_view markup);
  void Close(std::string_view name, std::string_view markup);
  // Adds a span of a sentence that stays as it is. reads: the text that a model reads in its place,
  // in static storage; empty: a stand-in.
  void Keep(std::string_view bytes, std::string_view reads = {});
  // Ends the block; `markup` separates it from the next.
  void Divide(std::string_view markup);
  // Returns true if an element with this name is open.
  bool IsOpen(std::string_view name) const;
  // Returns the name of the element that was opened last and is open; empty: none is.
  std::string_view innermost() const {
    return open_.empty() ? std::string_view() : std::string_view(open_.back().name);
  }

  // Returns all blocks. Call it once, at the end.
  std::vector<MarkedBlock> TakeBlocks();

 private:
  struct OpenMark {
    std::string name;
    size_t event;       // index among the events of the current block
    bool from_earlier;  // it began in an earlier block
  };

  void Sentences(std::string_view text);
  void Add(MarkEvent::Kind kind, std::string_view markup);
  // Makes all open markup stand alone.
  void LeaveAlone();
  MarkedBlock TakeBlock();

  const Options options_;
  std::vector<MarkedBlock> blocks_;
  MarkedBlock block_;
  std::vector<OpenMark> open_;
};

}  // namespace millrace::translation
