# The cuda target: builds and judges CUDA kernels; needs the NVIDIA container toolkit to run. From the repository's root:
#   docker build -f images/gpu.Dockerfile -t cuda-agent:gpu .
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ bubblewrap python3 python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/cuda-agent
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python3 -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir -c constraints.txt ".[serve]"
ENV PATH=/opt/venv/bin:$PATH
WORKDIR /srv
ENTRYPOINT ["cuda-agent"]
CMD ["doctor"]
