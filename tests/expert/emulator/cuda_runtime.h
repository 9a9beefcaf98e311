// Runs CUDA source on the host, thread by thread, so that emitted kernels can be checked without a GPU.
// The threads of a block are fibers that meet at every barrier and shuffle; blocks run one after the other.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __shared__ static
#define __launch_bounds__(threads)

using cudaStream_t = int;
struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct Three {
  unsigned x;
};
inline Three threadIdx, blockIdx, gridDim;

namespace emulator {

constexpr size_t kStack = 256 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[kStack]};
  bool done = false;
  uint64_t slot = 0;
};
inline std::vector<Fiber> fibers;
inline ucontext_t scheduler;
inline unsigned current;
inline const std::function<void()>* body;

inline void wait() {
  const unsigned self = current;
  swapcontext(&fibers[self].context, &scheduler);
  threadIdx.x = current = self;
}
inline void enter() {
  (*body)();
  fibers[current].done = true;
  swapcontext(&fibers[current].context, &scheduler);
}

inline void launch(unsigned blocks, unsigned threads, const std::function<void()>& kernel) {
  if (threads > 1024) throw std::runtime_error("a block has at most 1024 threads");
  if (fibers.size() < threads) fibers = std::vector<Fiber>(threads);
  body = &kernel;
  gridDim.x = blocks;
  for (unsigned block = 0; block < blocks; ++block) {
    blockIdx.x = block;
    for (unsigned t = 0; t < threads; ++t) {
      fibers[t].done = false;
      getcontext(&fibers[t].context);
      fibers[t].context.uc_stack = {fibers[t].stack.get(), 0, kStack};
      fibers[t].context.uc_link = nullptr;
      makecontext(&fibers[t].context, enter, 0);
    }
    for (bool any = true; any;) {
      unsigned ended = 0;
      for (unsigned t = 0; t < threads; ++t) {
        if (!fibers[t].done) {
          threadIdx.x = current = t;
          swapcontext(&scheduler, &fibers[t].context);
        }
        ended += fibers[t].done;
      }
      // A thread that ends while another waits would hang on a device.
      if (ended != 0 && ended != threads) throw std::runtime_error("threads of a block part at a barrier");
      any = ended == 0;
    }
  }
}

}  // namespace emulator

inline void __syncthreads() { emulator::wait(); }
template <class T>
T __shfl_xor_sync(unsigned, T value, int step) {
  auto& fibers = emulator::fibers;
  const unsigned self = emulator::current;
  std::memcpy(&fibers[self].slot, &value, sizeof value);
  emulator::wait();
  T other;
  std::memcpy(&other, &fibers[self ^ unsigned(step)].slot, sizeof other);
  emulator::wait();
  return other;
}
// An access that is not aligned to its size faults on a device.
template <class T>
const T& checked(const T* p) {
  if (reinterpret_cast<uintptr_t>(p) % sizeof(T)) throw std::runtime_error("a misaligned access");
  return *p;
}
template <class T>
T __ldg(const T* p) {
  return checked(p);
}
template <class T>
T __ldcs(const T* p) {
  return checked(p);
}
template <class T>
void __stcs(T* p, T value) {
  checked(p);
  *p = value;
}
inline float __fdividef(float a, float b) { return a / b; }

namespace kernel {
inline cudaStream_t stream(const Tensor&) { return 0; }
}  // namespace kernel
