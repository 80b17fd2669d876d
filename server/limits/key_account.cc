#include "server/limits/key_account.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// How soon a request may end, for which another one waits.
constexpr std::chrono::seconds kPlaceHint{1};

constexpr KeyLimit kAll[kKeyLimits] = {KeyLimit::kRequests, KeyLimit::kCharacters,
                                       KeyLimit::kAudioSeconds, KeyLimit::kConcurrentRequests};

struct LimitNames {
  std::string_view label;   // the label of metrics
  std::string_view policy;  // the name and the unit in header fields
  std::string_view units;   // the unit in messages
};
constexpr LimitNames kNames[kKeyLimits] = {
    {"requests", "requests", " requests a minute"},
    {"characters", "characters", " characters a minute"},
    {"audio_seconds", "audio-seconds", " seconds of audio a minute"},
    {"concurrent_requests", "concurrent-requests", " requests at once"}};

const LimitNames& NamesOf(KeyLimit limit) { return kNames[static_cast<size_t>(limit)]; }

// The least audio that has to be left: how much there will be is not known at the beginning.
constexpr double kSomeAudio = 1e-6;

// Returns the tokens without which a request is not begun; 0: the limit is none for it.
double NeededToBegin(KeyLimit limit, const RequestCost& cost) {
  if (limit == KeyLimit::kCharacters) return static_cast<double>(cost.characters);
  if (limit == KeyLimit::kAudioSeconds) return cost.makes_audio ? kSomeAudio : 0;
  return 1;
}

int64_t Whole(double value) { return static_cast<int64_t>(value); }

// Returns the limits of a tier as a header field.
std::string RateLimitPolicy(const Tier& tier) {
  std::string policy;
  const auto append = [&](KeyLimit limit, const auto& allowed, const char* window) {
    if (!allowed) return;
    const absl::string_view name = View(NamesOf(limit).policy);
    absl::StrAppend(&policy, policy.empty() ? "" : ", ", "\"", name,
                    "\";q=", static_cast<int64_t>(*allowed), window);
    if (limit != KeyLimit::kRequests) absl::StrAppend(&policy, ";qu=\"", name, "\"");
  };
  append(KeyLimit::kRequests, tier.requests_per_minute, ";w=60");
  append(KeyLimit::kCharacters, tier.characters_per_minute, ";w=60");
  append(KeyLimit::kAudioSeconds, tier.audio_seconds_per_minute, ";w=60");
  append(KeyLimit::kConcurrentRequests, tier.concurrent_requests, "");
  return policy;
}

}  // namespace

std::string_view ToString(KeyLimit limit) { return NamesOf(limit).label; }

KeyAccount::KeyAccount(std::string name, size_t number, const Tier& tier, Clock& clock)
    : name_(std::move(name)), number_(number), clock_(clock) {
  SetTier(tier);
}

void KeyAccount::SetTier(const Tier& tier) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  const std::optional<double>* limits[kBuckets] = {
      &tier.requests_per_minute, &tier.characters_per_minute, &tier.audio_seconds_per_minute};
  for (size_t i = 0; i < kBuckets; ++i) {
    if (!*limits[i]) {
      buckets_[i].reset();
    } else if (buckets_[i]) {
      buckets_[i]->SetCapacity(**limits[i], now);
    } else {
      buckets_[i].emplace(**limits[i], now);
    }
  }
  tier_ = tier;
  rate_limit_policy_ = RateLimitPolicy(tier);
}

absl::Status KeyAccount::Enter(const RequestCost& cost) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  if (tier_.concurrent_requests && in_flight_ >= static_cast<int64_t>(*tier_.concurrent_requests))
    return Refuse(KeyLimit::kConcurrentRequests, kPlaceHint);
  Duration longest{};
  KeyLimit exceeded = KeyLimit::kRequests;
  for (size_t i = 0; i < kBuckets; ++i) {
    const double needed = NeededToBegin(kAll[i], cost);
    if (!buckets_[i] || needed == 0) continue;
    const Duration wait = buckets_[i]->WaitFor(needed, now);
    if (wait <= longest) continue;
    longest = wait;
    exceeded = kAll[i];
  }
  if (longest > Duration::zero()) return Refuse(exceeded, longest);
  Take(KeyLimit::kRequests, 1, now);
  Take(KeyLimit::kCharacters, static_cast<double>(cost.characters), now);
  ++in_flight_;
  ++requests_;
  characters_ += static_cast<double>(cost.characters);
  return absl::OkStatus();
}

absl::Status KeyAccount::Refuse(KeyLimit limit, Duration wait) {
  ++refused_[static_cast<size_t>(limit)];
  const double allowed = limit == KeyLimit::kConcurrentRequests
                             ? static_cast<double>(*tier_.concurrent_requests)
                             : buckets_[static_cast<size_t>(limit)]->capacity();
  return Refused(Refusal::kKeyLimit,
                 StrCat(name_.empty() ? std::string("callers without an API key have")
                                      : StrCat("the API key '", name_, "' has"),
                        " used up the limit of ", Whole(allowed), NamesOf(limit).units, " (tier '",
                        tier_.name, "')"),
                 wait, kLongestLimitHint);
}

void KeyAccount::Leave() {
  MutexLock lock(mu_);
  --in_flight_;
}

void KeyAccount::Refund(const RequestCost& cost) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  Take(KeyLimit::kRequests, -1, now);
  Take(KeyLimit::kCharacters, -static_cast<double>(cost.characters), now);
}

void KeyAccount::AddCharacters(size_t characters) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  characters_ += static_cast<double>(characters);
  Take(KeyLimit::kCharacters, static_cast<double>(characters), now);
}

void KeyAccount::AddAudio(double seconds) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  audio_seconds_ += seconds;
  Take(KeyLimit::kAudioSeconds, seconds, now);
}

void KeyAccount::Take(KeyLimit limit, double tokens, TimePoint now) {
  if (auto& bucket = buckets_[static_cast<size_t>(limit)]) bucket->Take(tokens, now);
}

FairShare KeyAccount::share() const {
  MutexLock lock(mu_);
  return {.key = number_, .weight = tier_.weight, .priority = tier_.priority};
}

double KeyAccount::Left(KeyLimit limit, TimePoint now) {
  if (limit == KeyLimit::kConcurrentRequests) {
    const auto allowed = static_cast<double>(*tier_.concurrent_requests);
    return std::max(0.0, allowed - static_cast<double>(in_flight_));
  }
  const double level = buckets_[static_cast<size_t>(limit)]->Level(now);
  // A request may begin while any audio is left.
  return std::max(
      0.0, limit == KeyLimit::kAudioSeconds ? std::ceil(level - kSomeAudio) : std::floor(level));
}

RateLimitFields KeyAccount::rate_limit() {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  return {.policy = rate_limit_policy_, .state = RateLimitState(now)};
}

RateLimitFields KeyAccount::rate_limit_if_due() {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  const bool is_due = !rate_limit_told_ || now - *rate_limit_told_ >= kRateLimitInterval;
  if (rate_limit_policy_.empty() || (!is_due && !IsNearALimit(now))) return {};
  rate_limit_told_ = now;
  return {.policy = rate_limit_policy_, .state = RateLimitState(now)};
}

bool KeyAccount::IsNearALimit(TimePoint now) {
  constexpr double kNear = 0.1;
  for (size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] && buckets_[i]->Level(now) < kNear * buckets_[i]->capacity()) return true;
  }
  return tier_.concurrent_requests && Left(KeyLimit::kConcurrentRequests, now) <
                                          kNear * static_cast<double>(*tier_.concurrent_requests);
}

std::string KeyAccount::RateLimitState(TimePoint now) {
  constexpr RequestCost kLeast{.characters = 1, .makes_audio = true};
  std::string state;
  const auto append = [&](KeyLimit limit, double left) {
    absl::StrAppend(&state, state.empty() ? "" : ", ", "\"", View(NamesOf(limit).policy),
                    "\";r=", Whole(left));
  };
  for (size_t i = 0; i < kBuckets; ++i) {
    if (!buckets_[i]) continue;
    const double left = Left(kAll[i], now);
    append(kAll[i], left);
    // The time until one is there again. A refusal never tells a shorter time to wait.
    if (left == 0) {
      absl::StrAppend(&state, ";t=",
                      std::chrono::ceil<std::chrono::seconds>(
                          buckets_[i]->WaitFor(NeededToBegin(kAll[i], kLeast), now))
                          .count());
    }
  }
  if (tier_.concurrent_requests)
    append(KeyLimit::kConcurrentRequests, Left(KeyLimit::kConcurrentRequests, now));
  return state;
}

KeyUsage KeyAccount::usage() {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  KeyUsage usage{.key = name_,
                 .tier = tier_.name,
                 .number = number_,
                 .requests = requests_,
                 .refused = refused_,
                 .characters = characters_,
                 .audio_seconds = audio_seconds_,
                 .in_flight = in_flight_};
  for (size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i]) usage.limits[i] = KeyUsage::Limit{buckets_[i]->capacity(), Left(kAll[i], now)};
  }
  if (tier_.concurrent_requests) {
    usage.limits[static_cast<size_t>(KeyLimit::kConcurrentRequests)] = KeyUsage::Limit{
        static_cast<double>(*tier_.concurrent_requests), Left(KeyLimit::kConcurrentRequests, now)};
  }
  return usage;
}

}  // namespace millrace::server
