// The device of libtorch that the streams belong to: memory, guard and hooks. Its memory is the
// host's, as on Apple's machines.
#include <ATen/detail/MPSHooksInterface.h>
#include <ATen/mps/MPSStream.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/rules.h"
#include "tests/fakes/mps/stream_state.h"

namespace millrace::mps_standin {
namespace {

const c10::Device kDevice(c10::kMPS, 0);
constexpr size_t kAlignment = 256;

// Freed memory stays with the stream that it was allocated on and is its next one's at once: work
// that is still encoded there comes first, other streams' work does not. Never destroyed.
class Allocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const int64_t stream = at::mps::getCurrentMPSStream()->unwrap().id();
    const size_t size = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
    auto* const block = new Block{this, nullptr, size, stream};
    {
      const std::scoped_lock lock(mu_);
      std::vector<void*>& free = free_[{stream, size}];
      if (!free.empty()) {
        block->data = free.back();
        free.pop_back();
      }
    }
    if (block->data == nullptr) block->data = Grow(size, block);
    return {block->data, block, &Free, kDevice};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  size_t bytes() const {
    const std::scoped_lock lock(mu_);
    return bytes_;
  }

 private:
  struct Block {
    Allocator* allocator;
    void* data;
    size_t size;
    int64_t stream;
  };

  void* Grow(size_t size, Block* block) {
    const std::scoped_lock lock(mu_);
    const int64_t most = TheFaults().memory_bytes;
    if (most > 0 && bytes_ + size > static_cast<size_t>(most)) {
      delete block;
      TORCH_CHECK_WITH(OutOfMemoryError, false,
                       "MPS backend out of memory (MPS allocated: ", bytes_,
                       " bytes, max allowed: ", most, " bytes)");
    }
    bytes_ += size;
    return std::aligned_alloc(kAlignment, size);
  }

  static void Free(void* context) {
    auto* const block = static_cast<Block*>(context);
    Allocator& self = *block->allocator;
    {
      const std::scoped_lock lock(self.mu_);
      self.free_[{block->stream, block->size}].push_back(block->data);
    }
    delete block;
  }

  mutable std::mutex mu_;
  std::map<std::pair<int64_t, size_t>, std::vector<void*>> free_;  // by stream and size
  size_t bytes_ = 0;
};

Allocator& TheAllocator() {
  static auto* const allocator = new Allocator;
  return *allocator;
}

struct Guard final : public c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::kMPS; }
  c10::Device exchangeDevice(c10::Device) const override { return kDevice; }
  c10::Device getDevice() const override { return kDevice; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const override {
    return at::mps::getCurrentMPSStream()->unwrap();
  }
  c10::Stream getDefaultStream(c10::Device) const override {
    return at::mps::getDefaultMPSStream()->unwrap();
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream previous = at::mps::getCurrentMPSStream()->unwrap();
    SetCurrent(stream.id() == 0 ? nullptr : StreamOf(stream.id()));
    return previous;
  }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
};

class Hooks final : public at::MPSHooksInterface {
 public:
  void init() const override {}
  bool hasMPS() const override { return true; }
  bool isOnMacOSorNewer(unsigned, unsigned) const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  bool isAvailable() const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  c10::Allocator* getMPSDeviceAllocator() const override { return &TheAllocator(); }
  size_t getCurrentAllocatedMemory() const override { return TheAllocator().bytes(); }
  size_t getDriverAllocatedMemory() const override { return TheAllocator().bytes(); }
  void deviceSynchronize() const override { Forbid("deviceSynchronize"); }
  void commitStream() const override { Forbid("commitStream"); }
  void emptyCache() const override { Forbid("emptyCache"); }

 private:
  // They reach into the queues of all threads.
  static void Forbid(const char* call) {
    if (!OnMainThread()) Violation(std::string(call) + " on a worker thread");
  }
};

// Before main, as libtorch's own library does it.
[[maybe_unused]] const bool registered = [] {
  c10::SetAllocator(c10::kMPS, &TheAllocator());
  return true;
}();

}  // namespace
}  // namespace millrace::mps_standin

namespace at::mps {
// The macro pastes the name of the class into its own.
using MpsStandinGuard = millrace::mps_standin::Guard;
C10_REGISTER_GUARD_IMPL(MPS, MpsStandinGuard)
}  // namespace at::mps

namespace at {
using MpsStandinHooks = millrace::mps_standin::Hooks;
C10_REGISTER_TYPED_CLASS(MPSHooksRegistry, "MPSHooks", MpsStandinHooks)
}  // namespace at
