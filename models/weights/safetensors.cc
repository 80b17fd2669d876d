#include "models/weights/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace::models {
namespace {

constexpr size_t kLengthBytes = 8;
// The format allows 100 MB, which JSON parsing would turn into gigabytes; the headers of voices
// have about 100 KB.
constexpr uint64_t kMaxHeaderBytes = uint64_t{8} << 20;

std::optional<DataType> ParseType(std::string_view name) {
  if (name == "BOOL") return DataType::kBool;
  if (name == "U8") return DataType::kUint8;
  if (name == "I8") return DataType::kInt8;
  if (name == "I16") return DataType::kInt16;
  if (name == "I32") return DataType::kInt32;
  if (name == "I64") return DataType::kInt64;
  if (name == "F16") return DataType::kFp16;
  if (name == "BF16") return DataType::kBf16;
  if (name == "F32") return DataType::kFp32;
  if (name == "F64") return DataType::kFp64;
  return std::nullopt;
}

absl::Status Damaged(const std::filesystem::path& path, const std::string& what) {
  return DataLoss(path.string(), ": damaged safetensors file: ", what);
}

uint64_t ReadLittleEndian(const std::byte* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

absl::StatusOr<SafetensorsFile::View> ReadEntry(const nlohmann::json& entry, const std::byte* data,
                                                uint64_t data_bytes) {
  const auto type = ParseType(entry.at("dtype").get<std::string>());
  if (!type) return InvalidArgument("unsupported dtype");
  SafetensorsFile::View view;
  view.type = *type;
  view.shape = entry.at("shape").get<std::vector<int64_t>>();
  const auto count = ElementCount(view.shape);
  const auto& offsets = entry.at("data_offsets");
  const uint64_t begin = offsets.at(0).get<uint64_t>();
  const uint64_t end = offsets.at(1).get<uint64_t>();
  if (!count || begin > end || end > data_bytes || (end - begin) % ElementSize(*type) != 0 ||
      (end - begin) / ElementSize(*type) != static_cast<uint64_t>(*count)) {
    return InvalidArgument("its shape does not fit its bytes");
  }
  view.data = data + begin;
  view.bytes = end - begin;
  if (reinterpret_cast<uintptr_t>(view.data) % ElementSize(*type) != 0) {
    return InvalidArgument("its data is not aligned");
  }
  return view;
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::filesystem::path& path) {
  MILLRACE_ASSIGN_OR_RETURN(const RegularFile opened, OpenRegularFile(path, kMaxWeightsBytes));
  const auto size = static_cast<size_t>(opened.bytes);
  if (size < kLengthBytes) return Damaged(path, "shorter than its header");
  void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.descriptor.get(), 0);
  if (mapping == MAP_FAILED) {
    return Internal(path.string(), ": cannot map: ", std::strerror(errno));
  }
  SafetensorsFile file;
  file.path_ = path;
  file.mapping_ = static_cast<const std::byte*>(mapping);
  file.size_ = size;
  MILLRACE_RETURN_IF_ERROR(file.ReadHeader());
  return file;
}

absl::Status SafetensorsFile::ReadHeader() {
  const uint64_t header_bytes = ReadLittleEndian(mapping_);
  if (header_bytes > kMaxHeaderBytes || header_bytes > size_ - kLengthBytes)
    return Damaged(path_, "header too long");
  const char* text = reinterpret_cast<const char*>(mapping_) + kLengthBytes;
  const std::byte* data = mapping_ + kLengthBytes + header_bytes;
  const uint64_t data_bytes = size_ - kLengthBytes - header_bytes;
  const nlohmann::json header =
      nlohmann::json::parse(text, text + header_bytes, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return Damaged(path_, "the header is not a JSON object");
  for (const auto& [name, entry] : header.items()) {
    try {
      if (name == "__metadata__") {
        metadata_ = entry.get<std::map<std::string, std::string, std::less<>>>();
        continue;
      }
      auto view = ReadEntry(entry, data, data_bytes);
      if (!view.ok())
        return Damaged(path_, StrCat("tensor '", name, "': ", view.status().message()));
      tensors_.emplace(name, *std::move(view));
    } catch (const nlohmann::json::exception& error) {
      return Damaged(path_, StrCat("header entry '", name, "': ", error.what()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SafetensorsFile::View> SafetensorsFile::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    return NotFound(path_.string(), ": no tensor named '", std::string(name), "'");
  }
  return found->second;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept
    : path_(std::move(other.path_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      tensors_(std::move(other.tensors_)),
      metadata_(std::move(other.metadata_)) {}

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(mapping_, other.mapping_);
  std::swap(size_, other.size_);
  std::swap(tensors_, other.tensors_);
  std::swap(metadata_, other.metadata_);
  return *this;
}

void SafetensorsFile::Release(const View& view) const {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Its first and last page may have other tensors.
  const auto offset = static_cast<size_t>(view.data - mapping_);
  const size_t begin = (offset + page - 1) / page * page;
  const size_t end = (offset + view.bytes) / page * page;
  if (begin < end) madvise(const_cast<std::byte*>(mapping_) + begin, end - begin, MADV_DONTNEED);
}

SafetensorsFile::~SafetensorsFile() {
  if (mapping_ != nullptr) munmap(const_cast<std::byte*>(mapping_), size_);
}

}  // namespace millrace::models
