"""Several daemons behind what balances their load, and clients that keep records: for tests/deploy and for scripts/fleet.sh."""
