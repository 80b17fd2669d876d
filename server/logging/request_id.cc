#include "server/logging/request_id.h"

#include <algorithm>
#include <cstdint>
#include <random>

namespace millrace::logging {
namespace {

constexpr size_t kMaxClientId = 128;

uint64_t Seed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// SplitMix64: a full-period counter behind a mixing function. Ids name requests in logs and protect
// nothing.
uint64_t NextRandom() {
  thread_local uint64_t state = Seed();
  state += 0x9e3779b97f4a7c15U;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

}  // namespace

std::string NewRequestId() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id(16, '0');
  uint64_t bits = NextRandom();
  for (char& c : id) {
    c = kDigits[bits & 15];
    bits >>= 4;
  }
  return id;
}

std::string RequestIdFrom(std::string_view client_id) {
  const bool sane =
      !client_id.empty() && client_id.size() <= kMaxClientId &&
      std::all_of(client_id.begin(), client_id.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return sane ? std::string(client_id) : NewRequestId();
}

}  // namespace millrace::logging
