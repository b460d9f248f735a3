#!/usr/bin/env bash
# documents.sh CHECK: runs check_documents.py by a Python of this machine; SKIPPED (77) where there is none.
set -euo pipefail

python=$(command -v python3) || {
  echo "SKIPPED: there is no python3"
  exit 77
}
exec "$python" "$(dirname "${BASH_SOURCE[0]}")/check_documents.py" "$1"
