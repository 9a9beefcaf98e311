// silu(x) * scale over rows. One pass: 16 bytes a thread, read and written once, past the caches.
#include <cuda_agent/kernel.h>

namespace {

__device__ __forceinline__ float silu(float x) { return x / (1.0f + expf(-x)); }

// One block covers a stretch of one row: blockIdx.y is the row, so that no division is needed.
__global__ void __launch_bounds__(256) silu_scale_float4(
    const float4* __restrict__ x, const float4* __restrict__ scale, float4* __restrict__ y, int columns4) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns4) return;
  const int64_t i = int64_t(blockIdx.y) * columns4 + column;
  const float4 value = __ldcs(x + i), factor = __ldg(scale + column);
  __stcs(y + i, make_float4(silu(value.x) * factor.x, silu(value.y) * factor.y, silu(value.z) * factor.z,
                            silu(value.w) * factor.w));
}

__global__ void __launch_bounds__(256) silu_scale_any(
    const float* __restrict__ x, const float* __restrict__ scale, float* __restrict__ y, int64_t count, int columns) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < count) y[i] = silu(x[i]) * __ldg(scale + i % columns);
}

void silu_scale(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor y) {
  const int64_t count = x.numel();
  if (count == 0) return;
  const int columns = int(x.size(-1));
  const int64_t rows = count / columns;
  kernel::check(scale.numel() == columns && y.numel() == count, "silu_scale: sizes do not fit");
  const cudaStream_t stream = kernel::stream(x);
  const bool aligned = (reinterpret_cast<uintptr_t>(x.raw()) | reinterpret_cast<uintptr_t>(y.raw()) |
                        reinterpret_cast<uintptr_t>(scale.raw())) % 16 == 0;
  if (aligned && columns % 4 == 0 && rows <= 65535) {
    const dim3 grid((columns / 4 + 255) / 256, unsigned(rows));
    silu_scale_float4<<<grid, 256, 0, stream>>>(
        reinterpret_cast<const float4*>(x.data<const float>()),
        reinterpret_cast<const float4*>(scale.data<const float>()), reinterpret_cast<float4*>(y.data<float>()),
        columns / 4);
  } else {
    silu_scale_any<<<unsigned((count + 255) / 256), 256, 0, stream>>>(
        x.data<const float>(), scale.data<const float>(), y.data<float>(), count, columns);
  }
}

}  // namespace

EXPORT_KERNEL(silu_scale, silu_scale);
