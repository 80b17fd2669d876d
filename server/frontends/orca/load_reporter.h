#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "mps_runtime/base/clock.h"
#include "server/control/periodic.h"
#include "server/frontends/orca/load_meter.h"
#include "server/frontends/orca/orca_service.h"
#include "server/rpc/common_trailer.h"

namespace millrace::server {

// Measures the load several times a second on a thread of its own, and publishes it: as a trailer
// of the next call of each connection, and to the streams of OrcaService.
class LoadReporter {
 public:
  // How reports stand in trailers. Envoy takes a reply with more than one form for an error.
  enum class Trailer : uint8_t { kNone, kBinary, kText };
  struct Options {
    Trailer trailer = Trailer::kNone;
    Duration target_wait{};  // see LoadMeter
    Duration interval = std::chrono::milliseconds(100);
  };

  // `sample` is called once before this returns, and then on the reporter's thread. on_too_many:
  // see OrcaService::Options. The clock must outlive this.
  LoadReporter(
      const Options& options, std::function<LoadSample()> sample,
      std::function<void()> on_too_many = [] {}, Clock& clock = Clock::Real());

  OrcaService& service() { return service_; }
  // Null if trailers have no reports.
  const CommonTrailer* trailer() const {
    return options_.trailer != Trailer::kNone ? &trailer_ : nullptr;
  }

 private:
  void Update();

  const Options options_;
  const std::function<LoadSample()> sample_;
  LoadMeter meter_;  // used in the constructor, then on the thread
  CommonTrailer trailer_;
  OrcaService service_;
  std::optional<Periodic> updates_;  // declared last: its thread uses everything above
};

}  // namespace millrace::server
