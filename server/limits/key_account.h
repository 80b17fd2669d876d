#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/limits/policy.h"
#include "server/limits/token_bucket.h"
#include "server/scheduling/fair_share.h"

namespace millrace::server {

// The limits of a key, as the label `limit`.
enum class KeyLimit : uint8_t { kRequests, kCharacters, kAudioSeconds, kConcurrentRequests };
inline constexpr size_t kKeyLimits = 4;
std::string_view ToString(KeyLimit limit);

// The use of the server by a key since the start, and what is left of its limits.
struct KeyUsage {
  std::string key = {};  // empty: callers without a key
  std::string tier = {};
  size_t number = 0;  // FairShare::key
  uint64_t requests = 0;
  std::array<uint64_t, kKeyLimits> refused{};  // by limit
  double characters = 0;
  double audio_seconds = 0;
  int64_t in_flight = 0;
  struct Limit {
    double allowed = 0;  // in a minute or, for concurrent requests, at once
    double left = 0;     // now, at least 0
  };
  std::array<std::optional<Limit>, kKeyLimits> limits{};  // none: not limited
};

// The limits as RateLimit header fields tell them (draft-ietf-httpapi-ratelimit-headers-10). Empty
// without limits.
struct RateLimitFields {
  std::string policy;  // RateLimit-Policy
  std::string state;   // RateLimit
};

// How often answers over gRPC tell a key that is far from its limits what is left. The trailers
// take a tenth of the processor time of a small request.
inline constexpr Duration kRateLimitInterval = std::chrono::milliseconds(100);

// The cost of a request for its key at the beginning.
struct RequestCost {
  size_t characters = 0;
  bool makes_audio = false;  // how much is charged while it is made
};

// The limits and the use of one key. Thread-safe: a mutex is held for some additions.
class KeyAccount {
 public:
  // name: of the key; empty for callers without one. number: FairShare::key, at least 1.
  KeyAccount(std::string name, size_t number, const Tier& tier, Clock& clock);
  KeyAccount(const KeyAccount&) = delete;
  KeyAccount& operator=(const KeyAccount&) = delete;

  // Puts the key into a tier. What it has used counts there too.
  void SetTier(const Tier& tier) MILLRACE_EXCLUDES(mu_);

  // Counts a request as begun, or returns RESOURCE_EXHAUSTED with the limit
  // that it exceeds and a retry hint. A text longer than the limit of a minute may begin when
  // nothing of that minute is used. Leave must follow.
  absl::Status Enter(const RequestCost& cost) MILLRACE_EXCLUDES(mu_);
  void Leave() MILLRACE_EXCLUDES(mu_);
  // Takes back what Enter counted, for a request that the server then refused for want of room.
  void Refund(const RequestCost& cost) MILLRACE_EXCLUDES(mu_);
  // Counts what a request that has begun reads and makes.
  void AddCharacters(size_t characters) MILLRACE_EXCLUDES(mu_);
  void AddAudio(double seconds) MILLRACE_EXCLUDES(mu_);

  FairShare share() const MILLRACE_EXCLUDES(mu_);
  RateLimitFields rate_limit() MILLRACE_EXCLUDES(mu_);
  // Returns the same where it is news: if no answer had it from here for kRateLimitInterval, or
  // less than a tenth of some limit is left. Empty otherwise.
  RateLimitFields rate_limit_if_due() MILLRACE_EXCLUDES(mu_);
  KeyUsage usage() MILLRACE_EXCLUDES(mu_);
  const std::string& name() const { return name_; }

 private:
  static constexpr size_t kBuckets = 3;  // the limits of a minute are the first

  absl::Status Refuse(KeyLimit limit, Duration wait) MILLRACE_REQUIRES(mu_);
  void Take(KeyLimit limit, double tokens, TimePoint now) MILLRACE_REQUIRES(mu_);
  // Returns how many whole units are left.
  double Left(KeyLimit limit, TimePoint now) MILLRACE_REQUIRES(mu_);
  bool IsNearALimit(TimePoint now) MILLRACE_REQUIRES(mu_);
  std::string RateLimitState(TimePoint now) MILLRACE_REQUIRES(mu_);

  const std::string name_;
  const size_t number_;
  Clock& clock_;

  mutable Mutex mu_;
  Tier tier_ MILLRACE_GUARDED_BY(mu_);
  std::string rate_limit_policy_ MILLRACE_GUARDED_BY(mu_);  // the tier's
  std::optional<TimePoint> rate_limit_told_ MILLRACE_GUARDED_BY(mu_);
  std::array<std::optional<TokenBucket>, kBuckets> buckets_ MILLRACE_GUARDED_BY(mu_);
  int64_t in_flight_ MILLRACE_GUARDED_BY(mu_) = 0;
  uint64_t requests_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::array<uint64_t, kKeyLimits> refused_ MILLRACE_GUARDED_BY(mu_){};
  double characters_ MILLRACE_GUARDED_BY(mu_) = 0;
  double audio_seconds_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
