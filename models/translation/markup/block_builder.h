#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_block.h"

namespace millrace::translation {

// Collects what a reader finds, in reading order, and pairs what opens with what closes: of a pair
// that crosses another, and of what has no counterpart, the markup stands alone.
class BlockBuilder {
 public:
  struct Options {
    bool is_html = false;
    bool flows = true;            // as of MarkedBlock
    bool crosses_blocks = false;  // a pair may open in one block and close in a later one
  };

  explicit BlockBuilder(const Options& options) : options_(options) {}

  void Text(std::string_view text);
  // A character, and how the source writes it.
  void Character(std::string_view character, std::string_view written);
  // Markup within a sentence.
  void Alone(std::string_view markup);
  void Open(std::string_view name, std::string_view markup);
  void Close(std::string_view name, std::string_view markup);
  // A stretch of a sentence that stays as it is.
  void Keep(std::string_view bytes);
  // Ends the block; `markup` stands between it and the next.
  void Divide(std::string_view markup);
  // Whether anything named so is open.
  bool IsOpen(std::string_view name) const;

  // Returns all blocks. Call it once, at the end.
  std::vector<MarkedBlock> TakeBlocks();

 private:
  struct OpenMark {
    std::string name;
    size_t event;       // of the block at hand
    bool from_earlier;  // it began in a block before it
  };

  void Add(MarkEvent::Kind kind, std::string_view markup);
  // Gives up on the counterparts of what is open.
  void LeaveAlone();
  MarkedBlock TakeBlock();

  const Options options_;
  std::vector<MarkedBlock> blocks_;
  MarkedBlock block_;
  std::vector<OpenMark> open_;
};

}  // namespace millrace::translation
