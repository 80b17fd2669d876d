#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// A document in its translation.
struct TranslatedDocument {
  std::string file_name;  // The client saves the document under this name.
  std::string media_type;
  std::string bytes;
  size_t characters = 0;  // The client is billed for the characters of the source texts.
};

// Translates documents on threads of its own, and keeps the translations in memory for some time
// after their end. The oldest ones give way to new ones. How many are translated at once is the
// caller's to bound. Thread-safe.
class DocumentStore {
 public:
  struct Limits {
    size_t documents = 256;           // whose translations have ended
    size_t bytes = size_t{64} << 20;  // of all of them; a single one is kept whatever its size
    Duration time = std::chrono::minutes(10);
  };
  // A client needs both to fetch a document. Neither can be guessed.
  struct Handle {
    std::string id;
    std::string key;
  };
  using Result = absl::StatusOr<TranslatedDocument>;
  // Returns the translation; once `stop` is set, it should return soon with an error.
  using Translate = std::function<Result(const std::atomic<bool>& stop)>;

  // The clock must outlive it.
  DocumentStore(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}
  // Stops what is not translated yet.
  ~DocumentStore();

  // Begins a translation.
  Handle Add(Translate translate) MILLRACE_EXCLUDES(mu_);
  // The state of a document.
  struct Found {
    bool known = false;                      // false: there is no such document, or not any longer
    std::shared_ptr<const Result> end = {};  // null: it is still being translated
  };
  // Waits for the end of a translation at most that long.
  Found Find(const Handle& handle, std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    Handle handle;
    std::shared_ptr<const Result> end = {};
    TimePoint ended_at = {};
    // It ends soon after `end` is set.
    std::optional<JoiningThread> thread = {};
  };

  void Run(Entry& entry, const Translate& translate) MILLRACE_EXCLUDES(mu_);
  const Entry* FindEntry(const Handle& handle) const MILLRACE_REQUIRES(mu_);
  // Moves the entries that must go out of the list.
  std::list<Entry> TakeOld() MILLRACE_REQUIRES(mu_);

  const Clock& clock_;
  const Limits limits_;
  std::atomic<bool> stop_{false};
  Mutex mu_;
  CondVar ended_;
  std::list<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // oldest first
};

}  // namespace millrace::server
