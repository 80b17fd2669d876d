#include "mps_runtime/backend/cpu/cpu_backend.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <mutex>

#include "mps_runtime/base/cpu_info.h"

namespace millrace::runtime {
namespace {

struct Lane {
  int slot = -1;  // -1 when no stream is bound
  int previous_threads = 0;
};

thread_local Lane current_lane;

}  // namespace

CpuBackend::CpuBackend() : cores_(AvailableCores()) {}

std::string CpuBackend::DeviceName() const { return CpuModelName(); }

void CpuBackend::Bootstrap() {
  // The inter-op pool (torch.jit.fork) would be one more set of threads beside the workers.
  // libtorch allows this call once in a process.
  static std::once_flag once;
  std::call_once(once, [] { at::set_num_interop_threads(1); });
}

void CpuBackend::BindThread(Stream stream, int intra_op_threads) {
  // The budget is per thread (OpenMP), but a thread's first parallel region sets it to what any
  // thread asked for last. The call of get_num_threads performs that initialisation now, so that it
  // cannot undo ours.
  current_lane = {stream.slot, at::get_num_threads()};
  at::set_num_threads(intra_op_threads);
  at::globalContext().setFlushDenormal(true);  // for this thread and the team that it starts
}

void CpuBackend::UnbindThread(Stream) noexcept {
  at::globalContext().setFlushDenormal(false);
  at::set_num_threads(current_lane.previous_threads);
  current_lane = {};
}

bool CpuBackend::IsBound(Stream stream) const {
  return stream.device == DeviceType::kCpu && stream.slot == current_lane.slot;
}

std::unique_ptr<Backend> MakeCpuBackend(std::string&) { return std::make_unique<CpuBackend>(); }

}  // namespace millrace::runtime
