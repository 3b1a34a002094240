"""Solutions of the exercises; each has the usual mistakes and what to say of them in `WRONG`."""
