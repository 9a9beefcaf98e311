# Sourced by tiny_cpu.sh, tiny_gpu.sh and ablations.sh, which set `here`, `target` and the sizes below.
# The whole story is a list of parts; each has a folder under $here.
#
# A part that is finished is left out, one that was stopped goes on, so a script that was stopped, or that MINUTES
# ended, is simply called again. Exit status 75: MINUTES are over, and more is left to do.

minutes=${MINUTES:-0} # begin nothing, and let nothing go on, after so many; 0: no limit
mkdir -p "$here/done"
data=$here/tasks/tasks.parquet
limits() {
  printf -- '--%slimits.%s ' "$1" 'turns 6' "$1" "reply-tokens ${reply_tokens:?}" "$1" 'invalid-turns 2'
}

part() { # part NAME COMMAND...: a part with its folder, once; says how long it took
  local name=$1 start=$SECONDS status=0 place=(--out "$here/$1") left=$((minutes * 60 - SECONDS))
  shift
  [ -e "$here/done/$name" ] && return
  [ -e "$here/$name" ] && place=(--resume "$here/$name")
  if [ "$minutes" -gt 0 ] && [ "$left" -lt 5 ]; then exit 75; fi
  echo "== $name"
  if [ "$minutes" -gt 0 ]; then timeout --signal INT --kill-after 30 "$left" "$@" "${place[@]}" || status=$?
  else "$@" "${place[@]}" || status=$?; fi
  echo "== $name took $((SECONDS - start)) s, status $status" | tee -a "$here/times.txt"
  # 1: some task was not verified, or training stopped by itself; what came of it is in the folder.
  case $status in 0 | 1) touch "$here/done/$name" ;; 124 | 130) exit 75 ;; *) exit "$status" ;; esac
}

actor() { # actor NAME: the policy that a stage's newest checkpoint holds
  printf 'local:%s' "$(printf '%s\n' "$here/$1"/checkpoints/step-*/actor | sort -V | tail -n 1)"
}

make_data() { # tasks, and what the expert makes of them
  part tasks cuda-agent synth --target "$target" --count "$tasks" --seed 0 --workers 2 "${recipe[@]}"
  for form in brief single; do
    part "expert_$form" cuda-agent run "$data#train" --policy expert --prompt "$form" --target "$target" \
      --concurrency "$judged" --verdicts "$here/verdicts" --limits.turns 6
  done
}

imitate() { # fast, and then slowly: what is left of chance in an answer's hundred tokens fails it
  part imitate_fast cuda-agent train imitate "$here/expert_brief" "$here/expert_single" --seed "$seed" \
    --steps "$imitate_steps" --save-every 100 --actor.learning-rate "$imitate_rate" "${network[@]}" ${slips:+--slips}
  part imitate cuda-agent train imitate "$here/expert_brief" "$here/expert_single" --seed "$seed" \
    --start "$here/imitate_fast" --steps "$((imitate_steps / 3))" --save-every 100 \
    --actor.learning-rate "$settle_rate" "${network[@]:0:2}" ${slips:+--slips}
}

improve() { # improve NAME STAGE OPTION...: PPO by the shared settings
  local name=$1 stage=$2
  shift 2
  part "$name" cuda-agent train "$stage" "$data#train" --solved-in "$here/expert_brief" --target "$target" \
    --seed "$seed" --steps "$steps" --batch "$batch" --episodes "$episodes" --minibatches "$minibatches" \
    --save-every 1 --actor.learning-rate "$actor_rate" --critic.learning-rate "$critic_rate" \
    --gae.gae-lambda "$gae_lambda" --rollout.concurrency "$concurrency" \
    --episode.verdicts "$here/verdicts" $(limits episode.) "$@"
}

sample() { # sample NAME STAGE [FORM]: episodes of a policy, good and bad ones
  part "$1" cuda-agent run "$data#train" --policy "$(actor "$2")" --prompt "${3:-brief}" --target "$target" \
    --episodes "$sampled" --concurrency "$concurrency" --verdicts "$here/verdicts" $(limits '')
}

fine_tune() { # fine_tune NAME EPISODES START
  part "$1" cuda-agent train rft "$here/$2" --start "$here/$3" --seed "$seed" --steps "$supervised_steps" \
    --batch 16 --save-every 10 --actor.learning-rate "$rft_rate"
}

value() { # value NAME EPISODES START
  part "$1" cuda-agent train value "$here/$2" --start "$here/$3" --seed "$seed" --steps "$value_steps" \
    --batch 16 --save-every 10 --critic.learning-rate "$value_rate" --gae.gae-lambda "$gae_lambda"
}

bench() { # bench STAGE [FORM]: held-out tasks, judged anew each time
  local form=${2:-brief}
  part "bench_$1_$form" cuda-agent run "$data#$heldout" --policy "$(actor "$1")" --target "$target" \
    --prompt "$form" --episodes "$benched" --concurrency "$concurrency" $(limits '')
}

tell_story() { # all stages in the paper's order, a critic for single answers too, and held-out tasks after each
  make_data
  imitate
  sample sampled_single imitate single
  value value_single sampled_single imitate
  improve single_turn single-turn --start "$here/imitate" \
    --value-pretraining --critic-start "$here/value_single"
  sample sampled single_turn
  fine_tune rft sampled single_turn
  value value sampled rft
  improve ppo ppo --start "$here/rft" --critic-start "$here/value"
  for stage in imitate single_turn rft ppo; do bench "$stage"; done
}
