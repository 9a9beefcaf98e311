#include <cuda_agent/kernel.h>
#include <math.h>
void attend(kernel::Tensor q, kernel::Tensor k, kernel::Tensor v, kernel::Tensor y, float scale) {
  const int64_t heads = q.size(0), length = q.size(1), width = q.size(2);
  kernel::check(width <= 128, "heads of at most 128");
  const float *queries = q.data<const float>(), *keys = k.data<const float>(), *values = v.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for collapse(2)
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t row = 0; row < length; ++row) {
      const float* own = queries + (head * length + row) * width;
      float sum[128] = {}, top = -INFINITY, total = 0;
      for (int64_t j = 0; j <= row; ++j) {
        const float* key = keys + (head * length + j) * width;
        float score = 0;
        for (int64_t c = 0; c < width; ++c) score += own[c] * key[c];
        score *= scale;
        if (score > top) {
          const float shrink = expf(top - score);
          for (int64_t c = 0; c < width; ++c) sum[c] *= shrink;
          total *= shrink;
          top = score;
        }
        const float weight = expf(score - top);
        total += weight;
        for (int64_t c = 0; c < width; ++c) sum[c] += weight * values[(head * length + j) * width + c];
      }
      for (int64_t c = 0; c < width; ++c) out[(head * length + row) * width + c] = sum[c] / total;
    }
}
EXPORT_KERNEL(attend, attend);
