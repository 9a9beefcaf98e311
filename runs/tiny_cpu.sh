#!/usr/bin/env bash
# The whole story on two cores without a GPU: tasks, an expert's episodes, the four stages, held-out tasks.
# Each part is left out where its folder is there already, so a stopped script goes on when it is called again
# (a part that was stopped itself: remove its folder, or resume it with the command that it printed).
#
#   runs/tiny_cpu.sh [FOLDER]          default: runs/tiny_cpu
#   TASKS=8 STEPS=2 runs/tiny_cpu.sh   only to see that it goes through
set -euo pipefail

here=${1:-runs/tiny_cpu}
tasks=${TASKS:-60}              # how many are made; a tenth is held out
imitate_steps=${IMITATE_STEPS:-400}
steps=${STEPS:-10}              # of each PPO
batch=${BATCH:-16}              # episodes of a PPO step
heldout=${HELDOUT:-heldout:4}   # of the data set's split, for the report
mkdir -p "$here"
small=(--target cpu --limits.turns 6 --limits.reply-tokens 1600 --limits.invalid-turns 2)
policy_limits=(--episode.limits.turns 6 --episode.limits.reply-tokens 1600 --episode.limits.invalid-turns 2)

part() { # part NAME COMMAND...: run a part whose folder is not there, and say how long it took
  local name=$1 start=$SECONDS
  shift
  [ -e "$here/$name" ] && return
  echo "== $name"
  # 1: some task was not verified, or training stopped by itself; what came of it is in the folder.
  "$@" --out "$here/$name" || [ $? -eq 1 ]
  echo "== $name took $((SECONDS - start)) s" | tee -a "$here/times.txt"
}

actor() { # actor NAME: the policy that a stage's newest checkpoint holds
  printf 'local:%s' "$(printf '%s\n' "$here/$1"/checkpoints/step-*/actor | tail -n 1)"
}

part tasks cuda-agent synth --target cpu --count "$tasks" --seed 0
data=$here/tasks/tasks.parquet

part expert cuda-agent run "$data#train" --policy expert --prompt brief "${small[@]}"
part expert_single cuda-agent run "$data#train" --policy expert --prompt single "${small[@]}"
part imitate cuda-agent train imitate "$here/expert" "$here/expert_single" --steps "$imitate_steps" \
  --batch 8 --scratch.layers 6 --scratch.hidden 256 --scratch.heads 4 --scratch.intermediate 704
part single_turn cuda-agent train single-turn "$data#train" --start "$here/imitate" --target cpu \
  --steps "$steps" --batch "$batch" --episodes 4 --rollout.concurrency 4 "${policy_limits[@]}"
part sampled cuda-agent run "$data#train" --policy "$(actor single_turn)" --prompt brief \
  --episodes 2 --concurrency 4 "${small[@]}"
part rft cuda-agent train rft "$here/sampled" --start "$here/single_turn" --steps "$steps" --batch 8
part value cuda-agent train value "$here/sampled" --start "$here/rft" --steps "$steps" --batch 8
part ppo cuda-agent train ppo "$data#train" --start "$here/rft" --critic-start "$here/value" --target cpu \
  --steps "$steps" --batch "$batch" --episodes 4 --rollout.concurrency 4 "${policy_limits[@]}"

for stage in imitate single_turn rft ppo; do
  part "bench_$stage" cuda-agent run "$data#$heldout" --policy "$(actor "$stage")" --prompt brief \
    --concurrency 2 "${small[@]}"
done
