#pragma once

#include <chrono>
#include <thread>

namespace millrace::runtime {

// Holds the serial queue through which the work of the calling worker's MPS stream goes, for a time
// after the constructor has returned, and then commits what is encoded on the stream. What an
// operator has fetched in the meantime without going through the queue is of no use any more, and
// the process ends when the operator uses it, or its numbers are wrong. Other devices have no such
// queue, and nothing is held.
class QueueHold {
 public:
  explicit QueueHold(std::chrono::milliseconds time);
  QueueHold(const QueueHold&) = delete;
  QueueHold& operator=(const QueueHold&) = delete;
  ~QueueHold();  // waits until the queue is free again

 private:
  std::thread holder_;
};

}  // namespace millrace::runtime
