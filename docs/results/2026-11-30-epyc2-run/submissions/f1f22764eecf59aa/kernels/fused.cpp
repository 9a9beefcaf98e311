// kernel0: 1 row of 5242880 columns, 26 operations fused
//   pass 1: computes exp, adds to the total (sum)
//   stores one value at the end, from partial totals added in float64 in a fixed order
// Inputs and outputs are 40.0 MiB together.
// Buffers: in0 = logits float32[4, 16384, 80]; in1 = targets float32[4, 16384, 80]; out0 = v25 float32[]
// Choices: keep dear, streaming stores, unroll 4, prefetch next row
#include <cuda_agent/kernel.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "vec_math.h"

using namespace vec;

static void kernel0(const float* in0, const float* in1, float* out0) {
  std::vector<double> totals31(omp_get_max_threads(), 0.0);
#pragma omp parallel
  {
    double total31 = 0.0;
#pragma omp for schedule(static) nowait
    for (int64_t start = 0; start < 5242880; start += 8192)
    {
      F32 acc31[4];
      for (auto& acc : acc31) acc = splat(0.0f);
      walk<4>(std::min<int64_t>(8192, 5242880 - start), [&](auto u, int64_t from, auto part) VEC_LAMBDA {
        const int64_t j = start + from;
        const F32 v0 = load(in1 + j, part);
        const F32 v2 = v0 * splat(0.25f);
        const F32 v5 = splat(1.0f) - v0;
        const F32 v7 = v5 * splat(0.75f);
        const F32 v8 = v2 + v7;
        const F32 v9 = load(in0 + j, part);
        const I32 v11 = ge(v9, splat(0.0f));
        const F32 v12 = absolute(v9);
        const F32 v13 = -v12;
        const F32 v14 = exp(v13);
        const F32 v15 = select(v11, splat(1.0f), v14);
        const F32 v16 = v14 + splat(1.0f);
        const F32 v17 = v15 / v16;
        const F32 v18 = v17 * v0;
        const F32 v19 = splat(1.0f) - v17;
        const F32 v20 = v19 * v5;
        const F32 v21 = v18 + v20;
        const F32 v22 = splat(1.0f) - v21;
        const F32 v23 = v22 * v22;
        const F32 v24 = v8 * v23;
        const F32 v25 = v5 * v9;
        const F32 v26 = minimum(splat(0.0f), v9);
        const F32 v27 = log1p(v14);
        const F32 v28 = v26 - v27;
        const F32 v29 = v25 - v28;
        const F32 v30 = v24 * v29;
        acc31[u] = Sum{}(acc31[u], keep(v30, splat(0.0f), part));
      });
      total31 = Sum{}(total31, double(combine<Sum, 4>(acc31)));
    }
    totals31[omp_get_thread_num()] = total31;
    finish_streams();
  }
  double whole31 = 0.0;
  for (auto part : totals31) whole31 = Sum{}(whole31, part);
  const float v31 = float(whole31);
  const float v33 = v31 * 1.9073486328125e-07f;
  store_one(out0 + 0, v33);
}

static void fused(kernel::Tensor in0_, kernel::Tensor in1_, kernel::Tensor out0_) {
  const float* in0 = in0_.data<const float>();
  const float* in1 = in1_.data<const float>();
  float* out0 = out0_.data<float>();
  kernel0(in0, in1, out0);
}
EXPORT_KERNEL(fused, fused);
