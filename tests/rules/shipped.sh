#!/bin/sh
# The shipped rules have no faults, and their examples prove them.
set -eu
"$DIAGNOSE" rules lint
"$DIAGNOSE" rules test
