// Not: #include <torch/extension.h>, at::relu, dlopen("libtorch.so"), system("true"), fork(), pthread_create
/* asm volatile("syscall");
#include <fstream>
   __attribute__((constructor)) static void early() {} */
#include <cuda_agent/kernel.h>

static const char* const kMessage = "no asm(\"syscall\"), no #include <thread>, no __attribute__((ifunc)); // ok";
static const char* const kRaw = R"text(
#include <dlfcn.h>
#pragma GCC plugin "evil.so"
)text";

void relu(kernel::Tensor x, kernel::Tensor y) {
  kernel::check(y.numel() == x.numel(), "%s%s", kMessage, kRaw);
  const float* in = x.data<const float>();
  float* out = y.data<float>();
#pragma omp parallel for simd
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
}
EXPORT_KERNEL(relu, relu);
