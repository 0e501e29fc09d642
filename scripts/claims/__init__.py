"""Checks the numbers of the pages' prose against the recorded data; scripts/claims.sh runs it."""
