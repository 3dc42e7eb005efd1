#!/bin/sh
# The paper's tables and figures from the videos: models, evaluations, tables, bars, figures. Hours on two cores; after
# an interruption, the same command goes on.
#
# Usage: benchmarks/reproduce.sh ROOT [OUT], where ROOT holds camvid/ and suny/; `make tables ROOT=...` does the same.
#
# NETWORKS=DIR  networks of both, DIR/camvid and DIR/suny, as 'budgetseg train-network --folds 4' writes them; without
#               it the bundled small ones and their folds in benchmarks/networks, which take no training
# DEVICE=cuda   trains networks instead, large ones too, where NETWORKS is not given
# FIGURES=DIR   where figures go; docs/figures if not said
# LIMIT=100     seconds of computing for each policy of CamVid
set -eu

root=$1 here=$(dirname "$0")
out=${2:-results}
bin=${BIN:-.venv/bin}
budgets=0.02,0.05,0.1,0.15,0.2,0.49,0.5,0.73,0.9,0.98
seeds=${SEEDS:-5}

collect() { # dataset; its networks to one place
    mkdir -p "$out/networks/$1"
    cp "$here/../budgetseg/models/$1/networks/dcnn.onnx" "$here/../budgetseg/models/$1/networks/networks.json" \
        "$out/networks/$1"
    cp -R "$here/networks/$1/." "$out/networks/$1"
}

train() { # dataset, options
    dataset=$1
    shift
    if [ -n "${DEVICE:-}" ] && [ -z "${NETWORKS:-}" ]; then
        set -- --device "$DEVICE" "$@"
    else
        [ -n "${NETWORKS:-}" ] || collect "$dataset"
        set -- --networks "${NETWORKS:-$out/networks}/$dataset" "$@"
    fi
    "$bin/budgetseg" train "$dataset" --root "$root/$dataset" -o "$out/models/$dataset" "$@"
}

evaluate() { # dataset, split, name, options
    dataset=$1 split=$2 name=$3
    shift 3
    "$bin/budgetseg" evaluate "$dataset" --root "$root/$dataset" --split "$split" --model "$out/models/$dataset" \
        --methods all --budgets "$budgets" --seeds "$seeds" -o "$out/$dataset-$name" "$@"
}

mkdir -p "$out"
# Balance and rounds were chosen on selection data: notebook/decisions/0004-crf.md.
train suny --balance 0.25
train camvid --balance 1 --rounds 0 --policy-limit "${LIMIT:-100}"

for of in suny:test camvid:val; do
    dataset=${of%:*} split=${of#*:}
    evaluate "$dataset" "$split" shared --costs shared
    # What a descriptor costs is measured when it is described: both cost models must see the same table.
    mkdir -p "$out/$dataset-unshared"
    ln -sfn "../$dataset-shared/table" "$out/$dataset-unshared/table"
    evaluate "$dataset" "$split" unshared --costs unshared
    evaluate "$dataset" "$split" wall --scope total --clock wall
done

set -- "$out/suny-shared" "$out/suny-unshared" "$out/suny-wall" \
    "$out/camvid-shared" "$out/camvid-unshared" "$out/camvid-wall"
"$bin/python" -m benchmarks.tables "$@" | tee "$out/tables.md"
"$bin/python" -m benchmarks.bars "$@" | tee "$out/bars.md"
"$bin/python" -m benchmarks.figures "${FIGURES:-docs/figures}" "$@"
