#!/usr/bin/env bash
# The whole story on two cores without a GPU: tasks of a few operators, an expert's episodes, the four stages,
# held-out tasks. Stopped, it goes on when it is called again. What was seen of it so far: docs/log.md.
#
#   runs/tiny_cpu.sh [FOLDER]            default: runs/tiny_cpu
#   MINUTES=9 runs/tiny_cpu.sh           a part of it; exit status 75 while there is more
#   TASKS=8 STEPS=2 runs/tiny_cpu.sh     only to see that it goes through
set -euo pipefail

here=${1:-runs/tiny_cpu}
target=cpu
seed=${SEED:-0}
tasks=${TASKS:-10}              # how many are made; a tenth is held out
imitate_steps=${IMITATE_STEPS:-600}
steps=${STEPS:-20}              # of each PPO
supervised_steps=${SUPERVISED_STEPS:-30} value_steps=${SUPERVISED_STEPS:-80}
batch=${BATCH:-72}              # episodes of a PPO step: 8 of each of 9 tasks
episodes=8 minibatches=1
sampled=8 benched=4
reply_tokens=400                # an answer has about 110
slips=yes                       # what is imitated holds worse code too, so that there is what to choose
heldout=${HELDOUT:-validation}  # of so few tasks none falls into `heldout`
concurrency=${CONCURRENCY:-36}
judged=2                        # of the expert's episodes at once: each is traced and judged
imitate_rate=2e-3 settle_rate=3e-4 rft_rate=2e-4 actor_rate=${ACTOR_RATE:-2e-4} critic_rate=1e-3 value_rate=2e-3
gae_lambda=1                    # a choice is 60 tokens before its reward, and 0.95^60 is 0.05
recipe=(--transformers-share 0 --join-share 0 --operator-shares 0.2 0.8 --longest-ms 12 --operators
  torch.abs torch.cos torch.exp torch.neg torch.sin torch.square torch.tanh torch.nn.functional.relu
  torch.nn.functional.relu6 torch.nn.functional.hardsigmoid torch.nn.functional.hardswish
  torch.nn.Sigmoid torch.nn.SiLU torch.nn.Softplus)
network=(--batch 8 --vocabulary 1024 --scratch.layers 2 --scratch.hidden 64 --scratch.heads 2
  --scratch.intermediate 176)

. "$(dirname "$0")/stages.sh"
tell_story
