#!/usr/bin/env bash
# Everything to try on a machine with an NVIDIA GPU, in one go: what is there, the GPU tests, the main job.
#
#   scripts/device.sh OUT     raw data goes to the folder OUT; a short table is printed last
#
#   WHEELS=DIR    no network: missing wheels lie in DIR, and perhaps a bubblewrap*.deb
#   PYTHON=...    interpreter to use; a torch that it already has is kept
#   STEPS=...     which of "doctor tests examples repeat" (these), "judge races throughput" (half an hour or more):
#                 repeat judges the examples' kernels ten times, judge goes through all cheats and honest kernels,
#                 races lets references race against themselves, throughput counts evaluations an hour
set -uo pipefail
if [ $# -ne 1 ]; then sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
steps=${STEPS-doctor tests examples repeat}
wheels=${WHEELS:+$(cd "$WHEELS" && pwd)}
venv=.venv-device
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
table=""

# step NAME COMMAND...: run it, keep what it prints in OUT/NAME.txt, note how it ended.
step() {
  local name=$1 start=$SECONDS status result
  shift
  echo "== $name"
  "$@" </dev/null 2>&1 | tee "$out/$name.txt"
  status=${PIPESTATUS[0]}
  if [ "$status" = 0 ]; then result=ok; else result="failed ($status)"; failed=1; fi
  table+=$(printf '%-12s %-12s %6d s' "$name" "$result" $((SECONDS - start)))$'\n'
  return "$status"
}

has_torch() { "${PYTHON:-python3}" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; }

install() {
  local flags=""
  if has_torch; then flags=--system-site-packages; fi
  export PYTHON=${PYTHON:-python3} VENV_FLAGS=$flags WHEELS=$wheels
  # Without network the linters stay out; pytest comes with the machine or with the wheels.
  scripts/venv.sh "$venv" && { [ -n "$wheels" ] || scripts/venv.sh "$venv" dev; }
}

unpack_bubblewrap() {
  local package
  package=$(find "$wheels" -name 'bubblewrap*.deb' | head -n 1)
  if [ -n "$package" ]; then dpkg -x "$package" "$scratch/bubblewrap"; fi
}

describe() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,temperature.gpu --format=csv
  nvcc --version | tail -n 2
  "$venv/bin/python" -c 'import platform, torch; print("Python", platform.python_version(), "torch", torch.__version__, "CUDA", torch.version.cuda)'
  uname -srm
  git rev-parse HEAD 2>/dev/null
  "$venv/bin/cuda-agent" doctor
}

if ! command -v bwrap >/dev/null && [ -n "$wheels" ]; then
  unpack_bubblewrap
  export PATH=$scratch/bubblewrap/usr/bin:$PATH
fi
step install install || { echo "$table"; exit 1; }
for name in $steps; do
  case $name in
    doctor) step doctor describe ;;
    tests) step tests "$venv/bin/python" -m pytest -q -m gpu --junit-xml "$out/tests.xml" ;;
    examples) step examples "$venv/bin/cuda-agent" run examples/*.py --target cuda --policy expert --out "$out/run" ;;
    repeat) step repeat "$venv/bin/python" -m scripts.judge_again "$out/run" --out "$out/again.jsonl" ;;
    judge) step judge "$venv/bin/python" -m scripts.judge_report --target cuda --jobs 8 --machine device ;;
    races) step races "$venv/bin/python" -m scripts.judge_report --target cuda --self-comparisons 500 --machine device ;;
    throughput)
      step throughput "$venv/bin/python" -m scripts.throughput --target cuda --per-device 3 --compare \
        --out "$out/throughput.jsonl" ;;
    *) echo "unknown step: $name (know: doctor tests examples repeat judge races throughput)" >&2; failed=1 ;;
  esac
done

echo
echo "$table"
if [ -f "$out/tests.txt" ]; then tail -n 1 "$out/tests.txt"; fi
echo "raw data: $out"
exit "$failed"
