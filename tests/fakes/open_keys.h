#pragma once

#include <chrono>
#include <fstream>
#include <initializer_list>
#include <memory>

#include "server/security/api_key_store.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::testing {

struct NamedKey {
  const char* name;
  Role role;
  const char* key;
};

// Returns a store of these keys, which does not look at its file again.
inline std::unique_ptr<ApiKeyStore> OpenKeys(std::initializer_list<NamedKey> keys) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "keys";
  std::ofstream lines(file);
  for (const NamedKey& key : keys) lines << ApiKeyLine(key.name, key.role, key.key).value() << "\n";
  lines.close();
  return ApiKeyStore::Open(file, {.poll_interval = std::chrono::milliseconds(0)}).value();
}

}  // namespace millrace::testing
