#include "models/text/english/english_lexicon.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::string_view kMagic = "MRLEXIC1";
constexpr size_t kHeaderBytes = 24;
constexpr size_t kChecksumAt = 20;
constexpr size_t kWordBytes = 4;

uint32_t ReadWord(const char* bytes) {
  const auto byte = [bytes](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  };
  return byte(0) | byte(1) | byte(2) | byte(3);  // one load
}

// Returns the CRC-32 of IEEE 802.3, as zlib computes it; `before` is that of the bytes before.
uint32_t Crc32(std::string_view bytes, uint32_t before = 0) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made = {};
    for (uint32_t i = 0; i < made.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0U);
      made[i] = value;
    }
    return made;
  }();
  uint32_t crc = ~before;
  for (const char byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~crc;
}

absl::Status Damaged(const std::filesystem::path& path, const std::string& what) {
  return DataLoss(path.string(), ": damaged lexicon: ", what);
}

}  // namespace

std::string_view LexiconEntry::phonemes() const { return value_.substr(1, value_.find('\t') - 1); }

std::optional<std::string_view> LexiconEntry::Variant(std::string_view name) const {
  size_t at = value_.find('\t');
  while (at != std::string_view::npos) {
    const size_t next = value_.find('\t', at + 1);
    const std::string_view part =
        value_.substr(at + 1, next == std::string_view::npos ? next : next - at - 1);
    const size_t equals = part.find('=');
    if (part.substr(0, equals) == name) {
      return equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    }
    at = next;
  }
  return std::nullopt;
}

absl::StatusOr<EnglishLexicon> EnglishLexicon::Open(const std::filesystem::path& path) {
  MILLRACE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path, kMaxLexiconBytes));
  const auto size = static_cast<size_t>(file.bytes);
  if (size < kHeaderBytes) return Damaged(path, "shorter than its header");
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor.get(), 0);
  if (mapping == MAP_FAILED) {
    return Internal(path.string(), ": cannot map: ", std::strerror(errno));
  }
  EnglishLexicon lexicon;
  lexicon.mapping_ = static_cast<const char*>(mapping);
  lexicon.size_ = size;
  MILLRACE_RETURN_IF_ERROR(lexicon.Check(path));
  return lexicon;
}

absl::Status EnglishLexicon::Check(const std::filesystem::path& path) {
  if (std::string_view(mapping_, kMagic.size()) != kMagic) {
    return Damaged(path, "it does not begin with MRLEXIC1");
  }
  const uint32_t dialect = ReadWord(mapping_ + 8);
  if (dialect > 1) return Damaged(path, StrCat("unknown dialect ", dialect));
  dialect_ = dialect == 0 ? EnglishDialect::kUs : EnglishDialect::kGb;
  const uint64_t count = ReadWord(mapping_ + 12);
  const uint64_t text_bytes = ReadWord(mapping_ + 16);
  const uint64_t expected = kHeaderBytes + (count + 1) * kWordBytes + text_bytes;
  if (expected != size_) {
    return Damaged(path, StrCat("it has ", size_, " bytes, its header says ", expected));
  }
  const uint32_t checksum =
      Crc32({mapping_ + kHeaderBytes, size_ - kHeaderBytes}, Crc32({mapping_, kChecksumAt}));
  if (checksum != ReadWord(mapping_ + kChecksumAt)) {
    return Damaged(path, "its checksum is wrong");
  }
  count_ = count;
  offsets_ = mapping_ + kHeaderBytes;
  text_ = offsets_ + (count + 1) * kWordBytes;
  // Wrong contents with a correct checksum must not cause reads out of bounds either.
  if (OffsetAt(0) != 0 || OffsetAt(count_) != text_bytes) return Damaged(path, "wrong offsets");
  std::string_view last;
  for (size_t i = 0; i < count_; ++i) {
    if (OffsetAt(i) >= OffsetAt(i + 1) || OffsetAt(i + 1) > text_bytes) {
      return Damaged(path, StrCat("wrong offset of entry ", i));
    }
    const std::string_view entry = EntryAt(i);
    const size_t nul = entry.find('\0');
    if (nul == 0 || nul == std::string_view::npos || nul + 1 >= entry.size() ||
        (entry[nul + 1] != 'g' && entry[nul + 1] != 's') || !IsValidUtf8(entry)) {
      return Damaged(path, StrCat("entry ", i, " is no word with its pronunciation"));
    }
    const std::string_view word = entry.substr(0, nul);
    if (i > 0 && word <= last) return Damaged(path, StrCat("entry ", i, " is out of order"));
    last = word;
  }
  return absl::OkStatus();
}

uint32_t EnglishLexicon::OffsetAt(size_t index) const {
  return ReadWord(offsets_ + index * kWordBytes);
}

std::string_view EnglishLexicon::EntryAt(size_t index) const {
  const uint32_t begin = OffsetAt(index);
  return {text_ + begin, OffsetAt(index + 1) - begin};
}

std::optional<LexiconEntry> EnglishLexicon::Find(std::string_view word) const {
  size_t begin = 0;
  size_t end = count_;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    const std::string_view entry = EntryAt(middle);
    const int order = entry.compare(0, word.size(), word);
    // A word that goes on is behind the one that it begins with.
    if (order == 0 && entry.substr(word.size(), 1) == std::string_view("", 1))
      return LexiconEntry(entry.substr(word.size() + 1));
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

EnglishLexicon::EnglishLexicon(EnglishLexicon&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      dialect_(other.dialect_),
      count_(std::exchange(other.count_, 0)),
      offsets_(other.offsets_),
      text_(other.text_) {}

EnglishLexicon& EnglishLexicon::operator=(EnglishLexicon&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(dialect_, other.dialect_);
  std::swap(count_, other.count_);
  std::swap(offsets_, other.offsets_);
  std::swap(text_, other.text_);
  return *this;
}

EnglishLexicon::~EnglishLexicon() {
  if (mapping_ != nullptr) munmap(const_cast<char*>(mapping_), size_);
}

}  // namespace millrace::models
