"""Embedded data sets; read them through `secondorder.datasets`. Provenance and licences stand in
README.md beside this file."""
