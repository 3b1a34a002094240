r"""What LaTeX commands look like in a terminal: a small table of symbols."""

GREEK = dict(zip(
    ["alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "kappa",
     "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "varphi", "chi", "psi",
     "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"],
    "αβγδϵεζηθκλμνξπρστφφχψωΓΔΘΛΞΠΣΦΨΩ"))
LETTERS = GREEK | {"ell": "ℓ", "infty": "∞", "dots": "…", "ldots": "…", "cdots": "…", "vdots": "⋮",
                   "dashv": "⊣", "emptyset": "∅", "exp": "exp", "log": "log", "ln": "ln",
                   "perp": "⊥", "top": "⊤", "ddots": "⋱", "hbar": "ℏ", "Re": "ℜ", "Im": "ℑ",
                   "vartheta": "ϑ", "varrho": "ϱ", "Upsilon": "Υ", "exists": "∃"} | {
                       name: name for name in "sin cos tan sinh cosh tanh arg det dim ker deg "
                       "gcd Pr".split()}
#: What stands in front of its argument without a space.
PREFIXES = {"partial": "∂", "nabla": "∇", "Delta": "Δ", "forall": "∀"}
#: Signs with limits.
LIMITS = {"sum": "Σ", "prod": "Π", "min": "min", "max": "max", "sup": "sup", "inf": "inf",
          "lim": "lim", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
BINARY = {"+": "+", "-": "-", "otimes": "⊗", "odot": "⊙", "oslash": "⊘", "times": "×", "cdot": "·",
          "pm": "±", "cup": "∪", "mid": "|", "ast": "*", "circ": "∘",
          "cap": "∩", "oplus": "⊕", "wedge": "∧", "vee": "∨", "setminus": "∖", "mp": "∓"}
RELATIONS = {"=": "=", "<": "<", ">": ">", "equiv": "≡", "leq": "≤", "le": "≤", "geq": "≥",
             "ge": "≥", "approx": "≈", "propto": "∝", "neq": "≠", "ll": "≪", "gg": "≫",
             "in": "∈", "notin": "∉", "leftarrow": "←", "Rightarrow": "⇒", "to": "→",
             "succeq": "⪰", "preceq": "⪯", ":": ":", "sim": "∼", "simeq": "≃", "ne": "≠",
             "subset": "⊂", "subseteq": "⊆", "rightarrow": "→", "mapsto": "↦"}
OPENING = {"(": "(", "[": "[", r"\{": "{", r"\langle": "⟨", r"\lfloor": "⌊", r"\lceil": "⌈"}
CLOSING = {")": ")", "]": "]", r"\}": "}", r"\rangle": "⟩", r"\rfloor": "⌋", r"\rceil": "⌉"}
ACCENTS = {"dot": "\u0307", "ddot": "\u0308", "tilde": "\u0303", "widetilde": "\u0303",
           "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304", "vec": "\u20d7"}
#: Scripts of one or two signs that have letters of their own.
SUPERSCRIPTS = dict(zip("0123456789+-T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ"))
#: Script letters: of a loss, of quadratics, of activations.
SCRIPT = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵"))
GAPS = {"quad": "   ", "qquad": "   ", ";": "  ", " ": "  "}
NOTHING = (",", ":", "!", ">")
