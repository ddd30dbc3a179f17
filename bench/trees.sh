#!/usr/bin/env bash
# Podere's boosted trees beside their peers: bench/trees.sh [PART...]. Results of each part are kept as lines of JSON in
# $BENCH_DIRECTORY/trees-PART.jsonl until the part runs again; in the end all that are there become tables on standard
# output and docs/images/trees.svg. Minutes on 2 cores with nothing else running, and what the tables take on the disk:
#   quick    3           100,000 rows, one turn of everything (not among those that run when none is named)
#   100k     8    0.2 GB all shapes of trees, 1 and 2 cores
#   1M       25   0.9 GB all shapes on 2 cores, one on 1 core
#   10M      25   9 GB   one shape on 2 cores
#   scaling  10          Podere alone: 1 core, 2 cores, 2 executors; 1 and 10.5 million rows
#   job      3           from CSV to AUC, 1 million rows
#   predict  2           rows a second on one core, 1 million rows
#   spark    20          Spark MLlib: 50 trees on 100,000 rows; 3 trees on 1 million, the rest reckoned
#   spark10M 25          3 trees on 10.5 million, ended after 30 minutes
# Generated tables stay in $BENCH_DIRECTORY for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."
export BENCH_DIRECTORY=${BENCH_DIRECTORY:-${TMPDIR:-/tmp}/podere-bench}
mkdir -p "$BENCH_DIRECTORY"
(($#)) || set -- 100k 1M 10M scaling job predict spark spark10M

for part in "$@"; do
  results=$BENCH_DIRECTORY/trees-$part.jsonl
  trees() { /usr/bin/python3 bench/trees.py --directory "$BENCH_DIRECTORY" --results "$results.part" "$@"; }
  rm -f "$results.part"
  case $part in
    quick)
      trees --rows 1e5 --runs 1 --cores 1 2
      trees --part job --rows 1e5 --runs 1
      trees --part predict --rows 1e5 --runs 1 --cores 1
      trees --rows 1e5 --runs 1 --peers podere spark --spark-trees 2
      ;;
    100k) trees --rows 1e5 --cores 1 2 --bins 64 256 --depth 6 10 ;;
    1M)
      trees --rows 1e6 --cores 1 2
      trees --rows 1e6 --bins 64
      trees --rows 1e6 --bins 64 256 --depth 6
      ;;
    10M) trees --rows 10.5e6 ;;
    scaling) trees --rows 1e6 10.5e6 --cores 1 2 --peers podere podere-executors ;;
    job) trees --part job --rows 1e6 ;;
    predict) trees --part predict --rows 1e6 --cores 1 ;;
    spark)
      trees --rows 1e5 --runs 1 --peers podere spark
      trees --rows 1e6 --runs 1 --peers podere spark --spark-trees 3 --limit 1200
      ;;
    spark10M) trees --rows 10.5e6 --runs 1 --peers podere spark --spark-trees 3 --spark-memory 14g --limit 1800 ;;
    *) echo "bench/trees.sh: no part '$part'; the first lines of this file name them" >&2; exit 2 ;;
  esac
  mv "$results.part" "$results"
done

if [[ $* == quick ]]; then
  /usr/bin/python3 bench/tree_report.py "$BENCH_DIRECTORY/trees-quick.jsonl"
else
  mapfile -t files < <(ls "$BENCH_DIRECTORY"/trees-*.jsonl | grep -v -- -quick)
  /usr/bin/python3 bench/tree_report.py --chart docs/images/trees.svg "${files[@]}"
fi
