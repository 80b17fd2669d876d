#include "server/http/connection_poller.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "models/core/strings.h"
#include "server/http/request_head.h"
#include "server/sockets/nonblocking.h"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

using Fate = Connection::Fate;
using Stage = Connection::Stage;

// How long a client that was refused may take to stop sending.
constexpr milliseconds kLinger{1000};
constexpr size_t kReceivedAtOnce = 4096;

void Enter(Connection& connection, Stage stage) {
  connection.stage = stage;
  connection.since = steady_clock::now();
}

// The client is told that nothing more comes, while what it still sends is thrown away: closing a
// socket with unread bytes would reset the connection before the client has read the answer.
void BeginLinger(Connection& connection) {
  shutdown(connection.descriptor, SHUT_WR);
  connection.received.clear();
  Enter(connection, Stage::kLinger);
}

}  // namespace

ConnectionPoller::ConnectionPoller(Options options, Dispatch dispatch, Refusal refusal)
    : options_(std::move(options)),
      dispatch_(std::move(dispatch)),
      refusal_(std::move(refusal)),
      places_of_peer_(options_.max_connections_of_peer),
      acceptor_({.protocol = "HTTP",
                 .address = options_.address,
                 .inherited = options_.inherited,
                 .retry = options_.accept_retry}) {}

ConnectionPoller::~ConnectionPoller() { Stop(); }

absl::Status ConnectionPoller::Start() {
  if (absl::Status status = wake_.Open(); !status.ok()) return status;
  // All that the loop needs, so that it allocates for what clients send alone.
  {
    MutexLock lock(mu_);
    returned_.reserve(options_.max_connections);
  }
  taken_.reserve(options_.max_connections);
  waiting_.reserve(options_.max_connections);
  waits_.reserve(options_.max_connections + 1 + acceptor_.sockets());
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::exception& error) {
    return absl::UnavailableError(StrCat("cannot start a thread: ", error.what()));
  }
  return absl::OkStatus();
}

void ConnectionPoller::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_.Wake();
  thread_.join();
}

void ConnectionPoller::Return(std::unique_ptr<Connection> connection, Fate fate) noexcept {
  MutexLock lock(mu_);
  if (stopping_) return;
  // The others have been seen and not been taken yet: the poller is awake.
  const bool asleep = returned_.empty();
  returned_.push_back({std::move(connection), fate});
  if (asleep) wake_.Wake();
}

void ConnectionPoller::Run() {
  while (TakeReturned()) {
    CloseOverdue();
    acceptor_.Resume();
    Wait();
    // From the last to the first: one that goes is replaced by the last, which has been looked at.
    for (size_t i = waits_.size() - first_wait_; i-- > 0;) {
      if (waits_[first_wait_ + i].revents != 0) Receive(i);
    }
    if (acceptor_.IsReady(waits_)) Accept();
  }
  acceptor_.Close();
  waiting_.clear();
}

bool ConnectionPoller::TakeReturned() {
  {
    MutexLock lock(mu_);
    if (stopping_) {
      returned_.clear();
      return false;
    }
    taken_.swap(returned_);
  }
  handed_on_ -= taken_.size();
  for (Returned& returned : taken_) {
    try {
      Add(std::move(returned.connection), returned.fate);
    } catch (const std::exception&) {  // there is no memory for it
    }
  }
  taken_.clear();
  return true;
}

ConnectionPoller::TimePoint ConnectionPoller::DeadlineOf(const Connection& connection) const {
  switch (connection.stage) {
    case Stage::kIdle:
      return connection.since + options_.keep_alive_timeout;
    case Stage::kHead:
      return connection.since + options_.head_timeout;
    case Stage::kLinger:
      break;
  }
  return connection.since + kLinger;
}

void ConnectionPoller::CloseOverdue() {
  const TimePoint now = steady_clock::now();
  std::erase_if(waiting_, [this, now](const auto& one) {
    if (DeadlineOf(*one) > now) return false;
    if (one->stage != Stage::kHead) return true;
    try {
      Refuse(*one, 408);
      return false;
    } catch (const std::exception&) {  // there is no memory for the answer
      return true;
    }
  });
}

void ConnectionPoller::Wait() {
  const TimePoint now = steady_clock::now();
  TimePoint next = TimePoint::max();
  waits_.clear();
  waits_.push_back({.fd = wake_.descriptor(), .events = POLLIN, .revents = 0});
  acceptor_.AddTo(waits_);
  first_wait_ = waits_.size();
  if (!acceptor_.accepts()) next = acceptor_.retry_at();
  for (const auto& connection : waiting_) {
    waits_.push_back({.fd = connection->descriptor, .events = POLLIN, .revents = 0});
    next = std::min(next, DeadlineOf(*connection));
  }
  int timeout_ms = -1;
  if (next != TimePoint::max()) {
    const auto left = std::chrono::ceil<milliseconds>(next - now);
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
  }
  if (poll(waits_.data(), waits_.size(), timeout_ms) < 0) {
    for (pollfd& wait : waits_) wait.revents = 0;  // a signal
  }
  if (waits_[0].revents != 0) wake_.Drain();
}

void ConnectionPoller::Accept() {
  acceptor_.Accept([this](int descriptor) { Take(descriptor); },
                   [this] { return MakeRoom(nullptr); });
}

void ConnectionPoller::Take(int descriptor) {
  try {
    auto connection = std::make_unique<Connection>(descriptor, steady_clock::now());
    const server::Peer& peer = connection->peer = server::Peer::OfSocket(descriptor);
    connection->place = places_of_peer_.TryEnter(peer);
    if (!connection->place.held() && MakeRoom(&peer))
      connection->place = places_of_peer_.TryEnter(peer);
    if (!connection->place.held() ||
        (waiting_.size() + handed_on_ >= options_.max_connections && !MakeRoom(nullptr))) {
      return Send(*connection, 503);
    }
    waiting_.push_back(std::move(connection));
  } catch (const std::exception&) {  // there is no memory for it
  }
}

bool ConnectionPoller::MakeRoom(const server::Peer* peer) {
  std::unique_ptr<Connection>* longest = nullptr;
  const auto rank = [](const Connection& one) {
    return std::pair(one.stage != Stage::kLinger, one.since);
  };
  for (auto& one : waiting_) {
    if (peer != nullptr && one->peer != *peer) continue;
    if (longest == nullptr || rank(*one) < rank(**longest)) longest = &one;
  }
  if (longest == nullptr) return false;
  std::swap(*longest, waiting_.back());
  waiting_.pop_back();
  return true;
}

void ConnectionPoller::Add(std::unique_ptr<Connection> connection, Fate fate) {
  if (fate == Fate::kClose || connection == nullptr) return;
  if (fate == Fate::kLinger) {
    BeginLinger(*connection);
  } else {
    connection->searched = 0;
    Enter(*connection, connection->received.empty() ? Stage::kIdle : Stage::kHead);
    if (const size_t head = HeadSize(connection->received, 0); head > options_.max_head_bytes) {
      Refuse(*connection, 431);
    } else if (head != 0) {
      HandOn(connection);
    }
  }
  if (connection != nullptr) waiting_.push_back(std::move(connection));
}

void ConnectionPoller::Receive(size_t index) {
  std::unique_ptr<Connection>& connection = waiting_[index];
  try {
    ReceiveFrom(connection);
  } catch (const std::exception&) {  // there is no memory for what came
    connection.reset();
  }
  if (connection != nullptr) return;
  std::swap(connection, waiting_.back());
  waiting_.pop_back();
}

void ConnectionPoller::ReceiveFrom(std::unique_ptr<Connection>& connection) {
  char bytes[kReceivedAtOnce];
  const ssize_t count = recv(connection->descriptor, bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count < 0 && WouldBlock()) return;
  if (count <= 0) return connection.reset();
  if (connection->stage == Stage::kLinger) return;
  if (connection->stage == Stage::kIdle) Enter(*connection, Stage::kHead);
  std::string& received = connection->received;
  received.append(bytes, static_cast<size_t>(count));
  const size_t head = HeadSize(received, connection->searched);
  connection->searched = received.size();
  if ((head != 0 ? head : received.size()) > options_.max_head_bytes)
    return Refuse(*connection, 431);
  if (head != 0) HandOn(connection);
}

void ConnectionPoller::HandOn(std::unique_ptr<Connection>& connection) {
  if (dispatch_(connection)) {
    ++handed_on_;
  } else {
    Refuse(*connection, 503);
  }
}

void ConnectionPoller::Send(const Connection& connection, int status) {
  const std::string answer = refusal_(connection, status);
  send(connection.descriptor, answer.data(), answer.size(), kSendFlags);
}

void ConnectionPoller::Refuse(Connection& connection, int status) {
  Send(connection, status);
  BeginLinger(connection);
}

}  // namespace millrace
