#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace millrace::server {

// Measures what the header blocks of a connection (RFC 7541) expand to: one byte may name a field
// of kilobytes that an earlier block added to the dynamic table. Keeps the sizes of strings and not
// the strings. Sizes are upper bounds, because Huffman codes are not decoded. Entries leave the
// dynamic table later than the decoder's, for which a reference to an evicted entry is an error.
// One thread at a time.
class HeaderMeter {
 public:
  // Must be called before each block. Returns false if the last one ended within a field.
  bool BeginBlock();
  // Reads the next bytes of the block, in pieces of any size. Returns false if they are malformed.
  bool Read(std::span<const char> bytes);

  // Return the fields of the block so far, and their size as SETTINGS_MAX_HEADER_LIST_SIZE counts
  // it (RFC 9113, section 6.5.2).
  uint64_t fields() const { return fields_; }
  uint64_t size() const { return size_; }

  static constexpr uint32_t kFieldOverhead = 32;

 private:
  // The decoder announces no other table size than the default, and each entry takes 32 of it.
  static constexpr size_t kMostEntries = 4096 / kFieldOverhead;

  struct Field {
    uint32_t name = 0;  // bytes
    uint32_t value = 0;
  };
  static const std::array<Field, 61> kStaticTable;
  enum class Kind : uint8_t { kIndexed, kAdded, kNotAdded, kTableSize };
  // The part of a field that begins with the next integer.
  enum class Part : uint8_t { kStart, kName, kValue };

  bool ReadByte(uint8_t byte);
  bool FinishInteger();
  uint32_t StringBytes() const;
  // Returns null if there is no such field.
  const Field* Find(uint64_t index) const;
  void Count(const Field& field);
  void Add(const Field& field);

  std::array<Field, kMostEntries> entries_ = {};  // a ring of the newest entries
  uint64_t added_ = 0;
  uint64_t fields_ = 0;
  uint64_t size_ = 0;
  uint64_t integer_ = 0;
  uint32_t string_left_ = 0;
  Field field_;
  Kind kind_ = Kind::kIndexed;
  Part part_ = Part::kStart;
  uint8_t shift_ = 0;  // the shift of the next byte of the integer
  bool in_integer_ = false;
  bool huffman_ = false;
};

}  // namespace millrace::server
