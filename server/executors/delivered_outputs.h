#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// Remembers which outputs of a request its client has, so that the request can run again from its
// beginning on another executor, and go on behind what was delivered. Not thread-safe.
//
// Tensors and pieces of speech come again as they were, and are counted and hashed. A translation
// comes again in other pieces, since these depend on how far its decoder came in each step, and its
// texts take turns; so the text that was delivered is kept, of each by itself.
class DeliveredOutputs {
 public:
  enum class Verdict : uint8_t {
    kDeliver,  // it is new
    kDrop,     // the client has it
    kDiffers,  // the client has something else in its place: the request cannot go on
  };

  // The outputs from here on are those of a run from the beginning.
  void BeginReplay();
  // Says what becomes of the next output, and takes off what the client has of it.
  Verdict Take(models::Output& output);
  // Returns true if the run has come to the end of all that was delivered. A run that ends before
  // differs.
  bool caught_up() const;

 private:
  struct Pieces {
    size_t delivered = 0;
    size_t hash = 0;  // of what was delivered
    size_t seen = 0;  // in this run
    size_t seen_hash = 0;
  };
  // One text of a translation.
  struct Text {
    std::string delivered;
    size_t sentences = 0;  // whose end was delivered
    size_t seen = 0;       // bytes, in this run
    size_t seen_sentences = 0;
  };

  Verdict TakePiece(size_t hash);
  static Verdict TakeText(models::TranslateOutput& output, Text& text);

  Pieces pieces_;
  std::vector<Text> texts_;
};

}  // namespace millrace::server
