# The cpu target: builds and judges C++ kernels. From the repository's root:
#   docker build -f images/cpu.Dockerfile -t cuda-agent:cpu .
# torch's default build brings CUDA along; the build argument PIP_ARGS hands pip options that choose another one.
FROM python:3.12-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ bubblewrap \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/cuda-agent
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
ARG PIP_ARGS=""
RUN pip install --no-cache-dir ${PIP_ARGS} -c constraints.txt ".[serve]"
WORKDIR /srv
ENTRYPOINT ["cuda-agent"]
CMD ["doctor"]
