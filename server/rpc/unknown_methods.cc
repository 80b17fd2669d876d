#include "server/rpc/unknown_methods.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr size_t kLongestName = 200;

// A client's name, fit for a line of text.
std::string Quoted(std::string_view name) {
  return StrCat("'", absl::CHexEscape(View(name.substr(0, kLongestName))), "'");
}

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += StrCat(list.empty() ? "" : ", ", name);
  return list;
}

}  // namespace

std::string UnknownMethods::Explain(std::string_view path) const {
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  const size_t slash = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, slash);
  const std::string_view method = path.substr(std::min(slash + 1, path.size()));
  std::vector<std::string> names;
  for (const RpcService* service : services_) {
    if (service->full_name() == name) {
      return StrCat("service ", std::string(name), " has no method ", Quoted(method),
                    " here; it has ", Listed(service->MethodNames()));
    }
    names.push_back(service->full_name());
  }
  return StrCat("the server has no service ", Quoted(name), "; it has ", Listed(names));
}

UnknownMethods::Call::Call(UnknownMethods& methods, PollingThread& thread)
    : methods_(methods), thread_(thread) {
  thread_.AddCall();
  methods_.service_.RequestCall(&context_, &stream_, &thread_.queue(), &thread_.queue(), this);
}

void UnknownMethods::Call::Happen(bool ok) {
  if (!ok || std::exchange(came_, true)) {
    delete this;
    return;
  }
  methods_.Await(thread_);
  stream_.Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, methods_.Explain(context_.method())),
                 this);
}

}  // namespace millrace::server
