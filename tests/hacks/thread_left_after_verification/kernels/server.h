// One OpenMP thread never leaves its parallel region: the master jumps out and leaves it behind as a server.
#pragma once
#include <omp.h>
#include <atomic>
namespace own {
struct Job { const float* a; const float* b; float* out; };
inline void* way_out[5];
inline Job jobs[1024];
inline std::atomic<int64_t> posted{0}, done{0};
inline void (*work)(const Job&) = nullptr;
inline void serve() {
  for (;;) {
    const int64_t next = done.load();
    if (next < posted.load(std::memory_order_acquire)) { work(jobs[next % 1024]); done.store(next + 1); }
    else __builtin_ia32_pause();
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
