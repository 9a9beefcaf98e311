// The part of cuDNN that emitted kernels use, for the emulator: loops, as the documentation defines them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime.h"

enum cudnnStatus_t { CUDNN_STATUS_SUCCESS, CUDNN_STATUS_BAD_PARAM = 2000 };
enum cudnnDataType_t { CUDNN_DATA_FLOAT };
enum cudnnTensorFormat_t { CUDNN_TENSOR_NCHW };
enum cudnnConvolutionMode_t { CUDNN_CONVOLUTION, CUDNN_CROSS_CORRELATION };
enum cudnnMathType_t { CUDNN_DEFAULT_MATH, CUDNN_FMA_MATH = 3 };
enum cudnnConvolutionFwdAlgo_t {
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_GEMM,
  CUDNN_CONVOLUTION_FWD_ALGO_DIRECT,
  CUDNN_CONVOLUTION_FWD_ALGO_FFT,
  CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING,
  CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
  CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED,
  CUDNN_CONVOLUTION_FWD_ALGO_COUNT
};
struct cudnnConvolutionFwdAlgoPerf_t {
  cudnnConvolutionFwdAlgo_t algo;
  cudnnStatus_t status;
  float time;
  size_t memory;
  cudnnMathType_t mathType;
};
struct EmulatedTensor {
  std::vector<int> sizes, distances;
};
struct EmulatedConvolution {
  std::vector<int> stride, dilation;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
using cudnnHandle_t = int;
using cudnnTensorDescriptor_t = EmulatedTensor*;
using cudnnFilterDescriptor_t = EmulatedTensor*;
using cudnnConvolutionDescriptor_t = EmulatedConvolution*;

inline cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) { return *handle = 0, CUDNN_STATUS_SUCCESS; }
inline cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; }
inline cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* made) {
  return *made = new EmulatedTensor, CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* made) {
  return *made = new EmulatedTensor, CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* made) {
  return *made = new EmulatedConvolution, CUDNN_STATUS_SUCCESS;
}

// Elements may not lie in each other's place: what is further out is at least as far apart as all that lies in it.
inline cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t, int dims,
                                                const int* sizes, const int* distances) {
  if (dims < 4) return CUDNN_STATUS_BAD_PARAM;
  for (int i = 0; i < dims; ++i) {
    int64_t reach = 1;
    for (int j = i + 1; j < dims; ++j) reach += int64_t(sizes[j] - 1) * distances[j];
    if (sizes[i] < 1 || distances[i] < reach) return CUDNN_STATUS_BAD_PARAM;
  }
  *tensor = {{sizes, sizes + dims}, {distances, distances + dims}};
  return CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t, cudnnTensorFormat_t,
                                                int dims, const int* sizes) {
  *filter = {{sizes, sizes + dims}, std::vector<int>(dims, 1)};
  for (int i = dims - 1; i > 0; --i) filter->distances[i - 1] = filter->distances[i] * sizes[i];
  return dims < 4 ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int dims,
                                                     const int* pad, const int* stride, const int* dilation,
                                                     cudnnConvolutionMode_t mode, cudnnDataType_t) {
  for (int i = 0; i < dims; ++i) {
    if (pad[i] || mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  }
  convolution->stride = {stride, stride + dims};
  convolution->dilation = {dilation, dilation + dims};
  return CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  return convolution->groups = groups, CUDNN_STATUS_SUCCESS;
}
inline cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
  return convolution->math = math, CUDNN_STATUS_SUCCESS;
}

// The first that is named does not work here, and the last wants more memory than there is.
inline cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                            cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                            cudnnTensorDescriptor_t, int, int* count,
                                                            cudnnConvolutionFwdAlgoPerf_t* known) {
  known[0] = {CUDNN_CONVOLUTION_FWD_ALGO_FFT, CUDNN_STATUS_BAD_PARAM, -1, 0, CUDNN_FMA_MATH};
  known[1] = {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_STATUS_SUCCESS, -1, 0, CUDNN_FMA_MATH};
  known[2] = {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED, CUDNN_STATUS_SUCCESS, -1, 4096, CUDNN_FMA_MATH};
  known[3] = {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_STATUS_SUCCESS, -1, size_t{1} << 40, CUDNN_FMA_MATH};
  return *count = 4, CUDNN_STATUS_SUCCESS;
}

inline cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const float* alpha, cudnnTensorDescriptor_t x_shape,
                                             const float* x, cudnnFilterDescriptor_t w_shape, const float* w,
                                             cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algo,
                                             void*, size_t, const float* beta, cudnnTensorDescriptor_t y_shape,
                                             float* y) {
  const std::vector<int>&in = x_shape->sizes, &filter = w_shape->sizes, &out = y_shape->sizes;
  const int dims = int(in.size()), space = dims - 2, groups = convolution->groups;
  bool is_valid = in[1] == filter[1] * groups && out[1] == filter[0] && out[0] == in[0] && *beta == 0 &&
                  filter[0] % groups == 0 &&
                  (algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
                   algo == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED) &&
                  convolution->math == CUDNN_FMA_MATH;
  for (int i = 0; i < space; ++i) {
    const int reach = convolution->dilation[i] * (filter[i + 2] - 1) + 1;
    is_valid = is_valid && out[i + 2] == (in[i + 2] - reach) / convolution->stride[i] + 1;
  }
  if (!is_valid) return CUDNN_STATUS_BAD_PARAM;
  int64_t outputs = 1, taps = 1;
  for (int size : out) outputs *= size;
  for (int i = 1; i < dims; ++i) taps *= filter[i];
  for (int64_t o = 0; o < outputs; ++o) {
    std::vector<int> place(dims), tap(dims);
    int64_t to = 0, left = o;
    for (int i = dims - 1; i >= 0; --i) {
      place[i] = int(left % out[i]), left /= out[i];
      to += int64_t(place[i]) * y_shape->distances[i];
    }
    const int group = place[1] / (filter[0] / groups);
    double sum = 0;
    for (int64_t t = 0; t < taps; ++t) {
      left = t;
      for (int i = dims - 1; i > 0; --i) tap[i] = int(left % filter[i]), left /= filter[i];
      int64_t from = int64_t(place[0]) * x_shape->distances[0];
      from += int64_t(group * filter[1] + tap[1]) * x_shape->distances[1];
      for (int i = 0; i < space; ++i) {
        const int at = place[i + 2] * convolution->stride[i] + tap[i + 2] * convolution->dilation[i];
        from += int64_t(at) * x_shape->distances[i + 2];
      }
      sum += double(x[from]) * w[int64_t(place[1]) * w_shape->distances[0] + t];
    }
    y[to] = float(*alpha * sum);
  }
  return CUDNN_STATUS_SUCCESS;
}
