"""What is raised when a program, library or header is not installed; the tests skip on it by name."""


class Missing(Exception):  # noqa: N818
    """Something is not installed; the message says which package has it."""
