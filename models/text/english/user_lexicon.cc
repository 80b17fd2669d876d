#include "models/text/english/user_lexicon.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "mps_runtime/base/file.h"

namespace millrace::models {
namespace {

constexpr std::chrono::seconds kInterval{1};
constexpr size_t kMaxFileBytes = size_t{16} << 20;

absl::Status WrongLine(std::string_view name, size_t line, std::string_view what) {
  return InvalidArgument(name, ":", line, ": ", what);
}

// Reads one line that holds something into `words`.
absl::Status AddLine(std::string_view line, std::string_view name, size_t number,
                     const PhonemeVocabulary& vocabulary, UserLexicon::Words& words) {
  if (!IsValidUtf8(line)) return WrongLine(name, number, "not UTF-8");
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    return WrongLine(name, number, "no tab between the word and its phonemes");
  }
  const std::string_view word = Trim(line.substr(0, tab));
  const std::string_view phonemes = Trim(line.substr(tab + 1));
  if (word.empty()) return WrongLine(name, number, "no word before the tab");
  if (word.find(' ') != std::string_view::npos) {
    return WrongLine(name, number, StrCat("'", word, "' is more than one word"));
  }
  if (phonemes.empty()) return WrongLine(name, number, StrCat("no phonemes for '", word, "'"));
  if (phonemes.find('\t') != std::string_view::npos) {
    return WrongLine(name, number, "more than one tab");
  }
  if (const auto unknown = vocabulary.FirstUnknown(phonemes)) {
    return WrongLine(name, number,
                     StrCat("the symbol '", *unknown, "', which the voice does not know"));
  }
  if (!words.emplace(word, phonemes).second) {
    return WrongLine(name, number, StrCat("'", word, "' stands there twice"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UserLexicon::Words> ParseUserLexicon(std::string_view text, std::string_view name,
                                                    const PhonemeVocabulary& vocabulary) {
  UserLexicon::Words words;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Trim(line).empty() || line.starts_with('#')) continue;
    MILLRACE_RETURN_IF_ERROR(AddLine(line, name, number, vocabulary, words));
  }
  return words;
}

std::optional<std::string_view> FindUserWord(const UserLexicon::Words& words,
                                             std::string_view word) {
  if (words.empty()) return std::nullopt;
  auto found = words.find(word);
  if (found == words.end()) found = words.find(AsciiLower(word));
  if (found == words.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<std::unique_ptr<UserLexicon>> UserLexicon::Open(Options options) {
  auto lexicon = std::unique_ptr<UserLexicon>(new UserLexicon(std::move(options)));
  // Taken before the file is read, so that a change in between is seen later.
  lexicon->seen_ = lexicon->pending_ = StampOf(lexicon->options_.path);
  MILLRACE_ASSIGN_OR_RETURN(auto words, lexicon->Read());
  {
    MutexLock lock(lexicon->mu_);
    lexicon->words_ = std::move(words);
  }
  lexicon->watcher_ = std::thread([watched = lexicon.get()] { watched->Watch(); });
  return lexicon;
}

UserLexicon::~UserLexicon() {
  {
    MutexLock lock(mu_);
    stop_ = true;
    stopped_.NotifyAll();
  }
  if (watcher_.joinable()) watcher_.join();
}

std::shared_ptr<const UserLexicon::Words> UserLexicon::Current() const {
  MutexLock lock(mu_);
  return words_;
}

std::optional<UserLexicon::Stamp> UserLexicon::StampOf(const std::filesystem::path& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
#ifdef __APPLE__
  const timespec changed = info.st_mtimespec;
#else
  const timespec changed = info.st_mtim;
#endif
  return Stamp{changed.tv_sec, changed.tv_nsec, static_cast<uint64_t>(info.st_size),
               static_cast<uint64_t>(info.st_ino)};
}

absl::StatusOr<std::shared_ptr<const UserLexicon::Words>> UserLexicon::Read() const {
  const std::string name = options_.path.string();
  // O_NONBLOCK, because opening a pipe would wait for its writer.
  const FileDescriptor file(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return NotFound(name, ": ", std::strerror(errno));
  if (!IsRegularFile(file.get())) {
    return InvalidArgument(name, ": not a regular file");
  }
  const auto text = ReadToEnd(file.get(), kMaxFileBytes);
  if (!text) return NotFound(name, ": ", std::strerror(errno));
  if (text->size() > kMaxFileBytes) {
    return InvalidArgument(name, ": more than ", kMaxFileBytes, " bytes");
  }
  MILLRACE_ASSIGN_OR_RETURN(auto words, ParseUserLexicon(*text, name, options_.vocabulary));
  return std::make_shared<const Words>(std::move(words));
}

void UserLexicon::Watch() {
  MutexLock lock(mu_);
  while (!stop_) {
    const TimePoint next = options_.clock->Now() + kInterval;
    while (!stop_ && options_.clock->WaitUntil(stopped_, mu_, next)) {
    }
    if (stop_) return;
    lock.Unlock();
    ReloadIfChanged();
    lock.Lock();
  }
}

void UserLexicon::ReloadIfChanged() {
  const auto stamp = StampOf(options_.path);
  // A file that has changed since the last look may be half written, so it is read only once it is
  // stable.
  const bool settled = stamp == pending_;
  pending_ = stamp;
  if (stamp == seen_ || !settled) return;
  seen_ = stamp;
  auto words = Read();
  if (words.ok()) {
    MutexLock lock(mu_);
    words_ = *words;
  }
  if (options_.report) options_.report(words.status());
}

}  // namespace millrace::models
