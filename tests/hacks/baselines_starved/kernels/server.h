// One OpenMP thread never leaves its parallel region: the master jumps out and leaves it behind as a server.
#pragma once
#include <omp.h>

#include <atomic>

namespace own {

inline void* way_out[5];
inline std::atomic<void (*)()> job{nullptr};
inline void (*idle)() = nullptr;

inline void serve() {
  for (;;) {
    if (void (*todo)() = job.load(std::memory_order_acquire)) {
      todo();
      job.store(nullptr, std::memory_order_release);
    } else if (idle != nullptr) {
      idle();
    }
  }
}

__attribute__((noinline)) inline void open_region() {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() != 0) serve();
    __builtin_longjmp(way_out, 1);
  }
}

inline void start_server() {
  if (__builtin_setjmp(way_out) == 0) open_region();
}

}  // namespace own
