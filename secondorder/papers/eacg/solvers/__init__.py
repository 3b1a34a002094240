"""A layer's damped systems, and what solves them: ``by_name`` chooses."""
