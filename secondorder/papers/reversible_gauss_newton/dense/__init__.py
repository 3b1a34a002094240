"""The paper's formulas with dense matrices: Jacobian, right inverse, steps and flows."""
