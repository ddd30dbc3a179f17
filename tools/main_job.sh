#!/usr/bin/env bash
# The main job of `make run`: boosted trees on real collision events, trees and networks on a million generated ones, and
# a trained network on simulated micrographs.
# PODERE names the program, OUT the folder for what it writes.
set -euo pipefail
cd "$(dirname "$0")/.."
podere=${PODERE:-build/release/bin/podere}
out=${OUT:-out}
reports=$out/reports
mkdir -p "$out" "$reports"

say() { printf '\n%s\n' "$*"; }

table=()  # lines of the table: what, then tab-separated columns
# add_line EVENTS MODEL TRAIN_FACTS EVALUATE_FACTS
add_line() {
  table+=("$(jq -rn --arg events "$1" --arg model "$2" --argjson train "$3" --argjson test "$4" '
    def decimals($n): . * pow(10; $n) | round / pow(10; $n);
    [$events, $model, $train.rows, $test.rows, "\($train.executors) x \($train.cores)",
     ($train.load_seconds | decimals(2)), (($train.bin_seconds // $train.prepare_seconds) + $train.train_seconds | decimals(2)),
     ($test.auc | decimals(4)), ($test.accuracy | decimals(4)),
     "\($train.peak_memory_bytes / 1048576 | round) MiB"] | @tsv')")
}

say "(a) Real events: 12,000 rows of the UCI HIGGS set to train on, the other 3,688 to test."
real=data/higgs_15688.csv.gz
trained=$("$podere" train gbt $real --rows :12000 --trees 50 --depth 6 --executors 2 --cores 1 -o "$out/real.model.json" \
  --report "$reports/real.train.json" --json)
tested=$("$podere" evaluate "$out/real.model.json" $real --rows 12000: --executors 2 --cores 1 --plot "$out/real.roc.svg" \
  --report "$reports/real.test.json" --json)
add_line "real HIGGS" "50 trees of depth 6" "$trained" "$tested"

say "(b) Generated events: 1,000,000 to train on, 100,000 others to test."
events=$out/higgs-1100000.csv
if [[ ! -e $events ]]; then
  echo "    generating $events (0.8 GB; kept for the next time)"
  "$podere" generate higgs --events 1100000 --seed 1 -o "$events"
fi
# train_on_generated NAME MODEL KIND OPTION...
train_on_generated() {
  local name=$1 model=$2 kind=$3
  shift 3
  trained=$("$podere" train "$kind" "$events" --rows :1000000 "$@" --executors 2 --cores 1 -o "$out/$name.model.json" --json)
  tested=$("$podere" evaluate "$out/$name.model.json" "$events" --rows 1000000: --executors 2 --cores 1 \
    --plot "$out/$name.roc.svg" --report "$reports/$name.test.json" --json)
  add_line "generated" "$model" "$trained" "$tested"
}
train_on_generated generated "50 trees of depth 10" gbt --trees 50 --depth 10
train_on_generated perceptron "MLP 28-30-30-2, L-BFGS, 100 iterations" mlp --layers 30,30 --iterations 100
train_on_generated network "NN 28-100-1, Adam, 50 epochs of batches of 3200" nn --layers 100 --batch-size 3200 --epochs 50

say "(c) Simulated micrographs: the kinds of 2,000, by the network of data/micrographs.onnx."
pictures=$out/micrographs
if [[ ! -e $pictures ]]; then
  echo "    generating $pictures (1.6 GB; kept for the next time)"
  "$podere" generate sem --images 2000 --seed 1 -o "$pictures" --json >/dev/null
fi
rm -rf "$out/micrographs.csv.parts"  # of a main job that was ended
classified=$("$podere" classify "$pictures" --model data/micrographs.onnx --labels data/micrographs.txt \
  -o "$out/micrographs.csv" --contact-sheet "$out/micrographs.html" --executors 2 --cores 1 --json)
right=$(awk -F, 'NR == FNR { kind[$1] = $2; next } FNR > 1 && kind[$1] == $2 { ++n } END { print n + 0 }' \
  "$pictures/LABELS.csv" "$out/micrographs.csv")

# The same network with a head that learns the first thousand names.
sed -n '2,1001s/,.*//p' "$pictures/LABELS.csv" >"$pictures/named.txt"
sed -n '1002,$s/,.*//p' "$pictures/LABELS.csv" >"$pictures/others.txt"
"$podere" train mlp "images:$pictures/named.txt?model=data/micrographs.onnx&layer=features" --layers 16 \
  -o "$out/head.model.json" --executors 2 --cores 1 --json >/dev/null
head_tested=$("$podere" evaluate "$out/head.model.json" "images:$pictures/others.txt?model=data/micrographs.onnx&layer=features" \
  --executors 2 --cores 1 --json)

say "What was trained, and how good it is:"
{
  printf 'events\tmodel\ttrained on\ttested on\texecutors x cores\tload s\ttrain s\tAUC\taccuracy\tpeak memory each\n'
  printf '%s\n' "${table[@]}"
} | column -t -s $'\t'
say "Models: $out/*.model.json. ROC curves: $out/*.roc.svg"
"$podere" report "$reports"/{real.train,real.test,generated.test,perceptron.test,network.test}.json -o "$out/report.html" --json >/dev/null
say "$(jq -rn --argjson right "$right" --argjson all "$classified" --argjson head "$head_tested" '
  def decimal: . * 10 | round / 10;
  "Micrographs: \($right) of \($all.pictures) named right (\(100 * $right / $all.pictures | decimal) %), " +
  "\($all.pictures / $all.classify_seconds | round) a second. " +
  "With a head that learned 1,000 of these names: \(100 * $head.accuracy | decimal) % of the others."')"
say "Some of the micrographs, with their names: $out/micrographs.html"
say "All of this as a page, for a browser: $out/report.html"
