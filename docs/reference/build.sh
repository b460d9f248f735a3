#!/usr/bin/env bash
# build.sh OUTPUT PYTHON: builds the references into OUTPUT/cpp, by Doxygen, and OUTPUT/python, by the pdoc of PYTHON.
# `./dev docs` runs this. Every warning is an error but one: a member may go without a comment, where its name says all.
set -euo pipefail

output=$(realpath -m "${1:?where to put the references}") python=${2:?a Python that has pdoc}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf "$output"
mkdir -p "$output/cpp" "$output/python"
result=0

# A header that was renamed would drop out of the reference in silence.
headers=$(sed -n '/^FILE_PATTERNS/,/[^\\]$/p' docs/reference/Doxyfile | grep -oE '[a-z_]+\.h')
for header in $headers; do
  if [[ -z $(find client -name "$header") ]]; then
    echo "docs/reference/Doxyfile: FILE_PATTERNS names $header, which is nowhere under client/"
    result=1
  fi
done

{
  cat docs/reference/Doxyfile
  echo "OUTPUT_DIRECTORY = \"$output/cpp\""
  echo "WARN_LOGFILE = \"$output/cpp-warnings.txt\""
} | doxygen -
if grep -vE ': Member .* is not documented\.$' "$output/cpp-warnings.txt"; then
  result=1
fi

PYTHONPATH=client/python "$python" -W error::UserWarning -m pdoc --docformat google --no-show-source \
  --output-directory "$output/python" stoker stoker.ray || result=1
PYTHONPATH=client/python "$python" docs/reference/check_docstrings.py || result=1

((result == 0)) || echo "the references have errors, see above"
exit "$result"
