"""Fetches published models and turns their weights into packages of a Millrace model repository."""
