#include "server/scheduling/key_turns.h"

#include <algorithm>
#include <limits>

namespace millrace::server {
namespace {

// The part by which the last step changes the expected time of a job.
constexpr double kLearningRate = 0.1;

}  // namespace

KeyTurns::Key& KeyTurns::At(const FairShare& share) {
  if (share.key >= keys_.size()) keys_.resize(share.key + 1);
  return keys_[share.key];
}

void KeyTurns::AddWork(Key& key, double work) {
  key.work += work;
  all_work_ += work;
}

void KeyTurns::Add(const FairShare& share, bool begun, double work) {
  if (share.key == 0) return;
  Key& key = At(share);
  if (IsActive(key)) {
    active_weight_ += share.weight - key.weight;
  } else {
    key.time = std::max(key.time, now_);
    active_weight_ += share.weight;
  }
  key.weight = share.weight;
  if (key.waiting++ == 0) ++waiting_keys_;
  if (begun) ++key.begun;
  AddWork(key, work);
}

void KeyTurns::Remove(const FairShare& share, bool begun, double work) {
  if (share.key == 0) return;
  Key& key = At(share);
  if (--key.waiting == 0) --waiting_keys_;
  if (begun) --key.begun;
  AddWork(key, -work);
  Settle(key);
}

double KeyTurns::Start(const FairShare& share, double work) {
  if (share.key == 0) return 0;
  Key& key = At(share);
  if (!IsActive(key)) {
    active_weight_ += share.weight;
    key.weight = share.weight;
  }
  ++key.running;
  AddWork(key, work);
  // While no other key waits, its time is everybody's.
  if (waiting_keys_ == (key.waiting != 0 ? 1 : 0)) now_ = std::max(now_, key.time);
  const double charged = expected_ / key.weight;
  key.time += charged;
  return charged;
}

void KeyTurns::Stop(const FairShare& share, double work) {
  if (share.key == 0) return;
  Key& key = At(share);
  --key.running;
  AddWork(key, -work);
  Settle(key);
}

void KeyTurns::Settle(Key& key) {
  if (IsActive(key)) return;
  active_weight_ -= key.weight;
  all_work_ -= key.work;  // sums of many numbers drift
  key.work = 0;
  if (active_weight_ > 1e-6) return;
  active_weight_ = all_work_ = 0;
}

void KeyTurns::Charge(const FairShare& share, double seconds, double charged) {
  if (share.key == 0) return;
  Key& key = At(share);
  key.time += seconds / key.weight - charged;
  expected_ += kLearningRate * (seconds - expected_);
}

double KeyTurns::Turn(const FairShare& share) const {
  const Key* key = Find(share);
  return (key == nullptr ? 0 : key->time) - kHeadStart * static_cast<double>(share.priority);
}

void KeyTurns::Advance() {
  double least = std::numeric_limits<double>::infinity();
  for (const Key& key : keys_) {
    if (key.waiting != 0) least = std::min(least, key.time);
  }
  if (least != std::numeric_limits<double>::infinity()) now_ = std::max(now_, least);
}

bool KeyTurns::IsUnderWay(const FairShare& share) const {
  const Key* key = Find(share);
  return key != nullptr && key->begun + key->running != 0;
}

double KeyTurns::PartBefore(const FairShare& share) const {
  if (share.key == 0) return 1;
  const Key* key = Find(share);
  const bool active = key != nullptr && IsActive(*key);
  const double own = active ? key->work : 0;
  const double weights = active_weight_ + (active ? 0 : share.weight);
  if (all_work_ <= 0 || weights <= share.weight) return 1;
  return std::min(1.0, own / all_work_ * weights / share.weight);
}

size_t KeyTurns::KeyToDisplace(const FairShare& share) const {
  if (share.key == 0) return 0;
  const Key* own = Find(share);
  double most = static_cast<double>((own == nullptr ? 0 : own->waiting) + 1) / share.weight;
  size_t found = 0;
  for (size_t i = 1; i < keys_.size(); ++i) {
    const double waiting = static_cast<double>(keys_[i].waiting) / keys_[i].weight;
    if (waiting <= most) continue;
    most = waiting;
    found = i;
  }
  return found;
}

}  // namespace millrace::server
