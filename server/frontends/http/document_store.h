#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
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

// Keeps translated documents in memory for some time, for clients that know their names, and
// translates documents on threads of its own. The oldest translations give way to new ones, and a
// document that nobody asks after is no longer translated. How many are translated at once is the
// caller's to bound. Thread-safe.
class DocumentStore {
 public:
  struct Limits {
    size_t documents = 256;           // documents whose translations have ended
    size_t bytes = size_t{64} << 20;  // the sum of all; a single one is kept whatever its size
    Duration time = std::chrono::minutes(10);
    // DeepL's client asks at least once a minute.
    Duration unasked = std::chrono::minutes(5);
  };
  // A client needs both to fetch a document. Neither can be guessed.
  struct Handle {
    std::string id;
    std::string key;  // empty where the id alone is the secret
  };
  using Result = absl::StatusOr<TranslatedDocument>;
  // Returns OK while a translation is to go on, else why it stops.
  using GoOn = std::function<absl::Status()>;
  // Returns the translation, or soon the error of `go_on`, which it asks many times a second.
  using Translate = std::function<Result(const GoOn& go_on)>;

  // The clock must outlive it.
  DocumentStore(const Clock& clock, Limits limits) : clock_(clock), limits_(limits) {}
  // Stops what is not translated yet.
  ~DocumentStore();

  // Begins a translation.
  Handle Add(Translate translate) MILLRACE_EXCLUDES(mu_);
  // Keeps a document that is translated already, and returns its id, which ends in the extension.
  std::string Keep(TranslatedDocument document, std::string_view extension) MILLRACE_EXCLUDES(mu_);
  // The state of a document.
  struct Found {
    bool known = false;                      // false: there is no such document, or not any longer
    std::shared_ptr<const Result> end = {};  // null: it is still being translated
  };
  // Waits for the end of a translation at most that long.
  Found Find(const Handle& handle, std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // Stops a translation, if it has not ended, and forgets it. False: there is no such document.
  bool Remove(const Handle& handle) MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    Handle handle;
    std::shared_ptr<const Result> end = {};
    TimePoint ended_at = {};
    TimePoint asked_at = {};
    bool removed = false;
    // It ends soon after `end` is set.
    std::optional<JoiningThread> thread = {};
  };
  using Entries = std::list<Entry>;

  void Run(Entry& entry, const Translate& translate) MILLRACE_EXCLUDES(mu_);
  absl::Status GoesOn(const Entry& entry) MILLRACE_EXCLUDES(mu_);
  Entries::iterator FindEntry(const Handle& handle) MILLRACE_REQUIRES(mu_);
  // Moves the entries that must go out of the list.
  Entries TakeOld() MILLRACE_REQUIRES(mu_);

  const Clock& clock_;
  const Limits limits_;
  Mutex mu_;
  CondVar ended_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  Entries entries_ MILLRACE_GUARDED_BY(mu_);  // oldest first
};

}  // namespace millrace::server
