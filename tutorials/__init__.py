"""Tutorials and exercises as scripts; `secondorder notebook` writes them as notebooks."""
