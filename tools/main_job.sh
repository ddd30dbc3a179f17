#!/usr/bin/env bash
# The main job of `make run`: boosted trees on real collision events, then on a million generated ones.
# PODERE names the program, OUT the folder for what it writes.
set -euo pipefail
cd "$(dirname "$0")/.."
podere=${PODERE:-build/release/bin/podere}
out=${OUT:-out}
mkdir -p "$out"

say() { printf '\n%s\n' "$*"; }

table=()  # lines of the table: what, then tab-separated columns
# add_line NAME TRAIN_FACTS EVALUATE_FACTS
add_line() {
  table+=("$(jq -rn --arg name "$1" --argjson train "$2" --argjson test "$3" '
    def decimals($n): . * pow(10; $n) | round / pow(10; $n);
    [$name, $train.rows, $test.rows, "\($train.executors) x \($train.cores)",
     ($train.load_seconds | decimals(2)), ($train.bin_seconds + $train.train_seconds | decimals(2)),
     ($test.auc | decimals(4)), ($test.accuracy | decimals(4)),
     "\($train.peak_memory_bytes / 1048576 | round) MiB"] | @tsv')")
}

say "(a) Real events: 12,000 rows of the UCI HIGGS set to train on, the other 3,688 to test."
real=data/higgs_15688.csv.gz
trained=$("$podere" train gbt $real --rows :12000 --trees 50 --depth 6 --executors 2 --cores 1 -o "$out/real.model.json" --json)
tested=$("$podere" evaluate "$out/real.model.json" $real --rows 12000: --executors 2 --cores 1 --plot "$out/real.roc.svg" --json)
add_line "real HIGGS" "$trained" "$tested"

say "(b) Generated events: 1,000,000 to train on, 100,000 others to test."
events=$out/higgs-1100000.csv
if [[ ! -e $events ]]; then
  echo "    generating $events (0.8 GB; kept for the next time)"
  "$podere" generate higgs --events 1100000 --seed 1 -o "$events"
fi
trained=$("$podere" train gbt "$events" --rows :1000000 --trees 50 --depth 10 --executors 2 --cores 1 -o "$out/generated.model.json" --json)
tested=$("$podere" evaluate "$out/generated.model.json" "$events" --rows 1000000: --executors 2 --cores 1 --plot "$out/generated.roc.svg" --json)
add_line "generated" "$trained" "$tested"

say "Boosted trees, 50 of depth 6 and of depth 10:"
{
  printf 'events\ttrained on\ttested on\texecutors x cores\tload s\ttrain s\tAUC\taccuracy\tpeak memory each\n'
  printf '%s\n' "${table[@]}"
} | column -t -s $'\t'
say "Models: $out/real.model.json, $out/generated.model.json. ROC curves: $out/real.roc.svg, $out/generated.roc.svg"
