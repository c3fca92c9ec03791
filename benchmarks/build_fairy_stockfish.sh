#!/usr/bin/env bash
# Build the Fairy-Stockfish program from the sources in pyffish's source distribution, as a peer of
# the perft benchmarks: `benchmarks/build_fairy_stockfish.sh PYTHON FOLDER` writes FOLDER/fairy-stockfish.
# Its own makefile is not part of that distribution; these are its flags for x86-64 with popcnt.
set -euo pipefail
python=$(realpath -s "$1")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -m pip download --quiet --no-deps --no-build-isolation --no-binary :all: pyffish==0.0.90
tar xf pyffish-*.tar.gz
cd pyffish-*/src
sources=$(ls ./*.cpp syzygy/*.cpp nnue/*.cpp nnue/features/*.cpp | grep -vE 'pyffish|ffishjs')
# shellcheck disable=SC2086
"${CXX:-g++}" -std=c++17 -O3 -DNDEBUG -DIS_64BIT -DUSE_POPCNT -mpopcnt -msse -msse3 -DUSE_SSE2 -msse2 \
  -DLARGEBOARDS -DALLVARS -DPRECOMPUTED_MAGICS -DNNUE_EMBEDDING_OFF -w -flto \
  $sources -o "$folder/fairy-stockfish" -lpthread
