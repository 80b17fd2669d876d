"""What the tool refuses to do, said to the user."""


class PatchError(Exception):
    """Its message names the rule, file or setting at fault. One line for each thing that is wrong."""
