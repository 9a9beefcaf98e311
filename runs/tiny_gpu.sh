#!/usr/bin/env bash
# The whole story on one GPU (written for an H200; NOT YET RUN): tasks of all operators, an expert's episodes, the four
# stages, held-out tasks. It stops and goes on by itself where MINUTES are short:
#
#   while MINUTES=9 runs/tiny_gpu.sh; s=$?; [ $s -eq 75 ]; do :; done
#
# A checkpoint instead of a model from nothing: START=FOLDER runs/tiny_gpu.sh
set -euo pipefail

here=${1:-runs/tiny_gpu}
target=cuda
seed=${SEED:-0}
tasks=${TASKS:-400}
imitate_steps=${IMITATE_STEPS:-3000}
steps=${STEPS:-40}
supervised_steps=${SUPERVISED_STEPS:-150} value_steps=${SUPERVISED_STEPS:-150}
batch=${BATCH:-256}
episodes=16 minibatches=4
sampled=4 benched=1
reply_tokens=1600
slips= # those of rl/slips.py are of the cpu's kernels
heldout=${HELDOUT:-heldout}
concurrency=${CONCURRENCY:-64} judged=64
imitate_rate=${IMITATE_RATE:-1e-3} settle_rate=2e-4 rft_rate=1e-4 actor_rate=3e-5 critic_rate=3e-4 value_rate=3e-4
gae_lambda=1 # answers are short: docs/training.md
recipe=(--longest-ms 20)
network=(--batch 64 --micro-batch 32)
[ -n "${START:-}" ] && network+=(--start "$START")

. "$(dirname "$0")/stages.sh"
tell_story
