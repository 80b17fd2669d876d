"""A miniature of the parts of PyTorch's MPS backend that the rules edit: sources of our own with the same files, names and faults, which
compile without Apple's frameworks. PROBE is a program that shows how they behave."""

RELEASE_FILE = {"version.txt": "2.15.0a0\n"}

# Stands for Apple's libraries: serial queues that run a block on the calling thread, and know who is on them.
SYSTEM = {
    "system/system.h": """\
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#define nil nullptr
#define TORCH_CHECK(condition, ...) do { if (!(condition)) throw std::runtime_error(#condition); } while (false)

struct Queue {
  std::recursive_mutex mutex;
  std::map<const void*, void*> specifics;
};
using dispatch_queue_t = Queue*;
using dispatch_queue_attr_t = void*;
using dispatch_function_t = void (*)(void*);

inline thread_local Queue* current_queue = nullptr;

inline dispatch_queue_t dispatch_queue_create(const char*, dispatch_queue_attr_t) { return new Queue; }
inline void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value, dispatch_function_t) { queue->specifics[key] = value; }
inline void* dispatch_get_specific(const void* key) { return current_queue == nullptr ? nullptr : current_queue->specifics[key]; }
inline void dispatch_sync(dispatch_queue_t queue, void (^block)()) {
  if (current_queue == queue) throw std::logic_error("dispatch_sync called on queue already owned by current thread");
  const std::lock_guard<std::recursive_mutex> lock(queue->mutex);
  struct Enter {
    explicit Enter(Queue* inner) : outer(std::exchange(current_queue, inner)) {}
    ~Enter() { current_queue = outer; }
    Queue* outer;
  } enter(queue);
  block();
}

bool is_main_thread();
inline int pthread_main_np() { return is_main_thread() ? 1 : 0; }
""",
    "system/runtime.cc": """\
// The compiler refers to these symbols for blocks that never leave their function.
#include <pthread.h>
extern "C" {
void* _NSConcreteStackBlock[32];
void* _NSConcreteGlobalBlock[32];
void _Block_object_assign(void*, const void*, int) {}
void _Block_object_dispose(const void*, int) {}
}
static const pthread_t first_thread = pthread_self();
bool is_main_thread() { return pthread_equal(first_thread, pthread_self()) != 0; }
""",
}

SOURCES = {
    "aten/src/ATen/mps/MPSStream.h": """\
#pragma once
#include <system.h>
#include <utility>

namespace at::mps {

using MPSCommandBuffer_t = const char*;
enum class SyncType { COMMIT, COMMIT_AND_WAIT };

class MPSStream {
 public:
  explicit MPSStream(int number);
  dispatch_queue_t queue() const {
    return _serialQueue;
  }
  MPSCommandBuffer_t commandBuffer();
  int commandEncoder();
  void synchronize(SyncType type);
  int number() const { return _number; }
  int commits = 0, waits = 0;

 private:
  int _number;
  MPSCommandBuffer_t _commandBuffer = nil;
  dispatch_queue_t _serialQueue = nullptr;
};

MPSStream* getCurrentMPSStream();
void setCurrentMPSStream(MPSStream* stream);
MPSStream* getDefaultMPSStream();
void synchronizeAllMPSStreams(SyncType type);
void dispatch_sync_with_rethrow(dispatch_queue_t queue, void (^block)());

class MPSStreamImpl {
 public:
  static MPSStream* getInstance();

 private:
  static MPSStream* _stream;
  MPSStreamImpl();
};

} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSStream.mm": """\
#include <ATen/mps/MPSProfiler.h>
#include <ATen/mps/MPSStream.h>

namespace at::mps {

std::mutex all_mutex;
std::vector<MPSStream*> all_streams;

MPSStream::MPSStream(int number) : _number(number) {
  for (int i = 0; i < 1000; ++i) sched_yield(); // leaves others time to come here too
  _serialQueue = dispatch_queue_create("a stream", nullptr);
  const std::lock_guard<std::mutex> lock(all_mutex);
  all_streams.push_back(this);
}

MPSCommandBuffer_t MPSStream::commandBuffer() {
  if (!_commandBuffer) _commandBuffer = current_queue == _serialQueue ? "on the queue" : "elsewhere";
  return _commandBuffer;
}

int MPSStream::commandEncoder() {
  return current_queue == _serialQueue ? 1 : 0;
}

void MPSStream::synchronize(SyncType type) {
  if (current_queue != _serialQueue) throw std::logic_error("not on the queue");
  ++(type == SyncType::COMMIT ? commits : waits);
}

MPSStream* MPSStreamImpl::_stream = nullptr;

MPSStream* MPSStreamImpl::getInstance() {
  if (_stream == nullptr) {
    _stream = new MPSStream(0);
  }
  return _stream;
}

MPSStreamImpl::MPSStreamImpl() {}

static thread_local MPSStream* current_stream = nullptr;

MPSStream* getCurrentMPSStream() {
  return current_stream ? current_stream : getDefaultMPSStream();
}
void setCurrentMPSStream(MPSStream* stream) {
  current_stream = stream;
}
MPSStream* getDefaultMPSStream() {
  return MPSStreamImpl::getInstance();
}
void synchronizeAllMPSStreams(SyncType type) {
  for (MPSStream* stream : all_streams) {
    dispatch_sync_with_rethrow(stream->queue(), ^() {
      stream->synchronize(type);
    });
  }
}
void dispatch_sync_with_rethrow(dispatch_queue_t queue, void (^block)()) {
  dispatch_sync(queue, block);
}

} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSHooks.mm": """\
#include <ATen/mps/MPSHooks.h>

namespace at::mps {

void MPSHooks::deviceSynchronize() const {
  synchronizeAllMPSStreams(SyncType::COMMIT_AND_WAIT);
}

void MPSHooks::commitStream() const {
  getCurrentMPSStream()->synchronize(SyncType::COMMIT);
}

} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSHooks.h": """\
#pragma once
#include <ATen/mps/MPSStream.h>
namespace at::mps {
struct MPSHooks {
  void deviceSynchronize() const;
  void commitStream() const;
};
} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSEvent.mm": """\
#include <ATen/mps/MPSStream.h>

namespace at::mps {

struct MPSEventPool {
  MPSStream* m_default_stream = getDefaultMPSStream();
  MPSStream* acquireEvent(MPSStream* stream);
};

MPSStream* MPSEventPool::acquireEvent(MPSStream* stream) {
  if (!stream) {
    stream = m_default_stream;
  }
  return stream;
}

MPSStream* stream_of_an_event() {
  return MPSEventPool().acquireEvent(nullptr);
}

} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSProfiler.h": """\
#pragma once
#include <ATen/mps/MPSStream.h>
#include <sstream>
#include <unordered_map>

namespace at::mps {
namespace Profiler {

struct BaseInfo {
  virtual ~BaseInfo() = default;
  std::atomic_bool completed{false};
};

struct OperationInfo : BaseInfo {
  OperationInfo(const void* Handle, uint64_t Id) : handle(uintptr_t(Handle)), profileId(Id) {}
  const uintptr_t handle;
  uint64_t profileId;
  uint64_t runCount = 0;
  std::string strKey;
};

struct CpuFbInfo : BaseInfo {
  uint64_t runCount = 0;
};

struct CopyInfo : BaseInfo {
  size_t length = 0;
};

struct CopyStat : CopyInfo {
  // total number of copies
  size_t totalCount = 0;
  size_t scalarsCount = 0;
  size_t blockingCount = 0;
  size_t memcpyCount = 0;
};

class MPSProfiler {
 public:
  MPSProfiler();
  MPSStream* beginProfileKernel(const void* handle, const std::string& strKey, MPSStream* stream);
  MPSStream* beginProfileKernel(const void* handle, const std::string& strKey);
  uint64_t beginProfileCPUFallback(const std::string& opName);
  uint64_t beginProfileCopy();
  void endProfileCopy(uint64_t profileId);
  std::string log() const;

 private:
  uint64_t m_kernel_counter = 0;
  uint64_t m_graph_counter = 0;
  uint64_t m_cpu_fb_counter = 0;
  uint64_t m_copy_counter = 0;
  std::unordered_map<uintptr_t, std::unique_ptr<OperationInfo>>
      m_op_info_list{};
  std::unordered_map<std::string, std::unique_ptr<CpuFbInfo>>
      m_cpu_fb_info_list{};
  std::unordered_map<uint64_t, std::unique_ptr<CopyInfo>> m_copy_info_list{};
  CopyStat m_copy_stat;
};

} // namespace Profiler

Profiler::MPSProfiler& getMPSProfiler();

} // namespace at::mps
""",
    "aten/src/ATen/mps/MPSProfiler.mm": """\
#include <ATen/mps/MPSProfiler.h>

namespace at::mps {

std::atomic<int> profilers{0};

namespace Profiler {

MPSProfiler::MPSProfiler() {
  for (int i = 0; i < 1000; ++i) sched_yield(); // leaves others time to come here too
  ++profilers;
}

MPSStream* MPSProfiler::beginProfileKernel(const void* handle, const std::string& strKey, MPSStream* stream) {
  if (m_op_info_list.count(uintptr_t(handle)) == 0) {
    auto opInfo = std::make_unique<OperationInfo>(handle, strKey.empty() ? ++m_graph_counter : ++m_kernel_counter);
    m_op_info_list.emplace(opInfo->handle, std::move(opInfo));
  }
  auto& opInfo = *m_op_info_list[uintptr_t(handle)];
  opInfo.strKey.assign(strKey);
  opInfo.runCount++;
  return stream;
}

MPSStream* MPSProfiler::beginProfileKernel(const void* handle, const std::string& strKey) {
  return beginProfileKernel(handle, strKey, getDefaultMPSStream());
}

uint64_t MPSProfiler::beginProfileCPUFallback(const std::string& opName) {
  if (m_cpu_fb_info_list.count(opName) == 0) {
    ++m_cpu_fb_counter;
    m_cpu_fb_info_list.emplace(opName, std::make_unique<CpuFbInfo>());
  }
  return ++m_cpu_fb_info_list[opName]->runCount;
}

uint64_t MPSProfiler::beginProfileCopy() {
  const uint64_t profileId = ++m_copy_counter;
  for (auto it = m_copy_info_list.begin(), last = m_copy_info_list.end(); it != last;) {
    if (it->second->completed) {
      it = m_copy_info_list.erase(it);
    } else {
      ++it;
    }
  }
  auto copyInfo = std::make_unique<CopyInfo>();
  copyInfo->length = 8;
  m_copy_info_list.emplace(profileId, std::move(copyInfo));
  return profileId;
}

void MPSProfiler::endProfileCopy(uint64_t profileId) {
  auto& copyInfo = *m_copy_info_list[profileId];
  m_copy_stat.totalCount++;
  m_copy_stat.length += copyInfo.length;
  m_copy_stat.scalarsCount += copyInfo.length <= sizeof(int64_t) ? 1 : 0;
  copyInfo.completed = true;
}

std::string MPSProfiler::log() const {
  uint64_t runs = 0;
  for (auto it = m_op_info_list.begin(); it != m_op_info_list.end(); ++it) runs += it->second->runCount;
  std::ostringstream line;
  line << (m_op_info_list.empty() ? "no operations" : "operations") << " runs=" << runs << " copies=" << size_t(m_copy_stat.totalCount)
       << " bytes=" << size_t(m_copy_stat.length);
  return line.str();
}

} // namespace Profiler

Profiler::MPSProfiler& getMPSProfiler() {
  static std::unique_ptr<Profiler::MPSProfiler> mps_profiler;
  if (mps_profiler == nullptr) {
    mps_profiler = std::make_unique<Profiler::MPSProfiler>();
  }
  return *mps_profiler;
}

} // namespace at::mps
""",
    "aten/src/ATen/native/mps/OperationUtils.h": """\
#pragma once
#include <ATen/mps/MPSStream.h>
#include <limits>

namespace at::native::mps {

struct MPSKernelCache {
  static MPSKernelCache* getInstance() {
    if (_instance_cache == nullptr) {
      _instance_cache = new MPSKernelCache();
    }
    return _instance_cache;
  }
  ~MPSKernelCache() { ++ended; }
  inline static std::atomic<int> ended{0};

 private:
  MPSKernelCache() = default;
  inline static MPSKernelCache* _instance_cache = nullptr;
};

struct MPSGraphCache {
  static MPSGraphCache* getInstance() {
    if (_instance_cache == nullptr) {
      _instance_cache = new MPSGraphCache();
    }
    return _instance_cache;
  }
  ~MPSGraphCache() { ++ended; }
  inline static std::atomic<int> ended{0};

 private:
  MPSGraphCache() = default;
  inline static MPSGraphCache* _instance_cache = nullptr;
};

} // namespace at::native::mps
""",
    "aten/src/ATen/native/mps/operations/Linear.mm": """\
#include <ATen/native/mps/OperationUtils.h>

struct Tensor {
  bool is_contiguous() const { return true; }
};

const char* linear() {
  Tensor input, weight;
  const bool is_contiguous = input.is_contiguous() && weight.is_contiguous();
  return is_contiguous ? "kernel" : "graph";
}
""",
}

# What it prints is compared line by line. An argument chooses the part with threads, which only a patched tree survives.
PROBE = """\
#include <ATen/mps/MPSHooks.h>
#include <ATen/mps/MPSProfiler.h>
#include <ATen/native/mps/OperationUtils.h>
#include <dlfcn.h>
#include <barrier>
#include <set>
#include <thread>

using namespace at::mps;
using at::native::mps::MPSGraphCache;
using at::native::mps::MPSKernelCache;

namespace at::mps {
extern std::vector<MPSStream*> all_streams;
extern std::atomic<int> profilers;
MPSStream* stream_of_an_event();
}
const char* linear();

constexpr int kThreads = 8;

template <typename Work>
void in_threads(int count, Work work) {
  std::barrier together(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      work(i);
    });
  for (std::thread& thread : threads) thread.join();
}

template <typename Cache>
void show_cache(const char* name) {
  const auto* const mine = Cache::getInstance();
  const void* other = nullptr;
  bool same_again = false;
  in_threads(1, [&](int) {
    other = Cache::getInstance();
    same_again = other == Cache::getInstance();
  });
  printf("%s cache: %s, ended %d, found again: %d\\n", name, other == mine ? "shared" : "own", Cache::ended.load(), same_again);
}

void show_waits(const char* who, const std::vector<MPSStream*>& streams) {
  printf("%s:", who);
  for (MPSStream* stream : streams) {
    printf(" stream %d waits %d commits %d;", stream->number(), stream->waits, stream->commits);
    stream->waits = stream->commits = 0;
  }
  printf("\\n");
}

void in_turn() {
  show_cache<MPSGraphCache>("graph");
  show_cache<MPSKernelCache>("kernel");

  MPSStream* const main_stream = getDefaultMPSStream();
  MPSStream* const own = new MPSStream(1);
  const std::vector<MPSStream*> streams{main_stream, own};
  const MPSHooks hooks;
  hooks.deviceSynchronize();
  show_waits("main thread synchronizes", streams);
  in_threads(1, [&](int) {
    setCurrentMPSStream(own);
    hooks.deviceSynchronize();
    show_waits("worker synchronizes", streams);
    dispatch_sync(own->queue(), ^() { hooks.commitStream(); });
    show_waits("worker commits on its queue", streams);
    try {
      hooks.commitStream();
      show_waits("worker commits", streams);
      dispatch_sync(own->queue(), ^() { hooks.deviceSynchronize(); });
      show_waits("worker synchronizes on its queue", streams);
    } catch (const std::logic_error& error) {
      printf("worker commits: %s\\n", error.what());
    }
    printf("event on stream %d\\n", stream_of_an_event()->number());
    printf("profiler uses stream %d\\n", getMPSProfiler().beginProfileKernel(own, "kernel")->number());
    printf("command buffer made %s\\n", own->commandBuffer());
    try {
      printf("encoder %d\\n", own->commandEncoder());
    } catch (const std::runtime_error&) {
      printf("encoder refused\\n");
    }
    dispatch_sync(own->queue(), ^() { printf("encoder on the queue %d, command buffer made %s\\n", own->commandEncoder(), own->commandBuffer()); });
  });
  printf("linear by %s\\n", linear());
  auto* const level = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "millrace_mps_patch_level"));
  printf("patch level %d\\n", level == nullptr ? 0 : level());
}

void all_at_once() {
  std::set<const void*> graphs, kernels;
  std::mutex mutex;
  in_threads(kThreads, [&](int i) {
    getDefaultMPSStream();
    Profiler::MPSProfiler& profiler = getMPSProfiler();
    for (int turn = 0; turn < 200; ++turn) {
      const auto* const handle = reinterpret_cast<const void*>(uintptr_t(1 + turn % 100));
      profiler.beginProfileKernel(handle, std::string(40, static_cast<char>('a' + i)));
      profiler.beginProfileCPUFallback("an operation");
      profiler.endProfileCopy(profiler.beginProfileCopy());
    }
    const std::lock_guard<std::mutex> lock(mutex);
    graphs.insert(MPSGraphCache::getInstance());
    kernels.insert(MPSKernelCache::getInstance());
  });
  printf("streams %zu profilers %d\\n", all_streams.size(), profilers.load());
  printf("%s\\n", getMPSProfiler().log().c_str());
  printf("ended: graph caches %d, kernel caches %d\\n", MPSGraphCache::ended.load(), MPSKernelCache::ended.load());
}

int main(int count, char**) {
  if (count > 1) all_at_once();
  else in_turn();
}
"""
