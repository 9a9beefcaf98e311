// kernel0: 131072 rows of 64 columns, 7 operations fused
//   pass 1: stores out0
// kernel1: 65536 rows of 64 columns, 7 operations fused
//   pass 1: stores out1
// Inputs and outputs are 196.0 MiB together.
// Buffers: in0 = b_cos float32[4096, 128]; in1 = b_sin float32[4096, 128]; in2 = q float32[2, 16, 4096, 128]; in3 = k float32[2, 8, 4096, 128]; out0 = v6 float32[2, 16, 4096, 128]; out1 = v13 float32[2, 8, 4096, 128]
// Choices: keep dear, streaming stores, unroll 4, prefetch next row
#include <cuda_agent/kernel.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "vec_math.h"

using namespace vec;

static void kernel0(const float* in0, const float* in1, const float* in2, float* out0) {
#pragma omp parallel
  {
#pragma omp for schedule(static) collapse(2) nowait
    for (int64_t r0 = 0; r0 < 32; ++r0)
    for (int64_t r1 = 0; r1 < 4096; ++r1)
    {
      walk<4>(64, [&](auto u, int64_t j, auto part) VEC_LAMBDA {
        const F32 v0 = load(in2 + r0 * 524288 + r1 * 128 + j, part);
        const F32 v1 = load(in0 + r1 * 128 + j, part);
        const F32 v2 = v0 * v1;
        const F32 v3 = load(in2 + r0 * 524288 + r1 * 128 + j + 64, part);
        const F32 v4 = -v3;
        const F32 v5 = load(in1 + r1 * 128 + j, part);
        const F32 v6 = v4 * v5;
        const F32 v7 = v2 + v6;
        const F32 v8 = load(in0 + r1 * 128 + j + 64, part);
        const F32 v9 = v3 * v8;
        const F32 v10 = load(in1 + r1 * 128 + j + 64, part);
        const F32 v11 = v0 * v10;
        const F32 v12 = v9 + v11;
        stream(out0 + r0 * 524288 + r1 * 128 + j, v7, part);
        stream(out0 + r0 * 524288 + r1 * 128 + j + 64, v12, part);
      });
    }
    finish_streams();
  }
}

static void kernel1(const float* in0, const float* in1, const float* in3, float* out1) {
#pragma omp parallel
  {
#pragma omp for schedule(static) collapse(2) nowait
    for (int64_t r0 = 0; r0 < 16; ++r0)
    for (int64_t r1 = 0; r1 < 4096; ++r1)
    {
      walk<4>(64, [&](auto u, int64_t j, auto part) VEC_LAMBDA {
        const F32 v0 = load(in3 + r0 * 524288 + r1 * 128 + j, part);
        const F32 v1 = load(in0 + r1 * 128 + j, part);
        const F32 v2 = v0 * v1;
        const F32 v3 = load(in3 + r0 * 524288 + r1 * 128 + j + 64, part);
        const F32 v4 = -v3;
        const F32 v5 = load(in1 + r1 * 128 + j, part);
        const F32 v6 = v4 * v5;
        const F32 v7 = v2 + v6;
        const F32 v8 = load(in0 + r1 * 128 + j + 64, part);
        const F32 v9 = v3 * v8;
        const F32 v10 = load(in1 + r1 * 128 + j + 64, part);
        const F32 v11 = v0 * v10;
        const F32 v12 = v9 + v11;
        stream(out1 + r0 * 524288 + r1 * 128 + j, v7, part);
        stream(out1 + r0 * 524288 + r1 * 128 + j + 64, v12, part);
      });
    }
    finish_streams();
  }
}

static void fused(kernel::Tensor in0_, kernel::Tensor in1_, kernel::Tensor in2_, kernel::Tensor in3_, kernel::Tensor out0_, kernel::Tensor out1_) {
  const float* in0 = in0_.data<const float>();
  const float* in1 = in1_.data<const float>();
  const float* in2 = in2_.data<const float>();
  const float* in3 = in3_.data<const float>();
  float* out0 = out0_.data<float>();
  float* out1 = out1_.data<float>();
  kernel0(in0, in1, in2, out0);
  kernel1(in0, in1, in3, out1);
}
EXPORT_KERNEL(fused, fused);
