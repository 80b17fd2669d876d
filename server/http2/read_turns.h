#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace millrace::server {

// Divides a polling thread's time between the connections that it reads. gRPC reads a connection
// for as long as bytes come, so a client that sends without a pause would keep all others waiting.
// A connection therefore has one turn in each round, which is one look at what is readable, and
// reads about what costs kCost. Costs are estimated, and the estimates corrected by what turns have
// taken: some calls cost gRPC many times as much as others of as many bytes. One thread at a time.
class ReadTurns {
 public:
  // Costs are nanoseconds of the polling thread.
  static constexpr uint64_t kCost = 300'000;
  // Shorter turns are not measured: the clock costs too, and some of them come by chance.
  static constexpr uint64_t kLeastMeasured = kCost / 4;
  // The cost of bytes is known after they were read, so a client's first ones are few.
  static constexpr uint64_t kFirstBytes = 1 << 10;
  static constexpr uint64_t kLeastBytes = 128;

  // Returns how many bytes may be read now; 0: none before the next round.
  size_t Allowed(uint64_t round) {
    if (round != round_) {
      round_ = round;
      spent_ = 0;
      read_ = 0;
    }
    return spent_ < kCost && read_ < bytes_ ? bytes_ - read_ : 0;
  }
  // Counts bytes as they were read, perhaps encrypted.
  void OnRead(size_t bytes) { read_ += bytes; }
  // Counts what bytes cost by a rough estimate. The next ones are expected to cost as much.
  void OnCost(size_t bytes, uint64_t estimate) {
    const auto cost = static_cast<uint64_t>(scale_ * static_cast<double>(estimate));
    spent_ += cost;
    if (cost == 0) return;
    const double of_turn = static_cast<double>(bytes) * kCost / static_cast<double>(cost);
    bytes_ = std::clamp(static_cast<uint64_t>(of_turn), kLeastBytes, 2 * bytes_);
  }
  // Returns true if the turn is worth to be measured.
  bool is_long() const { return spent_ >= kLeastMeasured; }
  // Counts what a long turn has taken.
  void OnMeasured(uint64_t cost) {
    const double off =
        static_cast<double>(cost) / static_cast<double>(std::max<uint64_t>(spent_, 1));
    scale_ = std::clamp(scale_ * (1 + off) / 2, 1.0, kMostScale);
  }

 private:
  static constexpr double kMostScale = 32;

  double scale_ = 1;  // estimates are multiplied by it
  uint64_t round_ = 0;
  uint64_t spent_ = 0;            // in this round
  uint64_t read_ = 0;             // in this round
  uint64_t bytes_ = kFirstBytes;  // a turn's most
};

}  // namespace millrace::server
