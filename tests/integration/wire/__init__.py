"""What the tests of the daemon over the wire share: starting it, talking to it, and model repositories to give it."""
