#pragma once

#include <cstddef>
#include <vector>

#include "server/scheduling/fair_share.h"

namespace millrace::server {

// The account of the keys whose jobs a model has: whose turn is next, and who has more than its
// share.
//
// Keys share the time of the workers by start-time fair queueing (Goyal, Vin and Cheng 1996). Each
// key has a virtual time, which a second of a worker advances by 1 / weight, and the least is next.
// A key that was idle continues at the virtual time of the others, so it neither saves up time nor
// loses what it owes. The time that a job will take is only known after its step, so an expected
// time is charged when it is handed out and corrected when the step has ended; several jobs of one
// batch then come from several keys.
//
// Priority is borrowed virtual time (Duda and Cheriton 1999): a key of a higher priority is treated
// as if it were kHeadStart earlier. It is served sooner after a pause, but its share stays that of
// its weight, and nobody waits for longer than until the others are that far ahead.
//
// Not thread-safe: the model's queue owns it. Costs a few additions a job. Does nothing for jobs
// without a key (FairShare::key 0).
class KeyTurns {
 public:
  // The head start of each priority over the one below it, in seconds of a worker for a key of
  // weight 1.
  static constexpr double kHeadStart = 0.5;

  // Returns true if jobs of several keys wait, so that it matters whose is next.
  bool in_use() const { return waiting_keys_ > 1; }

  // A job waits, with so much work left, in units that are the same for all. `begun`: it has had a
  // step.
  void Add(const FairShare& share, bool begun, double work);
  // It waits no longer.
  void Remove(const FairShare& share, bool begun, double work);
  // A job is handed out. Returns the virtual time that the key was charged.
  double Start(const FairShare& share, double work);
  // Its step has ended, or it will never be reported.
  void Stop(const FairShare& share, double work);
  // Corrects the charge of a job to what its step took.
  void Charge(const FairShare& share, double seconds, double charged);

  // Returns the place of the key in the order of turns: the lowest is next.
  double Turn(const FairShare& share) const;
  // Returns the place of the key's n-th job from here, n >= 0.
  double Turn(const FairShare& share, size_t n) const {
    return Turn(share) + static_cast<double>(n) * expected_ / share.weight;
  }
  // Keeps keys that come back from counting time in which they had nothing to do. Called before
  // each batch.
  void Advance();

  // Returns true if a job of the key has begun and has not left the queue for its client.
  bool IsUnderWay(const FairShare& share) const;
  // Returns the part of all work that is done before the key's own work is, 0 to 1: less than 1 if
  // the key has less than its share of what there is. 1 if no keys are told apart.
  double PartBefore(const FairShare& share) const;
  // Returns the number of the key that should give a place in a full queue to a job of this key: it
  // has the most waiting for its weight, and more than this key would have. 0: none has.
  size_t KeyToDisplace(const FairShare& share) const;

 private:
  struct Key {
    double time = 0;  // virtual, in seconds
    double weight = 1;
    size_t waiting = 0;
    size_t begun = 0;  // how many of those that wait have begun
    size_t running = 0;
    double work = 0;  // left of those that wait or run
  };

  bool IsActive(const Key& key) const { return key.waiting + key.running != 0; }
  Key& At(const FairShare& share);
  const Key* Find(const FairShare& share) const {
    return share.key < keys_.size() && share.key != 0 ? &keys_[share.key] : nullptr;
  }
  void AddWork(Key& key, double work);
  // Ends the key's part in the shares if it has neither waiting nor running jobs.
  void Settle(Key& key);

  std::vector<Key> keys_;  // by FairShare::key; the first is not used
  size_t waiting_keys_ = 0;
  double now_ = 0;          // the virtual time of the least served key that waits
  double expected_ = 1e-3;  // seconds of a worker that a job takes in a step, learnt
  double active_weight_ = 0;
  double all_work_ = 0;
};

}  // namespace millrace::server
