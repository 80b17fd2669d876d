#include "server/http2/header_meter.h"

#include <algorithm>
#include <limits>

namespace millrace::server {
namespace {

// The shortest Huffman code has 5 bits.
constexpr uint64_t kShortestCode = 5;
// An integer of 32 bits has at most five bytes after its prefix.
constexpr uint8_t kLastShift = 28;
// A field of the table by one byte, which is how most are sent; the largest index goes on.
constexpr uint8_t kIndexedBit = 0x80;
constexpr uint8_t kIndexMask = 0x7f;

}  // namespace

// The sizes of the fields of the static table (RFC 7541, appendix A), beginning with index 1.
constexpr std::array<HeaderMeter::Field, 61> HeaderMeter::kStaticTable = {{
    {10, 0}, {7, 3},  {7, 4},  {5, 1},  {5, 11}, {7, 4},  {7, 5},   {7, 3},  {7, 3},
    {7, 3},  {7, 3},  {7, 3},  {7, 3},  {7, 3},  {14, 0}, {15, 13}, {15, 0}, {13, 0},
    {6, 0},  {27, 0}, {3, 0},  {5, 0},  {13, 0}, {13, 0}, {19, 0},  {16, 0}, {16, 0},
    {14, 0}, {16, 0}, {13, 0}, {12, 0}, {6, 0},  {4, 0},  {4, 0},   {6, 0},  {7, 0},
    {4, 0},  {4, 0},  {8, 0},  {17, 0}, {13, 0}, {8, 0},  {19, 0},  {13, 0}, {4, 0},
    {8, 0},  {12, 0}, {18, 0}, {19, 0}, {5, 0},  {7, 0},  {7, 0},   {11, 0}, {6, 0},
    {10, 0}, {25, 0}, {17, 0}, {10, 0}, {4, 0},  {3, 0},  {16, 0},
}};

bool HeaderMeter::BeginBlock() {
  fields_ = 0;
  size_ = 0;
  return part_ == Part::kStart && !in_integer_ && string_left_ == 0;
}

bool HeaderMeter::Read(std::span<const char> bytes) {
  while (!bytes.empty()) {
    if (string_left_ != 0) {
      const size_t taken = std::min<size_t>(string_left_, bytes.size());
      string_left_ -= static_cast<uint32_t>(taken);
      bytes = bytes.subspan(taken);
      continue;
    }
    const uint8_t byte = static_cast<uint8_t>(bytes.front());
    bytes = bytes.subspan(1);
    if (part_ == Part::kStart && !in_integer_ && (byte & kIndexedBit) != 0 &&
        (byte & kIndexMask) != kIndexMask) {
      const Field* const found = Find(byte & kIndexMask);
      if (found == nullptr) return false;
      Count(*found);
    } else if (!ReadByte(byte)) {
      return false;
    }
  }
  return true;
}

bool HeaderMeter::ReadByte(uint8_t byte) {
  if (in_integer_) {
    if (shift_ > kLastShift) return false;
    integer_ += static_cast<uint64_t>(byte & 0x7f) << shift_;
    if (integer_ > std::numeric_limits<uint32_t>::max()) return false;
    shift_ += 7;
    in_integer_ = (byte & 0x80) != 0;
    return in_integer_ || FinishInteger();
  }
  uint8_t prefix = 0x7f;
  if (part_ != Part::kStart) {
    huffman_ = (byte & 0x80) != 0;
  } else if ((byte & 0x80) != 0) {
    kind_ = Kind::kIndexed;
  } else if ((byte & 0x40) != 0) {
    kind_ = Kind::kAdded;
    prefix = 0x3f;
  } else if ((byte & 0x20) != 0) {
    kind_ = Kind::kTableSize;
    prefix = 0x1f;
  } else {
    kind_ = Kind::kNotAdded;
    prefix = 0x0f;
  }
  integer_ = byte & prefix;
  shift_ = 0;
  in_integer_ = integer_ == prefix;
  return in_integer_ || FinishInteger();
}

bool HeaderMeter::FinishInteger() {
  switch (part_) {
    case Part::kStart: {
      if (kind_ == Kind::kTableSize) return true;
      if (kind_ != Kind::kIndexed && integer_ == 0) {
        part_ = Part::kName;
        return true;
      }
      const Field* const found = Find(integer_);
      if (found == nullptr) return false;
      if (kind_ == Kind::kIndexed) {
        Count(*found);
      } else {
        field_.name = found->name;
        part_ = Part::kValue;
      }
      return true;
    }
    case Part::kName:
      field_.name = StringBytes();
      string_left_ = static_cast<uint32_t>(integer_);
      part_ = Part::kValue;
      return true;
    case Part::kValue:
      field_.value = StringBytes();
      string_left_ = static_cast<uint32_t>(integer_);
      part_ = Part::kStart;
      Count(field_);
      if (kind_ == Kind::kAdded) Add(field_);
      return true;
  }
  return false;
}

uint32_t HeaderMeter::StringBytes() const {
  const uint64_t bytes = huffman_ ? integer_ * 8 / kShortestCode : integer_;
  return static_cast<uint32_t>(std::min<uint64_t>(bytes, std::numeric_limits<uint32_t>::max()));
}

const HeaderMeter::Field* HeaderMeter::Find(uint64_t index) const {
  if (index == 0) return nullptr;
  if (index <= kStaticTable.size()) return &kStaticTable[index - 1];
  const uint64_t age = index - kStaticTable.size() - 1;  // 0 is the newest
  if (age >= std::min<uint64_t>(added_, kMostEntries)) return nullptr;
  return &entries_[(added_ - 1 - age) % kMostEntries];
}

void HeaderMeter::Count(const Field& field) {
  ++fields_;
  size_ += uint64_t{field.name} + field.value + kFieldOverhead;
}

void HeaderMeter::Add(const Field& field) { entries_[added_++ % kMostEntries] = field; }

}  // namespace millrace::server
