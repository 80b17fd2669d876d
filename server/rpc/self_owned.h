#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace millrace::server {

// Calls and replies have no owner. A worker, a polling thread and the transport each hold a
// reference to one, and only the object itself learns when the last of them has released it. All of
// them follow these rules:
//
// 1. Make creates the object. No other code may use `new` or `delete` on it.
// 2. A function that hands the object to another thread does that last: the object may be gone
//    before the function returns.
// 3. The object ends in the event that its caller promises to be the last one, by DeleteThis or
//    ReleaseThis. That function must not touch the object afterwards.

// Base of T, which deletes itself. T must be `final`.
template <typename T>
class SelfOwned {
 public:
  SelfOwned(const SelfOwned&) = delete;
  SelfOwned& operator=(const SelfOwned&) = delete;

  template <typename... Arguments>
  static T& Make(Arguments&&... arguments) {
    return *new T(std::forward<Arguments>(arguments)...);
  }

 protected:
  SelfOwned() = default;
  ~SelfOwned() = default;

  void DeleteThis() { delete static_cast<T*>(this); }

  // Protected, so that `new T` compiles in Make alone.
  static void* operator new(size_t size) { return ::operator new(size); }
  static void operator delete(void* memory) { ::operator delete(memory); }
};

// Base of T that a thread also owns by std::shared_ptr, as an HTTP connection's thread does. The
// object lives until both that thread and the work have released it.
template <typename T>
class SelfShared : public std::enable_shared_from_this<T> {
 protected:
  SelfShared() = default;
  ~SelfShared() = default;

  // Keeps the object alive until ReleaseThis.
  void HoldThis() { self_ = this->shared_from_this(); }
  // The object lives at least as long as the result.
  [[nodiscard]] std::shared_ptr<T> ReleaseThis() { return std::move(self_); }

 private:
  std::shared_ptr<T> self_;
};

}  // namespace millrace::server
