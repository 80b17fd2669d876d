#pragma once

#include "absl/status/statusor.h"
#include "server/http/httplib_fwd.h"
#include "server/requests/services.h"
#include "server/scheduling/admission.h"
#include "server/sockets/peer_places.h"

namespace millrace::server {

// Bounds how many files are received or translated at once, whatever the protocol: of all clients,
// because each may be large, and of one client's address, which with slow uploads would else keep
// all others out. Thread-safe.
class FilePlaces {
 public:
  struct Limits {
    int all = 8;
    int of_peer = 4;
  };
  // The places of a file, until it is destroyed. The FilePlaces must outlive it.
  struct Place {
    PeerPlaces::Place of_peer;
    Ticket of_all;
  };

  // The services must outlive it.
  FilePlaces(Services& services, Limits limits)
      : services_(services), limits_(limits), all_(limits.all), of_peer_(limits.of_peer) {}

  // Takes places for the file that a request brings. It should be called before the body is read,
  // because the files that are held are what is bounded; without a place the body is to be dropped.
  // InvalidArgument: the request is no form with parts, which alone can bring a file.
  absl::StatusOr<Place> TryEnter(const httplib::Request& request);

 private:
  absl::Status TooMany(const std::string& message);

  Services& services_;
  const Limits limits_;
  Admission all_;
  PeerPlaces of_peer_;
};

}  // namespace millrace::server
