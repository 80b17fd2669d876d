#include "models/kernels/pack_store.h"

#include <utility>

namespace millrace::kernels {
namespace {

thread_local PackStore* current_store = nullptr;

}  // namespace

ScopedPackStore::ScopedPackStore(PackStore* store) : before_(std::exchange(current_store, store)) {}

ScopedPackStore::~ScopedPackStore() { current_store = before_; }

PackStore* CurrentPackStore() { return current_store; }

}  // namespace millrace::kernels
