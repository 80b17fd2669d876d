#include "server/client/audio_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/find_program.h"
#include "mps_runtime/base/spawn.h"

namespace millrace {
namespace {

struct KnownPlayer {
  const char* name;
  std::vector<std::string> arguments;
};

// They are ALSA's, FFmpeg's, SoX's and mpv, in the order in which they are tried.
const std::vector<KnownPlayer>& KnownPlayers() {
  static const std::vector<KnownPlayer>& players =
      *new std::vector<KnownPlayer>{{"aplay", {"-q", "-"}},
                                    {"ffplay", {"-nodisp", "-autoexit", "-loglevel", "error", "-"}},
                                    {"play", {"-q", "-t", "wav", "-"}},
                                    {"mpv", {"--really-quiet", "--no-terminal", "-"}}};
  return players;
}

using models::AudioFormat;

// The sizes of a WAV with nothing but its samples, and where they stand (RIFF).
constexpr size_t kWavHead = 44;
constexpr size_t kRiffSize = 4;
constexpr size_t kDataSize = 40;
// The number of samples in a FLAC's STREAMINFO is the lower half of this byte, and the next four
// (RFC 9639, 8.2).
constexpr size_t kFlacSamples = 21;
constexpr size_t kFlacHead = 26;

std::string LittleEndian(uint32_t number) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

}  // namespace

Player::Player(std::string name, FileDescriptor input, pid_t process)
    : name_(std::move(name)), input_(std::move(input)), process_(process) {}

absl::StatusOr<std::unique_ptr<Player>> Player::Start() {
  for (const KnownPlayer& known : KnownPlayers()) {
    const std::filesystem::path program = FindProgram(known.name);
    if (program.empty()) continue;
    std::array<int, 2> ends = {-1, -1};
    if (pipe(ends.data()) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
    const FileDescriptor players(ends[0]);
    FileDescriptor ours(ends[1]);
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    pid_t process = -1;
    const ChildStreams streams = {.input = players.get(), .error = kInherited};
    if (const int error = SpawnProgram(program, known.arguments, streams, process); error != 0)
      return absl::ErrnoToStatus(error, StrCat("cannot start ", program.string()));
    return std::unique_ptr<Player>(new Player(known.name, std::move(ours), process));
  }
  return NotFound(
      "--play: no player is in PATH; install one of: ",
      absl::StrJoin(KnownPlayers(), ", ",
                    [](std::string* out, const KnownPlayer& player) { out->append(player.name); }));
}

Player::~Player() {
  Stop();
  input_.Close();
  Wait().IgnoreError();
}

absl::Status Player::Wait() {
  // The process is not reaped before `has_ended_` is set, so Stop cannot signal another one.
  siginfo_t info = {};
  while (waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return absl::OkStatus();  // its end has been told before
  }
  MutexLock lock(mu_);
  has_ended_ = true;
  int status = 0;
  waitpid(process_, &status, 0);
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) == 0) return absl::OkStatus();
    return Unavailable("--play: ", name_, " ended with status ", WEXITSTATUS(status));
  }
  if (stopped_) return absl::OkStatus();
  return Unavailable("--play: ", name_, " was ended by signal ", WTERMSIG(status));
}

void Player::Stop() {
  MutexLock lock(mu_);
  if (has_ended_) return;
  stopped_ = true;
  kill(-process_, SIGTERM);
}

AudioOutput::~AudioOutput() { CloseDescriptor(); }

bool AudioOutput::CloseDescriptor() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (pipe_.get() >= 0) return pipe_.Close();
  return descriptor <= STDERR_FILENO || close(descriptor) == 0;
}

absl::Status AudioOutput::Failed() const {
  return Unavailable(name_ == "-" ? std::string("standard output cannot be written")
                                  : StrCat(name_, ": cannot be written: ", std::strerror(errno)));
}

absl::Status AudioOutput::Open(int sample_rate) {
  MILLRACE_ASSIGN_OR_RETURN(const auto rate,
                            models::ResolveSampleRate(format_, sample_rate_, sample_rate));
  MILLRACE_ASSIGN_OR_RETURN(encoder_,
                            models::MakeAudioEncoder({.format = format_,
                                                      .container = models::AudioContainer::kStream,
                                                      .input_rate = sample_rate,
                                                      .output_rate = rate}));
  input_rate_ = sample_rate;
  output_rate_ = rate;
  descriptor_ = pipe_.get() >= 0 ? pipe_.get()
                : name_ == "-"
                    ? STDOUT_FILENO
                    : open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return Failed();
  struct stat status = {};
  const int flags = fcntl(descriptor_, F_GETFL);
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && flags >= 0 &&
      (flags & O_APPEND) == 0)
    begin_ = lseek(descriptor_, 0, SEEK_CUR);
  return absl::OkStatus();
}

absl::Status AudioOutput::Write(const std::string& bytes) {
  if (head_.size() < kWavHead) head_ += bytes.substr(0, kWavHead - head_.size());
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed();
    done += static_cast<size_t>(count);
  }
  written_ += bytes.size();
  return absl::OkStatus();
}

absl::Status AudioOutput::WriteAt(off_t place, const std::string& bytes) const {
  const ssize_t count = pwrite(descriptor_, bytes.data(), bytes.size(), begin_ + place);
  return count == static_cast<ssize_t>(bytes.size()) ? absl::OkStatus() : Failed();
}

absl::Status AudioOutput::WriteLength() {
  if (begin_ < 0) return absl::OkStatus();
  if (format_ == AudioFormat::kWav && head_.size() >= kWavHead &&
      head_.compare(kDataSize - 4, 4, "data") == 0) {
    // A WAV holds at most 4 GiB; what is longer keeps the sizes of a stream.
    if (written_ - 8 > UINT32_MAX) return absl::OkStatus();
    MILLRACE_RETURN_IF_ERROR(WriteAt(kRiffSize, LittleEndian(static_cast<uint32_t>(written_ - 8))));
    return WriteAt(kDataSize, LittleEndian(static_cast<uint32_t>(written_ - kWavHead)));
  }
  if (format_ == AudioFormat::kFlac && head_.size() >= kFlacHead && head_.starts_with("fLaC")) {
    const auto samples = static_cast<uint64_t>(
        std::llround(static_cast<double>(samples_) * output_rate_ / input_rate_));
    std::string bytes(1, static_cast<char>((head_[kFlacSamples] & 0xf0) | ((samples >> 32) & 0xf)));
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(samples >> shift);
    return WriteAt(kFlacSamples, bytes);
  }
  return absl::OkStatus();
}

absl::Status AudioOutput::Push(std::span<const float> samples, int sample_rate) {
  if (encoder_ == nullptr) {
    MILLRACE_RETURN_IF_ERROR(Open(sample_rate));
  }
  samples_ += samples.size();
  return Write(encoder_->Push(samples));
}

absl::Status AudioOutput::Close() {
  if (encoder_ == nullptr) {
    pipe_.Close();
    return absl::OkStatus();
  }
  MILLRACE_ASSIGN_OR_RETURN(const std::string rest, encoder_->Close());
  MILLRACE_RETURN_IF_ERROR(Write(rest));
  absl::Status status = WriteLength();
  if (!CloseDescriptor() && status.ok()) status = Failed();
  return status;
}

}  // namespace millrace
