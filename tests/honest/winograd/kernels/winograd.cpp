#include <cuda_agent/kernel.h>

static void transform_one(const float g[9], float out[16]) {  // G g G^T
  float t[12];
  for (int c = 0; c < 3; ++c) {
    const float a = g[c], b = g[3 + c], d = g[6 + c];
    t[c] = a;
    t[3 + c] = 0.5f * (a + b + d);
    t[6 + c] = 0.5f * (a - b + d);
    t[9 + c] = d;
  }
  for (int r = 0; r < 4; ++r) {
    const float a = t[3 * r], b = t[3 * r + 1], d = t[3 * r + 2];
    out[4 * r] = a;
    out[4 * r + 1] = 0.5f * (a + b + d);
    out[4 * r + 2] = 0.5f * (a - b + d);
    out[4 * r + 3] = d;
  }
}

static void transform_input(const float d[16], float out[16]) {  // B^T d B
  float t[16];
  for (int c = 0; c < 4; ++c) {
    t[c] = d[c] - d[8 + c];
    t[4 + c] = d[4 + c] + d[8 + c];
    t[8 + c] = d[8 + c] - d[4 + c];
    t[12 + c] = d[4 + c] - d[12 + c];
  }
  for (int r = 0; r < 4; ++r) {
    const float* a = t + 4 * r;
    out[4 * r] = a[0] - a[2];
    out[4 * r + 1] = a[1] + a[2];
    out[4 * r + 2] = a[2] - a[1];
    out[4 * r + 3] = a[1] - a[3];
  }
}

static void transform_output(const float m[16], float out[4]) {  // A^T m A
  float t[8];
  for (int c = 0; c < 4; ++c) {
    t[c] = m[c] + m[4 + c] + m[8 + c];
    t[4 + c] = m[4 + c] - m[8 + c] - m[12 + c];
  }
  for (int r = 0; r < 2; ++r) {
    out[2 * r] = t[4 * r] + t[4 * r + 1] + t[4 * r + 2];
    out[2 * r + 1] = t[4 * r + 1] - t[4 * r + 2] - t[4 * r + 3];
  }
}

void transform_weight(kernel::Tensor weight, kernel::Tensor out) {
  for (int64_t i = 0; i < out.numel() / 16; ++i) transform_one(weight.data<const float>() + 9 * i, out.data<float>() + 16 * i);
}

void convolve(kernel::Tensor x, kernel::Tensor weight, kernel::Tensor y) {
  const int64_t batch = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3), units = y.size(1);
  kernel::check(channels <= 64 && height % 2 == 0 && width % 2 == 0, "at most 64 channels, even sides");
  const float *in = x.data<const float>(), *w = weight.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for collapse(3)
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t i = 0; i < height; i += 2)
      for (int64_t j = 0; j < width; j += 2) {
        float held[64][16];
        for (int64_t c = 0; c < channels; ++c) {
          float tile[16];
          for (int k = 0; k < 16; ++k) {
            const int64_t r = i - 1 + k / 4, s = j - 1 + k % 4;
            const bool inside = r >= 0 && r < height && s >= 0 && s < width;
            tile[k] = inside ? in[((n * channels + c) * height + r) * width + s] : 0.0f;
          }
          transform_input(tile, held[c]);
        }
        for (int64_t u = 0; u < units; ++u) {
          float sum[16] = {}, result[4];
          for (int64_t c = 0; c < channels; ++c)
            for (int k = 0; k < 16; ++k) sum[k] += held[c][k] * w[(u * channels + c) * 16 + k];
          transform_output(sum, result);
          for (int k = 0; k < 4; ++k) out[((n * units + u) * height + i + k / 2) * width + j + k % 2] = result[k];
        }
      }
}
EXPORT_KERNEL(transform_weight, transform_weight);
EXPORT_KERNEL(convolve, convolve);
