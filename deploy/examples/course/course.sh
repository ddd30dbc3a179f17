#!/bin/sh
# deploy/examples/course/course.sh students.txt | kubectl apply -f -
# What student.yaml says, for each name in the file: a line each, empty ones and those with # left out. Applied again
# with more names it adds these; who leaves: kubectl delete namespace course-NAME.
set -eu
[ $# -eq 1 ] && [ -r "$1" ] || { echo "usage: $0 FILE, which names a student on each line" >&2; exit 2; }
students=$(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$1")
[ "$students" ] || { echo "$1: no names in it" >&2; exit 2; }

wrong=$(echo "$students" | grep -vxE '[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?' | head -n 1) || true
[ -z "$wrong" ] || { echo "$1: '$wrong' is no name of a namespace: a to z, 0 to 9 and - inside, 40 at most" >&2; exit 2; }
twice=$(echo "$students" | sort | uniq -d | head -n 1)
[ -z "$twice" ] || { echo "$1: '$twice' is there twice" >&2; exit 2; }

for student in $students; do
  echo ---
  sed "s/STUDENT/$student/g" "$(dirname "$0")/student.yaml"
done
