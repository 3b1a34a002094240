"""Exercises with blanks (`...`); solutions, with usual mistakes, stand in `solutions`."""
