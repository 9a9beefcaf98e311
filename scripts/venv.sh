#!/usr/bin/env bash
# Make the virtual environment FOLDER and install this repository into it; with EXTRAS, add to the one there.
#
#   scripts/venv.sh FOLDER [EXTRAS]     extras of pyproject.toml, such as dev
#
#   PYTHON=...                          interpreter to use; otherwise the first fit one is found
#   VENV_FLAGS=--system-site-packages   see the packages (torch) of that interpreter, and keep them
#   CONSTRAINTS=FILE                    the versions to install; otherwise constraints.txt
#   WHEELS=DIR                          take missing packages from DIR; no network is used
set -euo pipefail
venv=${1:?usage: scripts/venv.sh FOLDER [EXTRAS]}
extras=${2:-}
flags=${VENV_FLAGS:-}
wheels=${WHEELS:-}
constraints=${CONSTRAINTS:-constraints.txt}
cd "$(dirname "$0")/.."

has() { "$python" -c "import $1" 2>/dev/null; }

# A version manager may put python3.12 on PATH without having it, so each candidate is tried.
find_python() {
  local candidates=(python3.11 python3.12 python3.13 python3)
  if [ -n "${PYTHON:-}" ]; then candidates=("$PYTHON"); fi
  for python in "${candidates[@]}"; do
    if "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
      && { has ensurepip || has pip; }; then return; fi
  done
  echo "No Python 3.11 or newer with venv and pip was found (tried: ${candidates[*]})." >&2
  echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv), or name it with PYTHON=..." >&2
  return 1
}

# Where $python is itself a virtual environment, --system-site-packages would look past it.
share_packages() {
  local outer inner
  outer=$("$python" -c 'import sys, sysconfig; print(sysconfig.get_path("purelib") if sys.prefix != sys.base_prefix else "")')
  inner=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  if [ -n "$outer" ]; then echo "$outer" >"$inner/outer.pth"; fi
}

# pip says a lot, or with --quiet nothing for minutes: show what is worth waiting for.
show_progress() {
  sed -un -e 's/^ *Downloading \(.* MB)\)$/  downloading \1/p' -e 's/^Installing collected.*/  installing/p'
}

make_venv() {
  find_python
  if [ -e "$venv" ] && [ ! -e "$venv/made-with" ]; then
    echo "$venv is there, and this script did not make it: remove it yourself, or name another folder." >&2
    return 1
  fi
  echo "Making $venv with $("$python" --version) (a minute or two)"
  rm -rf "$venv"
  mkdir -p "$venv"
  echo "$python" >"$venv/made-with"
  # Without network the outer pip and setuptools serve: the ones that come with venv may be too old.
  local without=""
  if ! has ensurepip || { [ -n "$wheels" ] && has pip; }; then without=--without-pip; fi
  # shellcheck disable=SC2086 # several flags are several words
  "$python" -m venv $without $flags "$venv"
  if [[ " $flags " == *" --system-site-packages "* ]]; then
    share_packages
    # The torch that is there stays; everything else may be pinned.
    grep -v '^torch==' "$constraints" >"$venv/constraints.txt"
  else
    cp "$constraints" "$venv/constraints.txt"
  fi
}

if [ -z "$extras" ]; then make_venv; else echo "Adding $extras to $venv"; fi
if [ -x "$venv/bin/pip" ]; then
  pip=("$venv/bin/python" -m pip)
else
  pip=("$(cat "$venv/made-with")" -m pip --python "$venv/bin/python")
fi
# Compiled below instead, on all cores.
pip+=(install --disable-pip-version-check --no-input --no-compile)
if [ -n "$wheels" ]; then
  # Given wheels are taken as they are: whoever gave them chose the versions.
  pip+=(--no-index --find-links "$wheels" --no-build-isolation)
else
  pip+=(--constraint "$venv/constraints.txt")
fi
"${pip[@]}" -e ".${extras:+[$extras]}" | show_progress
echo "  compiling"
# Some packages carry files for other versions of Python, which do not compile.
"$venv/bin/python" -m compileall -qq -j 0 "$venv"/lib/python*/site-packages || true
