#include "server/rpc/method_table.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr size_t kLongestName = 200;

// Returns a name that a client sent in a form fit for a line of text.
std::string Quoted(std::string_view name) {
  return StrCat("'", absl::CHexEscape(View(name.substr(0, kLongestName))), "'");
}

std::string Listed(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) list += StrCat(list.empty() ? "" : ", ", name);
  return list;
}

std::vector<std::string_view> MethodNames(const RpcService& service) {
  std::vector<std::string_view> names;
  for (const RpcService::Method& method : service.methods()) names.push_back(method.name());
  return names;
}

}  // namespace

MethodTable::MethodTable(const std::vector<RpcService*>& services) : services_(services) {
  for (const RpcService* service : services_) {
    for (const RpcService::Method& method : service->methods())
      methods_.emplace(method.path, &method);
  }
}

const RpcService::Method* MethodTable::Find(std::string_view path) const {
  const auto found = methods_.find(path);
  return found != methods_.end() ? found->second : nullptr;
}

std::string MethodTable::ExplainUnknown(std::string_view path) const {
  path.remove_prefix(path.starts_with('/') ? 1 : 0);
  const size_t slash = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, slash);
  const std::string_view method = path.substr(std::min(slash + 1, path.size()));
  std::vector<std::string_view> names;
  for (const RpcService* service : services_) {
    if (service->full_name() == name) {
      return StrCat("service ", std::string(name), " has no method ", Quoted(method),
                    " here; it has ", Listed(MethodNames(*service)));
    }
    names.push_back(service->full_name());
  }
  return StrCat("the server has no service ", Quoted(name), "; it has ", Listed(names));
}

}  // namespace millrace::server
