"""Turns published weights into packages of a Millrace model repository: python -m models.convert <kind> --help."""
