#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "millrace/v1/admin.grpc.pb.h"
#include "models/core/strings.h"
#include "mps_runtime/base/file.h"
#include "nlohmann/json.hpp"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"
#include "server/config/models_program.h"

extern char** environ;

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostNames = size_t{1} << 20;  // bytes
// The time in which a server of this machine answers if there is one.
constexpr std::chrono::seconds kProbeTime{5};

std::vector<char*> ArgumentsOf(const std::string& program, const std::vector<std::string>& rest) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : rest) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  return argv;
}

// Leaves Ctrl-C and Ctrl-\ to the child, which shares the terminal, as long as it lives.
class SignalsForChild {
 public:
  SignalsForChild() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ignore, &old_[i]);
  }
  SignalsForChild(const SignalsForChild&) = delete;
  SignalsForChild& operator=(const SignalsForChild&) = delete;
  ~SignalsForChild() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_[i], nullptr);
  }

  static constexpr std::array<int, 2> kSignals = {SIGINT, SIGQUIT};

 private:
  std::array<struct sigaction, kSignals.size()> old_{};
};

// The end of a program: its exit status, and the names that it wrote to the descriptor that
// --names-to told it of, each of a model that it has installed or removed.
struct Ended {
  int status = kExitFailed;
  std::vector<std::string> names;
};

int ExitStatusOf(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

absl::StatusOr<Ended> RunProgram(const std::string& program, std::vector<std::string> arguments) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe(ends.data()) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  FileDescriptor ours(ends[0]), childs(ends[1]);
  fcntl(ours.get(), F_SETFD, FD_CLOEXEC);
  arguments.insert(arguments.begin() + 1,
                   {StrCat("--names-to=", childs.get()), StartedByThisProgram()});
  const SignalsForChild signals;
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : SignalsForChild::kSignals) sigaddset(&usual, signal);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error = posix_spawn(&child, program.c_str(), nullptr, &attributes,
                                ArgumentsOf(program, arguments).data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return absl::ErrnoToStatus(error, StrCat("cannot start ", program));
  childs.Close();
  Ended ended;
  // The pipe is at its end when the program is.
  if (const auto text = ReadToEnd(ours.get(), kMostNames))
    ended.names = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ended.status = ExitStatusOf(status);
  if (WIFSIGNALED(status)) {
    Fail(StrCat(kModelsProgram, " was ended by signal ", WTERMSIG(status), ", ",
                strsignal(WTERMSIG(status)),
                "; nothing half made is installed. Was there too "
                "little memory, or did a file change while it was read?"));
  }
  return ended;
}

// Tells a running server of models that came or went, and the person of what it did.
class Announcer {
 public:
  Announcer(const PackageCommand& command, const std::shared_ptr<grpc::Channel>& channel)
      : command_(command), admin_(v1::AdminService::NewStub(channel)) {}

  int Announce(const std::vector<std::string>& names) {
    if (!command_.names_server && !ServesFolder()) {
      if (command_.kind != PackageCommand::Kind::kRemove) {
        Say("not_served", "",
            StrCat("no server at ", command_.client.address, " serves ", command_.models.string(),
                   "; start one with: millrace serve --models ", command_.models.string()));
      }
      return kExitOk;
    }
    int result = kExitOk;
    for (const std::string& name : names) result = std::max(result, Tell(name));
    return result;
  }

 private:
  // Another server of this machine may have other models of the same names.
  bool ServesFolder() {
    ClientOptions client = command_.client;
    client.timeout = kProbeTime;
    grpc::ClientContext context;
    Prepare(client, context);
    v1::GetServerInfoResponse info;
    if (const grpc::Status status = admin_->GetServerInfo(&context, {}, &info); !status.ok()) {
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE) Fail(Explain(status, client));
      return false;
    }
    std::error_code error;
    const std::string ours = std::filesystem::weakly_canonical(command_.models, error).string();
    const auto& folders = info.repository_folders();
    return std::find(folders.begin(), folders.end(), ours) != folders.end();
  }

  int Tell(const std::string& name) {
    grpc::ClientContext context;
    Prepare(command_.client, context);
    const std::string& address = command_.client.address;
    if (command_.kind == PackageCommand::Kind::kRemove) {
      v1::UnloadModelRequest request;
      request.set_model(name);
      v1::UnloadModelResponse response;
      const grpc::Status status = admin_->UnloadModel(&context, request, &response);
      if (status.error_code() == grpc::StatusCode::NOT_FOUND) return kExitOk;
      if (!status.ok()) return Refused(name, status, "still serves it");
      Say("unloaded", name, StrCat(name, ": no longer served by ", address));
      return kExitOk;
    }
    v1::LoadModelRequest request;
    request.set_model(name);
    v1::LoadModelResponse response;
    const grpc::Status status = admin_->LoadModel(&context, request, &response);
    if (!status.ok()) return Refused(name, status, "does not load it");
    Say("served", name, StrCat(name, ": served by ", address));
    return kExitOk;
  }

  int Refused(const std::string& name, const grpc::Status& status, const char* what) {
    const std::string text = StrCat(name, ": ", command_.client.address, " ", what, ": ",
                                    Explain(status, command_.client));
    if (command_.json) Say("error", name, text);
    return Fail(text);
  }

  void Say(const char* event, const std::string& name, const std::string& text) const {
    if (command_.json) {
      const Json line = {{"event", event},
                         {"name", name},
                         {"address", command_.client.address},
                         {"message", text}};
      std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
      std::printf("%s\n", text.c_str());
    }
  }

  const PackageCommand& command_;
  const std::unique_ptr<v1::AdminService::Stub> admin_;
};

}  // namespace

int RunPackage(const PackageCommand& command) {
  const absl::StatusOr<std::string> program = FindModelsProgram();
  if (!program.ok()) return Fail(std::string(program.status().message()));
  if (command.kind == PackageCommand::Kind::kAvailable) {
    execv(program->c_str(), ArgumentsOf(*program, command.arguments).data());
    return Fail(StrCat("cannot start ", *program, ": ", std::strerror(errno)));
  }
  // A transfer takes long: what is wrong with the files of TLS is told before.
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  const absl::StatusOr<Ended> ended = RunProgram(*program, command.arguments);
  if (!ended.ok()) return Fail(std::string(ended.status().message()));
  // The models that were done before a failure are told of too.
  const int announced =
      ended->names.empty() ? kExitOk : Announcer(command, *channel).Announce(ended->names);
  return ended->status != kExitOk ? ended->status : announced;
}

}  // namespace millrace
