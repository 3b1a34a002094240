"""What one asks of a curvature beside its entries: traces, spectra, solutions, posteriors."""
