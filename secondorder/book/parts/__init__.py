"""What a page has of one check: formulas as MathML, coloured code, rulers, numbers, letters."""
