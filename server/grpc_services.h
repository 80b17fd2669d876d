#pragma once

#include <memory>
#include <span>
#include <vector>

#include "server/frontends/front_end.h"

namespace millrace::server {

// The services over gRPC of all front ends. Main thread only.
class GrpcServices {
 public:
  // The parts must outlive this.
  GrpcServices(const FrontEndParts& parts, std::span<const FrontEnd* const> front_ends);

  // Returns all of them, which live as long as this.
  std::vector<RpcService*> All();
  // Returns what goes to the clients with the ends of calls; null: nothing.
  const CommonTrailer* trailer() const;
  // Ends the calls that last for as long as their clients want.
  void EndStreams();

 private:
  std::vector<std::unique_ptr<GrpcPart>> parts_;
};

}  // namespace millrace::server
