# The cpu target: builds and judges C++ kernels. From the repository's root:
#   docker build -f images/cpu.Dockerfile -t cuda-agent:cpu .
FROM python:3.12-slim-bookworm
RUN apt-get update \
 && apt-get install -y --no-install-recommends g++ bubblewrap \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/cuda-agent
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu -c constraints.txt ".[serve]"
WORKDIR /work
ENTRYPOINT ["cuda-agent"]
CMD ["doctor"]
