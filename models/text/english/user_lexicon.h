#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "models/text/phoneme_vocabulary.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::models {

// The operator's pronunciations for one model: lines of a UTF-8 file, each with a word, a tab and
// its phonemes; empty lines and lines that begin with # are ignored. A word in lower case matches
// any case, a word with a capital only as it is written. The file is read again when it changes; a
// thread of its own checks once a second. Thread-safe; a look-up never waits for the file.
class UserLexicon {
 public:
  using Words = std::map<std::string, std::string, std::less<>>;
  // Called on the watching thread once for each change of the file: OK if the new words are in use,
  // else what is wrong in the file, whose previous words stay in use.
  using Report = std::function<void(const absl::Status&)>;

  struct Options {
    std::filesystem::path path;
    PhonemeVocabulary vocabulary;
    Report report;  // may be empty
    Clock* clock = &Clock::Real();
  };

  // Returns NotFound when the file cannot be read, and InvalidArgument that names FILE:LINE for the
  // first invalid line.
  static absl::StatusOr<std::unique_ptr<UserLexicon>> Open(Options options);
  ~UserLexicon();
  UserLexicon(const UserLexicon&) = delete;
  UserLexicon& operator=(const UserLexicon&) = delete;

  // Returns the current words, which are immutable; never null.
  std::shared_ptr<const Words> Current() const MILLRACE_EXCLUDES(mu_);

 private:
  // Distinguishes versions of the file.
  struct Stamp {
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    uint64_t size = 0;
    uint64_t inode = 0;
    bool operator==(const Stamp&) const = default;
  };

  explicit UserLexicon(Options options) : options_(std::move(options)) {}
  static std::optional<Stamp> StampOf(const std::filesystem::path& path);
  absl::StatusOr<std::shared_ptr<const Words>> Read() const;
  void Watch() MILLRACE_EXCLUDES(mu_);
  void ReloadIfChanged() MILLRACE_EXCLUDES(mu_);

  const Options options_;
  mutable Mutex mu_;
  CondVar stopped_;
  bool stop_ MILLRACE_GUARDED_BY(mu_) = false;
  std::shared_ptr<const Words> words_ MILLRACE_GUARDED_BY(mu_);
  // Used by the watching thread only, once it runs: the stamps of the words in use and of the last
  // look.
  std::optional<Stamp> seen_;
  std::optional<Stamp> pending_;
  std::thread watcher_;
};

// Returns the phonemes of a word, or nullopt.
std::optional<std::string_view> FindUserWord(const UserLexicon::Words& words,
                                             std::string_view word);

// Parses the lines of a lexicon file. name: what errors call it.
absl::StatusOr<UserLexicon::Words> ParseUserLexicon(std::string_view text, std::string_view name,
                                                    const PhonemeVocabulary& vocabulary);

}  // namespace millrace::models
