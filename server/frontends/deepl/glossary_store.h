#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// A glossary that a client of DeepL's API has created.
struct Glossary {
  std::string name;
  std::string source_language;  // BCP 47, in small letters, without a region
  std::string target_language;
  std::vector<models::GlossaryEntry> entries;
  std::chrono::system_clock::time_point created;
};

// Keeps glossaries in memory, each for the API key that created it. A full store refuses, because
// a client relies on what it has created. Thread-safe.
class GlossaryStore {
 public:
  struct Limits {
    size_t glossaries = 1'000;
    size_t glossaries_of_owner = 100;
    size_t bytes = size_t{32} << 20;  // the bytes of all entries
  };
  using Entry = std::pair<std::string, std::shared_ptr<const Glossary>>;  // by its id

  explicit GlossaryStore(Limits limits) : limits_(limits) {}

  // Returns the id, which cannot be guessed. FailedPrecondition names the limit that is reached.
  absl::StatusOr<std::string> Add(const std::string& owner, Glossary glossary)
      MILLRACE_EXCLUDES(mu_);
  // Null: the owner has no glossary of that id.
  std::shared_ptr<const Glossary> Find(const std::string& owner, const std::string& id) const
      MILLRACE_EXCLUDES(mu_);
  // Returns those of the owner.
  std::vector<Entry> List(const std::string& owner) const MILLRACE_EXCLUDES(mu_);
  // Returns false if there is none.
  bool Remove(const std::string& owner, const std::string& id) MILLRACE_EXCLUDES(mu_);

 private:
  const Limits limits_;
  mutable Mutex mu_;
  // By owner and id.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Glossary>> glossaries_
      MILLRACE_GUARDED_BY(mu_);
  size_t bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
