// Convolutions in float32 through cuDNN: CUDNN_FMA_MATH keeps TF32 out.
#pragma once

#include <cuda_agent/kernel.h>
#include <cudnn.h>

#include <cstddef>

// Sizes as cuDNN counts them: images or filters, channels, then two or three axes of space.
struct ConvolutionShape {
  int dims;
  int input[5];
  int distance[5];  // of the input: elements from one index to the next
  int filter[5];
  int output[5];
  int stride[3];
  int dilation[3];
  int groups;
};

inline void check_cudnn(cudnnStatus_t status) {
  kernel::check(status == CUDNN_STATUS_SUCCESS, "cuDNN answers with status %d", int(status));
}

inline cudnnHandle_t get_cudnn() {
  static const cudnnHandle_t handle = [] {
    cudnnHandle_t made;
    check_cudnn(cudnnCreate(&made));
    return made;
  }();
  return handle;
}

class Convolution {
 public:
  // `wanted` is taken where cuDNN has it for this shape; CUDNN_CONVOLUTION_FWD_ALGO_COUNT leaves it to cuDNN.
  Convolution(const ConvolutionShape& shape, cudnnConvolutionFwdAlgo_t wanted, cudnnMathType_t math)
      : algorithm_(wanted) {
    const int pad[3] = {}, dims = shape.dims;
    int packed[5];
    packed[dims - 1] = 1;
    for (int i = dims - 1; i > 0; --i) packed[i - 1] = packed[i] * shape.output[i];
    check_cudnn(cudnnCreateTensorDescriptor(&input_));
    check_cudnn(cudnnSetTensorNdDescriptor(input_, CUDNN_DATA_FLOAT, dims, shape.input, shape.distance));
    check_cudnn(cudnnCreateTensorDescriptor(&output_));
    check_cudnn(cudnnSetTensorNdDescriptor(output_, CUDNN_DATA_FLOAT, dims, shape.output, packed));
    check_cudnn(cudnnCreateFilterDescriptor(&filter_));
    check_cudnn(cudnnSetFilterNdDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, dims, shape.filter));
    check_cudnn(cudnnCreateConvolutionDescriptor(&convolution_));
    check_cudnn(cudnnSetConvolutionNdDescriptor(convolution_, dims - 2, pad, shape.stride, shape.dilation,
                                                CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    check_cudnn(cudnnSetConvolutionGroupCount(convolution_, shape.groups));
    check_cudnn(cudnnSetConvolutionMathType(convolution_, math));
  }

  void run(cudaStream_t stream, const float* input, const float* filter, float* output, float* workspace,
           size_t workspace_bytes) {
    const float one = 1, zero = 0;
    check_cudnn(cudnnSetStream(get_cudnn(), stream));
    if (!is_chosen_) choose(workspace_bytes);
    check_cudnn(cudnnConvolutionForward(get_cudnn(), &one, input_, input, filter_, filter, convolution_, algorithm_,
                                        workspace, workspace_bytes, &zero, output_, output));
  }

 private:
  void choose(size_t workspace_bytes) {
    cudnnConvolutionFwdAlgoPerf_t known[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    check_cudnn(cudnnGetConvolutionForwardAlgorithm_v7(get_cudnn(), input_, filter_, convolution_, output_,
                                                       CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, known));
    const cudnnConvolutionFwdAlgo_t wanted = algorithm_;
    for (int i = 0; i < count; ++i) {  // what is expected to be the fastest comes first
      if (known[i].status != CUDNN_STATUS_SUCCESS || known[i].memory > workspace_bytes) continue;
      if (!is_chosen_ || known[i].algo == wanted) algorithm_ = known[i].algo;
      is_chosen_ = true;
    }
    kernel::check(is_chosen_, "cuDNN has no algorithm for a convolution");
  }

  cudnnTensorDescriptor_t input_, output_;
  cudnnFilterDescriptor_t filter_;
  cudnnConvolutionDescriptor_t convolution_;
  cudnnConvolutionFwdAlgo_t algorithm_;
  bool is_chosen_ = false;
};
