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

// Pronunciations that an operator gives words of one model: lines of a UTF-8 file, a word, a tab,
// its phonemes; empty lines and such that begin with # are left out. A word in small letters holds
// for every letter case, one with a capital only as it is written. Read again when the file
// changes: a thread of its own looks once a second. Thread-safe; a look-up never waits for the
// file.
class UserLexicon {
 public:
  using Words = std::map<std::string, std::string, std::less<>>;
  // Told once for every change of the file, with what is wrong in it; the words before stay. Empty:
  // the new words are in use. Called on the thread of its own.
  using Report = std::function<void(const absl::Status&)>;

  struct Options {
    std::filesystem::path path;
    PhonemeVocabulary vocabulary;
    Report report;  // may be empty
    Clock* clock = &Clock::Real();
  };

  // NotFound when the file cannot be read; InvalidArgument, as FILE:LINE, for the first line that
  // is wrong.
  static absl::StatusOr<std::unique_ptr<UserLexicon>> Open(Options options);
  ~UserLexicon();
  UserLexicon(const UserLexicon&) = delete;
  UserLexicon& operator=(const UserLexicon&) = delete;

  // The words of now, which never change themselves; never null.
  std::shared_ptr<const Words> Current() const MILLRACE_EXCLUDES(mu_);

 private:
  // What tells two versions of a file apart.
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
  // Of the watching thread, once it runs: of the words, and of the last look.
  std::optional<Stamp> seen_;
  std::optional<Stamp> pending_;
  std::thread watcher_;
};

// The phonemes of a word in it; nullopt if it has none.
std::optional<std::string_view> FindUserWord(const UserLexicon::Words& words,
                                             std::string_view word);

// Reads the lines of such a file; `name` is what errors call it.
absl::StatusOr<UserLexicon::Words> ParseUserLexicon(std::string_view text, std::string_view name,
                                                    const PhonemeVocabulary& vocabulary);

}  // namespace millrace::models
