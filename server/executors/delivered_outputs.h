#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// Remembers which outputs of a request its client has, so that the request can run again on another
// executor, and go on behind what was delivered. Not thread-safe.
//
// Speech runs again from behind the last sentence that was delivered as a whole, everything else
// from its beginning.
//
// Speech and translations may come again in other pieces: a sentence of the cache comes as one, and
// pieces of a translation depend on how far its decoder came in each step. So samples are counted
// and hashed, and the text of translations is kept, of each text by itself since they take turns.
class DeliveredOutputs {
 public:
  enum class Verdict : uint8_t {
    kDeliver,  // it is new
    kDrop,     // the client has it
    kDiffers,  // the client has something else in its place: the request cannot go on
  };

  // The outputs from here on are those of a run that goes on behind what `spoken` says.
  void BeginReplay();
  const models::SpokenSoFar& spoken() const { return speech_.checkpoint.spoken; }
  // Says what becomes of the next output, and takes off what the client has of it.
  Verdict Take(models::Output& output);
  // Returns true if the run has come to the end of all that was delivered. A run that ends before
  // differs.
  bool caught_up() const;

 private:
  // How far a run has come, and how far the delivery.
  struct Count {
    size_t delivered = 0;
    size_t seen = 0;

    void BeginReplay(size_t from = 0) { seen = from; }
    // Counts one more in this run. Returns true if it is new.
    bool Next() {
      if (++seen <= delivered) return false;
      delivered = seen;
      return true;
    }
    bool caught_up() const { return seen >= delivered; }
  };
  struct Speech {
    Count begun;     // sentences
    Count finished;  // sentences
    Count samples;
    uint64_t hash = 0;  // the hash of the samples that were delivered
    uint64_t seen_hash = 0;
    bool within_sentence = false;  // in this run
    struct Checkpoint {
      models::SpokenSoFar spoken;
      size_t begun = 0, finished = 0, samples = 0;
      uint64_t hash = 0;
    } checkpoint;  // the counts of a run that has come so far
  };
  // One text of a translation.
  struct Text {
    std::string delivered;
    size_t seen = 0;  // bytes, in this run
    Count finished;   // sentences
  };

  Verdict TakeSpeech(models::SynthesizeOutput& output);
  static Verdict TakeText(models::TranslateOutput& output, Text& text);

  Count tensors_;
  Speech speech_;
  std::vector<Text> texts_;
};

}  // namespace millrace::server
