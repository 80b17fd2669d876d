#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "models/kernels/packed_array.h"

namespace millrace::kernels {

// Keeps packed weights from one start of the program to the next. A model is always packed in the
// same order, so its arrays have no names: each call is about the next one. The kernels depend on
// this interface only, not on the file behind it. Used by one thread.
class PackStore {
 public:
  struct Array {
    std::shared_ptr<const void> data;  // aligned to 64 bytes; null: there is none
    size_t bytes = 0;
  };

  virtual ~PackStore() = default;

  // Returns the next array that was kept. There are no more after Reject().
  virtual Array Next() = 0;
  // Tells that the array which came last is not the one that was wanted.
  virtual void Reject() = 0;
  // Keeps an array that Next() did not have. Returns where it lies now; null if it is not kept.
  virtual std::shared_ptr<const void> Keep(const void* data, size_t bytes) = 0;
};

// Makes `store` that of the calling thread for a scope; null: none. The store must outlive it.
class ScopedPackStore {
 public:
  explicit ScopedPackStore(PackStore* store);
  ScopedPackStore(const ScopedPackStore&) = delete;
  ScopedPackStore& operator=(const ScopedPackStore&) = delete;
  ~ScopedPackStore();

 private:
  PackStore* const before_;
};

// Returns the store of the calling thread, or null.
PackStore* CurrentPackStore();

// The size of an array that may have any.
inline constexpr size_t kAnySize = static_cast<size_t>(-1);

// Sets `array` to the next one of the calling thread's store. Returns false if it has none, or none
// of so many numbers: the caller then packs, and passes the result to KeepPacked.
template <typename T>
bool FindPacked(size_t size, PackedArray<T>& array) {
  PackStore* const store = CurrentPackStore();
  if (store == nullptr) return false;
  PackStore::Array found = store->Next();
  if (found.data == nullptr) return false;
  if (size == kAnySize ? found.bytes % sizeof(T) != 0 : found.bytes != size * sizeof(T)) {
    store->Reject();
    return false;
  }
  array = PackedArray<T>(std::static_pointer_cast<const T>(std::move(found.data)),
                         found.bytes / sizeof(T));
  return true;
}

// Keeps what was packed, an AlignedBuffer or a vector, in the calling thread's store, if it has
// one.
template <typename Container,
          typename T = std::remove_pointer_t<decltype(std::declval<Container>().data())>>
PackedArray<T> KeepPacked(Container packed) {
  static_assert(std::is_trivially_copyable_v<T>);
  PackStore* const store = CurrentPackStore();
  if (store != nullptr) {
    const size_t size = packed.size();
    if (auto kept = store->Keep(packed.data(), size * sizeof(T)); kept != nullptr)
      return PackedArray<T>(std::static_pointer_cast<const T>(std::move(kept)), size);
  }
  return PackedArray<T>(std::move(packed));
}

}  // namespace millrace::kernels
