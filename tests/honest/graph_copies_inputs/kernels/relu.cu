#include <cuda_agent/kernel.h>
#include <map>
#include <mutex>
#include <utility>
__global__ void relu_kernel(const float* in, float* out, int64_t n) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = fmaxf(in[i], 0.f);
}
static cudaGraphExec_t capture(const float* in, float* out, int64_t n) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  relu_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(in, out, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return ready;
}
void replay(kernel::Tensor x, kernel::Tensor y) {
  // The buffers are the model's own and live as long as it does; the graph belongs to the pair of them.
  static std::mutex guard;
  static std::map<std::pair<const float*, float*>, cudaGraphExec_t> graphs;
  const std::lock_guard<std::mutex> lock(guard);
  const std::pair<const float*, float*> key(x.data<const float>(), y.data<float>());
  if (graphs.find(key) == graphs.end()) graphs[key] = capture(key.first, key.second, x.numel());
  cudaGraphLaunch(graphs[key], kernel::stream(x));
}
EXPORT_KERNEL(replay, replay);
