#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <unordered_set>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/rpc/rpc_service.h"
#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace millrace::server {

// xds.service.orca.v3.OpenRcaService: streams of load reports, out of band. No key is needed, as
// for health checks, because load balancers have none. Thread-safe.
class OrcaService : public RpcService {
 public:
  // The intervals between the reports of a stream; others are brought into this range.
  static constexpr std::chrono::seconds kShortest{1};
  static constexpr std::chrono::hours kLongest{1};

  struct Options {
    size_t max_streams = 1024;  // more are refused with RESOURCE_EXHAUSTED
    // Called for each of these, on the thread of its call.
    std::function<void()> on_too_many = [] {};
  };
  // The clock must outlive it.
  explicit OrcaService(Options options, Clock& clock = Clock::Real());

  // Sets the report of this moment, and sends it to the streams whose interval is over. Called
  // several times a second.
  void Publish(const xds::data::orca::v3::OrcaLoadReport& report) MILLRACE_EXCLUDES(mu_);
  // Ends all streams, and those that begin later, with UNAVAILABLE.
  void EndStreams() MILLRACE_EXCLUDES(mu_);

 private:
  class Stream;

  void Start(ByteCall& call) MILLRACE_EXCLUDES(mu_);
  void Remove(Stream& stream) MILLRACE_EXCLUDES(mu_);

  const Options options_;
  Clock& clock_;
  Mutex mu_;
  bool ended_ MILLRACE_GUARDED_BY(mu_) = false;
  xds::data::orca::v3::OrcaLoadReport report_ MILLRACE_GUARDED_BY(mu_);
  std::unordered_set<Stream*> streams_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
