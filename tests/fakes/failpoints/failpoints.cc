#include "tests/fakes/failpoints/failpoints.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <new>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "mps_runtime/errors.h"
#include "server/executors/failpoint.h"

namespace millrace {
namespace testing {
namespace {

constexpr std::string_view kGarbage = "What is sent here is not the beginning of a message.";

}  // namespace

Failpoints::Failpoints(const std::string& text) {
  std::istringstream pairs(text);
  for (std::string pair; pairs >> pair;) {
    const size_t equal = pair.find('=');
    if (equal == std::string::npos)
      throw std::invalid_argument("FAILPOINTS: '" + pair + "' is not POINT=FAULT:PROBABILITY");
    const std::string setting = pair.substr(equal + 1);
    const size_t colon = setting.find(':');
    Point& point =
        points_.emplace_back(Point{pair.substr(0, equal), FaultOf(setting.substr(0, colon))});
    if (colon != std::string::npos) point.probability = std::stod(setting.substr(colon + 1));
  }
}

Failpoints::Fault Failpoints::FaultOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Fault>, 7> kFaults = {
      {{"segv", Fault::kSegv},
       {"abort", Fault::kAbort},
       {"hang", Fault::kHang},
       {"throw", Fault::kThrow},
       {"oom", Fault::kOutOfMemory},
       {"sticky", Fault::kSticky},
       {"garbage", Fault::kGarbage}}};
  for (const auto& [known, fault] : kFaults) {
    if (known == name) return fault;
  }
  throw std::invalid_argument("FAILPOINTS: unknown fault " + std::string(name));
}

void Failpoints::Hit(std::string_view name, int socket) {
  for (Point& point : points_) {
    if (point.name == name && Draw(point)) Do(point.fault, name, socket);
  }
}

bool Failpoints::Draw(Point& point) {
  const MutexLock lock(mu_);
  if (!std::bernoulli_distribution(point.probability)(random_)) return false;
  if (point.fault == Fault::kSticky) point.probability = 1;
  return true;
}

void Failpoints::Do(Fault fault, std::string_view name, int socket) {
  switch (fault) {
    case Fault::kSegv:
      std::raise(SIGSEGV);
      break;
    case Fault::kAbort:
      std::abort();
    case Fault::kHang:
      while (true) pause();
    case Fault::kThrow:
      throw std::runtime_error("failpoint " + std::string(name));
    case Fault::kOutOfMemory:
      throw std::bad_alloc();
    case Fault::kSticky:
      throw runtime::DeviceError("CUDA error: an illegal memory access was encountered");
    case Fault::kGarbage:
      send(socket, kGarbage.data(), kGarbage.size(), MSG_NOSIGNAL);
      break;
  }
}

}  // namespace testing

namespace server {

void Failpoint(std::string_view name, int socket) {
  static auto* const failpoints = [] {
    const char* const text = std::getenv("FAILPOINTS");
    return new testing::Failpoints(text == nullptr ? "" : text);
  }();
  failpoints->Hit(name, socket);
}

}  // namespace server
}  // namespace millrace
