"""Formulas drawn in a terminal: the symbols, where lines break, and what changed in an erratum."""

import pytest

from secondorder.formulas import latex, marks, terminal
from secondorder.ledger.registry import REGISTRY

FORMULAS = [(entry.paper, entry.labels[0], text) for entry in REGISTRY.select()
            for text in (entry.formula, entry.corrected) if text]


@pytest.mark.parametrize("formula, drawn", [
    (r"w_{ij}^{(\ell)} y_{sj}^{(\ell+1)2}", "w_ij^(ℓ) y_sj^(ℓ+1)²"),
    (r"\eta_i^{(k,l),j} v^{(k-1),t}", "η_i^(k,l),j v^(k-1),t"),
    (r"\frac{\partial f}{\partial w_j^i} v^j", "∂f/∂w_j^i · v^j"),
    (r"\frac{\partial^2 f}{\partial u \partial w}", "∂²f/(∂u ∂w)"),
    (r"\frac{a + b}{c}", "(a + b)/c"), (r"\frac{d\epsilon}{dt}=-\epsilon", "dϵ/dt = -ϵ"),
    (r"\frac{1}{2} x", "1/2 · x"), (r"2x_i", "2x_i"), (r"\tfrac{1}{S}", "1/S"),
    (r"\sum_{i=1}^{n} x_i", "Σ[i=1..n] x_i"), (r"\sum_k \phi^{(k)}", "Σ_k φ^(k)"),
    (r"\sum_{\ell \in P}", "Σ[ℓ∈P]"), (r"\min_\theta f(\theta)", "min_θ f(θ)"),
    (r"\ddot{\mathcal{Y}}_{sj} \geq 0", "𝒴̈_sj ≥ 0"), (r"\widehat{\nabla_b^2} \xi_i", "∇̂_b² ξ_i"),
    (r"(J^T H J)^+ A^{-1}", "(Jᵀ H J)⁺ A⁻¹"), (r"J^\dashv_{\ell,1}", "J_(ℓ,1)^⊣"),
    (r"\|g\|^3 \, |a| |b|", "‖g‖³ |a| |b|"), (r"\left| |a| b + c \right|", "||a| b + c|"),
    (r"f(y | x)", "f(y|x)"), (r"\theta|_{f(t)}", "θ|_f(t)"),
    (r"\sqrt{h^2 + 1} \sqrt{\alpha}", "√(h² + 1) √α"), (r"A \not\succeq 0", "A ⪰̸ 0"),
    (r"\mathcal{A}''(z)", "𝒜″(z)"), (r"\epsilon = 0.25", "ϵ = 0.25"),
    (r"a \mathrel{+}= b", "a += b"), (r"\text{if } i' \neq i", "if i′ ≠ i"),
    (r"x \text{ where } (m, r) \in K", "x where (m, r) ∈ K"),
    (r"\text{diag}(x) \quad \forall s", "diag(x)   ∀s"),
    (r"\underbrace{x y}_{\Delta}", "(x y =: Δ)"),
    (r"I_{d/2} \alpha_{j_l}", "I_(d/2) α_(j_l)"), (r"{S^T}^+", "Sᵀ⁺"), (r"e^{-2t}", "e^-2t"),
    (r"\begin{pmatrix} a & b \end{pmatrix}", "( a   b )")])
def test_drawn_on_one_line(formula, drawn):
    assert terminal.draw(formula) == [drawn]


def test_cases_and_matrices_are_grids():
    assert terminal.draw(r"A(z) = \begin{cases} 1 & z > 0 \\ 0 & \text{else} \end{cases}") == [
        "       ⎧ 1   z > 0",
        "A(z) = ⎩ 0   else"]
    assert terminal.draw(r"\begin{pmatrix} a \\ \vdots \\ b^2 \end{pmatrix} + c") == [
        "⎛ a  ⎞", "⎜ ⋮  ⎟ + c", "⎝ b² ⎠"]
    assert terminal.draw(r"\begin{array}{ll} a & b^{(2)} \\ c^{(k)} & d \end{array}") == [
        "a       b^(2)", "c^(k)   d"]


def test_rows_of_aligned_are_lines_and_pairs_stand_apart():
    assert terminal.draw(r"\begin{aligned} a &= b & c &= d \\ &\leq e \end{aligned}") == [
        "a = b   c = d", "  ≤ e"]
    assert terminal.draw(r"\begin{gathered} \begin{aligned} a &= b \\ &= c \end{aligned} \\ "
                         r"x = y \end{gathered}") == ["a = b", "  = c", "x = y"]


@pytest.mark.parametrize("width", [30, 50, 76])
def test_lines_break_at_operators_only_and_keep_all_symbols(width):
    formula = r"\gamma = \sum_{i=1}^{n} (\alpha_i + \beta_i) \xi^{(i)} + \rho_1 \rho_2 = \omega"
    lines = terminal.draw(formula, width)
    assert all(terminal.columns(line) <= width for line in lines)
    assert " ".join(line.strip() for line in lines) == terminal.draw(formula, 200)[0]
    assert all(line.startswith("    ") for line in lines[1:])
    assert all(line.strip()[0] in "=+ρξ" for line in lines[1:])


def test_a_wide_cell_is_broken_within_its_column():
    terms = " + ".join(rf"x_{{{k}}} y" for k in range(20))
    lines = terminal.draw(rf"f = \begin{{cases}} {terms} & q > k \\ 0 & q < k \end{{cases}}", 60)
    assert len(lines) > 3 and max(map(terminal.columns, lines)) <= 60
    assert sum("q > k" in line for line in lines) == 1
    assert "".join(lines).count("y") == 20


@pytest.mark.parametrize("paper, label, formula", FORMULAS)
def test_every_formula_of_the_papers_can_be_drawn(paper, label, formula):
    lines = terminal.draw(formula)
    text = "\n".join(lines)
    assert "\\" not in text and "{}" not in text and max(map(terminal.columns, lines)) <= 80
    assert len(lines) <= 30
    nodes = latex.parse(formula)
    again = latex.parse(latex.to_latex(nodes))
    assert [leaf.text for leaf in latex.leaves(again) if leaf.text != " "] == [
        leaf.text for leaf in latex.leaves(nodes) if leaf.text != " "]


@pytest.mark.parametrize("formula, expected", [
    (r"a }", "nothing opened"), (r"\frac{a}", "ends where an argument"),
    (r"{a", "lacks '}'"), (r"\text{a", "lacks '}'"),
    (r"\begin{cases} a", r"lacks \\end\{cases\}")])
def test_what_does_not_close_is_refused(formula, expected):
    with pytest.raises(ValueError, match=expected):
        latex.parse(formula)


# -- what changed ----------------------------------------------------------------------------------

def drawn_pair(printed, corrected):
    (before, after), marked = marks.marked_pair(printed, corrected)
    return terminal.draw(before), terminal.draw(after), marked


def test_changed_symbols_have_a_caret_under_them():
    before, after, marked = drawn_pair(r"\eta_i^{(k)} = \alpha_s \gamma_i^{(k),s}",
                                       r"\eta_i^{(k)} = \alpha_s \gamma_i^{(l),s}")
    assert marked
    assert before == ["η_i^(k) = α_s γ_i^(k),s", "                   ^"]
    assert after == ["η_i^(k) = α_s γ_i^(l),s", "                   ^"]


def test_what_is_new_or_gone_is_marked_on_its_own_side():
    before, after, _ = drawn_pair("a = b c d e f", "a = b d + e f")
    assert before == ["a = b c d e f", "      ^"]
    assert after == ["a = b d + e f", "        ^"]


def test_another_accent_is_a_change():
    assert drawn_pair(r"\dot{x} y", r"\ddot{x} y")[1] == ["x\u0308 y", "^"]


def test_a_formula_that_is_another_one_is_not_marked():
    before, after, marked = drawn_pair("a = b", r"\frac{x}{y} > z + w")
    assert not marked and len(after) == 1


def test_marks_in_latex_stand_in_colour():
    (_, after), _ = marks.marked_pair("a_i + b = c", "a_j + b = c")
    assert latex.to_latex(after) == r"a_{{\color{red} j}} + b = c"
    assert latex.to_latex(after, None) == "a_{j} + b = c"


def test_wide_formulas_are_broken_outside_all_brackets():
    def columns(nodes):
        return len(terminal.draw(nodes, 1000)[0])

    nodes = latex.parse("a = (b + c)^2 + d + e = f")
    assert latex.broken(nodes, 100, columns) is nodes
    for width, expected in ((22, ["a = (b + c)² + d + e", "= f"]),
                            (12, ["a", "= (b + c)²", "+ d + e", "= f"])):
        lines = terminal.draw(latex.to_latex(latex.broken(nodes, width, columns)), 100)
        assert [line.strip() for line in lines] == expected


def test_the_square_behind_an_index_keeps_the_mark_of_its_own():
    assert drawn_pair("y_j^{(k)2} + b", "y_j^{(l)2} + b")[1] == ["y_j^(l)² + b", "     ^"]
    assert drawn_pair("y_j^{(k)} + b", "y_j^{(k)2} + b")[1] == ["y_j^(k)² + b", "       ^"]


@pytest.mark.parametrize("formula", [
    r"\Big(\frac{a}{b}\Big)^{T}", r"\left( \frac{a}{b} \right)^{2}", r"\left\{ a \right\}",
    r"\big\|a\big\|", r"a \tag{3}"])
def test_brackets_keep_their_size_on_the_way_back_to_latex(formula):
    def bare(text):
        return text.replace(" ", "")
    assert bare(latex.to_latex(latex.parse(formula))) == bare(formula)


def test_a_command_without_a_sign_stands_as_in_latex():
    formula = r"\left\langle x, \Λ \right\rangle = \norm{x} + \sin y + \norm{z}"
    assert terminal.draw(formula) == [r"⟨x, \Λ⟩ = \norm x + sin y + \norm z"]
    assert terminal.unknown(formula) == [r"\Λ", r"\norm"] and terminal.unknown("{") == []
