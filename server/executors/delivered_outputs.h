#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/core/payload.h"

namespace millrace::server {

// Remembers which outputs of a request its client has, so that the request can run again from its
// beginning on another executor, and go on behind what was delivered. Outputs are counted and
// hashed, for each text of a translation by itself, since its texts take turns. Not thread-safe.
class DeliveredOutputs {
 public:
  enum class Verdict : uint8_t {
    kDeliver,  // it is new
    kDrop,     // the client has it
    kDiffers,  // the client has something else in its place: the request cannot go on
  };

  // The outputs from here on are those of a run from the beginning.
  void BeginReplay();
  // Says what becomes of the next output.
  Verdict Take(const models::Output& output);
  // Returns true if the run has come to the end of all that was delivered. A run that ends before
  // differs.
  bool caught_up() const;

 private:
  struct Channel {
    size_t delivered = 0;
    size_t hash = 0;  // of what was delivered
    size_t seen = 0;  // in this run
    size_t seen_hash = 0;
  };

  std::vector<Channel> channels_;
};

}  // namespace millrace::server
