#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_program.sh PREFIX VERSION: runs the installed program, and checks the manual page and completion scripts.
set -eu
prefix=$1 version=$2
[ "$("$prefix/bin/elasticjob" --version)" = "$version" ]
[ "$("$prefix/bin/elasticjob" cron '0 0 12 * * ?' --count 1 --output jsonl | wc -l)" -eq 1 ]
grep -q '^\.SH EXIT STATUS' "$prefix/share/man/man1/elasticjob.1"
grep -q '^complete ' "$prefix/share/bash-completion/completions/elasticjob"
grep -q '^#compdef elasticjob' "$prefix/share/zsh/site-functions/_elasticjob"
grep -q '^complete ' "$prefix/share/fish/vendor_completions.d/elasticjob.fish"
# Each shell that is installed must accept its script.
bash -n "$prefix/share/bash-completion/completions/elasticjob"
if command -v zsh >/dev/null; then zsh -n "$prefix/share/zsh/site-functions/_elasticjob"; fi
if command -v fish >/dev/null; then fish -n "$prefix/share/fish/vendor_completions.d/elasticjob.fish"; fi
