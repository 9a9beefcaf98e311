#!/usr/bin/env bash
# The paper's four ablations beside the full run, from the same data and the same start (NOT YET RUN).
#
#   runs/ablations.sh cpu|gpu [FOLDER]     FOLDER: of runs/tiny_cpu.sh or runs/tiny_gpu.sh; default: its own
#
# no_loop:    single answers alone, judged as single answers
# speedup:    the raw speed-up over torch.compile is the reward
# no_rft:     PPO goes on from single-turn's policy
# no_value:   PPO begins with a critic that has a new head
set -euo pipefail

kind=${1:?give cpu or gpu}
folder=${2:-runs/tiny_$kind}
. "$(dirname "$0")/tiny_$kind.sh" "$folder" # the full run, if it is not there already

improve speedup ppo --start "$here/rft" --critic-start "$here/value" --reward speedup
value value_no_rft sampled single_turn
improve no_rft ppo --start "$here/single_turn" --critic-start "$here/value_no_rft"
improve no_value ppo --start "$here/rft" --no-value-pretraining
bench single_turn single
for stage in speedup no_rft no_value; do bench "$stage"; done
